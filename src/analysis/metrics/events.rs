//! Counts of Kubernetes Events per JobSet, type and reason, merged as `kubectl get events` does.

use sim_base::{JobId, JobSetId, TextId, row_or_default};
use sim_engine::record::{Body, ObjectRef, RecordNames, RecordSink, SimulationRecord};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EventCount {
    pub jobset: JobSetId,
    pub warning: bool,
    pub reason: TextId,
    pub count: u64,
}

#[derive(Default)]
pub struct EventFold {
    /// By pod id: the Job of its newest object, or `None` before the first object is created.
    pod_job: Vec<Option<JobId>>,
    counts: Vec<EventCount>,
}

impl EventFold {
    pub fn for_jobset(&self, jobset: JobSetId) -> impl Iterator<Item = &EventCount> {
        self.counts.iter().filter(move |c| c.jobset == jobset)
    }

    fn jobset(&self, object: ObjectRef, names: &RecordNames) -> Option<JobSetId> {
        match object {
            ObjectRef::JobSet(id) => Some(id),
            ObjectRef::Job(job) => names.jobset_of(job),
            ObjectRef::Pod(pod) => names.jobset_of(self.pod_job.get(pod.ix()).copied()??),
        }
    }
}

impl RecordSink for EventFold {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        match record.body {
            Body::PodCreated { pod, job, .. } => {
                *row_or_default(&mut self.pod_job, pod.ix()) = Some(job);
            }
            Body::KubeEvent { object, warning, reason, .. } => {
                let jobset = self.jobset(object, names).unwrap_or(JobSetId::NONE);
                let same = |c: &&mut EventCount| (c.jobset, c.warning, c.reason) == (jobset, warning, reason);
                match self.counts.iter_mut().find(same) {
                    Some(c) => c.count += 1,
                    None => self.counts.push(EventCount { jobset, warning, reason, count: 1 }),
                }
            }
            _ => {}
        }
    }
}
