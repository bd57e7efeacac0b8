//! The verdict on each JobSet.

use super::inputs;
use super::placement;
use super::queue_state::{in_order, queue_state};
use super::report::{
    AdmissionReport, AttemptRow, BorrowedRow, ChangeSize, JobSetVerdict, NodeFit, PlacedDomain, PodSetPlacement,
    RemedyRow, WorkloadRow,
};
use super::wait;
use super::wait::WaitRequest;
use sim_api::spec::kueue::{KueueObjects, StoredWorkload};
use sim_api::spec::{JobSet, ScenarioSpec, SubmittedJobSet};
use sim_engine::{CannotRun, SimulationInput, describe_workload_error, started_jobset};
use sim_kueue::verdict::{
    Additions, AdmissionVerdict, PreemptedWorkload, QueueChange, QueueState, Remedy, VerdictKind, node_changes, settle,
    smallest_changes, submit,
};
use sim_kueue::workload::conditions::whole_seconds;
use sim_kueue::workload::jobset::{PriorityClasses, workload};
use sim_kueue::workload::{ConditionType, PodSetAdmission, Workload, WorkloadKey};
use sim_policy::topology::ClusterBuilder;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of other Workloads in a list.
const LISTED_MAX: usize = 100;

/// Tries the JobSets of a scenario one after the other on the state of the queues. JobSets whose Workload has quota
/// already are not tried. With `has_cluster`, the pods of admitted JobSets are placed on the nodes.
/// With `wait`, the wait of each JobSet that is not admitted is estimated.
pub fn admission_report(
    scenario: &ScenarioSpec, has_cluster: bool, wait: Option<&WaitRequest>,
) -> Result<AdmissionReport, CannotRun> {
    let inputs = AdmissionInputs::new(scenario)?;
    let submissions = inputs.submit_all(has_cluster, None)?;
    let mut report = submissions.report(notes(scenario, &inputs.objects, has_cluster, wait));
    for (at, verdict) in report.job_sets.iter_mut().enumerate() {
        if !verdict.starts() {
            let search = ChangeSearch::new(&inputs, &submissions, has_cluster, at);
            verdict.smallest_changes = search.smallest_changes(verdict);
            let pending = submissions.attempts[at].as_ref().filter(|_| verdict.verdict == "Pending");
            let estimate = |(state, key): &(QueueState, WorkloadKey), request| wait::estimate(state, *key, request);
            verdict.wait = pending.zip(wait).map(|(attempt, request)| estimate(attempt, request));
        }
    }
    Ok(report)
}

/// Returns the report without changes that would start the JobSets, which takes much less time.
pub fn admission_verdicts(scenario: &ScenarioSpec, has_cluster: bool) -> Result<AdmissionReport, CannotRun> {
    let inputs = AdmissionInputs::new(scenario)?;
    let submissions = inputs.submit_all(has_cluster, None)?;
    Ok(submissions.report(notes(scenario, &inputs.objects, has_cluster, None)))
}

/// The inputs that changes can edit.
struct AdmissionInputs {
    /// Without the objects of Kueue.
    scenario: ScenarioSpec,
    objects: KueueObjects,
    cluster: ClusterBuilder,
    /// JobSets of the inputs that have ended.
    ended: BTreeSet<usize>,
}

impl AdmissionInputs {
    fn new(scenario: &ScenarioSpec) -> Result<AdmissionInputs, CannotRun> {
        let base = ScenarioSpec { kueue: None, admit_unplaceable: true, ..scenario.clone() };
        let cluster = SimulationInput::new(&base)?.cluster().clone();
        let objects = scenario.kueue.clone().unwrap_or_default();
        Ok(AdmissionInputs { scenario: base, objects, cluster, ended: BTreeSet::new() })
    }

