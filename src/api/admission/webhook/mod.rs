//! Validation rules of JobSet's webhooks, in upstream's order and words.

pub(crate) mod coordinator;
pub(crate) mod create;
pub(crate) mod object;
pub(crate) mod policies;
pub(crate) mod update;
pub(crate) mod volumes;
