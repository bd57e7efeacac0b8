//! The state that one scheduling cycle works on: quotas, usage, and the Workloads with a reservation.
//!
//! A cycle works on the live state and undoes its changes at the end, so that it copies nothing.

use crate::amount::Amount;
use crate::quota::{NodeId, QuotaNode, QuotaTree};
use crate::requests::{FlavorAmounts, FlavorResource, Name};
use crate::topology::{TopologySnapshot, TopologyUsage};
use crate::workload::info::QueueIndex;
use crate::workload::{Info, WorkloadKey};
use sim_api::spec::kueue::{ClusterQueue, ResourceFlavor, ResourceGroup};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Snapshot {
    pub tree: QuotaTree,
    /// ClusterQueues. The index is also the index of their node in the tree.
    pub queues: Vec<QueueSnapshot>,
    pub flavors: Arc<BTreeMap<Name, ResourceFlavor>>,
    pub topology: TopologySnapshot,
}

#[derive(Clone, Debug)]
pub struct QueueSnapshot {
    pub spec: Arc<ClusterQueue>,
    pub is_active: bool,
    /// Workloads with a reservation.
    pub workloads: BTreeMap<WorkloadKey, Arc<Info>>,
    /// Grows when quota becomes free or changes.
    pub generation: u64,
    /// Whether all flavors have a topology.
    pub topology_only: bool,
}

/// Usage of quota and of topology domains.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    pub quota: FlavorAmounts,
    pub topology: TopologyUsage,
}

/// Whether an assignment still fits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FitsCheck {
    Fits,
    NoQuota,
    NoTopology,
}

impl QueueSnapshot {
    /// Returns the resource group that covers a resource.
    pub fn group_of(&self, resource: &str) -> Option<&ResourceGroup> {
        self.spec.resource_groups.iter().find(|group| group.covered_resources.iter().any(|r| r == resource))
    }
}

impl Snapshot {
    pub fn node(&self, queue: QueueIndex) -> &QuotaNode {
        &self.tree.nodes[queue]
    }

    /// Returns what a ClusterQueue can still use.
    pub fn available(&self, queue: QueueIndex, fr: &FlavorResource) -> Amount {
        self.tree.available(queue, fr).max(Amount::ZERO)
    }

    /// Returns the parent cohort of a ClusterQueue.
    pub fn parent(&self, queue: QueueIndex) -> Option<NodeId> {
        self.node(queue).parent
    }

    pub fn add_usage(&mut self, queue: QueueIndex, usage: &Usage) {
        usage.quota.iter().for_each(|(fr, amount)| self.tree.add_usage(queue, fr, *amount));
        self.topology.add(&usage.topology);
    }

    pub fn remove_usage(&mut self, queue: QueueIndex, usage: &Usage) {
        usage.quota.iter().for_each(|(fr, amount)| self.tree.remove_usage(queue, fr, *amount));
        self.topology.remove(&usage.topology);
    }

    /// Returns whether the usage fits into what is left.
    pub fn fits(&self, queue: QueueIndex, usage: &Usage) -> FitsCheck {
        if usage.quota.iter().any(|(fr, amount)| self.available(queue, fr) < *amount) {
            return FitsCheck::NoQuota;
        }
        if self.topology.fits(&usage.topology) { FitsCheck::Fits } else { FitsCheck::NoTopology }
    }

    /// Returns the usage of a Workload with a reservation.
    pub fn usage_of(&self, info: &Info) -> Usage {
        Usage { quota: info.usage(), topology: self.topology.usage_of(info) }
    }

    /// Removes a Workload and its usage.
    pub fn remove_workload(&mut self, info: &Arc<Info>) {
        self.queues[info.queue].workloads.remove(&info.key);
        self.remove_usage(info.queue, &self.usage_of(info));
    }

    /// Adds a Workload and its usage.
    pub fn add_workload(&mut self, info: &Arc<Info>) {
        self.queues[info.queue].workloads.insert(info.key, info.clone());
        self.add_usage(info.queue, &self.usage_of(info));
    }

    /// Runs `f` without the usage of the given Workloads.
    pub fn without_usage_of<T>(&mut self, infos: &[Arc<Info>], f: impl FnOnce(&mut Snapshot) -> T) -> T {
        let usages: Vec<(QueueIndex, Usage)> = infos.iter().map(|info| (info.queue, self.usage_of(info))).collect();
        usages.iter().for_each(|(queue, usage)| self.remove_usage(*queue, usage));
        let result = f(self);
        usages.iter().for_each(|(queue, usage)| self.add_usage(*queue, usage));
        result
    }
}
