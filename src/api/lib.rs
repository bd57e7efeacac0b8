//! The JobSet and Kubernetes API: the specification of a scenario, what the API server answers, the objects that
//! controllers make.
//!
//! Pure: knows no virtual time, no randomness and no file.

pub mod admission;
pub mod objects;
pub mod spec;
