//! Requests about the Workloads of JobSets, and Kueue's webhook for JobSets.

use super::record_change;
use crate::ctx::EngineContext;
use crate::record::Body;
use crate::store::ChangeKind;
use sim_api::spec::JobSet;
use sim_base::{JobSetId, TextId};
use sim_kueue::requests::FlavorResource;
use sim_kueue::workload::info::held_quota;
use sim_kueue::workload::{Condition, Workload};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Stores the Workload and records the conditions and the quota that changed.
pub fn set_workload(ctx: &mut EngineContext<'_>, jobset: JobSetId, workload: Workload) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    let new = Arc::new(workload);
    let old = row.workload.replace(new.clone());
    row.workload_version += 1;
    if old.as_ref().is_some_and(|old| old.queue != new.queue) {
        let queue = ctx.intern(&new.queue);
        ctx.emit(Body::WorkloadQueue { jobset, queue });
    }
    let known = |c: &Condition| old.as_ref().is_some_and(|old| old.status.conditions.contains(c));
    for condition in new.status.conditions.iter().filter(|c| !known(c)) {
        let (kind, status) = (condition.kind, condition.status);
        let (reason, message) = (ctx.intern(&condition.reason), ctx.intern(&condition.message));
        ctx.emit(Body::WorkloadCondition { jobset, kind, status, reason, message });
    }
    ctx.notify_admission(jobset);
    record_quota(ctx, jobset, (old.as_deref(), Some(&*new)));
    record_change(ctx, ChangeKind::Workload(jobset));
}

/// Removes the Workload of a removed JobSet.
pub fn delete_workload(ctx: &mut EngineContext<'_>, jobset: JobSetId) {
    let row = &mut ctx.store.get_mut().jobsets[jobset.ix()];
    if let Some(old) = row.workload.take() {
        row.workload_version += 1;
        record_quota(ctx, jobset, (Some(&*old), None));
        record_change(ctx, ChangeKind::Workload(jobset));
    }
}

/// Records the quota of each resource that changed.
fn record_quota(ctx: &mut EngineContext<'_>, jobset: JobSetId, (old, new): (Option<&Workload>, Option<&Workload>)) {
    for change in quota_changes(ctx, old, new) {
        let QuotaChange { queue, flavor, resource, amount } = change;
        ctx.emit(Body::WorkloadQuota { jobset, queue, flavor, resource, amount });
    }
}

/// The quota of a resource in a flavor that a Workload holds after a change.
pub struct QuotaChange {
    pub queue: TextId,
    pub flavor: TextId,
    pub resource: TextId,
    pub amount: TextId,
}

/// Returns the quota of each resource that changed between two states of a Workload.
pub fn quota_changes(ctx: &mut EngineContext<'_>, old: Option<&Workload>, new: Option<&Workload>) -> Vec<QuotaChange> {
    let usage = |workload: Option<&Workload>| workload.map(held_quota).unwrap_or_default();
    let (before, after) = (usage(old), usage(new));
    let holder = new.filter(|w| w.status.admission.is_some()).or(old);
    let Some(admission) = holder.and_then(|w| w.status.admission.as_ref()) else { return Vec::new() };
    let queue = ctx.intern(&admission.cluster_queue);
    let all: BTreeSet<&FlavorResource> = before.keys().chain(after.keys()).collect();
    let changed = all.into_iter().filter(|fr| before.get(fr) != after.get(fr));
    let change = |fr: &FlavorResource| {
        let amount = after.get(fr).copied().unwrap_or_default().text(&fr.resource);
        let (flavor, resource, amount) = (ctx.intern(&fr.flavor), ctx.intern(&fr.resource), ctx.intern(&amount));
        QuotaChange { queue, flavor, resource, amount }
    };
    changed.map(change).collect()
}

/// Suspends a new JobSet that Kueue manages, like the webhook of Kueue.
pub(super) fn suspend_managed(ctx: &EngineContext<'_>, spec: Arc<JobSet>) -> Arc<JobSet> {
    let is_managed = ctx.scenario.kueue.as_ref().is_some_and(|kueue| kueue.suspends(&spec));
    if !is_managed || spec.spec.suspend {
        return spec;
    }
    let mut spec = (*spec).clone();
    spec.set_suspend(true);
    Arc::new(spec)
}
