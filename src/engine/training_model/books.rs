//! The time ledger of a training job, from its submission to its end, exact in nanoseconds.

use super::pace::Reason;
use super::stretch::Spent;
use crate::record::{LedgerCategory, TrainingOutcome, TrainingPhase, TrainingStretch};
use sim_api::spec::TrainingJob;
use sim_base::*;

/// The ledger of one job.
#[derive(Clone, Debug, Default)]
pub struct Books {
    submitted: Option<Time>,
    ended: Option<Time>,
    /// End of the time recorded in `spent`.
    until: Time,
    spent: [u64; TrainingPhase::COUNT],
    starts: u32,
    interruptions: u32,
    commits: u64,
    done: bool,
    suspended: bool,
    steps: bool,
    /// Since when the JobSet holds nodes for all of its pods, and the total of earlier such periods.
    holds: Option<Time>,
    held: u64,
    stretches: Vec<TrainingStretch>,
}

/// Time of a segment by category of the ledger.
pub struct Booked {
    pub elsewhere: [(LedgerCategory, u64); 10],
    /// Productive time of the job, and of the participating accelerators.
    pub productive: u64,
    pub productive_held: u64,
}

/// The end of a segment.
pub struct End {
    /// Unsaved work is undone.
    pub loses: bool,
    /// Repeated steps.
    pub again: u64,
    /// Duration of the hang at its end.
    pub hang: u64,
    /// It started with processes that had continued.
    pub reinitialized: bool,
    /// The fraction of the additional step time that is caused by underused slices.
    pub unused: (u64, u64),
}

impl Books {
    pub fn submitted(&mut self, now: Time) {
        if self.submitted.is_none() {
            (self.submitted, self.until) = (Some(now), now);
        }
    }

    /// The JobSet has ended or was removed.
    pub fn ended(&mut self, now: Time) {
        self.ended.get_or_insert(now);
    }

    fn add(&mut self, phase: TrainingPhase, ns: u64) {
        self.spent[phase as usize] += ns;
    }

    /// Records time without steps.
    fn idles(&mut self, now: Time) {
        let (phase, ns) = (self.idle(), now.since(self.until).0);
        self.add(phase, ns);
        if let (TrainingPhase::Suspended, Some(last)) = (phase, self.stretches.last_mut()) {
            last.suspended = last.suspended + Duration(ns);
        }
    }

    /// The phase of time without steps.
    fn idle(&self) -> TrainingPhase {
        match (self.done, self.starts) {
            _ if self.suspended => TrainingPhase::Suspended,
            (true, _) => TrainingPhase::Ending,
            (false, 0) => TrainingPhase::Startup,
            (false, _) => TrainingPhase::Recovery,
        }
    }

    /// Updates whether the JobSet holds nodes for all of its pods.
    pub fn holds(&mut self, now: Time, all: bool) {
        match self.holds {
            Some(since) if !all => {
                self.held += now.since(since).0;
                self.holds = None;
            }
            None if all => self.holds = Some(now),
            _ => {}
        }
    }

    /// Updates whether the JobSet is suspended.
    pub fn suspended(&mut self, now: Time, suspended: bool) {
        if suspended != self.suspended && !self.steps && self.submitted.is_some() {
            self.idles(now);
            self.until = now;
        }
        self.suspended = suspended;
    }

    /// All pods are ready.
    pub fn begins(&mut self, now: Time) {
        self.idles(now);
        self.until = now;
        self.starts += 1;
        self.steps = true;
        // The JobSet was recreated, or a user removed its terminal condition.
        self.ended = None;
    }

