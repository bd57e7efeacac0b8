//! Error responses of the API server to the creation of a pod that the webhooks do not admit.

use sim_api::objects::PodDenial;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodWebhookError {
    /// The webhooks do not respond. The server's message continues with the network error.
    Unavailable,
    /// A webhook denied the request; `reason` is the server's message.
    Denied { reason: String },
}

impl fmt::Display for PodWebhookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodWebhookError::Unavailable => {
                f.write_str("Internal error occurred: failed calling webhook \"mpod.kb.io\"")
            }
            PodWebhookError::Denied { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for PodWebhookError {}

impl From<PodDenial<'_>> for PodWebhookError {
    fn from(denial: PodDenial<'_>) -> PodWebhookError {
        let reason = denial.message();
        PodWebhookError::Denied { reason }
    }
}
