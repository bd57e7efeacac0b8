//! Folds the records of Workloads to the history of each JobSet and of each quota.

use super::lenders::{NominalQuotas, QuotaKey};
use sim_api::spec::ScenarioSpec;
use sim_base::quantity::{canonical, parse_milli};
use sim_base::{Duration, JobSetId, SimTime, TextId};
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord, WorkloadConditionType};
use std::collections::BTreeMap;

/// Reason of the condition QuotaReserved of a deactivated Workload. The reasons of its eviction begin with it.
pub(super) const DEACTIVATED: &str = "Deactivated";

/// Keeps the records about Workloads. Without objects of Kueue it keeps nothing.
#[derive(Debug, Default)]
pub struct AdmissionFold {
    has_kueue: bool,
    records: Vec<SimulationRecord>,
}

/// The admissions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionHistory {
    /// JobSets that Kueue manages, in order of their ids.
    pub job_sets: Vec<JobSetAdmission>,
    /// Changes of the usage of quotas, in order of time.
    pub quota: Vec<QuotaChange>,
    /// Nominal quotas of the objects.
    pub nominal: NominalQuotas,
    /// Workloads from the start of which something was recorded, by namespace and name.
    pub existing: BTreeMap<String, ExistingHistory>,
}

/// The owner of a Workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadOfRun {
    /// A JobSet of the run.
    JobSet(JobSetId),
    /// A job that is known by its Workload only: namespace and name of the Workload.
    Existing(String),
}

/// A Workload that existed at the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExistingHistory {
    /// Whether it had quota at the start.
    pub had_quota: bool,
    /// Number of reservations during the run.
    pub reservations: usize,
    /// Number of evictions during the run.
    pub evictions: usize,
    /// Whether its job has ended.
    pub is_finished: bool,
}

/// The admissions of one JobSet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSetAdmission {
    /// Id of the JobSet.
    pub jobset: JobSetId,
    /// Name of the last LocalQueue; empty if there is none.
    pub local_queue: String,
    /// Times without admission: without quota, from the creation or the release of quota to the next reservation, and
    /// with quota until all AdmissionChecks are ready.
    pub waits: Vec<AdmissionWait>,
    /// Times with quota.
    pub reservations: Vec<QuotaReservation>,
    /// Evictions of its Workload.
    pub evictions: Vec<WorkloadEviction>,
    /// Times and owners of the Workloads that were preempted for it.
    pub preempted: Vec<(SimTime, WorkloadOfRun)>,
    /// End of the Workload; `None` if it was not finished.
    pub finished: Option<SimTime>,
}

/// A wait for quota or for AdmissionChecks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionWait {
    /// What the Workload waits for.
    pub cause: WaitCause,
    /// Start of the wait.
    pub from: SimTime,
    /// Reservation of quota, or admission; `None` if the run ended before.
    pub until: Option<SimTime>,
    /// Last reason of the condition QuotaReserved during the wait; empty if Kueue did not set one. `AdmissionCheck` if
    /// the wait is one for AdmissionChecks.
    pub reason: String,
    /// Message of the condition, or the names of the AdmissionChecks.
    pub message: String,
    /// First time at which Kueue tried the Workload.
    pub tried: Option<SimTime>,
    /// The head of its StrictFIFO queue until then, in the words of the summary; empty if it was tried at once.
    pub behind: String,
}

/// What a Workload waits for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum WaitCause {
    /// A reservation of quota, with a topology assignment if the pods need one.
    #[default]
    Quota,
    /// AdmissionChecks; quota is reserved.
    AdmissionChecks,
    /// The end of a back-off after an eviction, before Kueue tries the Workload again.
    BackOff,
    /// Its activation: Kueue or a user deactivated it.
    Deactivated,
}

