//! DEP-1 to DEP-3: when a replicatedJob's dependencies let it be created or resumed.
//!
//! Must never gate a Job that runs already (DEP-4).

use super::RjStatus;
use crate::spec::{DependsOnStatus, ReplicatedJob};

/// DEP-1 for the replicatedJob at position `at`, by the counters of this pass.
pub fn reached(specs: &[ReplicatedJob], statuses: &[RjStatus], at: usize) -> bool {
    specs[at].depends_on.iter().all(|d| {
        let Some(on) = specs.iter().position(|r| r.name == d.name) else {
            return false;
        };
        let Some(s) = statuses.get(on) else {
            return false;
        };
        // DEP-2: replicas are known only of those visited so far, itself included.
        let replicas = if on <= at { specs[on].replicas } else { 0 };
        match d.status {
            DependsOnStatus::Complete => s.succeeded == replicas,
            // The code counts failed Jobs too; a failure ends the pass earlier anyway (REC-10).
            DependsOnStatus::Ready => s.ready + s.failed + s.succeeded == replicas,
        }
    })
}
