//! Pod creation in a sync of the Job controller: the indexes and the requests.
//!
//! The number of pods is decided by `policy::job`.

use super::worker::Stage;
use super::{JobController, Step};
use crate::apiserver;
use crate::apiserver::NewPod;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Body, Call, Waited};
use crate::requests::{Answer, Req};
use crate::webhook::PodWebhook;
use sim_base::*;
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;
use sim_policy::job::backoff;

impl JobController {
    /// Creates the lowest missing indexes first, in batches of 1, 2, 4 …; each batch starts after the responses to
    /// the previous one.
    pub(super) fn begin_creating(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        job: JobId,
        count: u32,
    ) {
        let mut create = std::mem::take(&mut self.workers[worker].create);
        let failed = &self.workers[worker].counted.failed_indexes;
        self.sight(ctx, job)
            .missing_indexes(failed, count, &mut create);
        self.keep_indexes_due_now(ctx, worker, job, &mut create);
        let row = &mut self.rows[job.ix()];
        row.expected = create.len() as u32;
        row.creating_syncs += 1;
        let w = &mut self.workers[worker];
        w.create = create;
        w.asked.clear();
        w.batch = 1;
        w.batches = 0;
        w.stage = Stage::Creating;
        w.batch_failed = false;
        self.next_batch(ctx, worker);
    }

    /// backoffLimitPerIndex: every index has its own back-off; the key is requeued only if no index is due now.
    fn keep_indexes_due_now(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        job: JobId,
        create: &mut Vec<u32>,
    ) {
        let c = &self.workers[worker].counted;
        if c.delayed.is_empty() {
            return;
        }
        let sight = self.sight(ctx, job);
        let left = |index: u32| {
            let ended_at = |p: PodId| ctx.store.pods.ended_at[p.ix()];
            let replaced = c.replaced(index);
            backoff::until_index(
                replaced.map(|p| (sight.failures(p) + 1, ended_at(p))),
                ctx.now,
            )
        };
        let soonest = create.iter().map(|i| left(*i)).min();
        create.retain(|i| left(*i) == Duration::ZERO);
        if let Some(left) = soonest.filter(|left| *left > Duration::ZERO) {
            let delay = left.max(SYNC_JOB_BATCH_PERIOD);
            self.enqueue(ctx, job, delay, Waited::PodFailureBackoff);
        }
    }

    fn next_batch(&mut self, ctx: &mut Ctx<'_>, worker: usize) {
        let w = &mut self.workers[worker];
        let job = w.job;
        let from = w.asked.len();
        let batch = w.batch.min(w.create.len() - from);
        if batch == 0 || w.batch_failed {
            let skipped = (w.create.len() - from) as u32;
            w.failed |= w.batch_failed;
            let row = &mut self.rows[job.ix()];
            row.expected -= skipped.min(row.expected);
            return self.begin_status(ctx, worker);
        }
        let nth_batch = w.batches;
        w.batch *= 2;
        w.batches += 1;
        w.outstanding = batch as u32;
        let nth = self.rows[job.ix()].creating_syncs - 1;
        let step = self.step_key(ctx, job, Step::Creates(nth_batch));
        let w = &mut self.workers[worker];
        for at in from..from + batch {
            let mut req = Req::new(Call::JobPodCreate, About::Job(job), nth).lane(w.create[at]);
            if batch > 1 {
                req = req.together(step);
            }
            let (worker, nth) = (worker as u16, at as u32);
            w.asked
                .push(ctx.request_leaving(req, Event::PodCreateAnswered { worker, nth }));
        }
    }

    /// The API server called the pod webhook when the request arrived, and stores the pod now.
    pub(super) fn pod_create_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        webhook: &PodWebhook,
        worker: usize,
        nth: usize,
    ) {
        let w = &self.workers[worker];
        let (job, index, called) = (w.job, w.create[nth], w.asked[nth]);
        let row = &mut self.rows[job.ix()];
        row.expected = row.expected.saturating_sub(1);
        let j = &ctx.store.jobs[job.ix()];
        let there = j.exists && j.incarnation == self.workers[worker].incarnation;
        // A webhook that does not respond fails before pod validation.
        let refused =
            apiserver::post_refusal(ctx, job, index).filter(|_| ctx.manager_answers(called));
        if let Some((answer, why)) = refused {
            let why = format!("Error creating: {why}");
            self.pod_refused(ctx, worker, nth, (answer, &why));
        } else {
            match webhook.judge(ctx, (job, index), called) {
                Err(why) => {
                    self.pod_refused(ctx, worker, nth, (Answer::Forbidden, &why));
                }
                Ok(domain) if there => {
                    ctx.answered(Call::JobPodCreate, Answer::Success);
                    self.create_pod(ctx, worker, (job, index), domain);
                }
                Ok(_) => {}
            }
        }
        if self.workers[worker].one_less() {
            self.next_batch(ctx, worker);
        }
    }

    /// Handles a rejected pod (EXC-11).
    fn pod_refused(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        nth: usize,
        (answer, reason): (Answer, &str),
    ) {
        let w = &mut self.workers[worker];
        w.batch_failed = true;
        let (job, index, called) = (w.job, w.create[nth], w.asked[nth]);
        ctx.progress.refused(called, ctx.now);
        ctx.answered(Call::JobPodCreate, answer);
        let reason = ctx.text(reason);
        ctx.emit(Body::PodCreateRejected { job, index, reason });
        self.event_of_refused_pod(ctx, job, reason);
    }

    fn create_pod(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        (job, index): (JobId, u32),
        domain: DomainId,
    ) {
        let template = ctx.store.jobs[job.ix()].template;
        let finalizers = &ctx.store.templates.get(template).pod.finalizers;
        let new = NewPod {
            job,
            index,
            template,
            domain,
            failures: self.inherited_failures(ctx, worker, job, index),
            tracked: true,
            // The controller's finalizer is added to those of the template.
            held: !finalizers.is_empty(),
        };
        let pod = apiserver::create_pod(ctx, new);
        self.workers[worker].counted.created();
        self.event_of_created_pod(ctx, job, pod);
    }

    /// Annotations job-index-failure-count and job-index-ignored-failure-count of a new pod: those of the failed pod
    /// that it replaces, plus that pod's own failure.
    fn inherited_failures(
        &self,
        ctx: &Ctx<'_>,
        worker: usize,
        job: JobId,
        index: u32,
    ) -> (u16, u16) {
        let Some(old) = self.workers[worker].counted.replaced(index) else {
            return (0, 0);
        };
        let p = &ctx.store.pods;
        let (counted, ignored) = (p.index_failures[old.ix()], p.ignored_failures[old.ix()]);
        if self.sight(ctx, job).verdict(old).counts {
            (counted.saturating_add(1), ignored)
        } else {
            (counted, ignored.saturating_add(1))
        }
    }
}
