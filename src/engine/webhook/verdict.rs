//! What the two webhooks say of one follower, in the order of upstream's checks (EXC-8, EXC-11).
//!
//! Must never look anything up: it is told what the cache shows.

use crate::base::DomainId;
use crate::objects::Denial;
use std::collections::BTreeMap;

/// A follower about to be created.
pub struct Follower<'a> {
    /// Name of its Job.
    pub job: &'a str,
    /// Topology key of its exclusive placement.
    pub key: &'a str,
    /// The template's.
    pub selector: &'a BTreeMap<String, String>,
}

/// The leader as the cache shows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sight<'a> {
    /// None that is neither ending nor ended.
    NoLeader,
    Unscheduled,
    Scheduled {
        node: &'a str,
        exists: bool,
        /// `NONE`: the node lacks the label.
        domain: DomainId,
    },
}

/// The mutating webhook writes the leader's domain into the node selector, if it knows it; the validating one refuses
/// who has none. Refusals are in the API server's words.
pub fn verdict(follower: &Follower<'_>, leader: Sight<'_>) -> Result<DomainId, String> {
    let denied = match leader {
        Sight::Scheduled { node, exists, .. } if !exists => Denial::NoNode(node),
        Sight::Scheduled { domain, .. } if domain.is_some() => return Ok(domain),
        Sight::Scheduled { .. } => Denial::NoLabel(follower.key),
        _ if follower.selector.is_empty() => Denial::NoSelector,
        _ if !follower.selector.contains_key(follower.key) => Denial::SelectsOther(follower.key),
        Sight::NoLeader => {
            let leader = format!("{}-0", follower.job);
            return Err(Denial::Leaders(&leader, 0).message());
        }
        Sight::Unscheduled => Denial::LeaderNotScheduled,
    };
    Err(denied.message())
}
