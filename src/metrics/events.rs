//! Kubernetes Events counted per JobSet, type and reason, as `kubectl get events` would merge them.

use crate::base::*;
use crate::record::{Body, Names, ObjectRef, Record, Sink, Texts};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EventCount {
    pub jobset: JobSetId,
    pub warning: bool,
    pub reason: TextId,
    pub count: u64,
}

pub struct EventFold {
    jobset_of: Vec<JobSetId>,
    pod_job: Vec<JobId>,
    counts: Vec<EventCount>,
}

impl EventFold {
    pub fn new(names: &Names) -> EventFold {
        let pods: usize = names.jobs.iter().map(|j| j.pods as usize).sum();
        EventFold {
            jobset_of: names.jobs.iter().map(|j| j.jobset).collect(),
            pod_job: vec![JobId::NONE; pods],
            counts: Vec::new(),
        }
    }

    pub fn of(&self, jobset: JobSetId) -> impl Iterator<Item = &EventCount> {
        self.counts.iter().filter(move |c| c.jobset == jobset)
    }

    fn jobset(&self, object: ObjectRef) -> JobSetId {
        let job = match object {
            ObjectRef::JobSet(id) => return id,
            ObjectRef::Job(job) => job,
            ObjectRef::Pod(pod) => self.pod_job.get(pod.ix()).copied().unwrap_or(JobId::NONE),
        };
        self.jobset_of
            .get(job.ix())
            .copied()
            .unwrap_or(JobSetId::NONE)
    }
}

impl Sink for EventFold {
    fn record(&mut self, record: &Record, _: &Texts) {
        match record.body {
            Body::PodCreated { pod, job, .. } => {
                if self.pod_job.len() <= pod.ix() {
                    self.pod_job.resize(pod.ix() + 1, JobId::NONE);
                }
                self.pod_job[pod.ix()] = job;
            }
            Body::KubeEvent {
                object,
                warning,
                reason,
                ..
            } => {
                let jobset = self.jobset(object);
                let same = |c: &&mut EventCount| {
                    (c.jobset, c.warning, c.reason) == (jobset, warning, reason)
                };
                match self.counts.iter_mut().find(same) {
                    Some(c) => c.count += 1,
                    None => self.counts.push(EventCount {
                        jobset,
                        warning,
                        reason,
                        count: 1,
                    }),
                }
            }
            _ => {}
        }
    }
}
