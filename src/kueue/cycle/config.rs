//! Configuration of a cycle.

use crate::preemption::Preemptor;
use crate::workload::Info;
use sim_api::spec::kueue::{ClusterQueue, KueueBehavior};
use std::fmt;

/// What a cycle depends on besides the snapshot.
pub struct CycleConfig<'a> {
    /// Number of the cycle.
    pub cycle: u64,
    pub preemptor: Preemptor,
    pub behavior: KueueBehavior,
    /// Whether resources that a ClusterQueue does not cover are ignored.
    pub ignores_undeclared: bool,
    /// Whether nothing is admitted while an admitted Workload is not ready.
    pub blocks_admission: bool,
    /// Returns why a Workload may not use a ClusterQueue at all (`ValidateAdmissibility`).
    pub validate: &'a dyn Fn(&Info, &ClusterQueue) -> Option<AdmissibilityError>,
}

/// Why a Workload may not use a ClusterQueue at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissibilityError {
    NamespaceMismatch,
    /// Requests exceed limits, with the message of the validation.
    Resources(String),
}

impl fmt::Display for AdmissibilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdmissibilityError::NamespaceMismatch => "workload namespace doesn't match ClusterQueue selector",
            AdmissibilityError::Resources(message) => message,
        })
    }
}
