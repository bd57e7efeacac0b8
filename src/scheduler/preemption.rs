//! Preemption of pods with lower priority (plugin DefaultPreemption).

use crate::cluster::{Cluster, DisruptionBudget};
use crate::index::{NodeIndex, PodIndex};
use crate::rejection::{Reason, ReasonCounts, Rejection};
use crate::{cycle::SchedulingCycle, plugin::Plugin, pod::PodView};

pub(crate) const POLICY_NEVER: &str = "not eligible due to preemptionPolicy=Never.";
const TERMINATING: &str = "not eligible due to a terminating pod on the nominated node.";
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";
const NO_VICTIMS: &str = "No preemption victims found for incoming pod";
/// `minCandidateNodesPercentage` and `minCandidateNodesAbsolute`.
const MIN_CANDIDATES: (usize, usize) = (10, 100);

/// Pods whose removal makes room for the pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub node: NodeIndex,
    /// Ordered by importance, highest first.
    pub victims: Vec<PodIndex>,
    /// Number of victims whose removal violates a PodDisruptionBudget.
    pub violations: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Preemption {
    /// The pod may not preempt others, now or at all; with the message. It keeps its nominated node.
    NotEligible(&'static str),
    /// No node can be made feasible; with the message.
    Failed(String),
    /// The candidates that are equal in all criteria; never empty. The caller selects one of them.
    Candidates(Vec<Candidate>),
}

impl Preemption {
    /// Returns the message of a failed preemption.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Preemption::Failed(message) => Some(message),
            Preemption::NotEligible(message) => Some(message),
            Preemption::Candidates(_) => None,
        }
    }

    /// Returns the best candidates.
    pub fn best(&self) -> Option<&[Candidate]> {
        match self {
            Preemption::Failed(_) | Preemption::NotEligible(_) => None,
            Preemption::Candidates(best) => Some(best),
        }
    }
}

/// Searches for victims after the filters rejected all nodes.
pub fn preempt(mut cycle: SchedulingCycle<'_>, rejected: &[(NodeIndex, Rejection)]) -> Preemption {
    let (cluster, pod) = (cycle.cluster, cycle.pod);
    if let Some(message) = ineligibility(cluster, pod, rejected) {
        return Preemption::NotEligible(message);
    }
    let potential = rejected.iter().filter(|(_, rejection)| rejection.is_resolvable);
    let potential: Vec<NodeIndex> = potential.map(|(node, _)| *node).collect();
    let mut counts = ReasonCounts::default();
    let mut candidates = Vec::new();
    let wanted = (potential.len() * MIN_CANDIDATES.0 / 100).max(MIN_CANDIDATES.1);
    for node in &potential {
        match select_victims(&mut cycle, *node) {
            Ok(candidate) => candidates.push(candidate),
            Err(rejection) => counts.add_rejection(&rejection),
        }
        if candidates.len() >= wanted && candidates.iter().any(|c| c.violations == 0) {
            break;
        }
    }
    if candidates.is_empty() {
        let not_helpful = cluster.nodes.len() - potential.len();
        if not_helpful > 0 {
            counts.add(&Reason::Fixed(NOT_HELPFUL), not_helpful);
        }
        return Preemption::Failed(counts.message(cluster.nodes.len()));
    }
    Preemption::Candidates(best_candidates(&cluster.pods, candidates))
}

/// Returns the result if PreFilter rejected all nodes.
pub(crate) fn preempt_nowhere(cluster: &Cluster, pod: &PodView) -> Preemption {
    if !pod.may_preempt {
        return Preemption::NotEligible(POLICY_NEVER);
    }
    let mut counts = ReasonCounts::default();
    counts.add(&Reason::Fixed(NOT_HELPFUL), cluster.nodes.len());
    Preemption::Failed(counts.message(cluster.nodes.len()))
}

/// Returns the reason why the pod may not preempt others, if any (`PodEligibleToPreemptOthers`).
fn ineligibility(cluster: &Cluster, pod: &PodView, rejected: &[(NodeIndex, Rejection)]) -> Option<&'static str> {
    if !pod.may_preempt {
        return Some(POLICY_NEVER);
    }
    let nominated = cluster.find_node(&pod.nominated_node)?;
    let unresolvable = rejected.iter().any(|(node, r)| *node == nominated && !r.is_resolvable);
    let is_waiting = |index: &PodIndex| {
        let other = &cluster.pods[*index];
        other.priority < pod.priority && other.is_preempted
    };
    (!unresolvable && cluster.usage[nominated].pods.iter().any(is_waiting)).then_some(TERMINATING)
}

