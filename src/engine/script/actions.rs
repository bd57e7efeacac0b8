//! Scripted faults and actions: each at its time, on the object that it names.

use super::lookup::pod_by_name;
use super::requests::delete_pod;
use super::state::ScriptRunner;
use super::webhooks::{UPDATE_WEBHOOK, check_webhook_available};
use crate::record::{Body, TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, kubelet::KubeletState, store::flag};
use sim_api::spec::{DeletionPropagation, FaultAction, FaultTime, NodeRef, SilentTarget};
use sim_base::{Duration, JobSetId, NodeId, PodId};

/// Pause of kubectl drain between two attempts (`kubectl/pkg/drain/drain.go`, evictPods).
const EVICTION_RETRY: Duration = Duration::from_secs(5);

impl ScriptRunner {
    pub(super) fn act(&mut self, ctx: &mut EngineContext<'_>, index: u32, kubelets: &mut KubeletState) {
        use FaultAction::*;
        let fault = &ctx.scenario.faults[index as usize];
        match &fault.random_cause {
            Some(_) if matches!(fault.at, FaultTime::At(_)) => self.random_faults_left -= 1,
            Some(_) => {}
            None => self.actions_left -= 1,
        }
        let action = &fault.action;
        match action {
            ContainerExit { pod, .. } | DeletePod { pod, .. } | EvictPod { pod } => {
                self.act_on_pod(ctx, index, (action, pod), kubelets);
            }
            CrashNode(n)
            | PartitionNode(n)
            | ReturnNode(n)
            | DeleteNode(n)
            | CordonNode(n)
            | UncordonNode(n)
            | DrainNode(n)
            | NewNode(n)
            | TaintNode(n, _) => {
                let Some(node) = self.resolve_node(ctx, n) else {
                    if fault.random_cause.is_some() {
                        return;
                    }
                    let text = format!("{}: no such node at {}", fault_name(ctx, index), ctx.now);
                    return ctx.progress.warnings.push(text);
                };
                let Some(action) = self.holds.effective_action(ctx, index, node) else {
                    return;
                };
                let pod = PodId::NONE;
                ctx.emit(Body::Fault { index, node, pod });
                self.act_on_node(ctx, (index, &action), node, kubelets);
            }
            Silent { on, .. } => self.inject_silent_fault(ctx, index, on, kubelets),
            Request(request) => self.request(ctx, index, request, kubelets),
            StopManager(_) => {
                let (node, pod) = (NodeId::NONE, PodId::NONE);
                ctx.emit(Body::Fault { index, node, pod });
                let stops = SimulationEvent::ManagerStopped(index);
                ctx.schedule_after(Duration::ZERO, TicketWait::Script, TicketSubject::Nothing, stops);
            }
            FailImagePulls(failure) => {
                let (node, pod) = (NodeId::NONE, PodId::NONE);
                ctx.emit(Body::Fault { index, node, pod });
                kubelets.fail_image_pulls(ctx.now, failure.clone());
            }
            SuspendJobSet(name) => self.suspend(ctx, index, name, true),
            ResumeJobSet(name) => self.suspend(ctx, index, name, false),
            DeleteJobSet(name) => {
                if let Some(jobset) = self.target_jobset(ctx, index, name) {
                    if ctx.store.jobsets[jobset.ix()].is_deleting() {
                        warn_of_jobset(ctx, (index, name), "deleteJobSet", "it was already being deleted");
                    }
                    apiserver::delete_jobset(ctx, jobset, DeletionPropagation::Foreground);
                }
            }
        }
    }

