//! Validation rules of JobSet's webhooks, with upstream's messages in upstream's order.

pub(crate) mod coordinator;
pub mod create;
pub(crate) mod object;
pub(crate) mod policies;
pub mod update;
pub(crate) mod volumes;
