//! The kubelet's admission of pods that no scheduler has checked, because their `nodeName` is set
//! (`pkg/kubelet/lifecycle/predicate.go`): resources, node affinity, and NoExecute taints.

use super::{KubeletState, REFUSED};
use crate::ctx::EngineContext;
use crate::event::StatusWrite;
use crate::record::ObjectRef;
use crate::store::flag;
use sim_api::spec::TaintEffect;
use sim_base::{NodeId, PodId};
use sim_policy::placement::NodeChoice;

/// Reason and message of the status of a refused pod.
pub(super) struct AdmissionRefusal {
    reason: String,
    message: String,
}

impl KubeletState {
    /// Returns why the kubelet does not admit the pod. A pod that the scheduler has placed fits.
    pub(super) fn admission_refusal(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<AdmissionRefusal> {
        let store = &*ctx.store;
        let spec = store.pod_spec(pod);
        spec.node_name.as_ref()?;
        let node = store.pods.node[pod.ix()];
        if let Some(refusal) = self.missing_resource(ctx, pod, node) {
            return Some(refusal);
        }
        let predicate = |reason: &str, message: &str| {
            Some(AdmissionRefusal {
                reason: reason.to_owned(),
                message: format!("Pod was rejected: Predicate {reason} failed: {message}"),
            })
        };
        if !NodeChoice::from_spec(spec).matches(&store.nodes.cluster, node) {
            return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
        }
        let mut taints = store.nodes.taints_of(node).filter(|taint| taint.effect == TaintEffect::NoExecute);
        if taints.any(|taint| !spec.tolerations.iter().any(|toleration| toleration.tolerates(taint))) {
            return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
        }
        None
    }

    /// Returns the first resource of which the admitted pods of the node leave too little. An extended resource that
    /// the node does not have is not checked.
    fn missing_resource(&self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) -> Option<AdmissionRefusal> {
        let store = &*ctx.store;
        let cluster = &store.nodes.cluster;
        let columns = cluster.resources.len();
        let others = (0..store.pods.len() as u32).map(PodId).filter(|other| {
            *other != pod
                && store.pods.exists(*other)
                && store.pods.has(*other, flag::BOUND)
                && store.pods.node[other.ix()] == node
                && !store.pods.is_terminal(*other)
                && !self.has(*other, REFUSED)
        });
        let mut used = vec![0_i64; columns];
        for (column, milli) in others.flat_map(|other| store.template(other).facts.requests.iter()) {
            used[*column as usize] += milli;
        }
        let missing = store.template(pod).facts.requests.iter().find(|(column, milli)| {
            let column = *column as usize;
            let capacity = cluster.allocatable[node.ix() * columns + column];
            let is_absent = cluster.resources[column].contains('/') && capacity == 0;
            *milli > 0 && !is_absent && used[column] + milli > capacity
        });
        let (column, milli) = missing?;
        let column = *column as usize;
        let name = cluster.resources[column].as_str();
        // CPU is counted in thousandths.
        let unit = if name == "cpu" { 1 } else { 1000 };
        let (requested, used) = (milli / unit, used[column] / unit);
        let capacity = cluster.allocatable[node.ix() * columns + column] / unit;
        Some(AdmissionRefusal {
            reason: format!("OutOf{name}"),
            message: format!(
                "Pod was rejected: Node didn't have enough resource: {name}, requested: {requested}, used: {used}, \
                 capacity: {capacity}"
            ),
        })
    }

    /// Writes the phase Failed of a pod that is not admitted.
    pub(super) fn refuse_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, refusal: &AdmissionRefusal) {
        self.set(pod, REFUSED);
        ctx.emit_kube_event(ObjectRef::Pod(pod), true, &refusal.reason, &refusal.message);
        self.write_status(ctx, pod, StatusWrite::Refused);
    }
}
