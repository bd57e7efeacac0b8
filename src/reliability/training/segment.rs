//! One segment of a training job, from the time at which all pods are ready, in closed form: no event per step or
//! checkpoint. Pure functions. Must never know what interrupts the segment or when.

use super::pace::{PaceExcess, TrainingPace};

/// The course of a segment if nothing interrupts it, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct SegmentPlan {
    /// Time before the first step: initialization, compilation, restore.
    pub startup_phases: [u64; 3],
    /// Remaining work in whole steps; `None` if unlimited.
    pub work: Option<u64>,
    /// No checkpoint at the end: the job continues from memory.
    pub skip_final_checkpoint: bool,
    pub pace: TrainingPace,
    pub saving: CheckpointSave,
    /// Amounts of work after which a durable checkpoint is forced.
    pub forced_checkpoints: Vec<u64>,
}

/// How work is saved.
#[derive(Clone, Debug, Default)]
pub enum CheckpointSave {
    #[default]
    Always,
    Never,
    /// Kinds of checkpoints; the last is the durable one, which is also written at the end of the work.
    Checkpoints(Vec<SegmentKind>),
}

/// A kind of checkpoint. The job is blocked for the blocking part, and the checkpoint is complete `commit` later. A
/// checkpoint does not begin before the previous one of its kind is complete: as the only kind it makes the job wait;
/// with other kinds, it is written less often.
#[derive(Copy, Clone, Debug)]
pub struct SegmentKind {
    pub interval: u64,
    /// Work between the last checkpoint of this kind and the start of the segment; the first interval includes it.
    pub carry_over: u64,
    pub blocking: u64,
    pub commit: u64,
}

/// Use of the time of a segment up to some instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpentTime {
    /// Initialization, compilation, restore.
    pub startup_phases: [u64; 3],
    pub stepping: u64,
    /// Time blocked by checkpoints.
    pub saving: u64,
    /// Work completed so far.
    pub done: u64,
    /// Work saved by each kind of checkpoint; a single number without checkpoints.
    pub saved: Vec<u64>,
    /// Part of `stepping` for work saved by any kind.
    pub saved_stepping: u64,
    /// Additional time within `saved_stepping`.
    pub saved_excess: PaceExcess,
    /// Additional time within `stepping`.
    pub excess: PaceExcess,
    /// Number of complete checkpoints.
    pub commits: u64,
}

impl SegmentPlan {
    /// Duration until the work is complete and saved; `None` if unlimited or beyond the range of 64 bits.
    pub fn duration(&self) -> Option<u64> {
        let before: u128 = self.startup_phases.iter().map(|ns| u128::from(*ns)).sum();
        u64::try_from(self.total_duration()?.saturating_add(before)).ok()
    }

    /// State of the segment `elapsed` after its start.
    pub fn state_at(&self, elapsed: u64) -> SpentTime {
        let mut spent = SpentTime::default();
        let mut left = elapsed;
        for (part, takes) in spent.startup_phases.iter_mut().zip(self.startup_phases) {
            *part = left.min(takes);
            left -= *part;
        }
        let elapsed = u128::from(left);
        let done = self.completed_work(elapsed);
        let blocked = self.blocked_at(done).min(elapsed - self.elapsed_for_work(done));
        let saving = self.blocked_before(done) + blocked;
        spent.done = done as u64;
        spent.saving = saving as u64;
        spent.stepping = (elapsed - saving) as u64;
        self.compute_saved(elapsed, done, &mut spent);
        let kept = spent.saved.iter().copied().max().unwrap_or(0);
        let (all, own) = (self.pace.nominal_and_excess(done), self.pace.nominal_and_excess(u128::from(kept)));
        spent.saved_stepping = match self.saving {
            CheckpointSave::Always => spent.stepping,
            _ => self.stepping_time(kept),
        };
        spent.excess = all.1.map(|ns| ns as u64);
        spent.saved_excess = own.1.map(|ns| ns as u64);
        spent
    }

