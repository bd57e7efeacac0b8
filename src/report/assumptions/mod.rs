//! The assumptions a result depends on, and where its numbers come from.

pub(crate) mod decided_by;
pub mod deciding;
pub mod hanging;
pub mod provenance;
