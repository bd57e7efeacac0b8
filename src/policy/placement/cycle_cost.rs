//! Duration of a scheduling cycle: filters and scores of nodes, and the terms of the pod and of the pods on the nodes
//! (kubernetes.md 2.2, 2.3).
//!
//! Ports of the node have no cost of their own: NodePorts compares a few numbers per node.

use sim_api::spec::PodTerms;
use sim_api::spec::timing::SchedulerCost;
use sim_base::Duration;

/// Nodes, pods and terms that a scheduling cycle visits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CycleWork {
    /// Number of nodes that the filters examine.
    pub examined: u64,
    /// Number of feasible nodes, which are scored.
    pub feasible: u64,
    /// Terms of the pod, with the default constraints of PodTopologySpread.
    pub terms: PodTerms,
    /// Whether the pod has node affinity, required or preferred.
    pub has_node_affinity: bool,
    /// Number of PersistentVolumeClaims of the pod.
    pub claims: u64,
    /// Number of nodes of the cluster.
    pub nodes: u64,
    /// Number of nodes that the selectors of the pod allow.
    pub allowed: u64,
    /// The pods on the nodes.
    pub pods: TermCounts,
}

/// Numbers of pods that hold a node, by their terms.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCounts {
    /// All pods that hold a node.
    pub all: u64,
    /// Pods with required anti-affinity, which InterPodAffinity compares with every pod in PreFilter.
    pub repelling: u64,
    /// Pods with required affinity or preferred terms, which it compares in PreScore.
    pub scored: u64,
}

impl TermCounts {
    /// Counts a pod with these terms.
    pub fn add(&mut self, terms: &PodTerms) {
        self.all += 1;
        self.repelling += u64::from(terms.required_anti_affinity > 0);
        self.scored += u64::from(terms.required_affinity + terms.preferred > 0);
    }

    /// Counts a pod with these terms no longer.
    pub fn remove(&mut self, terms: &PodTerms) {
        self.all -= 1;
        self.repelling -= u64::from(terms.required_anti_affinity > 0);
        self.scored -= u64::from(terms.required_affinity + terms.preferred > 0);
    }
}

impl CycleWork {
    /// Returns the duration of the cycle.
    pub fn duration(&self, cost: &SchedulerCost) -> Duration {
        let search = cost.per_node.saturating_mul(self.examined) + cost.per_feasible_node.saturating_mul(self.feasible);
        let node_affinity = cost.node_affinity.saturating_mul(u64::from(self.has_node_affinity));
        let claims = cost.per_claim.saturating_mul(self.claims);
        cost.fixed + search + self.affinity(cost) + self.spread(cost) + node_affinity + claims
    }

    /// InterPodAffinity visits all nodes and their pods for required terms of the pod in PreFilter and for preferred
    /// terms in PreScore, and for terms of other pods the nodes with such pods.
    fn affinity(&self, cost: &SchedulerCost) -> Duration {
        let existing = |pods: u64| cost.existing_term.saturating_mul(pods.min(self.nodes) + pods);
        let everything = self.nodes + self.pods.all;
        let has_required = self.terms.required_affinity + self.terms.required_anti_affinity > 0;
        let required = cost.affinity_per_node.saturating_mul(u64::from(has_required) * everything);
        let scored = match self.terms.preferred {
            0 => existing(self.pods.scored),
            _ => cost.preferred_per_node.saturating_mul(everything),
        };
        existing(self.pods.repelling) + required + scored
    }

    /// PodTopologySpread counts the pods on all nodes that the selectors of the pod allow, for each constraint.
    fn spread(&self, cost: &SchedulerCost) -> Duration {
        let (hard, soft) = (u64::from(self.terms.hard_spread), u64::from(self.terms.soft_spread));
        cost.hard_spread_per_node.saturating_mul(hard * self.allowed)
            + cost.soft_spread_per_node.saturating_mul(soft * self.allowed)
    }
}