    /// Stepping time of the first `work` of it, if completed.
    pub fn stepping_time(&self, work: u64) -> u64 {
        self.pace.duration(u128::from(work)) as u64
    }

    /// Ends the segment with the next durable checkpoint, or without checkpoints after the current step; `in_steps`
    /// rounds work up to whole steps.
    pub fn end_at_next_checkpoint(&mut self, elapsed: u64, in_steps: impl Fn(u64) -> u64) {
        let before: u64 = self.startup_phases.iter().fold(0, |a, b| a.saturating_add(*b));
        let elapsed = u128::from(elapsed.saturating_sub(before));
        let next = match self.kinds().last() {
            Some(kind) => {
                let n = self.count_due(kind, self.completed_work(elapsed));
                let begins = |n: &u128| *n > 0 && self.elapsed_for_work(self.nth_due(kind, *n)) >= elapsed;
                (n..).find(begins).map(|n| self.nth_due(kind, n))
            }
            None => Some(u128::from(in_steps(self.completed_work(elapsed) as u64))),
        };
        let next = next.and_then(|next| u64::try_from(next).ok());
        let sooner = next.filter(|next| self.work.is_none_or(|work| *next < work));
        self.work = sooner.or(self.work);
    }

    /// Ends the segment after an amount of work, without a checkpoint.
    pub fn end_after(&mut self, work: u64) {
        if self.work.is_none_or(|all| work < all) {
            (self.work, self.skip_final_checkpoint) = (Some(work), true);
        }
    }

    /// Forces a durable checkpoint after an amount of work, if it is still ahead.
    pub fn force_checkpoint_after(&mut self, work: u64) {
        let due = |kind: &SegmentKind| self.is_due(kind, u128::from(work));
        let durable = self.kinds().last().is_some_and(|kind| !due(kind));
        let before_end = self.work.is_none_or(|all| work < all);
        if durable && before_end && work > 0 && !self.forced_checkpoints.contains(&work) {
            self.forced_checkpoints.push(work);
        }
    }

    /// Work in the checkpoints of each kind that have begun when `done` work is completed.
    pub fn begun_checkpoints(&self, done: u64) -> Vec<u64> {
        let of = |kind: &SegmentKind| self.nth_due(kind, self.count_due(kind, u128::from(done))) as u64;
        match &self.saving {
            CheckpointSave::Always => vec![done],
            CheckpointSave::Never => vec![0],
            CheckpointSave::Checkpoints(kinds) => kinds.iter().map(of).collect(),
        }
    }

    /// Computes the work saved by each kind of checkpoint.
    fn compute_saved(&self, elapsed: u128, done: u128, spent: &mut SpentTime) {
        let over = self.total_duration().is_some_and(|works| elapsed >= works) && !self.skip_final_checkpoint;
        let kinds = self.kinds();
        if kinds.is_empty() {
            let all = matches!(self.saving, CheckpointSave::Always) || over;
            spent.saved = vec![if all { done as u64 } else { 0 }];
            return;
        }
        // A checkpoint after the last piece belongs to the end only.
        let before_end = self.work.map_or(done, |work| done.min(u128::from(work.saturating_sub(1))));
        for kind in kinds {
            let complete = |n: u128| {
                let at = self.nth_due(kind, n);
                let blocked = self.elapsed_for_work(at).saturating_add(self.blocked_at(at));
                blocked.saturating_add(u128::from(kind.commit)) <= elapsed
            };
            let n = last_satisfying(self.count_due(kind, before_end), complete);
            spent.commits += n as u64;
            spent.saved.push(self.nth_due(kind, n) as u64);
        }
        for (at, kind) in self.forced_checkpoints.iter().zip(std::iter::repeat(kinds.last())) {
            let (work, commit) = (u128::from(*at), kind.map_or(0, |kind| kind.commit));
            let ends = self.elapsed_for_work(work).saturating_add(self.blocked_at(work));
            let complete = ends.saturating_add(u128::from(commit)) <= elapsed;
            if let Some(durable) = spent.saved.last_mut().filter(|_| complete) {
                *durable = (*durable).max(*at);
                spent.commits += 1;
            }
        }
        if let (true, Some(work), Some(durable)) = (over, self.work, spent.saved.last_mut()) {
            *durable = work;
            spent.commits += u64::from(work > 0);
        }
    }

