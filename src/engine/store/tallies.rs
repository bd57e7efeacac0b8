//! Keeps the counters of a JobSet's pods consistent with the pods.

use super::{NO_ATTEMPT, ObjectStore, PodPhase};
use sim_base::PodId;

impl ObjectStore {
    /// The attempt annotation that counts for the JobSet; that of a Failed pod is ignored (IPR-3).
    fn counted_attempt(&self, pod: PodId) -> Option<u32> {
        let attempt = self.pods.attempt[pod.ix()];
        let request = !matches!(self.pods.phase[pod.ix()], PodPhase::Failed | PodPhase::Absent);
        (request && attempt != NO_ATTEMPT).then_some(attempt)
    }

    fn counted_restarts(&self, pod: PodId) -> Option<u32> {
        let there = self.pods.phase[pod.ix()] != PodPhase::Absent;
        there.then(|| self.pods.restarts[pod.ix()])
    }

    /// Changes a pod and updates the counters of its JobSet.
    pub fn update_pod<T>(&mut self, pod: PodId, change: impl FnOnce(&mut ObjectStore) -> T) -> T {
        let jobset = self.jobset_of(pod);
        let before = (self.counted_attempt(pod), self.counted_restarts(pod));
        let result = change(self);
        let after = (self.counted_attempt(pod), self.counted_restarts(pod));
        if let Some(row) = self.jobsets.get_mut(jobset.ix()) {
            if before.0 != after.0 {
                row.attempt_changed(before.0, after.0);
            }
            if before.1 != after.1 {
                row.restarts_changed(before.1, after.1);
            }
        }
        result
    }
}
