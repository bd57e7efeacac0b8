//! Maps ids to the names that Kubernetes would show, and text ids to texts.
//!
//! Rows are only appended during a run; a reader must not size a table by them before the run has ended.

use sim_base::{JobId, JobSetId, NodeId, PodId, TextId};

/// Names of all objects that have existed in a run so far, in the order of their ids.
#[derive(Clone, Debug, Default)]
pub struct RecordNames {
    pub jobsets: Vec<JobSetName>,
    pub jobs: Vec<JobName>,
    pub nodes: Vec<String>,
    /// Strings created during a run, without duplicates, so that records stay small. Only `intern` adds strings.
    pub(crate) texts: Vec<String>,
    /// Positions in `texts`, sorted by text.
    pub(crate) sorted: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct JobSetName {
    pub namespace: String,
    pub name: String,
}

#[derive(Clone, Debug, Default)]
pub struct JobName {
    /// The JobSet that created it; `JobSetId::NONE` if no JobSet did.
    pub jobset: JobSetId,
    /// Name of the form `<jobset>-<replicatedJob>-<jobIndex>` (NAM-1).
    pub name: String,
    /// The namespace, if it is not that of a JobSet; otherwise empty.
    pub namespace: String,
    pub replicated_job: String,
    pub job_index: u32,
    /// A pod without a Job: the name is that of the pod.
    pub standalone_pod: bool,
    /// The Job's latest object is NonIndexed: the names of its pods have no index.
    pub without_index: bool,
}

/// Number of recent texts that are compared before the sorted texts are searched; most texts are reused immediately.
const RECENT: usize = 8;

impl RecordNames {
    /// Creates the names of these Jobs, without any texts.
    pub fn for_jobs(jobs: Vec<JobName>) -> RecordNames {
        RecordNames { jobs, ..RecordNames::default() }
    }

    pub fn job(&self, id: JobId) -> &str {
        self.jobs.get(id.ix()).map_or("?", |j| &j.name)
    }

    pub fn jobset(&self, id: JobSetId) -> &str {
        self.jobsets.get(id.ix()).map_or("?", |j| &j.name)
    }

    pub fn node(&self, id: NodeId) -> &str {
        self.nodes.get(id.ix()).map_or("?", String::as_str)
    }

    /// The JobSet that created the Job, if any.
    pub fn jobset_of(&self, job: JobId) -> Option<JobSetId> {
        let id = self.jobs.get(job.ix())?.jobset;
        id.is_some().then_some(id)
    }

    /// The namespace of a JobSet; empty if there is no JobSet.
    pub fn namespace(&self, jobset: JobSetId) -> &str {
        self.jobsets.get(jobset.ix()).map_or("", |j| &j.namespace)
    }

    /// The namespace of a Job, or of a pod without a Job.
    pub fn namespace_of(&self, job: JobId) -> &str {
        let Some(j) = self.jobs.get(job.ix()) else {
            return "";
        };
        match self.jobsets.get(j.jobset.ix()) {
            Some(jobset) => &jobset.namespace,
            None => &j.namespace,
        }
    }

    /// Pod name: `<job>-<index>-<suffix>`, or `<job>-<suffix>` for a NonIndexed Job. A pod without a Job has its own
    /// name.
    pub fn pod(&self, job: JobId, index: u32, pod: PodId, incarnation: u32) -> String {
        let name = self.job(job);
        if self.is_standalone_pod(job) {
            return name.to_owned();
        }
        let suffix = suffix(pod, incarnation);
        match self.index_in_name(job, index) {
            Some(index) => format!("{name}-{index}-{suffix}"),
            None => format!("{name}-{suffix}"),
        }
    }

    /// The index, if the names of the Job's pods contain one.
    pub fn index_in_name(&self, job: JobId, index: u32) -> Option<u32> {
        let without = self.jobs.get(job.ix()).is_some_and(|j| j.without_index);
        (!without).then_some(index)
    }

    /// Pod name without the random suffix, as used in scenarios. For a NonIndexed Job, the index is the rank among
    /// its running pods.
    pub fn pod_base_name(&self, job: JobId, index: u32) -> String {
        if self.is_standalone_pod(job) { self.job(job).to_owned() } else { format!("{}-{index}", self.job(job)) }
    }

    pub fn is_standalone_pod(&self, job: JobId) -> bool {
        self.jobs.get(job.ix()).is_some_and(|j| j.standalone_pod)
    }

    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id.ix()).map_or("", String::as_str)
    }

    /// Returns the id of `text`, adding it if it is new.
    pub fn intern(&mut self, text: &str) -> TextId {
        let recent = self.texts.iter().enumerate().rev().take(RECENT);
        if let Some((at, _)) = recent.into_iter().find(|(_, t)| *t == text) {
            return TextId(at as u32);
        }
        let texts = &self.texts;
        let known = |at: &u32| texts[*at as usize].as_str().cmp(text);
        match self.sorted.binary_search_by(known) {
            Ok(place) => TextId(self.sorted[place]),
            Err(place) => {
                let at = self.texts.len() as u32;
                self.texts.push(text.to_owned());
                self.sorted.insert(place, at);
                TextId(at)
            }
        }
    }

    /// Removes all texts for the next run; buffers are kept.
    pub fn clear_texts(&mut self) {
        self.texts.clear();
        self.sorted.clear();
    }
}

/// The five letters of the random suffix, derived from the pod's id: names are equal in all runs.
pub fn suffix(pod: PodId, incarnation: u32) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut x = (u64::from(pod.0) << 32 | u64::from(incarnation)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    (0..5)
        .map(|_| {
            let c = ALPHABET[(x % 27) as usize];
            x /= 27;
            char::from(c)
        })
        .collect()
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/record/names.rs"]
mod tests;
