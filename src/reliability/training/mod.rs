//! Training jobs: the progress of a segment, its checkpoints, and the time ledger of a job.
//!
//! Pure functions. Must never know what interrupts a job or when. Both levels of detail use them.

mod communication;
mod corruption;
mod elastic;
mod hosts;
mod outcome;
pub mod pace;
pub mod plan;
mod saved_progress;
pub mod segment;
mod trainer;
mod work_ledger;

pub use communication::{NewStepTime, PlacedJob, TrainingFabric};
pub use corruption::SilentCorruption;
pub use elastic::{AvailableSlices, CompletedWork, ElasticShare, LastCall, SliceGroup, SliceRegrowth, SliceStart};
pub use hosts::TrainingHosts;
pub use outcome::{SegmentOutcome, StepOutcome, TrainingOutcome, TrainingPhase};
pub use pace::{PaceReason, TrainingPace, UNIT_FACTOR};
pub use plan::{PlanStart, plan_from_start, restore_time};
pub use saved_progress::SavedProgress;
pub use segment::{CheckpointSave, SegmentKind, SegmentPlan, SpentTime};
pub use trainer::{EndedSegment, RunningSegment, Trainer};
pub use work_ledger::{BookedSegment, SegmentEnd, WorkLedger};

/// Exit code of a process that raises an error.
pub const ERROR_EXIT_CODE: i32 = 1;
