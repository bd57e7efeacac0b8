//! The hosts of a training job at its last save, and how many of them it has lost since.
//!
//! A host counts as lost if its machine failed, its Node was replaced, or it has no pod of the job.

use crate::ctx::Ctx;
use crate::store::{NodeChange, flag};
use sim_api::spec::Loss;
use sim_base::*;

#[derive(Clone, Default)]
pub struct Hosts {
    all: Vec<Host>,
}

#[derive(Copy, Clone)]
struct Host {
    node: NodeId,
    /// The slice of the host: a child Job of the JobSet.
    slice: JobId,
    lost: bool,
}

impl Hosts {
    pub fn node_changed(&mut self, node: NodeId, change: NodeChange) {
        let wiped = matches!(
            change,
            NodeChange::Machine { dead: true } | NodeChange::Created | NodeChange::Gone
        );
        if wiped {
            let own = self.all.iter_mut().filter(|host| host.node == node);
            own.for_each(|host| host.lost = true);
        }
    }

    /// The job restarts on the hosts of its current pods; returns the loss of the previous hosts.
    pub fn move_to_now(&mut self, ctx: &Ctx<'_>, jobset: JobSetId) -> Loss {
        let mut now = Vec::new();
        for slice in ctx.store.jobs_of(jobset) {
            let pods = ctx.store.jobs[slice.ix()].pods.iter();
            for pod in pods.filter(|pod| ctx.store.pods.has(*pod, flag::READY)) {
                let node = ctx.store.pods.node[pod.ix()];
                now.push(Host {
                    node,
                    slice,
                    lost: false,
                });
            }
        }
        now.sort_unstable_by_key(|host| host.node);
        let is_here = |node| now.binary_search_by_key(&node, |host| host.node).is_ok();
        let mut lost: Vec<Host> = (self.all.iter().copied())
            .filter(|host| host.lost || !is_here(host.node))
            .collect();
        lost.sort_unstable_by_key(|host| (host.slice, host.node));
        lost.dedup_by_key(|host| (host.slice, host.node));
        self.all = now;
        let in_one = |pair: &[Host]| pair[0].slice == pair[1].slice;
        match lost.as_slice() {
            [] => Loss::Process,
            all if !all.windows(2).any(in_one) => Loss::Host,
            all if all.windows(2).all(in_one) => Loss::Slice,
            _ => Loss::All,
        }
    }
}
