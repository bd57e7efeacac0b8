//! Ids back to the names Kubernetes would show.

use crate::base::*;

/// Names of everything that exists in a run, in the order of the ids.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub jobsets: Vec<JobSetName>,
    pub jobs: Vec<JobName>,
    pub nodes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct JobSetName {
    pub namespace: String,
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct JobName {
    pub jobset: JobSetId,
    /// `<jobset>-<replicatedJob>-<jobIndex>` (NAM-1).
    pub name: String,
    pub replicated_job: String,
    pub job_index: u32,
    pub pods: u32,
}

impl Names {
    pub fn job(&self, id: JobId) -> &str {
        self.jobs.get(id.ix()).map_or("?", |j| &j.name)
    }

    pub fn jobset(&self, id: JobSetId) -> &str {
        self.jobsets.get(id.ix()).map_or("?", |j| &j.name)
    }

    pub fn node(&self, id: NodeId) -> &str {
        self.nodes.get(id.ix()).map_or("?", String::as_str)
    }

    /// `<job>-<suffix>`: a pod of a NonIndexed Job.
    pub fn pod_without_index(&self, job: JobId, pod: PodId, incarnation: u32) -> String {
        format!("{}-{}", self.job(job), suffix(pod, incarnation))
    }

    /// `<job>-<index>-<suffix>`.
    pub fn pod(&self, job: JobId, index: u32, pod: PodId, incarnation: u32) -> String {
        format!("{}-{index}-{}", self.job(job), suffix(pod, incarnation))
    }
}

/// The five letters the API server would draw, here a function of the pod's id: names stay equal between runs.
pub fn suffix(pod: PodId, incarnation: u32) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut x =
        (u64::from(pod.0) << 32 | u64::from(incarnation)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    (0..5)
        .map(|_| {
            let c = ALPHABET[(x % 27) as usize];
            x /= 27;
            char::from(c)
        })
        .collect()
}
