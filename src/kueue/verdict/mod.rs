//! Whether a Workload is admitted in a state of the queues, and the smallest changes that would admit it.
//!
//! Every answer is a trial: the scheduling cycles of [`Manager`](crate::control::Manager) run on a copy of the state
//! until the queues rest. A change is reported only if the trial with it admits the Workload.

mod change;
pub mod forecast;
mod free_nodes;
mod pod_sets;
mod quota;
mod smallest;
pub mod state;
pub mod trial;
mod waiting;

pub use change::QueueChange;
pub use forecast::{RunTimes, forecast_wait};
pub use smallest::{Remedy, smallest_changes};
pub use state::QueueState;
pub use trial::{
    AdmissionVerdict, BorrowedQuota, FlavorAttempt, PendingCause, PreemptedWorkload, VerdictKind, try_admission,
};
