//! The kubelet's admission of pods (`pkg/kubelet/lifecycle/predicate.go`, `AdmissionCheck` of
//! `pkg/scheduler/eventhandlers.go`): resources, node affinity, ports of the node, and NoExecute taints.

use super::{ADMITTED, KubeletState};
use crate::ctx::EngineContext;
use crate::event::StatusWrite;
use crate::pod_views::PodViews;
use crate::record::ObjectRef;
use sim_api::spec::TaintEffect;
use sim_base::{NodeId, PodId};
use sim_policy::placement::NodeChoice;
use sim_scheduler::SchedulerConfiguration;
use sim_scheduler::host_port::HostPort;
use sim_scheduler::plugin::Plugin;
use sim_scheduler::profile::DEFAULT_SCHEDULER;
use sim_scheduler::resources::ResourceColumns;
use std::collections::BTreeSet;

/// Reason and message of the status of a refused pod.
#[derive(Clone)]
pub(super) struct AdmissionRefusal {
    reason: String,
    message: String,
}

impl AdmissionRefusal {
    fn predicate(reason: &str, message: &str) -> Option<AdmissionRefusal> {
        Some(AdmissionRefusal {
            reason: reason.to_owned(),
            message: format!("Pod was rejected: Predicate {reason} failed: {message}"),
        })
    }

    pub(super) fn texts(&self) -> (&str, &str) {
        (&self.reason, &self.message)
    }
}

/// Returns the names of the profiles that lack a filter whose condition the kubelet checks.
pub(super) fn lenient_profiles(ctx: &EngineContext<'_>) -> BTreeSet<String> {
    const CHECKED: [Plugin; 4] =
        [Plugin::NodeResourcesFit, Plugin::NodeAffinity, Plugin::NodePorts, Plugin::TaintToleration];
    let profiles = SchedulerConfiguration::read(&ctx.scenario.scheduler).profiles.into_iter();
    let lenient = profiles.filter(|(_, profile)| CHECKED.iter().any(|plugin| !profile.is_enabled(*plugin)));
    lenient.map(|(name, _)| name).collect()
}

impl KubeletState {
    /// Returns why the kubelet does not admit the pod. kube-scheduler has checked all but the resources and ports that
    /// a pod with `nodeName` took meanwhile, unless its profile lacks a filter.
    pub(super) fn admission_refusal(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<AdmissionRefusal> {
        let store = &*ctx.store;
        let node = store.pods.node[pod.ix()];
        if let Some(refusal) = self.missing_resource(ctx, pod, node) {
            return Some(refusal);
        }
        let spec = store.pod_spec(pod);
        let has_ports = spec.terms.host_ports > 0;
        let is_checked = spec.node_name.is_none() && !has_ports && !self.has_lenient_profile(ctx, pod);
        if is_checked {
            return None;
        }
        if !NodeChoice::from_spec(spec).matches(&store.nodes.cluster, node) {
            return AdmissionRefusal::predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
        }
        if has_ports && self.has_port_conflict(ctx, pod, node) {
            let message = "node(s) didn't have free ports for the requested pod ports";
            return AdmissionRefusal::predicate("NodePorts", message);
        }
        let mut taints = store.nodes.taints_of(node).filter(|taint| taint.effect == TaintEffect::NoExecute);
        if taints.any(|taint| !spec.tolerations.iter().any(|toleration| toleration.tolerates(taint))) {
            return AdmissionRefusal::predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate");
        }
        None
    }

    fn has_lenient_profile(&self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        let name = ctx.store.pod_spec(pod).scheduler_name.as_deref().unwrap_or(DEFAULT_SCHEDULER);
        !self.lenient_profiles.is_empty() && self.lenient_profiles.contains(name)
    }

    /// Iterates over the other pods that the kubelet has admitted and whose containers have not ended.
    fn admitted_pods<'c>(
        &'c self, ctx: &'c EngineContext<'_>, pod: PodId, node: NodeId,
    ) -> impl Iterator<Item = PodId> + 'c {
        let store = &**ctx.store;
        let bound = store.nodes.pods[node.ix()].iter().copied();
        bound.filter(move |other| *other != pod && self.has(*other, ADMITTED) && !store.pods.is_terminal(*other))
    }

    fn has_port_conflict(&self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) -> bool {
        let ports = |pod: PodId| -> Vec<HostPort> {
            PodViews::default().view(ctx, pod, &mut ResourceColumns::default()).host_ports
        };
        let others = self.admitted_pods(ctx, pod, node);
        let mut others = others.filter(|other| ctx.store.pod_spec(*other).terms.host_ports > 0).peekable();
        if others.peek().is_none() {
            return false;
        }
        let needed = ports(pod);
        others.any(|other| ports(other).iter().any(|used| needed.iter().any(|port| used.conflicts_with(port))))
    }

    /// Returns the first resource of which the admitted pods of the node leave too little. An extended resource that
    /// the node does not have is not checked.
    fn missing_resource(&self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) -> Option<AdmissionRefusal> {
        let store = &*ctx.store;
        let cluster = &store.nodes.cluster;
        let columns = cluster.resources.len();
        let used_of = |column: u32| -> i64 {
            let others = self.admitted_pods(ctx, pod, node);
            let requests = others.flat_map(|other| store.template(other).facts.requests.iter());
            requests.filter(|(of, _)| *of == column).map(|(_, milli)| milli).sum()
        };
        let missing = store.template(pod).facts.requests.iter().find_map(|&(column, milli)| {
            let capacity = cluster.allocatable[node.ix() * columns + column as usize];
            let is_absent = cluster.resources[column as usize].contains('/') && capacity == 0;
            let used = if milli > 0 && !is_absent { used_of(column) } else { 0 };
            (milli > 0 && !is_absent && used + milli > capacity).then_some((column, milli, used, capacity))
        });
        let (column, milli, used, capacity) = missing?;
        let name = cluster.resources[column as usize].as_str();
        // CPU is counted in thousandths.
        let unit = if name == "cpu" { 1 } else { 1000 };
        let (requested, used, capacity) = (milli / unit, used / unit, capacity / unit);
        Some(AdmissionRefusal {
            reason: format!("OutOf{name}"),
            message: format!(
                "Pod was rejected: Node didn't have enough resource: {name}, requested: {requested}, used: {used}, \
                 capacity: {capacity}"
            ),
        })
    }

    /// Writes the phase Failed of a pod that is not admitted.
    pub(super) fn refuse_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, refusal: AdmissionRefusal) {
        ctx.emit_kube_event(ObjectRef::Pod(pod), true, &refusal.reason, &refusal.message);
        self.refusals.insert(pod, refusal);
        self.write_status(ctx, pod, StatusWrite::Refused);
    }
}
