//! The decision for one pod: find feasible nodes, score them, or preempt other pods.

use crate::plugin::{Plugin, PluginSet};
use crate::preemption::{Preemption, preempt, preempt_nowhere};
use crate::rejection::{Reason, ReasonCounts, Rejection};
use crate::{cluster::Cluster, cycle::SchedulingCycle, index::NodeIndex, plugins::score};
use crate::{pod::PodView, profile::Profile};

/// Part of the message of an unschedulable pod that the plugin DynamicResources adds if preemption fails.
const NO_CLAIMS: &str = "no new claims to deallocate";
/// Reason against the nodes that PreFilter excluded.
pub(crate) const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Scheduled(ScoredNodes),
    /// `rejecting` are the plugins that rejected nodes or, in PreFilter, the pod.
    Unschedulable {
        message: String,
        preemption: Preemption,
        rejecting: PluginSet,
    },
}

/// The feasible nodes with their scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredNodes {
    /// In the order of the search.
    pub nodes: Vec<NodeIndex>,
    /// Weighted scores in the order of `nodes`, by plugin. Empty if there is only one node.
    pub scores: Vec<(Plugin, Vec<i64>)>,
    /// Index at which the search for the next pod starts.
    pub next_start: usize,
}

/// The nodes that passed the filters, and the reasons against the others.
#[derive(Clone, Debug, Default)]
pub struct FeasibleNodes {
    pub nodes: Vec<NodeIndex>,
    pub rejected: Vec<(NodeIndex, Rejection)>,
    pub next_start: usize,
}

impl ScoredNodes {
    /// Returns the sum of the scores by node.
    pub fn totals(&self) -> Vec<i64> {
        let total = |at: usize| self.scores.iter().map(|(_, scores)| scores[at]).sum();
        (0..self.nodes.len()).map(total).collect()
    }

    /// Returns the nodes with the highest total. The caller selects one of them.
    pub fn best(&self) -> Vec<NodeIndex> {
        let totals = self.totals();
        let highest = totals.iter().max();
        let best = self.nodes.iter().zip(&totals).filter(|(_, total)| Some(*total) == highest);
        best.map(|(node, _)| *node).collect()
    }
}

/// Schedules a pod. `start` is the index of the first node to examine.
pub fn schedule(cluster: &Cluster, pod: &PodView, profile: &Profile, start: usize) -> Decision {
    decide(cluster, pod, profile, start, None)
}

/// Schedules a pod that may not preempt others, for the given reason.
pub(crate) fn schedule_without_preemption(
    cluster: &Cluster, pod: &PodView, profile: &Profile, start: usize, reason: &'static str,
) -> Decision {
    decide(cluster, pod, profile, start, Some(reason))
}

fn decide(
    cluster: &Cluster, pod: &PodView, profile: &Profile, start: usize, ineligible: Option<&'static str>,
) -> Decision {
    let cycle = match SchedulingCycle::new(cluster, pod, profile) {
        Ok(cycle) => cycle,
        Err(rejection) => {
            let message = prefilter_message(cluster, &rejection);
            let rejecting = PluginSet::from_iter([rejection.plugin]);
            if profile.runs_post_filter(Plugin::DynamicResources) {
                // PostFilter of DynamicResources fails, because its PreFilter did not run.
                let (message, preemption) = (format!("{message} not found"), Preemption::Failed(String::new()));
                return Decision::Unschedulable { message, preemption, rejecting };
            }
            return unschedulable(message, profile, || preempt_nowhere(cluster, pod), rejecting);
        }
    };
    let found = match nominated_node(&cycle) {
        Some(node) => FeasibleNodes { nodes: vec![node], rejected: Vec::new(), next_start: start },
        None => find_feasible(&cycle, start),
    };
    if found.nodes.is_empty() {
        let message = rejection_counts(&cycle, &found.rejected).message(cluster.nodes.len());
        let named = cycle.named_nodes.iter().map(|_| Plugin::NodeAffinity);
        let rejecting = found.rejected.iter().map(|(_, rejection)| rejection.plugin).chain(named).collect();
        let preempt = || match ineligible {
            Some(reason) => Preemption::NotEligible(reason),
            None => preempt(cycle, &found.rejected),
        };
        return unschedulable(message, profile, preempt, rejecting);
    }
    if found.nodes.len() > 1
        && let Some(message) = prescore_error(&cycle)
    {
        let (preemption, rejecting) = (Preemption::Failed(String::new()), PluginSet::new());
        return Decision::Unschedulable { message, preemption, rejecting };
    }
    let scores = if found.nodes.len() == 1 { Vec::new() } else { score(&cycle, &found.nodes) };
    Decision::Scheduled(ScoredNodes { nodes: found.nodes, scores, next_start: found.next_start })
}

