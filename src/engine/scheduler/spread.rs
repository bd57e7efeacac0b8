//! Pods of JobSets by node, for the default constraints of PodTopologySpread: they apply to a pod without constraints
//! that a Service selects, and the headless Service of a JobSet selects all its pods.
//!
//! The pods of a JobSet are counted from the first cycle on whose result may depend on them.

use crate::store::{ObjectStore, flag};
use sim_base::{JobSetId, NodeId, PodId, TemplateId, ZoneId};
use sim_scheduler::plugins::pod_topology_spread_score::{normalize, raw_score, size_weight};
use sim_scheduler::pod_terms::DEFAULT_SPREAD;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub struct DefaultSpread {
    /// The first JobSet with the namespace and name of each JobSet: a selector selects the pods of all of them.
    first_named: Vec<JobSetId>,
    by_name: BTreeMap<(String, String), JobSetId>,
    counted: BTreeMap<JobSetId, Vec<ZoneCounts>>,
    /// Number of counted pods by node and JobSet.
    on_node: Vec<Vec<(JobSetId, i64)>>,
    /// Whether the pod is counted.
    is_counted: Vec<bool>,
    /// Namespaces with a Service that no JobSet owns, after this number of changes.
    foreign_namespaces: BTreeSet<String>,
    service_changes: Option<u64>,
}

/// Number of pods by zone, on the nodes that the node selector and the node affinity of a template allow.
#[derive(Clone)]
struct ZoneCounts {
    template: TemplateId,
    /// Empty if all nodes are allowed.
    allowed: Vec<bool>,
    pods: Vec<i64>,
}

impl ZoneCounts {
    fn add(&mut self, store: &ObjectStore, node: NodeId, by: i64) {
        let zone = store.nodes.cluster.zone[node.ix()];
        if self.allowed.get(node.ix()).copied().unwrap_or(self.allowed.is_empty()) {
            if self.pods.len() <= zone.ix() {
                self.pods.resize(zone.ix() + 1, 0);
            }
            self.pods[zone.ix()] += by;
        }
    }
}

impl DefaultSpread {
    /// Forgets all counts, which depend on the labels of nodes and on which nodes exist.
    pub fn forget_counts(&mut self) {
        self.counted.clear();
        self.on_node.clear();
        self.is_counted.clear();
    }

    /// Returns whether a Service that no JobSet owns may select pods of the namespace.
    pub fn has_foreign_service(&mut self, store: &ObjectStore, namespace: &str) -> bool {
        if self.service_changes != Some(store.others.service_changes) {
            self.service_changes = Some(store.others.service_changes);
            let services = store.others.services();
            let foreign = services.filter(|(_, service)| !service.jobset.is_some());
            self.foreign_namespaces = foreign.map(|(namespace, _)| namespace.to_owned()).collect();
        }
        !self.foreign_namespaces.is_empty() && self.foreign_namespaces.contains(namespace)
    }

    /// Counts a pod that holds a node from now on.
    pub fn add(&mut self, store: &ObjectStore, pod: PodId, node: NodeId) {
        let jobset = store.labelled_jobset(pod);
        if self.counted.is_empty() || !jobset.is_some() {
            return;
        }
        let jobset = self.first_named(store, jobset);
        let counts = store.nodes.exists(node) && !store.pods.has(pod, flag::DELETING);
        if counts && self.counted.contains_key(&jobset) {
            self.is_counted.resize(self.is_counted.len().max(pod.ix() + 1), false);
            self.is_counted[pod.ix()] = true;
            self.change(store, jobset, node, 1);
        }
    }

    /// Counts a pod no longer, which releases its node or is being deleted.
    pub fn remove(&mut self, store: &ObjectStore, pod: PodId, node: NodeId) {
        if self.is_counted.get(pod.ix()) == Some(&true) {
            self.is_counted[pod.ix()] = false;
            let jobset = self.first_named(store, store.labelled_jobset(pod));
            self.change(store, jobset, node, -1);
        }
    }

    fn change(&mut self, store: &ObjectStore, jobset: JobSetId, node: NodeId, by: i64) {
        if self.on_node.len() <= node.ix() {
            self.on_node.resize_with(store.nodes.len(), Vec::new);
        }
        let here = &mut self.on_node[node.ix()];
        match here.iter_mut().find(|(other, _)| *other == jobset) {
            Some((_, pods)) => *pods += by,
            None => here.push((jobset, by)),
        }
        here.retain(|(_, pods)| *pods > 0);
        let zones = self.counted.get_mut(&jobset).into_iter().flatten();
        zones.for_each(|zone| zone.add(store, node, by));
    }

