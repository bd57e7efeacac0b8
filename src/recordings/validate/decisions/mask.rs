//! Replaces random suffixes of pod names by `<rand>`, as in the recordings.
//!
//! Only names of pods of the run's Jobs are changed. In recordings of kind `cluster`, which of equal pods is preempted
//! is random, and other cases had cordoned nodes: there the indexes of Jobs and pods are masked too, and cordoned nodes
//! are counted among those that do not match.

use crate::validate::recording::RecordingKind;
use regex::Regex;
use sim_engine::record::RecordNames;
use std::collections::BTreeSet;

/// Masks names of pods: `<job>-<index>-<suffix>`, or `<job>-<suffix>` for a NonIndexed Job.
pub struct VolatileMask {
    jobs: BTreeSet<String>,
    name: Option<Regex>,
    /// Patterns of UIDs and names of Workloads; only with Kueue.
    uids: Option<[Regex; 2]>,
    pub has_ties: bool,
}

const CORDONED: &str = " node(s) were unschedulable";
const NOT_MATCHING: &str = " node(s) didn't match Pod's node affinity/selector";

impl VolatileMask {
    /// Creates a mask from the names at the end of the run. Pods that were not created by a Job have no suffix.
    pub fn new(names: &RecordNames, kind: RecordingKind) -> VolatileMask {
        let jobs = names.jobs.iter().filter(|j| !j.standalone_pod);
        VolatileMask {
            has_ties: kind == RecordingKind::Cluster,
            uids: uid_patterns().filter(|_| kind == RecordingKind::KueueLive),
            jobs: jobs.map(|j| j.name.clone()).collect(),
            // The alphabet is that of the API server (apimachinery, util/rand). The pattern is constant and compiles.
            name: Regex::new(r"([a-z0-9.-]+)-([bcdfghjklmnpqrstvwxz2456789]{5})\b").ok(),
        }
    }

    pub fn mask_names(&self, text: &str) -> String {
        let Some(name) = &self.name else {
            return text.to_owned();
        };
        let masked =
            name.replace_all(
                text,
                |c: &regex::Captures<'_>| {
                    if self.is_pod(&c[1]) { format!("{}-<rand>", &c[1]) } else { c[0].to_owned() }
                },
            );
        let masked = self.mask_uids(&masked);
        if self.has_ties { self.mask_ties(&masked) } else { masked }
    }

    /// Masks UIDs in messages of Kueue, and the hash at the end of the name of a Workload, which depends on them.
    fn mask_uids(&self, text: &str) -> String {
        let Some([uid, workload]) = &self.uids else { return text.to_owned() };
        let masked = uid.replace_all(text, "UID: <uid>");
        workload.replace_all(&masked, "$1-<hash>").into_owned()
    }

    /// Masks the index of a Job and of its pods in a name, and merges the counts of cordoned and other nodes.
    fn mask_ties(&self, text: &str) -> String {
        let mut text = merge_cordoned(text);
        for job in self.jobs.iter().rev() {
            let Some((stem, _)) = job.rsplit_once('-') else { continue };
            while let Some(at) = text.find(job.as_str()) {
                let rest = &text[at + job.len()..];
                let digits = rest.strip_prefix('-').map_or(0, |r| r.bytes().take_while(u8::is_ascii_digit).count());
                let end = at + job.len() + if digits > 0 { digits + 1 } else { 0 };
                text.replace_range(at..end, &format!("{stem}-#"));
            }
        }
        text
    }

    fn is_pod(&self, stem: &str) -> bool {
        let indexed =
            stem.rsplit_once('-').filter(|(_, index)| !index.is_empty() && index.chars().all(|c| c.is_ascii_digit()));
        self.jobs.contains(stem) || indexed.is_some_and(|(job, _)| self.jobs.contains(job))
    }
}

/// Returns the patterns of UIDs and names of Workloads. They are constant and compile.
fn uid_patterns() -> Option<[Regex; 2]> {
    let uid = Regex::new(r"UID: [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").ok()?;
    Some([uid, Regex::new(r"\b(jobset-[a-z0-9.-]+)-[0-9a-f]{5}\b").ok()?])
}

/// Adds the number of cordoned nodes in a message of the scheduler to that of nodes that do not match.
fn merge_cordoned(message: &str) -> String {
    let parts = || message.split(", ").flat_map(|part| part.split(": "));
    let count = |what: &str| {
        let part = parts().find_map(|part| part.split_once(what))?;
        Some((part.0, part.0.parse::<u32>().ok()?))
    };
    let (Some((cordoned, a)), Some((others, b))) = (count(CORDONED), count(NOT_MATCHING)) else {
        return message.to_owned();
    };
    let without = message.replacen(&format!("{cordoned}{CORDONED}"), "", 1);
    let merged = without.replacen(&format!("{others}{NOT_MATCHING}"), &format!("{}{NOT_MATCHING}", a + b), 1);
    merged.replace(", ,", ",").replace(", .", ".").replace(": , ", ": ")
}