/// A time with reserved quota.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaReservation {
    /// Name of the ClusterQueue.
    pub cluster_queue: String,
    /// Reservation of the quota.
    pub from: SimTime,
    /// Admission, after all admission checks.
    pub admitted: Option<SimTime>,
    /// First time at which all pods were ready.
    pub ready: Option<SimTime>,
    /// Eviction; the quota is held until the pods have stopped.
    pub evicted: Option<SimTime>,
    /// Release of the quota; `None` at the end of the run.
    pub until: Option<SimTime>,
    /// Quota by flavor and resource.
    pub quota: Vec<HeldQuota>,
}

/// Quota of one resource in one flavor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldQuota {
    /// Name of the flavor.
    pub flavor: String,
    /// Name of the resource.
    pub resource: String,
    /// Amount as a Kubernetes quantity.
    pub amount: String,
    /// The part that exceeds the nominal quota of the ClusterQueue; empty if there is none.
    pub borrowed: String,
    /// ClusterQueues of the cohort that had unused quota when it was borrowed.
    pub lenders: Vec<String>,
}

/// An eviction of a Workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadEviction {
    /// Time of the condition Evicted.
    pub at: SimTime,
    /// Reason of the condition.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
    /// Owner of the Workload for which it was preempted.
    pub preemptor: Option<WorkloadOfRun>,
    /// Whether all pods were ready at some time since the reservation.
    pub was_ready: bool,
}

/// A change of the quota that one JobSet holds.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaChange {
    /// Time of the change.
    pub at: SimTime,
    /// Owner of the Workload.
    pub owner: WorkloadOfRun,
    /// ClusterQueue, flavor and resource.
    pub key: (String, String, String),
    /// Usage of the ClusterQueue afterwards, in thousandths.
    pub used: i64,
}

impl AdmissionFold {
    /// Returns an empty fold for a scenario.
    pub fn new(scenario: &ScenarioSpec) -> AdmissionFold {
        AdmissionFold { has_kueue: scenario.kueue.is_some(), records: Vec::new() }
    }

    /// Builds the history after the end of the run.
    pub fn finish(self, scenario: &ScenarioSpec, names: &RecordNames) -> AdmissionHistory {
        let Some(objects) = &scenario.kueue else { return AdmissionHistory::default() };
        let mut builder = HistoryBuilder {
            scenario,
            names,
            quotas: NominalQuotas::new(objects),
            used: BTreeMap::new(),
            held: BTreeMap::new(),
            existing: BTreeMap::new(),
            job_sets: BTreeMap::new(),
            changes: Vec::new(),
        };
        for record in &self.records {
            builder.record(record);
        }
        AdmissionHistory {
            job_sets: builder.job_sets.into_values().collect(),
            quota: builder.changes,
            nominal: builder.quotas,
            existing: builder.existing,
        }
    }
}

impl RecordSink for AdmissionFold {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if !self.has_kueue {
            return;
        }
        let is_kept = matches!(
            record.body,
            Body::JobSetCreated { .. }
                | Body::JobSetDeleted { .. }
                | Body::AllReady { ready: true, .. }
                | Body::WorkloadCondition { .. }
                | Body::WorkloadQuota { .. }
                | Body::WorkloadQueue { .. }
                | Body::WorkloadPreempted { .. }
                | Body::ExistingCondition { .. }
                | Body::ExistingQuota { .. }
                | Body::ExistingPreempted { .. }
                | Body::PreemptedByExisting { .. }
        );
        if is_kept {
            self.records.push(*record);
        }
    }
}

struct HistoryBuilder<'a> {
    scenario: &'a ScenarioSpec,
    names: &'a RecordNames,
    quotas: NominalQuotas,
    /// Usage in thousandths.
    used: BTreeMap<QuotaKey, i64>,
    held: BTreeMap<(WorkloadOfRun, QuotaKey), i64>,
    existing: BTreeMap<String, ExistingHistory>,
    job_sets: BTreeMap<JobSetId, JobSetAdmission>,
    changes: Vec<QuotaChange>,
}

