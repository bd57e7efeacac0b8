//! One reconcile pass over one JobSet: decided from the cache at its start, executed step by step in upstream's order
//! (REC-4 to REC-15).

use super::JobSetManager;
use super::children::{NewClaim, has_service, new_claims};
use super::rows::JobSetSyncRow;
use super::trace::pass_decision;
use crate::record::{TicketSubject, TicketWait};
use crate::{apiserver::ChildJobError, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::JobSet;
use sim_base::{JobId, JobSetId, SimTime};
use sim_policy::{ActionPlan, JobSetView};
use std::sync::Arc;

#[derive(Clone, Default)]
pub(super) struct ReconcilePass {
    /// The JobSet; `None` if no pass is running.
    pub jobset: Option<JobSetId>,
    /// A watch event about the JobSet arrived since the pass began.
    pub dirty: bool,
    pub number: u32,
    pub start: SimTime,
    /// The JobSet in the cache at the start of the pass.
    pub spec: Arc<JobSet>,
    pub spec_version: u32,
    pub based_on: u32,
    pub plan: ActionPlan,
    /// The Jobs of the view, if the plan refers to any.
    pub jobs: Vec<JobId>,
    pub claims: Vec<NewClaim>,
    pub step: PassStep,
    /// Number of items of the step sent so far, and number without a response.
    pub next: usize,
    pub in_flight: usize,
    /// End of the current replicatedJob's range in `plan.create`.
    pub create_until: usize,
    pub failed_creates: Vec<(JobId, ChildJobError)>,
    /// The pass ends with an error.
    pub failed: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(super) enum PassStep {
    #[default]
    Idle,
    Deleting,
    Service,
    Claims,
    Patching,
    Creating,
    Suspending,
    Resuming,
    DeletingJobSet,
    Status,
}

impl ReconcilePass {
    pub fn reset(&mut self) {
        self.jobset = None;
        self.step = PassStep::Idle;
    }

    fn begin(&mut self, jobset: JobSetId, row: &JobSetSyncRow, now: SimTime) {
        assert!(self.jobset.is_none(), "one pass at a time (REC-2)");
        self.jobset = Some(jobset);
        self.dirty = false;
        self.number = row.passes;
        self.start = now;
        self.spec = row.cached.spec.clone();
        self.spec_version = row.cached.spec_version;
        self.based_on = row.cached.resource_version;
        self.plan.clear();
        self.jobs.clear();
        self.step = PassStep::Idle;
        (self.next, self.in_flight, self.create_until) = (0, 0, 0);
        self.failed_creates.clear();
        self.failed = false;
    }

    /// Returns the Job at a position of the view.
    pub fn job(&self, at: u32) -> JobId {
        self.jobs[at as usize]
    }

    /// Advances to the next step with work; false if the pass is finished.
    pub fn next_step(&mut self) -> bool {
        loop {
            let plan = &self.plan;
            let (step, work) = match self.step {
                PassStep::Idle => (PassStep::Deleting, !plan.delete.is_empty()),
                PassStep::Deleting => (PassStep::Service, plan.create_service),
                PassStep::Service => {
                    self.claims.clear();
                    if plan.create_claims > 0 {
                        self.claims = new_claims(&self.spec);
                    }
                    (PassStep::Claims, !self.claims.is_empty())
                }
                PassStep::Claims => (PassStep::Patching, !plan.patch.is_empty()),
                PassStep::Patching => (PassStep::Creating, !plan.create.is_empty()),
                PassStep::Creating => (PassStep::Suspending, !plan.suspend.is_empty()),
                PassStep::Suspending => (PassStep::Resuming, !plan.resume.is_empty()),
                PassStep::Resuming => (PassStep::DeletingJobSet, plan.delete_jobset),
                PassStep::DeletingJobSet => (PassStep::Status, plan.status_dirty && plan.error.is_none()),
                PassStep::Status => return false,
            };
            self.step = step;
            if work {
                self.next = 0;
                return true;
            }
        }
    }
}

impl JobSetManager {
    pub(super) fn begin_pass(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let row = &self.rows[jobset.ix()];
        self.pass.begin(jobset, row, ctx.now);
        let cached = &row.cached;
        // T-8: with the in-place feature gate, which adds a pod watch, a pass lists every pod of the JobSet.
        let pods = if cached.in_place { cached.expected_pods } else { 0 };
        let listing = ctx.scenario.timing.jobset_list_per_pod.saturating_mul(pods);
        self.plan_pass(ctx, jobset);
        // The view is taken from the cache now; with in-place restarts, listing the pods takes time first.
        let event = SimulationEvent::JobSetComputed(jobset);
        ctx.schedule_after(listing, TicketWait::Listing, TicketSubject::JobSet(jobset), event);
    }

    fn plan_pass(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let row = &mut self.rows[jobset.ix()];
        let cached = &row.cached;
        if !cached.exists {
            return;
        }
        row.jobs.count(cached, ctx.gates);
        let name = &ctx.store.names.jobsets[jobset.ix()].name;
        let rjs = &cached.spec.spec.replicated_jobs;
        let stored = &ctx.store.jobsets[jobset.ix()];
        let view = JobSetView {
            jobset: &cached.spec,
            suspended: cached.spec.spec.suspend,
            deleting: cached.deleting,
            status: &cached.status,
            jobs: &row.jobs.views,
            gates: ctx.gates,
            now: ctx.now,
            service_exists: has_service(ctx, jobset, cached),
            in_place: cached.in_place.then(|| stored.in_place_view()),
            ties: ctx.scenario.ties,
            // Job name `<jobset>-<replicatedJob>-<index>` (NAM-1).
            job_name: &|rj, index| format!("{name}-{}-{index}", rjs[rj as usize].name),
        };
        let pass = &mut self.pass;
        sim_policy::reconcile_counted(&view, row.jobs.tally(), &mut pass.plan);
        if pass.plan.names_jobs() {
            pass.jobs.extend_from_slice(&row.jobs.ids);
        }
        if let Some(decided) = pass_decision(ctx, jobset, &view, &self.pass.plan) {
            ctx.emit_decision(decided);
        }
    }

    pub(super) fn pass_computed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        assert!(self.pass.jobset == Some(jobset), "the pass at hand is computed");
        self.advance(ctx);
    }

    pub(super) fn advance(&mut self, ctx: &mut EngineContext<'_>) {
        assert!(self.pass.in_flight == 0, "a step begins when the one before is answered");
        if self.pass.next_step() {
            self.send_more(ctx);
        } else {
            self.end_pass(ctx, false);
        }
    }
}
