//! Validation rules of JobSet's webhooks, in upstream's order and words.

pub(crate) mod coordinator;
pub mod create;
pub(crate) mod object;
pub(crate) mod policies;
pub mod update;
pub(crate) mod volumes;