impl HistoryBuilder<'_> {
    fn record(&mut self, record: &SimulationRecord) {
        let at = record.at;
        match record.body {
            Body::JobSetCreated { jobset } => self.create(jobset, at),
            Body::JobSetDeleted { jobset } => self.edit(jobset, |own| own.end(at)),
            Body::AllReady { jobset, .. } => self.edit(jobset, |own| {
                if let Some(reservation) = own.open_reservation() {
                    reservation.ready.get_or_insert(at);
                }
            }),
            Body::WorkloadCondition { jobset, kind, status, reason, message } => {
                let texts = (self.names.text(reason).to_owned(), self.names.text(message).to_owned());
                self.edit(jobset, |own| own.set_condition((kind, status), texts, at));
                if (kind, status) == (WorkloadConditionType::QuotaReserved, true) {
                    self.name_queue(jobset);
                }
            }
            Body::WorkloadPreempted { jobset, preemptor } => {
                self.preempt(jobset, WorkloadOfRun::JobSet(preemptor));
                self.edit(preemptor, |own| own.preempted.push((at, WorkloadOfRun::JobSet(jobset))));
            }
            Body::PreemptedByExisting { jobset, preemptor } => self.preempt(jobset, self.existing(preemptor)),
            Body::ExistingPreempted { workload, preemptor } => {
                let workload = self.existing(workload);
                self.edit(preemptor, |own| own.preempted.push((at, workload)));
            }
            Body::WorkloadQueue { jobset, queue } => {
                let queue = self.names.text(queue).to_owned();
                self.edit(jobset, |own| own.local_queue = queue);
            }
            Body::WorkloadQuota { jobset, queue, flavor, resource, amount } => {
                let text = |id| self.names.text(id).to_owned();
                let key = (text(queue), text(flavor), text(resource));
                self.change_quota(WorkloadOfRun::JobSet(jobset), key, &text(amount), at);
            }
            _ => self.record_existing(record),
        }
    }

    /// Records a change of a Workload that existed at the start.
    fn record_existing(&mut self, record: &SimulationRecord) {
        match record.body {
            Body::ExistingCondition { workload, kind, status: true, .. } => {
                let own = self.existing.entry(self.names.text(workload).to_owned()).or_default();
                match kind {
                    WorkloadConditionType::QuotaReserved => own.reservations += 1,
                    WorkloadConditionType::Evicted => own.evictions += 1,
                    WorkloadConditionType::Finished => own.is_finished = true,
                    _ => {}
                }
            }
            Body::ExistingQuota { workload, queue, flavor, resource, amount } => {
                let text = |id| self.names.text(id).to_owned();
                let own = self.existing.entry(text(workload)).or_default();
                own.had_quota |= record.at == SimTime::ZERO && own.reservations == 0;
                let key = (text(queue), text(flavor), text(resource));
                self.change_quota(self.existing(workload), key, &text(amount), record.at);
            }
            _ => {}
        }
    }

    fn existing(&self, workload: TextId) -> WorkloadOfRun {
        WorkloadOfRun::Existing(self.names.text(workload).to_owned())
    }

    fn preempt(&mut self, jobset: JobSetId, preemptor: WorkloadOfRun) {
        self.edit(jobset, |own| {
            if let Some(last) = own.evictions.last_mut() {
                last.preemptor = Some(preemptor);
            }
        });
    }

    fn create(&mut self, jobset: JobSetId, at: SimTime) {
        let submitted = self.scenario.jobsets.get(jobset.ix()).map(|submitted| &submitted.jobset);
        let is_managed = self.scenario.kueue.iter().any(|k| submitted.is_some_and(|jobset| k.manages(jobset)));
        if is_managed {
            let own = self.job_sets.entry(jobset).or_default();
            own.jobset = jobset;
            own.local_queue = submitted.and_then(|s| s.kueue_queue()).unwrap_or_default().to_owned();
            own.finished = None;
            own.waits.push(AdmissionWait { from: at, ..AdmissionWait::default() });
        }
    }

    fn edit(&mut self, jobset: JobSetId, change: impl FnOnce(&mut JobSetAdmission)) {
        if let Some(own) = self.job_sets.get_mut(&jobset) {
            change(own);
        }
    }

    /// Names the ClusterQueue of a new reservation. Pods without requests hold no quota, so that no other record does.
    fn name_queue(&mut self, jobset: JobSetId) {
        let (Some(own), Some(submitted)) = (self.job_sets.get(&jobset), self.scenario.jobsets.get(jobset.ix())) else {
            return;
        };
        let mut queues = self.scenario.kueue.iter().flat_map(|objects| &objects.local_queues);
        let queue = queues.find(|q| q.name == own.local_queue && q.namespace == submitted.jobset.namespace);
        if let Some(queue) = queue.map(|queue| queue.cluster_queue.clone()) {
            self.enter_queue(jobset, queue);
        }
    }

    /// Records the ClusterQueue of the current reservation, and its AdmissionChecks if they are awaited.
    fn enter_queue(&mut self, jobset: JobSetId, queue: String) {
        let checks = checks_of(self.scenario, &queue);
        self.edit(jobset, |own| {
            if let Some(wait) = own.open_wait().filter(|wait| wait.cause == WaitCause::AdmissionChecks) {
                wait.message = checks;
            }
            if let Some(reservation) = own.open_reservation() {
                reservation.cluster_queue = queue;
            }
        });
    }

    fn change_quota(&mut self, owner: WorkloadOfRun, key: QuotaKey, amount: &str, at: SimTime) {
        let milli = parse_milli(amount).unwrap_or(0);
        let held = self.held.insert((owner.clone(), key.clone()), milli).unwrap_or(0);
        let used = self.used.entry(key.clone()).or_default();
        *used += milli - held;
        let used = *used;
        let borrowed = self.quotas.borrowed(&key, milli, used);
        let lenders = if borrowed > 0 { self.quotas.lenders(&key, &self.used) } else { Vec::new() };
        let (_, flavor, resource) = key.clone();
        let (amount, queue) = (amount.to_owned(), key.0.clone());
        let borrowed = if borrowed > 0 { quantity_text(&resource, borrowed) } else { String::new() };
        if let WorkloadOfRun::JobSet(jobset) = owner
            && milli > 0
        {
            self.enter_queue(jobset, queue);
            self.edit(jobset, |own| {
                let Some(reservation) = own.open_reservation() else { return };
                let is_same = |held: &&mut HeldQuota| held.flavor == flavor && held.resource == resource;
                // Reclaimed pods only lower an amount.
                if reservation.quota.iter_mut().find(is_same).is_none() {
                    reservation.quota.push(HeldQuota { flavor, resource, amount, borrowed, lenders });
                }
            });
        }
        self.changes.push(QuotaChange { at, owner, key, used });
    }
}

