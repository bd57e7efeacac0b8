//! Submissions of the JobSets of a scenario to the queues, one after the other.

use super::inputs;
use super::placement;
use super::placement::{AssignedJob, KnownPlacements};
use super::queue_state::{in_order, queue_state};
use super::report::{AdmissionReport, JobSetVerdict, NodeFit};
use super::verdict_rows::{LISTED_MAX, describe, gated_pods, placements, report_gated};
use crate::capacity::fit::PodsOnNodes;
use sim_api::spec::keys::KUEUE_PRIORITY_CLASS;
use sim_api::spec::kueue::{KueueObjects, StoredWorkload};
use sim_api::spec::{JobSet, ResourceAmounts, ScenarioSpec, SubmittedJobSet};
use sim_engine::{
    CannotRun, PodSetConflict, SimulationInput, describe_workload_error, reduce_kueue_nodes, started_jobset,
};
use sim_kueue::tas::TasNode;
use sim_kueue::verdict::{AdmissionVerdict, PreemptedWorkload, QueueChange, QueueState, settle, submit};
use sim_kueue::workload::conditions::whole_seconds;
use sim_kueue::workload::jobset::{PriorityClasses, adopted, workload};
use sim_kueue::workload::{ConditionType, Workload, WorkloadKey};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The inputs that changes can edit.
pub(super) struct AdmissionInputs {
    /// Without the objects of Kueue.
    pub scenario: Arc<ScenarioSpec>,
    pub objects: Arc<KueueObjects>,
    pub cluster: Arc<ClusterBuilder>,
    /// JobSets of the inputs that have ended.
    pub ended: BTreeSet<usize>,
    /// The queues before any JobSet is submitted.
    pub queues: QueueState,
    pub placements: KnownPlacements,
}

impl AdmissionInputs {
    pub fn new(scenario: &ScenarioSpec, draws_max: u64) -> Result<AdmissionInputs, CannotRun> {
        let base = ScenarioSpec { kueue: None, admit_unplaceable: true, ..scenario.clone() };
        let cluster = SimulationInput::new(&base)?.cluster().clone();
        let objects = Arc::new(scenario.kueue.clone().unwrap_or_default());
        let queues = queue_state(&base, &objects, &cluster);
        let (scenario, cluster) = (Arc::new(base), Arc::new(cluster));
        let (ended, placements) = (BTreeSet::new(), KnownPlacements::new(draws_max));
        Ok(AdmissionInputs { scenario, objects, cluster, ended, queues, placements })
    }

    /// Returns the inputs with changes for a JobSet, or `None` if they cannot be made.
    pub fn with(
        &self, changes: &[QueueChange], jobset: usize, added: &[Option<WorkloadKey>],
    ) -> Option<AdmissionInputs> {
        let (mut scenario, mut objects) = (self.scenario.clone(), self.objects.clone());
        let mut ended = self.ended.clone();
        let (mut moves_nodes, mut ends) = (false, false);
        for change in changes {
            if let QueueChange::End { key, .. } = change {
                ended.extend(added.iter().position(|own| *own == Some(*key)));
                if let Some(stored) = in_order(&self.objects).get(*key) {
                    let own = |w: &StoredWorkload| w.namespace == stored.namespace && w.name == stored.name;
                    Arc::make_mut(&mut objects).workloads.retain(|w| !own(w));
                    let name = format!("{}/{}", stored.namespace, stored.name);
                    ends = true;
                    moves_nodes |= inputs::release(&mut Arc::make_mut(&mut scenario).topology, &name);
                }
            } else if change.is_of_objects() {
                change.apply_to_objects(Arc::make_mut(&mut objects));
            } else if !inputs::apply(change, Arc::make_mut(&mut scenario), Arc::make_mut(&mut objects), jobset) {
                return None;
            }
            moves_nodes |= matches!(change, QueueChange::FreeNodes { .. } | QueueChange::Cordon { .. });
        }
        let cluster = if moves_nodes {
            Arc::new(ClusterBuilder::build(&scenario.topology, &self.cluster.resources))
        } else {
            self.cluster.clone()
        };
        let queues = if moves_nodes || ends {
            queue_state(&scenario, &objects, &cluster)
        } else {
            QueueState { objects: objects.clone(), ..self.queues.clone() }
        };
        Some(AdmissionInputs { scenario, objects, cluster, ended, queues, placements: self.placements.clone() })
    }

