//! A second fault while a restart is under way: until when the restart takes it along, by playing pairs of faults.

use super::curve::NEVER;
use super::lab::{Lab, Seen, Trial};
use crate::engine::CannotRun;

/// What becomes of a second fault, by its time since the first one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Sooner than this in every play: it is of the attempt that ends anyway.
    pub until: u64,
    /// Later than this in every play: it ends the next attempt, too.
    pub from: u64,
    /// What both instants are counted back from: the last binding of the first restart; else they count from the fault.
    pub before_bind: bool,
    /// What a second fault that is taken along adds to both counters: the first may then not be what was counted.
    pub adds: (i32, i32),
    /// What it adds does not follow this form.
    pub irregular: bool,
}

/// Where the second fault was found to belong.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Belongs {
    Along,
    Next,
    /// Either may be.
    Close(bool),
}

impl Pair {
    /// A second fault so long after the first one, whose pods are bound `bind` after it.
    pub fn of(&self, offset: u64, bind: u64) -> Belongs {
        let at = |x: u64| match self.before_bind {
            true => bind.saturating_sub(x),
            false => x,
        };
        let (until, from) = (at(self.until), at(self.from));
        match offset {
            _ if offset < until => Belongs::Along,
            _ if offset > from => Belongs::Next,
            _ => Belongs::Close(offset - until < from - offset),
        }
    }
}

/// Counters after a play.
fn counters(seen: &Seen) -> (i32, i32) {
    (seen.restarts as i32, seen.counts as i32)
}

/// How many times a boundary is looked for, each with other numbers and other nodes.
const LOOKS: u64 = 3;
/// How near a boundary is found: 50 ms.
const NEAR: u64 = 50_000_000;

/// What a pair is found with: a trial of the first fault, where the second one comes so long after it.
pub struct Search<'a> {
    pub lab: &'a Lab<'a>,
    pub trial: &'a dyn Fn(u64, u64) -> Trial,
    /// Counters of each fault alone.
    pub alone: [(i32, i32); 2],
    /// Ready, and bound, after the first one alone.
    pub ready: u64,
    pub bind: u64,
    pub before_bind: bool,
}

impl Search<'_> {
    fn adds(&self, look: u64, offset: u64) -> Result<(i32, i32), CannotRun> {
        let seen = self.lab.play(&(self.trial)(look, offset))?;
        let both = counters(&seen);
        Ok((both.0 - self.alone[0].0, both.1 - self.alone[0].1))
    }

    /// Plays pairs until the boundary is known.
    pub fn find(&self) -> Result<Pair, CannotRun> {
        let mut pair = Pair {
            until: NEVER,
            from: 0,
            before_bind: self.before_bind,
            adds: (0, 0),
            irregular: false,
        };
        let early = self.adds(0, 1_000_000)?;
        // Without a second restart of its own there is no boundary.
        pair.adds = early;
        let end = self.ready.max(1_000_000_000);
        for look in 0..LOOKS {
            let along =
                |offset: u64| -> Result<bool, CannotRun> { Ok(self.adds(look, offset)? == early) };
            let (mut low, mut high) = (0, end);
            if along(high)? {
                // It is taken along until the end, or adds nothing anyway.
                low = high;
            }
            while high - low > NEAR {
                let middle = low + (high - low) / 2;
                match along(middle)? {
                    true => low = middle,
                    false => high = middle,
                }
            }
            pair.until = pair.until.min(low);
            pair.from = pair.from.max(high);
            pair.irregular |= !self.holds(look, (low, high), early)?;
        }
        if early == self.alone[1] {
            // Even at once it is a restart of its own.
            (pair.until, pair.from, pair.adds) = (0, 0, (0, 0));
        }
        // Half of what was seen of chance, on either side.
        let (margin, bind) = ((pair.from - pair.until) / 2 + NEAR, self.bind);
        pair.until = pair.until.saturating_sub(margin);
        pair.from += margin;
        if pair.before_bind {
            (pair.until, pair.from) = (
                bind.saturating_sub(pair.until),
                bind.saturating_sub(pair.from),
            );
        }
        Ok(pair)
    }

    /// Whether both sides of the boundary are what they should be, at two more places each.
    fn holds(
        &self,
        look: u64,
        (low, high): (u64, u64),
        early: (i32, i32),
    ) -> Result<bool, CannotRun> {
        if look > 0 {
            return Ok(true);
        }
        for part in [1, 2] {
            let before = low / 3 * part;
            if low > NEAR && self.adds(look, before)? != early {
                return Ok(false);
            }
            let after = high + (self.ready.saturating_sub(high)) / 3 * part;
            if self.ready > high + NEAR && self.adds(look, after)? != self.alone[1] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
