//! The response of the two webhooks for one follower, in the order of upstream's checks (EXC-8, EXC-11).
//!
//! Must never look up objects; the caller passes the content of the cache.

use super::pod_webhook_error::PodWebhookError;
use sim_api::objects::PodDenial;
use sim_base::DomainId;
use std::collections::BTreeMap;

/// A follower about to be created.
pub struct FollowerPod<'a> {
    pub job: &'a str,
    /// Topology key of the exclusive placement.
    pub key: &'a str,
    /// Node selector of the template.
    pub selector: &'a BTreeMap<String, String>,
}

/// The leader according to the cache.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WebhookInput<'a> {
    /// Number of leaders that are neither terminating nor ended; not one.
    Leaders(usize),
    /// A leader with this name whose Job was deleted without it.
    Orphan(&'a str),
    /// A leader of another Job object with the name.
    OtherJob,
    Unscheduled,
    Scheduled {
        node: &'a str,
        exists: bool,
        /// `NONE` if the node lacks the label.
        domain: DomainId,
    },
}

/// The model has no UIDs.
const UID_PLACEHOLDER: &str = "<uid>";

/// The mutating webhook adds the leader's domain to the node selector, if known; the validating one rejects pods
/// without it. Rejections use the API server's messages.
pub fn verdict(follower: &FollowerPod<'_>, leader: WebhookInput<'_>) -> Result<DomainId, PodWebhookError> {
    let denied = match leader {
        WebhookInput::Scheduled { node, exists, .. } if !exists => PodDenial::LeaderNodeMissing(node),
        WebhookInput::Scheduled { domain, .. } if domain.is_some() => return Ok(domain),
        WebhookInput::Scheduled { .. } => PodDenial::TopologyLabelMissing(follower.key),
        _ if follower.selector.is_empty() => PodDenial::NodeSelectorMissing,
        _ if !follower.selector.contains_key(follower.key) => PodDenial::TopologyKeyNotSelected(follower.key),
        WebhookInput::Leaders(found) => {
            let leader = format!("{}-0", follower.job);
            return Err(PodDenial::LeaderCount(&leader, found).into());
        }
        WebhookInput::Orphan(leader) => PodDenial::LeaderWithoutOwner(leader),
        WebhookInput::OtherJob => PodDenial::DifferentOwner(UID_PLACEHOLDER, UID_PLACEHOLDER),
        WebhookInput::Unscheduled => PodDenial::LeaderNotScheduled,
    };
    Err(denied.into())
}
