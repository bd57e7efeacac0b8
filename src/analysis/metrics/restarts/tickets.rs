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
mod tests {
    use super::*;
    use sim_engine::record::{About, NO_TICKET, Waited};

    fn ticket(id: u32, parent: u32, from: u64, to: u64) -> Ticket {
        Ticket {
            id,
            parent,
            from: Time(from),
            granted: Time(from),
            to: Time(to),
            waited: Waited::Watch,
            about: About::Nothing,
        }
    }

    fn ids(tickets: &Tickets) -> Vec<u32> {
        tickets.iter().map(|t| t.id).collect()
    }

    #[test]
    fn what_ended_before_the_horizon_is_forgotten_and_what_goes_on_is_not() {
        let mut tickets = Tickets::default();
        for t in [
            ticket(1, NO_TICKET, 0, 10),
            ticket(2, 1, 10, 500),
            ticket(4, 1, 10, 20),
            ticket(5, 4, 20, 30),
        ] {
            tickets.push(&t);
        }
        tickets.forget(Time(20), &[]);
        assert_eq!(ids(&tickets), [2, 4, 5]);
        assert!(tickets.find(1).is_none() && tickets.find(3).is_none());
        assert_eq!(tickets.find(4).map(|t| t.to), Some(Time(20)));
    }

    #[test]
    fn too_many_are_kept_only_where_they_lead_up_to_newer_ones_or_to_an_end() {
        let mut tickets = Tickets {
            many: 8,
            ..Tickets::default()
        };
        // Two chains from one root: even ids and odd ids; the odd one stops early.
        for id in 0..12u32 {
            let parent = id.checked_sub(2).unwrap_or(NO_TICKET);
            let older = if id % 2 == 1 && id > 5 {
                id - 1
            } else {
                parent
            };
            tickets.push(&ticket(id, older, u64::from(id), 100));
        }
        let mut with_end = Tickets {
            many: 8,
            kept: tickets.kept.clone(),
            last: 0,
        };
        tickets.forget(Time::ZERO, &[]);
        assert_eq!(ids(&tickets), [0, 2, 4, 6, 7, 8, 9, 10, 11]);
        with_end.forget(Time::ZERO, &[3]);
        assert_eq!(ids(&with_end), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
    }
}
