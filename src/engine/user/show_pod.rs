//! The status of a pod as written by its kubelet (`kubelet_pods.go`, generateAPIPodStatus; `status/generate.go`;
//! `prober_manager.go`, UpdatePodStatus), as far as the store contains it.
//!
//! Not shown, because the model does not have them: times, addresses, imageID and containerID, lastState of a
//! restarted container, the waiting state during back-off, exit codes of sidecars, and restartCount if only some of
//! several containers were restarted.

use crate::ctx::Ctx;
use crate::kubelet::Kubelets;
use crate::record::Deleter;
use crate::store::{NO_STATUS, Phase, RESTARTING_ALL, SUCCEEDING, flag};
use serde_json::{Value, json};
use sim_api::spec::{AgentMode, Container, PodSpec, Version};
use sim_base::*;

/// State of the containers in the last status of the kubelet.
#[derive(Copy, Clone, PartialEq)]
enum Stage {
    Starting,
    /// The in-place restart agent runs; the other containers wait for it.
    AtBarrier,
    Up,
    /// RestartAllContainers has removed the containers.
    Removed,
    /// The main containers have ended.
    Ended,
    /// All containers have ended.
    AllEnded,
}

#[derive(Copy, Clone, PartialEq)]
enum State {
    Waiting,
    Removed,
    /// The flag is the `started` field.
    Running(bool),
    /// The exit code; `None` if it is not modelled.
    Ended(Option<i32>),
}

/// The status of one container.
struct Shown<'a> {
    container: &'a Container,
    init: bool,
    state: State,
}

impl Shown<'_> {
    fn is_sidecar(&self) -> bool {
        self.init && self.container.is_sidecar()
    }

    fn is_started(&self) -> bool {
        self.state == State::Running(true)
    }

    /// True if the container runs: there are no readiness probes.
    fn is_ready(&self) -> bool {
        let completed = self.init && !self.is_sidecar() && self.state == State::Ended(Some(0));
        self.is_started() || completed
    }

    fn json(&self, restarts: Option<u32>, has_init: bool) -> Value {
        let state = match self.state {
            State::Waiting => {
                let reason = match has_init {
                    true => "PodInitializing",
                    false => "ContainerCreating",
                };
                json!({"waiting": {"reason": reason}})
            }
            State::Removed => {
                json!({"waiting": {"reason": RESTARTING, "message": REMOVED}})
            }
            State::Running(_) => json!({"running": {}}),
            State::Ended(None) => json!({"terminated": {}}),
            State::Ended(Some(code)) => {
                let reason = if code == 0 { "Completed" } else { "Error" };
                json!({"terminated": {"exitCode": code, "reason": reason}})
            }
        };
        let mut shown = json!({"name": self.container.name, "image": self.container.image, "state": state,
            "ready": self.is_ready(), "started": self.is_started()});
        if self.state == State::Removed {
            let was = json!({"exitCode": KILLED, "reason": RESTARTING, "message": REMOVED});
            shown["lastState"] = json!({"terminated": was});
        }
        if let Some(restarts) = restarts {
            shown["restartCount"] = json!(restarts);
        }
        shown
    }
}

const RESTARTING: &str = "RestartingAllContainers";
const REMOVED: &str = "The container is removed because RestartAllContainers in place";
const KILLED: i32 = 137;

pub(super) fn status(ctx: &Ctx<'_>, pod: PodId, kubelets: &Kubelets) -> Value {
    let (store, i) = (&**ctx.store, pod.ix());
    let phase = store.pods.phase[i];
    let mut status = json!({"phase": format!("{phase:?}")});
    let mut conditions: Vec<Value> = disruption(ctx, pod).into_iter().collect();
    let bound = store.pods.has(pod, flag::BOUND);
    // No status was written for a pod on an unresponsive node; replayed recordings begin when the containers run.
    let unseen = ctx.scripted() || kubelets.waits_since(pod).is_some();
    let silent = phase == Phase::Pending && unseen;
    let unknown = phase.is_terminal() && store.pods.exit_container[i] == NO_STATUS;
    if bound && !silent && !unknown {
        let spec = store.pod_spec(pod);
        let stage = stage(ctx, pod);
        let all = containers(ctx, pod, stage);
        conditions.extend(of_kubelet(ctx, pod, stage, &all));
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
        conditions.extend(scheduled(ctx, pod));
    }
    status["conditions"] = conditions.into();
    status
}

