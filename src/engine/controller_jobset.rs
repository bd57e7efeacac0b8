//! The JobSet manager: one reconciler for all JobSets, reading its informer's cache, writing through its own client,
//! up to 50 Job requests at once (jobset.md 3). What a pass decides is `policy::reconcile`; here it is carried out.

use super::api::{Answer, Call};
use super::event::{Event, JobSetCall};
use super::lane::BusyTimes;
use super::run::Run;
use crate::base::random::Streams;
use crate::base::*;
use crate::policy::{self, JobSetView, Plan};
use crate::record::{Body, ObjectRef};
use std::collections::VecDeque;

/// DEL-1, CRE-4: `constants.MaxParallelism`.
const MAX_PARALLELISM: usize = 50;
/// REC-13: 5 ms · 2^n, at most 1000 s.
const ERROR_BACKOFF: Duration = Duration::from_millis(5);
const ERROR_BACKOFF_MAX: Duration = Duration::from_secs(1000);
/// `events.k8s.io/v1` note, characters (recordings/admission, CRE-4).
const EVENT_NOTE_MAX: usize = 1024;

#[derive(Default)]
pub struct JobSetController {
    pub(super) queue: VecDeque<JobSetId>,
    pub(super) busy_with: Option<JobSetId>,
    pub(super) dirty: bool,
    plan: Plan,
    view_jobs: Vec<JobId>,
    step: Step,
    next: usize,
    in_flight: usize,
    /// End of the present replicatedJob's run in `plan.create` (RJs are created one after another).
    create_until: usize,
    failed_creates: Vec<(JobId, String)>,
    /// The cached resource version the pass is based on.
    based_on: u32,
    pub busy: BusyTimes,
    busy_since: Time,
    pub passes: u64,
    pub longest_queue: u32,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
enum Step {
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

impl JobSetController {
    pub fn reset(&mut self, _: &Streams) {
        self.queue.clear();
        self.busy_with = None;
        self.dirty = false;
        self.step = Step::Idle;
        self.busy.clear();
        self.passes = 0;
        self.longest_queue = 0;
    }
}

impl Run<'_> {
    pub(super) fn next_pass(&mut self) {
        if self.w.jobset_controller.busy_with.is_some() {
            return;
        }
        let Some(jobset) = self.w.jobset_controller.queue.pop_front() else {
            return;
        };
        self.w.jobsets[jobset.ix()].queued = false;
        let c = &mut self.w.jobset_controller;
        c.busy_with = Some(jobset);
        c.dirty = false;
        c.busy_since = self.w.now;
        c.passes += 1;
        // The view is taken from the cache now; in place, listing the pods takes its time first.
        self.decide(jobset);
        let listing = self.listing_time(jobset);
        self.after(listing, Event::JobSetComputed(jobset));
    }

    /// With the pod watch of the in-place gate a pass lists every pod of the JobSet (T-8).
    fn listing_time(&self, jobset: JobSetId) -> Duration {
        let m = &self.m.jobsets[jobset.ix()];
        if !m.in_place {
            return Duration::ZERO;
        }
        self.m
            .scenario
            .timing
            .jobset_list_per_pod
            .saturating_mul(u64::from(m.expected_pods))
    }

    fn decide(&mut self, jobset: JobSetId) {
        let mut plan = std::mem::take(&mut self.w.jobset_controller.plan);
        let mut ids = std::mem::take(&mut self.w.jobset_controller.view_jobs);
        ids.clear();
        ids.extend_from_slice(&self.w.jobsets[jobset.ix()].cached_jobs.ids);
        plan.clear();
        let m = &self.m.jobsets[jobset.ix()];
        let js = &self.w.jobsets[jobset.ix()];
        if js.cached.exists {
            let names = self.m.names.jobs.as_slice();
            let view = JobSetView {
                jobset: &js.cached.spec,
                suspended: js.cached.suspended,
                deleting: js.cached.deleting,
                status: &js.cached.status,
                jobs: &js.cached_jobs.views,
                gates: self.w.gates,
                now: self.w.now,
                service_exists: js.cached.service_exists,
                in_place: m.in_place.then(|| js.in_place_view()),
                ties: self.m.scenario.ties,
                job_name: &|rj, index| {
                    names[(m.rj_first[rj as usize] + index) as usize]
                        .name
                        .clone()
                },
            };
            policy::reconcile(&view, &mut plan);
            let by = (jobset, self.w.cause);
            super::trace::pass(self.sink, self.m, by, &view, &plan);
        }
        let c = &mut self.w.jobset_controller;
        c.based_on = js.cached.resource_version;
        c.plan = plan;
        c.view_jobs = ids;
    }

    pub fn jobset_computed(&mut self, jobset: JobSetId) {
        self.w.jobset_controller.step = Step::Idle;
        self.advance(jobset);
    }

