//! Critical path of a restart: the sequence of waits from its cause to its end.
//!
//! Built by following tickets back to their parents. Steps have no gaps and add up to the duration of the restart, to
//! the nanosecond.

use crate::metrics::admission::WaitCause;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{NO_TICKET, TicketSubject, TicketWait, WorkTicket};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Steps in order of time, each longer than zero; empty if no tickets were stored.
    pub steps: Vec<PathStep>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub from: SimTime,
    pub to: SimTime,
    pub waited: TicketWait,
    pub part: PathPart,
    pub about: TicketSubject,
}

/// Part of a wait that a step covers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// First part of a request: waiting for a token of the rate limiter.
    Token,
    /// Second part of a request: from the token to the response.
    Answer,
    Whole,
    /// Time without further progress until the end of the run.
    Open,
    /// A Job has used up `backoffLimitPerIndex` of an index, and fails only after `maxFailedIndexes`.
    FailedIndexes,
    /// The JobSet is suspended; what happens to other objects meanwhile is not part of the path. With the wait of its
    /// Workload; `None` if Kueue does not manage the JobSet, or its Workload waits for nothing.
    Admission(Option<WaitCause>),
}

impl PathStep {
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }

    /// Returns the part of the duration that lies within [from, to].
    pub fn clipped(&self, from: SimTime, to: SimTime) -> Duration {
        self.to.min(to).since(self.from.max(from))
    }
}

impl CriticalPath {
    /// Returns the path from `start` to `end` whose last step is the ticket `last`. The first wait without a stored
    /// parent is extended back to `start`.
    pub fn walk<'t>(
        find: impl Fn(u32) -> Option<&'t WorkTicket>, last: u32, start: SimTime, end: SimTime,
    ) -> CriticalPath {
        let mut steps = Vec::new();
        let (mut ticket, mut to) = (find(last), end);
        while let Some(t) = ticket.filter(|_| to > start) {
            // Parents have smaller ids; any other parent is ignored, so that the loop terminates.
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
        let path = CriticalPath { steps };
        if !path.steps.is_empty() {
            assert_eq!(path.total(), end.since(start), "the steps of a path must not have gaps");
        }
        path
    }

    /// Appends an open step from the last step, or from `start` without steps, until `end`.
    pub fn leave_open(&mut self, start: SimTime, end: SimTime, about: TicketSubject) {
        self.append((start, end), (TicketWait::SilentNode, PathPart::Open), about);
    }

    /// Appends a wait for a node from the last step, or from `start` without steps, until `end`.
    pub fn wait_for_capacity(&mut self, start: SimTime, end: SimTime, about: TicketSubject) {
        self.append((start, end), (TicketWait::Unschedulable, PathPart::Whole), about);
    }

    fn append(
        &mut self, (start, to): (SimTime, SimTime), (waited, part): (TicketWait, PathPart), about: TicketSubject,
    ) {
        let from = self.steps.last().map_or(start, |s| s.to);
        if to > from {
            self.steps.push(PathStep { from, to, waited, part, about });
        }
    }

    /// Replaces the part of the path within [from, to] by one wait of the JobSet for admission.
    pub fn wait_for_admission(&mut self, from: SimTime, to: SimTime, (jobset, cause): (JobSetId, Option<WaitCause>)) {
        let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) else {
            return;
        };
        let (from, to) = (from.max(first.from), to.min(last.to));
        if from >= to {
            return;
        }
        let before = self.steps.iter().filter(|s| s.from < from).map(|s| PathStep { to: s.to.min(from), ..*s });
        let after = self.steps.iter().filter(|s| s.to > to).map(|s| PathStep { from: s.from.max(to), ..*s });
        let about = TicketSubject::JobSet(jobset);
        let wait = PathStep { from, to, waited: TicketWait::Script, part: PathPart::Admission(cause), about };
        self.steps = before.chain([wait]).chain(after).collect();
    }

    /// Removes the part of the path after `end`.
    pub fn truncate(&mut self, end: SimTime) {
        self.steps.retain(|step| step.from < end);
        if let Some(last) = self.steps.last_mut() {
            last.to = last.to.min(end);
        }
    }

    pub fn total(&self) -> Duration {
        let sum = self.steps.iter().map(|s| s.duration().0).sum();
        Duration(sum)
    }
}

/// Appends the steps of a wait in [from, to], in reverse order of time. Time before the wait itself is added to its
/// first non-empty part.
fn push(steps: &mut Vec<PathStep>, t: &WorkTicket, from: SimTime, to: SimTime) {
    let step = |from, to, part| PathStep { from, to, waited: t.wait, part, about: t.subject };
    let TicketWait::Request(_) = t.wait else {
        steps.extend((to > from).then(|| step(from, to, PathPart::Whole)));
        return;
    };
    let waited = t.granted > t.from;
    let granted = if waited { t.granted.clamp(from, to) } else { from };
    let parts = [step(granted, to, PathPart::Answer), step(from, granted, PathPart::Token)];
    steps.extend(parts.into_iter().filter(|s| s.to > s.from));
}
