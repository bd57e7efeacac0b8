//! One scheduling cycle (`pkg/scheduler/scheduler.go`): takes the heads of all queues, assigns flavors, and admits
//! Workloads or preempts others for them.

pub mod config;
pub mod entry;
pub mod iterator;
pub mod nominate;
pub mod process;

pub use config::CycleConfig;
pub use entry::{Entry, Outcome};
pub use process::{CycleResult, Preemption, run};

use sim_base::Duration;

/// Pause after a cycle without an admission (`pkg/util/wait/backoff.go`).
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Returns the pause after a cycle, given the previous pause. Without an admission it doubles from 1 ms to 10 ms.
pub fn next_pause(last: Duration, has_admitted: bool) -> Duration {
    if has_admitted { Duration::ZERO } else { last.saturating_mul(2).clamp(PAUSE_MIN, PAUSE_MAX) }
}
