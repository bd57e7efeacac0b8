//! Kueue's performance test of its scheduler (`test/performance/scheduler`): Workloads without JobSets and pods, which
//! a test runner creates and ends.
//!
//! The decisions are those of `sim-kueue`. What takes time are the requests: each program has one rate limit for
//! each kind of objects, and the scheduler waits for most of its requests within a cycle. A run has no
//! random numbers.

mod clients;
mod events;
mod generator;
mod objects;
mod outcome;
mod queues;
mod recorder;
mod runner;
mod scheduler;
mod start;
mod world;

pub use outcome::{LoadOutcome, QueueClassOutcome, WorkloadClassOutcome, run_load_test};
