//! Failures and their costs: fault processes, repair, spares, the arithmetic of training jobs and checkpoints, and the
//! accelerator-time ledger.
//!
//! State machines over nodes and jobs, driven by a clock and by random numbers with names. Must never know pods,
//! requests or objects, so that every level of detail can use the same code.

pub mod aging;
pub mod faults;
pub mod ledger;
pub mod pool;
pub mod repair;
pub mod training;