    /// Returns the inputs with changes for a JobSet, or `None` if they cannot be made.
    fn with(&self, changes: &[QueueChange], jobset: usize, added: &[Option<WorkloadKey>]) -> Option<AdmissionInputs> {
        let (mut scenario, mut objects) = (self.scenario.clone(), self.objects.clone());
        let mut ended = self.ended.clone();
        let mut moves_nodes = false;
        for change in changes {
            if let QueueChange::End { key, .. } = change {
                ended.extend(added.iter().position(|own| *own == Some(*key)));
                if let Some(stored) = in_order(&self.objects).get(*key) {
                    let own = |w: &StoredWorkload| w.namespace == stored.namespace && w.name == stored.name;
                    objects.workloads.retain(|w| !own(w));
                    let name = format!("{}/{}", stored.namespace, stored.name);
                    moves_nodes |= inputs::release(&mut scenario.topology, &name);
                }
            } else if !inputs::apply(change, &mut scenario, &mut objects, jobset) {
                return None;
            }
            moves_nodes |= matches!(change, QueueChange::FreeNodes { .. } | QueueChange::Cordon { .. });
        }
        let cluster = if moves_nodes {
            ClusterBuilder::build(&scenario.topology, &self.cluster.resources)
        } else {
            self.cluster.clone()
        };
        Some(AdmissionInputs { scenario, objects, cluster, ended })
    }

    /// Submits the JobSets one after the other. With `required`, ends as soon as one of these does not start.
    fn submit_all(&self, has_cluster: bool, required: Option<&[bool]>) -> Result<Submissions, CannotRun> {
        let mut trial = SubmissionTrial {
            inputs: self,
            state: queue_state(&self.scenario, &self.objects, &self.cluster),
            has_cluster,
            is_check: required.is_some(),
            started: Vec::new(),
            held: BTreeMap::new(),
            released: BTreeSet::new(),
            keys: Vec::new(),
        };
        let mut submissions = Submissions::default();
        for (at, submitted) in self.scenario.jobsets.iter().enumerate() {
            if self.ended.contains(&at) {
                let (name, namespace) = (submitted.jobset.name.clone(), submitted.jobset.namespace.clone());
                let verdict = "Finished";
                submissions.verdicts.push(JobSetVerdict { name, namespace, verdict, ..JobSetVerdict::default() });
                submissions.attempts.push(None);
                submissions.started.push(None);
                trial.keys.push(None);
                continue;
            }
            let attempt = trial.submit(submitted)?;
            let fails = !attempt.verdict.starts();
            submissions.verdicts.push(attempt.verdict);
            submissions.attempts.push(attempt.before.filter(|_| fails));
            submissions.started.push(attempt.started);
            if fails && required.is_some_and(|required| required[at]) {
                break;
            }
        }
        submissions.settled = true;
        if submissions.verdicts.iter().any(|verdict| ["Admitted", "ChecksPending"].contains(&verdict.verdict)) {
            submissions.settled = settle(&mut trial.state);
            for (at, verdict) in submissions.verdicts.iter_mut().enumerate() {
                if let Some(key) = trial.keys[at] {
                    trial.finish(verdict, key);
                }
            }
        }
        submissions.keys = trial.keys;
        submissions.state = trial.state;
        Ok(submissions)
    }
}

/// The JobSets of the inputs after all were submitted.
#[derive(Default)]
struct Submissions {
    verdicts: Vec<JobSetVerdict>,
    /// For each JobSet that does not start, the state before its trial and the key of its Workload.
    attempts: Vec<Option<(QueueState, WorkloadKey)>>,
    /// The JobSets that Kueue started.
    started: Vec<Option<JobSet>>,
    keys: Vec<Option<WorkloadKey>>,
    state: QueueState,
    settled: bool,
}

impl Submissions {
    fn report(&self, mut notes: Vec<String>) -> AdmissionReport {
        if !self.settled {
            notes.push("The queues did not settle: Workloads preempt each other again and again.".to_owned());
        }
        let job_sets = self.verdicts.clone();
        let admitted = self.settled && job_sets.iter().all(JobSetVerdict::starts);
        AdmissionReport { admitted, job_sets, notes, ..AdmissionReport::default() }
    }
}

/// Searches for changes that start a JobSet, by trials of all JobSets with the changed inputs.
struct ChangeSearch<'a> {
    inputs: &'a AdmissionInputs,
    submissions: &'a Submissions,
    has_cluster: bool,
    at: usize,
    /// The JobSets that must start: this one, and all that start without a change.
    required: Vec<bool>,
    /// Results of earlier trials.
    tried: RefCell<Vec<(Vec<QueueChange>, TrialResult)>>,
}