    fn act_on_pod(
        &mut self, ctx: &mut EngineContext<'_>, index: u32, (action, name): (&FaultAction, &str),
        kubelets: &mut KubeletState,
    ) {
        // A random fault without a target has no effect.
        let drawn = ctx.scenario.faults[index as usize].random_cause.is_some();
        let Some(pod) = pod_by_name(ctx, name) else {
            if drawn {
                return;
            }
            let text = format!("{}: pod {name} did not exist at {}", fault_name(ctx, index), ctx.now);
            return ctx.progress.warnings.push(text);
        };
        let node = ctx.store.pods.node[pod.ix()];
        if drawn && !kubelets.is_up(pod) {
            return;
        }
        ctx.emit(Body::Fault { index, node, pod });
        let graceful = match action {
            FaultAction::DeletePod { force: false, .. } => Some("deletePod"),
            FaultAction::EvictPod { .. } => Some("evictPod"),
            _ => None,
        };
        if let Some(verb) = graceful.filter(|_| !drawn && ctx.store.pods.has(pod, flag::DELETING)) {
            let text = format!(
                "{}: pod {name} at {}: {verb} had no effect, because it was already being deleted",
                fault_name(ctx, index),
                ctx.now
            );
            ctx.progress.warnings.push(text);
        }
        match action {
            FaultAction::ContainerExit { exit_code, .. } => {
                if !kubelets.end_process(ctx, pod, *exit_code) {
                    let (fault, at) = (fault_name(ctx, index), ctx.now);
                    let text = format!("{fault}: no container of {name} was running at {at}");
                    ctx.progress.warnings.push(text);
                }
            }
            FaultAction::DeletePod { force, .. } => {
                delete_pod(ctx, pod, (*force).then_some(0), kubelets);
            }
            _ => {
                if let Err(refusal) = apiserver::evict_pod(ctx, pod, &mut self.views) {
                    let answer = ctx.intern(refusal);
                    ctx.emit(Body::Answered { index, answer });
                }
            }
        }
    }

    /// Only training jobs are affected; no other component is notified.
    fn inject_silent_fault(
        &mut self, ctx: &mut EngineContext<'_>, index: u32, on: &SilentTarget, kubelets: &KubeletState,
    ) {
        let (node, pod) = match on {
            SilentTarget::Node(node) => (self.resolve_node(ctx, node), PodId::NONE),
            SilentTarget::Pod(name) => {
                let pod = pod_by_name(ctx, name).filter(|pod| kubelets.is_up(*pod));
                let pod = pod.unwrap_or(PodId::NONE);
                (Some(NodeId::NONE), pod)
            }
        };
        let Some(node) = node.filter(|node| node.is_some() || pod.is_some()) else {
            if ctx.scenario.faults[index as usize].random_cause.is_none() {
                let target = match on {
                    SilentTarget::Node(_) => "its node did not exist",
                    SilentTarget::Pod(_) => "its pod was not running",
                };
                let (fault, at) = (fault_name(ctx, index), ctx.now);
                let text = format!("{fault} at {at}: it had no effect, because {target}");
                ctx.progress.warnings.push(text);
            }
            return;
        };
        ctx.emit(Body::Fault { index, node, pod });
        apiserver::note_silent_fault(ctx, index, node, pod);
    }

    fn act_on_node(
        &mut self, ctx: &mut EngineContext<'_>, (index, action): (u32, &FaultAction), node: NodeId,
        kubelets: &mut KubeletState,
    ) {
        use FaultAction::*;
        if ctx.scenario.faults[index as usize].random_cause.is_none() && !ctx.has_scripted_kubelets() {
            warn_without_effect(ctx, (index, action), node, kubelets);
        }
        match action {
            CrashNode(_) => kubelets.lose_node(ctx, node, true),
            PartitionNode(_) => kubelets.lose_node(ctx, node, false),
            ReturnNode(_) => kubelets.return_node(ctx, node),
            DeleteNode(_) => apiserver::delete_node(ctx, node),
            CordonNode(_) => apiserver::set_unschedulable(ctx, node, true),
            UncordonNode(_) => apiserver::set_unschedulable(ctx, node, false),
            DrainNode(_) => self.drain(ctx, node),
            TaintNode(_, taint) => apiserver::add_taint(ctx, node, taint.clone()),
            NewNode(_) => replace_node(ctx, node, kubelets),
            other => unreachable!("not an action on a node: {other:?}"),
        }
    }

