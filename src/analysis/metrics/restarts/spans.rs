//! A restart cut into disjoint phases that add up to its total.
//!
//! Where milestones overlap, the cut is at the later one: a span begins where the one before it ended.

#![deny(missing_docs)]

use super::phases::Phase;
use super::restart::{Ending, Restart};
use super::steps::{Step, steps_of};
use sim_base::*;

/// One piece of a restart.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Span {
    /// What happens in it.
    pub step: &'static Step,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
}

impl Span {
    /// The phase it belongs to.
    pub fn phase(&self) -> Phase {
        self.step.phase
    }

    /// How long it takes.
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}

impl Restart {
    fn step_end(&self, step: &Step) -> Option<Time> {
        match step.until {
            [] => (self.ending == Ending::Ready).then_some(self.end),
            list => list.iter().filter_map(|&m| self.milestone(m)).min(),
        }
    }

    /// Disjoint, in order, without gaps from `start` to `end`. A restart that did not finish ends in the first step
    /// after the last one that was completed. Steps that did not happen are left out.
    pub fn spans(&self) -> Vec<Span> {
        let steps = steps_of(self.shape);
        let mut spans = Vec::with_capacity(steps.len());
        let mut cursor = self.start;
        let mut next = 0;
        for (i, step) in steps.iter().enumerate() {
            let Some(end) = self.step_end(step) else {
                continue;
            };
            let to = end.min(self.end).max(cursor);
            spans.push(Span {
                step,
                from: cursor,
                to,
            });
            cursor = to;
            next = i + 1;
        }
        if cursor < self.end {
            let step = &steps[next.min(steps.len() - 1)];
            spans.push(Span {
                step,
                from: cursor,
                to: self.end,
            });
        }
        spans
    }

    /// Time per phase, in the order of `Phase::ALL`: up to the barrier the sum is `total()`, the others are what its
    /// training job does next.
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
