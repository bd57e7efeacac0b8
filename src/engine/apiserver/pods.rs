//! Requests about pods: create, bind, status, annotations, delete, and the end of the object.

use super::{record_change, release_claims};
use crate::record::{Body, Call, DeletionActor};
use crate::store::{ChangeKind, ContainersState, ExitedContainers, ObjectStore, PodChange, PodPhase, flag};
use crate::{ctx::EngineContext, requests::RequestAnswer};
use sim_api::spec::keys::JOB_TRACKING;
use sim_base::{DomainId, Duration, JobId, NodeId, PodId, SimTime, TemplateId, TextId};
use std::collections::BTreeMap;

#[derive(Copy, Clone)]
pub struct NewPod {
    pub job: JobId,
    pub index: u32,
    pub template: TemplateId,
    /// The domain in the webhook's node selector (EXC-8), as returned by `PodWebhook::judge`.
    pub domain: DomainId,
    /// Values of the annotations job-index-failure-count and job-index-ignored-failure-count.
    pub failures: (u16, u16),
    /// True if it has the Job controller's tracking finalizer.
    pub tracked: bool,
    /// True if it has a finalizer of another component.
    pub held: bool,
}

/// The final state of a pod's containers, as written by its kubelet.
#[derive(Copy, Clone)]
pub struct TerminatedPod {
    pub succeeded: bool,
    pub exit_code: u8,
    /// The containers that exited with `exit_code`.
    pub exited: ExitedContainers,
    pub at: SimTime,
}

fn pod_changed(ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
    ctx.store.get_mut().pods.resource_version[pod.ix()] += 1;
    record_change(ctx, ChangeKind::Pod(pod, change));
}

/// Stores the object (response of the POST).
pub fn create_pod(ctx: &mut EngineContext<'_>, new: NewPod) -> PodId {
    let gated = ctx.store.templates.get(new.template).facts.gated;
    let s = ctx.store.get_mut();
    let pod = s.pods.allocate();
    let i = pod.ix();
    let job_try = next_job_try(s, new.job, new.index);
    let p = &mut s.pods;
    p.job[i] = new.job;
    p.index[i] = new.index;
    p.template[i] = new.template;
    p.domain[i] = new.domain;
    p.job_try[i] = job_try;
    (p.index_failures[i], p.ignored_failures[i]) = new.failures;
    for (wanted, flag) in [(new.tracked, flag::FINALIZER), (new.held, flag::HELD), (gated, flag::GATED)] {
        if wanted {
            p.set(pod, flag);
        }
    }
    let j = &mut s.jobs[new.job.ix()];
    j.pods.insert(pod, &p.index, &mut p.at);
    j.live.active += 1;
    j.live.with_finalizer += u32::from(new.tracked);
    let (attempt, incarnation) = (j.restart_attempt, p.incarnation[i]);
    s.update_pod(pod, |s| s.pods.phase[i] = PodPhase::Pending);
    ctx.emit(Body::PodCreated { pod, incarnation, job: new.job, index: new.index, attempt });
    record_change(ctx, ChangeKind::Pod(pod, PodChange::Created));
    let store = &**ctx.store;
    let named = store.pod_spec(pod).node_name.as_ref();
    if let Some(node) = named.and_then(|name| store.nodes.find_by_name(name)) {
        set_node(ctx, pod, node);
    }
    pod
}

/// Number of earlier pods with this index within the current Job object; for NonIndexed Jobs, of the whole Job.
fn next_job_try(s: &mut ObjectStore, job: JobId, index: u32) -> u16 {
    let index = if s.is_indexed(job) { index } else { 0 };
    let j = &s.jobs[job.ix()];
    let gone = j.tries.get(&index).copied().unwrap_or(0);
    let there =
        if s.is_indexed(job) { s.pod_of(job, index) } else { j.pods.iter().max_by_key(|p| s.pods.job_try[p.ix()]) };
    there.map_or(gone, |p| gone.max(s.pods.job_try[p.ix()].saturating_add(1)))
}

