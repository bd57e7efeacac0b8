//! The manager's pod reconciler, processing one Job: if a follower's node selector does not match the leader's
//! domain, all followers of the Job are deleted (EXC-13 to EXC-16).
//! Source: `pkg/controllers/pod_controller.go`. Must never delete a leader.

use super::JobSetManager;
use super::rows::PodObject;
use super::send::MAX_PARALLELISM;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::{Event, FollowerCall};
use crate::record::{About, Call, Deleter};
use crate::requests::{Answer, Req};
use crate::store::{Store, flag};
use sim_api::spec::PlacementRepair;
use sim_base::*;

/// The Job being processed.
#[derive(Clone, Default)]
pub(super) struct Repair {
    pub leader: Option<PodObject>,
    /// The leader has changed since the start.
    pub dirty: bool,
    followers: Vec<Follower>,
    next: usize,
    in_flight: usize,
    /// A request failed.
    lost: bool,
}

/// A follower as the cache shows it.
#[derive(Copy, Clone)]
struct Follower {
    pod: PodId,
    incarnation: u32,
    version: u32,
    /// It already has the condition.
    disrupted: bool,
}

impl Repair {
    pub fn reset(&mut self) {
        *self = Repair::default();
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Finding {
    Right,
    Violation,
    /// The leader has no owner, or its Node's domain is unknown (EXC-13, EXC-14).
    Unknown,
}

fn followers(store: &Store, leader: PodId) -> impl Iterator<Item = PodId> + '_ {
    let job = &store.jobs[store.pods.job[leader.ix()].ix()];
    job.pods.iter().filter(|pod| !store.is_leader(*pod))
}

/// The value of the key in the pod's node selector, whether set by the webhook or by the template.
fn selected<'a>(store: &'a Store, pod: PodId, key: &str) -> Option<&'a str> {
    let template = store.template(pod);
    let domain = store.pods.domain[pod.ix()];
    match template.exclusive.filter(|_| domain.is_some()) {
        Some(key) => Some(&store.templates.domains[key as usize].values[domain.ix()]),
        None => template.pod.spec.node_selector.get(key).map(String::as_str),
    }
}

fn judge(store: &Store, leader: PodId) -> Finding {
    let job = &store.jobs[store.pods.job[leader.ix()].ix()];
    let Some(key) = store.template(leader).annotated.as_deref() else {
        return Finding::Right;
    };
    if job.pods_orphaned {
        return Finding::Unknown;
    }
    let node = store.pods.node[leader.ix()];
    let domain = match store.nodes.exists(node) {
        true => store.nodes.cluster.label(node, key),
        // Upstream continues with an empty one.
        false => Some(Default::default()),
    };
    let Some(domain) = domain else {
        return Finding::Unknown;
    };
    let stray = |pod: PodId| selected(store, pod, key) != Some(&domain);
    match (followers(store, leader).any(stray), domain.is_empty()) {
        (false, _) => Finding::Right,
        (true, false) => Finding::Violation,
        (true, true) => Finding::Unknown,
    }
}

impl JobSetManager {
    pub(super) fn look_at_followers(&mut self, ctx: &mut Ctx<'_>, leader: PodObject) {
        let errs = ctx.scenario.control_plane.placement_repair == PlacementRepair::Errs;
        match judge(ctx.store, leader.0) {
            Finding::Violation if !errs => self.begin_repair(ctx, leader),
            finding => self.leader_done(ctx, leader, finding != Finding::Right),
        }
    }

    /// EXC-15: processes every follower, including those in the correct domain.
    fn begin_repair(&mut self, ctx: &mut Ctx<'_>, leader: PodObject) {
        let (store, repair) = (&**ctx.store, &mut self.leaders.repair);
        let p = &store.pods;
        repair.leader = Some(leader);
        repair.followers.clear();
        let all = followers(store, leader.0).map(|pod| Follower {
            pod,
            incarnation: p.incarnation[pod.ix()],
            version: p.resource_version[pod.ix()],
            disrupted: p.has(pod, flag::DISRUPTION_TARGET),
        });
        repair.followers.extend(all);
        (repair.next, repair.in_flight, repair.lost) = (0, 0, false);
        self.send_to_followers(ctx);
    }

    fn send_to_followers(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            let repair = &mut self.leaders.repair;
            let Some(follower) = repair.followers.get(repair.next) else {
                return;
            };
            if repair.in_flight == MAX_PARALLELISM {
                return;
            }
            let call = match follower.disrupted {
                true => FollowerCall::Delete,
                false => FollowerCall::Condition,
            };
            let at = repair.next as u32;
            repair.next += 1;
            repair.in_flight += 1;
            self.ask_about_follower(ctx, at, call);
        }
    }

    fn ask_about_follower(&self, ctx: &mut Ctx<'_>, at: u32, call: FollowerCall) {
        let follower = &self.leaders.repair.followers[at as usize];
        let kind = match call {
            FollowerCall::Condition => Call::JobSetPodStatus,
            FollowerCall::Delete => Call::JobSetPodDelete,
        };
        let job = ctx.store.pods.job[follower.pod.ix()];
        let step = ctx.store.jobs[job.ix()]
            .key
            .and(u64::from(follower.version));
        let req = Req::new(kind, About::Pod(follower.pod), follower.version).together(step);
        ctx.request(req, Event::FollowerAnswered { at, call });
    }

    pub(super) fn follower_answered(&mut self, ctx: &mut Ctx<'_>, at: u32, call: FollowerCall) {
        let follower = self.leaders.repair.followers[at as usize];
        match call {
            FollowerCall::Condition => {
                let answer = write_condition(ctx, &follower);
                ctx.answered(Call::JobSetPodStatus, answer);
                if answer.is_success() {
                    return self.ask_about_follower(ctx, at, FollowerCall::Delete);
                }
                self.leaders.repair.lost = true;
            }
            FollowerCall::Delete => {
                let (pod, incarnation) = (follower.pod, follower.incarnation);
                let by = Deleter::JobSetManager;
                // A pod that was removed meanwhile is not an error.
                apiserver::delete_pod(ctx, Call::JobSetPodDelete, pod, incarnation, by);
            }
        }
        self.leaders.repair.in_flight -= 1;
        self.send_to_followers(ctx);
        let repair = &self.leaders.repair;
        if let Some(leader) = repair.leader.filter(|_| repair.in_flight == 0) {
            self.end_repair(ctx, leader, repair.lost);
        }
    }
}

/// PATCH of the condition DisruptionTarget=True, ExclusivePlacementViolation, "Pod violated JobSet exclusive
/// placement policy".
fn write_condition(ctx: &mut Ctx<'_>, follower: &Follower) -> Answer {
    let (p, pod) = (&ctx.store.pods, follower.pod);
    if ctx.scenario.control_plane.placement_repair != PlacementRepair::Works {
        return Answer::Forbidden;
    }
    if !p.is(pod, follower.incarnation) {
        return Answer::NotFound;
    }
    if p.resource_version[pod.ix()] != follower.version {
        return Answer::Conflict;
    }
    apiserver::set_disrupted(ctx, pod, Deleter::JobSetManager);
    Answer::Success
}