    /// Records a segment. Returns the time that belongs to other categories than Productive, and the remaining
    /// productive time.
    pub fn ends(&mut self, now: Time, spent: &Spent, end: &End) -> Booked {
        let (lost, excess) = match end.loses {
            true => (spent.stepping - spent.kept, spent.excess_kept),
            false => (0, spent.excess),
        };
        let [initialization, compile, restore] = spent.before;
        let (initialization, again) = match end.reinitialized {
            true => (0, initialization),
            false => (initialization, 0),
        };
        let before = self.until;
        let degraded = excess[Reason::Degraded as usize];
        use LedgerCategory as L;
        use TrainingPhase as P;
        let booked = [
            (L::Initialization, P::Initialization, initialization),
            (L::Reinitialization, P::Reinitialization, again),
            (L::Compile, P::Compile, compile),
            (L::Restore, P::Restore, restore),
            (L::Checkpoint, P::Checkpoint, spent.saving),
            (L::Lost, P::Lost, lost),
            (L::WarmUp, P::WarmUp, excess[Reason::WarmUp as usize]),
            (L::Slow, P::Slow, excess[Reason::Slow as usize]),
            (L::Degraded, P::Degraded, degraded),
            (L::Hang, P::Hang, end.hang),
        ];
        for (_, phase, ns) in booked {
            self.add(phase, ns);
        }
        let productive = spent.stepping - lost - excess.iter().sum::<u64>();
        self.add(TrainingPhase::Productive, productive);
        let all: u64 = spent.before.iter().sum::<u64>() + spent.stepping + spent.saving + end.hang;
        assert_eq!(all, now.since(before).0, "a stretch closes");
        self.stretches.push(TrainingStretch {
            since: before,
            until: now,
            productive: Duration(productive),
            lost: Duration(lost),
            rendezvous: Duration(initialization + again + compile),
            restore: Duration(restore),
            redo: Duration(end.again),
            suspended: Duration::ZERO,
        });
        self.until = now;
        self.commits += spent.commits;
        self.interruptions += u32::from(end.loses);
        self.steps = false;
        let (part, whole) = end.unused;
        let unused = u128::from(degraded) * u128::from(part) / u128::from(whole);
        let unused = unused as u64;
        let of_held = |category, ns| match category {
            L::Degraded => unused,
            _ => ns,
        };
        Booked {
            elsewhere: booked.map(|(category, _, ns)| (category, of_held(category, ns))),
            productive,
            productive_held: productive + degraded - unused,
        }
    }

    /// Reclassifies productive steps as lost.
    pub fn take_back(&mut self, ns: u64) {
        self.spent[TrainingPhase::Productive as usize] -= ns;
        // The latest work is undone first.
        let mut left = ns;
        for stretch in self.stretches.iter_mut().rev() {
            let taken = left.min(stretch.productive.0);
            stretch.productive.0 -= taken;
            left -= taken;
        }
        self.add(TrainingPhase::Lost, ns);
        if let Some(last) = self.stretches.last_mut() {
            last.lost = last.lost + Duration(ns);
        }
    }

    /// The work is complete.
    pub fn done(&mut self) {
        self.done = true;
    }

    pub fn outcome(
        &self,
        now: Time,
        spec: &TrainingJob,
        (jobset, reached, kept): (JobSetId, Duration, Duration),
    ) -> TrainingOutcome {
        // Pods left by a deleted JobSet may continue.
        let end = self.ended.map_or(now, |ended| ended.max(self.until));
        let mut spent = self.spent;
        let submitted = self.submitted.unwrap_or(end);
        let idle = end.since(self.until.max(submitted));
        spent[self.idle() as usize] += idle.0;
        let mut stretches = self.stretches.clone();
        if let (TrainingPhase::Suspended, Some(last)) = (self.idle(), stretches.last_mut()) {
            last.suspended = last.suspended + idle;
        }
        let all: u64 = spent.iter().sum();
        assert_eq!(
            all,
            end.since(submitted).0,
            "the time of a training job closes"
        );
        let holding = self.holds.map_or(0, |since| end.since(since).0);
        TrainingOutcome {
            held_ns: self.held + holding,
            jobset,
            submitted,
            end,
            spent_ns: spent,
            reached,
            kept,
            reached_steps: spec.steps(reached),
            kept_steps: spec.steps(kept),
            work: spec.work.map(|work| spec.in_steps(work)),
            done: self.done,
            starts: self.starts,
            interruptions: self.interruptions,
            commits: self.commits,
            stretches,
        }
    }
}
