//! The kubelet's admission of pods: devices (`pkg/kubelet/cm/devicemanager/manager.go`), then resources, node affinity,
//! ports of the node, and NoExecute taints (`pkg/kubelet/lifecycle/predicate.go`, `AdmissionCheck` of
//! `pkg/scheduler/eventhandlers.go`). `kubelet.go` adds the handler of devices before that of the predicates.

use super::{ADMITTED, KubeletState};
use crate::ctx::EngineContext;
use crate::event::StatusWrite;
use crate::pod_views::PodViews;
use crate::record::ObjectRef;
use sim_api::spec::{PodSpec, TaintEffect};
use sim_base::{NodeId, PodId};
use sim_policy::placement::NodeChoice;
use sim_scheduler::SchedulerConfiguration;
use sim_scheduler::host_port::HostPort;
use sim_scheduler::plugin::Plugin;
use sim_scheduler::profile::DEFAULT_SCHEDULER;
use sim_scheduler::resources::ResourceColumns;
use std::collections::BTreeSet;

/// Beginning of the status message of a refused pod, which its Event lacks (`rejectPod` in `kubelet.go`).
const REJECTED: &str = "Pod was rejected: ";
/// Label of the operating system, which the kubelet maintains.
const NODE_OS: &str = "kubernetes.io/os";
/// Amounts are counted in thousandths.
const MILLI: i64 = 1000;

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
            message: format!("{REJECTED}Predicate {reason} failed: {message}"),
        })
    }

    /// The refusal of the handler that allocates devices (`pkg/kubelet/cm/admission/errors.go`).
    fn allocation(error: &str) -> AdmissionRefusal {
        AdmissionRefusal {
            reason: "UnexpectedAdmissionError".to_owned(),
            message: format!("{REJECTED}Allocate failed due to {error}, which is unexpected"),
        }
    }

    pub(super) fn texts(&self) -> (&str, &str) {
        (&self.reason, &self.message)
    }
}

/// A resource of which the admitted pods of a node leave too little, in thousandths.
struct MissingResource<'c> {
    name: &'c str,
    requested: i64,
    used: i64,
    capacity: i64,
}

impl MissingResource<'_> {
    /// Returns true for the resource of a device plugin, which every extended resource of a node is assumed to be.
    fn is_device(&self) -> bool {
        self.name.contains('/') && !self.name.contains("kubernetes.io/")
    }

    /// Returns the position of the first container whose devices cannot be allocated, with the amounts that it needs
    /// and that are free (`devicesToAllocate`). Devices of an init container that has ended are used again.
    fn failing_container(&self, spec: &PodSpec) -> Option<(usize, i64, i64)> {
        let (mut free, mut reusable) = ((self.capacity - self.used).max(0), 0);
        let init = spec.init_containers.iter().map(|container| (container, !container.is_sidecar()));
        let all = init.chain(spec.containers.iter().map(|container| (container, false)));
        for (position, (container, ends)) in all.enumerate() {
            let requested = container.requests.get(self.name).copied().unwrap_or(0);
            let reused = requested.min(reusable);
            let needed = requested - reused;
            if needed > free {
                return Some((position, needed, free));
            }
            free -= needed;
            reusable = if ends { reusable + needed } else { reusable - reused };
        }
        None
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
        // Nodes without the label run Linux.
        let runs_windows = || store.nodes.cluster.object(node).labels.get(NODE_OS).is_some_and(|os| os == "windows");
        if spec.is_windows && !runs_windows() {
            return Some(AdmissionRefusal {
                reason: "PodOSNotSupported".to_owned(),
                message: format!("{REJECTED}Failed to admit pod as the OS field doesn't match node OS"),
            });
        }
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

    /// Returns the refusal of a pod for which the admitted pods of the node leave too few devices or, if it gets its
    /// devices, too little of another resource. An extended resource that the node does not have is not checked.
    fn missing_resource(&self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) -> Option<AdmissionRefusal> {
        let store = &*ctx.store;
        let cluster = &store.nodes.cluster;
        let columns = cluster.resources.len();
        let used_of = |column: u32| -> i64 {
            let others = self.admitted_pods(ctx, pod, node);
            let requests = others.flat_map(|other| store.template(other).facts.requests.iter());
            requests.filter(|(of, _)| *of == column).map(|(_, milli)| milli).sum()
        };
        let missing = store.template(pod).facts.requests.iter().filter_map(|&(column, requested)| {
            let name = cluster.resources[column as usize].as_str();
            let capacity = cluster.allocatable[node.ix() * columns + column as usize];
            let is_absent = name.contains('/') && capacity == 0;
            let used = if requested > 0 && !is_absent { used_of(column) } else { 0 };
            let is_missing = requested > 0 && !is_absent && used + requested > capacity;
            is_missing.then_some(MissingResource { name, requested, used, capacity })
        });
        let missing: Vec<MissingResource<'_>> = missing.collect();
        let devices = missing.iter().filter(|resource| resource.is_device());
        let failing = devices.filter_map(|device| Some((device.failing_container(store.pod_spec(pod))?, device)));
        if let Some(((_, needed, free), device)) = failing.min_by_key(|((position, ..), _)| *position) {
            return Some(AdmissionRefusal::allocation(&format!(
                "requested number of devices unavailable for {}. Requested: {}, Available: {}",
                device.name,
                needed / MILLI,
                free / MILLI
            )));
        }
        let MissingResource { name, requested, used, capacity } = missing.first()?;
        // CPU is counted in thousandths.
        let unit = if *name == "cpu" { 1 } else { MILLI };
        let (requested, used, capacity) = (requested / unit, used / unit, capacity / unit);
        Some(AdmissionRefusal {
            reason: format!("OutOf{name}"),
            message: format!(
                "{REJECTED}Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: \
                 {capacity}"
            ),
        })
    }

    /// Writes the phase Failed of a pod that is not admitted.
    pub(super) fn refuse_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, refusal: AdmissionRefusal) {
        let message = refusal.message.trim_start_matches(REJECTED);
        ctx.emit_kube_event(ObjectRef::Pod(pod), true, &refusal.reason, message);
        self.refusals.insert(pod, refusal);
        self.write_status(ctx, pod, StatusWrite::Refused);
    }
}
