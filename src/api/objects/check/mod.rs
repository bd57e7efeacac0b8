//! Validation of Jobs, pods and what is in them, as the API server does it.

pub(crate) mod affinity;
pub(crate) mod container;
pub(crate) mod env;
pub mod job;
pub mod pod;
pub(crate) mod probes;
pub(crate) mod resources;
pub(crate) mod values;
pub(crate) mod volumes;
