//! Tickets that the critical path of a restart may still need.
//!
//! Must never grow with the length of a run: tickets that ended before all possible restarts are dropped.

use sim_base::SimTime;
use sim_engine::record::WorkTicket;

/// Number of tickets below which none are dropped.
const FEW: usize = 4096;
/// Number of tickets (about 200 MB) above which older ones are kept only if newer ones descend from them. Without this
/// limit a restart that never ends would keep all tickets.
const MANY: usize = 4 << 20;

pub struct TicketIndex {
    /// Stored tickets in ascending order of id.
    kept: Vec<WorkTicket>,
    /// Number of tickets that remained after the last clean-up.
    last: usize,
    many: usize,
}

impl Default for TicketIndex {
    fn default() -> TicketIndex {
        TicketIndex { kept: Vec::new(), last: 0, many: MANY }
    }
}

impl TicketIndex {
    pub fn push(&mut self, ticket: &WorkTicket) {
        self.kept.push(*ticket);
    }

    pub fn find(&self, id: u32) -> Option<&WorkTicket> {
        let at = self.kept.binary_search_by_key(&id, |t| t.id).ok()?;
        self.kept.get(at)
    }

    /// Whether no tickets are stored, as nothing records them.
    pub fn are_none(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &WorkTicket> {
        self.kept.iter()
    }

    /// Whether a clean-up is due. `work` is the cost of finding the horizon, as a number of tickets.
    pub fn are_many(&self, work: usize) -> bool {
        let grown = self.last + self.last.min(self.many / 2);
        self.kept.len() >= grown.max(FEW).max(work)
    }

    /// Drops the tickets that no path starting at `horizon` or later can need. `ends` are tickets at which the backward
    /// walk of some path is certain to begin.
    pub fn drop_before(&mut self, horizon: SimTime, ends: &[u32]) {
        self.kept.retain(|t| t.to >= horizon);
        if self.kept.len() > self.many {
            self.drop_older_half(ends);
        }
        self.last = self.kept.len();
    }

    /// Keeps the newer half, the tickets `ends`, and all ancestors of both.
    fn drop_older_half(&mut self, ends: &[u32]) {
        let newer = self.kept.len() / 2;
        let mut needed: Vec<bool> = (0..self.kept.len()).map(|at| at >= newer).collect();
        let place = |kept: &[WorkTicket], id: u32| kept.binary_search_by_key(&id, |t| t.id).ok();
        for at in ends.iter().filter_map(|id| place(&self.kept, *id)) {
            needed[at] = true;
        }
        for at in (0..self.kept.len()).rev() {
            if needed[at]
                && let Some(parent) = place(&self.kept, self.kept[at].parent)
            {
                needed[parent] = true;
            }
        }
        let mut needed = needed.into_iter();
        self.kept.retain(|_| needed.next().unwrap_or(true));
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/analysis/metrics/restarts/tickets.rs"]
mod tests;