    fn suspend(&mut self, ctx: &mut EngineContext<'_>, index: u32, name: &str, suspend: bool) {
        let Some(jobset) = self.target_jobset(ctx, index, name) else {
            return;
        };
        let row = &ctx.store.jobsets[jobset.ix()];
        let (action, same) =
            if suspend { ("suspend", "it was already suspended") } else { ("resume", "it was not suspended") };
        if row.suspended() == suspend {
            return warn_of_jobset(ctx, (index, name), action, same);
        }
        if row.is_deleting() {
            warn_of_jobset(ctx, (index, name), action, "it was being deleted");
        } else if row.status.terminal_state.is_some() {
            warn_of_jobset(ctx, (index, name), action, "it had finished");
        }
        if let Err(refusal) = check_webhook_available(ctx, UPDATE_WEBHOOK) {
            let answer = ctx.intern(&refusal.to_string());
            return ctx.emit(Body::Answered { index, answer });
        }
        let row = &ctx.store.jobsets[jobset.ix()];
        let mut spec = (*row.spec).clone();
        spec.set_suspend(suspend);
        apiserver::set_jobset_spec(ctx, jobset, spec);
    }

    /// The stored JobSet with that name, after writing the record of the action; without one, an error response is
    /// recorded.
    fn target_jobset(&mut self, ctx: &mut EngineContext<'_>, index: u32, name: &str) -> Option<JobSetId> {
        let result = ctx.store.jobset_named(name);
        if result.is_some() {
            let (node, pod) = (NodeId::NONE, PodId::NONE);
            ctx.emit(Body::Fault { index, node, pod });
        } else {
            let answer = ctx.intern(&format!("jobsets.jobset.x-k8s.io {name:?} not found"));
            ctx.emit(Body::Answered { index, answer });
        }
        result
    }

    fn resolve_node(&mut self, ctx: &EngineContext<'_>, r: &NodeRef) -> Option<NodeId> {
        let known = |alias: &str| {
            let matching = self.aliases.iter().find(|(a, _)| a == alias);
            matching.map(|(_, node)| *node)
        };
        let node = if let Some(name) = &r.name {
            ctx.store.nodes.find_by_name(name)
        } else if let Some(pod) = &r.of_pod {
            let pod = pod_by_name(ctx, pod)?;
            Some(ctx.store.pods.node[pod.ix()]).filter(|n| n.is_some())
        } else {
            r.alias.as_deref().and_then(known)
        }?;
        if let Some(alias) = &r.alias
            && known(alias).is_none()
        {
            self.aliases.push((alias.clone(), node));
        }
        Some(node)
    }
}

/// Node repair: a new machine gets the name and description of the old Node, which is removed first.
fn replace_node(ctx: &mut EngineContext<'_>, node: NodeId, kubelets: &mut KubeletState) {
    let object = ctx.store.nodes.cluster.object(node);
    apiserver::delete_node(ctx, node);
    let created = apiserver::create_node(ctx, &object);
    assert!(created, "the name is free");
    kubelets.new_machine(ctx, node);
}

/// Returns the name of a fault in warnings, by its entry in the scenario file.
fn fault_name(ctx: &EngineContext<'_>, index: u32) -> String {
    format!("fault {}", ctx.scenario.fault_number(index))
}

/// Warns of an action on a JobSet that changes nothing.
fn warn_of_jobset(ctx: &mut EngineContext<'_>, (index, name): (u32, &str), action: &str, reason: &str) {
    let (fault, at) = (fault_name(ctx, index), ctx.now);
    let text = format!("{fault}: JobSet {name} at {at}: {action} had no effect, because {reason}");
    ctx.progress.warnings.push(text);
}

