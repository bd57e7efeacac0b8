//! The requests of a step: their kind, order and parallelism.

use super::JobSetManager;
use super::pass::{Pass, Step};
use crate::ctx::Ctx;
use crate::event::{Event, JobSetCall};
use crate::record::{About, Call};
use crate::requests::Req;
use sim_base::*;

/// DEL-1, CRE-4: `constants.MaxParallelism`.
pub(super) const MAX_PARALLELISM: usize = 50;

impl Step {
    /// Kind of the step's requests, kind of their responses, and maximum number in flight.
    fn requests(self) -> (Call, JobSetCall, usize) {
        match self {
            Step::Deleting => (Call::JobSetJobDelete, JobSetCall::Delete, MAX_PARALLELISM),
            Step::Service => (Call::JobSetServiceCreate, JobSetCall::CreateService, 1),
            Step::Claims => (Call::JobSetClaimCreate, JobSetCall::CreateClaim, 1),
            Step::Patching => (Call::JobSetJobPatch, JobSetCall::Patch, 1),
            Step::Creating => (Call::JobSetJobCreate, JobSetCall::Create, MAX_PARALLELISM),
            Step::Suspending => (Call::JobSetJobUpdate, JobSetCall::Suspend, 1),
            Step::Resuming => (Call::JobSetJobUpdate, JobSetCall::Resume, 1),
            Step::DeletingJobSet => (Call::JobSetDelete, JobSetCall::DeleteJobSet, 1),
            Step::Status => (Call::JobSetStatusUpdate, JobSetCall::Status, 1),
            Step::Idle => unreachable!("a pass without a step sends nothing"),
        }
    }
}

impl Pass {
    /// Number of items of the step that may be sent by now, including those already sent.
    pub fn open(&mut self) -> usize {
        match self.step {
            Step::Deleting => self.plan.delete.len(),
            Step::Claims => self.claims.len(),
            Step::Patching => self.plan.patch.len(),
            Step::Creating => self.open_creates(),
            Step::Suspending => self.plan.suspend.len(),
            Step::Resuming => self.plan.resume.len(),
            Step::Service | Step::DeletingJobSet | Step::Status => 1,
            Step::Idle => 0,
        }
    }

    /// CRE-4: replicatedJobs are created one after another; after a failure, later ones are not started.
    fn open_creates(&mut self) -> usize {
        let creates = &self.plan.create;
        let over = self.next == self.create_until && self.in_flight == 0;
        if over && !self.lost && self.next < creates.len() {
            let rj = creates[self.next].rj;
            let same = creates[self.next..].iter().take_while(|c| c.rj == rj);
            self.create_until += same.count();
        }
        self.create_until
    }
}

impl JobSetManager {
    /// Sends requests up to the parallelism of the step.
    pub(super) fn send_more(&mut self, ctx: &mut Ctx<'_>) {
        let Some(jobset) = self.pass.jobset else {
            unreachable!("only a pass sends requests")
        };
        let (call, what, width) = self.pass.step.requests();
        while self.pass.in_flight < width && self.pass.next < self.pass.open() {
            let job = self.next_job(ctx, jobset);
            let resumes = self.pass.step == Step::Resuming;
            let (call, what) = match resumes && has_start_time(ctx, job) {
                true => (Call::JobSetJobStatusUpdate, JobSetCall::ClearStart),
                false => (call, what),
            };
            let req = self.named(ctx, (jobset, job), call);
            self.pass.next += 1;
            self.pass.in_flight += 1;
            let answered = Event::JobSetAnswered {
                jobset,
                call: what,
                job,
            };
            ctx.request(req, answered);
        }
    }

    /// Sends the second request of a resume, after the startTime was cleared.
    pub(super) fn send_resume(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId, job: JobId) {
        let (call, what, _) = Step::Resuming.requests();
        let req = self.named(ctx, (jobset, job), call);
        let answered = Event::JobSetAnswered {
            jobset,
            call: what,
            job,
        };
        ctx.request(req, answered);
    }

    /// The Job of the next request, if it is about a Job.
    fn next_job(&self, ctx: &mut Ctx<'_>, jobset: JobSetId) -> JobId {
        let (pass, plan) = (&self.pass, &self.pass.plan);
        match pass.step {
            Step::Deleting => pass.job(plan.delete[pass.next]),
            Step::Patching => pass.job(plan.patch[pass.next]),
            Step::Suspending => pass.job(plan.suspend[pass.next]),
            Step::Resuming => pass.job(plan.resume[pass.next]),
            Step::Creating => {
                let create = plan.create[pass.next];
                ctx.store.place_of(jobset, create.rj, create.index)
            }
            _ => JobId::NONE,
        }
    }

    /// Names a request: within a pass there is one of a kind per Job and one per JobSet; claims are distinguished by
    /// their number.
    fn named(&self, ctx: &Ctx<'_>, (jobset, job): (JobSetId, JobId), call: Call) -> Req {
        let pass = &self.pass;
        let about = match job.is_some() {
            true => About::Job(job),
            false => About::JobSet(jobset),
        };
        let req = Req::new(call, about, pass.number);
        match pass.step {
            Step::Deleting | Step::Creating => {
                let jobset = ctx.store.jobsets[jobset.ix()].key;
                req.together(jobset.and(u64::from(pass.number)))
            }
            Step::Claims => req.lane(pass.next as u32),
            _ => req,
        }
    }
}

fn has_start_time(ctx: &Ctx<'_>, job: JobId) -> bool {
    ctx.store.jobs[job.ix()].status.start_time.is_some()
}