/// The result of a trial of changed inputs.
#[derive(Clone)]
enum TrialResult {
    Starts,
    /// Only the placement of the pods fails; the changes that cordon partial domains.
    Unplaced(Vec<QueueChange>),
    Fails,
}

impl<'a> ChangeSearch<'a> {
    fn new(
        inputs: &'a AdmissionInputs, submissions: &'a Submissions, has_cluster: bool, at: usize,
    ) -> ChangeSearch<'a> {
        let starts = submissions.verdicts.iter().enumerate().map(|(k, verdict)| k == at || verdict.starts());
        let required = starts.collect();
        ChangeSearch { inputs, submissions, has_cluster, at, required, tried: RefCell::default() }
    }

    fn smallest_changes(&self, verdict: &JobSetVerdict) -> Vec<RemedyRow> {
        let submitted = &self.inputs.scenario.jobsets[self.at];
        let is_exclusive = self.has_cluster && inputs::is_exclusive(&submitted.jobset);
        let additions = [Additions::None, Additions::Cordon];
        let additions = if is_exclusive { &additions[..] } else { &additions[..1] };
        let complete = |changes: &[QueueChange], additions: Additions| self.complete(changes, additions);
        let Some((state, key)) = &self.submissions.attempts[self.at] else { return Vec::new() };
        let remedies = match (verdict.verdict, verdict.cause) {
            ("Pending", _) => smallest_changes(state, *key, additions, &complete),
            ("Admitted", Some("node")) => {
                let started = self.submissions.started[self.at].clone().unwrap_or_else(|| submitted.jobset.clone());
                let started = SubmittedJobSet { jobset: started, ..submitted.clone() };
                let domains = placement::domains(&started, &self.inputs.scenario, &self.inputs.cluster);
                node_changes(state, *key, &domains, additions, &complete)
            }
            _ => return Vec::new(),
        };
        remedy_rows(state, &remedies)
    }

    /// Tries changes with all JobSets. Returns them, with additions, if the required JobSets start.
    fn complete(&self, changes: &[QueueChange], additions: Additions) -> Option<Vec<QueueChange>> {
        let partial = match self.result(changes) {
            TrialResult::Starts => return Some(changes.to_vec()),
            TrialResult::Unplaced(partial) if additions == Additions::Cordon && !partial.is_empty() => partial,
            _ => return None,
        };
        let with = |partial: &[QueueChange]| [changes, partial].concat();
        let starts = |changes: &[QueueChange]| matches!(self.result(changes), TrialResult::Starts);
        let mut kept = partial;
        if !starts(&with(&kept)) {
            return None;
        }
        for at in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if starts(&with(&fewer)) {
                kept = fewer;
            }
        }
        Some(with(&kept))
    }

    fn result(&self, changes: &[QueueChange]) -> TrialResult {
        if let Some((_, known)) = self.tried.borrow().iter().find(|(tried, _)| tried == changes) {
            return known.clone();
        }
        let result = self.try_changes(changes).unwrap_or(TrialResult::Fails);
        self.tried.borrow_mut().push((changes.to_vec(), result.clone()));
        result
    }

    fn try_changes(&self, changes: &[QueueChange]) -> Option<TrialResult> {
        let inputs = self.inputs.with(changes, self.at, &self.submissions.keys)?;
        let required: Vec<bool> =
            self.required.iter().enumerate().map(|(at, is)| *is && !inputs.ended.contains(&at)).collect();
        let trial = inputs.submit_all(self.has_cluster, Some(&required)).ok()?;
        let starts = |at: usize| trial.verdicts.get(at).is_some_and(JobSetVerdict::starts);
        if trial.settled && (0..required.len()).all(|at| !required[at] || starts(at)) {
            return Some(TrialResult::Starts);
        }
        let own = trial.verdicts.get(self.at)?;
        let started = trial.started.get(self.at)?.as_ref()?;
        let is_unplaced = own.verdict == "Admitted" && own.cause == Some("node");
        is_unplaced.then(|| TrialResult::Unplaced(placement::partial_domains(started, &inputs.cluster)))
    }
}

