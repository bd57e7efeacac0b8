//! More quota for the ClusterQueue of a Workload.

use super::case::{ChangeResult, PendingCase, Remedy};
use super::change::QueueChange;
use super::free_nodes;
use super::state::QueueState;
use super::trial::run_trial;
use crate::amount::Amount;
use crate::control::Manager;
use crate::flavors::affinity::untolerated_taint;
use crate::requests::{FlavorResource, Name, Requests};
use crate::snapshot::Snapshot;
use crate::workload::info::QueueIndex;
use crate::workload::{Info, PodSetRequests, Workload, WorkloadKey};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// Requests of the Workloads in the same tree of queues that are submitted later.
    later: Requests,
    /// Divisor of all amounts, by resource.
    steps: BTreeMap<Name, i64>,
    /// Whether decisions depend on ratios of amounts.
    has_ratios: bool,
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
        let later = later_infos(case, &manager, queue);
        let steps = steps(case.state, &manager, queue, &later);
        let has_ratios = manager.configuration.fair_sharing.is_some();
        let later = sum_of(&later);
        Some(FlavorRequests { cluster_queue: spec.name.clone(), queue, snapshot, groups, later, steps, has_ratios })
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

    /// Returns increases with which the Workload probably gets these flavors. Each trial gives the amount that is still
    /// missing after other Workloads have taken their part.
    fn increases_to_try(&self, case: &PendingCase, flavors: &[Name], field: QuotaField) -> Option<Vec<QuotaShortage>> {
        let mut amounts: Vec<QuotaShortage> = Vec::new();
        let mut unchanged: Option<Vec<QuotaShortage>> = None;
        for _ in 0..INCREASES_MAX {
            let state = case.with(&self.increases(&amounts, field));
            let (verdict, trial) = run_trial(&state, case.key)?;
            if verdict.is_admitted() {
                break;
            }
            let snapshot = &trial.driver.manager.cache.state;
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
        (!amounts.is_empty()).then_some(amounts)
    }

    /// Returns increases that suffice for the Workloads that are submitted later as well, in the flavors of this one.
    fn with_later(&self, flavors: &[Name], amounts: &[QuotaShortage]) -> Vec<QuotaShortage> {
        let mut more = amounts.to_vec();
        for ((requests, _), flavor) in self.groups.iter().zip(flavors) {
            for (resource, _) in requests.iter() {
                let missing = self.later.get(resource);
                if missing <= Amount::ZERO {
                    continue;
                }
                let fr = FlavorResource { flavor: flavor.clone(), resource: resource.clone() };
                match more.iter_mut().find(|amount| amount.fr == fr) {
                    Some(amount) => amount.missing += missing,
                    None => more.push(QuotaShortage { fr, missing }),
                }
            }
        }
        more
    }

    /// Returns the smallest increases with which the Workload gets these flavors: none of them can be smaller if the
    /// others stay. If other Workloads then lack the quota that this one uses, the search begins with an increase that
    /// suffices for all.
    fn smallest_increase(
        &self, case: &PendingCase, flavors: &[Name], field: QuotaField,
    ) -> Option<(Vec<QuotaShortage>, Remedy)> {
        let mut amounts = self.increases_to_try(case, flavors, field)?;
        let found = self.remedy(case, &self.increases(&amounts, field));
        let mut remedy = found.or_else(|| {
            amounts = self.with_later(flavors, &amounts);
            self.remedy(case, &self.increases(&amounts, field))
        })?;
        while let Some((at, (amount, smaller))) =
            (0..amounts.len()).find_map(|at| Some((at, self.smaller(case, &amounts, at, field, &remedy)?)))
        {
            amounts[at].missing = amount;
            remedy = smaller;
        }
        (!remedy.changes.is_empty()).then_some((amounts, remedy))
    }

    /// Returns the smallest value of one of the amounts below its present one, in a remedy with no more changes.
    fn smaller(
        &self, case: &PendingCase, amounts: &[QuotaShortage], at: usize, field: QuotaField, remedy: &Remedy,
    ) -> Option<(Amount, Remedy)> {
        let with = |by: i64| {
            let mut tried = amounts.to_vec();
            tried[at].missing = Amount(by);
            let found = self.remedy(case, &self.increases(&tried, field))?;
            (found.changes.len() <= remedy.changes.len()).then_some(found)
        };
        let step = self.steps.get(&amounts[at].fr.resource).copied().unwrap_or(1).max(1);
        let most = (amounts[at].missing.0 - 1).div_euclid(step);
        let (number, mut found) = case.smallest_of(0..=most, |number| with(number * step))?;
        let mut high = number * step;
        if self.has_ratios {
            let mut low = high - step;
            while high - low.max(-1) > 1 {
                let middle = low.max(-1) + (high - low.max(-1)) / 2;
                match with(middle) {
                    Some(smaller) => (high, found) = (middle, smaller),
                    None => low = middle,
                }
            }
        }
        Some((Amount(high), found))
    }

    /// Tries increases. If topology is then the only restriction, free nodes are added.
    fn remedy(&self, case: &PendingCase, changes: &[QueueChange]) -> Option<Remedy> {
        match case.attempt(changes) {
            ChangeResult::Starts(remedy) => Some(remedy),
            ChangeResult::LacksTopology => free_nodes::more_nodes(case, changes, &free_nodes::requested_domains(case)),
            ChangeResult::Fails => None,
        }
    }
}

