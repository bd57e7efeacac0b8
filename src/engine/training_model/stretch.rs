//! One stretch of a training job, from the instant at which its pods are complete, in closed form: no event per step or
//! checkpoint.
//!
//! Pure: must never know who interrupts it, or when.

use super::pace::{Excess, Pace};

/// What the job does from now on unless something interrupts it. All in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Before the first step: initialization, compilation, restore.
    pub before: [u64; 3],
    /// Work that is still to be done, in whole steps; `None`: without end.
    pub work: Option<u64>,
    /// Nothing is saved at its end: the job goes on from memory.
    pub bare: bool,
    pub pace: Pace,
    pub saving: Saving,
    /// Work after which there is a durable checkpoint although none is due.
    pub also: Vec<u64>,
    /// Work that its processes have in memory from before, since the checkpoint that is saved: the interval of
    /// checkpoints goes on.
    pub since: u64,
}

/// What is saved of the work.
#[derive(Clone, Debug, Default)]
pub enum Saving {
    #[default]
    Always,
    Never,
    /// The durable kind last: it is written at the end of the work, too.
    Checkpoints(Vec<Kind>),
}

/// A kind of checkpoint. The job stands still for its blocking part, and it is complete `commit` later. One does not
/// begin before the last one of its kind is complete: where it is the only kind the job waits for that, and beside
/// others it is written as seldom as it takes.
#[derive(Copy, Clone, Debug)]
pub struct Kind {
    pub every: u64,
    pub blocking: u64,
    pub commit: u64,
}

/// What the time of a stretch went to until some instant of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Initialization, compilation, restore.
    pub before: [u64; 3],
    pub stepping: u64,
    /// Standing still for checkpoints.
    pub saving: u64,
    /// Work that was done.
    pub done: u64,
    /// Of that, what each kind of checkpoint has saved; one number where there are none.
    pub saved: Vec<u64>,
    /// Of `stepping`, what the work took that is saved by any of them.
    pub kept: u64,
    /// Of `kept`, and of `stepping`, what they took beyond what they should.
    pub excess_kept: Excess,
    pub excess: Excess,
    /// Checkpoints that are complete.
    pub commits: u64,
}

impl Plan {
    /// How long until the work is done and saved; `None`: never, or later than anybody counts.
    pub fn takes(&self) -> Option<u64> {
        let before: u128 = self.before.iter().map(|ns| u128::from(*ns)).sum();
        u64::try_from(self.works()?.saturating_add(before)).ok()
    }

    /// What has been done `elapsed` after the beginning.
    pub fn at(&self, elapsed: u64) -> Spent {
        let mut spent = Spent::default();
        let mut left = elapsed;
        for (part, takes) in spent.before.iter_mut().zip(self.before) {
            *part = left.min(takes);
            left -= *part;
        }
        let elapsed = u128::from(left);
        let done = self.done(elapsed);
        let stands = self.stands(done).min(elapsed - self.reaches(done));
        let saving = self.stood(done) + stands;
        spent.done = done as u64;
        spent.saving = saving as u64;
        spent.stepping = (elapsed - saving) as u64;
        self.save(elapsed, done, &mut spent);
        let kept = spent.saved.iter().copied().max().unwrap_or(0);
        let (all, own) = (self.pace.parts(done), self.pace.parts(u128::from(kept)));
        spent.kept = match self.saving {
            Saving::Always => spent.stepping,
            _ => self.stepped(kept),
        };
        spent.excess = all.1.map(|ns| ns as u64);
        spent.excess_kept = own.1.map(|ns| ns as u64);
        spent
    }

    /// How long the first so much work of it took, if it was done.
    pub fn stepped(&self, work: u64) -> u64 {
        self.pace.takes(u128::from(work)) as u64
    }

    /// It ends with the first durable checkpoint that has not begun yet, or where nothing needs one, after the step at
    /// hand; `in_steps`: work in whole steps.
    pub fn ends_with_checkpoint(&mut self, elapsed: u64, in_steps: impl Fn(u64) -> u64) {
        let before: u64 = self.before.iter().fold(0, |a, b| a.saturating_add(*b));
        let elapsed = u128::from(elapsed.saturating_sub(before));
        let next = match self.kinds().last() {
            Some(kind) => {
                let n = self.due_by(kind, self.done(elapsed));
                let begins = |n: &u128| *n > 0 && self.reaches(self.due(kind, *n)) >= elapsed;
                (n..).find(begins).map(|n| self.due(kind, n))
            }
            None => Some(u128::from(in_steps(self.done(elapsed) as u64))),
        };
        let next = next.and_then(|next| u64::try_from(next).ok());
        let sooner = next.filter(|next| self.work.is_none_or(|work| *next < work));
        self.work = sooner.or(self.work);
    }

