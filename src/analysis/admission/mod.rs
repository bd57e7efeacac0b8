//! Whether Kueue would admit a JobSet now, whether its pods then fit on the nodes, and what would have to change.
//!
//! Quota, flavors, preemption and topology are decided by the functions of `sim-kueue`, which the engine uses as well.
//! Nodes are decided by runs of the engine with the admitted JobSets. A change admits a JobSet if the changed inputs,
//! submitted again from the start, do: `admit` with the applied change gives the same answer.

#![deny(missing_docs)]

mod change_search;
pub(crate) mod inputs;
pub(crate) mod placement;
pub mod queue_state;
pub mod report;
mod submission;
mod verdict_rows;
mod verdicts;
pub mod wait;

pub use queue_state::queue_state;
pub use report::{
    AdmissionReport, AttemptRow, BorrowedRow, ChangeSize, JobSetVerdict, NodeFit, PlacedDomain, PodSetPlacement,
    RemedyRow, WorkloadRow,
};
pub use verdict_rows::remedy_rows;
pub use verdicts::{admission_report, admission_verdicts};
pub use wait::{WaitEstimate, WaitRequest};
