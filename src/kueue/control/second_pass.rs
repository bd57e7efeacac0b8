//! Workloads with a reservation of which the scheduler replaces a lost node (`pkg/cache/queue/second_pass_queue.go`).

use crate::workload::{Workload, WorkloadKey};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Delay of the first further pass over a Workload. It doubles up to the maximum.
const SECOND_PASS_DELAY: Duration = Duration::from_secs(1);
const SECOND_PASS_DELAY_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Default)]
pub(super) struct SecondPasses {
    /// Workloads whose delay has not ended, with the number of the pass.
    delayed: BTreeMap<WorkloadKey, u32>,
    /// Workloads for the next cycle, with the number of the pass.
    ready: BTreeMap<WorkloadKey, u32>,
    /// Timers to be set.
    timers: Vec<(WorkloadKey, Duration)>,
}

impl SecondPasses {
    /// Requests a pass after its delay, if the Workload needs one. Returns false if none was requested.
    pub fn request(&mut self, key: WorkloadKey, workload: &Workload, passes: u32) -> bool {
        if !workload.needs_second_pass() {
            if passes > 0 {
                self.forget(key);
            }
            return false;
        }
        if self.delayed.contains_key(&key) {
            return false;
        }
        self.delayed.insert(key, passes + 1);
        let delay = SECOND_PASS_DELAY.saturating_mul(1u64.checked_shl(passes).unwrap_or(u64::MAX));
        self.timers.push((key, delay.min(SECOND_PASS_DELAY_MAX)));
        true
    }

    pub fn forget(&mut self, key: WorkloadKey) {
        self.delayed.remove(&key);
        self.ready.remove(&key);
    }

    pub fn take_timers(&mut self) -> Vec<(WorkloadKey, Duration)> {
        std::mem::take(&mut self.timers)
    }

    /// The delay has ended. `is_needed` is false if the Workload no longer needs the pass.
    pub fn delay_ended(&mut self, key: WorkloadKey, is_needed: bool) {
        if let Some(passes) = self.delayed.remove(&key).filter(|_| is_needed) {
            self.ready.insert(key, passes);
        }
    }

    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub fn take_ready(&mut self) -> BTreeMap<WorkloadKey, u32> {
        std::mem::take(&mut self.ready)
    }
}
