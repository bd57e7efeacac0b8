//! The time ledger of a training job, from its submission to its end, exact in nanoseconds.

use super::outcome::{SegmentOutcome, TrainingOutcome, TrainingPhase};
use super::pace::PaceReason;
use super::segment::SpentTime;
use crate::ledger::LedgerCategory;
use sim_api::spec::TrainingJob;
use sim_base::{Duration, JobSetId, SimTime};

#[derive(Clone, Debug, Default)]
pub struct WorkLedger {
    submitted: Option<SimTime>,
    ended: Option<SimTime>,
    /// End of the time recorded in `spent`.
    until: SimTime,
    spent: [u64; TrainingPhase::COUNT],
    starts: u32,
    interruptions: u32,
    commits: u64,
    done: bool,
    suspended: bool,
    suspended_before_start: u64,
    in_segment: bool,
    /// Whether the JobSet holds nodes for all of its pods.
    holds_all: bool,
    /// Since when the JobSet holds nodes for all of its pods or, with elastic slices, for those that train, and the
    /// total of earlier such periods.
    held_since: Option<SimTime>,
    held: u64,
    segments: Vec<SegmentOutcome>,
}

/// Time of a segment by category of the ledger.
pub struct BookedSegment {
    pub other_categories: [(LedgerCategory, u64); 11],
    /// Productive time of the job, and of the participating accelerators.
    pub productive: u64,
    pub productive_held: u64,
}

/// How a segment ends.
pub struct SegmentEnd {
    /// Unsaved work is undone.
    pub interrupted: bool,
    /// It started with processes that had continued.
    pub reinitialized: bool,
    /// The fraction of the additional step time that is caused by underused slices.
    pub unused_fraction: (u64, u64),
}

impl WorkLedger {
    pub fn record_submission(&mut self, now: SimTime) {
        if self.submitted.is_none() {
            (self.submitted, self.until) = (Some(now), now);
        }
        self.update_held(now);
    }

    /// The JobSet has ended or was removed.
    pub fn record_end(&mut self, now: SimTime) {
        self.ended.get_or_insert(now);
        self.update_held(now);
    }

    fn add_time(&mut self, phase: TrainingPhase, ns: u64) {
        self.spent[phase as usize] += ns;
    }

    /// Records time without steps.
    fn record_idle_time(&mut self, now: SimTime) {
        let (phase, ns) = (self.idle_phase(), now.since(self.until).0);
        self.add_time(phase, ns);
        if phase != TrainingPhase::Suspended {
            return;
        }
        if self.starts == 0 {
            self.suspended_before_start += ns;
        }
        if let Some(last) = self.segments.last_mut() {
            last.suspended = last.suspended + Duration(ns);
        }
    }

    /// The phase of time without steps.
    fn idle_phase(&self) -> TrainingPhase {
        match (self.done, self.starts) {
            _ if self.suspended => TrainingPhase::Suspended,
            (true, _) => TrainingPhase::Ending,
            (false, 0) => TrainingPhase::Startup,
            (false, _) => TrainingPhase::Recovery,
        }
    }

    /// Updates whether the JobSet holds nodes for all of its pods.
    pub fn set_holds_all(&mut self, now: SimTime, all: bool) {
        self.holds_all = all;
        self.update_held(now);
    }

    fn update_held(&mut self, now: SimTime) {
        let exists = self.submitted.is_some() && self.ended.is_none();
        let holds = exists && (self.holds_all || self.in_segment);
        match self.held_since {
            Some(since) if !holds => {
                self.held += now.since(since).0;
                self.held_since = None;
            }
            None if holds => self.held_since = Some(now),
            _ => {}
        }
    }

    /// Updates whether the JobSet is suspended.
    pub fn set_suspended(&mut self, now: SimTime, suspended: bool) {
        if suspended != self.suspended && !self.in_segment && self.submitted.is_some() {
            self.record_idle_time(now);
            self.until = now;
        }
        self.suspended = suspended;
    }

    /// All pods are ready.
    pub(super) fn begin_segment(&mut self, now: SimTime) {
        self.record_idle_time(now);
        self.until = now;
        self.starts += 1;
        self.in_segment = true;
        // The JobSet was recreated, or a user removed its terminal condition.
        self.ended = None;
        self.update_held(now);
    }

