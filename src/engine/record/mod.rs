//! Records of everything that happens in a run: ids only, fixed size, each with the id of its cause.
//!
//! Must never influence a run: the engine writes records and never reads them.

pub mod call;
pub mod digest;
pub mod fields;
mod hash;
pub mod head;
pub mod names;
pub mod outcome;
pub mod records;
pub mod sink;
pub mod ticket;

pub use call::*;
pub use fields::{FieldRole, FieldValue};
pub use head::RecordHead;
pub use names::*;
pub use outcome::*;
pub use records::*;
pub use sim_kueue::workload::ConditionType as WorkloadConditionType;
pub use sim_policy::decision::{PolicyDecision, PolicyOutcome};
pub use sim_policy::kinds::*;
pub use sim_reliability::ledger::{LedgerCategory, LedgerSums, TimeLedger};
pub use sim_reliability::training::{SegmentOutcome, StepOutcome, TrainingOutcome, TrainingPhase};
pub use sink::*;
pub use ticket::*;