fn notes(
    scenario: &ScenarioSpec, objects: &KueueObjects, has_cluster: bool, wait: Option<&WaitRequest>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if wait.is_some() {
        notes.push(
            "The wait assumes that nothing else is submitted, that no pod fails, and that a preempted Workload starts \
             again from the beginning."
                .to_owned(),
        );
    }
    let holding = objects.workloads.iter().map(Workload::from).filter(Workload::has_active_reservation).count();
    if !has_cluster {
        notes.push("Nodes are not examined without -t.".to_owned());
    } else if holding > 0 && scenario.topology.accelerators().1 == 0 {
        notes.push(format!(
            "No pods run on the nodes of {}; pass the nodes with their pods, as from `kubectl get nodes,pods -A -o \
             json`, so that the pods of existing Workloads count.",
            scenario.topology.name
        ));
    }
    notes
}

struct SubmissionTrial<'a> {
    inputs: &'a AdmissionInputs,
    state: QueueState,
    has_cluster: bool,
    /// Whether only the result counts.
    is_check: bool,
    /// JobSets of the inputs that run, as Kueue started them, except those that are placed by topology.
    started: Vec<SubmittedJobSet>,
    /// Resources of the pods that are placed by topology, by node.
    held: BTreeMap<String, BTreeMap<String, i64>>,
    /// Preempted Workloads, by namespace and name.
    released: BTreeSet<String>,
    /// Key of the Workload of each JobSet.
    keys: Vec<Option<WorkloadKey>>,
}

/// The result of the submission of one JobSet.
#[derive(Default)]
struct Attempt {
    verdict: JobSetVerdict,
    before: Option<(QueueState, WorkloadKey)>,
    started: Option<JobSet>,
}

