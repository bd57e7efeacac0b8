//! The start of the programs: when informers deliver the first objects, and the requests that create nodes.
//!
//! Kueue's manager and the runner start at time 0. Both wait for their informers with a poll, at first without a pause.
//! The initial lists take a few milliseconds, so each wait ends at the second poll.

use sim_base::{Duration, SimTime};

/// Pause between polls (`syncedPollPeriod` in client-go, `tools/cache/shared_informer.go`).
const POLL: Duration = Duration::from_millis(100);

/// Returns the time after a number of waits.
const fn after(waits: u64) -> SimTime {
    SimTime(waits * POLL.0)
}

/// The manager waits for the informers with an index and then starts its controllers (`Start` in controller-runtime,
/// `pkg/manager/internal.go`). These wait for the other informers, such as that of ResourceFlavors, without which no
/// ClusterQueue is active (`GetInformer`, `pkg/cache/internal/informers.go`).
pub const KUEUE_OBSERVES: SimTime = after(2);
/// The workers of a controller begin when its handlers have received the first objects (`Start` in controller-runtime,
/// `pkg/internal/source/kind.go`).
pub const KUEUE_RECONCILES: SimTime = after(3);
/// The runner has no informer with an index.
pub const RUNNER_OBSERVES: SimTime = after(1);
pub const RUNNER_RECONCILES: SimTime = after(2);

/// Requests per node (`CreateNodesWithStatus` in `test/util/util.go`): create, get, update the status, get, and update
/// to remove the taint `not-ready`. The next one is sent after the response.
pub const REQUESTS_PER_NODE: u64 = 5;
