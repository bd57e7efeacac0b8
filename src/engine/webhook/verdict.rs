//! The response of the two webhooks for one follower, in the order of upstream's checks (EXC-8, EXC-11).
//!
//! Must never look up objects; the caller passes the content of the cache.

use sim_api::objects::Denial;
use sim_base::DomainId;
use std::collections::BTreeMap;

/// A follower about to be created.
pub struct Follower<'a> {
    /// Name of the Job.
    pub job: &'a str,
    /// Topology key of the exclusive placement.
    pub key: &'a str,
    /// Node selector of the template.
    pub selector: &'a BTreeMap<String, String>,
}

/// The leader according to the cache.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sight<'a> {
    /// Number of leaders that are neither terminating nor ended; not one.
    Leaders(usize),
    /// A leader with this name whose Job was deleted without it.
    Orphan(&'a str),
    /// A leader of another Job object with the name.
    Stranger,
    Unscheduled,
    Scheduled {
        node: &'a str,
        exists: bool,
        /// `NONE` if the node lacks the label.
        domain: DomainId,
    },
}

/// The model has no UIDs.
const UID: &str = "<uid>";

/// The mutating webhook adds the leader's domain to the node selector, if known; the validating one rejects pods
/// without it. Rejections use the API server's messages.
pub fn verdict(follower: &Follower<'_>, leader: Sight<'_>) -> Result<DomainId, String> {
    let denied = match leader {
        Sight::Scheduled { node, exists, .. } if !exists => Denial::NoNode(node),
        Sight::Scheduled { domain, .. } if domain.is_some() => return Ok(domain),
        Sight::Scheduled { .. } => Denial::NoLabel(follower.key),
        _ if follower.selector.is_empty() => Denial::NoSelector,
        _ if !follower.selector.contains_key(follower.key) => Denial::SelectsOther(follower.key),
        Sight::Leaders(found) => {
            let leader = format!("{}-0", follower.job);
            return Err(Denial::Leaders(&leader, found).message());
        }
        Sight::Orphan(leader) => Denial::NoOwner(leader),
        Sight::Stranger => Denial::OtherOwner(UID, UID),
        Sight::Unscheduled => Denial::LeaderNotScheduled,
    };
    Err(denied.message())
}