impl SubmissionTrial<'_> {
    fn submit(&mut self, submitted: &SubmittedJobSet) -> Result<Attempt, CannotRun> {
        let (jobset, objects) = (&submitted.jobset, &self.inputs.objects);
        let mut attempt = Attempt::default();
        let result = &mut attempt.verdict;
        result.name.clone_from(&jobset.name);
        result.namespace.clone_from(&jobset.namespace);
        jobset.kueue_queue().unwrap_or_default().clone_into(&mut result.local_queue);
        self.keys.push(None);
        if !objects.manages(jobset) || objects.cluster_queues.is_empty() && objects.local_queues.is_empty() {
            result.verdict = "Unmanaged";
            self.place(result, submitted.clone())?;
            return Ok(attempt);
        }
        if self.is_finished(jobset) {
            result.verdict = "Finished";
            return Ok(attempt);
        }
        let key = match self.key_of(jobset) {
            Ok(key) => key,
            Err(why) => {
                (result.verdict, result.cause, result.message) = ("Pending", Some("queue"), why);
                return Ok(attempt);
            }
        };
        if let Some(last) = self.keys.last_mut() {
            *last = Some(key);
        }
        if let Some(own) = self.state.workload(key) {
            result.cluster_queue = self.state.cluster_queue(own).unwrap_or_default().to_owned();
            if own.has_active_reservation() && !own.is_evicted() {
                (result.verdict, result.pod_sets) = ("AlreadyAdmitted", placements(own));
                return Ok(attempt);
            }
        }
        let before = (!self.is_check).then(|| self.state.clone());
        let Some(verdict) = submit(&mut self.state, key) else { return Ok(attempt) };
        describe(result, &self.state, &verdict);
        attempt.before = before.map(|state| (state, key));
        if !verdict.is_admitted() {
            return Ok(attempt);
        }
        self.released.extend(result.preempted.iter().map(|w| format!("{}/{}", w.namespace, w.name)));
        attempt.started = Some(self.start(&mut attempt.verdict, submitted, &verdict.workload)?);
        Ok(attempt)
    }

    /// Places the pods of an admitted JobSet. Returns the JobSet as Kueue started it.
    fn start(
        &mut self, result: &mut JobSetVerdict, submitted: &SubmittedJobSet, workload: &Workload,
    ) -> Result<JobSet, CannotRun> {
        let flavors = self.inputs.objects.flavors.iter().map(|f| (f.name.as_str().into(), f.clone())).collect();
        let started = started_jobset(&submitted.jobset, workload, &flavors, &self.inputs.scenario.decoders);
        if placements(workload).iter().all(|set| !set.domains.is_empty()) {
            for (node, amounts) in sim_engine::kueue_placed_requests(workload) {
                let sums = self.held.entry(node).or_default();
                for (resource, milli) in amounts {
                    *sums.entry(resource).or_default() += milli;
                }
            }
        } else {
            self.place(result, SubmittedJobSet { jobset: started.clone(), ..submitted.clone() })?;
        }
        Ok(started)
    }

    /// Sets the final state of a JobSet after all were submitted.
    fn finish(&self, result: &mut JobSetVerdict, key: WorkloadKey) {
        let Some(workload) = self.state.workload(key) else { return };
        let had_quota = ["Admitted", "ChecksPending", "AlreadyAdmitted"].contains(&result.verdict);
        let has_quota = workload.has_reservation() && !workload.is_evicted();
        if had_quota && !has_quota {
            (result.verdict, result.cause) = ("Preempted", Some("quota"));
            let preempted = workload.condition(ConditionType::Preempted).or(workload.condition(ConditionType::Evicted));
            if let Some(condition) = preempted {
                (result.reason, result.message) = (condition.reason.clone(), condition.message.clone());
            }
        } else if !had_quota && result.verdict == "Pending" && workload.is_admitted() {
            (result.verdict, result.cause, result.pod_sets) = ("Admitted", None, placements(workload));
            if let Some(condition) = workload.condition(ConditionType::QuotaReserved) {
                (result.reason, result.message) = (condition.reason.clone(), condition.message.clone());
            }
        }
    }

    /// Returns whether the Workload of the JobSet has finished in the cluster.
    fn is_finished(&self, jobset: &JobSet) -> bool {
        let own = |w: &&StoredWorkload| w.is_of(jobset);
        self.inputs.objects.workloads.iter().find(own).is_some_and(|w| Workload::from(w).is_finished())
    }

    /// Returns the key of the JobSet's Workload. A pending one keeps its creation time and its conditions.
    fn key_of(&mut self, jobset: &JobSet) -> Result<WorkloadKey, String> {
        let (scenario, objects) = (&self.inputs.scenario, &self.inputs.objects);
        let now = whole_seconds(self.state.now);
        let declared = scenario.objects.iter().filter(|object| object["kind"] == "PriorityClass");
        let classes = PriorityClasses {
            of_workloads: &objects.priority_classes,
            of_pods: &declared.cloned().collect::<Vec<_>>(),
            requires_declared: scenario.requires_listed_classes,
        };
        let stored = in_order(objects);
        let existing = stored.iter().position(|w| w.is_of(jobset));
        if let Some(key) = existing.filter(|key| self.state.workload(*key).is_some()) {
            return Ok(key);
        }
        let new = workload(jobset, &classes, now).map_err(|error| describe_workload_error(&error))?;
        let key = self.state.add(new);
        self.state.job_sets.insert(key, jobset.name.clone());
        Ok(key)
    }

    /// Places the pods of the JobSets that run on the nodes.
    fn place(&mut self, result: &mut JobSetVerdict, submitted: SubmittedJobSet) -> Result<(), CannotRun> {
        if !self.has_cluster {
            return Ok(());
        }
        let name = |s: &SubmittedJobSet| format!("{}/{}", s.jobset.namespace, s.jobset.name);
        let is_released = |s: &SubmittedJobSet| self.released.contains(&name(s));
        let kept: Vec<SubmittedJobSet> = self.started.iter().filter(|s| !is_released(s)).cloned().collect();
        let gone = self.started.len() - kept.len();
        self.started = kept;
        let jobsets: Vec<SubmittedJobSet> = self.started.iter().cloned().chain([submitted.clone()]).collect();
        let mut scenario = ScenarioSpec { jobsets, ..self.inputs.scenario.clone() };
        inputs::occupy(&mut scenario.topology, &self.held);
        let known = self.released.iter().filter(|name| inputs::release(&mut scenario.topology, name)).count();
        let placed = placement::place(&scenario, self.is_check)?;
        let fits = placed.fitting == placed.tried;
        // Some preempted pods are still on their nodes here, so that a failure proves nothing.
        if !fits && known + gone < result.preempted.len() {
            return Ok(());
        }
        if fits {
            self.started.push(submitted);
        } else {
            result.cause = Some("node");
        }
        let blocked = if fits { Vec::new() } else { placed.blocked };
        result.nodes = Some(NodeFit { fits, fitting_draws: placed.fitting, draws: placed.tried, blocked });
        Ok(())
    }
}