    /// Submits the JobSets one after the other.
    pub fn submit_all(&self, has_cluster: bool) -> Result<Submissions, CannotRun> {
        let progress = Progress { state: self.queues.clone(), ..Progress::default() };
        let mut trial = SubmissionTrial { inputs: self, has_cluster, is_check: false, progress };
        trial.submit_from(Submissions::default(), None)
    }

    /// Submits the JobSets. Ends as soon as one of those that are required does not start. JobSets before `from` are
    /// not submitted again: they have the given verdicts.
    pub fn check(
        &self, has_cluster: bool, required: &[bool], from: Option<(&Progress, &[JobSetVerdict])>,
    ) -> Result<Submissions, CannotRun> {
        let mut submissions = Submissions::default();
        let mut progress = Progress { state: self.queues.clone(), ..Progress::default() };
        if let Some((before, verdicts)) = from {
            progress = before.clone();
            progress.state.objects = self.objects.clone();
            submissions.verdicts = verdicts.to_vec();
            submissions.attempts.resize_with(verdicts.len(), || None);
            submissions.started.resize_with(verdicts.len(), || None);
        }
        let mut trial = SubmissionTrial { inputs: self, has_cluster, is_check: true, progress };
        trial.submit_from(submissions, Some(required))
    }
}

/// The JobSets of the inputs after all were submitted.
#[derive(Default)]
pub(super) struct Submissions {
    pub verdicts: Vec<JobSetVerdict>,
    /// Verdicts at the submission, as far as later JobSets have changed them.
    pub first_verdicts: Vec<JobSetVerdict>,
    /// For each JobSet that does not start, the state of its submission.
    pub attempts: Vec<Option<FailedAttempt>>,
    /// The JobSets that Kueue started, and the Workloads that they preempted.
    pub started: Vec<Option<StartedJobSet>>,
    pub keys: Vec<Option<WorkloadKey>>,
    pub state: QueueState,
    pub settled: bool,
}

impl Submissions {
    pub fn report(&self, mut notes: Vec<String>) -> AdmissionReport {
        if !self.settled {
            notes.push("The queues did not settle: Workloads preempt each other again and again.".to_owned());
        }
        let job_sets = self.verdicts.clone();
        let admitted = self.settled && job_sets.iter().all(JobSetVerdict::starts);
        AdmissionReport { admitted, job_sets, notes, ..AdmissionReport::default() }
    }
}

/// A JobSet as Kueue started it.
pub(super) struct StartedJobSet {
    pub jobset: JobSet,
    pub preempted: Vec<PreemptedWorkload>,
}

/// The submission of a JobSet that does not start.
pub(super) struct FailedAttempt {
    /// The JobSets that were submitted before. `None` if the JobSet is preempted later.
    pub before: Option<Progress>,
    /// The state with the Workload of the JobSet, and its key.
    pub state: QueueState,
    pub key: WorkloadKey,
}

/// Requests of the pods that the scheduler placed, by namespace and name of the JobSet, and by name of the node.
type PlacedPods = BTreeMap<String, BTreeMap<String, ResourceAmounts>>;

/// The JobSets that were submitted so far.
#[derive(Clone, Default)]
pub(super) struct Progress {
    state: QueueState,
    /// JobSets of the inputs that run, as Kueue started them, except those that are placed by topology.
    started: Vec<Arc<SubmittedJobSet>>,
    /// Resources of the pods that are placed by topology, by node.
    held: BTreeMap<String, BTreeMap<String, i64>>,
    /// Jobs that are placed by topology on single nodes.
    assigned: Vec<Arc<AssignedJob>>,
    /// Preempted Workloads, by namespace and name.
    released: BTreeSet<String>,
    /// The nodes of the pods that the scheduler placed, in each draw of the placement that is still possible. The first
    /// one is in effect for `state`.
    draws: Vec<Arc<PlacedPods>>,
    /// Key of the Workload of each JobSet.
    keys: Vec<Option<WorkloadKey>>,
    /// Whether the Workloads in the queues have been tried since the last change of the usage of quota.
    is_at_rest: bool,
    /// Workloads that were admitted after the last submission and before the next one.
    admitted_between: Vec<WorkloadKey>,
}

