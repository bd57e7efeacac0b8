//! The reconciler of JobSets: creates their Workloads, starts and stops them, and reports their readiness and end.

use super::rows::{ManagedJobSet, StatusWrite, Write};
use super::{KueueController, pod_sets};
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::{KueueReconciler, SimulationEvent};
use crate::record::{Call, ObjectRef, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::JobSetRow;
use sim_api::spec::ObjectKind;
use sim_api::spec::kueue::POD_SETS_MAX;
use sim_base::JobSetId;
use sim_base::fnv::fnv1a;
use sim_kueue::control::{JobView, reconcile_job};
use sim_kueue::workload::jobset::{self, PriorityClasses, WorkloadError, workload};
use sim_kueue::workload::{ConditionType, Workload, reasons};
use sim_policy::kinds::JobSetConditionType;
use std::sync::Arc;

impl KueueController {
    /// The cache receives the newest state of a JobSet.
    pub(super) fn jobset_observed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let stored = &ctx.store.jobsets[jobset.ix()];
        let row = self.row(jobset);
        row.exists = stored.exists();
        row.version = stored.resource_version;
        row.spec = stored.spec.clone();
        row.view = job_view(stored);
        self.reconcile_jobset(ctx, jobset);
    }

    /// Runs one pass, unless a request is in flight or not yet in the cache.
    pub(super) fn reconcile_jobset(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let tracks_readiness = self.manager().configuration.wait_for_pods_ready.is_some();
        let row = &self.rows[jobset.ix()];
        if row.jobset_write.is_some() || !row.is_current() {
            return;
        }
        let Some(current) = row.workload.clone() else {
            return self.create_workload(ctx, jobset);
        };
        if !row.exists {
            return apiserver::delete_workload(ctx, jobset);
        }
        let plan = reconcile_job(&current, &row.view, tracks_readiness, self.time(ctx));
        let based_on = row.workload_version;
        let write = match (plan.suspend, plan.workload) {
            (Some(false), _) => Write::Start(current),
            (Some(true), _) => Write::Stop(stop_message(&current)),
            (None, Some(new)) => Write::Status(StatusWrite { workload: Box::new(new), based_on }),
            (None, None) => return,
        };
        self.send(ctx, jobset, write);
    }

    fn create_workload(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(objects) = &ctx.scenario.kueue else { return };
        let now = self.time(ctx);
        let spec = &self.rows[jobset.ix()].spec;
        let old = self.reserved_workload(objects, &spec.namespace, &spec.name).cloned();
        let row = &mut self.rows[jobset.ix()];
        if !row.exists || row.view.is_deleted || row.view.finished.is_some() || !objects.manages(&row.spec) {
            return;
        }
        let declared = ctx.store.others.objects_of_kind(ObjectKind::PriorityClass);
        let classes = PriorityClasses {
            of_workloads: &objects.priority_classes,
            of_pods: &declared.map(|(_, _, class)| class.object.clone()).collect::<Vec<_>>(),
            requires_declared: ctx.scenario.requires_listed_classes,
        };
        match workload(&row.spec, &classes, now) {
            Ok(mut new) => {
                name_workload(&mut new);
                if let Some(old) = &old {
                    new.continue_from(old);
                }
                row.error = None;
                row.original = row.spec.clone();
                self.send(ctx, jobset, Write::Create(Box::new(new)));
            }
            Err(error) => row.error = Some(describe_error(&error)),
        }
    }

    fn send(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, write: Write) {
        let row = &mut self.rows[jobset.ix()];
        row.requests += 1;
        let request = RequestEntry::new(call(&write), TicketSubject::JobSet(jobset), row.requests);
        row.jobset_write = Some(write);
        ctx.request(request, SimulationEvent::KueueAnswered { jobset, reconciler: KueueReconciler::JobSets });
    }

    pub(super) fn jobset_answered(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(write) = self.rows[jobset.ix()].jobset_write.take() else { return };
        let call = call(&write);
        let exists = ctx.store.jobsets[jobset.ix()].exists();
        let answer = if exists { self.apply(ctx, jobset, write) } else { RequestAnswer::NotFound };
        ctx.record_response(call, answer);
        // After a conflict, the pass is repeated when the cache has the newer state.
        let stored = &ctx.store.jobsets[jobset.ix()];
        self.rows[jobset.ix()].written = (stored.resource_version, stored.workload_version);
        self.reconcile_jobset(ctx, jobset);
    }

    fn apply(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, write: Write) -> RequestAnswer {
        let event = |ctx: &mut EngineContext<'_>, reason: &str, message: &str| {
            ctx.emit_kube_event(ObjectRef::JobSet(jobset), false, reason, message);
        };
        match write {
            Write::Create(new) => {
                let message = format!("Created Workload: {}/{}", new.namespace, new.name);
                apiserver::set_workload(ctx, jobset, *new);
                event(ctx, "CreatedWorkload", &message);
            }
            Write::Start(workload) => {
                let Some(admission) = &workload.status.admission else { return RequestAnswer::Success };
                let stored = ctx.store.jobsets[jobset.ix()].spec.clone();
                let flavors = self.manager().cache.state.flavors.clone();
                let started = pod_sets::started(&stored, &workload, &flavors, &ctx.scenario.decoders);
                apiserver::set_jobset_spec(ctx, jobset, started);
                event(ctx, "Started", &format!("Admitted by clusterQueue {}", admission.cluster_queue));
            }
            Write::Stop(message) => {
                let stored = ctx.store.jobsets[jobset.ix()].spec.clone();
                let original = &self.rows[jobset.ix()].original;
                let stopped = pod_sets::stopped(&stored, original, &ctx.scenario.decoders);
                apiserver::set_jobset_spec(ctx, jobset, stopped);
                event(ctx, "Stopped", &message);
            }
            Write::Status(write) => {
                if ctx.store.jobsets[jobset.ix()].workload_version != write.based_on {
                    return RequestAnswer::Conflict;
                }
                // Kueue ends the Workload of a deleted JobSet without an Event (`FinalizeOrphanedWorkload`).
                let finished = write.workload.condition(ConditionType::Finished).filter(|c| c.status);
                let is_declared = finished.is_some_and(|c| c.reason != reasons::OWNER_NOT_FOUND);
                let message =
                    format!("Workload '{}/{}' is declared finished", write.workload.namespace, write.workload.name);
                apiserver::set_workload(ctx, jobset, *write.workload);
                if is_declared {
                    event(ctx, "FinishedWorkload", &message);
                }
            }
        }
        RequestAnswer::Success
    }
}