fn describe(result: &mut JobSetVerdict, state: &QueueState, verdict: &AdmissionVerdict) {
    (result.verdict, result.cause) = match verdict.kind {
        VerdictKind::Admitted => ("Admitted", None),
        VerdictKind::ChecksPending => ("ChecksPending", Some("checks")),
        VerdictKind::Pending(cause) => ("Pending", Some(cause.as_str())),
    };
    (result.reason, result.message) = (verdict.reason.clone(), verdict.message.clone());
    result.pod_sets = placements(&verdict.workload);
    result.borrowed = verdict
        .borrowed
        .iter()
        .map(|borrowed| BorrowedRow {
            flavor: borrowed.flavor.to_string(),
            resource: borrowed.resource.to_string(),
            amount: borrowed.amount.text(&borrowed.resource),
        })
        .collect();
    result.preempted = preempted_rows(state, &verdict.preempted);
    let rows =
        |keys: &[WorkloadKey]| keys.iter().take(LISTED_MAX).filter_map(|key| workload_row(state, *key, "")).collect();
    result.admitted_first = rows(&verdict.admitted_first);
    result.ahead = rows(&verdict.ahead);
    result.attempts = verdict
        .attempts
        .iter()
        .map(|attempt| AttemptRow {
            pod_set: attempt.pod_set.clone(),
            flavor: attempt.flavor.to_string(),
            reasons: attempt.reasons.clone(),
        })
        .collect();
}

fn placements(workload: &Workload) -> Vec<PodSetPlacement> {
    let placement = |admitted: &PodSetAdmission| PodSetPlacement {
        name: admitted.name.clone(),
        count: admitted.count,
        flavors: admitted.flavors.iter().map(|(resource, flavor)| (resource.to_string(), flavor.to_string())).collect(),
        levels: admitted.topology.as_ref().map(|t| t.levels.clone()).unwrap_or_default(),
        domains: admitted
            .topology
            .iter()
            .flat_map(|t| &t.domains)
            .map(|domain| PlacedDomain { values: domain.values.clone(), count: domain.count })
            .collect(),
    };
    workload.status.admission.iter().flat_map(|a| &a.pod_sets).map(placement).collect()
}

fn workload_row(state: &QueueState, key: WorkloadKey, reason: &str) -> Option<WorkloadRow> {
    let workload = state.workload(key)?;
    Some(WorkloadRow {
        name: workload.name.clone(),
        namespace: workload.namespace.clone(),
        local_queue: workload.queue.clone(),
        priority: workload.priority,
        reason: reason.to_owned(),
    })
}

fn preempted_rows(state: &QueueState, preempted: &[PreemptedWorkload]) -> Vec<WorkloadRow> {
    preempted.iter().filter_map(|target| workload_row(state, target.key, target.reason)).collect()
}

/// Returns the remedies as texts.
pub fn remedy_rows(state: &QueueState, remedies: &[Remedy]) -> Vec<RemedyRow> {
    let row = |remedy: &Remedy| RemedyRow {
        changes: remedy.changes.iter().map(ToString::to_string).collect(),
        sizes: remedy.changes.iter().map(QueueChange::size).map(|(kind, size)| ChangeSize { kind, size }).collect(),
        wait: None,
        preempted: preempted_rows(state, &remedy.preempted),
    };
    remedies.iter().map(row).collect()
}
