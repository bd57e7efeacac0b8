//! More quota for the ClusterQueue of a Workload.

use super::change::QueueChange;
use super::free_nodes;
use super::smallest::{PendingCase, Remedy};
use super::trial::{PendingCause, VerdictKind};
use crate::amount::Amount;
use crate::flavors::affinity::untolerated_taint;
use crate::requests::{FlavorResource, Name, Requests};
use crate::snapshot::Snapshot;
use crate::workload::{Info, PodSetRequests};
use std::collections::BTreeMap;

/// Maximum number of combinations of flavors that are examined.
const COMBINATIONS_MAX: usize = 64;

/// Returns the smallest increases of the nominal quota or of the borrowing limit, in the flavors that need the least.
pub(super) fn more_quota(case: &PendingCase) -> Vec<Remedy> {
    let Some(requests) = FlavorRequests::new(case) else { return Vec::new() };
    let mut found: Vec<(Vec<QueueChange>, Remedy)> = Vec::new();
    for flavors in requests.combinations() {
        let shortages = requests.shortages(&flavors);
        if shortages.is_empty() {
            continue;
        }
        found.extend(requests.remedy(case, requests.nominal(&shortages)).or_else(|| requests.ahead(case, &shortages)));
    }
    let size = |changes: &[QueueChange]| changes.len();
    let mut best = found.into_iter().map(|(changes, remedy)| (size(&changes), remedy)).collect::<Vec<_>>();
    best.sort_by_key(|(size, _)| *size);
    let mut remedies: Vec<Remedy> = best.into_iter().map(|(_, remedy)| remedy).take(1).collect();
    remedies.extend(requests.larger_limits(case));
    remedies
}

/// What a Workload requests of the groups of flavors of its ClusterQueue.
struct FlavorRequests {
    cluster_queue: String,
    queue: usize,
    snapshot: Snapshot,
    /// Requests of all pods by resource group, with the flavors whose taints the pods tolerate.
    groups: Vec<(Requests, Vec<Name>)>,
}

/// A resource in a flavor and the missing amount.
#[derive(Clone)]
struct QuotaShortage {
    fr: FlavorResource,
    missing: Amount,
}

impl FlavorRequests {
    fn new(case: &PendingCase) -> Option<FlavorRequests> {
        let workload = case.state.workload(case.key)?;
        let manager = case.state.manager();
        let queue = manager.queue_of(workload)?;
        let snapshot = manager.cache.state.clone();
        let info = Info::new(case.key, workload.clone(), queue, &manager.configuration.resources);
        let mut sum = Requests::default();
        info.requests.iter().for_each(|pod_set: &PodSetRequests| sum.add(&pod_set.requests));
        let spec = snapshot.queues[queue].spec.clone();
        let pods: u32 = info.requests.iter().map(|pod_set| pod_set.count).sum();
        if snapshot.queues[queue].group_of("pods").is_some() {
            sum.set(Name::from("pods"), Amount(i64::from(pods)));
        }
        let tolerated = |name: &str| {
            let flavor = snapshot.flavors.get(name);
            flavor
                .is_some_and(|f| workload.pod_sets.iter().all(|set| untolerated_taint(f, &set.template.spec).is_none()))
        };
        let groups = spec.resource_groups.iter().map(|group| {
            let requests = sum.filtered(|resource| group.covered_resources.iter().any(|own| own == resource));
            let flavors = group.flavors.iter().filter(|flavor| tolerated(&flavor.name));
            (requests, flavors.map(|flavor| Name::from(flavor.name.as_str())).collect())
        });
        let groups: Vec<(Requests, Vec<Name>)> = groups.filter(|(requests, _)| !requests.is_empty()).collect();
        Some(FlavorRequests { cluster_queue: spec.name.clone(), queue, groups, snapshot })
    }

    /// Returns one flavor per group, in all combinations.
    fn combinations(&self) -> Vec<Vec<Name>> {
        let mut all = vec![Vec::new()];
        for (_, flavors) in &self.groups {
            all = all
                .into_iter()
                .flat_map(|chosen: Vec<Name>| {
                    flavors.iter().map(move |flavor| [&chosen[..], std::slice::from_ref(flavor)].concat())
                })
                .take(COMBINATIONS_MAX)
                .collect();
        }
        all
    }

