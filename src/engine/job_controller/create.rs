//! Pod creation in a sync of the Job controller: the indexes and the requests.
//!
//! The number of pods is decided by `policy::job`.

use super::JobController;
use super::worker::SyncStage;
use crate::record::{Body, Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, apiserver::NewPod, ctx::EngineContext, event::SimulationEvent, webhook::PodWebhook};
use sim_base::{DomainId, JobId};
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;

impl JobController {
    /// Creates the lowest missing indexes first, in batches of 1, 2, 4 …; each batch starts after the responses to
    /// the previous one.
    pub(super) fn begin_creating(&mut self, ctx: &mut EngineContext<'_>, worker: usize, job: JobId, count: u32) {
        let mut create = std::mem::take(&mut self.workers[worker].to_create);
        let failed = &self.workers[worker].counted.failed_indexes;
        self.sync_input(ctx, job).missing_indexes(failed, count, &mut create);
        let counted = &self.workers[worker].counted;
        if let Some(left) = self.sync_input(ctx, job).keep_due_indexes(counted, ctx.now, &mut create) {
            self.enqueue(ctx, job, left.max(SYNC_JOB_BATCH_PERIOD), TicketWait::PodFailureBackoff);
        }
        let row = &mut self.rows[job.ix()];
        row.expected_creations = create.len() as u32;
        row.creating_syncs += 1;
        let w = &mut self.workers[worker];
        w.to_create = create;
        w.request_times.clear();
        w.batch = 1;
        w.stage = SyncStage::Creating;
        w.batch_failed = false;
        self.next_batch(ctx, worker);
    }

    fn next_batch(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let w = &mut self.workers[worker];
        let job = w.job;
        let from = w.request_times.len();
        let batch = w.batch.min(w.to_create.len() - from);
        if batch == 0 || w.batch_failed {
            let skipped = (w.to_create.len() - from) as u32;
            w.failed |= w.batch_failed;
            let row = &mut self.rows[job.ix()];
            row.expected_creations -= skipped.min(row.expected_creations);
            return self.begin_status(ctx, worker);
        }
        w.batch *= 2;
        w.outstanding = batch as u32;
        let nth = self.rows[job.ix()].creating_syncs - 1;
        let w = &mut self.workers[worker];
        for at in from..from + batch {
            let req =
                RequestEntry::new(Call::JobPodCreate, TicketSubject::Job(job), nth).with_substream(w.to_create[at]);
            let (worker, nth) = (worker as u16, at as u32);
            w.request_times.push(ctx.request_with_departure(req, SimulationEvent::PodCreateAnswered { worker, nth }));
        }
    }

    /// The API server called the pod webhook when the request arrived, and stores the pod now.
    pub(super) fn pod_create_answered(
        &mut self, ctx: &mut EngineContext<'_>, webhook: &PodWebhook, worker: usize, nth: usize,
    ) {
        let w = &self.workers[worker];
        let (job, index, called) = (w.job, w.to_create[nth], w.request_times[nth]);
        let row = &mut self.rows[job.ix()];
        row.expected_creations = row.expected_creations.saturating_sub(1);
        let j = &ctx.store.jobs[job.ix()];
        let there = j.exists && j.incarnation == self.workers[worker].incarnation;
        // A webhook that does not respond fails before pod validation.
        let refused = apiserver::post_rejection(ctx, job, index).filter(|_| ctx.is_manager_up(called));
        if let Some((answer, why)) = refused {
            let why = format!("Error creating: {why}");
            self.handle_rejection(ctx, worker, nth, (answer, &why));
        } else {
            match webhook.admit_pod(ctx, (job, index), called) {
                Err(why) => {
                    let why = format!("Error creating: {why}");
                    self.handle_rejection(ctx, worker, nth, (RequestAnswer::Forbidden, &why));
                }
                Ok(domain) if there => {
                    ctx.record_response(Call::JobPodCreate, RequestAnswer::Success);
                    self.create_pod(ctx, worker, (job, index), domain);
                }
                Ok(_) => {}
            }
        }
        if self.workers[worker].count_response() {
            self.next_batch(ctx, worker);
        }
    }

    /// Handles a rejected pod (EXC-11).
    fn handle_rejection(
        &mut self, ctx: &mut EngineContext<'_>, worker: usize, nth: usize, (answer, reason): (RequestAnswer, &str),
    ) {
        let w = &mut self.workers[worker];
        w.batch_failed = true;
        let (job, index, called) = (w.job, w.to_create[nth], w.request_times[nth]);
        ctx.progress.record_rejection(called, ctx.now);
        ctx.record_response(Call::JobPodCreate, answer);
        let reason = ctx.intern(reason);
        ctx.emit(Body::PodCreateRejected { job, index, reason });
        self.queue_rejected_event(ctx, job, reason);
    }

    fn create_pod(&mut self, ctx: &mut EngineContext<'_>, worker: usize, (job, index): (JobId, u32), domain: DomainId) {
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
        self.workers[worker].counted.record_creation();
        self.queue_created_event(ctx, job, pod);
    }

    /// Annotations job-index-failure-count and job-index-ignored-failure-count of a new pod: those of the failed pod
    /// that it replaces, plus that pod's own failure.
    fn inherited_failures(&self, ctx: &EngineContext<'_>, worker: usize, job: JobId, index: u32) -> (u16, u16) {
        let Some(old) = self.workers[worker].counted.replaced_pod(index) else {
            return (0, 0);
        };
        let p = &ctx.store.pods;
        let (counted, ignored) = (p.index_failures[old.ix()], p.ignored_failures[old.ix()]);
        if self.sync_input(ctx, job).verdict(old).counts {
            (counted.saturating_add(1), ignored)
        } else {
            (counted, ignored.saturating_add(1))
        }
    }
}
