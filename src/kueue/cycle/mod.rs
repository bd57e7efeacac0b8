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
