//! Requests about the Workloads of JobSets, and Kueue's webhook for JobSets.

use super::record_change;
use crate::ctx::EngineContext;
use crate::record::Body;
use crate::store::ChangeKind;
use sim_api::spec::JobSet;
use sim_base::JobSetId;
use sim_kueue::workload::{Condition, Workload};
use std::sync::Arc;

/// Stores the Workload and records the conditions that changed.
pub fn set_workload(ctx: &mut EngineContext<'_>, jobset: JobSetId, workload: Workload) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    let new = Arc::new(workload);
    let old = row.workload.replace(new.clone());
    row.workload_version += 1;
    let known = |c: &Condition| old.as_ref().is_some_and(|old| old.status.conditions.contains(c));
    for condition in new.status.conditions.iter().filter(|c| !known(c)) {
        let (kind, status) = (condition.kind, condition.status);
        let (reason, message) = (ctx.intern(&condition.reason), ctx.intern(&condition.message));
        ctx.emit(Body::WorkloadCondition { jobset, kind, status, reason, message });
    }
    ctx.notify_admission(jobset);
    record_change(ctx, ChangeKind::Workload(jobset));
}

/// Removes the Workload of a removed JobSet.
pub fn delete_workload(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    if row.workload.take().is_some() {
        row.workload_version += 1;
        record_change(ctx, ChangeKind::Workload(jobset));
    }
}

/// Suspends a new JobSet that Kueue manages, like the webhook of Kueue.
pub(super) fn suspend_managed(ctx: &EngineContext<'_>, spec: Arc<JobSet>) -> Arc<JobSet> {
    let is_managed = ctx.scenario.kueue.as_ref().is_some_and(|kueue| kueue.manages(&spec));
    if !is_managed || spec.spec.suspend {
        return spec;
    }
    let mut spec = (*spec).clone();
    spec.set_suspend(true);
    Arc::new(spec)
}
