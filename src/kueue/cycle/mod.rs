//! One scheduling cycle (`pkg/scheduler/scheduler.go`): takes the heads of all queues, assigns flavors, and admits
//! Workloads or preempts others for them.

pub mod entry;
pub mod iterator;
pub mod nominate;
pub mod process;

pub use entry::{Entry, Head, Outcome};
pub use process::{CycleConfig, CycleResult, Preemption, run};
