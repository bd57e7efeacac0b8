//! Finds a flavor for each resource of each pod set (`flavorassigner.go`).

use super::affinity::{matches_labels, taint_message, untolerated_taint};
use super::assignment::{Assignment, FlavorChoice, NominatedFlavors, PodSetAssignment};
use super::attempts::{Attempt, Attempts, NoFitReason, merge};
use super::mode::{AssignmentMode, GranularMode, PreemptionMode, PreemptionPossibility};
use super::topology::mismatch;
use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name, Requests};
use crate::snapshot::{QueueSnapshot, Snapshot, Usage};
use crate::workload::info::QueueIndex;
use crate::workload::{Info, LastAssignment, PodSetRequests};
use sim_api::spec::kueue::{PreemptionPolicy, ResourceGroup};
use std::collections::BTreeMap;

/// Resource of the number of pods. It is counted if the ClusterQueue covers it.
const PODS: &str = "pods";

/// Simulates a preemption for one resource in one flavor. Returns the possibility, and the height from which the
/// Workload borrows afterwards.
pub trait PreemptionOracle {
    fn simulate(
        &self, snapshot: &mut Snapshot, info: &Info, fr: &FlavorResource, amount: Amount,
    ) -> (PreemptionPossibility, usize);
}

pub struct FlavorAssigner<'a> {
    pub info: &'a Info,
    pub oracle: &'a dyn PreemptionOracle,
    pub is_fair_sharing: bool,
    /// Whether resources that the ClusterQueue does not cover are ignored.
    pub ignores_undeclared: bool,
    /// Flavors of the first nomination in this cycle, which must be kept.
    pub nominated: Option<&'a NominatedFlavors>,
    pub cycle: u64,
}

/// Flavors for the resources of one group of pod sets.
#[derive(Default)]
struct GroupResult {
    flavors: BTreeMap<Name, FlavorChoice>,
    reasons: Vec<String>,
    error: Option<String>,
    attempts: Attempts,
}

