//! Deterministic discrete-event simulation of Kubernetes JobSets on modelled accelerator clusters.

pub mod base;
pub mod policy;
pub mod record;
pub mod spec;