    /// It ends after so much work, without a checkpoint.
    pub fn ends_after(&mut self, work: u64) {
        if self.work.is_none_or(|all| work < all) {
            (self.work, self.bare) = (Some(work), true);
        }
    }

    /// There is a durable checkpoint after so much work, too, if it is still to be done.
    pub fn saves_after(&mut self, work: u64) {
        let due = |kind: &Kind| self.is_due(kind, u128::from(work));
        let durable = self.kinds().last().is_some_and(|kind| !due(kind));
        let before_end = self.work.is_none_or(|all| work < all);
        if durable && before_end && work > 0 && !self.also.contains(&work) {
            self.also.push(work);
        }
    }

    /// What each kind of checkpoint has begun to save when so much work is done.
    pub fn begun(&self, done: u64) -> Vec<u64> {
        let of = |kind: &Kind| self.due(kind, self.due_by(kind, u128::from(done))) as u64;
        match &self.saving {
            Saving::Always => vec![done],
            Saving::Never => vec![0],
            Saving::Checkpoints(kinds) => kinds.iter().map(of).collect(),
        }
    }

    /// What each kind of checkpoint has saved by then.
    fn save(&self, elapsed: u128, done: u128, spent: &mut Spent) {
        let over = self.works().is_some_and(|works| elapsed >= works) && !self.bare;
        let kinds = self.kinds();
        if kinds.is_empty() {
            let all = matches!(self.saving, Saving::Always) || over;
            spent.saved = vec![if all { done as u64 } else { 0 }];
            return;
        }
        // One after the last piece is of the end alone.
        let before_end = self
            .work
            .map_or(done, |work| done.min(u128::from(work.saturating_sub(1))));
        for kind in kinds {
            let complete = |n: u128| {
                let at = self.due(kind, n);
                let stands = self.reaches(at).saturating_add(self.stands(at));
                stands.saturating_add(u128::from(kind.commit)) <= elapsed
            };
            let n = last_that(self.due_by(kind, before_end), complete);
            spent.commits += n as u64;
            spent.saved.push(self.due(kind, n) as u64);
        }
        for (at, kind) in self.also.iter().zip(std::iter::repeat(kinds.last())) {
            let (work, commit) = (u128::from(*at), kind.map_or(0, |kind| kind.commit));
            let ends = self.reaches(work).saturating_add(self.stands(work));
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

    fn kinds(&self) -> &[Kind] {
        match &self.saving {
            Saving::Checkpoints(kinds) => kinds,
            Saving::Always | Saving::Never => &[],
        }
    }

    /// Work between two checkpoints of a kind.
    fn every(&self, kind: &Kind) -> u128 {
        let every = u128::from(kind.every.max(1));
        match self.kinds().len() {
            1 => every,
            _ => every * u128::from(kind.commit).div_ceil(every).max(1),
        }
    }

    /// The work after which the nth checkpoint of a kind is due, from 1; the 0th is what it began with.
    fn due(&self, kind: &Kind, nth: u128) -> u128 {
        let every = self.every(kind);
        (nth * every).saturating_sub(self.before_this(every))
    }

    /// How many of a kind are due by then.
    fn due_by(&self, kind: &Kind, work: u128) -> u128 {
        let every = self.every(kind);
        parts(work + self.before_this(every), every)
    }

    fn is_due(&self, kind: &Kind, work: u128) -> bool {
        let every = self.every(kind);
        let all = work + self.before_this(every);
        parts(all, every) * every == all
    }

    /// Of an interval between two checkpoints, how much was done before this stretch.
    fn before_this(&self, every: u128) -> u128 {
        match self.since {
            0 => 0,
            since => u128::from(since) % every,
        }
    }

    /// How long the checkpoint after the nth piece of its kind, of so much work, waits for the one before.
    fn wait(&self, kind: &Kind, nth: u128, piece: u128) -> u128 {
        match nth > 0 {
            true => u128::from(kind.commit).saturating_sub(piece),
            false => 0,
        }
    }

    /// Until the work is done and saved.
    fn works(&self) -> Option<u128> {
        let work = u128::from(self.work?);
        Some(self.reaches(work).saturating_add(self.stands(work)))
    }

    /// The most work that can be done by then.
    fn done(&self, elapsed: u128) -> u128 {
        let most = self.work.map_or(u128::MAX, u128::from);
        let mut high = elapsed.max(1).min(most);
        while self.reaches(high) <= elapsed {
            if high >= most {
                return most;
            }
            high = (high * 2).min(most);
        }
        // `low` can be done and `high` cannot. Between two checkpoints a nanosecond of work takes as long, so one or
        // two good guesses find it; halves are for whatever else the pace may be.
        let mut low = 0;
        let mut round = 0;
        while high - low > 1 {
            let narrow = |guess: u128, (low, high): (u128, u128)| match guess > low && guess < high
            {
                true if self.reaches(guess) <= elapsed => (guess, high),
                true => (low, guess),
                false => (low, high),
            };
            if round > 0 {
                let next = self.reaches(low + 1);
                if next > elapsed {
                    return low;
                }
                low += 1;
                (low, high) = narrow(low + (elapsed - next), (low, high));
            }
            (low, high) = narrow(self.in_proportion((low, high), elapsed), (low, high));
            (low, high) = narrow(self.checkpoint_before(high), (low, high));
            if round > 1 {
                (low, high) = narrow(low + (high - low) / 2, (low, high));
            }
            round += 1;
        }
        low
    }

    /// What would be done between two times, were the pace even.
    fn in_proportion(&self, (low, high): (u128, u128), elapsed: u128) -> u128 {
        let (from, to) = (self.reaches(low), self.reaches(high));
        let part = elapsed.saturating_sub(from) as f64 / (to - from).max(1) as f64;
        low + ((high - low) as f64 * part) as u128
    }

    /// The last checkpoint of any kind before so much work.
    fn checkpoint_before(&self, work: u128) -> u128 {
        let of = |kind: &Kind| self.due(kind, self.due_by(kind, work - 1));
        self.kinds().iter().map(of).max().unwrap_or(0)
    }

    /// When so much work is done.
    fn reaches(&self, work: u128) -> u128 {
        self.pace.takes(work).saturating_add(self.stood(work))
    }

    /// How long the job stood still before it.
    fn stood(&self, work: u128) -> u128 {
        let of = |kind: &Kind| {
            let every = self.every(kind);
            let n = self.due_by(kind, work.saturating_sub(1));
            let blocking = n.saturating_mul(u128::from(kind.blocking));
            let waits = n
                .saturating_sub(1)
                .saturating_mul(self.wait(kind, 1, every));
            blocking.saturating_add(waits)
        };
        let due = self.kinds().iter().map(of).fold(0, u128::saturating_add);
        let also = self
            .also
            .iter()
            .filter(|at| u128::from(**at) < work)
            .count();
        due.saturating_add(also as u128 * self.blocking())
    }

    /// Of a durable checkpoint.
    fn blocking(&self) -> u128 {
        let durable = self.kinds().last();
        durable.map_or(0, |kind| u128::from(kind.blocking))
    }

    /// How long it stands still after so much work, and before any more.
    fn stands(&self, work: u128) -> u128 {
        if self.work.is_some_and(|all| u128::from(all) == work) {
            let durable = self.kinds().last().filter(|_| !self.bare);
            return durable.map_or(0, |kind| self.ends(kind, work));
        }
        let of = |kind: &Kind| {
            let (nth, every) = (self.due_by(kind, work), self.every(kind));
            match work > 0 && self.is_due(kind, work) {
                true => self.wait(kind, nth - 1, every) + u128::from(kind.blocking),
                false => 0,
            }
        };
        let also = self.also.iter().any(|at| u128::from(*at) == work);
        let due: u128 = self.kinds().iter().map(of).sum();
        due + if also { self.blocking() } else { 0 }
    }

    /// The checkpoint at the end of all work, until it is complete.
    fn ends(&self, kind: &Kind, work: u128) -> u128 {
        if work == 0 {
            return 0;
        }
        let before = self.due_by(kind, work - 1);
        let wait = self.wait(kind, before, work - self.due(kind, before));
        wait + u128::from(kind.blocking) + u128::from(kind.commit)
    }
}

/// How many whole parts there are: seldom more than 64 bits.
fn parts(of: u128, part: u128) -> u128 {
    match (u64::try_from(of), u64::try_from(part)) {
        (Ok(of), Ok(part)) => u128::from(of / part),
        _ => of / part,
    }
}

/// The last of `0..=most` that holds, where all before it do; 0 always does. Most likely one of the last.
fn last_that(most: u128, holds: impl Fn(u128) -> bool) -> u128 {
    let (mut low, mut high) = (most, most + 1);
    let mut step = 1;
    while low > 0 && !holds(low) {
        (low, high) = (low.saturating_sub(step), low);
        step *= 2;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/training_model/stretch.rs"]
mod tests;
