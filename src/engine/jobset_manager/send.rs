//! The requests of a step: their kind, order and parallelism.

use super::JobSetManager;
use super::pass::{PassStep, ReconcilePass};
use crate::event::{JobSetCall, SimulationEvent};
use crate::record::{Call, TicketSubject};
use crate::{ctx::EngineContext, requests::RequestEntry};
use sim_base::{JobId, JobSetId};

/// DEL-1, CRE-4: `constants.MaxParallelism`.
pub(super) const MAX_PARALLELISM: usize = 50;

impl PassStep {
    /// Kind of the step's requests, kind of their responses, and maximum number in flight.
    fn request_kind(self) -> (Call, JobSetCall, usize) {
        match self {
            PassStep::Deleting => (Call::JobSetJobDelete, JobSetCall::Delete, MAX_PARALLELISM),
            PassStep::Service => (Call::JobSetServiceCreate, JobSetCall::CreateService, 1),
            PassStep::Claims => (Call::JobSetClaimCreate, JobSetCall::CreateClaim, 1),
            PassStep::Patching => (Call::JobSetJobPatch, JobSetCall::Patch, 1),
            PassStep::Creating => (Call::JobSetJobCreate, JobSetCall::Create, MAX_PARALLELISM),
            PassStep::Suspending => (Call::JobSetJobUpdate, JobSetCall::Suspend, 1),
            PassStep::Resuming => (Call::JobSetJobUpdate, JobSetCall::Resume, 1),
            PassStep::DeletingJobSet => (Call::JobSetDelete, JobSetCall::DeleteJobSet, 1),
            PassStep::Status => (Call::JobSetStatusUpdate, JobSetCall::Status, 1),
            PassStep::Idle => unreachable!("a pass without a step sends nothing"),
        }
    }
}

impl ReconcilePass {
    /// Number of items of the step that may be sent by now, including those already sent.
    pub fn sendable_items(&mut self) -> usize {
        match self.step {
            PassStep::Deleting => self.plan.delete.len(),
            PassStep::Claims => self.claims.len(),
            PassStep::Patching => self.plan.patch.len(),
            PassStep::Creating => self.sendable_creates(),
            PassStep::Suspending => self.plan.suspend.len(),
            PassStep::Resuming => self.plan.resume.len(),
            PassStep::Service | PassStep::DeletingJobSet | PassStep::Status => 1,
            PassStep::Idle => 0,
        }
    }

    /// CRE-4: replicatedJobs are created one after another; after a failure, later ones are not started.
    fn sendable_creates(&mut self) -> usize {
        let creates = &self.plan.create;
        let over = self.next == self.create_until && self.in_flight == 0;
        if over && !self.failed && self.next < creates.len() {
            let rj = creates[self.next].rj;
            let same = creates[self.next..].iter().take_while(|c| c.rj == rj);
            self.create_until += same.count();
        }
        self.create_until
    }
}

impl JobSetManager {
    /// Sends requests up to the parallelism of the step.
    pub(super) fn send_more(&mut self, ctx: &mut EngineContext<'_>) {
        let Some(jobset) = self.pass.jobset else { unreachable!("only a pass sends requests") };
        let (call, what, width) = self.pass.step.request_kind();
        while self.pass.in_flight < width && self.pass.next < self.pass.sendable_items() {
            let job = self.next_job(ctx, jobset);
            let resumes = self.pass.step == PassStep::Resuming;
            let (call, what) = if resumes && has_start_time(ctx, job) {
                (Call::JobSetJobStatusUpdate, JobSetCall::ClearStartTime)
            } else {
                (call, what)
            };
            let req = self.request_entry((jobset, job), call);
            self.pass.next += 1;
            self.pass.in_flight += 1;
            let answered = SimulationEvent::JobSetAnswered { jobset, call: what, job };
            ctx.request(req, answered);
        }
    }

    /// Sends the second request of a resume, after the startTime was cleared.
    pub(super) fn send_resume(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, job: JobId) {
        let (call, what, _) = PassStep::Resuming.request_kind();
        let req = self.request_entry((jobset, job), call);
        let answered = SimulationEvent::JobSetAnswered { jobset, call: what, job };
        ctx.request(req, answered);
    }

    /// The Job of the next request, if it is about a Job.
    fn next_job(&self, ctx: &mut EngineContext<'_>, jobset: JobSetId) -> JobId {
        let (pass, plan) = (&self.pass, &self.pass.plan);
        match pass.step {
            PassStep::Deleting => pass.job(plan.delete[pass.next]),
            PassStep::Patching => pass.job(plan.patch[pass.next]),
            PassStep::Suspending => pass.job(plan.suspend[pass.next]),
            PassStep::Resuming => pass.job(plan.resume[pass.next]),
            PassStep::Creating => {
                let create = plan.create[pass.next];
                ctx.store.row_for_slot(jobset, create.rj, create.index)
            }
            _ => JobId::NONE,
        }
    }

    /// Names a request: within a pass there is one of a kind per Job and one per JobSet; claims are distinguished by
    /// their number.
    fn request_entry(&self, (jobset, job): (JobSetId, JobId), call: Call) -> RequestEntry {
        let pass = &self.pass;
        let about = if job.is_some() { TicketSubject::Job(job) } else { TicketSubject::JobSet(jobset) };
        let req = RequestEntry::new(call, about, pass.number);
        match pass.step {
            PassStep::Claims => req.with_substream(pass.next as u32),
            _ => req,
        }
    }
}

fn has_start_time(ctx: &EngineContext<'_>, job: JobId) -> bool {
    ctx.store.jobs[job.ix()].status.start_time.is_some()
}