    /// Records a segment, with the time of its repeated steps and of the hang at its end. Returns the time that belongs
    /// to other categories than Productive, and the remaining productive time.
    pub(super) fn end_segment(
        &mut self, now: SimTime, spent: &SpentTime, (repeated, hang): (u64, u64), end: &SegmentEnd,
    ) -> BookedSegment {
        let (lost, excess) = if end.interrupted {
            (spent.stepping - spent.saved_stepping, spent.saved_excess)
        } else {
            (0, spent.excess)
        };
        let [initialization, compile, restore] = spent.startup_phases;
        let (initialization, again) = if end.reinitialized { (0, initialization) } else { (initialization, 0) };
        let before = self.until;
        let degraded = excess[PaceReason::Degraded as usize];
        use LedgerCategory as L;
        use TrainingPhase as P;
        let booked = [
            (L::Initialization, P::Initialization, initialization),
            (L::Reinitialization, P::Reinitialization, again),
            (L::Compile, P::Compile, compile),
            (L::Restore, P::Restore, restore),
            (L::Checkpoint, P::Checkpoint, spent.saving),
            (L::Lost, P::Lost, lost),
            (L::WarmUp, P::WarmUp, excess[PaceReason::WarmUp as usize]),
            (L::Slow, P::Slow, excess[PaceReason::Slow as usize]),
            (L::Degraded, P::Degraded, degraded),
            (L::Hang, P::Hang, hang),
            (L::Communication, P::Communication, excess[PaceReason::Communication as usize]),
        ];
        for (_, phase, ns) in booked {
            self.add_time(phase, ns);
        }
        let productive = spent.stepping - lost - excess.iter().sum::<u64>();
        self.add_time(TrainingPhase::Productive, productive);
        let all: u64 = spent.startup_phases.iter().sum::<u64>() + spent.stepping + spent.saving + hang;
        assert_eq!(all, now.since(before).0, "a stretch closes");
        self.segments.push(SegmentOutcome {
            start: before,
            end: now,
            productive: Duration(productive),
            lost: Duration(lost),
            rendezvous: Duration(initialization + again + compile),
            restore: Duration(restore),
            redo: Duration(repeated),
            suspended: Duration::ZERO,
        });
        self.until = now;
        self.commits += spent.commits;
        self.interruptions += u32::from(end.interrupted);
        self.in_segment = false;
        self.update_held(now);
        let (part, complete) = end.unused_fraction;
        let unused = u128::from(degraded) * u128::from(part) / u128::from(complete);
        let unused = unused as u64;
        let of_held = |category, ns| match category {
            L::Degraded => unused,
            _ => ns,
        };
        BookedSegment {
            other_categories: booked.map(|(category, _, ns)| (category, of_held(category, ns))),
            productive,
            productive_held: productive + degraded - unused,
        }
    }

    /// Reclassifies productive steps as lost.
    pub fn mark_lost(&mut self, ns: u64) {
        self.spent[TrainingPhase::Productive as usize] -= ns;
        // The latest work is undone first.
        let mut left = ns;
        for segment in self.segments.iter_mut().rev() {
            let taken = left.min(segment.productive.0);
            segment.productive.0 -= taken;
            left -= taken;
        }
        self.add_time(TrainingPhase::Lost, ns);
        if let Some(last) = self.segments.last_mut() {
            last.lost = last.lost + Duration(ns);
        }
    }

    pub fn mark_done(&mut self) {
        self.done = true;
    }

    pub fn outcome(
        &self, now: SimTime, spec: &TrainingJob, (jobset, reached, kept): (JobSetId, Duration, Duration),
    ) -> TrainingOutcome {
        // Pods left by a deleted JobSet may continue.
        let end = self.ended.map_or(now, |ended| ended.max(self.until));
        let mut spent = self.spent;
        let submitted = self.submitted.unwrap_or(end);
        let idle = end.since(self.until.max(submitted));
        spent[self.idle_phase() as usize] += idle.0;
        let is_before_start = self.idle_phase() == TrainingPhase::Suspended && self.starts == 0;
        let suspended_before_start_ns = self.suspended_before_start + if is_before_start { idle.0 } else { 0 };
        let mut stretches = self.segments.clone();
        if let (TrainingPhase::Suspended, Some(last)) = (self.idle_phase(), stretches.last_mut()) {
            last.suspended = last.suspended + idle;
        }
        let all: u64 = spent.iter().sum();
        assert_eq!(all, end.since(submitted).0, "the time of a training job closes");
        let holding = self.held_since.map_or(0, |since| end.since(since).0);
        TrainingOutcome {
            suspended_before_start_ns,
            held_ns: self.held + holding,
            jobset,
            submitted,
            end,
            spent_ns: spent,
            reached,
            saved_progress: kept,
            reached_steps: spec.whole_steps(reached),
            saved_steps: spec.whole_steps(kept),
            work: spec.work.map(|work| spec.round_up_to_steps(work)),
            done: self.done,
            starts: self.starts,
            interruptions: self.interruptions,
            commits: self.commits,
            segments: stretches,
            steps: Vec::new(),
        }
    }
}
