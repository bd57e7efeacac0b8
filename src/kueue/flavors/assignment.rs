//! The result of a flavor assignment.

use super::attempts::{Attempts, NoFitReason, no_fit_reason};
use super::mode::AssignmentMode;
use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name, Requests};
use crate::snapshot::{QueueSnapshot, Usage};
use crate::tas::TopologyAssignment;
use crate::topology::{PlacementRequests, Placements};
use crate::workload::{Info, LastAssignment, PodSetAdmission};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Assignment {
    pub pod_sets: Vec<PodSetAssignment>,
    /// Height of the smallest subtree with enough quota. Zero if nothing is borrowed.
    pub borrowing: usize,
    pub progress: LastAssignment,
    pub usage: Usage,
    pub no_fit: NoFitReason,
    /// A mode that replaces the mode of the pod sets.
    pub fixed_mode: Option<AssignmentMode>,
    /// What was placed into empty domains, and where.
    pub in_empty_domains: Option<(PlacementRequests, Placements)>,
}

/// Flavor of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorChoice {
    pub flavor: Name,
    pub mode: AssignmentMode,
    /// Index of the last flavor tried. `None` if all were tried.
    pub tried: Option<usize>,
    pub borrowing: usize,
}

#[derive(Clone, Debug)]
pub struct PodSetAssignment {
    pub name: String,
    pub count: u32,
    pub requests: Requests,
    /// Flavor by resource. Empty if the pod set fits into no flavor.
    pub flavors: BTreeMap<Name, FlavorChoice>,
    /// Reasons for which the pod set cannot start now.
    pub reasons: Vec<String>,
    /// An error, which replaces the reasons.
    pub error: Option<String>,
    pub topology: Option<TopologyAssignment>,
    pub attempts: Attempts,
}

impl PodSetAssignment {
    pub fn mode(&self) -> AssignmentMode {
        if self.error.is_some() {
            return AssignmentMode::NoFit;
        }
        if self.reasons.is_empty() {
            return AssignmentMode::Fit;
        }
        self.flavors.values().map(|choice| choice.mode).min().unwrap_or(AssignmentMode::NoFit)
    }

    pub fn set_mode(&mut self, mode: AssignmentMode) {
        self.flavors.values_mut().for_each(|choice| choice.mode = mode);
    }

    /// Returns the admission as Kueue writes it into the status.
    pub fn admission(&self) -> PodSetAdmission {
        let flavors = self.flavors.iter().map(|(resource, choice)| (resource.clone(), choice.flavor.clone()));
        let usage = self.flavors.keys().map(|resource| (resource.clone(), self.requests.get(resource)));
        PodSetAdmission {
            name: self.name.clone(),
            count: self.count,
            flavors: flavors.collect(),
            usage: usage.collect(),
            topology: self.topology.clone(),
        }
    }
}

impl Assignment {
    /// Returns the worst mode of the pod sets.
    pub fn mode(&self) -> AssignmentMode {
        let of_pod_sets = || self.pod_sets.iter().map(PodSetAssignment::mode).min();
        self.fixed_mode.or_else(of_pod_sets).unwrap_or(AssignmentMode::NoFit)
    }

    /// Sets the mode of all pod sets.
    pub fn set_mode(&mut self, mode: AssignmentMode) {
        self.fixed_mode = Some(mode);
        self.pod_sets.iter_mut().for_each(|pod_set| pod_set.set_mode(mode));
    }

    /// Sets the mode of one pod set, which becomes the mode of the assignment.
    pub fn set_pod_set_mode(&mut self, name: &str, mode: AssignmentMode) {
        if let Some(pod_set) = self.pod_sets.iter_mut().find(|p| p.name == name) {
            pod_set.set_mode(mode);
            self.fixed_mode = Some(mode);
        }
    }

    /// Returns the message of the condition QuotaReserved.
    pub fn message(&self) -> String {
        let mut parts = Vec::new();
        for pod_set in &self.pod_sets {
            if let Some(error) = &pod_set.error {
                return format!("failed to assign flavors to pod set {}: {error}", pod_set.name);
            }
            if !pod_set.reasons.is_empty() {
                let mut reasons = pod_set.reasons.clone();
                reasons.sort();
                parts.push(format!("couldn't assign flavors to pod set {}: {}", pod_set.name, reasons.join(", ")));
            }
        }
        parts.join("; ")
    }

    /// Adds a pod set with its usage and the progress of its search.
    pub fn push(&mut self, pod_set: PodSetAssignment) {
        let mut tried = BTreeMap::new();
        for (resource, choice) in &pod_set.flavors {
            self.borrowing = self.borrowing.max(choice.borrowing);
            let fr = FlavorResource { flavor: choice.flavor.clone(), resource: resource.clone() };
            *self.usage.quota.entry(fr).or_default() += pod_set.requests.get(resource);
            tried.insert(resource.clone(), choice.tried);
        }
        self.progress.tried.push(tried);
        self.pod_sets.push(pod_set);
    }

    /// Determines the reason for which the Workload does not fit.
    pub fn resolve_no_fit(&mut self, queue: &QueueSnapshot) {
        if self.mode() != AssignmentMode::NoFit {
            return;
        }
        let failed = self.pod_sets.iter().filter(|pod_set| pod_set.mode() == AssignmentMode::NoFit);
        let reason = |pod_set: &PodSetAssignment| {
            if pod_set.attempts.is_empty() {
                return NoFitReason::NoMatchingFlavor;
            }
            no_fit_reason(&pod_set.attempts, &queue.spec.resource_groups)
        };
        self.no_fit = failed.map(reason).max().unwrap_or_default();
    }

    /// Returns the requests of the Workload by assigned flavor. Zero requests need no flavor.
    pub fn total_requests(&self, info: &Info) -> FlavorAmounts {
        let mut total = FlavorAmounts::new();
        for (pod_set, requested) in self.pod_sets.iter().zip(&info.requests) {
            for (resource, amount) in requested.requests.iter().filter(|(_, amount)| *amount != Amount::ZERO) {
                if let Some(choice) = pod_set.flavors.get(resource) {
                    let fr = FlavorResource { flavor: choice.flavor.clone(), resource: resource.clone() };
                    *total.entry(fr).or_default() += amount;
                }
            }
        }
        total
    }

    /// Returns the resources in flavors that need a preemption.
    pub fn resources_to_preempt(&self) -> BTreeSet<FlavorResource> {
        let choices = self.pod_sets.iter().flat_map(|pod_set| &pod_set.flavors);
        let preempts = choices.filter(|(_, choice)| choice.mode == AssignmentMode::Preempt);
        let resource = |(resource, choice): (&Name, &FlavorChoice)| FlavorResource {
            flavor: choice.flavor.clone(),
            resource: resource.clone(),
        };
        preempts.map(resource).collect()
    }

    /// Returns the flavor of each resource by pod set.
    pub fn flavors_by_pod_set(&self) -> NominatedFlavors {
        let of_pod_set = |pod_set: &PodSetAssignment| {
            let flavors = pod_set.flavors.iter().map(|(resource, choice)| (resource.clone(), choice.flavor.clone()));
            (pod_set.name.clone(), flavors.collect())
        };
        self.pod_sets.iter().map(of_pod_set).collect()
    }
}

/// Flavors of the first nomination, to which a repeated assignment in the same cycle keeps.
pub type NominatedFlavors = BTreeMap<String, BTreeMap<Name, Name>>;
