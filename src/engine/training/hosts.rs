//! The hosts of a training job at its last save, and how many of them it has lost since.
//!
//! A host counts as lost if its machine failed, its Node was replaced, or it has no pod of the job.

use crate::ctx::EngineContext;
use crate::store::{NodeChange, flag};
use sim_api::spec::LossSpec;
use sim_base::{JobId, JobSetId, NodeId};

#[derive(Clone, Default)]
pub struct TrainingHosts {
    hosts: Vec<TrainingHost>,
}

#[derive(Copy, Clone)]
struct TrainingHost {
    node: NodeId,
    /// The slice of the host: a child Job of the JobSet.
    slice: JobId,
    lost: bool,
}

impl TrainingHosts {
    pub fn node_changed(&mut self, node: NodeId, change: NodeChange) {
        let wiped = matches!(change, NodeChange::Machine { dead: true } | NodeChange::Created | NodeChange::Gone);
        if wiped {
            let own = self.hosts.iter_mut().filter(|host| host.node == node);
            own.for_each(|host| host.lost = true);
        }
    }

    /// The job restarts on the hosts of its current pods; returns the loss of the previous hosts.
    pub fn move_to_current_hosts(&mut self, ctx: &EngineContext<'_>, jobset: JobSetId) -> LossSpec {
        let mut now = Vec::new();
        for slice in ctx.store.jobs_of(jobset) {
            let pods = ctx.store.jobs[slice.ix()].pods.iter();
            for pod in pods.filter(|pod| ctx.store.pods.has(*pod, flag::READY)) {
                let node = ctx.store.pods.node[pod.ix()];
                now.push(TrainingHost { node, slice, lost: false });
            }
        }
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