/// Stores the binding, unless the pod is removed or terminating. Does not check that the node still exists.
pub fn bind_pod(ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32, node: NodeId) -> RequestAnswer {
    let there = ctx.store.pods.is_current(pod, incarnation) && !ctx.store.pods.has(pod, flag::DELETING);
    let answer = RequestAnswer::from_existence(there);
    ctx.record_response(Call::Bind, answer);
    // The API server binds a pod in a terminal phase too, for which no component acts any more.
    if there && !ctx.store.pods.is_terminal(pod) {
        set_node(ctx, pod, node);
    }
    answer
}

/// Sets the pod's `spec.nodeName`.
fn set_node(ctx: &mut EngineContext<'_>, pod: PodId, node: NodeId) {
    let s = ctx.store.get_mut();
    s.pods.node[pod.ix()] = node;
    s.pods.set(pod, flag::BOUND);
    s.nodes.pods[node.ix()].push(pod);
    let incarnation = s.pods.incarnation[pod.ix()];
    ctx.emit(Body::PodBound { pod, incarnation, node });
    pod_changed(ctx, pod, PodChange::Bound);
}

/// Sets the phase Running: the containers run.
pub fn set_running(ctx: &mut EngineContext<'_>, pod: PodId) {
    if ctx.store.pods.phase[pod.ix()] != PodPhase::Pending {
        return;
    }
    ctx.store.get_mut().pods.phase[pod.ix()] = PodPhase::Running;
    let incarnation = ctx.store.pods.incarnation[pod.ix()];
    ctx.emit(Body::PodRunning { pod, incarnation });
    pod_changed(ctx, pod, PodChange::Running);
}

/// Stores the exit code of a pod and the state of its containers.
pub fn store_container_end(ctx: &mut EngineContext<'_>, pod: PodId, exit_code: u8, state: ContainersState) {
    let pods = &mut ctx.store.get_mut().pods;
    pods.exit_code[pod.ix()] = exit_code;
    pods.containers[pod.ix()] = state.into();
}

/// The status of a succeeding pod was written: if its containers start again and it is not ready, it has not been
/// ready since they ended.
pub fn notify_not_ready_again(ctx: &mut EngineContext<'_>, pod: PodId) {
    let pods = &ctx.store.pods;
    let stays = pods.is_succeeding(pod) || pods.has(pod, flag::READY) || pods.is_terminal(pod);
    if !stays {
        pod_changed(ctx, pod, PodChange::NotReady);
    }
}

/// Marks a pod as not ready because all of its containers exited with code 0.
pub fn set_succeeding(ctx: &mut EngineContext<'_>, pod: PodId) {
    if ctx.store.pods.has(pod, flag::READY) {
        ctx.store.get_mut().pods.containers[pod.ix()] = ContainersState::Succeeding.into();
        set_ready(ctx, pod, false);
    }
}

pub fn set_ready(ctx: &mut EngineContext<'_>, pod: PodId, ready: bool) {
    let i = pod.ix();
    if ctx.store.pods.has(pod, flag::READY) == ready {
        return;
    }
    let now = ctx.now;
    let s = ctx.store.get_mut();
    s.pods.flags[i] ^= flag::READY;
    s.pods.ended_at[i] = if ready { SimTime::NEVER } else { now };
    let incarnation = s.pods.incarnation[i];
    if s.pods.is_active(pod) {
        let live = &mut s.jobs[s.pods.job[i].ix()].live;
        live.ready = if ready { live.ready + 1 } else { live.ready - 1 };
    }
    if ready {
        ctx.emit(Body::PodReady { pod, incarnation });
        pod_changed(ctx, pod, PodChange::Ready);
    } else {
        ctx.emit(Body::PodNotReady { pod, incarnation });
        pod_changed(ctx, pod, PodChange::NotReady);
    }
}

/// Sets the restart counts of the containers: the largest, and their sum.
pub fn set_restarts(ctx: &mut EngineContext<'_>, pod: PodId, restarts: u32, sum: u32) {
    let i = pod.ix();
    let s = ctx.store.get_mut();
    let more = sum - s.pods.restart_sum[i];
    if more == 0 && s.pods.restarts[i] == restarts {
        return;
    }
    s.update_pod(pod, |s| s.pods.restarts[i] = restarts);
    s.pods.restart_sum[i] = sum;
    if s.pods.is_active(pod) {
        s.jobs[s.pods.job[i].ix()].live.container_restarts += more;
    }
    pod_changed(ctx, pod, PodChange::Restarted);
}

