//! More quota for the ClusterQueue of a Workload.

use super::case::{PendingCase, Remedy};
use super::change::QueueChange;
use super::free_nodes;
use super::trial::{PendingCause, VerdictKind, run_trial};
use crate::amount::Amount;
use crate::flavors::affinity::untolerated_taint;
use crate::requests::{FlavorResource, Name, Requests};
use crate::snapshot::Snapshot;
use crate::workload::{Info, PodSetRequests, WorkloadKey};

/// Maximum number of combinations of flavors that are examined.
const COMBINATIONS_MAX: usize = 64;

/// Maximum number of increases that are tried until the Workload has quota.
const INCREASES_MAX: usize = 32;

/// Returns the smallest increases of the nominal quota and of the borrowing limit, in the flavors that need the least.
pub(super) fn more_quota(case: &PendingCase) -> Vec<Remedy> {
    let Some(requests) = FlavorRequests::new(case, case.key) else { return Vec::new() };
    let best = |field: QuotaField| {
        let combinations = requests.combinations();
        let found = combinations.iter().filter_map(|flavors| requests.smallest_increase(case, flavors, field));
        found.min_by_key(|(shortages, remedy)| {
            let amounts: Vec<Amount> = shortages.iter().map(|shortage| shortage.missing).collect();
            (remedy.changes.len(), amounts)
        })
    };
    let has_parent = requests.snapshot.parent(requests.queue).is_some();
    let limits = if has_parent { best(QuotaField::BorrowingLimit) } else { None };
    best(QuotaField::Nominal).into_iter().chain(limits).map(|(_, remedy)| remedy).collect()
}

/// The field of a quota that is increased.
#[derive(Copy, Clone, PartialEq, Eq)]
enum QuotaField {
    Nominal,
    BorrowingLimit,
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
#[derive(Clone, PartialEq, Eq)]
struct QuotaShortage {
    fr: FlavorResource,
    missing: Amount,
}

impl FlavorRequests {
    fn new(case: &PendingCase, key: WorkloadKey) -> Option<FlavorRequests> {
        let workload = case.state.workload(key)?;
        let manager = case.state.manager();
        let queue = manager.queue_of(workload)?;
        let snapshot = manager.cache.state.clone();
        let info = Info::new(key, workload.clone(), queue, &manager.configuration.resources);
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

    /// Returns the resources of which the state of a trial has too little left.
    fn shortages(&self, flavors: &[Name], snapshot: &Snapshot) -> Vec<QuotaShortage> {
        let mut shortages = Vec::new();
        for ((requests, _), flavor) in self.groups.iter().zip(flavors) {
            for (resource, amount) in requests.iter() {
                let fr = FlavorResource { flavor: flavor.clone(), resource: resource.clone() };
                let missing = amount - snapshot.tree.available(self.queue, &fr);
                if missing > Amount::ZERO {
                    shortages.push(QuotaShortage { fr, missing });
                }
            }
        }
        shortages
    }

    fn increases(&self, shortages: &[QuotaShortage], field: QuotaField) -> Vec<QueueChange> {
        let increase = |shortage: &QuotaShortage| {
            let (cluster_queue, by) = (self.cluster_queue.clone(), shortage.missing);
            let (flavor, resource) = (shortage.fr.flavor.clone(), shortage.fr.resource.clone());
            match field {
                QuotaField::Nominal => QueueChange::NominalQuota { cluster_queue, flavor, resource, by },
                QuotaField::BorrowingLimit => QueueChange::BorrowingLimit { cluster_queue, flavor, resource, by },
            }
        };
        shortages.iter().filter(|shortage| shortage.missing > Amount::ZERO).map(increase).collect()
    }

    /// Returns the smallest increases with which the Workload gets these flavors. Each trial gives the amount that is
    /// still missing after other Workloads have taken their part.
    fn smallest_increase(
        &self, case: &PendingCase, flavors: &[Name], field: QuotaField,
    ) -> Option<(Vec<QuotaShortage>, Remedy)> {
        let mut amounts: Vec<QuotaShortage> = Vec::new();
        let mut unchanged: Option<Vec<QuotaShortage>> = None;
        for _ in 0..INCREASES_MAX {
            let state = case.with(&self.increases(&amounts, field));
            let (verdict, trial) = run_trial(&state, case.key)?;
            if verdict.is_admitted() {
                break;
            }
            let snapshot = &trial.manager.cache.state;
            let mut missing = self.shortages(flavors, snapshot);
            if let Some(head) = verdict.behind.filter(|_| missing.is_empty()) {
                missing = FlavorRequests::new(case, head)?.shortages(flavors, snapshot);
            }
            if missing.is_empty() || unchanged.as_ref() == Some(&missing) {
                break;
            }
            let node = self.snapshot.node(self.queue);
            for shortage in &missing {
                if field == QuotaField::BorrowingLimit {
                    node.quota(&shortage.fr).borrowing_limit?;
                }
                match amounts.iter_mut().find(|amount| amount.fr == shortage.fr) {
                    Some(amount) => amount.missing += shortage.missing,
                    None => amounts.push(shortage.clone()),
                }
            }
            // A larger borrowing limit has no effect if the cohort has nothing left.
            unchanged = (field == QuotaField::BorrowingLimit).then_some(missing);
        }
        if amounts.is_empty() {
            return None;
        }
        let mut remedy = self.remedy(case, &self.increases(&amounts, field))?;
        for at in 0..amounts.len() {
            let with = |by: i64| {
                let mut tried = amounts.clone();
                tried[at].missing = Amount(by);
                self.increases(&tried, field)
            };
            // Preemption may do with less.
            let most = amounts[at].missing.0 - 1;
            if let Some(smaller) = self.remedy(case, &with(most)) {
                remedy = smaller;
                let (mut low, mut high) = (-1, most);
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    match self.remedy(case, &with(middle)) {
                        Some(smaller) => (high, remedy) = (middle, smaller),
                        None => low = middle,
                    }
                }
                amounts[at].missing = Amount(high);
            }
        }
        (!remedy.changes.is_empty()).then_some((amounts, remedy))
    }

    /// Tries increases. If topology is then the only restriction, free nodes are added.
    fn remedy(&self, case: &PendingCase, changes: &[QueueChange]) -> Option<Remedy> {
        let verdict = case.verdict(changes)?;
        if verdict.kind == VerdictKind::Pending(PendingCause::Topology) {
            return free_nodes::more_nodes(case, changes, &free_nodes::requested_domains(case));
        }
        if verdict.is_admitted() { case.remedy(changes) } else { None }
    }
}
