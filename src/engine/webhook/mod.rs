//! JobSet's two pod webhooks: they decide which followers of exclusive placement may be created, and in which domain
//! (EXC-4 to EXC-11).
//!
//! They run in the JobSet manager but use a separate informer cache of pods. Must never change anything.

mod pod_webhook_error;
#[cfg(test)]
#[path = "../../../tests/inside/engine/webhook.rs"]
mod tests;
mod verdict;

use super::ctx::{EngineContext, StoreWatcher};
use crate::record::TicketSubject;
use crate::store::{ChangeKind, ObjectStore, PodChange};
use pod_webhook_error::PodWebhookError;
use sim_api::spec::keys::EXCLUSIVE_TOPOLOGY;
use sim_base::{DomainId, Duration, JobId, NodeId, PodId, SimTime};
use verdict::{FollowerPod, WebhookInput, verdict};

#[derive(Clone, Default)]
pub struct PodWebhook {
    /// Leaders by the name of their Job, the only key that the webhooks use (EXC-10); a pod created by hand has a
    /// name of its own.
    leaders: Vec<Vec<LeaderPod>>,
    /// Pods created by hand that have the name of a leader: the number of their own name, namespace and name of the
    /// Job.
    by_hand: Vec<(u32, String, String)>,
}

/// A leader, and the times at which the cache shows its changes.
#[derive(Copy, Clone, Debug)]
struct LeaderPod {
    pod: PodId,
    incarnation: u32,
    job: JobId,
    created: SimTime,
    scheduled: SimTime,
    node: NodeId,
    /// Time at which it is terminating, ended or removed.
    unavailable_from: SimTime,
}

impl LeaderPod {
    fn is_live(&self, now: SimTime) -> bool {
        self.created.min(self.scheduled) <= now && now < self.unavailable_from
    }
}

/// Maximum duration of a request (kube-apiserver `--request-timeout`, default 1m0s): until then it may be answered
/// from the cache at the time of its arrival.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A condition that prevents the creation of a pod until something else changes.
pub enum CreationBlocker {
    /// The Job has no completion indexes (EXC-27).
    NoIndexes,
    /// The leader has ended (EXC-26).
    LeaderEnded,
    /// A running pod with the leader's name, left by a Job deleted with propagation Orphan.
    Orphan(String),
    /// C-59: the leader's node was deleted.
    NodeGone(String),
    /// C-60: the leader's node lacks the topology label.
    NoLabel {
        node: String,
        key: String,
    },
    Other,
}