/// Returns the names of the AdmissionChecks of a ClusterQueue.
fn checks_of(scenario: &ScenarioSpec, queue: &str) -> String {
    let mut queues = scenario.kueue.iter().flat_map(|objects| &objects.cluster_queues);
    let checks = queues.find(|known| known.name == queue).map(|known| &known.admission_checks);
    let names = checks.into_iter().flatten().map(|rule| &*rule.name);
    names.collect::<Vec<_>>().join(", ")
}

/// Formats an amount in thousandths as a Kubernetes quantity.
pub fn quantity_text(resource: &str, milli: i64) -> String {
    let plain = if milli % 1_000 == 0 { (milli / 1_000).to_string() } else { format!("{milli}m") };
    match resource {
        "memory" | "ephemeral-storage" => sim_base::quantity::binary_text(milli / 1_000),
        _ => canonical(&plain).unwrap_or(plain),
    }
}

impl JobSetAdmission {
    fn open_reservation(&mut self) -> Option<&mut QuotaReservation> {
        self.reservations.last_mut().filter(|reservation| reservation.until.is_none())
    }

    fn open_wait(&mut self) -> Option<&mut AdmissionWait> {
        self.waits.last_mut().filter(|wait| wait.until.is_none())
    }

    fn end(&mut self, at: SimTime) {
        if let Some(reservation) = self.open_reservation() {
            reservation.until = Some(at);
        }
        self.finished.get_or_insert(at);
    }

