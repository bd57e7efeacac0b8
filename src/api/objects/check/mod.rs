//! The API server's validation of Jobs, pods and their parts.

pub(crate) mod affinity;
pub(crate) mod cluster;
pub(crate) mod container;
pub(crate) mod env;
pub(crate) mod index_list;
pub mod job;
pub mod pod;
pub(crate) mod probes;
pub(crate) mod resources;
pub(crate) mod security;
pub(crate) mod values;
pub(crate) mod volumes;

pub use affinity::label_selector;
