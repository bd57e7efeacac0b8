//! Builds the quota tree from ClusterQueues and cohorts.

use super::tree::{NodeId, Quota, QuotaNode, QuotaTree};
use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name};
use sim_api::spec::kueue::{ClusterQueue, Cohort, FairWeight, ResourceGroup};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tree without usage. The nodes of the ClusterQueues are the first ones, in the given order.
pub struct BuiltTree {
    pub tree: QuotaTree,
    /// Whether the ClusterQueue is below cohorts that are their own ancestors. It is inactive then.
    pub is_in_cycle: Vec<bool>,
}

/// Builds the tree. Cohorts that are only named exist without quota.
pub fn build(queues: &[ClusterQueue], cohorts: &[Cohort]) -> BuiltTree {
    let mut tree = QuotaTree::default();
    for queue in queues {
        tree.nodes.push(node(&queue.name, &queue.resource_groups, queue.fair_weight));
    }
    let mut by_name: BTreeMap<String, NodeId> = BTreeMap::new();
    for cohort in cohorts {
        by_name.insert(cohort.name.clone(), tree.nodes.len());
        tree.nodes.push(node(&cohort.name, &cohort.resource_groups, cohort.fair_weight));
    }
    let named = queues.iter().filter_map(|queue| queue.cohort.as_ref());
    for name in named.chain(cohorts.iter().filter_map(|cohort| cohort.parent.as_ref())) {
        by_name.entry(name.clone()).or_insert_with(|| {
            tree.nodes.push(node(name, &[], FairWeight::default()));
            tree.nodes.len() - 1
        });
    }
    for (k, queue) in queues.iter().enumerate() {
        tree.nodes[k].parent = queue.cohort.as_ref().and_then(|name| by_name.get(name).copied());
    }
    for (k, cohort) in cohorts.iter().enumerate() {
        let parent = cohort.parent.as_ref().and_then(|name| by_name.get(name).copied());
        tree.nodes[queues.len() + k].parent = parent;
    }
    let has_cycle = |node: NodeId| tree.ancestors(node).nth(tree.nodes.len()).is_some();
    let cyclic: Vec<bool> = (0..tree.nodes.len()).map(has_cycle).collect();
    for (node, _) in tree.nodes.iter_mut().zip(&cyclic).filter(|(_, cyclic)| **cyclic) {
        node.parent = None;
    }
    link_children(&mut tree, queues.len());
    for root in (0..tree.nodes.len()).filter(|n| tree.nodes[*n].parent.is_none()).collect::<Vec<_>>() {
        set_subtree_quota(&mut tree, root);
    }
    BuiltTree { tree, is_in_cycle: cyclic[..queues.len()].to_vec() }
}

fn node(name: &str, groups: &[ResourceGroup], weight: FairWeight) -> QuotaNode {
    QuotaNode {
        name: Name::from(name),
        parent: None,
        cohorts: Arc::default(),
        queues: Arc::default(),
        quotas: Arc::new(quotas(groups)),
        subtree_quota: Arc::default(),
        usage: FlavorAmounts::new(),
        weight: weight.value(),
        is_inactive: false,
    }
}

fn quotas(groups: &[ResourceGroup]) -> BTreeMap<FlavorResource, Quota> {
    let flavors = groups.iter().flat_map(|group| &group.flavors);
    let of_flavor = flavors.flat_map(|flavor| flavor.resources.iter().map(move |resource| (flavor, resource)));
    let quota = |(flavor, resource): (&sim_api::spec::kueue::FlavorQuotas, &sim_api::spec::kueue::ResourceQuota)| {
        let amount = |milli: i64| Amount::from_milli(&resource.name, milli);
        let fr = FlavorResource { flavor: Name::from(&*flavor.name), resource: Name::from(&*resource.name) };
        let quota = Quota {
            nominal: amount(resource.nominal),
            borrowing_limit: resource.borrowing_limit.map(amount),
            lending_limit: resource.lending_limit.map(amount),
        };
        (fr, quota)
    };
    of_flavor.map(quota).collect()
}

fn link_children(tree: &mut QuotaTree, queues: usize) {
    let mut order: Vec<NodeId> = (0..tree.nodes.len()).collect();
    order.sort_by_key(|n| tree.nodes[*n].name.clone());
    let (mut of_queues, mut of_cohorts) = (vec![Vec::new(); tree.nodes.len()], vec![Vec::new(); tree.nodes.len()]);
    for node in order {
        if let Some(parent) = tree.nodes[node].parent {
            let list = if node < queues { &mut of_queues } else { &mut of_cohorts };
            list[parent].push(node);
        }
    }
    for ((node, queues), cohorts) in tree.nodes.iter_mut().zip(of_queues).zip(of_cohorts) {
        node.queues = Arc::new(queues);
        node.cohorts = Arc::new(cohorts);
    }
}

/// Sums the quotas of a node and of what its children lend, from the leaves upwards.
fn set_subtree_quota(tree: &mut QuotaTree, node: NodeId) {
    let mut sum: FlavorAmounts =
        tree.nodes[node].quotas.iter().map(|(fr, quota)| (fr.clone(), quota.nominal)).collect();
    let children: Vec<NodeId> =
        [&tree.nodes[node].cohorts, &tree.nodes[node].queues].into_iter().flat_map(|c| c.to_vec()).collect();
    for child in children {
        set_subtree_quota(tree, child);
        let child = &tree.nodes[child];
        for (fr, quota) in child.subtree_quota.iter() {
            *sum.entry(fr.clone()).or_default() += *quota - child.local_quota(fr);
        }
    }
    tree.nodes[node].subtree_quota = Arc::new(sum);
}