/// AG-2: sets the agent's attempt annotation; `NO_ATTEMPT` removes it.
pub fn set_attempt(ctx: &mut EngineContext<'_>, pod: PodId, attempt: u32) {
    let s = ctx.store.get_mut();
    s.update_pod(pod, |s| s.pods.attempt[pod.ix()] = attempt);
    pod_changed(ctx, pod, PodChange::Metadata);
}

/// Sets a condition, label or finalizer that has a flag only.
pub fn set_pod_flag(ctx: &mut EngineContext<'_>, pod: PodId, flags: u8, on: bool) {
    let pods = &mut ctx.store.get_mut().pods;
    if on {
        pods.set(pod, flags);
    } else {
        pods.clear(pod, flags);
    }
    pod_changed(ctx, pod, PodChange::Metadata);
    remove_if_free(ctx, pod);
}

/// PATCH that removes a scheduling gate and adds a node selector. It is refused if the pod has another value of a label
/// (`validateNodeSelectorMutation`: only additions are allowed).
pub fn ungate_pod(
    ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32, selector: &BTreeMap<String, String>,
) -> RequestAnswer {
    let there = ctx.store.pods.is_current(pod, incarnation) && ctx.store.pods.has(pod, flag::GATED);
    let answer = if there && !adds_only(ctx.store, pod, selector) {
        RequestAnswer::Invalid
    } else {
        RequestAnswer::from_existence(there)
    };
    if answer.is_success() {
        let s = ctx.store.get_mut();
        let template = s.templates.released(&s.nodes.cluster, s.pods.template[pod.ix()], selector);
        s.pods.template[pod.ix()] = template;
        let gated = s.templates.get(template).facts.gated;
        set_pod_flag(ctx, pod, flag::GATED, gated);
    }
    ctx.record_response(Call::KueuePodPatch, answer);
    answer
}

/// Returns whether a node selector changes no label of the pod's own selector: that of the template, and the domain of
/// the leader in the selector of a follower.
fn adds_only(store: &ObjectStore, pod: PodId, selector: &BTreeMap<String, String>) -> bool {
    let own = &store.pod_spec(pod).node_selector;
    let keeps = |key: &String, value: &String| selector.get(key).is_none_or(|new| new == value);
    let of_leader = store.follower_selector(pod);
    own.iter().all(|(key, value)| keeps(key, value)) && of_leader.is_none_or(|(key, value)| keeps(key, value))
}

/// Sets the finalizers that a PATCH leaves.
pub fn set_pod_finalizers(ctx: &mut EngineContext<'_>, pod: PodId, mut left: Vec<String>) {
    let tracked = left.iter().any(|name| name == JOB_TRACKING);
    left.retain(|name| name != JOB_TRACKING);
    let held = !left.is_empty();
    ctx.store.get_mut().pods.finalizers.insert(pod, left);
    if !tracked {
        drop_finalizer(ctx, pod);
    }
    if ctx.store.pods.exists(pod) {
        set_pod_flag(ctx, pod, flag::HELD, held);
    }
}

/// Changes metadata that the model does not store.
pub fn touch_pod(ctx: &mut EngineContext<'_>, pod: PodId) {
    pod_changed(ctx, pod, PodChange::Metadata);
}

/// Writes a status of containers that the store does not keep; the watches are still notified.
pub fn rewrite_pod_status(ctx: &mut EngineContext<'_>, pod: PodId) {
    pod_changed(ctx, pod, PodChange::Metadata);
}

