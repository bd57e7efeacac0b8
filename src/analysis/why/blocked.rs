//! The condition that blocks a JobSet or a pod.
//!
//! The sentences are those of the run's outcome and records; this module adds no interpretation.

use super::change_trial::ChangeTrial;
use super::levers::LeverSetting;
use crate::admission::{RemedyRow, remedy_rows};
use crate::metrics::RunView;
use serde::Serialize;
use sim_api::spec::kueue::QueueingStrategy;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::JobSetOutcome;
use sim_engine::{SimulationInput, kueue_namespaces, kueue_nodes};
use sim_kueue::verdict::{
    Additions, ChangeResult, ChangeTrials, PendingCause, QueueChange, QueueState, Remedy, VerdictKind,
    smallest_changes, try_admission,
};
use std::cell::RefCell;
use std::sync::Arc;

/// Maximum number of values of one change that are tried one by one, each by a run.
const VALUES_MAX: u32 = 16;

/// The condition that blocks an object, and a change that resolves it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedJobSet {
    /// Kind and name of the object, such as `JobSet train` or `pod train-w-0-1`.
    pub object: String,
    pub condition: String,
    /// The smallest change that resolves the condition, and the duration that is explained with this change.
    /// Confirmed by a run.
    pub change: Option<(LeverSetting, Duration)>,
    /// What Kueue lacks for its admission.
    pub admission: Option<PendingAdmission>,
}

/// Why the Workload of a JobSet has no quota, and the smallest changes that would admit it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingAdmission {
    /// `quota`, `flavor`, `topology` or `queue`.
    pub cause: &'static str,
    /// Reason of the condition QuotaReserved.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
    /// Pending Workloads of the same ClusterQueue that are ahead.
    pub ahead: usize,
    /// Changes that were tried and admit the Workload, each the smallest of its kind.
    pub smallest_changes: Vec<RemedyRow>,
}

impl BlockedJobSet {
    pub fn new(object: String, condition: String) -> BlockedJobSet {
        BlockedJobSet { object, condition, change: None, admission: None }
    }
}

/// Returns the first JobSet without quota at the end of a run, or whether the given one has none.
pub fn without_quota(simulation: &SimulationInput, request: Option<JobSetId>) -> Option<JobSetId> {
    let workloads = simulation.workloads();
    let is_pending = |at: &usize| {
        let workload = workloads.get(*at).and_then(Option::as_ref);
        workload.is_some_and(|w| !w.has_reservation() && !w.is_finished())
    };
    let mut all = (0..workloads.len()).filter(|at| request.is_none_or(|jobset| jobset.ix() == *at));
    all.find(is_pending).map(|at| JobSetId(at as u32))
}

/// Tries to admit a JobSet in the state at the end of a run. Returns `None` if its Workload has quota, or would get it
/// in the next cycle.
pub(super) fn pending_admission(trial: &ChangeTrial<'_>, end: SimTime) -> Option<PendingAdmission> {
    let (simulation, key) = (trial.simulation, trial.jobset.ix());
    let scenario = simulation.scenario();
    let objects = scenario.kueue.as_ref()?;
    without_quota(simulation, Some(trial.jobset))?;
    let (existing, now) = simulation.existing_workloads(end);
    let names = scenario.jobsets.iter().map(|submitted| submitted.jobset.name.clone());
    let state = QueueState {
        objects: Arc::new(objects.clone()),
        nodes: Arc::new(kueue_nodes(simulation.cluster(), objects)),
        namespaces: Arc::new(kueue_namespaces(scenario, objects)),
        workloads: simulation.workloads().into_iter().chain(existing.into_iter().map(Some)).collect(),
        now,
        job_sets: names.enumerate().collect(),
    };
    let verdict = try_admission(&state, key)?;
    let VerdictKind::Pending(cause) = verdict.kind else { return None };
    let trials = RunTrials { trial, state: &state, tried: RefCell::default() };
    let remedies = smallest_changes(&state, key, &[Additions::None], &trials);
    let mut rows = remedy_rows(&state, &remedies);
    rows.extend(strict_order(trial, &state, &remedies));
    Some(PendingAdmission {
        cause: cause.as_str(),
        reason: verdict.reason,
        message: verdict.message,
        ahead: verdict.ahead.len(),
        smallest_changes: rows,
    })
}

/// Trials of changes by runs of the scenario from its start on.
struct RunTrials<'a> {
    trial: &'a ChangeTrial<'a>,
    /// The state in which the JobSet is pending.
    state: &'a QueueState,
    /// Results of earlier trials.
    tried: RefCell<Vec<(Vec<QueueChange>, bool)>>,
}

