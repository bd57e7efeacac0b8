//! The assumptions a result depends on, and where its numbers come from.

pub(crate) mod attribution;
pub mod dominant;
pub mod provenance;
pub mod sensitivity;
