//! kube-scheduler: serial scheduling cycles whose duration depends on the pod's constraints, followed by a binding
//! through a separate token bucket (kubernetes.md 2).
//!
//! The choice of a node is made by `placement` and `sim_scheduler`. Must never read anything but its own accounting
//! and stored objects.

mod capacity_ledger;
mod claims;
mod cost;
mod cycle;
mod explain;
mod groups;
mod nominated;
mod other_pods;
mod place;
mod preemption;
mod queues;
mod report;
mod requeue;
mod room;
mod snapshot;
mod spread;
#[cfg(test)]
#[path = "../../../tests/inside/engine/scheduler.rs"]
mod tests;
mod usage_classes;

use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::record::Call;
use super::token_bucket::BusyTimes;
use crate::store::{ChangeKind, NodeChange, ObjectStore, PodChange, flag};
use capacity_ledger::CapacityLedger;
use groups::PodGroups;
use nominated::NominatedPods;
use preemption::{FailedAttempt, LastFailure};
use queues::SchedulingQueues;
use requeue::AwaitedEvent;
use sim_base::{NodeId, PodId, TextId};
use sim_policy::placement::NodeSet;
use sim_scheduler::profile::DEFAULT_SCHEDULER;
use sim_scheduler::{ClusterEvent, Profile, SchedulerConfiguration};
use snapshot::SchedulerSnapshot;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct SchedulerState {
    configuration: SchedulerConfiguration,
    queues: SchedulingQueues,
    ledger: CapacityLedger,
    nominated: NominatedPods,
    groups: PodGroups,
    /// Message of the Event of each pod that is about to be preempted.
    preempted: BTreeMap<PodId, TextId>,
    /// Pods whose victims are being deleted, with the last of these.
    preempting: BTreeMap<PodId, (PodId, u32)>,
    snapshot: SchedulerSnapshot,
    in_cycle: Option<(PodId, u32)>,
    /// Requests that bind claims after the current cycle.
    claim_updates: Vec<Call>,
    /// Result of the current cycle if it found no node.
    failed: Option<FailedAttempt>,
    failures: LastFailure,
    /// Number of patches of conditions whose responses the scheduler waits for.
    patches: usize,
    /// Whether an event during the cycle may help the pod, which found no node.
    changed_in_cycle: bool,
    /// Whether a check for pods that have waited too long is scheduled.
    has_flush: bool,
    /// Start of the next search over all nodes.
    next_start: u32,
    /// Memory of the last search: candidates, and the feasible nodes if they have different scores.
    candidates: NodeSet,
    fitting: Vec<NodeId>,
    /// Whether the plugins check every choice of a node.
    pub is_checked: bool,
    pub cycles: u64,
    pub busy: BusyTimes,
}

