//! Pod groups: pods wait until their group is complete, and one cycle schedules all pods of a group on one snapshot
//! (`schedule_one_podgroup.go`, plugin GangScheduling; kubernetes.md 2.6).

use super::SchedulerState;
use super::preemption::{FailedAttempt, Nomination};
use crate::record::{Body, Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, store::ObjectStore, store::flag};
use sim_api::spec::{ObjectKind, PodGroupScheduling};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, NodeId, PodId};
use sim_policy::placement::PlacementResult;
use sim_scheduler::groups::attempt::Placement;
use sim_scheduler::groups::preemption::preempt_for_group;
use sim_scheduler::{GroupAttempt, NodeIndex, PodIndex, PodView};
use std::collections::BTreeMap;

/// Namespace and name of a PodGroup.
pub type GroupName = (String, String);
/// A pod with its incarnation.
type CurrentPod = (PodId, u32);

#[derive(Clone, Default)]
pub(super) struct PodGroups {
    /// Existing pods of each group that have not finished, each with its position in the order of the first attempts.
    members: BTreeMap<GroupName, BTreeMap<CurrentPod, u64>>,
    /// Number of pods that have left `held` so far.
    released: u64,
    /// Pods that do not enter the queue before their group is complete (PreEnqueue).
    held: BTreeMap<GroupName, Vec<CurrentPod>>,
    /// Result of the current cycle, if it is one of a group.
    cycle: Option<GroupCycle>,
}

#[derive(Clone)]
struct GroupCycle {
    group: GroupName,
    pods: Vec<GroupPod>,
    is_scheduled: bool,
    /// Message of the condition PodGroupScheduled.
    message: String,
    victims: Vec<CurrentPod>,
}

#[derive(Clone)]
struct GroupPod {
    pod: CurrentPod,
    node: Option<NodeId>,
    /// Why the pod has no node.
    message: String,
    /// What happens to the nominated node of a pod without a node.
    nomination: Nomination,
}

impl PodGroups {
    pub fn clear(&mut self) {
        *self = PodGroups::default();
    }

    pub fn has_cycle(&self) -> bool {
        self.cycle.is_some()
    }

    fn remove(&mut self, group: &GroupName, pod: CurrentPod) {
        if let Some(members) = self.members.get_mut(group) {
            members.remove(&pod);
        }
        if let Some(held) = self.held.get_mut(group) {
            held.retain(|other| *other != pod);
        }
    }
}