    fn set_condition(&mut self, condition: (WorkloadConditionType, bool), texts: (String, String), at: SimTime) {
        let (reason, message) = texts;
        match condition {
            (WorkloadConditionType::QuotaReserved, true) => {
                self.end_wait(at);
                self.reservations.push(QuotaReservation { from: at, ..QuotaReservation::default() });
                let (cause, reason) = (WaitCause::AdmissionChecks, "AdmissionCheck".to_owned());
                self.waits.push(AdmissionWait { cause, from: at, reason, ..AdmissionWait::default() });
            }
            (WorkloadConditionType::QuotaReserved, false) => {
                if let Some(reservation) = self.open_reservation() {
                    reservation.until = Some(at);
                    self.end_wait(at);
                    self.waits.push(AdmissionWait { from: at, ..AdmissionWait::default() });
                }
                let is_deactivated = reason == DEACTIVATED;
                match self.open_wait().map(|wait| wait.cause) {
                    Some(WaitCause::Quota | WaitCause::BackOff) if is_deactivated => {
                        self.wait_for(WaitCause::Deactivated, at);
                    }
                    Some(WaitCause::Deactivated) if !is_deactivated => self.wait_for(WaitCause::Quota, at),
                    _ => {}
                }
                let is_final = reason != "PendingEvaluation";
                if let Some(wait) = self.open_wait().filter(|wait| is_final || wait.reason.is_empty()) {
                    (wait.reason, wait.message) = (reason, message);
                    wait.tried = wait.tried.or(is_final.then_some(at));
                }
            }
            (WorkloadConditionType::Admitted, true) => {
                if let Some(reservation) = self.open_reservation() {
                    reservation.admitted.get_or_insert(at);
                }
                self.end_wait(at);
            }
            (WorkloadConditionType::Evicted, true) => {
                let was_ready = self.open_reservation().is_some_and(|reservation| {
                    reservation.evicted = Some(at);
                    reservation.ready.is_some()
                });
                self.evictions.push(WorkloadEviction { at, reason, message, preemptor: None, was_ready });
            }
            (WorkloadConditionType::Requeued, false) if reason.starts_with(DEACTIVATED) => {
                self.wait_for(WaitCause::Deactivated, at);
            }
            (WorkloadConditionType::Requeued, false) => self.wait_for(WaitCause::BackOff, at),
            (WorkloadConditionType::Requeued, true) => self.wait_for(WaitCause::Quota, at),
            (WorkloadConditionType::Finished, true) => self.end(at),
            _ => {}
        }
    }

    /// The open wait of a Workload without quota is one for something else from now on.
    fn wait_for(&mut self, cause: WaitCause, at: SimTime) {
        let Some(wait) = self.open_wait().filter(|wait| wait.cause != WaitCause::AdmissionChecks) else { return };
        if wait.from == at {
            wait.cause = cause;
        } else if wait.cause != cause {
            wait.until = Some(at);
            self.waits.push(AdmissionWait { cause, from: at, ..AdmissionWait::default() });
        }
    }

    /// Ends the open wait. Nothing is kept of a wait for AdmissionChecks that took no time, because there were none.
    fn end_wait(&mut self, at: SimTime) {
        if self.open_wait().is_some_and(|wait| wait.cause == WaitCause::AdmissionChecks && wait.from == at) {
            self.waits.pop();
        } else if let Some(wait) = self.open_wait() {
            wait.until = Some(at);
        }
    }

    /// Returns the time without admission up to the end of the run or of the Workload.
    pub fn total_wait(&self, end: SimTime) -> Duration {
        let last = self.finished.unwrap_or(end);
        let of_wait = |wait: &AdmissionWait| wait.until.unwrap_or(last).since(wait.from).0;
        Duration(self.waits.iter().map(of_wait).sum())
    }

    /// Returns the wait from the creation to the first admission; `None` if there was none.
    pub fn first_wait(&self) -> Option<Duration> {
        let admitted = self.reservations.iter().find_map(|reservation| reservation.admitted)?;
        Some(admitted.since(self.waits.first()?.from))
    }
}
