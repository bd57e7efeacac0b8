//! The decision-log entry of a Job controller sync.
//!
//! Must never change anything: records are the same with and without it.

use super::count::ComputedStatus;
use super::sync_decision::JobSyncInput;
use crate::store::{PodPhase, exit_codes, flag};
use sim_base::{PodId, SimTime};
use sim_policy::decision::{FailedPod, JobSync};
use sim_policy::{JobPlan, JobSyncView, trace};

/// Number of failed pods of a sync that are listed individually.
const MAX_LISTED_PODS: usize = 8;

impl JobSyncInput<'_> {
    /// `None` if there is nothing to report.
    pub fn trace_sync(
        &self, c: &ComputedStatus, view: &JobSyncView<'_>, plan: &JobPlan, now: SimTime,
    ) -> Option<JobSync> {
        let namespace = self.store.namespace_of(self.job);
        let object = format!("{namespace}/{}", self.store.names.job(self.job));
        let failed = || c.ended.iter().filter(|e| !e.succeeded);
        let listed = failed().take(MAX_LISTED_PODS);
        let pods = listed.map(|e| self.failed_pod_entry(e.pod, namespace)).collect();
        let more = failed().count().saturating_sub(MAX_LISTED_PODS) as u32;
        let mut plan = plan.clone();
        if !c.delayed.is_empty() && plan.delete_active == 0 && plan.create > 0 {
            let mut due = Vec::new();
            self.missing_indexes(&c.failed_indexes, plan.create, &mut due);
            plan.requeue_after = self.keep_due_indexes(c, now, &mut due).or(plan.requeue_after);
            plan.create = due.len() as u32;
        }
        trace::sync(view, &plan, &object, (pods, more), self.row.counted_failed)
    }

    fn failed_pod_entry(&self, pod: PodId, namespace: &str) -> FailedPod {
        let rules = self.spec().pod_failure_policy.as_deref();
        let p = &self.store.pods;
        let by_deletion = p.phase[pod.ix()] != PodPhase::Failed && p.has(pod, flag::DELETING);
        let codes = exit_codes(self.store, pod);
        FailedPod {
            pod,
            name: format!("{namespace}/{}", self.pod_name(pod)),
            place: format!("{}-{}", self.store.names.job(self.job), self.index(pod)),
            ..trace::pod(rules, &self.failed_pod_view(pod, &codes), by_deletion)
        }
    }
}
