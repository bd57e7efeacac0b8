//! Replaces random suffixes of pod names by `<rand>`, as in the recordings.
//!
//! Only names of pods of the run's Jobs are changed.

use regex::Regex;
use sim_engine::record::RecordNames;
use std::collections::BTreeSet;

/// Masks names of pods: `<job>-<index>-<suffix>`, or `<job>-<suffix>` for a NonIndexed Job.
pub struct VolatileMask {
    jobs: BTreeSet<String>,
    name: Option<Regex>,
}

impl VolatileMask {
    /// Creates a mask from the names at the end of the run. Pods that were not created by a Job have no suffix.
    pub fn new(names: &RecordNames) -> VolatileMask {
        let jobs = names.jobs.iter().filter(|j| !j.standalone_pod);
        VolatileMask {
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
        masked.into_owned()
    }

    fn is_pod(&self, stem: &str) -> bool {
        let indexed =
            stem.rsplit_once('-').filter(|(_, index)| !index.is_empty() && index.chars().all(|c| c.is_ascii_digit()));
        self.jobs.contains(stem) || indexed.is_some_and(|(job, _)| self.jobs.contains(job))
    }
}
