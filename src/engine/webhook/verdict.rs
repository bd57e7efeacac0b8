//! What the two webhooks say of one follower, in the order of upstream's checks (EXC-8, EXC-11).
//!
//! Must never look anything up: it is told what the cache shows.

use sim_api::objects::Denial;
use sim_base::DomainId;
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
    /// So many that are neither ending nor ended; not one.
    Leaders(usize),
    /// One of this name, whose Job went without it.
    Orphan(&'a str),
    /// One of another Job object of the name.
    Stranger,
    Unscheduled,
    Scheduled {
        node: &'a str,
        exists: bool,
        /// `NONE`: the node lacks the label.
        domain: DomainId,
    },
}

/// The model has none.
const UID: &str = "<uid>";

/// The mutating webhook writes the leader's domain into the node selector, if it knows it; the validating one refuses
/// who has none. Refusals are in the API server's words.
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