/// Removes all pods of lower priority from the node and adds as many as possible back, the most important ones first
/// (`SelectVictimsOnDomain`). The state of the cycle is unchanged afterwards.
fn select_victims(cycle: &mut SchedulingCycle<'_>, node: NodeIndex) -> Result<Candidate, Rejection> {
    let cluster = cycle.cluster;
    let lower = cluster.usage[node].pods.iter().filter(|other| cluster.pods[**other].priority < cycle.pod.priority);
    let mut potential: Vec<PodIndex> = lower.copied().collect();
    if potential.is_empty() {
        return Err(Rejection::unresolvable(Plugin::DefaultPreemption, NO_VICTIMS));
    }
    let mut usage = cluster.usage[node].clone();
    for other in &potential {
        usage.remove(*other, &cluster.pods[*other]);
        cycle.update(node, &cluster.pods[*other], -1);
    }
    let fits = cycle.filter_with_nominated(node, &usage);
    sort_by_importance(&cluster.pods, &mut potential);
    let mut victims = Vec::new();
    let mut violations = 0;
    if fits.is_ok() {
        let (violating, others) = split_by_budget(cluster, &potential);
        for (other, violates) in violating.iter().map(|v| (*v, true)).chain(others.iter().map(|v| (*v, false))) {
            usage.add(other, &cluster.pods[other]);
            cycle.update(node, &cluster.pods[other], 1);
            if cycle.filter_with_nominated(node, &usage).is_err() {
                usage.remove(other, &cluster.pods[other]);
                cycle.update(node, &cluster.pods[other], -1);
                victims.push(other);
                violations += usize::from(violates);
            }
        }
        sort_by_importance(&cluster.pods, &mut victims);
    }
    let removed = if fits.is_ok() { &victims } else { &potential };
    for other in removed {
        cycle.update(node, &cluster.pods[*other], 1);
    }
    fits.map(|()| Candidate { node, victims, violations })
}

/// Sorts pods by priority, then by start time, oldest first.
fn sort_by_importance(pods: &[PodView], rows: &mut [PodIndex]) {
    rows.sort_by_key(|row| (-pods[*row].priority, pods[*row].started.unwrap_or(i64::MAX)));
}

/// Splits pods into those whose removal violates a budget, given the removal of the previous ones, and the others.
fn split_by_budget(cluster: &Cluster, pods: &[PodIndex]) -> (Vec<PodIndex>, Vec<PodIndex>) {
    let mut left: Vec<i64> = cluster.budgets.iter().map(|b| b.disruptions_allowed).collect();
    pods.iter().partition(|pod| violates_budget(cluster, **pod, &mut left))
}

/// Counts the removal of a pod in `left`, the allowed disruptions of each budget, and returns whether one is violated.
/// Every budget counts the removal, also after one is violated.
fn violates_budget(cluster: &Cluster, pod: PodIndex, left: &mut [i64]) -> bool {
    count_removal(cluster, pod, left).fold(false, |any, violated| any | violated)
}

/// Counts the removal of a pod in each budget that covers it when the iterator reaches the budget, and returns for each
/// whether it is violated.
pub(crate) fn count_removal<'a>(
    cluster: &'a Cluster, pod: PodIndex, left: &'a mut [i64],
) -> impl Iterator<Item = bool> + 'a {
    let pod = &cluster.pods[pod];
    let covers = |b: &DisruptionBudget| {
        b.namespace == pod.namespace && !b.selector.is_empty() && b.selector.matches(&pod.labels)
    };
    let covering = cluster.budgets.iter().zip(left).filter(move |(b, _)| !pod.labels.is_empty() && covers(b));
    covering.map(|(_, left)| {
        *left -= 1;
        *left < 0
    })
}

/// Returns the candidates that are best in upstream's criteria, in order (`pickOneNodeForPreemption`).
fn best_candidates(pods: &[PodView], mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let top = |c: &Candidate| c.victims.first().map_or(i64::MIN, |v| pods[*v].priority);
    // Each priority is shifted, so that fewer victims of negative priority are better.
    let sum = |c: &Candidate| c.victims.iter().map(|v| pods[*v].priority + (1 << 31)).sum::<i64>();
    let earliest = |c: &Candidate| {
        let of_top = c.victims.iter().filter(|v| pods[**v].priority == top(c));
        of_top.map(|v| pods[*v].started.unwrap_or(i64::MAX)).min().unwrap_or(i64::MAX)
    };
    let key = |c: &Candidate| (c.violations, top(c), sum(c), c.victims.len(), std::cmp::Reverse(earliest(c)));
    let best = candidates.iter().map(key).min();
    candidates.retain(|c| Some(key(c)) == best);
    candidates
}