    fn kinds(&self) -> &[SegmentKind] {
        match &self.saving {
            CheckpointSave::Checkpoints(kinds) => kinds,
            CheckpointSave::Always | CheckpointSave::Never => &[],
        }
    }

    /// Work between two checkpoints of a kind.
    fn checkpoint_interval(&self, kind: &SegmentKind) -> u128 {
        let every = u128::from(kind.interval.max(1));
        match self.kinds().len() {
            1 => every,
            _ => every * u128::from(kind.commit).div_ceil(every).max(1),
        }
    }

    /// Work after which the `nth` checkpoint of a kind is due, from 1; the 0th is the state at the start.
    fn nth_due(&self, kind: &SegmentKind, nth: u128) -> u128 {
        let every = self.checkpoint_interval(kind);
        (nth * every).saturating_sub(carried_part(kind, every))
    }

    /// Number of checkpoints of a kind that are due after `work`.
    fn count_due(&self, kind: &SegmentKind, work: u128) -> u128 {
        let every = self.checkpoint_interval(kind);
        whole_parts(work + carried_part(kind, every), every)
    }

    fn is_due(&self, kind: &SegmentKind, work: u128) -> bool {
        let every = self.checkpoint_interval(kind);
        let all = work + carried_part(kind, every);
        whole_parts(all, every) * every == all
    }

    /// Wait of the checkpoint after the `nth` piece for the previous one of its kind.
    fn commit_wait(&self, kind: &SegmentKind, nth: u128, piece: u128) -> u128 {
        if nth > 0 { u128::from(kind.commit).saturating_sub(piece) } else { 0 }
    }

    /// Time until the work is complete and saved.
    fn total_duration(&self) -> Option<u128> {
        let work = u128::from(self.work?);
        Some(self.elapsed_for_work(work).saturating_add(self.blocked_at(work)))
    }

    /// The largest amount of work completed after `elapsed`.
    fn completed_work(&self, elapsed: u128) -> u128 {
        let most = self.work.map_or(u128::MAX, u128::from);
        let mut high = elapsed.max(1).min(most);
        while self.elapsed_for_work(high) <= elapsed {
            if high >= most {
                return most;
            }
            high = (high * 2).min(most);
        }
        // Invariant: `low` is completed, `high` is not. Between two checkpoints time is linear in work, so one or two
        // interpolations find the result; bisection covers all other step times.
        let mut low = 0;
        let mut round = 0;
        while high - low > 1 {
            let narrow = |guess: u128, (low, high): (u128, u128)| match guess > low && guess < high {
                true if self.elapsed_for_work(guess) <= elapsed => (guess, high),
                true => (low, guess),
                false => (low, high),
            };
            if round > 0 {
                let next = self.elapsed_for_work(low + 1);
                if next > elapsed {
                    return low;
                }
                low += 1;
                (low, high) = narrow(low + (elapsed - next), (low, high));
            }
            (low, high) = narrow(self.interpolate((low, high), elapsed), (low, high));
            (low, high) = narrow(self.checkpoint_before(high), (low, high));
            if round > 1 {
                (low, high) = narrow(low + (high - low) / 2, (low, high));
            }
            round += 1;
        }
        low
    }

    /// Linear interpolation between two times.
    fn interpolate(&self, (low, high): (u128, u128), elapsed: u128) -> u128 {
        let (from, to) = (self.elapsed_for_work(low), self.elapsed_for_work(high));
        let part = elapsed.saturating_sub(from) as f64 / (to - from).max(1) as f64;
        low + ((high - low) as f64 * part) as u128
    }

