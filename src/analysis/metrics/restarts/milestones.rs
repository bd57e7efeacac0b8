//! Updates milestones of an open restart from records of Jobs and pods.
//!
//! Must never open or close a restart.

use super::fold::RestartFold;
use super::restart::Milestone;
use sim_base::SimTime;
use sim_engine::record::{Body, JobConditionType, RecordNames};

impl RestartFold {
    pub(crate) fn job_record(&mut self, body: &Body, names: &RecordNames) {
        let now = self.now;
        let (job, first, last) = match *body {
            Body::JobCreated { job, .. } => (job, Some(Milestone::FirstJobCreated), Some(Milestone::LastJobCreated)),
            Body::JobDeleting { job } => (job, Some(Milestone::FirstJobDeleting), None),
            Body::JobGone { job } => (job, Some(Milestone::FirstJobGone), Some(Milestone::LastJobGone)),
            Body::JobCondition { job, kind: JobConditionType::FailureTarget, .. } => {
                (job, Some(Milestone::FailureTarget), None)
            }
            Body::JobCondition { job, kind: JobConditionType::Failed, .. } => (job, Some(Milestone::JobFailed), None),
            _ => return,
        };
        if let Some(r) = self.open_of(names.jobset_of(job)) {
            if let Some(m) = first {
                r.set_earliest(m, now);
            }
            if let Some(m) = last {
                r.set_latest(m, now);
            }
        }
    }

    /// Updates milestones from records of pods that are bound, write their attempt, or are removed.
    pub(crate) fn pod_progress(&mut self, body: &Body) {
        use Milestone::*;
        let now = self.now;
        let (pod, first, last) = match *body {
            Body::PodBound { pod, node, .. } => {
                if let Some(p) = self.troubles.pod_mut(pod) {
                    p.node = node;
                }
                (pod, LastPodBound, LastPodBound)
            }
            Body::AttemptWritten { pod, .. } => (pod, AttemptsFirst, AttemptsLast),
            Body::PodGone { pod, .. } => {
                self.pod_ends(pod);
                let created = self.troubles.pod_mut(pod).map_or(SimTime::NEVER, |p| {
                    p.gone = true;
                    p.created
                });
                if self.pod_restart(pod).is_none_or(|r| created > r.start) {
                    return;
                }
                (pod, LastOldPodGone, LastOldPodGone)
            }
            _ => return,
        };
        if let Some(r) = self.pod_restart(pod) {
            r.set_earliest(first, now);
            r.set_latest(last, now);
        }
    }
}
