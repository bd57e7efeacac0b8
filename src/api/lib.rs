//! The JobSet and Kubernetes API: scenario specifications, responses of the API server, and objects created by
//! controllers.
//!
//! All functions are pure: they use no virtual time, no randomness and no files.

pub mod admission;
pub mod endless;
pub mod objects;
pub mod spec;
