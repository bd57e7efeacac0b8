//! Hands decisions to a sink that asks for them.
//!
//! Must never change anything: with and without it a run gives the same records.

use super::job_count::Computed;
use super::model::Model;
use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::policy::{JobPlan, JobSetView, JobSyncView, Plan, trace};
use crate::record::decision::{Decided, Decision, FailedPod, PassLost};
use crate::record::{NO_CAUSE, Sink};

/// Failed pods of one sync that are listed one by one.
const PODS_LISTED: usize = 8;

/// A pass of the JobSet controller, as soon as it is planned.
pub fn pass(
    sink: &mut dyn Sink,
    m: &Model,
    (jobset, cause): (JobSetId, u32),
    view: &JobSetView<'_>,
    plan: &Plan,
) {
    if !sink.wants_decisions() {
        return;
    }
    if let Some(trace) = trace::pass(view, plan, &jobset_name(m, jobset)) {
        sink.decision(decision(view.now, cause, Decided::JobSet(Box::new(trace))));
    }
}

fn decision(at: Time, cause: u32, what: Decided) -> Decision {
    Decision {
        id: 0,
        at,
        cause: (cause != NO_CAUSE).then_some(cause),
        what,
    }
}

fn jobset_name(m: &Model, jobset: JobSetId) -> String {
    let name = &m.names.jobsets[jobset.ix()];
    format!("{}/{}", name.namespace, name.name)
}

impl Run<'_> {
    /// A pass that ends without what it had planned for its end.
    pub fn trace_pass_lost(&mut self, jobset: JobSetId, why: &str, rule: &'static str) {
        if !self.sink.wants_decisions() {
            return;
        }
        let lost = PassLost {
            decision: 0,
            object: jobset_name(self.m, jobset),
            why: why.to_owned(),
            rule,
        };
        let (at, cause) = (self.w.now, self.w.cause);
        self.sink
            .decision(decision(at, cause, Decided::JobSetPassLost(lost)));
    }

    /// A sync of the Job controller, as soon as it is planned; `None`: nothing to tell or nobody asks.
    pub fn trace_sync(
        &self,
        job: JobId,
        counted: &Computed,
        view: &JobSyncView<'_>,
        plan: &JobPlan,
    ) -> Option<Decision> {
        if !self.sink.wants_decisions() {
            return None;
        }
        let j = &self.m.names.jobs[job.ix()];
        let namespace = &self.m.names.jobsets[j.jobset.ix()].namespace;
        let object = format!("{namespace}/{}", j.name);
        let failed: Vec<PodId> = counted
            .ended
            .iter()
            .filter(|e| !e.succeeded)
            .map(|e| e.pod)
            .collect();
        let listed = failed.iter().take(PODS_LISTED);
        let pods = listed.map(|pod| self.judged_pod(job, *pod, namespace));
        let more = failed.len().saturating_sub(PODS_LISTED) as u32;
        let before = self.w.jobs[job.ix()].counted_failed;
        let sync = trace::sync(view, plan, &object, (pods.collect(), more), before)?;
        let what = Decided::Job(Box::new(sync));
        Some(decision(self.w.now, self.w.cause, what))
    }

    fn judged_pod(&self, job: JobId, pod: PodId, namespace: &str) -> FailedPod {
        let rules = self.job_spec(job).pod_failure_policy.as_deref();
        let (p, i, names) = (&self.w.pods, pod.ix(), &self.m.names);
        let by_deletion = p.phase[i] != Phase::Failed && p.has(pod, flag::DELETING);
        let name = names.pod(job, p.index[i], pod, p.incarnation[i]);
        let codes = self.exit_codes(pod);
        FailedPod {
            pod,
            name: format!("{namespace}/{name}"),
            place: format!("{}-{}", names.job(job), p.index[i]),
            ..trace::pod(rules, &self.failed_pod(pod, &codes), by_deletion)
        }
    }
}
