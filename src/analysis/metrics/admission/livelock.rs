//! Preemptions and evictions that repeat without progress.

use super::history::{AdmissionHistory, JobSetAdmission, WorkloadOfRun};
use sim_base::JobSetId;
use std::collections::BTreeMap;

/// Number of evictions in a row, or of preemptions in each direction, that counts as a loop.
const REPEATS: usize = 3;

/// Evictions that repeat without progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreemptionLoop {
    /// Two JobSets preempt each other, and none of them has finished.
    Mutual {
        /// Ids of the JobSets.
        pair: (JobSetId, JobSetId),
        /// Number of preemptions of the second JobSet by the first one, and the reverse.
        counts: (usize, usize),
    },
    /// A JobSet is evicted before all of its pods are ready, each time.
    NeverReady {
        /// Id of the JobSet.
        jobset: JobSetId,
        /// Number of such evictions in a row, up to the end of the run.
        count: usize,
        /// Reason of the last one.
        reason: String,
    },
}

impl PreemptionLoop {
    /// Describes the loop as a sentence without a period.
    pub fn describe(&self, name: impl Fn(JobSetId) -> String) -> String {
        match self {
            PreemptionLoop::Mutual { pair: (a, b), counts: (ab, ba) } => format!(
                "preemption loop: JobSet {} preempted JobSet {} {ab} times and was preempted by it {ba} times, and \
                 neither has finished",
                name(*a),
                name(*b)
            ),
            PreemptionLoop::NeverReady { jobset, count, reason } => format!(
                "eviction loop: JobSet {} was evicted {count} times in a row before all of its pods were ready (last \
                 reason: {reason})",
                name(*jobset)
            ),
        }
    }
}

/// Returns the loops of a run.
pub fn preemption_loops(history: &AdmissionHistory) -> Vec<PreemptionLoop> {
    let mut counts: BTreeMap<(JobSetId, JobSetId), usize> = BTreeMap::new();
    for own in history.job_sets.iter().filter(|own| own.finished.is_none()) {
        for (_, other) in &own.preempted {
            if let WorkloadOfRun::JobSet(other) = other {
                *counts.entry((own.jobset, *other)).or_default() += 1;
            }
        }
    }
    let mutual = counts.iter().filter_map(|(&(a, b), &ab)| {
        let ba = counts.get(&(b, a)).copied()?;
        let is_loop = a < b && ab.min(ba) >= REPEATS;
        is_loop.then_some(PreemptionLoop::Mutual { pair: (a, b), counts: (ab, ba) })
    });
    mutual.chain(history.job_sets.iter().filter_map(never_ready)).collect()
}

fn never_ready(own: &JobSetAdmission) -> Option<PreemptionLoop> {
    let count = own.evictions.iter().rev().take_while(|eviction| !eviction.was_ready).count();
    let is_ready_now = own.reservations.last().is_some_and(|last| last.until.is_none() && last.ready.is_some());
    if count < REPEATS || is_ready_now || own.finished.is_some() {
        return None;
    }
    let reason = own.evictions.last()?.reason.clone();
    Some(PreemptionLoop::NeverReady { jobset: own.jobset, count, reason })
}
