//! Waits for capacity: times in which pods of a JobSet are unschedulable and its old pods are gone, until a node or
//! another workload's resources become available.
//!
//! Must never count the wait for the JobSet's own terminating pods or the scheduler's back-off.

use super::fold::RestartFold;
use super::restart::{Milestone, RestartMetrics};
use sim_base::{JobSetId, PodId, SimTime, row_or_default};
use sim_engine::record::{Body, DeletionActor, NodeReady};

/// Unschedulable pods of one JobSet.
#[derive(Default)]
pub struct CapacityWait {
    pods: u32,
    /// Time since which there has been at least one unschedulable pod.
    since: SimTime,
    /// Time at which capacity last became available during this wait.
    until: Option<SimTime>,
}

impl CapacityWait {
    pub(crate) fn is_open(&self) -> bool {
        self.pods > 0
    }

    /// Ends the wait and adds it to the open restart.
    fn close(&mut self, open: Option<&mut RestartMetrics>) {
        let (Some(until), Some(restart)) = (self.until.take(), open) else {
            return;
        };
        let old_pods_gone = restart.milestone(Milestone::LastOldPodGone).unwrap_or(restart.start);
        let from = self.since.max(restart.start).max(old_pods_gone);
        if from < until {
            restart.capacity.push((from, until));
        }
    }
}

impl RestartFold {
    /// Updates the waits for capacity from the records of pods and nodes.
    pub(crate) fn capacity_record(&mut self, body: &Body) {
        match *body {
            Body::PodUnschedulable { pod, .. } => self.pod_unschedulable(pod),
            Body::PodBound { pod, .. } => self.pod_waits_no_more(pod),
            Body::ContainerExited { pod, .. } => self.another_failure(pod),
            Body::PodDeleting { pod, by, .. } => {
                // The Job controller and the garbage collector delete the pods of the restart itself.
                if !matches!(by, DeletionActor::JobController | DeletionActor::GarbageCollector) {
                    self.another_failure(pod);
                }
                self.pod_deleted(pod);
            }
            // A pod that has done its work releases its node for the other pods of its JobSet as well.
            Body::PodFinished { succeeded: true, .. } => self.capacity_available(None),
            Body::PodFinished { pod, .. } => self.capacity_available(self.troubles.pod_jobset(pod)),
            Body::PodGone { pod, .. } => {
                self.pod_waits_no_more(pod);
                self.capacity_available(self.troubles.pod_jobset(pod));
            }
            Body::NodeCreated { .. }
            | Body::NodeState { ready: NodeReady::True, .. }
            | Body::NodeTaint { added: false, .. } => self.capacity_available(None),
            _ => {}
        }
    }

    /// Another pod fails or is deleted because of another fault while pods wait: they waited for capacity until now,
    /// whatever becomes of the pods that end from now on.
    fn another_failure(&mut self, pod: PodId) {
        let jobset = self.troubles.pod_jobset(pod);
        let state = jobset.and_then(|jobset| self.jobsets.get_mut(jobset.ix()));
        if let Some(state) = state.filter(|state| state.capacity.is_open()) {
            state.capacity.until = Some(self.now);
            state.capacity.close(state.open.as_mut());
            state.capacity.since = self.now;
        }
    }

    fn pod_unschedulable(&mut self, pod: PodId) {
        let Some(p) = self.troubles.pod_mut(pod).filter(|p| !p.unschedulable) else {
            return;
        };
        p.unschedulable = true;
        if p.jobset.is_some() {
            let wait = &mut row_or_default(&mut self.jobsets, p.jobset.ix()).capacity;
            wait.pods += 1;
            if wait.pods == 1 {
                (wait.since, wait.until) = (self.now, None);
            }
        }
    }

    /// A pod is deleted, for example because another fault restarts its JobSet while pods wait. They waited for
    /// capacity until now; from now on they may wait for this pod.
    fn pod_deleted(&mut self, pod: PodId) {
        let jobset = self.troubles.pod_jobset(pod);
        let state = jobset.and_then(|jobset| self.jobsets.get_mut(jobset.ix()));
        if let Some(state) = state.filter(|state| state.capacity.is_open()) {
            state.capacity.until = Some(self.now);
        }
        self.pod_waits_no_more(pod);
    }

    fn pod_waits_no_more(&mut self, pod: PodId) {
        let Some(p) = self.troubles.pod_mut(pod).filter(|p| p.unschedulable) else {
            return;
        };
        p.unschedulable = false;
        if let Some(state) = self.jobsets.get_mut(p.jobset.ix()) {
            state.capacity.pods -= 1;
            if state.capacity.pods == 0 {
                state.capacity.close(state.open.as_mut());
            }
        }
    }

    /// Capacity became available now, for every JobSet except the one that released it.
    fn capacity_available(&mut self, except: Option<JobSetId>) {
        for (row, state) in self.jobsets.iter_mut().enumerate() {
            if state.capacity.pods > 0 && except != Some(JobSetId(row as u32)) {
                state.capacity.until = Some(self.now);
            }
        }
    }

    /// The open restart of a JobSet ends now; pods that are still unschedulable waited until now.
    pub(crate) fn end_capacity_wait(&mut self, jobset: JobSetId) {
        if let Some(state) = self.jobsets.get_mut(jobset.ix())
            && state.capacity.pods > 0
        {
            state.capacity.until = Some(self.now);
            state.capacity.close(state.open.as_mut());
            state.capacity.since = self.now;
        }
    }
}
