//! The status of a pod as written by its kubelet (`kubelet_pods.go`, generateAPIPodStatus; `status/generate.go`;
//! `prober_manager.go`, UpdatePodStatus), as far as the store contains it.
//!
//! Not shown, because the model does not have them: times, addresses, imageID and containerID, lastState of a
//! restarted container, the waiting state during back-off, exit codes of sidecars, and restartCount if only some of
//! several containers were restarted.

use crate::store::{ContainersState, PodPhase, failed_init, flag};
use crate::{ctx::EngineContext, kubelet::KubeletState, record::DeletionActor};
use serde_json::{Value, json};
use sim_api::spec::{AgentMode, ContainerSpec, KubeVersion, PodSpec};
use sim_base::PodId;
use sim_scheduler::decision::PRESCORE_ERROR;

/// State of the containers in the last status of the kubelet.
#[derive(Copy, Clone, PartialEq)]
enum PodStage {
    Starting,
    /// The in-place restart agent runs; the other containers wait for it.
    AtBarrier,
    Up,
    /// RestartAllContainers has removed the containers.
    Removed,
    /// The main containers have ended.
    Ended,
    AllEnded,
}

#[derive(Copy, Clone, PartialEq)]
enum ContainerState {
    Waiting,
    Removed,
    /// The flag is the `started` field.
    Running(bool),
    /// The exit code; `None` if it is not modelled.
    Ended(Option<i32>),
}

/// The status of one container.
struct ContainerStatus<'a> {
    container: &'a ContainerSpec,
    init: bool,
    state: ContainerState,
}

impl ContainerStatus<'_> {
    fn is_sidecar(&self) -> bool {
        self.init && self.container.is_sidecar()
    }

    fn is_started(&self) -> bool {
        self.state == ContainerState::Running(true)
    }

    /// True if the container runs and its probes have succeeded.
    fn is_ready(&self) -> bool {
        let completed = self.init && !self.is_sidecar() && self.state == ContainerState::Ended(Some(0));
        self.is_started() || completed
    }

    fn json(&self, restarts: Option<u32>, has_init: bool) -> Value {
        let state = match self.state {
            ContainerState::Waiting => {
                let reason = if has_init { "PodInitializing" } else { "ContainerCreating" };
                json!({"waiting": {"reason": reason}})
            }
            ContainerState::Removed => {
                json!({"waiting": {"reason": RESTARTING, "message": REMOVED}})
            }
            ContainerState::Running(_) => json!({"running": {}}),
            ContainerState::Ended(None) => json!({"terminated": {}}),
            ContainerState::Ended(Some(code)) => {
                let reason = if code == 0 { "Completed" } else { "Error" };
                json!({"terminated": {"exitCode": code, "reason": reason}})
            }
        };
        let mut object = json!({"name": self.container.name, "image": self.container.image, "state": state,
            "ready": self.is_ready(), "started": self.is_started()});
        if self.state == ContainerState::Removed {
            let was = json!({"exitCode": KILLED, "reason": RESTARTING, "message": REMOVED});
            object["lastState"] = json!({"terminated": was});
        }
        if let Some(restarts) = restarts {
            object["restartCount"] = json!(restarts);
        }
        object
    }
}

const RESTARTING: &str = "RestartingAllContainers";
const REMOVED: &str = "The container is removed because RestartAllContainers in place";
const KILLED: i32 = 137;

pub(super) fn pod_status_json(ctx: &EngineContext<'_>, pod: PodId, kubelets: &KubeletState) -> Value {
    let (store, i) = (&**ctx.store, pod.ix());
    let phase = store.pods.phase[i];
    let mut status = json!({"phase": format!("{phase:?}")});
    let mut conditions: Vec<Value> = disruption_condition(ctx, pod).into_iter().collect();
    let bound = store.pods.has(pod, flag::BOUND);
    // No status was written for a pod on an unresponsive node; replayed recordings begin when the containers run.
    let unseen = ctx.has_scripted_kubelets() || kubelets.waiting_since(pod).is_some();
    let silent = phase == PodPhase::Pending && unseen;
    let unknown = phase.is_terminal() && store.pods.containers[i].get() == ContainersState::NoStatus;
    if bound && !silent && !unknown {
        let spec = store.pod_spec(pod);
        let stage = pod_stage(ctx, pod);
        let all = container_statuses(ctx, pod, stage);
        conditions.extend(kubelet_conditions(ctx, pod, stage, &all));
        let restarts = restart_count(ctx, pod);
        let has_init = !spec.init_containers.is_empty();
        let list = |init: bool| {
            let some = all.iter().filter(|c| c.init == init);
            some.map(|c| c.json(restarts, has_init)).collect::<Value>()
        };
        if has_init {
            status["initContainerStatuses"] = list(true);
        }
        status["containerStatuses"] = list(false);
    } else {
        conditions.extend(scheduled_condition(ctx, pod));
    }
    status["conditions"] = conditions.into();
    if let Some((reason, message)) = kubelets.refusal(pod).filter(|_| phase == PodPhase::Failed) {
        (status["reason"], status["message"]) = (json!(reason), json!(message));
    }
    status
}