/// Stores the phase Failed or Succeeded. `ended` is the kubelet's final state of the containers; `None` if there is
/// none (pod garbage collection, a refused pod) and the pod is Failed.
pub fn finish_pod(ctx: &mut EngineContext<'_>, pod: PodId, ended: Option<TerminatedPod>) {
    let i = pod.ix();
    if !ctx.store.pods.exists(pod) || ctx.store.pods.is_terminal(pod) {
        return;
    }
    remove_from_active(ctx, pod);
    let now = ctx.now;
    let succeeded = ended.is_some_and(|e| e.succeeded);
    let s = ctx.store.get_mut();
    let deleting = s.pods.has(pod, flag::DELETING);
    let with_finalizer = s.pods.has(pod, flag::FINALIZER);
    let live = &mut s.jobs[s.pods.job[i].ix()].live;
    if deleting {
        live.terminating -= 1;
    } else if with_finalizer {
        live.ended_with_finalizer += 1;
    }
    let phase = if succeeded { PodPhase::Succeeded } else { PodPhase::Failed };
    s.update_pod(pod, |s| s.pods.phase[i] = phase);
    s.pods.exit_code[i] = ended.map_or(0, |e| e.exit_code);
    s.pods.containers[i] = ended.map_or(ContainersState::NoStatus, |e| ContainersState::Exited(e.exited)).into();
    s.pods.ended_at[i] = match ended {
        Some(e) => e.at,
        None => s.pods.ended_at[i].min(now),
    };
    s.pods.clear(pod, flag::READY);
    let (incarnation, exit_code) = (s.pods.incarnation[i], ended.map(|e| i32::from(e.exit_code)));
    ctx.emit(Body::PodFinished { pod, incarnation, succeeded, exit_code });
    pod_changed(ctx, pod, PodChange::Finished);
}

/// DELETE with the pod's own grace period. `call` is the request for the audit log.
pub fn delete_pod(
    ctx: &mut EngineContext<'_>, call: Call, pod: PodId, incarnation: u32, by: DeletionActor,
) -> RequestAnswer {
    let there = ctx.store.pods.is_current(pod, incarnation);
    ctx.record_response(call, RequestAnswer::from_existence(there));
    if there {
        let grace_zero = ctx.store.pod_spec(pod).termination_grace_period_s == 0;
        mark_deleting(ctx, pod, by, grace_zero);
    }
    RequestAnswer::from_existence(there)
}

/// Sets the condition PodScheduled to False with the scheduler's message.
pub fn set_pod_unschedulable(ctx: &mut EngineContext<'_>, pod: PodId, message: TextId) {
    ctx.store.get_mut().pods.unschedulable.insert(pod, message);
}

/// Counts the patch of the condition PodScheduled or of `nominatedNodeName` as a version of the pod.
pub fn pod_condition_patched(ctx: &mut EngineContext<'_>, pod: PodId) {
    ctx.store.get_mut().pods.resource_version[pod.ix()] += 1;
}

/// Sets the condition DisruptionTarget.
pub fn set_disrupted(ctx: &mut EngineContext<'_>, pod: PodId, by: DeletionActor) {
    let pods = &mut ctx.store.get_mut().pods;
    pods.disrupted_by.insert(pod, by);
    set_pod_flag(ctx, pod, flag::DISRUPTION_TARGET, true);
}

/// Sets DisruptionTarget and sends a graceful DELETE: the eviction API, taint eviction, preemption.
pub fn disrupt_pod(ctx: &mut EngineContext<'_>, pod: PodId, by: DeletionActor) {
    set_disrupted(ctx, pod, by);
    let grace_zero = ctx.store.pod_spec(pod).termination_grace_period_s == 0;
    mark_deleting(ctx, pod, by, grace_zero);
}

/// Stores deletionTimestamp. With `grace_zero` the object is removed as soon as it has no finalizers.
pub fn mark_deleting(ctx: &mut EngineContext<'_>, pod: PodId, by: DeletionActor, grace_zero: bool) {
    let i = pod.ix();
    let unbound = !ctx.store.pods.has(pod, flag::BOUND);
    let at_once = grace_zero || unbound || ctx.store.pods.is_terminal(pod);
    if !ctx.store.pods.has(pod, flag::DELETING) {
        remove_from_active(ctx, pod);
        let now = ctx.now;
        let s = ctx.store.get_mut();
        let with_finalizer = s.pods.has(pod, flag::FINALIZER);
        s.pods.set(pod, flag::DELETING);
        s.pods.deletion_s[i] = whole_seconds(now);
        s.pods.ended_at[i] = s.pods.ended_at[i].min(now);
        if !s.pods.is_terminal(pod) {
            let live = &mut s.jobs[s.pods.job[i].ix()].live;
            live.terminating += 1;
            live.ended_with_finalizer += u32::from(with_finalizer);
        }
        let incarnation = s.pods.incarnation[i];
        ctx.emit(Body::PodDeleting { pod, incarnation, by });
        pod_changed(ctx, pod, PodChange::Deleting);
    } else if at_once && !ctx.store.pods.has(pod, flag::CONFIRMED) {
        // deletionGracePeriodSeconds is now 0.
        pod_changed(ctx, pod, PodChange::Metadata);
    }
    if at_once {
        confirm_deletion(ctx, pod);
    }
}