impl SchedulerState {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.configuration = SchedulerConfiguration::read(&ctx.scenario.scheduler);
        self.queues.reset(self.configuration.backoff_s);
        self.ledger.reset(ctx);
        self.claim_updates.clear();
        self.failed = None;
        self.failures = LastFailure::default();
        self.nominated.clear();
        self.groups.clear();
        self.preempted.clear();
        self.preempting.clear();
        self.snapshot = SchedulerSnapshot::default();
        self.in_cycle = None;
        self.patches = 0;
        self.changed_in_cycle = false;
        self.has_flush = false;
        self.next_start = 0;
        self.cycles = 0;
        self.busy.clear();
    }

    pub fn longest_queue(&self) -> u32 {
        self.queues.longest
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::CycleDone { pod, incarnation } => self.cycle_done(ctx, pod, incarnation),
            SimulationEvent::BindAnswered { pod, incarnation } => self.bind_answered(ctx, pod, incarnation),
            SimulationEvent::VolumesBound { pod, incarnation } => self.request_binding(ctx, pod, incarnation),
            SimulationEvent::VictimDeleted { pod, incarnation } => self.victim_deleted(ctx, pod, incarnation),
            SimulationEvent::BackoffExpired { pod, incarnation } => self.backoff_expired(ctx, pod, incarnation),
            SimulationEvent::FlushDue => self.flush(ctx),
            SimulationEvent::ConditionPatched { pod, incarnation } => self.condition_patched(ctx, pod, incarnation),
            other => unreachable!("not an event of the scheduler: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, change) => self.pod_changed(ctx, pod, change),
            ChangeKind::Node(node, change) => self.node_changed(ctx, node, change),
            ChangeKind::Claim { namespace, name } => {
                let text = |id| ctx.store.names.text(id).to_owned();
                let claim = (text(namespace), text(name));
                self.cluster_event(ctx, &ClusterEvent::ClaimChange(&claim), AwaitedEvent::Cause);
            }
            ChangeKind::PodGroup => self.release_complete_groups(ctx),
            ChangeKind::Storage => self.cluster_event(ctx, &ClusterEvent::StorageChange, AwaitedEvent::Cause),
            _ => {}
        }
    }

    fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
        self.snapshot.touch(pod);
        match change {
            PodChange::Created => {
                self.ledger.forget(pod);
                self.queues.forget(pod);
                let is_ours = self.missing_profile(ctx.store, pod).is_none();
                let named = ctx.store.pod_spec(pod).node_name.is_some();
                if is_ours && !named && !ctx.store.pods.has(pod, flag::GATED | flag::BOUND) {
                    self.enqueue(ctx, pod);
                }
            }
            PodChange::Metadata => self.gates_removed(ctx, pod),
            PodChange::Bound => {
                if !self.ledger.holds(pod) {
                    // Bound by another client than this scheduler.
                    self.queues.remove(pod);
                    let node = ctx.store.pods.node[pod.ix()];
                    self.ledger.learn_template(ctx, pod);
                    self.ledger.assume(ctx.store, pod, node, ctx.now);
                }
                self.pod_event(ctx, pod, |view| ClusterEvent::AssignedPodAdd(view));
            }
            PodChange::Deleting => self.ledger.set_terminating(ctx.store, pod),
            PodChange::Finished => {
                // The informer of kube-scheduler has no terminal pods (`NewInformerFactory`), so that a pod that fails
                // without a node leaves the queue.
                self.queues.remove(pod);
                self.leave_group(ctx, pod);
                self.release(ctx, pod);
            }
            PodChange::Gone => {
                self.queues.remove(pod);
                self.leave_group(ctx, pod);
                self.release(ctx, pod);
            }
            _ => {}
        }
    }

    /// The last scheduling gate of the pod was removed.
    fn gates_removed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let waits = p.exists(pod) && !p.has(pod, flag::GATED | flag::BOUND | flag::DELETING);
        // A pod in a cycle has no gates; its changes are considered when it is queued again.
        let looked_at = self.in_cycle == Some((pod, p.incarnation[pod.ix()]));
        let known = looked_at || self.is_in_group_cycle(pod) || self.queues.contains(pod);
        let is_ours = self.missing_profile(ctx.store, pod).is_none();
        if is_ours && waits && !self.ledger.holds(pod) && !known && !p.is_terminal(pod) {
            self.enqueue(ctx, pod);
        }
    }

    /// Removes the pod from the accounting: it has a terminal phase or was removed. Others counted a nominated pod as
    /// if it had a node.
    fn release(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let was_nominated = self.nominated.remove(pod);
        if self.ledger.release(ctx.store, pod) || was_nominated {
            self.pod_event(ctx, pod, |view| ClusterEvent::AssignedPodDelete(view));
        }
    }

    fn node_changed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Created => self.ledger.add_node(ctx, node),
            NodeChange::Spec => self.ledger.recount(ctx),
            NodeChange::Taints => self.ledger.classes.update_kind(ctx, node),
            NodeChange::Gone => self.ledger.remove_node(ctx.store, node),
            _ => {}
        }
        self.node_event(ctx, node, change);
    }

    fn profile(&self, store: &ObjectStore, pod: PodId) -> &Profile {
        profile_of(&self.configuration, store, pod)
    }

    /// Returns the scheduler name of the pod if it has no profile: another scheduler would have to bind it.
    pub fn missing_profile<'s>(&self, store: &'s ObjectStore, pod: PodId) -> Option<&'s str> {
        Some(scheduler_name(store, pod)).filter(|name| !self.configuration.profiles.contains_key(*name))
    }

    /// Returns true if the pod is in the unschedulable queue.
    pub fn is_unschedulable(&self, pod: PodId) -> bool {
        self.queues.is_unschedulable(pod)
    }

    /// Message of the pod's last attempt that found no node.
    pub fn last_message(&self, pod: PodId) -> TextId {
        self.queues.last_message(pod)
    }

    /// Free amounts in thousandths, node-major, for the check of invariants.
    pub fn free(&self) -> &[i64] {
        self.ledger.free()
    }

    /// The node whose resources the pod holds.
    pub fn held_node(&self, pod: PodId) -> NodeId {
        self.ledger.held_node(pod)
    }
}

fn scheduler_name(store: &ObjectStore, pod: PodId) -> &str {
    store.pod_spec(pod).scheduler_name.as_deref().unwrap_or(DEFAULT_SCHEDULER)
}

/// Returns the profile of a queued pod.
fn profile_of<'c>(configuration: &'c SchedulerConfiguration, store: &ObjectStore, pod: PodId) -> &'c Profile {
    configuration.profiles.get(scheduler_name(store, pod)).expect("a pod without a profile is not queued")
}