impl PodWebhook {
    pub fn reset(&mut self) {
        self.leaders.clear();
        self.by_hand.clear();
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, PodChange::Created) => self.leader_created(ctx, pod),
            ChangeKind::Pod(pod, PodChange::Bound) => self.leader_bound(ctx, pod),
            ChangeKind::Pod(pod, PodChange::Finished | PodChange::Deleting | PodChange::Gone) => {
                self.leader_left(ctx, pod);
            }
            _ => {}
        }
    }

    fn leader_created(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let job = ctx.store.pods.job[pod.ix()];
        let place = ctx.store.jobs[job.ix()].name_number as usize;
        if ctx.store.names.is_standalone_pod(job) {
            let Some(leads) = job_led_by_hand(ctx.store, pod) else {
                return;
            };
            let namespace = ctx.store.namespace_of(job).to_owned();
            self.by_hand.retain(|(known, ..)| *known as usize != place);
            self.by_hand.push((place as u32, namespace, leads));
        } else if ctx.store.template(pod).exclusive.is_none() || !ctx.store.is_leader(pod) {
            return;
        }
        if self.leaders.len() <= place {
            self.leaders.resize_with(place + 1, Vec::new);
        }
        let created = self.cache_update_time(ctx, pod);
        let leaders = &mut self.leaders[place];
        leaders.retain(|leader| ctx.now < leader.unavailable_from + REQUEST_TIMEOUT);
        leaders.push(LeaderPod {
            pod,
            incarnation: ctx.store.pods.incarnation[pod.ix()],
            job,
            created,
            scheduled: SimTime::NEVER,
            node: NodeId::NONE,
            unavailable_from: SimTime::NEVER,
        });
    }

    /// The cache will show the leader as scheduled: followers may be created (EXC-8, EXC-10).
    fn leader_bound(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if self.leader_entry(ctx, pod).is_none() {
            return;
        }
        let (node, scheduled) = (ctx.store.pods.node[pod.ix()], self.cache_update_time(ctx, pod));
        if let Some(leader) = self.leader_entry(ctx, pod) {
            assert!(!leader.node.is_some(), "a leader is bound once");
            (leader.node, leader.scheduled) = (node, scheduled);
        }
    }

    /// A terminating or ended leader admits no followers (EXC-10).
    fn leader_left(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if self.leader_entry(ctx, pod).is_none() {
            return;
        }
        let left = self.cache_update_time(ctx, pod);
        if let Some(leader) = self.leader_entry(ctx, pod) {
            leader.unavailable_from = left;
        }
    }

    /// The entry of a pod that is currently a leader according to the store.
    fn leader_entry(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> Option<&mut LeaderPod> {
        // Most changes concern other pods.
        if ctx.store.pods.index[pod.ix()] != 0 || self.leaders.is_empty() {
            return None;
        }
        let job = ctx.store.pods.job[pod.ix()];
        let place = ctx.store.jobs[job.ix()].name_number as usize;
        let mut leaders = self.leaders.get_mut(place)?.iter_mut();
        leaders.find(|leader| leader.pod == pod && leader.unavailable_from == SimTime::NEVER)
    }

    fn cache_update_time(&self, ctx: &mut EngineContext<'_>, pod: PodId) -> SimTime {
        let version = ctx.store.pods.resource_version[pod.ix()];
        let at = ctx.now + ctx.watch_lag(StoreWatcher::Webhook, TicketSubject::Pod(pod), version);
        ctx.progress.caches_updated = ctx.progress.caches_updated.max(at);
        at
    }

    /// Returns true if the pod webhook requires a leader before it admits this pod (EXC-9).
    ///
    /// Without completion indexes every pod is a follower and there is no leader (EXC-27).
    pub fn requires_leader(store: &ObjectStore, job: JobId, index: u32) -> bool {
        let j = &store.jobs[job.ix()];
        let leads = index == 0 && store.is_indexed(job);
        let posted = j.template.is_some() && j.jobset.is_some();
        posted && !leads && store.templates.get(j.template).exclusive.is_some()
    }

    /// Returns the domain for the pod's node selector (EXC-8), `NONE` if it gets none, or why the webhooks reject its
    /// creation (EXC-9, EXC-11). `called` is the time of the API server's call.
    pub fn admit_pod(
        &self, ctx: &EngineContext<'_>, (job, index): (JobId, u32), called: SimTime,
    ) -> Result<DomainId, PodWebhookError> {
        let j = &ctx.store.jobs[job.ix()];
        if !j.template.is_some() || !j.jobset.is_some() {
            return Ok(DomainId::NONE);
        }
        if !ctx.is_manager_up(called) {
            // failurePolicy: Fail, for every pod with the JobSet label.
            return Err(PodWebhookError::Unavailable);
        }
        let template = ctx.store.templates.get(j.template);
        let key = template.exclusive;
        let Some(key) = key.filter(|_| Self::requires_leader(ctx.store, job, index)) else {
            return Ok(DomainId::NONE);
        };
        let domains = &ctx.store.templates.domains[key as usize];
        let follower = FollowerPod {
            job: ctx.store.names.job(job),
            key: &domains.key,
            selector: &template.pod.spec.node_selector,
        };
        let name = |leader: &LeaderPod| {
            let names = &ctx.store.names;
            names.pod(leader.job, 0, leader.pod, leader.incarnation)
        };
        let mut live = self.leaders_named(ctx.store, job).filter(|l| l.is_live(called));
        let (first, others) = (live.next(), live.count());
        let orphan;
        let sight = match first.filter(|_| others == 0) {
            Some(leader) if has_no_owner(ctx.store, leader) => {
                orphan = name(leader);
                WebhookInput::Orphan(&orphan)
            }
            Some(leader) if leader.job != job => WebhookInput::OtherJob,
            Some(leader) if leader.scheduled <= called => WebhookInput::Scheduled {
                node: ctx.store.names.node(leader.node),
                exists: ctx.store.nodes.exists(leader.node),
                domain: domains.of[leader.node.ix()],
            },
            Some(_) => WebhookInput::Unscheduled,
            None => WebhookInput::Leaders(first.map_or(0, |_| 1 + others)),
        };
        verdict(&follower, sight)
    }

    /// Pods with the name of the Job's leader, in its namespace.
    fn leaders_named<'a>(&'a self, store: &'a ObjectStore, job: JobId) -> impl Iterator<Item = &'a LeaderPod> + 'a {
        let (name, namespace) = (store.names.job(job), store.namespace_of(job));
        let by_hand = self.by_hand.iter().filter(move |(_, n, leads)| n == namespace && leads == name);
        let places = std::iter::once(store.jobs[job.ix()].name_number).chain(by_hand.map(|(place, ..)| *place));
        places.flat_map(|place| self.leaders.get(place as usize).into_iter().flatten())
    }

    /// The API server's message for a pod that the webhooks currently reject, and the reason.
    pub fn creation_blocker(
        &self, ctx: &EngineContext<'_>, job: JobId, index: u32,
    ) -> Option<(String, CreationBlocker)> {
        let error = self.admit_pod(ctx, (job, index), ctx.now).err()?;
        Some((error.to_string(), self.blocker_kind(ctx, job)))
    }

    fn blocker_kind(&self, ctx: &EngineContext<'_>, job: JobId) -> CreationBlocker {
        let (store, j) = (&ctx.store, &ctx.store.jobs[job.ix()]);
        let key = store.templates.get(j.template).exclusive;
        let Some(key) = key.filter(|_| ctx.is_manager_up(ctx.now)) else {
            return CreationBlocker::Other;
        };
        if !store.is_indexed(job) {
            return CreationBlocker::NoIndexes;
        }
        let live = || self.leaders_named(store, job).filter(|l| l.is_live(ctx.now));
        let Some(own) = live().find(|l| l.job == job) else {
            return CreationBlocker::LeaderEnded;
        };
        if let Some(l) = live().find(|l| has_no_owner(store, l)) {
            let name = store.names.pod(l.job, 0, l.pod, l.incarnation);
            return CreationBlocker::Orphan(name);
        }
        if !own.node.is_some() {
            return CreationBlocker::Other;
        }
        let node = store.names.node(own.node).to_owned();
        let domains = &store.templates.domains[key as usize];
        match store.nodes.exists(own.node) {
            false => CreationBlocker::NodeGone(node),
            true if !domains.of[own.node.ix()].is_some() => CreationBlocker::NoLabel { node, key: domains.key.clone() },
            true => CreationBlocker::Other,
        }
    }
}

fn has_no_owner(store: &ObjectStore, leader: &LeaderPod) -> bool {
    store.jobs[leader.job.ix()].pods_orphaned || store.names.is_standalone_pod(leader.job)
}

/// The name of the Job whose leader a pod created by hand would be: that of the pod without the last part, which the
/// index of leaders removes, and without the completion index 0. The index contains only pods with the annotation of
/// exclusive placement and names of five parts or more (`pod_controller.go`, IndexPodName).
fn job_led_by_hand(store: &ObjectStore, pod: PodId) -> Option<String> {
    let annotated = store.template(pod).pod.annotations.contains_key(EXCLUSIVE_TOPOLOGY);
    let name = store.names.job(store.pods.job[pod.ix()]);
    let parts: Vec<&str> = name.split('-').collect();
    match parts.as_slice() {
        [job @ .., "0", _] if annotated && job.len() >= 3 => Some(job.join("-")),
        _ => None,
    }
}
