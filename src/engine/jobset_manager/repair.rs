//! The manager's pod reconciler, processing one Job: if a follower's node selector does not match the leader's
//! domain, all followers of the Job are deleted (EXC-13 to EXC-16).
//! Source: `pkg/controllers/pod_controller.go`. Must never delete a leader.

use super::JobSetManager;
use super::rows::PodObjectRow;
use super::send::MAX_PARALLELISM;
use crate::event::{FollowerCall, SimulationEvent};
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{ObjectStore, flag};
use crate::{apiserver, ctx::EngineContext};
use sim_api::spec::PlacementRepair;
use sim_base::PodId;

/// The Job being processed.
#[derive(Clone, Default)]
pub(super) struct FollowerRepair {
    pub leader: Option<PodObjectRow>,
    /// The leader has changed since the start.
    pub dirty: bool,
    followers: Vec<FollowerJob>,
    next: usize,
    in_flight: usize,
    failed: bool,
}

/// A follower as the cache shows it.
#[derive(Copy, Clone)]
struct FollowerJob {
    pod: PodId,
    incarnation: u32,
    version: u32,
    /// It already has the condition.
    disrupted: bool,
}

impl FollowerRepair {
    pub fn reset(&mut self) {
        *self = FollowerRepair::default();
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum RepairFinding {
    Correct,
    Violation,
    /// The leader has no owner, or its Node's domain is unknown (EXC-13, EXC-14).
    Unknown,
}

fn followers(store: &ObjectStore, leader: PodId) -> impl Iterator<Item = PodId> + '_ {
    let job = &store.jobs[store.pods.job[leader.ix()].ix()];
    job.pods.iter().filter(|pod| !store.is_leader(*pod))
}

/// The value of the key in the pod's node selector, whether set by the webhook or by the template.
fn selected_domain<'a>(store: &'a ObjectStore, pod: PodId, key: &str) -> Option<&'a str> {
    let template = store.template(pod);
    let domain = store.pods.domain[pod.ix()];
    match template.exclusive.filter(|_| domain.is_some()) {
        Some(key) => Some(&store.templates.domains[key as usize].values[domain.ix()]),
        None => template.pod.spec.node_selector.get(key).map(String::as_str),
    }
}

fn check_placement(store: &ObjectStore, leader: PodId) -> RepairFinding {
    let job = &store.jobs[store.pods.job[leader.ix()].ix()];
    let Some(key) = store.template(leader).annotated_key.as_deref() else {
        return RepairFinding::Correct;
    };
    if job.pods_orphaned {
        return RepairFinding::Unknown;
    }
    let node = store.pods.node[leader.ix()];
    let domain = if store.nodes.exists(node) { store.nodes.cluster.label(node, key) } else { Some(Default::default()) };
    let Some(domain) = domain else {
        return RepairFinding::Unknown;
    };
    let stray = |pod: PodId| selected_domain(store, pod, key) != Some(&domain);
    match (followers(store, leader).any(stray), domain.is_empty()) {
        (false, _) => RepairFinding::Correct,
        (true, false) => RepairFinding::Violation,
        (true, true) => RepairFinding::Unknown,
    }
}

impl JobSetManager {
    pub(super) fn check_followers(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow) {
        let errs = ctx.scenario.control_plane.placement_repair == PlacementRepair::Fails;
        match check_placement(ctx.store, leader.0) {
            RepairFinding::Violation if !errs => self.begin_repair(ctx, leader),
            finding => self.leader_done(ctx, leader, finding != RepairFinding::Correct),
        }
    }

    /// EXC-15: processes every follower, including those in the correct domain.
    fn begin_repair(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow) {
        let (store, repair) = (&**ctx.store, &mut self.leaders.repair);
        let p = &store.pods;
        repair.leader = Some(leader);
        repair.followers.clear();
        let all = followers(store, leader.0).map(|pod| FollowerJob {
            pod,
            incarnation: p.incarnation[pod.ix()],
            version: p.resource_version[pod.ix()],
            disrupted: p.has(pod, flag::DISRUPTION_TARGET),
        });
        repair.followers.extend(all);
        (repair.next, repair.in_flight, repair.failed) = (0, 0, false);
        self.send_to_followers(ctx);
    }

    fn send_to_followers(&mut self, ctx: &mut EngineContext<'_>) {
        loop {
            let repair = &mut self.leaders.repair;
            let Some(follower) = repair.followers.get(repair.next) else {
                return;
            };
            if repair.in_flight == MAX_PARALLELISM {
                return;
            }
            let call = if follower.disrupted { FollowerCall::Delete } else { FollowerCall::Condition };
            let at = repair.next as u32;
            repair.next += 1;
            repair.in_flight += 1;
            self.send_follower_request(ctx, at, call);
        }
    }

    fn send_follower_request(&self, ctx: &mut EngineContext<'_>, at: u32, call: FollowerCall) {
        let follower = &self.leaders.repair.followers[at as usize];
        let kind = match call {
            FollowerCall::Condition => Call::JobSetPodStatus,
            FollowerCall::Delete => Call::JobSetPodDelete,
        };
        let req = RequestEntry::new(kind, TicketSubject::Pod(follower.pod), follower.version);
        ctx.request(req, SimulationEvent::FollowerAnswered { at, call });
    }

    pub(super) fn follower_answered(&mut self, ctx: &mut EngineContext<'_>, at: u32, call: FollowerCall) {
        let follower = self.leaders.repair.followers[at as usize];
        match call {
            FollowerCall::Condition => {
                let answer = write_condition(ctx, &follower);
                ctx.record_response(Call::JobSetPodStatus, answer);
                if answer.is_success() {
                    return self.send_follower_request(ctx, at, FollowerCall::Delete);
                }
                self.leaders.repair.failed = true;
            }
            FollowerCall::Delete => {
                let (pod, incarnation) = (follower.pod, follower.incarnation);
                let by = DeletionActor::JobSetManager;
                // A pod that was removed meanwhile is not an error.
                apiserver::delete_pod(ctx, Call::JobSetPodDelete, pod, incarnation, by);
            }
        }
        self.leaders.repair.in_flight -= 1;
        self.send_to_followers(ctx);
        let repair = &self.leaders.repair;
        if let Some(leader) = repair.leader.filter(|_| repair.in_flight == 0) {
            self.end_repair(ctx, leader, repair.failed);
        }
    }
}

/// PATCH of the condition DisruptionTarget=True, ExclusivePlacementViolation, "Pod violated JobSet exclusive
/// placement policy".
fn write_condition(ctx: &mut EngineContext<'_>, follower: &FollowerJob) -> RequestAnswer {
    let (p, pod) = (&ctx.store.pods, follower.pod);
    if ctx.scenario.control_plane.placement_repair != PlacementRepair::Succeeds {
        return RequestAnswer::Forbidden;
    }
    if !p.is_current(pod, follower.incarnation) {
        return RequestAnswer::NotFound;
    }
    if p.resource_version[pod.ix()] != follower.version {
        return RequestAnswer::Conflict;
    }
    apiserver::set_disrupted(ctx, pod, DeletionActor::JobSetManager);
    RequestAnswer::Success
}
