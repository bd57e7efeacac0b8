//! Fast-forwards over checkpoints while no other event is pending, with the same bookkeeping as single steps.

use super::job::FleetJobPhase;
use super::world::{EventCode, FleetWorld};
use sim_api::spec::ProgressSpec;
use sim_reliability::pool::NodePlace;
use std::cmp::Reverse;

/// Maximum number of checkpoints of one fast-forward that enter the digest individually. For more checkpoints only
/// their number enters, so that the time of a replication does not depend on it.
pub(super) const EACH_MAX: u64 = 1 << 16;

impl FleetWorld<'_> {
    /// Skips all checkpoints that are saved before the next event or failure, except for the last one of the work or
    /// of the run. Called when the job begins to work.
    pub(super) fn pass_checkpoints(&mut self) {
        let ProgressSpec::Checkpoints { every, blocking } = self.fleet.training.progress else {
            return;
        };
        let (every, blocking) = (every.0, blocking.0);
        let left = self.fleet.training.work.0 - self.job.saved;
        let n = self
            .idle_window()
            .checked_div(every.saturating_add(blocking))
            .unwrap_or(0)
            .min(left.saturating_sub(1) / every.max(1))
            .min(self.before_halt(blocking));
        if n == 0 {
            return;
        }
        let began = self.clocks.now;
        self.job.saved += n * every;
        self.book(FleetJobPhase::Working, n * every);
        self.book(FleetJobPhase::Saving, n * blocking);
        // Advances the event counter as single steps would, so that the order of simultaneous events stays the same.
        self.sent += 2 * n;
        self.note_checkpoints(began, n, every + blocking);
    }

    /// Returns the time until the next event that the running job does not cause itself.
    fn idle_window(&mut self) -> u64 {
        let fault = self.lifetimes.next(self.clocks, true).map(|fault| fault.at);
        let event = self.queue.peek().map(|Reverse((at, ..))| *at);
        let next = fault.into_iter().chain(event).min();
        // Ends before the next event, because simultaneous events have an order.
        let idle_until = next.map_or(u64::MAX, |at| at.saturating_sub(1));
        let until = idle_until.min(self.fleet.stop_at.0);
        until.saturating_sub(self.clocks.now)
    }

    /// Returns the number of checkpoints until the lost time reaches the limit at which the run halts.
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
        let nodes = self.pool.count(NodePlace::Active);
        if n > EACH_MAX {
            self.digest_event(EventCode::Checkpoints, nodes);
            self.digest ^= n;
        } else {
            let now = self.clocks.now;
            for nth in 1..=n {
                self.clocks.now = began + nth * cycle;
                self.digest_event(EventCode::Works, nodes);
            }
            self.clocks.now = now;
        }
    }
}
