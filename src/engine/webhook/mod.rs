//! JobSet's two pod webhooks: which followers of exclusive placement may come, and into which domain (EXC-4 to EXC-11).
//!
//! They run in the JobSet manager, but answer from an informer cache of pods of their own. Must never change anything.

#[cfg(test)]
mod tests;
mod verdict;

use super::ctx::{Ctx, Watcher};
use crate::base::*;
use crate::record::About;
use crate::store::{PodChange, What};
use verdict::{Follower, Sight, verdict};

#[derive(Default)]
pub struct PodWebhook {
    /// Per Job.
    leaders: Vec<Leader>,
}

/// The newest leader of a Job, unless it is ending or has ended, and when the cache shows what of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Leader {
    pod: PodId,
    created: Time,
    scheduled: Time,
    node: NodeId,
}

const NOBODY: Leader = Leader {
    pod: PodId::NONE,
    created: Time::NEVER,
    scheduled: Time::NEVER,
    node: NodeId::NONE,
};

/// What the Job controller is told while nobody serves the webhooks; the server's words go on with its network's.
const NO_ANSWER: &str =
    "Error creating: Internal error occurred: failed calling webhook \"mpod.kb.io\"";

impl PodWebhook {
    pub fn reset(&mut self) {
        self.leaders.clear();
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(pod, PodChange::Created) => self.leader_created(ctx, pod),
            What::Pod(pod, PodChange::Bound) => self.leader_bound(ctx, pod),
            What::Pod(pod, PodChange::Finished | PodChange::Deleting | PodChange::Gone) => {
                self.leader_left(ctx, pod);
            }
            _ => {}
        }
    }

    fn leader_created(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        if ctx.store.template(pod).exclusive.is_none() || !ctx.store.is_leader(pod) {
            return;
        }
        let job = ctx.store.pods.job[pod.ix()];
        if self.leaders.len() <= job.ix() {
            self.leaders.resize(job.ix() + 1, NOBODY);
        }
        self.leaders[job.ix()] = Leader {
            pod,
            created: self.visible_at(ctx, pod),
            ..NOBODY
        };
    }

    /// The cache will show the leader as scheduled: followers may come (EXC-8, EXC-10).
    fn leader_bound(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        if self.newest(ctx, pod).is_none() {
            return;
        }
        let (node, scheduled) = (ctx.store.pods.node[pod.ix()], self.visible_at(ctx, pod));
        if let Some(leader) = self.newest(ctx, pod) {
            assert!(!leader.node.is_some(), "a leader is bound once");
            (leader.node, leader.scheduled) = (node, scheduled);
        }
    }

    /// A leader that terminates or has ended admits no followers (EXC-10), unless it has a successor already.
    fn leader_left(&mut self, ctx: &Ctx<'_>, pod: PodId) {
        if let Some(leader) = self.newest(ctx, pod) {
            *leader = NOBODY;
        }
    }

    /// The entry of a pod that is the newest leader of its Job.
    fn newest(&mut self, ctx: &Ctx<'_>, pod: PodId) -> Option<&mut Leader> {
        let leader = self.leaders.get_mut(ctx.store.pods.job[pod.ix()].ix());
        leader.filter(|leader| leader.pod == pod)
    }

    fn visible_at(&self, ctx: &mut Ctx<'_>, pod: PodId) -> Time {
        let version = ctx.store.pods.resource_version[pod.ix()];
        ctx.now + ctx.watch_lag(Watcher::Webhook, About::Pod(pod), version)
    }

    /// The domain that the pod's node selector gets (EXC-8), `NONE` for a pod that gets none; or why the webhooks
    /// refuse its creation (EXC-9, EXC-11).
    ///
    /// Without a completion index every pod is a follower, and there is no leader (EXC-27).
    pub fn judge(&self, ctx: &Ctx<'_>, job: JobId, index: u32) -> Result<DomainId, String> {
        let j = &ctx.store.jobs[job.ix()];
        if !j.template.is_some() || !j.jobset.is_some() {
            return Ok(DomainId::NONE);
        }
        if !ctx.manager_answers {
            // failurePolicy: Fail, for every pod with the JobSet's label.
            return Err(NO_ANSWER.to_owned());
        }
        let template = ctx.store.templates.get(j.template);
        let leads = index == 0 && ctx.store.indexed(job);
        let Some(key) = template.exclusive.filter(|_| !leads) else {
            return Ok(DomainId::NONE);
        };
        let domains = &ctx.store.templates.domains[key as usize];
        let follower = Follower {
            job: ctx.store.names.job(job),
            key: &domains.key,
            selector: &template.pod.spec.node_selector,
        };
        let sight = match self.seen_on(ctx.now, job) {
            None => Sight::NoLeader,
            Some(node) if !node.is_some() => Sight::Unscheduled,
            Some(node) => Sight::Scheduled {
                node: ctx.store.names.node(node),
                exists: ctx.store.nodes.exists(node),
                domain: domains.of[node.ix()],
            },
        };
        verdict(&follower, sight).map_err(|denied| format!("Error creating: {denied}"))
    }

    /// The node that the cache shows the Job's leader on; `NONE`: not scheduled yet.
    fn seen_on(&self, now: Time, job: JobId) -> Option<NodeId> {
        let leader = self.leaders.get(job.ix())?;
        match (leader.scheduled <= now, leader.created <= now) {
            (true, _) => Some(leader.node),
            (false, true) => Some(NodeId::NONE),
            (false, false) => None,
        }
    }
}