/// Time in whole seconds, as the API writes it; 32 bits hold 136 years.
fn whole_seconds(at: SimTime) -> u32 {
    u32::try_from(at.0 / Duration::from_secs(1).0).unwrap_or(u32::MAX)
}

/// Marks that only finalizers still hold the object: DELETE with grace period 0.
pub fn confirm_deletion(ctx: &mut EngineContext<'_>, pod: PodId) {
    ctx.store.get_mut().pods.set(pod, flag::CONFIRMED);
    remove_if_free(ctx, pod);
}

/// PATCH that removes the Job controller's tracking finalizer.
pub fn untrack_pod(ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) -> RequestAnswer {
    let there = ctx.store.pods.is_current(pod, incarnation);
    ctx.record_response(Call::JobPodPatch, RequestAnswer::from_existence(there));
    if there {
        drop_finalizer(ctx, pod);
    }
    RequestAnswer::from_existence(there)
}

fn drop_finalizer(ctx: &mut EngineContext<'_>, pod: PodId) {
    if !ctx.store.pods.has(pod, flag::FINALIZER) {
        return;
    }
    let s = ctx.store.get_mut();
    s.pods.clear(pod, flag::FINALIZER);
    let ended = s.pods.is_terminal(pod) || s.pods.has(pod, flag::DELETING);
    let live = &mut s.jobs[s.pods.job[pod.ix()].ix()].live;
    live.with_finalizer -= 1;
    live.ended_with_finalizer -= u32::from(ended);
    pod_changed(ctx, pod, PodChange::Untracked);
    remove_if_free(ctx, pod);
}

/// Removes the object from the store once it is terminating, confirmed and without finalizers.
fn remove_if_free(ctx: &mut EngineContext<'_>, pod: PodId) {
    let p = &ctx.store.pods;
    let held = p.has(pod, flag::FINALIZER | flag::HELD);
    if !p.exists(pod) || held || !p.has(pod, flag::DELETING) || !p.has(pod, flag::CONFIRMED) {
        return;
    }
    let s = ctx.store.get_mut();
    let (i, job) = (pod.ix(), s.pods.job[pod.ix()]);
    if !s.pods.is_terminal(pod) {
        s.jobs[job.ix()].live.terminating -= 1;
    }
    keep_try_count(s, pod);
    s.update_pod(pod, |s| s.retire(pod));
    s.jobs[job.ix()].pods.remove(pod, &mut s.pods.at);
    if s.pods.has(pod, flag::BOUND) {
        let node = s.pods.node[i];
        s.nodes.pods[node.ix()].retain(|p| *p != pod);
    }
    let incarnation = s.pods.incarnation[i];
    ctx.emit(Body::PodGone { pod, incarnation });
    record_change(ctx, ChangeKind::Pod(pod, PodChange::Gone));
    release_claims(ctx, pod);
    let j = &ctx.store.jobs[job.ix()];
    if !j.exists && j.pods.is_empty() {
        ctx.store.get_mut().jobs[job.ix()].clear();
    }
}

/// The Job continues without this pod; keeps the number of pods that its index has had.
fn keep_try_count(s: &mut ObjectStore, pod: PodId) {
    let job = s.pods.job[pod.ix()];
    let index = if s.is_indexed(job) { s.pods.index[pod.ix()] } else { 0 };
    let j = &mut s.jobs[job.ix()];
    if j.exists && !j.is_deleting() {
        let next = s.pods.job_try[pod.ix()].saturating_add(1);
        let tries = j.tries.entry(index).or_default();
        *tries = (*tries).max(next);
    }
}

/// The pod is no longer active: updates the counters of ready and active pods.
fn remove_from_active(ctx: &mut EngineContext<'_>, pod: PodId) {
    if !ctx.store.pods.is_active(pod) {
        return;
    }
    let s = ctx.store.get_mut();
    let ready = s.pods.has(pod, flag::READY);
    let live = &mut s.jobs[s.pods.job[pod.ix()].ix()].live;
    live.active -= 1;
    live.container_restarts -= s.pods.restart_sum[pod.ix()];
    live.ready -= u32::from(ready);
}
