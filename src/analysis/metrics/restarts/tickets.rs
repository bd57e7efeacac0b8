//! The tickets that the path of a restart may still need.
//!
//! Must never grow with the length of a run: what ended before any restart began is forgotten.

use sim_base::*;
use sim_engine::record::Ticket;

/// Fewer are never looked through.
const FEW: usize = 4096;
/// More than this, some 200 MB, are kept only while they lead up to newer ones: a restart may stay open for ever while
/// others come and go.
const MANY: usize = 4 << 20;

pub struct Tickets {
    /// By id, which ascend.
    kept: Vec<Ticket>,
    /// How many were kept when they were last looked through.
    last: usize,
    many: usize,
}

impl Default for Tickets {
    fn default() -> Tickets {
        Tickets {
            kept: Vec::new(),
            last: 0,
            many: MANY,
        }
    }
}

impl Tickets {
    pub fn push(&mut self, ticket: &Ticket) {
        self.kept.push(*ticket);
    }

    pub fn find(&self, id: u32) -> Option<&Ticket> {
        let at = self.kept.binary_search_by_key(&id, |t| t.id).ok()?;
        self.kept.get(at)
    }

    /// Nobody makes tickets.
    pub fn are_none(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Ticket> {
        self.kept.iter()
    }

    /// Whether it is time to forget some; `work`: what looking for the horizon costs.
    pub fn are_many(&self, work: usize) -> bool {
        let grown = self.last + self.last.min(self.many / 2);
        self.kept.len() >= grown.max(FEW).max(work)
    }

    /// Forgets what no path can need that begins at `horizon` or later. `ends`: tickets that a path will surely begin
    /// its way back from.
    pub fn forget(&mut self, horizon: Time, ends: &[u32]) {
        self.kept.retain(|t| t.to >= horizon);
        if self.kept.len() > self.many {
            self.thin(ends);
        }
        self.last = self.kept.len();
    }

    /// Keeps the newer half, `ends`, and all that lead up to these.
    fn thin(&mut self, ends: &[u32]) {
        let newer = self.kept.len() / 2;
        let mut needed: Vec<bool> = (0..self.kept.len()).map(|at| at >= newer).collect();
        let place = |kept: &[Ticket], id: u32| kept.binary_search_by_key(&id, |t| t.id).ok();
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
