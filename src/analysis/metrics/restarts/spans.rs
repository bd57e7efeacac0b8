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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::restarts::restart::Milestone::*;
    use crate::metrics::restarts::restart::{Cause, Milestone, Shape};

    fn restart(shape: Shape, ending: Ending, end_s: u64, at: &[(Milestone, u64)]) -> Restart {
        let mut r = Restart::new(JobSetId(0), Time::ZERO, Cause::UNKNOWN);
        r.shape = shape;
        r.ending = ending;
        r.end = Time::ZERO + Duration::from_secs(end_s);
        for &(m, s) in at {
            r.last(m, Time::ZERO + Duration::from_secs(s));
        }
        r
    }

    fn seconds(r: &Restart) -> Vec<(&'static str, u64)> {
        let of = |s: Span| (s.phase().as_str(), s.duration().0 / NANOS);
        r.spans().into_iter().map(of).collect()
    }

    const NANOS: u64 = sim_base::time::NANOS_PER_SECOND;

    #[test]
    fn overlapping_milestones_are_cut_at_the_later_one_and_phases_add_up() {
        let at = [
            (PodFailed, 1),
            (FailureTarget, 6),
            (JobFailed, 12),
            (FirstJobDeleting, 12),
            (LastJobGone, 20),
            (FirstPodCreated, 15),
            (LastPodCreated, 30),
            (LastPodBound, 29),
            (LastReady, 33),
        ];
        let r = restart(Shape::Recreate, Ending::Ready, 34, &at);
        let expected = [
            ("detect", 1),
            ("terminate", 5),
            ("terminate", 6),
            ("terminate", 0),
            ("terminate", 8),
            ("recreate", 0),
            ("recreate", 10),
            ("schedule", 0),
            ("start", 4),
        ];
        assert_eq!(seconds(&r), expected);
        let sum: u64 = r.phases().iter().map(|d| d.0).sum();
        assert_eq!(sum, r.total().0);
    }

    #[test]
    fn a_restart_that_is_stuck_ends_in_the_step_it_waits_in() {
        let r = restart(
            Shape::Recreate,
            Ending::Unfinished,
            100,
            &[(PodFailed, 1), (FailureTarget, 6)],
        );
        assert_eq!(
            seconds(&r),
            [("detect", 1), ("terminate", 5), ("terminate", 94)]
        );
        assert_eq!(
            r.spans()[2].step.what,
            "pods end, finalizers come off, Job is Failed"
        );
        assert_eq!(r.latency(), None);
    }

    #[test]
    fn an_in_place_restart_has_a_barrier_and_no_recreate_phase() {
        let at = [
            (AttemptsFirst, 2),
            (PreviousWritten, 3),
            (LastContainersRestarting, 4),
            (AttemptsLast, 9),
            (CurrentWritten, 10),
        ];
        let r = restart(Shape::InPlaceRestart, Ending::Ready, 11, &at);
        let p = r.phases();
        let of = |phase: Phase| p[phase as usize].0 / NANOS;
        assert_eq!(
            (of(Phase::Detect), of(Phase::Terminate), of(Phase::Start)),
            (3, 1, 6)
        );
        assert_eq!((of(Phase::Barrier), of(Phase::Recreate)), (1, 0));
    }
}