struct SubmissionTrial<'a> {
    inputs: &'a AdmissionInputs,
    has_cluster: bool,
    /// Whether only the result counts.
    is_check: bool,
    progress: Progress,
}

/// The result of the submission of one JobSet.
#[derive(Default)]
struct Attempt {
    verdict: JobSetVerdict,
    /// The state with its Workload before the trial, and the key.
    before: Option<(QueueState, WorkloadKey)>,
    started: Option<StartedJobSet>,
}

impl SubmissionTrial<'_> {
    /// Submits the JobSets that have no verdict yet. With `required`, ends as soon as one of these does not start.
    fn submit_from(
        &mut self, mut submissions: Submissions, required: Option<&[bool]>,
    ) -> Result<Submissions, CannotRun> {
        for (at, submitted) in self.inputs.scenario.jobsets.iter().enumerate().skip(submissions.verdicts.len()) {
            if self.inputs.ended.contains(&at) {
                let (name, namespace) = (submitted.jobset.name.clone(), submitted.jobset.namespace.clone());
                let verdict = "Finished";
                submissions.verdicts.push(JobSetVerdict { name, namespace, verdict, ..JobSetVerdict::default() });
                submissions.attempts.push(None);
                submissions.started.push(None);
                self.progress.keys.push(None);
                continue;
            }
            self.settle_before(&submitted.jobset);
            let before = (!self.is_check).then(|| self.progress.clone());
            let attempt = self.submit(submitted)?;
            let fails = !attempt.verdict.starts();
            let failed = before.zip(attempt.before).filter(|_| fails);
            submissions.attempts.push(failed.map(|(before, (state, key))| FailedAttempt {
                before: Some(before),
                state,
                key,
            }));
            submissions.verdicts.push(attempt.verdict);
            submissions.started.push(attempt.started);
            if fails && required.is_some_and(|required| required[at]) {
                break;
            }
        }
        if !self.is_check {
            submissions.first_verdicts.clone_from(&submissions.verdicts);
        }
        submissions.settled = true;
        if submissions.verdicts.iter().any(|verdict| ["Admitted", "ChecksPending"].contains(&verdict.verdict)) {
            submissions.settled = settle(&mut self.progress.state);
            for (at, verdict) in submissions.verdicts.iter_mut().enumerate() {
                if let Some(key) = self.progress.keys[at] {
                    self.finish(verdict, key);
                }
            }
        }
        let progress = std::mem::take(&mut self.progress);
        if !self.is_check {
            // A Workload that is preempted is pending again in the final state.
            for (at, _) in submissions.verdicts.iter().enumerate().filter(|(_, v)| v.verdict == "Preempted") {
                let state = progress.state.clone();
                submissions.attempts[at] = progress.keys[at].map(|key| FailedAttempt { before: None, state, key });
            }
        }
        (submissions.keys, submissions.state) = (progress.keys, progress.state);
        Ok(submissions)
    }

    /// Lets Kueue try the Workloads that exist before the one of a JobSet is created. The Workload of a JobSet that is
    /// already in the cluster waits together with the others.
    fn settle_before(&mut self, jobset: &JobSet) {
        let progress = &mut self.progress;
        progress.admitted_between.clear();
        if progress.is_at_rest || self.inputs.objects.workloads.iter().any(|w| w.is_of(jobset)) {
            return;
        }
        progress.is_at_rest = true;
        let changes =
            |w: &Arc<Workload>| w.has_reservation() && w.is_evicted() || !w.has_reservation() && w.is_admissible();
        if !progress.state.workloads.iter().flatten().any(changes) {
            return;
        }
        let had_quota: Vec<bool> = progress.state.workloads.iter().map(|w| w.as_deref().is_some_and(holds)).collect();
        settle(&mut progress.state);
        for (key, workload) in progress.state.workloads.iter().enumerate() {
            let Some(workload) = workload else { continue };
            match (had_quota[key], holds(workload)) {
                (false, true) => progress.admitted_between.push(key),
                (true, false) => {
                    progress.released.insert(format!("{}/{}", workload.namespace, workload.name));
                }
                _ => {}
            }
        }
        let has_changed = |(key, w): (usize, &Option<Arc<Workload>>)| w.as_deref().is_some_and(holds) != had_quota[key];
        if self.progress.state.workloads.iter().enumerate().any(has_changed) {
            // The topology assignments of these Workloads depend on the draw.
            self.progress.draws.truncate(1);
            self.use_first_draw();
        }
    }

    /// Returns the nodes without the resources of the pods of a draw.
    fn nodes_with(&self, pods: &PlacedPods) -> Vec<TasNode> {
        let mut nodes = (*self.inputs.queues.nodes).clone();
        let present = pods.iter().filter(|(jobset, _)| !self.progress.released.contains(*jobset));
        reduce_kueue_nodes(&mut nodes, present.flat_map(|(_, on_nodes)| on_nodes));
        nodes
    }

    /// Gives Kueue the nodes with the pods of the first draw.
    fn use_first_draw(&mut self) {
        if let Some(pods) = self.progress.draws.first() {
            self.progress.state.nodes = Arc::new(self.nodes_with(pods));
        }
    }

    /// Returns whether the nodes of the pods of a JobSet matter to a JobSet after it or to a Workload in the queues.
    fn has_later_topology(&self) -> bool {
        let objects = &self.inputs.objects;
        let later = self.inputs.scenario.jobsets.iter().skip(self.progress.keys.len());
        objects.uses_topology() && later.map(|submitted| &submitted.jobset).any(|jobset| objects.manages(jobset))
    }

    /// Submits a Workload in each draw of the placement of the pods before it. The state is then that of the first draw
    /// in which it gets no quota, or of the first draw. Returns the number of draws in which it gets quota, and the
    /// number of draws. If only the result counts, the first draw without quota is the last one.
    fn submit_in_draws(&mut self, key: WorkloadKey) -> Option<(AdmissionVerdict, u64, u64)> {
        let draws = self.progress.draws.clone();
        if draws.len() < 2 {
            let verdict = submit(&mut self.progress.state, key)?;
            let admitted = u64::from(verdict.is_admitted());
            return Some((verdict, admitted, 1));
        }
        let mut known: BTreeMap<&PlacedPods, bool> = BTreeMap::new();
        let mut chosen: Option<(usize, QueueState, AdmissionVerdict)> = None;
        let mut admitted = 0;
        for (at, draw) in draws.iter().enumerate() {
            let has_quota = match known.get(&**draw) {
                Some(known) => *known,
                None => {
                    let nodes = Arc::new(self.nodes_with(draw));
                    let mut state = QueueState { nodes, ..self.progress.state.clone() };
                    let verdict = submit(&mut state, key)?;
                    let has_quota = verdict.is_admitted();
                    known.insert(draw, has_quota);
                    if chosen.as_ref().is_none_or(|(_, _, first)| first.is_admitted() && !has_quota) {
                        chosen = Some((at, state, verdict));
                    }
                    has_quota
                }
            };
            admitted += u64::from(has_quota);
            if self.is_check && !has_quota {
                break;
            }
        }
        let (at, state, verdict) = chosen?;
        self.progress.state = state;
        let tried = draws.len() as u64;
        let has_assignment = placements(&verdict.workload).iter().any(|set| !set.domains.is_empty());
        if has_assignment || 0 < admitted && admitted < tried {
            self.progress.draws = vec![draws[at].clone()];
        }
        Some((verdict, admitted, tried))
    }

    fn submit(&mut self, submitted: &SubmittedJobSet) -> Result<Attempt, CannotRun> {
        let (jobset, objects) = (&submitted.jobset, &self.inputs.objects);
        let mut attempt = Attempt::default();
        let result = &mut attempt.verdict;
        result.name.clone_from(&jobset.name);
        result.namespace.clone_from(&jobset.namespace);
        jobset.kueue_queue().unwrap_or_default().clone_into(&mut result.local_queue);
        self.progress.keys.push(None);
        if let Some(why) = objects.ignored_reason(jobset) {
            (result.verdict, result.cause, result.message) = ("Pending", Some("queue"), why);
            return Ok(attempt);
        }
        if !objects.manages(jobset) || objects.cluster_queues.is_empty() && objects.local_queues.is_empty() {
            result.verdict = "Unmanaged";
            self.place(result, submitted.clone(), true)?;
            if jobset.spec.suspend && result.starts() {
                result.cause = Some("suspended");
                "it is suspended until spec.suspend is set to false".clone_into(&mut result.message);
                return Ok(attempt);
            }
            if !self.is_check && !result.starts() {
                attempt.before = self.without_queue(jobset);
            }
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
        if let Some(last) = self.progress.keys.last_mut() {
            *last = Some(key);
        }
        let state = &self.progress.state;
        if let Some(own) = state.workload(key) {
            result.cluster_queue = state.cluster_queue(own).unwrap_or_default().to_owned();
            let has_quota = |w: &Arc<Workload>| w.has_active_reservation() && !w.is_evicted();
            // A Workload that waits in the inputs may have been admitted with those before it.
            if has_quota(own) && self.inputs.queues.workload(key).is_some_and(has_quota) {
                (result.verdict, result.pod_sets) = ("AlreadyAdmitted", placements(own));
                return Ok(attempt);
            }
        }
        let before = (!self.is_check).then(|| state.clone());
        let Some((mut verdict, admitted, draws)) = self.submit_in_draws(key) else { return Ok(attempt) };
        let nodes = self.progress.state.nodes.clone();
        attempt.before = before.map(|before| (QueueState { nodes, ..before }, key));
        verdict.admitted_first.splice(0..0, self.progress.admitted_between.iter().copied());
        self.progress.is_at_rest = !verdict.is_admitted();
        describe(result, &self.progress.state, &verdict);
        if !verdict.is_admitted() {
            if admitted > 0 {
                let blocked = Vec::new();
                result.nodes = Some(NodeFit { fits: false, fitting_draws: admitted, draws, blocked });
            }
            return Ok(attempt);
        }
        let released = result.preempted.iter().map(|w| format!("{}/{}", w.namespace, w.name));
        let count = self.progress.released.len();
        self.progress.released.extend(released);
        if self.progress.released.len() > count {
            self.use_first_draw();
        }
        let jobset = match self.start(&mut attempt.verdict, submitted, &verdict.workload)? {
            Ok(jobset) => jobset,
            Err(conflict) => {
                let now = self.progress.state.now;
                self.progress.state.edit(key, |w| w.finish_failed_to_start(&conflict.to_string(), now));
                self.progress.is_at_rest = false;
                let result = &mut attempt.verdict;
                (result.verdict, result.cause) = ("Pending", Some("queue"));
                result.message = format!("its Workload ends with FailedToStart: {conflict}");
                return Ok(attempt);
            }
        };
        attempt.started = Some(StartedJobSet { jobset, preempted: verdict.preempted });
        Ok(attempt)
    }

    /// Returns the state with a Workload for a JobSet that Kueue does not manage. It gives the values of changes.
    fn without_queue(&self, jobset: &JobSet) -> Option<(QueueState, WorkloadKey)> {
        let mut state = self.progress.state.clone();
        let classes = PriorityClasses { of_workloads: &[], of_pods: &[], requires_declared: false };
        let own = workload(jobset, &classes, whole_seconds(state.now)).ok()?;
        let key = state.add(Workload { queue: String::new(), ..own });
        Some((state, key))
    }

    /// Places the pods of an admitted JobSet. Returns the JobSet as Kueue started it.
    fn start(
        &mut self, result: &mut JobSetVerdict, submitted: &SubmittedJobSet, workload: &Workload,
    ) -> Result<Result<JobSet, PodSetConflict>, CannotRun> {
        let flavors = self.inputs.objects.flavors.iter().map(|f| (f.name.as_str().into(), f.clone())).collect();
        let started = match started_jobset(&submitted.jobset, workload, &flavors, &self.inputs.scenario.decoders) {
            Ok(started) => started,
            Err(conflict) => return Ok(Err(conflict)),
        };
        let sets = placements(workload);
        let own = || SubmittedJobSet { jobset: started.clone(), ..submitted.clone() };
        let gated = gated_pods(workload);
        if !gated.is_empty() {
            report_gated(result, gated);
        } else if sets.iter().all(|set| !set.domains.is_empty()) {
            self.check_assignment(result, own(), workload)?;
            for (node, amounts) in sim_engine::kueue_placed_requests(workload, &self.inputs.cluster) {
                let sums = self.progress.held.entry(node).or_default();
                for (resource, milli) in amounts {
                    *sums.entry(resource).or_default() += milli;
                }
            }
        } else if sets.iter().any(|set| !set.domains.is_empty()) {
            self.place(result, placement::restricted(&own(), workload, &self.inputs.scenario), true)?;
        } else {
            self.place(result, own(), true)?;
        }
        Ok(Ok(started))
    }

    /// Checks whether the scheduler accepts the nodes of a topology assignment. Kueue examines resources, labels and
    /// taints of nodes, but no other pods.
    fn check_assignment(
        &mut self, result: &mut JobSetVerdict, started: SubmittedJobSet, workload: &Workload,
    ) -> Result<(), CannotRun> {
        if !self.has_cluster {
            return Ok(());
        }
        let cluster = self.inputs.cluster.clone();
        let new = placement::assigned_jobs(&started.jobset, workload, &cluster);
        let released = &self.progress.released;
        self.progress.assigned.retain(|job| !released.contains(&job.jobset));
        let conflicts = placement::conflicts(&self.progress.assigned, &new, &cluster);
        self.progress.assigned.extend(new.into_iter().map(Arc::new));
        if !conflicts.is_empty() {
            result.cause = Some("node");
            let blocked = conflicts.into_iter().take(LISTED_MAX).collect();
            result.nodes = Some(NodeFit { fits: false, fitting_draws: 0, draws: 1, blocked });
        } else if placement::depends_on_pods(&started.jobset) {
            let restricted = placement::restricted(&started, workload, &self.inputs.scenario);
            self.place(result, restricted, false)?;
        }
        Ok(())
    }

    /// Sets the final state of a JobSet after all were submitted.
    fn finish(&self, result: &mut JobSetVerdict, key: WorkloadKey) {
        let Some(workload) = self.progress.state.workload(key) else { return };
        let had_quota = ["Admitted", "ChecksPending", "AlreadyAdmitted"].contains(&result.verdict);
        let has_quota = holds(workload);
        if had_quota && !has_quota {
            (result.verdict, result.cause) = ("Preempted", Some("quota"));
            let preempted = workload.condition(ConditionType::Preempted).or(workload.condition(ConditionType::Evicted));
            if let Some(condition) = preempted {
                (result.reason, result.message) = (condition.reason.clone(), condition.message.clone());
            }
        } else if !had_quota && result.verdict == "Pending" && workload.is_admitted() {
            (result.verdict, result.cause, result.pod_sets) = ("Admitted", None, placements(workload));
            result.nodes = None;
            if let Some(condition) = workload.condition(ConditionType::QuotaReserved) {
                (result.reason, result.message) = (condition.reason.clone(), condition.message.clone());
            }
            let gated = gated_pods(workload);
            if !gated.is_empty() {
                report_gated(result, gated);
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
        let now = whole_seconds(self.progress.state.now);
        let declared = scenario.objects.iter().filter(|object| object["kind"] == "PriorityClass");
        let classes = PriorityClasses {
            of_workloads: &objects.priority_classes,
            of_pods: &declared.cloned().collect::<Vec<_>>(),
            requires_declared: scenario.requires_listed_classes,
        };
        let has_workload = objects.workloads.iter().any(|w| w.is_of(jobset));
        let existing = has_workload.then(|| in_order(objects).iter().position(|w| w.is_of(jobset))).flatten();
        let new = workload(jobset, &classes, now).map_err(|error| describe_workload_error(&error));
        if let Some(key) = existing.filter(|key| self.progress.state.workload(*key).is_some()) {
            self.adopt(key, jobset)?;
            self.update(key, jobset, new.ok());
            return Ok(key);
        }
        let new = new?;
        let key = self.progress.state.add(new);
        self.progress.state.job_sets.insert(key, jobset.name.clone());
        Ok(key)
    }

    /// Gives a prebuilt Workload to its JobSet. One that differs from the JobSet ends and returns its quota.
    fn adopt(&mut self, key: WorkloadKey, jobset: &JobSet) -> Result<(), String> {
        let Some(prebuilt) = self.progress.state.workload(key).cloned() else { return Ok(()) };
        if jobset.prebuilt_workload() != Some(&prebuilt.name) {
            return Ok(());
        }
        let now = self.progress.state.now;
        match adopted(jobset, &prebuilt) {
            Ok(own) => self.progress.state.edit(key, |workload| *workload = own),
            Err(error) => {
                self.progress.state.edit(key, |workload| workload.finish_out_of_sync(now));
                self.progress.is_at_rest = false;
                return Err(describe_workload_error(&error));
            }
        }
        Ok(())
    }

    /// Gives a pending Workload the pods, the queue and the priority of the JobSet, as Kueue does after a change of it.
    fn update(&mut self, key: WorkloadKey, jobset: &JobSet, new: Option<Workload>) {
        let Some(new) = new else { return };
        let has_class = jobset.labels.contains_key(KUEUE_PRIORITY_CLASS);
        self.progress.state.edit(key, |workload| {
            if !workload.has_reservation() && !workload.is_finished() {
                (workload.pod_sets, workload.queue) = (new.pod_sets, new.queue);
                workload.priority = if has_class { new.priority } else { workload.priority };
            }
        });
    }

    /// Places the pods of the JobSets that run on the nodes. With `keeps`, the JobSet is placed again together with
    /// later ones; otherwise its pods are those of a topology assignment.
    fn place(&mut self, result: &mut JobSetVerdict, submitted: SubmittedJobSet, keeps: bool) -> Result<(), CannotRun> {
        if !self.has_cluster {
            return Ok(());
        }
        let name = |s: &SubmittedJobSet| format!("{}/{}", s.jobset.namespace, s.jobset.name);
        let is_released = |s: &SubmittedJobSet| self.progress.released.contains(&name(s));
        let kept: Vec<Arc<SubmittedJobSet>> =
            self.progress.started.iter().filter(|s| !is_released(s)).cloned().collect();
        let gone = self.progress.started.len() - kept.len();
        self.progress.started = kept;
        let jobsets: Vec<SubmittedJobSet> =
            self.progress.started.iter().map(|s| (**s).clone()).chain([submitted.clone()]).collect();
        let mut scenario = ScenarioSpec { jobsets, ..(*self.inputs.scenario).clone() };
        inputs::occupy(&mut scenario.topology, &self.progress.held);
        let known = self.progress.released.iter().filter(|name| inputs::release(&mut scenario.topology, name)).count();
        let needs_nodes = keeps && self.has_later_topology();
        let placed = self.inputs.placements.place(&scenario, self.is_check, needs_nodes)?;
        let fits = placed.fitting == placed.tried;
        // Some preempted pods are still on their nodes here, so that a failure proves nothing.
        if !fits && known + gone < result.preempted.len() {
            return Ok(());
        }
        // Pods that are placed hold their nodes although other pods of the JobSet do not fit.
        if keeps {
            self.progress.started.push(Arc::new(submitted));
            let started = &self.progress.started;
            let by_name = |pods: PodsOnNodes| -> Arc<PlacedPods> {
                // A suspended JobSet that Kueue does not manage has no pods.
                let runs = pods.into_iter().filter(|(jobset, _)| !started[*jobset].jobset.spec.suspend);
                Arc::new(runs.map(|(jobset, on_nodes)| (name(&started[jobset]), on_nodes)).collect())
            };
            if self.inputs.objects.uses_topology() {
                self.progress.draws = placed.on_nodes.into_iter().map(by_name).collect();
                self.use_first_draw();
            }
        }
        if !fits {
            result.cause = Some("node");
        }
        let blocked = if fits { Vec::new() } else { placed.blocked };
        result.nodes = Some(NodeFit { fits, fitting_draws: placed.fitting, draws: placed.tried, blocked });
        Ok(())
    }
}

/// Returns whether a Workload has quota and keeps it.
fn holds(workload: &Workload) -> bool {
    workload.has_reservation() && !workload.is_evicted()
}
