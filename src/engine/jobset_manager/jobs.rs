//! Requests of the manager about child Jobs: create, change, delete.

use super::JobSetManager;
use super::merge::merge_templates;
use crate::apiserver::{ChildJobError, NewChild};
use crate::{apiserver, ctx::EngineContext, record::Call, requests::RequestAnswer};
use serde_json::Value;
use sim_api::objects;
use sim_api::spec::{PodTemplate, ReplicatedJob};
use sim_base::{JobId, JobSetId};

impl JobSetManager {
    /// DELETE with foreground propagation: the object stays until its pods are gone (DEL-2).
    pub(super) fn job_deleted(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let there = ctx.store.jobs[job.ix()].exists;
        ctx.record_response(Call::JobSetJobDelete, RequestAnswer::from_existence(there));
        self.write_object(ctx, |ctx| apiserver::delete_job(ctx, job));
    }

    pub(super) fn job_created(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, job: JobId) {
        let (rj, index) = (ctx.store.jobs[job.ix()].rj, ctx.store.jobs[job.ix()].index);
        // While the request was in flight, a Job deleted in the background may have left pods behind.
        let job = ctx.store.row_for_slot(jobset, rj, index);
        let status = &self.pass.plan.status;
        let restarts = status.replicated_jobs.get(rj as usize);
        let restarts = restarts.and_then(|s| s.job_restarts.get(index as usize));
        let new = NewChild {
            job,
            jobset: self.pass.spec.clone(),
            spec_version: self.pass.spec_version,
            restart_attempt: status.restarts,
            job_restart_attempt: restarts.copied().unwrap_or(0),
            suspended: self.pass.spec.spec.suspend,
        };
        if let Err(refusal) = self.write_object(ctx, |ctx| apiserver::create_child(ctx, &new)) {
            self.pass.failed_creates.push((job, refusal));
            self.pass.failed = true;
        }
    }

    /// CRE-4: emits one Event for all failed creations.
    pub(super) fn emit_failed_creates(&mut self, ctx: &mut EngineContext<'_>) {
        let failed = &self.pass.failed_creates;
        if failed.is_empty() {
            return;
        }
        let line = |(job, error): &(JobId, ChildJobError)| {
            let name = ctx.store.names.job(*job);
            format!("job {name:?} creation failed with error: {error}")
        };
        let lines: Vec<String> = failed.iter().map(line).collect();
        self.report_failure(ctx, "JobCreationFailed", lines.join("\n"));
    }

    /// ELA-2: PATCH of parallelism and completions.
    pub(super) fn job_patched(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        if !self.exists_or_fail_pass(ctx, Call::JobSetJobPatch, job) {
            return;
        }
        let Some(rj) = self.replicated_job(ctx, job) else {
            return;
        };
        let size = (rj.template.parallelism, rj.template.completions);
        let spec = ctx.store.job_spec(job);
        let unchanged = (spec.parallelism, spec.completions) == size;
        if size.0.is_some() && !unchanged {
            apiserver::scale_job(ctx, job, size.0, size.1);
        }
    }

    /// SUS-1: PUT that suspends a Job.
    pub(super) fn job_suspended(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        if self.exists_or_fail_pass(ctx, Call::JobSetJobUpdate, job) {
            apiserver::set_suspended(ctx, job, true, None);
        }
    }

    /// SUS-5: PUT of the status; returns false if the Job was removed.
    pub(super) fn start_time_cleared(&mut self, ctx: &mut EngineContext<'_>, job: JobId) -> bool {
        let there = self.exists_or_fail_pass(ctx, Call::JobSetJobStatusUpdate, job);
        if there {
            apiserver::clear_start_time(ctx, job);
        }
        there
    }

    /// SUS-5: PUT that resumes a Job and merges fields of the replicatedJob's template into it.
    pub(super) fn job_resumed(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        if !self.exists_or_fail_pass(ctx, Call::JobSetJobUpdate, job) || !ctx.store.jobs[job.ix()].suspended {
            return;
        }
        let (template, object) = self.resumed_job(ctx, job);
        apiserver::resume_job(ctx, job, template, object);
    }

    fn resumed_job(&self, ctx: &EngineContext<'_>, job: JobId) -> (Option<PodTemplate>, Option<Value>) {
        let j = &ctx.store.jobs[job.ix()];
        let Some(rj) = self.replicated_job(ctx, job) else {
            return (None, None);
        };
        let template = merge_templates(&j.spec.template, &rj.template.template);
        let posted = self.pass.spec.object.as_ref();
        let object = j.object.as_ref().zip(posted).map(|(own, jobset)| {
            let mut object = (**own).clone();
            objects::merge_template_on_resume(&mut object, &jobset["spec"]["replicatedJobs"][j.rj as usize]);
            object
        });
        (template, object)
    }

    /// Returns true if the Job still exists for a PUT or PATCH; otherwise the pass is aborted.
    fn exists_or_fail_pass(&mut self, ctx: &mut EngineContext<'_>, call: Call, job: JobId) -> bool {
        let there = ctx.store.jobs[job.ix()].exists;
        ctx.record_response(call, RequestAnswer::from_existence(there));
        self.pass.failed |= !there;
        there
    }

    fn replicated_job(&self, ctx: &EngineContext<'_>, job: JobId) -> Option<&ReplicatedJob> {
        let rj = ctx.store.jobs[job.ix()].rj;
        self.pass.spec.spec.replicated_jobs.get(rj as usize)
    }
}