impl FlavorAssigner<'_> {
    fn queue(&self) -> QueueIndex {
        self.info.queue
    }

    /// Assigns flavors to all pod sets. The assignment ends at the first pod set without a flavor.
    pub fn assign(&self, snapshot: &mut Snapshot) -> Assignment {
        let mut assignment = Assignment {
            pod_sets: Vec::new(),
            borrowing: 0,
            progress: LastAssignment {
                tried: Vec::new(),
                generation: snapshot.queues[self.queue()].generation,
                cycle: self.cycle,
                shape: self.info.shape,
            },
            usage: Usage::default(),
            no_fit: NoFitReason::None,
            fixed_mode: None,
            in_empty_domains: None,
        };
        let requests = self.counted_requests(&snapshot.queues[self.queue()]);
        for indices in self.groups() {
            if !self.assign_group(snapshot, &indices, &requests, &mut assignment) {
                assignment.resolve_no_fit(&snapshot.queues[self.queue()]);
                return assignment;
            }
        }
        if assignment.mode() != AssignmentMode::NoFit {
            self.assign_topology(snapshot, &mut assignment);
        }
        assignment.resolve_no_fit(&snapshot.queues[self.queue()]);
        assignment
    }

    /// Returns the requests of the pod sets, with the number of pods if that is counted.
    fn counted_requests(&self, queue: &QueueSnapshot) -> Vec<PodSetRequests> {
        let mut requests = self.info.requests.clone();
        if queue.group_of(PODS).is_some() {
            for pod_set in &mut requests {
                pod_set.requests.set(Name::from(PODS), Amount(i64::from(pod_set.count)));
            }
        }
        requests
    }

    /// Returns the indices of the pod sets that get the same flavors, in order of the first one.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<(Option<&String>, Vec<usize>)> = Vec::new();
        for (index, pod_set) in self.info.workload.pod_sets.iter().enumerate().take(self.info.requests.len()) {
            let name = pod_set.topology.as_ref().and_then(|t| t.group.as_ref());
            match groups.iter_mut().find(|(group, _)| group.is_some() && *group == name) {
                Some((_, indices)) => indices.push(index),
                None => groups.push((name, vec![index])),
            }
        }
        groups.into_iter().map(|(_, indices)| indices).collect()
    }

    /// Assigns flavors to a group of pod sets. Returns whether all of them have flavors.
    fn assign_group(
        &self, snapshot: &mut Snapshot, indices: &[usize], requests: &[PodSetRequests], assignment: &mut Assignment,
    ) -> bool {
        let mut sum = Requests::default();
        indices.iter().for_each(|index| sum.add(&requests[*index].requests));
        let result = self.group_flavors(snapshot, indices, &sum, requests, &assignment.usage.quota);
        let mut all_assigned = true;
        for index in indices {
            let requested = &requests[*index];
            let pod_set = &self.info.workload.pod_sets[*index];
            let is_grouped = pod_set.topology.as_ref().is_some_and(|t| t.group.is_some());
            let keep = |(resource, choice): &(&Name, &FlavorChoice)| {
                if requested.requests.is_empty() {
                    return is_grouped && snapshot.topology.has_flavor(&choice.flavor);
                }
                requested.requests.has(resource)
            };
            let flavors: BTreeMap<Name, FlavorChoice> =
                result.flavors.iter().filter(keep).map(|(r, c)| (r.clone(), c.clone())).collect();
            all_assigned &= result.error.is_none() && (requested.requests.is_empty() || !flavors.is_empty());
            let admission = self.info.workload.status.admission.iter();
            let admitted = admission.flat_map(|a| &a.pod_sets).find(|p| p.name == requested.name);
            assignment.push(PodSetAssignment {
                name: requested.name.clone(),
                count: requested.count,
                requests: requested.requests.clone(),
                flavors,
                reasons: result.reasons.clone(),
                error: result.error.clone(),
                topology: admitted.and_then(|admitted| admitted.topology.clone()),
                attempts: result.attempts.clone(),
            });
        }
        all_assigned
    }

    fn group_flavors(
        &self, snapshot: &mut Snapshot, indices: &[usize], sum: &Requests, requests: &[PodSetRequests],
        assigned: &FlavorAmounts,
    ) -> GroupResult {
        let mut result = GroupResult::default();
        for index in indices {
            let earlier = requests[*index].flavors.iter().map(|(resource, flavor)| {
                let mode = AssignmentMode::Fit;
                let choice = FlavorChoice { flavor: flavor.clone(), mode, tried: Some(0), borrowing: 0 };
                (resource.clone(), choice)
            });
            result.flavors.extend(earlier);
        }
        for (resource, amount) in sum.iter() {
            let group = snapshot.queues[self.queue()].group_of(resource).cloned();
            if group.is_none() && (amount == Amount::ZERO || self.ignores_undeclared) {
                continue;
            }
            if result.flavors.contains_key(resource) {
                continue;
            }
            let found = self.find_flavor(snapshot, indices, sum, resource, assigned);
            merge(&mut result.attempts, found.attempts, group.as_ref(), resource);
            if found.error.is_some() || found.flavors.is_empty() {
                result.flavors.clear();
                result.reasons = found.reasons;
                result.error = found.error;
                break;
            }
            result.flavors.extend(found.flavors);
            result.reasons.extend(found.reasons);
        }
        result
    }

    /// Finds the flavor for all resources in the group of `resource`.
    fn find_flavor(
        &self, snapshot: &mut Snapshot, indices: &[usize], sum: &Requests, resource: &Name, assigned: &FlavorAmounts,
    ) -> GroupResult {
        let mut result = GroupResult::default();
        let spec = snapshot.queues[self.queue()].spec.clone();
        let Some(group) = snapshot.queues[self.queue()].group_of(resource).cloned() else {
            result.reasons.push(format!("resource {resource} unavailable in ClusterQueue"));
            return result;
        };
        let requests = sum.filtered(|name| group.covered_resources.iter().any(|r| r == name));
        let mut best = GranularMode::WORST;
        let mut last_index = None;
        let first = self.info.last_assignment.as_ref().map_or(0, |last| last.next_flavor(indices[0], resource));
        for (index, quotas) in group.flavors.iter().enumerate().skip(first) {
            last_index = Some(index);
            let flavor = Name::from(quotas.name.as_str());
            if self.is_skipped(&flavor, indices, resource) {
                let (flavor, resource) = (&flavor, resource);
                result.reasons.push(format!(
                    "skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"
                ));
                continue;
            }
            if let Some(message) = self.check_flavor(snapshot, &flavor, indices, &group) {
                result.reasons.push(message.clone());
                result.attempts.insert(flavor, no_match(message));
                continue;
            }
            let (mode, choices, attempt) = self.try_flavor(snapshot, &flavor, &requests, assigned);
            result.reasons.extend(attempt.reasons.iter().cloned());
            result.attempts.insert(flavor, attempt);
            let is_last = !mode.tries_next_flavor(&spec.flavor_fungibility);
            if is_last || mode.is_preferred_to(best, &spec.flavor_fungibility) {
                result.flavors = choices;
                best = mode;
            }
            if is_last {
                break;
            }
        }
        // After the last flavor, the next search begins with the first one.
        let tried = last_index.filter(|index| index + 1 != group.flavors.len());
        result.flavors.values_mut().for_each(|choice| choice.tried = tried);
        if best.preemption == PreemptionMode::Fit {
            result.reasons.clear();
        }
        result
    }

    /// Returns whether a flavor is left out because the first nomination in this cycle used another one.
    fn is_skipped(&self, flavor: &Name, indices: &[usize], resource: &Name) -> bool {
        let Some(nominated) = self.nominated.filter(|n| !n.is_empty()) else {
            return false;
        };
        let is_nominated = |index: &usize| {
            let pod_set = nominated.get(&self.info.workload.pod_sets[*index].name);
            pod_set.and_then(|flavors| flavors.get(resource)) == Some(flavor)
        };
        !indices.iter().any(is_nominated)
    }

    /// Returns why the pods cannot run on the nodes of a flavor.
    fn check_flavor(
        &self, snapshot: &Snapshot, flavor: &Name, indices: &[usize], group: &ResourceGroup,
    ) -> Option<String> {
        let Some(spec) = snapshot.flavors.get(flavor) else {
            return Some(format!("flavor {flavor} not found"));
        };
        let queue = &snapshot.queues[self.queue()];
        indices.iter().find_map(|index| {
            let pod_set = &self.info.workload.pod_sets[*index];
            if let Some(message) = mismatch(snapshot, queue, pod_set, spec, group) {
                return Some(message);
            }
            if let Some(taint) = untolerated_taint(spec, &pod_set.template.spec) {
                return Some(taint_message(taint, flavor));
            }
            let matches = matches_labels(spec, &pod_set.template.spec);
            (!matches).then(|| format!("flavor {flavor} doesn't match node affinity"))
        })
    }

    /// Tries one flavor for all resources of a group.
    fn try_flavor(
        &self, snapshot: &mut Snapshot, flavor: &Name, requests: &Requests, assigned: &FlavorAmounts,
    ) -> (GranularMode, BTreeMap<Name, FlavorChoice>, Attempt) {
        let fungibility = snapshot.queues[self.queue()].spec.flavor_fungibility;
        let mut worst = GranularMode::BEST;
        let mut choices = BTreeMap::new();
        let (mut most_borrowing, mut reasons, mut no_fit) = (0, Vec::new(), NoFitReason::None);
        for (resource, amount) in requests.iter() {
            let fr = FlavorResource { flavor: flavor.clone(), resource: resource.clone() };
            let earlier = assigned.get(&fr).copied().unwrap_or_default();
            let (mode, reason) = self.fits_quota(snapshot, &fr, earlier, amount);
            if let Some((message, reason)) = reason {
                reasons.push(message);
                no_fit = no_fit.max(reason);
            }
            most_borrowing = most_borrowing.max(mode.borrowing);
            if worst.is_preferred_to(mode, &fungibility) {
                worst = mode;
            }
            if worst.preemption != PreemptionMode::NoFit {
                let assignment_mode = mode.preemption.assignment_mode();
                let (flavor, borrowing) = (flavor.clone(), mode.borrowing);
                choices
                    .insert(resource.clone(), FlavorChoice { flavor, mode: assignment_mode, tried: None, borrowing });
            }
        }
        reasons.sort();
        let possibility = match worst.preemption {
            PreemptionMode::NoFit | PreemptionMode::Fit => None,
            PreemptionMode::NoCandidates => Some(PreemptionPossibility::NoCandidates),
            PreemptionMode::Preempt => Some(PreemptionPossibility::Preempt),
            PreemptionMode::Reclaim => Some(PreemptionPossibility::Reclaim),
        };
        let mode = worst.preemption.assignment_mode();
        (worst, choices, Attempt { mode, borrowing: most_borrowing, possibility, reasons, no_fit })
    }

    /// Returns how one resource fits into the quota of a flavor, and the reason if it does not fit now.
    fn fits_quota(
        &self, snapshot: &mut Snapshot, fr: &FlavorResource, earlier: Amount, amount: Amount,
    ) -> (GranularMode, Option<(String, NoFitReason)>) {
        let queue = self.queue();
        let available = snapshot.available(queue, fr);
        let most = snapshot.tree.potential_available(queue, fr);
        let total = earlier + amount;
        let (flavor, resource) = (&fr.flavor, &fr.resource);
        if total > most {
            let message = format!(
                "insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests ({}) + \
                 current podset request ({}) > maximum capacity ({})",
                earlier.text(resource),
                amount.text(resource),
                most.text(resource),
            );
            let mode = GranularMode { preemption: PreemptionMode::NoFit, borrowing: 0 };
            return (mode, Some((message, NoFitReason::ExceedsMaxQuota)));
        }
        let (borrowing, may_reclaim) = snapshot.tree.lowest_fitting_height(queue, fr, total);
        if total <= available {
            return (GranularMode { preemption: PreemptionMode::Fit, borrowing }, None);
        }
        let missing = (total - available).text(resource);
        let message = format!("insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed");
        let nominal = snapshot.node(queue).quota(fr).nominal;
        if nominal >= total || may_reclaim || self.can_preempt_while_borrowing(snapshot) {
            let (possibility, borrowing) = self.oracle.simulate(snapshot, self.info, fr, total);
            return (GranularMode { preemption: possibility.into(), borrowing }, Some((message, NoFitReason::None)));
        }
        let mode = GranularMode { preemption: PreemptionMode::NoFit, borrowing };
        (mode, Some((message, NoFitReason::WaitingForQuota)))
    }

    fn can_preempt_while_borrowing(&self, snapshot: &Snapshot) -> bool {
        let preemption = &snapshot.queues[self.queue()].spec.preemption;
        preemption.borrow_within_cohort.lower_priority
            || (self.is_fair_sharing && preemption.reclaim_within_cohort != PreemptionPolicy::Never)
    }

    /// Places the pod sets by topology. If they do not fit, quota and domains must be preempted; if they do not even
    /// fit into empty domains, the assignment fails.
    fn assign_topology(&self, snapshot: &Snapshot, assignment: &mut Assignment) {
        let requests = assignment.placement_requests(snapshot, self.info, self.queue());
        if assignment.mode() == AssignmentMode::Fit {
            match snapshot.topology.place(&requests, self.info, false) {
                Ok(placements) => assignment.set_placements(snapshot, self.info, placements),
                Err(failure) => {
                    if let Some(pod_set) = assignment.pod_sets.iter_mut().find(|p| p.name == failure.pod_set) {
                        pod_set.reasons.push(failure.reason);
                    }
                    assignment.set_pod_set_mode(&failure.pod_set, AssignmentMode::Preempt);
                }
            }
        }
        if assignment.mode() != AssignmentMode::Preempt || !self.info.workload.status.unhealthy_nodes.is_empty() {
            return;
        }
        match snapshot.topology.place(&requests, self.info, true) {
            Ok(placements) => {
                let pod_sets = requests.values().flatten().map(|request| request.pod_set);
                for index in pod_sets {
                    let name = self.info.workload.pod_sets[index].name.clone();
                    assignment.set_pod_set_mode(&name, AssignmentMode::Preempt);
                }
                assignment.in_empty_domains = Some((requests, placements));
            }
            Err(failure) => {
                if let Some(pod_set) = assignment.pod_sets.iter_mut().find(|p| p.name == failure.pod_set)
                    && let Some(attempt) = pod_set.attempts.get_mut(&*failure.flavor)
                {
                    attempt.mode = AssignmentMode::NoFit;
                    attempt.no_fit = NoFitReason::TopologyPlacementFailed;
                }
                assignment.set_pod_set_mode(&failure.pod_set, AssignmentMode::NoFit);
            }
        }
    }
}

fn no_match(message: String) -> Attempt {
    Attempt {
        mode: AssignmentMode::NoFit,
        borrowing: 0,
        possibility: None,
        reasons: vec![message],
        no_fit: NoFitReason::NoMatchingFlavor,
    }
}
