//! Which gated pods get which domain of an assignment (`pkg/controller/tas/topology_ungater.go`).
//!
//! The controller removes the scheduling gate `kueue.x-k8s.io/topology` from the pods and adds the values of the domain
//! to their node selector.

use super::assignment::TopologyAssignment;

/// A pod of a pod set that neither succeeded nor failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatedPod {
    /// Value of the label with the index of the pod; for a JobSet the completion index.
    pub index: Option<u32>,
    /// Value of the label with the index of the group; for a JobSet the index of the Job.
    pub group_index: Option<u32>,
    /// Values of the levels in the node selector. `None` if the pod still has the gate.
    pub domain: Option<Vec<String>>,
}

/// How the ranks of the pods of a pod set follow from their indexes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RankRule {
    /// Number of pods of the pod set.
    pub count: u32,
    /// Number of groups; for a JobSet the replicas of the replicatedJob. `None` if the pods have a single index.
    pub groups: Option<u32>,
    /// Number of pods of the leader for workers of a group of pod sets, else 0. Indexes start with it.
    pub offset: u32,
}

/// A pod to release, and the position of its domain in the assignment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReleasedPod {
    pub pod: usize,
    pub domain: usize,
}

/// Returns the pods to release. The rank of a pod determines its domain; if a pod has no valid rank, or if a released
/// pod is not where its rank belongs, the pods fill the domains in order. `rule` is `None` for a pod set without a
/// topology request. Pods on unhealthy nodes wait for a replacement.
pub fn released_pods(
    assignment: &TopologyAssignment, pods: &[GatedPod], rule: Option<RankRule>, unhealthy_nodes: &[String],
) -> Vec<ReleasedPod> {
    let by_rank = rule.and_then(|rule| release_by_rank(assignment, pods, rule));
    let mut released = by_rank.unwrap_or_else(|| release_in_order(assignment, pods));
    released.retain(|pod| !unhealthy_nodes.iter().any(|node| assignment.domains[pod.domain].is_on_node(node)));
    released
}

fn release_by_rank(assignment: &TopologyAssignment, pods: &[GatedPod], rule: RankRule) -> Option<Vec<ReleasedPod>> {
    let counts = assignment.domains.iter().enumerate();
    let domains: Vec<usize> = counts.flat_map(|(at, domain)| vec![at; domain.count as usize]).collect();
    let mut by_rank: Vec<Option<usize>> = vec![None; rule.count as usize];
    for (at, pod) in pods.iter().enumerate() {
        let rank = rule.rank(pod)? as usize;
        let free = by_rank.get_mut(rank).filter(|taken| taken.is_none())?;
        *free = Some(at);
    }
    let mut released = Vec::new();
    for (rank, pod) in by_rank.into_iter().enumerate().filter_map(|(rank, pod)| Some((rank, pod?))) {
        let domain = *domains.get(rank)?;
        match &pods[pod].domain {
            None => released.push(ReleasedPod { pod, domain }),
            Some(values) if *values == assignment.domains[domain].values => {}
            Some(_) => return None,
        }
    }
    Some(released)
}

fn release_in_order(assignment: &TopologyAssignment, pods: &[GatedPod]) -> Vec<ReleasedPod> {
    let mut gated = pods.iter().enumerate().filter(|(_, pod)| pod.domain.is_none()).map(|(at, _)| at);
    let mut released = Vec::new();
    for (at, domain) in assignment.domains.iter().enumerate() {
        let present = pods.iter().filter(|pod| pod.domain.as_ref() == Some(&domain.values)).count();
        let missing = (domain.count as usize).saturating_sub(present);
        released.extend(gated.by_ref().take(missing).map(|pod| ReleasedPod { pod, domain: at }));
    }
    released
}

impl RankRule {
    /// Returns the rank of a pod, or `None` if its indexes are missing or out of range.
    fn rank(self, pod: &GatedPod) -> Option<u32> {
        let index = pod.index.filter(|index| *index < self.count + self.offset)?;
        let rank = match self.groups {
            None => index,
            Some(groups) => {
                let size = self.count.checked_div(groups)?;
                let group = pod.group_index.filter(|group| *group < groups && index < size)?;
                index + group * size
            }
        };
        rank.checked_sub(self.offset).filter(|rank| *rank < self.count)
    }
}