    fn shortages(&self, flavors: &[Name]) -> Vec<QuotaShortage> {
        let mut shortages = Vec::new();
        for ((requests, _), flavor) in self.groups.iter().zip(flavors) {
            for (resource, amount) in requests.iter() {
                let fr = FlavorResource { flavor: flavor.clone(), resource: resource.clone() };
                let missing = amount - self.snapshot.available(self.queue, &fr);
                if missing > Amount::ZERO {
                    shortages.push(QuotaShortage { fr, missing });
                }
            }
        }
        shortages
    }

    fn nominal(&self, shortages: &[QuotaShortage]) -> Vec<QueueChange> {
        let increase = |shortage: &QuotaShortage| QueueChange::NominalQuota {
            cluster_queue: self.cluster_queue.clone(),
            flavor: shortage.fr.flavor.clone(),
            resource: shortage.fr.resource.clone(),
            by: shortage.missing,
        };
        shortages.iter().map(increase).collect()
    }

    /// Returns the smallest increases if other pending Workloads take a part of them first.
    fn ahead(&self, case: &PendingCase, shortages: &[QuotaShortage]) -> Option<(Vec<QueueChange>, Remedy)> {
        let resources = &case.state.objects.configuration.resources;
        let mut pending: BTreeMap<Name, Amount> = BTreeMap::new();
        for (key, workload) in case.state.workloads.iter().enumerate() {
            let Some(workload) = workload.as_ref().filter(|w| key != case.key && w.is_admissible()) else { continue };
            let info = Info::new(key, workload.clone(), self.queue, resources);
            for (resource, amount) in info.requests.iter().flat_map(|pod_set| pod_set.requests.iter()) {
                *pending.entry(resource.clone()).or_default() += amount;
            }
        }
        let of = |resource: &Name| pending.get(resource).copied().unwrap_or_default();
        let largest = |shortage: &QuotaShortage| QuotaShortage {
            fr: shortage.fr.clone(),
            missing: shortage.missing + of(&shortage.fr.resource),
        };
        let mut amounts: Vec<QuotaShortage> = shortages.iter().map(largest).collect();
        for at in 0..amounts.len() {
            let least = shortages[at].missing;
            let with = |by: i64| {
                let tried = amounts.iter().enumerate().map(|(k, amount)| QuotaShortage {
                    fr: amount.fr.clone(),
                    missing: if k == at { least + Amount(by) } else { amount.missing },
                });
                self.nominal(&tried.collect::<Vec<_>>())
            };
            let smallest = case.smallest((amounts[at].missing - least).0, with)?;
            amounts[at].missing = least + Amount(smallest);
        }
        self.remedy(case, self.nominal(&amounts))
    }

    /// Tries increases. If topology is then the only restriction, free nodes are added.
    fn remedy(&self, case: &PendingCase, changes: Vec<QueueChange>) -> Option<(Vec<QueueChange>, Remedy)> {
        let verdict = case.verdict(&changes)?;
        if verdict.kind == VerdictKind::Pending(PendingCause::Topology) {
            let both = free_nodes::more_nodes(case, &changes)?;
            return Some((both.changes.clone(), both));
        }
        let remedy = Remedy { changes: changes.clone(), preempted: verdict.preempted.clone() };
        verdict.is_admitted().then_some((changes, remedy))
    }

    /// Returns the smallest increase of one borrowing limit.
    fn larger_limits(&self, case: &PendingCase) -> Option<Remedy> {
        let node = self.snapshot.node(self.queue);
        node.parent?;
        self.combinations().iter().find_map(|flavors| {
            let shortages = self.shortages(flavors);
            let limit = |shortage: &QuotaShortage| {
                node.quota(&shortage.fr).borrowing_limit?;
                Some(QueueChange::BorrowingLimit {
                    cluster_queue: self.cluster_queue.clone(),
                    flavor: shortage.fr.flavor.clone(),
                    resource: shortage.fr.resource.clone(),
                    by: shortage.missing,
                })
            };
            let changes: Vec<QueueChange> = shortages.iter().map(limit).collect::<Option<_>>()?;
            case.admits(&changes).then(|| Remedy { changes, preempted: Vec::new() })
        })
    }
}