fn pod_stage(ctx: &EngineContext<'_>, pod: PodId) -> PodStage {
    let (store, pods) = (&ctx.store, &ctx.store.pods);
    let node = pods.node[pod.ix()];
    match pods.containers[pod.ix()].get() {
        _ if pods.is_terminal(pod) => PodStage::AllEnded,
        ContainersState::Removed => PodStage::Removed,
        ContainersState::NoStatus if pods.phase[pod.ix()] == PodPhase::Pending => PodStage::Starting,
        // The node lifecycle controller also clears Ready, and nothing else.
        ContainersState::NoStatus if pods.has(pod, flag::READY) || store.nodes.rows[node.ix()].unknown => PodStage::Up,
        ContainersState::NoStatus if store.template(pod).agent.has_barrier() => PodStage::AtBarrier,
        ContainersState::NoStatus => PodStage::Up,
        _ => PodStage::Ended,
    }
}

fn container_statuses<'a>(ctx: &'a EngineContext<'_>, pod: PodId, stage: PodStage) -> Vec<ContainerStatus<'a>> {
    let store = &**ctx.store;
    let spec = store.pod_spec(pod);
    let agent = agent_index(spec, store.template(pod).agent).filter(|_| stage == PodStage::AtBarrier);
    let failed = failed_init(store, pod).filter(|_| matches!(stage, PodStage::Ended | PodStage::AllEnded));
    let unready = has_probes(spec) && !store.pods.has(pod, flag::READY);
    let init = spec.init_containers.iter().enumerate();
    let init = init.map(|(at, container)| ContainerStatus {
        container,
        init: true,
        state: match stage {
            PodStage::Starting => ContainerState::Waiting,
            PodStage::Removed => ContainerState::Removed,
            _ if failed.is_some_and(|failed| at > failed) => ContainerState::Waiting,
            _ if failed == Some(at) => ContainerState::Ended(Some(i32::from(store.pods.exit_code[pod.ix()]))),
            _ if agent.is_some_and(|agent| at > agent) => ContainerState::Waiting,
            _ if !container.is_sidecar() => ContainerState::Ended(Some(0)),
            PodStage::AllEnded => ContainerState::Ended(None),
            _ => ContainerState::Running(agent != Some(at)),
        },
    });
    let sidecar = matches!(store.template(pod).agent, AgentMode::Sidecar { .. });
    let mains = spec.containers.iter().enumerate();
    let mains = mains.map(|(at, container)| ContainerStatus {
        container,
        init: false,
        state: match stage {
            PodStage::Starting => ContainerState::Waiting,
            PodStage::Removed => ContainerState::Removed,
            PodStage::AtBarrier if sidecar => ContainerState::Waiting,
            // The agent is among them.
            PodStage::AtBarrier => ContainerState::Running(false),
            PodStage::Up => ContainerState::Running(!unready),
            _ if failed.is_some() => ContainerState::Waiting,
            PodStage::Ended | PodStage::AllEnded => ContainerState::Ended(Some(exit_code(ctx, pod, at))),
        },
    });
    init.chain(mains).collect()
}

/// Returns true if a probe decides whether a main container is ready.
fn has_probes(spec: &PodSpec) -> bool {
    let mut mains = spec.containers.iter();
    mains.any(|c| c.startup_probe.is_some() || c.readiness_probe.is_some())
}

/// Index of the agent among the init containers.
fn agent_index(spec: &PodSpec, mode: AgentMode) -> Option<usize> {
    let agent = crate::kubelet::agent_container(spec, mode)?;
    let mut all = spec.init_containers.iter();
    all.position(|c| std::ptr::eq(c, agent))
}

fn exit_code(ctx: &EngineContext<'_>, pod: PodId, container: usize) -> i32 {
    let pods = &ctx.store.pods;
    match pods.containers[pod.ix()].get() {
        ContainersState::Exited(exited) if exited.includes(container) => i32::from(pods.exit_code[pod.ix()]),
        _ => 0,
    }
}

/// The restart count of every container, if all have restarted equally often.
fn restart_count(ctx: &EngineContext<'_>, pod: PodId) -> Option<u32> {
    let (pods, spec) = (&ctx.store.pods, ctx.store.pod_spec(pod));
    let (most, sum) = (pods.restarts[pod.ix()], pods.restart_sum[pod.ix()]);
    let all = spec.containers.len() + spec.init_containers.len();
    (sum == most.saturating_mul(all as u32)).then_some(most)
}

