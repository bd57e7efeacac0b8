//! One scheduling cycle (`pkg/scheduler/scheduler.go`): takes the heads of all queues, assigns flavors, and admits
//! Workloads or preempts others for them.

pub mod config;
pub mod entry;
pub mod iterator;
pub mod nominate;
pub mod process;

pub use config::{AdmissibilityError, CycleConfig};
pub use entry::{Entry, Outcome};
pub use process::{CycleResult, Preemption, run};

use sim_base::Duration;

/// Detects that cycles only repeat themselves. A cycle makes progress if it changes more than the condition of a
/// pending Workload, or if fewer Workloads than before are active. The head of a StrictFIFO queue returns to its queue,
/// with messages about other flavors in turn.
#[derive(Clone, Debug)]
pub struct CycleProgress {
    idle: usize,
    least_active: usize,
}

impl Default for CycleProgress {
    fn default() -> CycleProgress {
        CycleProgress { idle: 0, least_active: usize::MAX }
    }
}

impl CycleProgress {
    /// Counts a cycle; `active` is the number of active Workloads after it.
    pub fn note(&mut self, has_changed: bool, active: usize) {
        if has_changed {
            *self = CycleProgress::default();
        } else if active < self.least_active {
            (self.idle, self.least_active) = (0, active);
        } else {
            self.idle += 1;
        }
    }

    /// Returns the number of cycles since the last one with progress.
    pub fn idle_cycles(&self) -> usize {
        self.idle
    }
}

/// Pause after a cycle without an admission (`pkg/util/wait/backoff.go`).
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Returns the pause after a cycle, given the previous pause. Without an admission it doubles from 1 ms to 10 ms.
pub fn next_pause(last: Duration, has_admitted: bool) -> Duration {
    if has_admitted { Duration::ZERO } else { last.saturating_mul(2).clamp(PAUSE_MIN, PAUSE_MAX) }
}
