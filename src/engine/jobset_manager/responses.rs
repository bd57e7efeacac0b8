//! Responses to the requests of a pass, and the continuation of the pass after each.

use super::JobSetManager;
use super::events;
use super::pass::PassStep;
use crate::{apiserver, ctx::EngineContext, event::JobSetCall, record::Call, requests::RequestAnswer};
use sim_api::spec::DeletionPropagation;
use sim_base::{JobId, JobSetId};

impl JobSetManager {
    pub(super) fn handle_response(
        &mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, call: JobSetCall, job: JobId,
    ) {
        assert!(self.pass.jobset == Some(jobset), "answers are those of the pass at hand");
        match call {
            JobSetCall::Delete => self.job_deleted(ctx, job),
            JobSetCall::CreateService => self.service_answered(ctx, jobset),
            JobSetCall::CreateClaim => self.claim_answered(ctx, jobset),
            JobSetCall::Patch => self.job_patched(ctx, job),
            JobSetCall::Create => self.job_created(ctx, jobset, job),
            JobSetCall::Suspend => self.job_suspended(ctx, job),
            JobSetCall::ClearStartTime => {
                if self.start_time_cleared(ctx, job) {
                    return self.send_resume(ctx, jobset, job);
                }
            }
            JobSetCall::Resume => self.job_resumed(ctx, job),
            JobSetCall::DeleteJobSet => {
                let there = ctx.store.jobsets[jobset.ix()].exists();
                ctx.record_response(Call::JobSetDelete, RequestAnswer::from_existence(there));
                apiserver::delete_jobset(ctx, jobset, DeletionPropagation::Foreground);
            }
            JobSetCall::Status => self.status_answered(ctx, jobset),
        }
        self.pass.in_flight -= 1;
        self.continue_pass(ctx);
    }

    /// Continues the pass. Upstream collects the errors of Job creations, Job patches and claims; any other error
    /// ends the pass immediately.
    fn continue_pass(&mut self, ctx: &mut EngineContext<'_>) {
        let gathers = matches!(self.pass.step, PassStep::Creating | PassStep::Patching | PassStep::Claims);
        if !self.pass.failed || gathers {
            self.send_more(ctx);
        }
        if self.pass.in_flight > 0 {
            return;
        }
        if self.pass.failed {
            self.emit_failed_creates(ctx);
            return self.end_pass(ctx, true);
        }
        self.advance(ctx);
    }

    /// REC-14: optimistic concurrency; a conflict aborts the pass and discards its Events.
    fn status_answered(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let stored = &ctx.store.jobsets[jobset.ix()];
        let answer = if !stored.exists() {
            RequestAnswer::NotFound
        } else if stored.resource_version != self.pass.based_on {
            RequestAnswer::Conflict
        } else {
            RequestAnswer::Success
        };
        ctx.record_response(Call::JobSetStatusUpdate, answer);
        if answer == RequestAnswer::Conflict {
            let why = "its status write met a conflict, the JobSet it saw was out of date";
            self.trace_failed_pass(ctx, jobset, why, "REC-14");
        }
        if !answer.is_success() {
            self.pass.failed = true;
            return;
        }
        let mut plan = std::mem::take(&mut self.pass.plan);
        let failed = plan.failed_job.map_or(JobId::NONE, |at| self.pass.job(at));
        self.write_object(ctx, |ctx| {
            apiserver::set_jobset_status(ctx, jobset, &mut plan.status, failed);
        });
        for event in &plan.events {
            events::emit_event(ctx, jobset, event);
        }
        self.pass.plan = plan;
    }
}
