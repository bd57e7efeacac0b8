//! Checkpoints before anything else happens: they are passed at once, however many they are, and leave what each of
//! them would have left.

use super::job::Phase;
use super::pool::Place;
use super::world::{Code, World};
use sim_api::spec::Progress;
use std::cmp::Reverse;

/// Of checkpoints that are passed at once, the digest knows each of so many; of more it knows how many they are, so
/// that a replication takes no longer for them.
pub(super) const EACH_MAX: u64 = 1 << 16;

impl World<'_> {
    /// The job begins to work now: pieces that are done and saved before the next event or failure are passed, but
    /// for the one that ends the work, or the run.
    pub(super) fn pass_checkpoints(&mut self) {
        let Progress::Checkpoints { every, blocking } = self.fleet.training.progress else {
            return;
        };
        let (every, blocking) = (every.0, blocking.0);
        let left = self.fleet.training.work.0 - self.job.kept;
        let n = self
            .calm_for()
            .checked_div(every.saturating_add(blocking))
            .unwrap_or(0)
            .min(left.saturating_sub(1) / every.max(1))
            .min(self.before_halt(blocking));
        if n == 0 {
            return;
        }
        let began = self.clocks.now;
        self.job.kept += n * every;
        self.book(Phase::Working, n * every);
        self.book(Phase::Saving, n * blocking);
        // As many ends of phases as there would have been: what is due at the same instant keeps its order.
        self.sent += 2 * n;
        self.note_checkpoints(began, n, every + blocking);
    }

    /// How long nothing happens that a running job does not do itself.
    fn calm_for(&mut self) -> u64 {
        let fault = self.lives.next(self.clocks, true).map(|fault| fault.at);
        let event = self.queue.peek().map(|Reverse((at, ..))| *at);
        let next = fault.into_iter().chain(event).min();
        // At the same instant an order would have to be kept.
        let calm = next.map_or(u64::MAX, |at| at.saturating_sub(1));
        let until = calm.min(self.fleet.stop_at.0);
        until.saturating_sub(self.clocks.now)
    }

    /// How many more checkpoints there are before the run has so much lost time that it halts.
    fn before_halt(&self, blocking: u64) -> u64 {
        let Some(halts_at) = self.halts_at else {
            return u64::MAX;
        };
        match halts_at.checked_sub(self.lost_time() + 1) {
            Some(more) => more.checked_div(blocking).unwrap_or(u64::MAX),
            None => 0,
        }
    }

    fn note_checkpoints(&mut self, began: u64, n: u64, cycle: u64) {
        let nodes = self.pool.count(Place::Active);
        if n > EACH_MAX {
            self.note(Code::Checkpoints, nodes);
            self.digest ^= n;
        } else {
            let now = self.clocks.now;
            for nth in 1..=n {
                self.clocks.now = began + nth * cycle;
                self.note(Code::Works, nodes);
            }
            self.clocks.now = now;
        }
    }
}