    /// The next step of the pass that has something to do.
    fn advance(&mut self, jobset: JobSetId) {
        loop {
            let c = &mut self.w.jobset_controller;
            c.next = 0;
            c.in_flight = 0;
            let (step, work) = match c.step {
                Step::Idle => (Step::Deleting, c.plan.delete.len()),
                Step::Deleting => (Step::Service, usize::from(c.plan.create_service)),
                Step::Service => (Step::Claims, c.plan.create_claims as usize),
                Step::Claims => (Step::Patching, c.plan.patch.len()),
                Step::Patching => (Step::Creating, c.plan.create.len()),
                Step::Creating => (Step::Suspending, c.plan.suspend.len()),
                Step::Suspending => (Step::Resuming, c.plan.resume.len()),
                Step::Resuming => (Step::DeletingJobSet, usize::from(c.plan.delete_jobset)),
                Step::DeletingJobSet => (
                    Step::Status,
                    usize::from(c.plan.status_dirty && c.plan.error.is_none()),
                ),
                Step::Status => return self.end_pass(jobset, false),
            };
            c.step = step;
            if step == Step::Creating {
                c.create_until = 0;
                c.failed_creates.clear();
            }
            if work > 0 {
                return self.send_more(jobset);
            }
        }
    }

    /// Keeps as many requests under way as the step allows.
    fn send_more(&mut self, jobset: JobSetId) {
        loop {
            let c = &mut self.w.jobset_controller;
            let (call, what, width) = match c.step {
                Step::Deleting => (Call::JobSetJobDelete, JobSetCall::Delete, MAX_PARALLELISM),
                Step::Service => (Call::JobSetServiceCreate, JobSetCall::CreateService, 1),
                Step::Claims => (Call::JobSetClaimCreate, JobSetCall::CreateClaim, 1),
                Step::Patching => (Call::JobSetJobPatch, JobSetCall::Patch, 1),
                Step::Creating => (Call::JobSetJobCreate, JobSetCall::Create, MAX_PARALLELISM),
                Step::Suspending => (Call::JobSetJobUpdate, JobSetCall::Suspend, 1),
                Step::Resuming => (Call::JobSetJobUpdate, JobSetCall::Resume, 1),
                Step::DeletingJobSet => (Call::JobSetDelete, JobSetCall::DeleteJobSet, 1),
                Step::Status | Step::Idle => (Call::JobSetStatusUpdate, JobSetCall::Status, 1),
            };
            let total = match c.step {
                Step::Deleting => c.plan.delete.len(),
                Step::Claims => c.plan.create_claims as usize,
                Step::Patching => c.plan.patch.len(),
                Step::Creating => self.open_creates(),
                Step::Suspending => c.plan.suspend.len(),
                Step::Resuming => c.plan.resume.len(),
                _ => 1,
            };
            let c = &self.w.jobset_controller;
            if c.in_flight >= width || c.next >= total {
                return;
            }
            let job = match c.step {
                Step::Deleting => c.view_jobs[c.plan.delete[c.next] as usize],
                Step::Patching => c.view_jobs[c.plan.patch[c.next] as usize],
                Step::Suspending => c.view_jobs[c.plan.suspend[c.next] as usize],
                Step::Resuming => c.view_jobs[c.plan.resume[c.next] as usize],
                Step::Creating => {
                    let create = c.plan.create[c.next];
                    self.free_place(jobset, create.rj, create.index)
                }
                _ => JobId::NONE,
            };
            let c = &mut self.w.jobset_controller;
            c.next += 1;
            c.in_flight += 1;
            let answered = self.w.api.send(call, self.w.now);
            self.at(
                answered,
                Event::JobSetAnswered {
                    jobset,
                    call: what,
                    job,
                },
            );
        }
    }

    /// CRE-4: replicatedJobs one after another; a failed one ends the pass, so later ones are not begun.
    fn open_creates(&mut self) -> usize {
        let c = &mut self.w.jobset_controller;
        if c.next == c.create_until
            && c.in_flight == 0
            && c.failed_creates.is_empty()
            && c.next < c.plan.create.len()
        {
            let rj = c.plan.create[c.next].rj;
            let same = c.plan.create[c.next..]
                .iter()
                .take_while(|x| x.rj == rj)
                .count();
            c.create_until = c.next + same;
        }
        c.create_until
    }