fn stage(ctx: &Ctx<'_>, pod: PodId) -> Stage {
    let (store, pods) = (&ctx.store, &ctx.store.pods);
    let node = pods.node[pod.ix()];
    match pods.exit_container[pod.ix()] {
        _ if pods.is_terminal(pod) => Stage::AllEnded,
        RESTARTING_ALL => Stage::Removed,
        NO_STATUS if pods.phase[pod.ix()] == Phase::Pending => Stage::Starting,
        // The node lifecycle controller also clears Ready, and nothing else.
        NO_STATUS if pods.has(pod, flag::READY) || store.nodes.rows[node.ix()].unknown => Stage::Up,
        NO_STATUS if store.template(pod).agent.has_barrier() => Stage::AtBarrier,
        NO_STATUS => Stage::Up,
        _ => Stage::Ended,
    }
}

fn containers<'a>(ctx: &'a Ctx<'_>, pod: PodId, stage: Stage) -> Vec<Shown<'a>> {
    let store = &**ctx.store;
    let spec = store.pod_spec(pod);
    let agent = agent(spec, store.template(pod).agent).filter(|_| stage == Stage::AtBarrier);
    let init = spec.init_containers.iter().enumerate();
    let init = init.map(|(at, container)| Shown {
        container,
        init: true,
        state: match stage {
            Stage::Starting => State::Waiting,
            Stage::Removed => State::Removed,
            _ if agent.is_some_and(|agent| at > agent) => State::Waiting,
            _ if !container.is_sidecar() => State::Ended(Some(0)),
            Stage::AllEnded => State::Ended(None),
            _ => State::Running(agent != Some(at)),
        },
    });
    let sidecar = matches!(store.template(pod).agent, AgentMode::Sidecar { .. });
    let mains = spec.containers.iter().enumerate();
    let mains = mains.map(|(at, container)| Shown {
        container,
        init: false,
        state: match stage {
            Stage::Starting => State::Waiting,
            Stage::Removed => State::Removed,
            Stage::AtBarrier if sidecar => State::Waiting,
            // The agent is among them.
            Stage::AtBarrier => State::Running(false),
            Stage::Up => State::Running(true),
            Stage::Ended | Stage::AllEnded => State::Ended(Some(exit_code(ctx, pod, at))),
        },
    });
    init.chain(mains).collect()
}

/// Index of the agent among the init containers.
fn agent(spec: &PodSpec, mode: AgentMode) -> Option<usize> {
    let agent = crate::kubelet::agent_container(spec, mode)?;
    let mut all = spec.init_containers.iter();
    all.position(|c| std::ptr::eq(c, agent))
}

fn exit_code(ctx: &Ctx<'_>, pod: PodId, container: usize) -> i32 {
    let pods = &ctx.store.pods;
    let which = pods.exit_container[pod.ix()];
    let its = which == 0 || usize::from(which) == container + 1;
    match which != SUCCEEDING && its {
        true => i32::from(pods.exit_code[pod.ix()]),
        false => 0,
    }
}

/// The restart count of every container, if all have restarted equally often.
fn restart_count(ctx: &Ctx<'_>, pod: PodId) -> Option<u32> {
    let (pods, spec) = (&ctx.store.pods, ctx.store.pod_spec(pod));
    let (most, sum) = (pods.restarts[pod.ix()], pods.restart_sum[pod.ix()]);
    let all = spec.containers.len() + spec.init_containers.len();
    (sum == most.saturating_mul(all as u32)).then_some(most)
}

