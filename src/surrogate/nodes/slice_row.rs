//! The state of a Job of an elastic training job.

use sim_base::{Duration, NodeId, SimTime};
use sim_policy::FinishedView;

/// State of a Job that matters only to elastic jobs.
#[derive(Copy, Clone, Debug, Default)]
pub struct SliceRow {
    /// Time of the last placement of pods, and the time from which all placed pods are ready.
    pub placed_at: SimTime,
    pub ready_at: SimTime,
    /// Its pods were ready at some time.
    pub has_run: bool,
    /// One of its processes has started since the Job last took part.
    pub has_new_processes: bool,
    /// The work of the training job is complete, and the programs of its pods end.
    pub is_exiting: bool,
    /// The Job is complete.
    pub is_done: bool,
    /// Node of the pod whose containers exited last, and the time at which the control plane notices it.
    pub exited: Option<(NodeId, SimTime)>,
}

impl SliceRow {
    /// New pods are ready after `after`.
    pub fn await_pods(&mut self, now: SimTime, after: Duration) {
        (self.placed_at, self.ready_at) = (now, self.ready_at.max(now + after));
        self.has_new_processes = true;
    }

    /// The containers of a pod exit, which the control plane notices later.
    pub fn note_exit(&mut self, node: NodeId, noticed_at: SimTime) {
        self.exited = Some((node, noticed_at));
    }

    /// Returns whether its programs have ended or end, because the work is complete.
    pub fn is_over(&self) -> bool {
        self.is_exiting || self.is_done
    }

    /// The condition Complete of the Job.
    pub fn completion(&self) -> Option<FinishedView> {
        let complete =
            || FinishedView { failed: false, reason: String::new(), message: String::new(), at: self.ready_at };
        self.is_done.then(complete)
    }
}