    /// The last checkpoint of any kind before `work`.
    fn checkpoint_before(&self, work: u128) -> u128 {
        let of = |kind: &SegmentKind| self.nth_due(kind, self.count_due(kind, work - 1));
        self.kinds().iter().map(of).max().unwrap_or(0)
    }

    /// Elapsed time when `work` is completed.
    fn elapsed_for_work(&self, work: u128) -> u128 {
        self.pace.duration(work).saturating_add(self.blocked_before(work))
    }

    /// Time blocked on checkpoints before `work` units of progress.
    fn blocked_before(&self, work: u128) -> u128 {
        let of = |kind: &SegmentKind| {
            let every = self.checkpoint_interval(kind);
            let n = self.count_due(kind, work.saturating_sub(1));
            let blocking = n.saturating_mul(u128::from(kind.blocking));
            let waits = n.saturating_sub(1).saturating_mul(self.commit_wait(kind, 1, every));
            blocking.saturating_add(waits)
        };
        let due = self.kinds().iter().map(of).fold(0, u128::saturating_add);
        let also = self.forced_checkpoints.iter().filter(|at| u128::from(**at) < work).count();
        due.saturating_add(also as u128 * self.blocking_time())
    }

    /// Blocking time of a durable checkpoint.
    fn blocking_time(&self) -> u128 {
        let durable = self.kinds().last();
        durable.map_or(0, |kind| u128::from(kind.blocking))
    }

    /// Time blocked on checkpoints after `work` units of progress.
    fn blocked_at(&self, work: u128) -> u128 {
        if self.work.is_some_and(|all| u128::from(all) == work) {
            let durable = self.kinds().last().filter(|_| !self.skip_final_checkpoint);
            return durable.map_or(0, |kind| self.final_checkpoint(kind, work));
        }
        let of = |kind: &SegmentKind| {
            let (nth, every) = (self.count_due(kind, work), self.checkpoint_interval(kind));
            if work > 0 && self.is_due(kind, work) {
                self.commit_wait(kind, nth - 1, every) + u128::from(kind.blocking)
            } else {
                0
            }
        };
        let also = self.forced_checkpoints.iter().any(|at| u128::from(*at) == work);
        let due: u128 = self.kinds().iter().map(of).sum();
        due + if also { self.blocking_time() } else { 0 }
    }

    /// Time of the checkpoint at the end of all work, until it is complete.
    fn final_checkpoint(&self, kind: &SegmentKind, work: u128) -> u128 {
        if work == 0 {
            return 0;
        }
        let before = self.count_due(kind, work - 1);
        let wait = self.commit_wait(kind, before, work - self.nth_due(kind, before));
        wait + u128::from(kind.blocking) + u128::from(kind.commit)
    }
}

/// Part of a checkpoint interval that was completed before the segment. A checkpoint that was due but is incomplete is
/// skipped, as by trainers that save at multiples of a number of steps.
fn carried_part(kind: &SegmentKind, every: u128) -> u128 {
    match kind.carry_over {
        0 => 0,
        since => u128::from(since) % every,
    }
}

/// Number of whole parts; optimized for 64 bits.
fn whole_parts(of: u128, part: u128) -> u128 {
    match (u64::try_from(of), u64::try_from(part)) {
        (Ok(of), Ok(part)) => u128::from(of / part),
        _ => of / part,
    }
}

/// The last value in `0..=most` for which `holds` is true, given that it is true for all smaller values and for 0.
/// Optimized for results near the end.
fn last_satisfying(most: u128, holds: impl Fn(u128) -> bool) -> u128 {
    let (mut low, mut high) = (most, most + 1);
    let mut step = 1;
    while low > 0 && !holds(low) {
        (low, high) = (low.saturating_sub(step), low);
        step *= 2;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/training/segment.rs"]
mod tests;
