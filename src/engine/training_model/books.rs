//! Where the time of a training job went, from its submission to its end: exact in nanoseconds.

use super::pace::Reason;
use super::stretch::Spent;
use crate::record::{LedgerCategory, TrainingOutcome, TrainingPhase, TrainingStretch};
use sim_api::spec::TrainingJob;
use sim_base::*;

/// Of one job.
#[derive(Clone, Debug, Default)]
pub struct Books {
    submitted: Option<Time>,
    ended: Option<Time>,
    /// Until when the time is in `spent`.
    until: Time,
    spent: [u64; TrainingPhase::COUNT],
    starts: u32,
    interruptions: u32,
    commits: u64,
    done: bool,
    suspended: bool,
    steps: bool,
    /// Since when the JobSet holds nodes for all of its pods, and how long it did before.
    holds: Option<Time>,
    held: u64,
    stretches: Vec<TrainingStretch>,
}

/// Time of a stretch by category of the ledger.
pub struct Booked {
    pub elsewhere: [(LedgerCategory, u64); 10],
    /// Of the job, and of the accelerators that took part.
    pub productive: u64,
    pub productive_held: u64,
}

/// How a stretch ended.
pub struct End {
    /// What no checkpoint has saved is taken back.
    pub loses: bool,
    /// Steps that were made before.
    pub again: u64,
    /// How long nothing was done at its end.
    pub hang: u64,
    /// It had begun with processes that had run on.
    pub reinitialized: bool,
    /// Of the time that steps took longer because slices were away, which part those that were there did not work.
    pub unused: (u64, u64),
}

impl Books {
    pub fn submitted(&mut self, now: Time) {
        if self.submitted.is_none() {
            (self.submitted, self.until) = (Some(now), now);
        }
    }

    /// The JobSet has come to an end, or is gone.
    pub fn ended(&mut self, now: Time) {
        self.ended.get_or_insert(now);
    }

    fn add(&mut self, phase: TrainingPhase, ns: u64) {
        self.spent[phase as usize] += ns;
    }

    /// No steps until now.
    fn idles(&mut self, now: Time) {
        let (phase, ns) = (self.idle(), now.since(self.until).0);
        self.add(phase, ns);
        if let (TrainingPhase::Suspended, Some(last)) = (phase, self.stretches.last_mut()) {
            last.suspended = last.suspended + Duration(ns);
        }
    }

    /// What time without steps is for.
    fn idle(&self) -> TrainingPhase {
        match (self.done, self.starts) {
            _ if self.suspended => TrainingPhase::Suspended,
            (true, _) => TrainingPhase::Ending,
            (false, 0) => TrainingPhase::Startup,
            (false, _) => TrainingPhase::Recovery,
        }
    }

    /// Whether the JobSet holds nodes for all of its pods now.
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

    /// Whether the JobSet is suspended now.
    pub fn suspended(&mut self, now: Time, suspended: bool) {
        if suspended != self.suspended && !self.steps && self.submitted.is_some() {
            self.idles(now);
            self.until = now;
        }
        self.suspended = suspended;
    }

    /// Every pod is there.
    pub fn begins(&mut self, now: Time) {
        self.idles(now);
        self.until = now;
        self.starts += 1;
        self.steps = true;
        // A JobSet that was made anew, or that a user took back from its end.
        self.ended = None;
    }

    /// A stretch ends; what of it belongs to another category of the ledger than Productive, and what is left of that.
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

    /// Steps that counted are lost after all.
    pub fn take_back(&mut self, ns: u64) {
        self.spent[TrainingPhase::Productive as usize] -= ns;
        // What was done last is gone first.
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

    /// The work is done.
    pub fn done(&mut self) {
        self.done = true;
    }

    pub fn outcome(
        &self,
        now: Time,
        spec: &TrainingJob,
        (jobset, reached, kept): (JobSetId, Duration, Duration),
    ) -> TrainingOutcome {
        // Pods may go on that a JobSet left behind when it was deleted.
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