impl SchedulerState {
    /// Returns the group of the pod, unless pods are scheduled one by one.
    pub(super) fn group_of(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<GroupName> {
        if ctx.scenario.control_plane.feature_gates.pod_groups == PodGroupScheduling::Off {
            return None;
        }
        let store = &**ctx.store;
        let name = store.pod_spec(pod).scheduling_group.clone()?;
        Some((store.names.namespace_of(store.pods.job[pod.ix()]).to_owned(), name))
    }

    /// Enqueues a new pod, or holds it until its group is complete.
    pub(super) fn enqueue(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let Some(group) = self.group_of(ctx, pod) else {
            self.activate(ctx, pod);
            return;
        };
        let current = (pod, ctx.store.pods.incarnation[pod.ix()]);
        self.groups.members.entry(group.clone()).or_default().insert(current, u64::MAX);
        let held = self.groups.held.entry(group.clone()).or_default();
        if !held.contains(&current) {
            held.push(current);
        }
        self.release_complete_group(ctx, &group, Some(pod));
    }

    /// Enqueues the held pods of all groups that are complete.
    pub(super) fn release_complete_groups(&mut self, ctx: &mut EngineContext<'_>) {
        let groups: Vec<GroupName> = self.groups.held.keys().cloned().collect();
        groups.iter().for_each(|group| self.release_complete_group(ctx, group, None));
    }

    /// Enqueues the held pods of a group if it is complete: the pod that completed it first, and the others in a random
    /// order, which is that of a Go map in kube-scheduler.
    fn release_complete_group(&mut self, ctx: &mut EngineContext<'_>, group: &GroupName, last: Option<PodId>) {
        if self.hold_reason(ctx.store, group).is_some() {
            return;
        }
        let held = self.groups.held.remove(group).unwrap_or_default();
        let mut order: Vec<(f64, CurrentPod)> = Vec::new();
        for pod in held {
            let position = match last {
                Some(last) if last == pod.0 => 0.0,
                _ => ctx.draw_unit(StreamPurpose::GroupOrder, TicketSubject::Pod(pod.0), 0),
            };
            order.push((position, pod));
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, current) in order {
            let (pod, incarnation) = current;
            self.groups.released += 1;
            if let Some(position) = self.groups.members.get_mut(group).and_then(|members| members.get_mut(&current)) {
                *position = self.groups.released;
            }
            let p = &ctx.store.pods;
            if p.is_current(pod, incarnation) && !p.has(pod, flag::GATED | flag::BOUND | flag::DELETING) {
                let priority = ctx.store.facts(pod).priority;
                self.queues.activate(pod, priority, ctx.mark());
            }
        }
        self.next_cycle(ctx);
    }

    /// Returns why pods of the group do not enter the queue, in the words of GangScheduling's PreEnqueue.
    fn hold_reason(&self, store: &ObjectStore, group: &GroupName) -> Option<String> {
        let Some(object) = store.others.get(ObjectKind::PodGroup, &group.0, &group.1) else {
            return Some(format!("waiting for pods's pod group {:?} to appear in scheduling queue", group.1));
        };
        let min_count = object.object["spec"]["schedulingPolicy"]["gang"]["minCount"].as_u64().unwrap_or(0);
        let members = self.groups.members.get(group).map_or(0, BTreeMap::len) as u64;
        (members < min_count).then(|| "waiting for minCount pods from a gang to appear in scheduling queue".to_owned())
    }

    /// Returns why the pod is held outside of the queue.
    pub fn group_hold_reason(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<String> {
        let group = self.group_of(ctx, pod)?;
        let current = (pod, ctx.store.pods.incarnation[pod.ix()]);
        let is_held = self.groups.held.get(&group).is_some_and(|held| held.contains(&current));
        is_held.then(|| self.hold_reason(ctx.store, &group)).flatten()
    }

    /// Returns whether the pod is in the cycle of its group.
    pub(super) fn is_in_group_cycle(&self, pod: PodId) -> bool {
        self.groups.cycle.iter().any(|cycle| cycle.pods.iter().any(|member| member.pod.0 == pod))
    }

    /// The pod has finished or was removed.
    pub(super) fn leave_group(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        if let Some(group) = self.group_of(ctx, pod) {
            self.groups.remove(&group, (pod, ctx.store.pods.incarnation[pod.ix()]));
        }
    }

    /// Begins a cycle for all queued pods of the group.
    pub(super) fn begin_group_cycle(&mut self, ctx: &mut EngineContext<'_>, group: GroupName, first: PodId) {
        let members = self.groups.members.get(&group).into_iter().flatten();
        let mut members: Vec<(CurrentPod, u64)> = members.map(|(pod, position)| (*pod, *position)).collect();
        members.sort_by_key(|((pod, _), position)| (std::cmp::Reverse(ctx.store.facts(*pod).priority), *position));
        let (mut pods, mut scheduled) = (Vec::new(), Vec::new());
        for (current, _) in members {
            let pod = current.0;
            if self.ledger.holds(pod) {
                scheduled.push(pod);
            } else if pod == first || (self.queues.contains(pod) && !ctx.store.pods.has(pod, flag::DELETING)) {
                self.queues.remove(pod);
                self.ledger.learn_template(ctx, pod);
                pods.push(current);
            }
        }
        let views: Vec<PodView> = pods.iter().map(|(pod, _)| self.read_pod(ctx, *pod)).collect();
        let (cycle, placements) = self.attempt_group(ctx, group, &pods, &views, &scheduled);
        let cost = self.group_cycle_cost(ctx, &cycle, placements);
        for member in &cycle.pods {
            if let Some(node) = member.node {
                self.nominated.remove(member.pod.0);
                self.ledger.assume(ctx.store, member.pod.0, node, ctx.now);
                self.snapshot.touch(member.pod.0);
            }
        }
        self.groups.cycle = Some(cycle);
        self.changed_in_cycle = false;
        self.cycles += 1;
        self.busy.add(ctx.now, ctx.now + cost);
        let incarnation = ctx.store.pods.incarnation[first.ix()];
        self.in_cycle = Some((first, incarnation));
        let done = SimulationEvent::CycleDone { pod: first, incarnation };
        ctx.schedule_after(cost, TicketWait::Cycle, TicketSubject::Pod(first), done);
    }

    /// Tries the group in each placement, and preempts other pods if it fits in none. Returns the result and the number
    /// of placements.
    fn attempt_group(
        &mut self, ctx: &mut EngineContext<'_>, group: GroupName, pods: &[CurrentPod], views: &[PodView],
        scheduled: &[PodId],
    ) -> (GroupCycle, usize) {
        let row = self.snapshot.views.groups[&group];
        let nodes: Vec<NodeIndex> =
            scheduled.iter().filter_map(|pod| self.snapshot.row_of(self.ledger.held_node(*pod))).collect();
        let cluster = &self.snapshot.cluster;
        let ties: Vec<u64> = pods.iter().map(|(pod, _)| self.draw_tie(ctx, *pod)).collect();
        let attempt = GroupAttempt {
            group: &cluster.groups[row],
            pods: views,
            profile: self.profile(ctx.store, pods[0].0),
            scheduled: &nodes,
            is_topology_aware: ctx.scenario.control_plane.feature_gates.pod_groups == PodGroupScheduling::TopologyAware,
            ties: &ties,
            start: self.next_start as usize,
        };
        let outcome = attempt.run(cluster);
        let (count, next_start) = (outcome.placements.len(), outcome.next_start as u32);
        let chosen = self.draw_one(ctx, pods[0].0, &outcome.best(), 1).cloned();
        let mut cycle = GroupCycle {
            group,
            pods: Vec::new(),
            is_scheduled: chosen.is_some(),
            message: String::new(),
            victims: Vec::new(),
        };
        if let Some(chosen) = chosen {
            cycle.pods = self.members(pods, &chosen, chosen.rejections.clone());
        } else {
            cycle.message = outcome.message();
            let first = outcome.placements.first().cloned().unwrap_or_default();
            let mut members = self.members(pods, &first, outcome.rejections());
            match self.victims_of_group(ctx, &attempt) {
                // The pods that fit keep their nodes until the victims have gone (`submitPodGroupAlgorithmResult`).
                Ok(victims) => {
                    cycle.victims = victims;
                    for member in members.iter_mut() {
                        if let Some(node) = member.node {
                            (member.nomination, member.message) = (Nomination::To(node), cycle.message.clone());
                        }
                    }
                }
                Err(reason) => cycle.message = format!("{}, {reason}", cycle.message),
            }
            members.iter_mut().for_each(|member| member.node = None);
            cycle.pods = members;
        }
        self.next_start = next_start;
        (cycle, count)
    }

    /// Returns the pods with their nodes in a placement. A pod that fits loses its nominated node, and others keep it.
    fn members(&self, pods: &[CurrentPod], placement: &Placement, messages: Vec<String>) -> Vec<GroupPod> {
        let node = |at: usize| placement.assignment.get(at).copied().flatten().map(|row| self.snapshot.nodes[row]);
        let member = |(at, (pod, message)): (usize, (&CurrentPod, String))| {
            let node = node(at);
            let nomination = if node.is_some() { Nomination::Ends } else { Nomination::Stays };
            GroupPod { pod: *pod, node, message, nomination }
        };
        pods.iter().zip(messages).enumerate().map(member).collect()
    }

    /// Returns the pods whose removal makes room for the group, or the message.
    fn victims_of_group(
        &self, ctx: &mut EngineContext<'_>, attempt: &GroupAttempt<'_>,
    ) -> Result<Vec<CurrentPod>, String> {
        let occurrence = self.cycles as u32;
        let rank = |_, row: PodIndex| {
            let about = TicketSubject::Pod(self.snapshot.pods[row]);
            integer(ctx.draw_unit(StreamPurpose::VictimOrder, about, occurrence))
        };
        let units = preempt_for_group(attempt, &self.snapshot.cluster, rank)?;
        let victims = units.iter().flat_map(|unit| &unit.pods).map(|(_, row)| self.snapshot.pods[*row]);
        Ok(victims.map(|pod| (pod, ctx.store.pods.incarnation[pod.ix()])).collect())
    }

    /// Draws a number that selects among the nodes with equal scores for a pod of a group.
    fn draw_tie(&self, ctx: &mut EngineContext<'_>, pod: PodId) -> u64 {
        let (about, occurrence) = (TicketSubject::Pod(pod), 2 * self.queues.attempts(pod));
        integer(ctx.draw_unit(StreamPurpose::SchedulerTie, about, occurrence))
    }

    /// Returns the duration of a group's cycle: that of a cycle of each pod in each placement.
    fn group_cycle_cost(&self, ctx: &EngineContext<'_>, cycle: &GroupCycle, placements: usize) -> Duration {
        let nodes = ctx.store.nodes.len() as u32;
        let of_pod = |member: &GroupPod| {
            let found = PlacementResult { node: member.node, examined: nodes, feasible: 1 };
            let cost = self.cycle_cost(ctx, member.pod.0, &found);
            cost.saturating_mul(placements.max(1) as u64)
        };
        cycle.pods.iter().map(of_pod).fold(Duration::ZERO, |sum, cost| sum + cost)
    }

    /// Binds the scheduled pods of the group and queues the others again. Returns false if the cycle was that of a
    /// single pod.
    pub(super) fn group_cycle_done(&mut self, ctx: &mut EngineContext<'_>) -> bool {
        let Some(cycle) = self.groups.cycle.take() else { return false };
        self.set_group_condition(ctx, &cycle);
        let mut changed = Vec::new();
        for member in &cycle.pods {
            let (pod, incarnation) = member.pod;
            if !ctx.store.pods.is_current(pod, incarnation) || ctx.store.pods.has(pod, flag::DELETING) {
                continue;
            }
            if member.node.is_some() {
                self.request_binding(ctx, pod, incarnation);
                continue;
            }
            let nominated = self.nominated.node_of(pod);
            let is_new_message = self.mark_unschedulable(ctx, pod, &member.message);
            match member.nomination {
                Nomination::Stays => {}
                Nomination::Ends => drop(self.nominated.remove(pod)),
                Nomination::To(node) => self.nominated.insert(pod, node),
            }
            if is_new_message || self.nominated.node_of(pod) != nominated {
                changed.push(pod);
            }
            let inputs = self.decision_inputs(ctx);
            self.queue_again(ctx, member.pod, FailedAttempt::without_cause(member.message.clone(), inputs));
        }
        let message = ctx.intern(&format!("Preempted by pod group {}", cycle.group.1));
        self.delete_victims(ctx, None, &cycle.victims, message);
        self.patch_conditions(ctx, &changed);
        true
    }

    /// Writes the condition PodGroupScheduled. It stays True once the group was scheduled (`updatePodGroupCondition`).
    fn set_group_condition(&mut self, ctx: &mut EngineContext<'_>, cycle: &GroupCycle) {
        let (namespace, name) = &cycle.group;
        if apiserver::set_pod_group_scheduled(ctx, (namespace, name), cycle.is_scheduled, &cycle.message) {
            let about = TicketSubject::Pod(cycle.pods[0].pod.0);
            ctx.request_at_mark(ctx.mark(), RequestEntry::new(Call::PodGroupPatch, about, 0));
            ctx.record_response(Call::PodGroupPatch, RequestAnswer::Success);
            let reason = ctx.intern(if cycle.is_scheduled { "Scheduled" } else { "Unschedulable" });
            let (group, message) = (ctx.intern(name), ctx.intern(&cycle.message));
            ctx.emit(Body::PodGroupCondition { group, scheduled: cycle.is_scheduled, reason, message });
        }
    }
}

/// Returns a uniform integer of 53 bits for a uniform number in (0, 1), which has 53 bits.
fn integer(unit: f64) -> u64 {
    (unit * (1u64 << 53) as f64) as u64
}