fn call(write: &Write) -> Call {
    match write {
        Write::Create(_) => Call::KueueWorkloadCreate,
        Write::Start(_) | Write::Stop(_) => Call::KueueJobSetPatch,
        Write::Status(_) => Call::KueueWorkloadPatch,
    }
}

fn stop_message(workload: &Workload) -> String {
    let evicted = workload.condition(ConditionType::Evicted).filter(|c| c.status);
    evicted.map_or_else(|| "Not admitted by cluster queue".to_owned(), |c| c.message.clone())
}

/// Sets the name and the UIDs, which are random in a real cluster.
fn name_workload(workload: &mut Workload) {
    let uid = |kind: &str| {
        let part = |n: u8| fnv1a(format!("{kind}/{}/{}/{n}", workload.namespace, workload.name).bytes());
        let (a, b) = (part(0), part(1));
        let groups = (a >> 32, (a >> 16) & 0xffff, a & 0xfff, (b >> 50) | 0x8000, b & 0xffff_ffff_ffff);
        format!("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", groups.0, groups.1, groups.2, groups.3, groups.4)
    };
    (workload.uid, workload.job_uid) = (uid("Workload"), uid("JobSet"));
    workload.name = workload_name(&workload.namespace, &workload.name);
}

/// Returns the name of the Workload of a JobSet.
pub fn workload_name(namespace: &str, jobset: &str) -> String {
    let uid = |n: u8| fnv1a(format!("JobSet/{namespace}/{jobset}/{n}").bytes());
    format!("jobset-{jobset}-{:05x}", uid(0) >> 44)
}

/// Returns why Kueue creates no Workload, as a sentence without a period.
pub fn describe_error(error: &WorkloadError) -> String {
    let why = match error {
        WorkloadError::TooManyPodSets { count } => {
            format!("it has {count} replicatedJobs, and a Workload has at most {POD_SETS_MAX} pod sets")
        }
        WorkloadError::UnknownPriorityClass { name } => format!("WorkloadPriorityClass {name} does not exist"),
        WorkloadError::UnknownPodPriorityClass { name } => format!("PriorityClass {name} does not exist"),
        WorkloadError::Topology(_) => "the annotations of its topology request are not valid".to_owned(),
    };
    format!("Kueue creates no Workload for it: {why}")
}

fn job_view(stored: &JobSetRow) -> JobView {
    let status = &stored.status;
    let condition = |kind: JobSetConditionType| status.conditions.iter().find(|c| c.kind == kind && c.status);
    let completed = condition(JobSetConditionType::Completed).map(|c| (true, c.message.clone()));
    let failed = || condition(JobSetConditionType::Failed).map(|c| (false, c.message.clone()));
    let replicas: u64 = stored.spec.spec.replicated_jobs.iter().map(|rj| u64::from(rj.replicas)).sum();
    let listed = || status.replicated_jobs.iter().filter(|rj| !rj.absent);
    let ready: u64 = listed().map(|rj| u64::from(rj.ready) + u64::from(rj.succeeded)).sum();
    let rjs = &stored.spec.spec.replicated_jobs;
    let succeeded = |name: &str| {
        let at = rjs.iter().position(|rj| rj.name == name);
        at.and_then(|at| status.replicated_jobs.get(at)).filter(|rj| !rj.absent).map_or(0, |rj| rj.succeeded)
    };
    JobView {
        is_suspended: stored.suspended(),
        is_active: listed().any(|rj| rj.active > 0),
        finished: completed.or_else(failed),
        is_ready: replicas == ready,
        reclaimable: jobset::reclaimable(&stored.spec, succeeded),
        is_deleted: stored.is_deleting() || !stored.exists(),
    }
}

impl ManagedJobSet {
    /// Stores the Workload that the watch delivers.
    pub fn update_workload(&mut self, stored: &JobSetRow) -> Option<Arc<Workload>> {
        self.workload.clone_from(&stored.workload);
        self.workload_version = stored.workload_version;
        self.workload.clone()
    }
}
