//! The state of the repair pipeline: busy crews, nodes that wait for a crew, and counts by stage.

use std::collections::VecDeque;

/// State of the repair pipeline.
#[derive(Clone, Default)]
pub struct FleetRepair {
    /// Nodes that wait for a crew, in the order of arrival.
    pub(super) waiting: VecDeque<u32>,
    /// Number of busy crews.
    pub(super) busy: u32,
    /// Number of repairs that each stage completed or escalated to the next stage.
    pub done: Vec<u64>,
    pub successful: u64,
    pub failed: u64,
}

impl FleetRepair {
    pub fn new(stages: usize) -> FleetRepair {
        FleetRepair { done: vec![0; stages], ..FleetRepair::default() }
    }
}
