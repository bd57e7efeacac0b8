//! Whether a Workload is admitted in a state of the queues, and the smallest changes that would admit it.
//!
//! Every answer is a trial: the scheduling cycles of [`Manager`](crate::control::Manager) run on a copy of the state
//! until the queues rest. A change is reported only if the trial with it admits the Workload.

mod case;
mod change;
pub mod forecast;
mod free_nodes;
mod pod_sets;
mod quota;
pub mod state;
pub mod trial;
mod waiting;

use crate::workload::WorkloadKey;
use case::PendingCase;
pub use case::Remedy;
pub use change::QueueChange;
pub use forecast::{RunTimes, forecast_wait};

pub use state::QueueState;
pub use trial::{
    AdmissionVerdict, BorrowedQuota, FlavorAttempt, PendingCause, PreemptedWorkload, VerdictKind, try_admission,
};

/// Returns changes that would admit the Workload, each the smallest of its kind. They were tried one by one.
pub fn smallest_changes(state: &QueueState, key: WorkloadKey) -> Vec<Remedy> {
    let case = PendingCase { state, key };
    let mut remedies = Vec::new();
    remedies.extend(waiting::resumed_queues(&case));
    remedies.extend(pod_sets::smaller(&case));
    remedies.extend(pod_sets::other_constraints(&case));
    remedies.extend(waiting::higher_priority(&case));
    remedies.extend(waiting::other_queue(&case));
    remedies.extend(quota::more_quota(&case));
    remedies.extend(free_nodes::more_nodes(&case, &[]));
    remedies.extend(waiting::ended_workloads(&case));
    remedies
}