/// Warns of an action that finds the state that it would bring about.
fn warn_without_effect(
    ctx: &mut EngineContext<'_>, (index, action): (u32, &FaultAction), node: NodeId, kubelets: &KubeletState,
) {
    let row = ctx.store.nodes.rows[node.ix()];
    let needs_object = matches!(
        action,
        FaultAction::DeleteNode(_)
            | FaultAction::CordonNode(_)
            | FaultAction::UncordonNode(_)
            | FaultAction::DrainNode(_)
            | FaultAction::TaintNode(..)
    );
    let reason = match action {
        _ if needs_object && !row.exists => {
            let verb = action_verb(action);
            let text = format!(
                "{}: node {} at {}: {verb} had no effect, because the Node did not exist",
                fault_name(ctx, index),
                ctx.store.names.node(node),
                ctx.now
            );
            return ctx.progress.warnings.push(text);
        }
        FaultAction::DrainNode(_) if row.cordoned && drained_pods(ctx, node).is_empty() => {
            "drainNode had no effect, because it was already cordoned and had no pods to evict"
        }
        FaultAction::TaintNode(_, taint) if ctx.store.nodes.taints_of(node).any(|known| known == taint) => {
            "taintNode had no effect, because it already had the taint"
        }
        FaultAction::ReturnNode(_) if kubelets.is_responsive(node) && !row.exists => {
            "returnNode had no effect, because its Node was deleted and its machine had not left (newNode creates the \
             Node again)"
        }
        FaultAction::ReturnNode(_) if kubelets.is_responsive(node) => {
            "returnNode had no effect, because it had not left"
        }
        FaultAction::CrashNode(_) if kubelets.has_crashed(node) => {
            "crashNode had no effect, because it had already crashed"
        }
        FaultAction::PartitionNode(_) if !kubelets.is_responsive(node) => {
            "partitionNode had no effect, because it had already left"
        }
        FaultAction::CordonNode(_) if row.cordoned => "cordonNode had no effect, because it was already cordoned",
        FaultAction::UncordonNode(_) if !row.cordoned => "uncordonNode had no effect, because it was not cordoned",
        _ => return,
    };
    let (fault, node) = (fault_name(ctx, index), ctx.store.names.node(node));
    let text = format!("{fault}: node {node} at {}: {reason}", ctx.now);
    ctx.progress.warnings.push(text);
}

/// The name in a scenario of an action on a Node object.
fn action_verb(action: &FaultAction) -> &'static str {
    match action {
        FaultAction::DeleteNode(_) => "deleteNode",
        FaultAction::CordonNode(_) => "cordonNode",
        FaultAction::UncordonNode(_) => "uncordonNode",
        FaultAction::DrainNode(_) => "drainNode",
        _ => "taintNode",
    }
}

/// The pods that a drain of the node evicts: those that have not ended and are not being deleted.
fn drained_pods(ctx: &EngineContext<'_>, node: NodeId) -> Vec<PodId> {
    let pods = &ctx.store.pods;
    let on_node = ctx.store.nodes.pods[node.ix()].iter().copied();
    on_node.filter(|pod| !pods.is_terminal(*pod) && !pods.has(*pod, flag::DELETING)).collect()
}

impl ScriptRunner {
    /// kubectl drain: cordons the node, then evicts every pod that has not ended.
    fn drain(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        apiserver::set_unschedulable(ctx, node, true);
        for pod in drained_pods(ctx, node) {
            self.evict_until_accepted(ctx, pod);
        }
    }

    /// kubectl drain: asks for an eviction, and again after a pause as long as a PodDisruptionBudget forbids it.
    pub(super) fn evict_until_accepted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if apiserver::evict_pod(ctx, pod, &mut self.views).is_err() {
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            let retry = SimulationEvent::EvictionRetry { pod, incarnation };
            ctx.schedule_after(EVICTION_RETRY, TicketWait::Script, TicketSubject::Pod(pod), retry);
        }
    }
}