/// Returns a divisor of all amounts in the tree of a ClusterQueue, by resource. Kueue compares sums of them, so that
/// its decisions change only at multiples of the divisor.
fn steps(state: &QueueState, manager: &Manager, queue: QueueIndex, later: &[Info]) -> BTreeMap<Name, i64> {
    let mut steps: BTreeMap<Name, i64> = BTreeMap::new();
    let mut add = |resource: &Name, amount: Amount| {
        if amount != Amount::UNLIMITED {
            let step = steps.entry(resource.clone()).or_default();
            *step = gcd(*step, amount.0.saturating_abs());
        }
    };
    let tree = &manager.cache.state.tree;
    let root = tree.root(queue);
    for node in (0..tree.nodes.len()).filter(|node| tree.root(*node) == root) {
        for (fr, quota) in tree.nodes[node].quotas.iter() {
            let limits = [Some(quota.nominal), quota.borrowing_limit, quota.lending_limit];
            limits.into_iter().flatten().for_each(|amount| add(&fr.resource, amount));
        }
    }
    let pods = Name::from("pods");
    let known = state.workloads.iter().enumerate().filter_map(|(key, workload)| Some((key, workload.clone()?)));
    let known: Vec<Info> = known.filter_map(|(key, workload)| info_in_tree(key, workload, manager, root)).collect();
    for pod_set in known.iter().chain(later).flat_map(|info| &info.requests) {
        pod_set.requests.iter().for_each(|(resource, amount)| add(resource, amount));
        add(&pods, Amount(i64::from(pod_set.count)));
    }
    steps
}

/// Returns the requests of a Workload if its ClusterQueue is in the tree of this root.
fn info_in_tree(key: WorkloadKey, workload: Arc<Workload>, manager: &Manager, root: usize) -> Option<Info> {
    let tree = &manager.cache.state.tree;
    let index = manager.queue_of(&workload).filter(|index| tree.root(*index) == root)?;
    Some(Info::new(key, workload, index, &manager.configuration.resources))
}

/// Returns the requests of the Workloads that are submitted later, in the tree of a ClusterQueue.
fn later_infos(case: &PendingCase, manager: &Manager, queue: QueueIndex) -> Vec<Info> {
    let root = manager.cache.state.tree.root(queue);
    let later = case.trials.later_workloads().into_iter();
    later.filter_map(|workload| info_in_tree(case.key, workload, manager, root)).collect()
}

fn sum_of(infos: &[Info]) -> Requests {
    let mut sum = Requests::default();
    for pod_set in infos.iter().flat_map(|info| &info.requests) {
        sum.add(&pod_set.requests);
        let pods = Name::from("pods");
        sum.set(pods.clone(), sum.get(&pods) + Amount(i64::from(pod_set.count)));
    }
    sum
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
