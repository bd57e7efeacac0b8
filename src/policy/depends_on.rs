//! dependsOn: whether a replicatedJob may be created or resumed (DEP-1 to DEP-3).
//!
//! Must never block a Job that already runs (DEP-4).

use super::RjStatus;
use sim_api::spec::{DependsOn, DependsOnStatus, ReplicatedJob};

/// DEP-1 for the replicatedJob at position `at`, with the counters of this pass.
pub fn reached(specs: &[ReplicatedJob], statuses: &[RjStatus], at: usize) -> bool {
    let mut needs = specs[at].depends_on.iter();
    needs.all(|d| progress(specs, statuses, at, d).is_some_and(|(have, need)| have == need))
}

/// Number of Jobs of a dependency that have reached the required status, and the required number. `None` if the
/// replicatedJob does not exist.
pub(super) fn progress(
    specs: &[ReplicatedJob], statuses: &[RjStatus], at: usize, on: &DependsOn,
) -> Option<(u32, u32)> {
    let position = specs.iter().position(|r| r.name == on.name)?;
    let s = statuses.get(position)?;
    // DEP-2: the number of replicas is known only for the replicatedJobs visited so far, including this one.
    let need = if position <= at { specs[position].replicas } else { 0 };
    let have = match on.status {
        DependsOnStatus::Complete => s.succeeded,
        // Upstream also counts failed Jobs; a failure ends the pass earlier anyway (REC-10).
        DependsOnStatus::Ready => s.ready + s.failed + s.succeeded,
    };
    Some((have, need))
}
