//! The state of the repair pipeline: crews at work, nodes that wait for one, and counts by stage.

use std::collections::VecDeque;

/// Who is repaired and who waits.
#[derive(Clone, Default)]
pub struct Shop {
    /// Nodes that wait for a crew, who came first first.
    pub(super) waiting: VecDeque<u32>,
    /// Crews at work.
    pub(super) busy: u32,
    /// Tickets that each stage closed or handed on.
    pub done: Vec<u64>,
    pub successful: u64,
    pub failed: u64,
}

impl Shop {
    pub fn new(stages: usize) -> Shop {
        Shop {
            done: vec![0; stages],
            ..Shop::default()
        }
    }
}
