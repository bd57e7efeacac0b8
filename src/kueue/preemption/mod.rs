//! Selects the Workloads that make room for another one (`pkg/scheduler/preemption`).

pub mod candidates;
pub mod classical;
pub mod fair;
pub mod fair_order;
pub mod oracle;
pub mod order;
pub mod search;

pub use candidates::PreemptionVariant;
pub use oracle::Preemptor;
pub use search::{PreemptionRequest, Target};
