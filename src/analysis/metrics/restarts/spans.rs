//! Division of a restart into disjoint spans that add up to its total.
//!
//! Each span begins where the previous one ended, even if the milestones overlap.

#![deny(missing_docs)]

use super::phases::Phase;
use super::restart::{Milestone, RestartMetrics, RestartOutcome};
use super::steps::{CAPACITY, QUEUE, RestartStep, STUCK, steps_of};
use sim_base::{Duration, SimTime};

/// Contiguous part of a restart.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RestartSpan {
    /// Step that the span covers.
    pub step: &'static RestartStep,
    /// Start of the span.
    pub from: SimTime,
    /// End of the span.
    pub to: SimTime,
}

impl RestartSpan {
    /// Returns the phase that the step belongs to.
    pub fn phase(&self) -> Phase {
        self.step.phase
    }

    /// Returns the time from the start to the end of the span.
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}

/// Replaces the part of the spans within a wait by the wait.
fn insert(spans: Vec<RestartSpan>, wait: RestartSpan) -> Vec<RestartSpan> {
    let RestartSpan { from, to, .. } = wait;
    let before = spans.iter().filter(|s| s.from < from);
    let before = before.map(|s| RestartSpan { to: s.to.min(from), ..*s });
    let after = spans.iter().filter(|s| s.to > to || (s.from == s.to && s.from >= to));
    let after = after.map(|s| RestartSpan { from: s.from.max(to), ..*s });
    before.chain([wait]).chain(after).collect()
}

impl RestartMetrics {
    fn step_end(&self, step: &RestartStep) -> Option<SimTime> {
        match step.until {
            [] => (self.ending == RestartOutcome::Ready).then_some(self.end),
            [Milestone::LastOldPodGone] => self.old_pods_end(),
            list => list.iter().filter_map(|&m| self.milestone(m)).min(),
        }
    }

    /// Returns the time until which the restart waited for the end of its old pods. If some of them, for example on a
    /// dead node that returns, ended only when the new pods had nodes, it did not wait for them.
    fn old_pods_end(&self) -> Option<SimTime> {
        let gone = self.milestone(Milestone::LastOldPodGone)?;
        match (self.milestone(Milestone::LastPodBound), self.milestone(Milestone::FirstPodCreated)) {
            (Some(bound), created) if bound < gone => Some(created.unwrap_or(bound).min(bound)),
            _ => Some(gone),
        }
    }

    /// Returns disjoint spans in order, without gaps from `start` to `end`. A restart that did not finish ends in the
    /// first step after the last completed one. Steps that did not happen are omitted.
    pub fn spans(&self) -> Vec<RestartSpan> {
        let steps = steps_of(self.shape);
        let mut spans = Vec::with_capacity(steps.len());
        let mut cursor = self.start;
        let mut next = 0;
        for (i, step) in steps.iter().enumerate() {
            let Some(end) = self.step_end(step) else {
                continue;
            };
            let to = end.min(self.end).max(cursor);
            spans.push(RestartSpan { step, from: cursor, to });
            cursor = to;
            next = i + 1;
        }
        if cursor < self.end {
            let step = &steps[next.min(steps.len() - 1)];
            spans.push(RestartSpan { step, from: cursor, to: self.end });
        }
        let stuck = self.stuck_since.map(|since| since.max(self.start)).filter(|since| *since < self.end);
        let is_later = spans.last().is_some_and(|last| last.phase() > Phase::Terminate);
        let stuck = stuck.filter(|_| is_later).map(|from| RestartSpan { step: &STUCK, from, to: self.end });
        let capacity = self.capacity.iter().map(|&(from, to)| RestartSpan { step: &CAPACITY, from, to });
        let queue = self.queue.iter().map(|&(from, to)| RestartSpan { step: &QUEUE, from, to });
        stuck.into_iter().chain(capacity).chain(queue).fold(spans, insert)
    }

    /// Returns the time per phase, in the order of `Phase::ALL`. The phases up to `Barrier` add up to `total()`; the
    /// later ones come from the next segment of the training job.
    pub fn phases(&self) -> [Duration; Phase::COUNT] {
        let mut sums = [Duration::ZERO; Phase::COUNT];
        for span in self.spans() {
            let sum = &mut sums[span.phase() as usize];
            *sum = *sum + span.duration();
        }
        if let Some(next) = self.next {
            sums[Phase::Rendezvous as usize] = next.rendezvous;
            sums[Phase::Restore as usize] = next.restore;
            sums[Phase::Redo as usize] = next.redo;
        }
        sums
    }
}