/// Conditions in the order of generateAPIPodStatus.
fn kubelet_conditions(ctx: &EngineContext<'_>, pod: PodId, stage: PodStage, all: &[ContainerStatus<'_>]) -> Vec<Value> {
    let phase = ctx.store.pods.phase[pod.ix()];
    let mut conditions = Vec::new();
    // PodReadyToStartContainersCondition is enabled since 1.29.
    if ctx.scenario.control_plane.kubernetes >= KubeVersion::new(29) {
        // SyncTerminatingPod has stopped the sandbox.
        let sandbox = !matches!(stage, PodStage::Starting | PodStage::AllEnded);
        conditions.push(condition_json("PodReadyToStartContainers", sandbox, "", ""));
    }
    conditions.push(initialized_condition(phase, all));
    let (ready, reason, message) = containers_ready(phase, all);
    let of_node = ready && !ctx.store.pods.has(pod, flag::READY);
    conditions.push(condition_json("Ready", ready && !of_node, reason, &message));
    conditions.push(condition_json("ContainersReady", ready, reason, &message));
    conditions.push(condition_json("PodScheduled", true, "", ""));
    conditions
}

/// Message of `pkg/registry/core/pod/strategy.go`.
const SCHEDULING_GATED: &str = "Scheduling is blocked due to non-empty scheduling gates";

/// Port of the kubelet's `GeneratePodInitializedCondition`.
fn initialized_condition(phase: PodPhase, all: &[ContainerStatus<'_>]) -> Value {
    let begun = |c: &ContainerStatus| matches!(c.state, ContainerState::Running(_) | ContainerState::Ended(_));
    let incomplete = |c: &&ContainerStatus| {
        let done = if c.is_sidecar() { c.is_started() } else { c.is_ready() };
        c.init && !done
    };
    let open = format_names(all.iter().filter(incomplete));
    match () {
        () if phase == PodPhase::Succeeded => condition_json("Initialized", true, "PodCompleted", ""),
        () if open.is_empty() || all.iter().any(|c| !c.init && begun(c)) => condition_json("Initialized", true, "", ""),
        () => {
            let message = format!("containers with incomplete status: [{open}]");
            condition_json("Initialized", false, "ContainersNotInitialized", &message)
        }
    }
}

/// Port of the kubelet's `GenerateContainersReadyCondition`.
fn containers_ready(phase: PodPhase, all: &[ContainerStatus<'_>]) -> (bool, &'static str, String) {
    let unready = |c: &&ContainerStatus| (!c.init || c.is_sidecar()) && !c.is_ready();
    let unready = format_names(all.iter().filter(unready));
    match phase {
        PodPhase::Succeeded => (false, "PodCompleted", String::new()),
        PodPhase::Failed => (false, "PodFailed", String::new()),
        _ if unready.is_empty() => (true, "", String::new()),
        _ => {
            let message = format!("containers with unready status: [{unready}]");
            (false, "ContainersNotReady", message)
        }
    }
}

/// Formats a list of strings like Go.
fn format_names<'a>(some: impl Iterator<Item = &'a ContainerStatus<'a>>) -> String {
    let names: Vec<&str> = some.map(|c| c.container.name.as_str()).collect();
    names.join(" ")
}

fn condition_json(kind: &str, status: bool, reason: &str, message: &str) -> Value {
    let mut object = json!({"type": kind, "status": if status { "True" } else { "False" }});
    for (key, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            object[key] = json!(text);
        }
    }
    object
}

/// The condition before a kubelet has processed the pod: PodScheduled; absent if the template names the node, and
/// before the scheduler has tried the pod.
fn scheduled_condition(ctx: &EngineContext<'_>, pod: PodId) -> Option<Value> {
    let pods = &ctx.store.pods;
    let named = ctx.store.pod_spec(pod).node_name.is_some();
    match pods.node[pod.ix()].is_some() {
        _ if named => None,
        true => Some(condition_json("PodScheduled", true, "", "")),
        false if pods.has(pod, flag::GATED) => {
            Some(condition_json("PodScheduled", false, "SchedulingGated", SCHEDULING_GATED))
        }
        false => {
            let message = ctx.store.names.text(*pods.unschedulable.get(&pod)?);
            let is_error = message.starts_with(PRESCORE_ERROR);
            let reason = if is_error { "SchedulerError" } else { "Unschedulable" };
            Some(condition_json("PodScheduled", false, reason, message))
        }
    }
}

/// The condition DisruptionTarget with the message of its writer: `eviction.go`, `taint_eviction.go`,
/// `gc_controller.go`, `pod_controller.go`.
fn disruption_condition(ctx: &EngineContext<'_>, pod: PodId) -> Option<Value> {
    let by = ctx.store.pods.disrupted_by.get(&pod)?;
    let (reason, message) = match by {
        DeletionActor::Eviction => ("EvictionByEvictionAPI", "Eviction API: evicting"),
        DeletionActor::Preemption => {
            ("PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
        }
        DeletionActor::TaintEviction => ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"),
        DeletionActor::PodGarbageCollector => ("DeletionByPodGC", "PodGC: node no longer exists"),
        DeletionActor::JobSetManager => {
            ("ExclusivePlacementViolation", "Pod violated JobSet exclusive placement policy")
        }
        _ => return None,
    };
    Some(condition_json("DisruptionTarget", true, reason, message))
}