/// Beginning of the message of an attempt that failed with an error of PreScore; its reason is SchedulerError.
pub const PRESCORE_ERROR: &str = "running PreScore plugin";

/// Returns the error of the attempt if the preferred node affinity of the pod cannot be parsed. PreScore runs if there
/// are several feasible nodes.
pub(crate) fn prescore_error(cycle: &SchedulingCycle<'_>) -> Option<String> {
    let error = cycle.pod.node_affinity.preference_error.as_ref()?;
    let runs = !cycle.profile.disabled_scores.contains(&Plugin::NodeAffinity);
    runs.then(|| format!("{PRESCORE_ERROR} \"NodeAffinity\": {error}"))
}

pub(crate) fn prefilter_message(cluster: &Cluster, rejection: &Rejection) -> String {
    format!("0/{} nodes are available: {}.", cluster.nodes.len(), rejection.reasons[0])
}

/// Returns the nominated node of the pod, if it is feasible. It is then the only candidate.
fn nominated_node(cycle: &SchedulingCycle<'_>) -> Option<NodeIndex> {
    let node = cycle.cluster.find_node(&cycle.pod.nominated_node)?;
    cycle.filter_with_nominated(node, &cycle.cluster.usage[node]).ok().map(|()| node)
}

/// Tries to preempt other pods, and appends the message if that failed.
fn unschedulable(
    message: String, profile: &Profile, preempt: impl FnOnce() -> Preemption, rejecting: PluginSet,
) -> Decision {
    let preemption =
        if profile.runs_post_filter(Plugin::DefaultPreemption) { preempt() } else { Preemption::Failed(String::new()) };
    let claims = profile.runs_post_filter(Plugin::DynamicResources).then(|| NO_CLAIMS.to_owned());
    let failure = preemption.failure().filter(|failure| !failure.is_empty());
    let parts: Vec<String> = claims.into_iter().chain(failure.map(|text| format!("preemption: {text}"))).collect();
    let is_helped = preemption.failure().is_none() || parts.is_empty();
    let message = if is_helped { message } else { format!("{message} {}", parts.join(", ")) };
    Decision::Unschedulable { message, preemption, rejecting }
}

/// Counts the reasons against all nodes, including those that PreFilter excluded.
pub(crate) fn rejection_counts(cycle: &SchedulingCycle<'_>, rejected: &[(NodeIndex, Rejection)]) -> ReasonCounts {
    let mut counts = ReasonCounts::default();
    rejected.iter().for_each(|(_, rejection)| counts.add_rejection(rejection));
    let absent = cycle.cluster.nodes.len() - rejected.len();
    if absent > 0 {
        counts.add(&Reason::Fixed(NOT_NAMED), absent);
    }
    counts
}

/// Examines nodes from `start` until enough feasible ones are found (`findNodesThatPassFilters`). Unlike
/// kube-scheduler, which uses 16 goroutines, the search is sequential.
pub fn find_feasible(cycle: &SchedulingCycle<'_>, start: usize) -> FeasibleNodes {
    let all: Vec<NodeIndex>;
    let nodes: &[NodeIndex] = match &cycle.named_nodes {
        Some(named) => named,
        None => {
            all = (0..cycle.cluster.nodes.len()).collect();
            &all
        }
    };
    let wanted = cycle.profile.nodes_to_find(nodes.len());
    let mut found = FeasibleNodes::default();
    for step in 0..nodes.len() {
        let node = nodes[(start + step) % nodes.len()];
        match cycle.filter_with_nominated(node, &cycle.cluster.usage[node]) {
            Ok(()) => found.nodes.push(node),
            Err(rejection) => found.rejected.push((node, rejection)),
        }
        if found.nodes.len() == wanted {
            break;
        }
    }
    let examined = found.nodes.len() + found.rejected.len();
    found.next_start = (start + examined) % cycle.cluster.nodes.len().max(1);
    found
}