    fn first_named(&mut self, store: &ObjectStore, jobset: JobSetId) -> JobSetId {
        for row in self.first_named.len()..=jobset.ix() {
            let id = JobSetId(row as u32);
            let key = (store.names.namespace(id).to_owned(), store.names.jobsets[row].name.clone());
            self.first_named.push(*self.by_name.entry(key).or_insert(id));
        }
        self.first_named[jobset.ix()]
    }

    fn pods_on(&self, jobset: JobSetId, node: NodeId) -> i64 {
        let here = self.on_node.get(node.ix()).into_iter().flatten();
        here.filter(|(other, _)| *other == jobset).map(|(_, pods)| *pods).sum()
    }

    /// Returns the scores of nodes that fit the pod. `held` is the node that each pod holds.
    pub fn scores(&mut self, store: &ObjectStore, held: &[NodeId], pod: PodId, fitting: &[NodeId]) -> Vec<i64> {
        let jobset = self.first_named(store, store.labelled_jobset(pod));
        let by_zone = self.pods_by_zone(store, held, jobset, pod);
        let cluster = &store.nodes.cluster;
        let zone = |node: NodeId| cluster.zone[node.ix()];
        let mut zones: Vec<ZoneId> = fitting.iter().map(|node| zone(*node)).collect();
        zones.sort_unstable();
        zones.dedup();
        let [(_, host_skew), (_, zone_skew)] = DEFAULT_SPREAD;
        let (host_weight, zone_weight) = (size_weight(fitting.len()), size_weight(zones.len()));
        let raw = |node: &NodeId| {
            let pods = || (self.pods_on(jobset, *node), host_skew, host_weight);
            let in_zone = || (by_zone.get(zone(*node).ix()).copied().unwrap_or(0), zone_skew, zone_weight);
            let host = cluster.has_hostname(*node).then(pods);
            raw_score(host.into_iter().chain(cluster.zone_name(zone(*node)).map(|_| in_zone())))
        };
        let scores: Vec<Option<i64>> = fitting.iter().map(|node| Some(raw(node))).collect();
        normalize(&scores)
    }

    /// Returns the number of the JobSet's pods by zone, on the nodes that the pod may use by its labels.
    fn pods_by_zone(&mut self, store: &ObjectStore, held: &[NodeId], jobset: JobSetId, pod: PodId) -> Vec<i64> {
        let template = store.pods.template[pod.ix()];
        if let Entry::Vacant(entry) = self.counted.entry(jobset) {
            entry.insert(Vec::new());
            let holding = held.iter().enumerate().filter(|(_, node)| node.is_some());
            for (other, node) in holding.map(|(row, node)| (PodId(row as u32), *node)) {
                let of_jobset = store.labelled_jobset(other);
                if of_jobset.is_some() && self.first_named(store, of_jobset) == jobset {
                    self.add(store, other, node);
                }
            }
        }
        let known = self.counted[&jobset].iter().position(|counts| counts.template == template);
        let at = known.unwrap_or_else(|| self.count_zones(store, jobset, template));
        let counts = &self.counted[&jobset][at];
        let domain = store.pods.domain[pod.ix()];
        let key = store.template(pod).exclusive.filter(|_| domain.is_some() && !store.is_leader(pod));
        let Some(key) = key else { return counts.pods.clone() };
        let mut in_domain = ZoneCounts { pods: Vec::new(), ..counts.clone() };
        for node in &store.templates.domains[key as usize].nodes[domain.ix()] {
            in_domain.add(store, *node, self.pods_on(jobset, *node));
        }
        in_domain.pods
    }

    fn count_zones(&mut self, store: &ObjectStore, jobset: JobSetId, template: TemplateId) -> usize {
        let (nodes, stored) = (0..store.nodes.len() as u32, store.templates.get(template));
        let is_allowed = |node: u32| stored.facts.choice.matches(&store.nodes.cluster, NodeId(node));
        let restricts = stored.pod.spec.restricts_nodes();
        let allowed = if restricts { nodes.clone().map(is_allowed).collect() } else { Vec::new() };
        let mut counts = ZoneCounts { template, allowed, pods: Vec::new() };
        nodes.map(NodeId).for_each(|node| counts.add(store, node, self.pods_on(jobset, node)));
        let known = self.counted.entry(jobset).or_default();
        known.push(counts);
        known.len() - 1
    }
}