/// Conditions in the order of generateAPIPodStatus.
fn of_kubelet(ctx: &Ctx<'_>, pod: PodId, stage: Stage, all: &[Shown<'_>]) -> Vec<Value> {
    let phase = ctx.store.pods.phase[pod.ix()];
    let mut conditions = Vec::new();
    // PodReadyToStartContainersCondition is enabled since 1.29.
    if ctx.scenario.control_plane.kubernetes >= Version::new(29) {
        // SyncTerminatingPod has stopped the sandbox.
        let sandbox = !matches!(stage, Stage::Starting | Stage::AllEnded);
        conditions.push(condition("PodReadyToStartContainers", sandbox, "", ""));
    }
    conditions.push(initialized(phase, all));
    let (ready, reason, message) = containers_ready(phase, all);
    let of_node = ready && !ctx.store.pods.has(pod, flag::READY);
    conditions.push(condition("Ready", ready && !of_node, reason, &message));
    conditions.push(condition("ContainersReady", ready, reason, &message));
    conditions.push(condition("PodScheduled", true, "", ""));
    conditions
}

/// GeneratePodInitializedCondition.
fn initialized(phase: Phase, all: &[Shown<'_>]) -> Value {
    let begun = |c: &Shown| matches!(c.state, State::Running(_) | State::Ended(_));
    let incomplete = |c: &&Shown| {
        let done = if c.is_sidecar() {
            c.is_started()
        } else {
            c.is_ready()
        };
        c.init && !done
    };
    let open = names(all.iter().filter(incomplete));
    match () {
        () if phase == Phase::Succeeded => condition("Initialized", true, "PodCompleted", ""),
        () if open.is_empty() || all.iter().any(|c| !c.init && begun(c)) => {
            condition("Initialized", true, "", "")
        }
        () => {
            let message = format!("containers with incomplete status: [{open}]");
            condition("Initialized", false, "ContainersNotInitialized", &message)
        }
    }
}

/// GenerateContainersReadyCondition.
fn containers_ready(phase: Phase, all: &[Shown<'_>]) -> (bool, &'static str, String) {
    let unready = |c: &&Shown| (!c.init || c.is_sidecar()) && !c.is_ready();
    let unready = names(all.iter().filter(unready));
    match phase {
        Phase::Succeeded => (false, "PodCompleted", String::new()),
        Phase::Failed => (false, "PodFailed", String::new()),
        _ if unready.is_empty() => (true, "", String::new()),
        _ => {
            let message = format!("containers with unready status: [{unready}]");
            (false, "ContainersNotReady", message)
        }
    }
}

/// Formats a list of strings like Go.
fn names<'a>(some: impl Iterator<Item = &'a Shown<'a>>) -> String {
    let names: Vec<&str> = some.map(|c| c.container.name.as_str()).collect();
    names.join(" ")
}

fn condition(kind: &str, status: bool, reason: &str, message: &str) -> Value {
    let mut shown = json!({"type": kind, "status": if status { "True" } else { "False" }});
    for (key, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            shown[key] = json!(text);
        }
    }
    shown
}

/// The condition before a kubelet has processed the pod: PodScheduled; absent if the template names the node.
fn scheduled(ctx: &Ctx<'_>, pod: PodId) -> Option<Value> {
    let pods = &ctx.store.pods;
    let named = ctx.store.pod_spec(pod).node_name.is_some();
    (!named).then(|| match pods.node[pod.ix()].is_some() {
        true => condition("PodScheduled", true, "", ""),
        false if pods.has(pod, flag::GATED) => {
            condition("PodScheduled", false, "SchedulingGated", "")
        }
        false => condition("PodScheduled", false, "Unschedulable", ""),
    })
}

/// The condition DisruptionTarget with the message of its writer: `eviction.go`, `taint_eviction.go`,
/// `gc_controller.go`, `pod_controller.go`.
fn disruption(ctx: &Ctx<'_>, pod: PodId) -> Option<Value> {
    let by = ctx.store.pods.disrupted_by.get(&pod)?;
    let (reason, message) = match by {
        Deleter::Eviction => ("EvictionByEvictionAPI", "Eviction API: evicting"),
        Deleter::TaintEviction => (
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
        ),
        Deleter::PodGarbageCollector => ("DeletionByPodGC", "PodGC: node no longer exists"),
        Deleter::JobSetManager => (
            "ExclusivePlacementViolation",
            "Pod violated JobSet exclusive placement policy",
        ),
        _ => return None,
    };
    Some(condition("DisruptionTarget", true, reason, message))
}
