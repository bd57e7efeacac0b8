//! Deterministic discrete-event simulation of Kubernetes JobSets on modelled accelerator clusters.

pub mod admission;
pub mod base;
pub mod cli;
pub mod engine;
pub mod lint;
pub mod manifest;
pub mod metrics;
pub mod objects;
pub mod placement;
pub mod policy;
pub mod record;
pub mod report;
pub mod spec;
pub mod store;
pub mod topology;
pub mod validate;
