//! The hosts of a training job at its last start, and how many of them it has lost since.
//!
//! A host counts as lost if its machine failed, its Node was replaced, or it has no pod of the job.

use sim_api::spec::LossSpec;
use sim_base::{JobId, NodeId};

#[derive(Clone, Debug, Default)]
pub struct TrainingHosts {
    hosts: Vec<TrainingHost>,
}

/// A host of the job.
#[derive(Copy, Clone, Debug)]
struct TrainingHost {
    node: NodeId,
    /// The slice of the host: a child Job of the JobSet.
    slice: JobId,
    lost: bool,
}

impl TrainingHosts {
    /// The machine of a host failed, or its Node was replaced: data on it is lost.
    pub fn lose(&mut self, node: NodeId) {
        let own = self.hosts.iter_mut().filter(|host| host.node == node);
        own.for_each(|host| host.lost = true);
    }

    /// The job starts on these nodes, each with its slice. Returns the loss of the previous hosts.
    pub fn move_to(&mut self, nodes: impl Iterator<Item = (NodeId, JobId)>) -> LossSpec {
        let mut now: Vec<TrainingHost> = nodes.map(|(node, slice)| TrainingHost { node, slice, lost: false }).collect();
        now.sort_unstable_by_key(|host| host.node);
        let is_here = |node| now.binary_search_by_key(&node, |host| host.node).is_ok();
        let mut lost: Vec<TrainingHost> =
            (self.hosts.iter().copied()).filter(|host| host.lost || !is_here(host.node)).collect();
        lost.sort_unstable_by_key(|host| (host.slice, host.node));
        lost.dedup_by_key(|host| (host.slice, host.node));
        self.hosts = now;
        let in_one = |pair: &[TrainingHost]| pair[0].slice == pair[1].slice;
        match lost.as_slice() {
            [] => LossSpec::Process,
            all if !all.windows(2).any(in_one) => LossSpec::Host,
            all if all.windows(2).all(in_one) => LossSpec::Slice,
            _ => LossSpec::All,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/training/hosts.rs"]
mod tests;
