//! Configuration of a cycle.

use crate::preemption::Preemptor;
use crate::workload::Info;
use sim_api::spec::kueue::{ClusterQueue, KueueBehavior};

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
    /// Returns why a Workload may not use a ClusterQueue at all, e.g. because of its namespace.
    pub validate: &'a dyn Fn(&Info, &ClusterQueue) -> Option<String>,
}
