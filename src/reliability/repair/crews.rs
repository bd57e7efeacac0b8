//! The crews that repair nodes, and the nodes that wait for one.

use std::collections::VecDeque;

/// Busy crews, and waiting nodes in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub struct RepairCrews {
    waiting: VecDeque<u32>,
    busy: u32,
}

impl RepairCrews {
    /// Returns true if one of `crews` crews is free and takes the node; otherwise the node waits. `None`: no limit.
    pub fn take(&mut self, node: u32, crews: Option<u32>) -> bool {
        let is_free = crews.is_none_or(|crews| self.busy < crews);
        if is_free {
            self.busy += 1
        } else {
            self.waiting.push_back(node)
        }
        is_free
    }

    /// A crew has finished. Returns the node that it takes next.
    pub fn release(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        self.busy -= u32::from(next.is_none());
        next
    }
}