impl RunTrials<'_> {
    fn admits(&self, changes: &[QueueChange]) -> bool {
        if let Some((_, known)) = self.tried.borrow().iter().find(|(tried, _)| tried == changes) {
            return *known;
        }
        let admits = self.trial.run(changes).is_some();
        self.tried.borrow_mut().push((changes.to_vec(), admits));
        admits
    }
}

impl ChangeTrials for RunTrials<'_> {
    fn attempt(&self, changes: &[QueueChange], _: Additions) -> ChangeResult {
        let key = self.trial.jobset.ix();
        let mut state = self.state.clone();
        changes.iter().for_each(|change| change.apply(&mut state, key));
        let Some(verdict) = try_admission(&state, key) else { return ChangeResult::Fails };
        let has_quota = verdict.is_admitted();
        // A run cannot end another Workload. Of values that have no size, only those are tried that admit at once.
        let is_end = changes.iter().any(|change| matches!(change, QueueChange::End { .. }));
        let is_choice = |change: &QueueChange| {
            matches!(
                change,
                QueueChange::UseQueue { .. } | QueueChange::Priority { .. } | QueueChange::NewPriority { .. }
            )
        };
        let admits =
            if is_end || !has_quota && changes.iter().any(is_choice) { has_quota } else { self.admits(changes) };
        if admits {
            let preempted = if has_quota { verdict.preempted } else { Vec::new() };
            return ChangeResult::Starts(Remedy { changes: changes.to_vec(), preempted });
        }
        let lacks_topology = verdict.kind == VerdictKind::Pending(PendingCause::Topology);
        if lacks_topology { ChangeResult::LacksTopology } else { ChangeResult::Fails }
    }

    fn values_max(&self) -> u32 {
        VALUES_MAX
    }
}

/// Returns the strict order of a BestEffortFIFO queue if it would have admitted the JobSet later: smaller ones then
/// do not pass it.
fn strict_order(trial: &ChangeTrial<'_>, state: &QueueState, known: &[Remedy]) -> Option<RemedyRow> {
    let name = state.cluster_queue(state.workload(trial.jobset.ix())?)?;
    let queue = state.objects.cluster_queues.iter().find(|queue| queue.name == name)?;
    let strategy = QueueingStrategy::StrictFifo;
    let change = QueueChange::Strategy { cluster_queue: name.to_owned(), strategy };
    let is_known = known.iter().any(|remedy| remedy.changes == [change.clone()]);
    if queue.queueing_strategy == strategy || is_known {
        return None;
    }
    let wait = trial.run(std::slice::from_ref(&change))?;
    let remedy = Remedy { changes: vec![change], preempted: Vec::new() };
    let row = remedy_rows(state, &[remedy]).into_iter().next()?;
    Some(RemedyRow { wait: Some(wait), ..row })
}

/// Returns the condition that blocks a JobSet at the end of its run, if there is one.
pub fn jobset(run: &RunView<'_>, jobset: JobSetId) -> Option<BlockedJobSet> {
    let name = run.names.jobset(jobset);
    let outcome = run.outcome.jobsets.get(jobset.ix())?;
    let condition = match &outcome.never_placed_reason {
        _ if outcome.terminal_state == "Failed" => condition(outcome, "Failed")?,
        Some(why) => why.clone(),
        None => match run.outcome.pending_reason(name) {
            Some(why) => why.to_owned(),
            None => {
                let (is, who) = (condition(outcome, "Suspended")?, run.who_resumes(jobset));
                who.map_or_else(|| is.clone(), |who| format!("{is}; {who}"))
            }
        },
    };
    Some(BlockedJobSet::new(format!("JobSet {name}"), condition))
}

/// Returns why the API server rejected a JobSet.
pub fn refused(run: &RunView<'_>, jobset: JobSetId) -> Option<BlockedJobSet> {
    let name = run.names.jobset(jobset);
    let why = run.outcome.refusal_reason(name)?.to_owned();
    Some(BlockedJobSet::new(format!("JobSet {name}"), why))
}

/// Describes a condition whose status is True, with its reason and message in the API.
fn condition(outcome: &JobSetOutcome, kind: &str) -> Option<String> {
    let mut conditions = outcome.conditions.iter();
    let matching = conditions.find(|c| c.kind == kind && c.status)?;
    Some(format!(
        "condition {kind} is True since {} ({}): {}",
        matching.last_transition, matching.reason, matching.message
    ))
}
