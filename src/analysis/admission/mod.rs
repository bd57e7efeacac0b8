//! Whether Kueue would admit a JobSet now, whether its pods then fit on the nodes, and what would have to change.
//!
//! Quota, flavors, preemption and topology are decided by the functions of `sim-kueue`, which the engine uses as well.
//! Nodes are decided by a run of the engine with the admitted JobSet.

#![deny(missing_docs)]

pub mod queue_state;
pub mod report;
mod verdicts;
pub mod wait;

pub use queue_state::queue_state;
pub use report::{
    AdmissionReport, AttemptRow, BorrowedRow, JobSetVerdict, NodeFit, PlacedDomain, PodSetPlacement, RemedyRow,
    WorkloadRow,
};
pub use verdicts::{admission_report, remedy_rows};
pub use wait::{WaitEstimate, WaitRequest};
