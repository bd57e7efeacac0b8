//! Whether a replicatedJob's dependencies let it be created or resumed (DEP-1 to DEP-3).
//!
//! Must never gate a Job that runs already (DEP-4).

use super::RjStatus;
use sim_api::spec::{DependsOn, DependsOnStatus, ReplicatedJob};

/// DEP-1 for the replicatedJob at position `at`, by the counters of this pass.
pub fn reached(specs: &[ReplicatedJob], statuses: &[RjStatus], at: usize) -> bool {
    let mut needs = specs[at].depends_on.iter();
    needs.all(|d| progress(specs, statuses, at, d).is_some_and(|(have, need)| have == need))
}

/// How many Jobs of a dependency are where they must be, and how many must. `None`: there is no such replicatedJob.
pub(super) fn progress(
    specs: &[ReplicatedJob],
    statuses: &[RjStatus],
    at: usize,
    on: &DependsOn,
) -> Option<(u32, u32)> {
    let position = specs.iter().position(|r| r.name == on.name)?;
    let s = statuses.get(position)?;
    // DEP-2: replicas are known only of those visited so far, itself included.
    let need = if position <= at {
        specs[position].replicas
    } else {
        0
    };
    let have = match on.status {
        DependsOnStatus::Complete => s.succeeded,
        // The code counts failed Jobs too; a failure ends the pass earlier anyway (REC-10).
        DependsOnStatus::Ready => s.ready + s.failed + s.succeeded,
    };
    Some((have, need))
}