    pub fn jobset_answered(&mut self, jobset: JobSetId, call: JobSetCall, job: JobId) {
        let mut pass_failed = false;
        match call {
            JobSetCall::Delete => self.job_delete_answered(job),
            JobSetCall::CreateService => {
                self.w
                    .api
                    .answered(Call::JobSetServiceCreate, Answer::Success, self.w.now);
                self.w.jobsets[jobset.ix()].service_exists = true;
                self.jobset_written(jobset);
            }
            JobSetCall::CreateClaim => {
                // AlreadyExists is ignored, in every pass but the first.
                let answer =
                    match std::mem::replace(&mut self.w.jobsets[jobset.ix()].has_claims, true) {
                        true => Answer::Conflict,
                        false => Answer::Success,
                    };
                self.w
                    .api
                    .answered(Call::JobSetClaimCreate, answer, self.w.now);
            }
            JobSetCall::Patch => self.job_patch_answered(job),
            JobSetCall::Create => {
                if let Err(error) = self.job_create_answered(job) {
                    let failed = &mut self.w.jobset_controller.failed_creates;
                    failed.push((job, error));
                }
            }
            JobSetCall::Suspend | JobSetCall::Resume => {
                self.job_suspend_answered(job, call == JobSetCall::Suspend)
            }
            JobSetCall::DeleteJobSet => {
                self.w
                    .api
                    .answered(Call::JobSetDelete, Answer::Success, self.w.now);
                self.delete_jobset(jobset);
            }
            JobSetCall::Status => pass_failed = !self.jobset_status_answered(jobset),
        }
        let c = &mut self.w.jobset_controller;
        c.in_flight -= 1;
        if c.in_flight > 0 {
            return self.send_more(jobset);
        }
        if pass_failed {
            return self.end_pass(jobset, true);
        }
        self.send_more(jobset);
        if self.w.jobset_controller.in_flight == 0 {
            if !self.w.jobset_controller.failed_creates.is_empty() {
                self.job_creation_failed(jobset);
                return self.end_pass(jobset, true);
            }
            self.advance(jobset);
        }
    }

    /// CRE-4: the event is emitted at once, the pass is lost.
    fn job_creation_failed(&mut self, jobset: JobSetId) {
        let failed = std::mem::take(&mut self.w.jobset_controller.failed_creates);
        let lines: Vec<String> = failed
            .iter()
            .map(|(job, error)| {
                let name = self.m.names.job(*job);
                format!("job {name:?} creation failed with error: {error}")
            })
            .collect();
        let message = lines.join("\n");
        // The server takes no Event with a longer note.
        if message.len() <= EVENT_NOTE_MAX {
            self.jobset_event(jobset, true, "JobCreationFailed", &message);
        }
        self.w.jobset_controller.failed_creates = failed;
        self.w.jobset_controller.failed_creates.clear();
    }

    pub fn jobset_event(&mut self, jobset: JobSetId, warning: bool, reason: &str, message: &str) {
        self.w
            .api
            .answered(Call::JobSetEventCreate, Answer::Success, self.w.now);
        let (reason, message) = (self.w.texts.intern(reason), self.w.texts.intern(message));
        self.emit(Body::KubeEvent {
            object: ObjectRef::JobSet(jobset),
            warning,
            reason,
            message,
        });
    }

    /// REC-14: optimistic concurrency; a conflict loses the pass and its events.
    fn jobset_status_answered(&mut self, jobset: JobSetId) -> bool {
        let js = &self.w.jobsets[jobset.ix()];
        if js.deleted {
            self.w
                .api
                .answered(Call::JobSetStatusUpdate, Answer::NotFound, self.w.now);
            return false;
        }
        if js.resource_version != self.w.jobset_controller.based_on {
            self.w
                .api
                .answered(Call::JobSetStatusUpdate, Answer::Conflict, self.w.now);
            let why = "its status write met a conflict, the JobSet it saw was out of date";
            self.trace_pass_lost(jobset, why, "REC-14");
            return false;
        }
        self.w
            .api
            .answered(Call::JobSetStatusUpdate, Answer::Success, self.w.now);
        let mut plan = std::mem::take(&mut self.w.jobset_controller.plan);
        self.store_jobset_status(jobset, &mut plan);
        for event in &plan.events {
            self.jobset_event(jobset, event.warning, &event.reason, &event.message);
        }
        self.w.jobset_controller.plan = plan;
        self.jobset_written(jobset);
        true
    }

    fn end_pass(&mut self, jobset: JobSetId, failed: bool) {
        let c = &mut self.w.jobset_controller;
        let failed = failed || c.plan.error.is_some();
        c.busy.add(c.busy_since, self.w.now);
        c.busy_with = None;
        c.step = Step::Idle;
        let dirty = c.dirty;
        let requeue = c.plan.requeue_after.filter(|_| !failed);
        let js = &mut self.w.jobsets[jobset.ix()];
        if failed {
            let delay = ERROR_BACKOFF
                .saturating_mul(1 << js.errors.min(20))
                .min(ERROR_BACKOFF_MAX);
            js.errors += 1;
            self.enqueue_jobset_at(jobset, self.w.now + delay);
        } else {
            js.errors = 0;
            if let Some(after) = requeue {
                self.enqueue_jobset_at(jobset, self.w.now + after);
            }
        }
        if dirty {
            self.enqueue_jobset(jobset);
        }
        self.next_pass();
    }
}
