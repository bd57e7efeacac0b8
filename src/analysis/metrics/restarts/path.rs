//! The path of a restart: the waits that followed each other, from what began it to what ended it.
//!
//! Made by walking back from a ticket to its parent. Steps follow each other without a gap and add up to the restart,
//! to the nanosecond.

use sim_base::*;
use sim_engine::record::{About, NO_TICKET, Ticket, Waited};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// In the order of time, none of them empty. No steps: nobody kept tickets.
    pub steps: Vec<PathStep>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub from: Time,
    pub to: Time,
    pub waited: Waited,
    pub part: Part,
    pub about: About,
}

/// Which part of a wait a step is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Of a request: until the token bucket let it go.
    Token,
    /// Of a request: until it was answered.
    Answer,
    Whole,
    /// Nothing came any more, and the run ended.
    Open,
}

impl PathStep {
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }

    /// How much of it lies within [from, to].
    pub fn within(&self, from: Time, to: Time) -> Duration {
        self.to.min(to).since(self.from.max(from))
    }
}

impl Path {
    /// From the ticket `last` back to `start`; the last step ends at `end`. A wait without a parent, or whose parent is
    /// forgotten, takes what is left down to `start`.
    pub fn walk<'t>(
        find: impl Fn(u32) -> Option<&'t Ticket>,
        last: u32,
        start: Time,
        end: Time,
    ) -> Path {
        let mut steps = Vec::new();
        let (mut ticket, mut to) = (find(last), end);
        while let Some(t) = ticket.filter(|_| to > start) {
            // Parents are older; one that is not would be no way back.
            let older = t.parent != NO_TICKET && t.parent < t.id;
            let parent = older.then(|| find(t.parent)).flatten();
            let from = match parent {
                Some(_) => t.from.max(start).min(to),
                None => start,
            };
            push(&mut steps, t, from, to);
            (ticket, to) = (parent, from);
        }
        steps.reverse();
        let path = Path { steps };
        if !path.steps.is_empty() {
            assert_eq!(path.total(), end.since(start), "a path without gaps");
        }
        path
    }

    /// Nothing more came after the last step, or after `start`, until `end`.
    pub fn leave_open(&mut self, start: Time, end: Time, about: About) {
        let open = PathStep {
            from: self.steps.last().map_or(start, |s| s.to),
            to: end,
            waited: Waited::SilentNode,
            part: Part::Open,
            about,
        };
        if open.to > open.from {
            self.steps.push(open);
        }
    }

    pub fn total(&self) -> Duration {
        let sum = self.steps.iter().map(|s| s.duration().0).sum();
        Duration(sum)
    }
}

/// Appends what the wait is of [from, to], the later part first. What lies before the wait itself goes to its first
/// part that lasted.
fn push(steps: &mut Vec<PathStep>, t: &Ticket, from: Time, to: Time) {
    let step = |from, to, part| PathStep {
        from,
        to,
        waited: t.waited,
        part,
        about: t.about,
    };
    let Waited::Request(_) = t.waited else {
        steps.extend((to > from).then(|| step(from, to, Part::Whole)));
        return;
    };
    let waited = t.granted > t.from;
    let granted = if waited {
        t.granted.clamp(from, to)
    } else {
        from
    };
    let parts = [
        step(granted, to, Part::Answer),
        step(from, granted, Part::Token),
    ];
    steps.extend(parts.into_iter().filter(|s| s.to > s.from));
}
