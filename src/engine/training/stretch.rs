//! One stretch of a training job, from the instant at which its pods are complete, in closed form: no event per step or
//! checkpoint.
//!
//! Pure: must never know who interrupts it, or when.

use crate::base::Duration;
use crate::spec::Progress;

/// What the job does from now on unless something interrupts it. All in nanoseconds.
#[derive(Copy, Clone, Debug)]
pub struct Plan {
    /// Before the first step: initialization, compilation, restore.
    pub before: [u64; 3],
    /// Work that is still to be done, in whole steps; `None`: without end.
    pub work: Option<u64>,
    pub progress: Progress,
    pub commit_delay: Duration,
}

/// What the time of a stretch went to until some instant of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Initialization, compilation, restore.
    pub before: [u64; 3],
    pub stepping: u64,
    /// Standing still for checkpoints.
    pub saving: u64,
    /// Of `stepping`, what no interruption takes back.
    pub kept: u64,
    /// Checkpoints that are complete.
    pub commits: u64,
}

impl Plan {
    /// How long until the work is done and saved; `None`: never, or later than anybody counts.
    pub fn takes(&self) -> Option<u64> {
        let before: u128 = self.before.iter().map(|ns| u128::from(*ns)).sum();
        let work = self.work?;
        let working = match self.pieces() {
            Some(pieces) => pieces.takes()?,
            None => u128::from(work),
        };
        u64::try_from(working.saturating_add(before)).ok()
    }

    /// What has been done `elapsed` after the beginning.
    pub fn at(&self, elapsed: u64) -> Spent {
        let mut spent = Spent::default();
        let mut left = elapsed;
        for (part, takes) in spent.before.iter_mut().zip(self.before) {
            *part = left.min(takes);
            left -= *part;
        }
        match self.pieces() {
            Some(pieces) => pieces.at(left, &mut spent),
            None => {
                spent.stepping = left.min(self.work.unwrap_or(u64::MAX));
                let done = self.work == Some(spent.stepping);
                let keeps = self.progress == Progress::Kept || done;
                spent.kept = if keeps { spent.stepping } else { 0 };
            }
        }
        spent
    }

    fn pieces(&self) -> Option<Pieces> {
        let Progress::Checkpoints { every, blocking } = self.progress else {
            return None;
        };
        Some(Pieces {
            piece: u128::from(every.0.max(1)),
            blocking: u128::from(blocking.0),
            commit: u128::from(self.commit_delay.0),
            work: self.work.map(u128::from),
        })
    }
}

/// Pieces of work with a checkpoint after each: the job stands still for its blocking part, and it is complete
/// `commit` later. A checkpoint does not begin before the last one is complete.
struct Pieces {
    piece: u128,
    blocking: u128,
    commit: u128,
    work: Option<u128>,
}

impl Pieces {
    /// The number of the last one; `None`: there is nothing to do.
    fn last(&self) -> Option<u128> {
        let pieces = self
            .work
            .map_or(u128::MAX, |work| work.div_ceil(self.piece));
        pieces.checked_sub(1)
    }

    /// From the beginning of one checkpoint to that of the next.
    fn period(&self) -> u128 {
        self.blocking + self.piece.max(self.commit)
    }

    /// When the nth piece begins.
    fn begins(&self, n: u128) -> u128 {
        match n {
            0 => 0,
            n => {
                let others = (n - 1).saturating_mul(self.period());
                others.saturating_add(self.piece + self.blocking)
            }
        }
    }

    /// Its work, and how long the checkpoint after it waits for the one before.
    fn of(&self, n: u128) -> (u128, u128) {
        let work = match self.work {
            Some(work) => self.piece.min(work - n * self.piece),
            None => self.piece,
        };
        let wait = if n == 0 {
            0
        } else {
            self.commit.saturating_sub(work)
        };
        (work, wait)
    }

    /// Until the checkpoint after the last piece is complete.
    fn takes(&self) -> Option<u128> {
        self.work?;
        Some(self.last().map_or(0, |last| {
            let (work, wait) = self.of(last);
            let rest = work + wait + self.blocking + self.commit;
            self.begins(last).saturating_add(rest)
        }))
    }

    fn at(&self, elapsed: u64, spent: &mut Spent) {
        let (Some(last), elapsed) = (self.last(), u128::from(elapsed)) else {
            return;
        };
        let after = elapsed.checked_sub(self.piece + self.blocking);
        let at = after.map_or(0, |after| 1 + after / self.period()).min(last);
        let (work, wait) = self.of(at);
        let here = elapsed - self.begins(at);
        let waited = at.saturating_sub(1) * self.commit.saturating_sub(self.piece);
        let ends = if at == last { self.commit } else { 0 };
        let still = here.saturating_sub(work).min(wait + self.blocking + ends);
        let over = self.takes().is_some_and(|takes| elapsed >= takes);
        let commits = match over {
            true => last + 1,
            false => self.commits(elapsed).min(last),
        };
        let kept = match self.work {
            Some(work) if over => work,
            _ => commits * self.piece,
        };
        spent.stepping = (at * self.piece + here.min(work)) as u64;
        spent.saving = (at * self.blocking + waited + still) as u64;
        spent.commits = commits as u64;
        spent.kept = kept as u64;
    }

    /// Checkpoints that are complete by then, if the last piece is none of theirs.
    fn commits(&self, elapsed: u128) -> u128 {
        let first = self.piece + self.blocking + self.commit;
        let after = elapsed.checked_sub(first);
        after.map_or(0, |after| after / self.period() + 1)
    }
}
