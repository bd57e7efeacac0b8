//! The reconciler of JobSets: creates their Workloads, starts and stops them, and reports their readiness and end.

use super::rows::{ManagedJobSet, StatusWrite, Write};
use super::{KueueController, pod_sets};
use crate::apiserver;
use crate::ctx::{ContextMark, EngineContext};
use crate::event::{KueueReconciler, SimulationEvent};
use crate::record::{Call, ObjectRef, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::JobSetRow;
use serde_json::Value;
use sim_api::spec::keys::{ADMISSION_GATED_BY, KUEUE_PREBUILT_WORKLOAD};
use sim_api::spec::kueue::{KueueObjects, POD_SETS_MAX, PriorityClassRef, WorkloadPriorityClass};
use sim_api::spec::{JobSet, ObjectKind};
use sim_base::fnv::fnv1a;
use sim_base::{JobSetId, SimTime};
use sim_kueue::control::{JobView, reconcile_job};
use sim_kueue::workload::jobset::{
    self, PriorityClasses, WorkloadError, adopted, is_equivalent, priority_class_label, workload,
};
use sim_kueue::workload::topology::TopologyRequestError;
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
        let Some(objects) = &ctx.scenario.kueue else { return };
        if !row.view.is_deleted && !objects.manages(&row.spec) {
            // Without its queue, Kueue ignores the JobSet.
            return;
        }
        if row.view.finished.is_none() && !row.view.is_deleted && !current.is_finished() {
            match self.follow_jobset(ctx, jobset, &current) {
                Ok(None) => self.rows[jobset.ix()].error = None,
                Ok(Some(write)) => return self.send(ctx, jobset, write),
                Err(error) => return self.report_error(ctx, jobset, &error, "does not update its Workload"),
            }
            if !self.is_equivalent(jobset, &current).unwrap_or(true) {
                let row = &self.rows[jobset.ix()];
                if row.spec.prebuilt_workload().is_none() {
                    if row.view.is_suspended {
                        return delete_workload(ctx, jobset, &current);
                    }
                    return self.send(ctx, jobset, Write::StopAndDelete(current));
                }
                let name = current.name.clone();
                let error = WorkloadError::PrebuiltWorkloadOutOfSync { name };
                self.report_error(ctx, jobset, &error, "does not start it");
                let mut ended = (*current).clone();
                ended.finish_out_of_sync(self.time(ctx));
                let based_on = self.rows[jobset.ix()].workload_version;
                return self.send(ctx, jobset, Write::Status(StatusWrite { workload: Box::new(ended), based_on }));
            }
        }
        let row = &self.rows[jobset.ix()];
        let plan = reconcile_job(&current, &row.view, tracks_readiness, self.time(ctx));
        let based_on = row.workload_version;
        let write = match (plan.suspend, plan.workload) {
            (Some(false), _) => Write::Start(current),
            (Some(true), _) => Write::Stop(stop_message(&current)),
            (None, Some(new)) => Write::Status(StatusWrite { workload: Box::new(new), based_on }),
            (None, None) => match changed_queue(row, &current) {
                Some(new) => Write::Update(StatusWrite { workload: Box::new(new), based_on }, String::new()),
                None => return,
            },
        };
        self.send(ctx, jobset, write);
    }

    fn is_equivalent(&self, jobset: JobSetId, current: &Workload) -> Result<bool, WorkloadError> {
        let flavors = self.driver.as_ref().map(|driver| &driver.manager.cache.state.flavors);
        is_equivalent(&self.rows[jobset.ix()].spec, current, flavors.expect("Kueue runs"))
    }

    /// Returns the request that makes the Workload follow changes of the JobSet: pod sets and execution time of a
    /// pending one, gates, and the WorkloadPriorityClass (`ensureOneWorkload`).
    fn follow_jobset(
        &self, ctx: &EngineContext<'_>, jobset: JobSetId, current: &Workload,
    ) -> Result<Option<Write>, WorkloadError> {
        let row = &self.rows[jobset.ix()];
        let Some(objects) = &ctx.scenario.kueue else { return Ok(None) };
        let key = format!("{}/{}", current.namespace, current.name);
        let update = |new: Workload, message: String| {
            let write = StatusWrite { workload: Box::new(new), based_on: row.workload_version };
            Ok(Some(Write::Update(write, message)))
        };
        if row.spec.prebuilt_workload().is_some() {
            return Ok(None);
        }
        let classes = ClassLists::new(ctx, objects);
        if row.view.is_suspended && !current.has_reservation() && !self.is_equivalent(jobset, current)? {
            let new = workload(&row.spec, &classes.view(), current.created)?;
            let (name, uid, job_uid) = (current.name.clone(), current.uid.clone(), current.job_uid.clone());
            let new = Workload { name, uid, job_uid, active: current.active, status: current.status.clone(), ..new };
            return update(new, format!("Updated not matching Workload for suspended job: {key}"));
        }
        let gates = row.spec.annotations.get(ADMISSION_GATED_BY).cloned().unwrap_or_default();
        if gates != current.admission_gates {
            let message = format!("Updated workload AdmissionGatedBy to {gates:?}");
            return update(Workload { admission_gates: gates, ..current.clone() }, message);
        }
        let class = match &current.priority_class {
            None if current.has_reservation() => return Ok(None),
            Some(PriorityClassRef::Pod(_)) => return Ok(None),
            Some(PriorityClassRef::Workload(name)) => name,
            None => "",
        };
        if priority_class_label(&row.spec).unwrap_or_default() == class {
            return Ok(None);
        }
        let (priority_class, priority) = classes.view().priority(&row.spec)?;
        let message = format!("Updated workload priority class: {key}");
        update(Workload { priority_class, priority, ..current.clone() }, message)
    }

    /// Stores why the pass ends. A missing WorkloadPriorityClass is reported by an Event.
    fn report_error(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, error: &WorkloadError, step: &str) {
        let text = describe_step_error(error, step);
        if self.rows[jobset.ix()].error.replace(text.clone()) == Some(text) {
            return;
        }
        if let WorkloadError::UnknownPriorityClass { name } = error {
            let message = format!("WorkloadPriorityClass {name:?} not found");
            ctx.emit_kube_event(ObjectRef::JobSet(jobset), true, "WorkloadPriorityClassNotFound", &message);
        }
    }

    fn create_workload(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(objects) = &ctx.scenario.kueue else { return };
        let now = self.time(ctx);
        let old = self.reserved_workload(objects, &self.rows[jobset.ix()].spec).cloned();
        let owner = other_owner(ctx, objects, jobset, &self.rows[jobset.ix()].spec);
        let row = &mut self.rows[jobset.ix()];
        if !row.exists || row.view.is_deleted || row.view.finished.is_some() || !objects.manages(&row.spec) {
            return;
        }
        let new = match (row.spec.prebuilt_workload(), &old, owner) {
            (Some(name), Some(old), _) if old.name == name => adopted(&row.spec, old),
            (Some(name), _, Some(owner)) => Err(WorkloadError::PrebuiltWorkloadOwned { name: name.to_owned(), owner }),
            _ => workload(&row.spec, &ClassLists::new(ctx, objects).view(), now),
        };
        match new {
            Ok(mut new) => {
                name_workload(&mut new, row.spec.prebuilt_workload());
                if let Some(old) = &old {
                    new.continue_from(old);
                }
                row.error = None;
                row.original = row.spec.clone();
                self.send(ctx, jobset, Write::Create(Box::new(new)));
            }
            Err(error) => {
                if let WorkloadError::PrebuiltWorkloadOutOfSync { .. } = &error {
                    let spec = self.rows[jobset.ix()].spec.clone();
                    self.finish_out_of_sync(ctx, objects, &spec);
                }
                self.report_error(ctx, jobset, &error, CREATION);
            }
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

    /// Suspends a JobSet and restores its pod templates.
    fn stop(&self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let stored = ctx.store.jobsets[jobset.ix()].spec.clone();
        let original = &self.rows[jobset.ix()].original;
        let stopped = pod_sets::stopped(&stored, original, &ctx.scenario.decoders);
        apiserver::set_jobset_spec(ctx, jobset, stopped);
    }

    fn apply(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, write: Write) -> RequestAnswer {
        let event = |ctx: &mut EngineContext<'_>, reason: &str, message: &str| {
            ctx.emit_kube_event(ObjectRef::JobSet(jobset), false, reason, message);
        };
        match write {
            Write::Create(new) => {
                let message = format!("Created Workload: {}/{}", new.namespace, new.name);
                let is_prebuilt = self.rows[jobset.ix()].spec.prebuilt_workload().is_some();
                apiserver::set_workload(ctx, jobset, *new);
                if !is_prebuilt {
                    event(ctx, "CreatedWorkload", &message);
                }
            }
            Write::Start(workload) => {
                let Some(admission) = &workload.status.admission else { return RequestAnswer::Success };
                let stored = ctx.store.jobsets[jobset.ix()].spec.clone();
                let flavors = self.manager().cache.state.flavors.clone();
                match pod_sets::started(&stored, &workload, &flavors, &ctx.scenario.decoders) {
                    Ok(started) => {
                        apiserver::set_jobset_spec(ctx, jobset, started);
                        event(ctx, "Started", &format!("Admitted by clusterQueue {}", admission.cluster_queue));
                    }
                    Err(conflict) => {
                        let mut ended = (*workload).clone();
                        ended.finish_failed_to_start(&conflict.to_string(), self.time(ctx));
                        apiserver::set_workload(ctx, jobset, ended);
                    }
                }
            }
            Write::Stop(message) => {
                self.stop(ctx, jobset);
                event(ctx, "Stopped", &message);
            }
            Write::StopAndDelete(workload) => {
                self.stop(ctx, jobset);
                event(ctx, "Stopped", NO_MATCHING_WORKLOAD);
                delete_workload(ctx, jobset, &workload);
            }
            Write::Update(write, message) => {
                let stored = &ctx.store.jobsets[jobset.ix()];
                if stored.workload_version != write.based_on {
                    return RequestAnswer::Conflict;
                }
                self.rows[jobset.ix()].original = stored.spec.clone();
                apiserver::set_workload(ctx, jobset, *write.workload);
                if !message.is_empty() {
                    event(ctx, "UpdatedWorkload", &message);
                }
            }
            Write::Status(write) => {
                if ctx.store.jobsets[jobset.ix()].workload_version != write.based_on {
                    return RequestAnswer::Conflict;
                }
                // Kueue ends the Workload of a deleted JobSet (`FinalizeOrphanedWorkload`) and a prebuilt one that
                // differs from its JobSet without an Event.
                let finished = write.workload.condition(ConditionType::Finished).filter(|c| c.status);
                let is_silent = |reason: &str| [reasons::OWNER_NOT_FOUND, reasons::OUT_OF_SYNC].contains(&reason);
                let is_declared = finished.is_some_and(|c| !is_silent(&c.reason));
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

const NO_MATCHING_WORKLOAD: &str = "No matching Workload; restoring pod templates according to existent Workload";

/// Deletes a Workload that no longer describes its JobSet. The next pass creates another one.
fn delete_workload(ctx: &mut EngineContext<'_>, jobset: JobSetId, current: &Workload) {
    let message = format!("Deleted not matching Workload: {}/{}", current.namespace, current.name);
    apiserver::delete_workload(ctx, jobset);
    ctx.emit_kube_event(ObjectRef::JobSet(jobset), false, "DeletedWorkload", &message);
}

fn call(write: &Write) -> Call {
    match write {
        Write::Create(_) => Call::KueueWorkloadCreate,
        Write::Start(_) | Write::Stop(_) | Write::StopAndDelete(_) => Call::KueueJobSetPatch,
        Write::Status(_) | Write::Update(..) => Call::KueueWorkloadPatch,
    }
}

fn stop_message(workload: &Workload) -> String {
    let evicted = workload.condition(ConditionType::Evicted).filter(|c| c.status);
    evicted.map_or_else(|| "Not admitted by cluster queue".to_owned(), |c| c.message.clone())
}

/// The declared classes of both kinds.
struct ClassLists<'o> {
    of_workloads: &'o [WorkloadPriorityClass],
    of_pods: Vec<Value>,
    requires_declared: bool,
}

impl<'o> ClassLists<'o> {
    fn new(ctx: &EngineContext<'_>, objects: &'o KueueObjects) -> ClassLists<'o> {
        let declared = ctx.store.others.objects_of_kind(ObjectKind::PriorityClass);
        ClassLists {
            of_workloads: &objects.priority_classes,
            of_pods: declared.map(|(_, _, class)| class.object.clone()).collect(),
            requires_declared: ctx.scenario.requires_listed_classes,
        }
    }

    fn view(&self) -> PriorityClasses<'_> {
        let requires_declared = self.requires_declared;
        PriorityClasses { of_workloads: self.of_workloads, of_pods: &self.of_pods, requires_declared }
    }
}

/// Returns the other object that controls the prebuilt Workload which a JobSet names.
fn other_owner(ctx: &EngineContext<'_>, objects: &KueueObjects, jobset: JobSetId, spec: &JobSet) -> Option<String> {
    let name = spec.prebuilt_workload()?;
    let mut rows = ctx.store.jobsets.iter().enumerate().filter(|(index, _)| *index != jobset.ix());
    let is_named = |w: &Workload| w.namespace == spec.namespace && w.name == name;
    let owner = rows.find(|(_, row)| row.workload.as_ref().is_some_and(|workload| is_named(workload)));
    if let Some((_, row)) = owner {
        return Some(format!("JobSet {}", row.spec.name));
    }
    let mut stored = objects.workloads.iter().filter(|w| w.namespace == spec.namespace && w.name == name);
    let owner = stored.find_map(|workload| workload.owner.as_ref())?;
    Some(format!("{} {}", owner.kind, owner.name))
}

/// Returns the Workload in the queue that its suspended JobSet names now. The API server does not accept another queue
/// while quota is reserved (CEL rule of the Workload).
fn changed_queue(row: &ManagedJobSet, current: &Workload) -> Option<Workload> {
    let queue = row.spec.kueue_queue().unwrap_or_default();
    let may_change = row.view.is_suspended && !current.is_finished() && !current.has_reservation();
    (may_change && current.queue != queue).then(|| Workload { queue: queue.to_owned(), ..current.clone() })
}

/// Sets the name and the UIDs, which are random in a real cluster. A prebuilt Workload keeps its name.
fn name_workload(workload: &mut Workload, prebuilt: Option<&str>) {
    let uid = |kind: &str| {
        let part = |n: u8| fnv1a(format!("{kind}/{}/{}/{n}", workload.namespace, workload.name).bytes());
        let (a, b) = (part(0), part(1));
        let groups = (a >> 32, (a >> 16) & 0xffff, a & 0xfff, (b >> 50) | 0x8000, b & 0xffff_ffff_ffff);
        format!("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", groups.0, groups.1, groups.2, groups.3, groups.4)
    };
    (workload.uid, workload.job_uid) = (uid("Workload"), uid("JobSet"));
    if prebuilt.is_none() {
        workload.name = workload_name(&workload.namespace, &workload.name);
    }
}

/// Returns the name of the Workload of a JobSet.
pub fn workload_name(namespace: &str, jobset: &str) -> String {
    let uid = |n: u8| fnv1a(format!("JobSet/{namespace}/{jobset}/{n}").bytes());
    format!("jobset-{jobset}-{:05x}", uid(0) >> 44)
}

const CREATION: &str = "creates no Workload for it";

/// Returns why Kueue creates no Workload, as a sentence without a period.
pub fn describe_error(error: &WorkloadError) -> String {
    describe_step_error(error, CREATION)
}

fn describe_step_error(error: &WorkloadError, step: &str) -> String {
    let why = match error {
        WorkloadError::TooManyPodSets { count } => {
            format!("it has {count} replicatedJobs, and a Workload has at most {POD_SETS_MAX} pod sets")
        }
        WorkloadError::UnknownPriorityClass { name } => format!("WorkloadPriorityClass {name} does not exist"),
        WorkloadError::UnknownPodPriorityClass { name } => format!("PriorityClass {name} does not exist"),
        WorkloadError::Topology(TopologyRequestError::Constraints(error)) => error.to_string(),
        WorkloadError::Topology(_) => "the annotations of its topology request are not valid".to_owned(),
        WorkloadError::RefusedPodSets { message } => {
            format!("admission webhook \"vworkload.kb.io\" denied the request: {message}")
        }
        WorkloadError::PrebuiltWorkloadMissing { name } => {
            format!("it waits for Workload {name}, which its {KUEUE_PREBUILT_WORKLOAD} names and which does not exist")
        }
        WorkloadError::PrebuiltWorkloadOwned { name, owner } => {
            format!(
                "it waits for Workload {name}, which its {KUEUE_PREBUILT_WORKLOAD} names and which {owner} controls"
            )
        }
        WorkloadError::PrebuiltWorkloadOutOfSync { name } => {
            format!("the prebuilt Workload {name} is out of sync with it: the pod sets or the execution times differ")
        }
    };
    format!("Kueue {step}: {why}")
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

    /// Stores since when the Workload in the cache waits for quota.
    pub fn note_queued(&mut self, now: SimTime, mark: ContextMark) {
        let waits = self.workload.as_ref().is_some_and(|workload| {
            let backs_off = workload.status.requeue.and_then(|requeue| requeue.at).is_some_and(|at| at > now);
            workload.active && !workload.has_reservation() && !workload.is_finished() && !backs_off
        });
        self.queued = self.queued.filter(|_| waits).or(waits.then_some(mark));
    }
}
