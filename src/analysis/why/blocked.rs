//! The condition that blocks a JobSet or a pod.
//!
//! The sentences are those of the run's outcome and records; this module adds no interpretation.

use super::change_trial::{ChangeTrial, TrialGoal};
use super::levers::LeverSetting;
use super::trials::{self, TrialTarget};
use crate::admission::{RemedyRow, remedy_rows};
use crate::metrics::admission::WaitCause;
use crate::metrics::restarts::path::{PathPart, PathStep};
use crate::metrics::{CriticalSpan, RunView};
use serde::Serialize;
use sim_api::spec::kueue::QueueingStrategy;
use sim_api::spec::{ScenarioSpec, StopSpec, StopWhen};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{DiscardSink, JobSetOutcome, TicketWait};
use sim_engine::{SimulationInput, kueue_namespaces};
use sim_kueue::verdict::{
    Additions, ChangeResult, ChangeTrials, PendingCause, QueueChange, QueueState, Remedy, VerdictKind,
    smallest_changes, try_admission,
};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Maximum number of values of one change that are tried one by one, each by a run.
const VALUES_MAX: u32 = 16;
/// Maximum number of runs for the changes of one wait.
const RUNS_MAX: usize = 40;

/// The condition that blocks an object, and a change that resolves it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedJobSet {
    /// Kind and name of the object, such as `JobSet train` or `pod train-w-0-1`.
    pub object: String,
    pub condition: String,
    /// The smallest change that resolves the condition, and the duration that is explained with this change.
    /// Confirmed by a run.
    pub change: Option<(LeverSetting, Duration)>,
    /// Whether the JobSet failed, and is unfinished at the end of the run with the change.
    pub is_unfinished: bool,
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
    /// Whether further changes were not tried because the maximum number of runs was reached.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
}

/// The longest wait for quota within a restart or a start, and the smallest changes that halve it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastAdmission {
    /// Start in seconds of virtual time.
    #[serde(rename = "from_s")]
    pub from: f64,
    /// Reservation of quota.
    #[serde(rename = "until_s")]
    pub until: f64,
    #[serde(flatten)]
    pub pending: PendingAdmission,
}

/// Minimum share of a wait for quota in the subject, as a fraction (one in `LONG`), for its changes to be tried.
const LONG: u64 = 10;

/// Tries changes that halve the longest wait for quota of a restart or a start. Returns `None` if there is no such
/// wait.
pub(super) fn past_admission(
    run: &RunView<'_>, unchanged: &ChangeTrial<'_>, target: &TrialTarget, (from, to): (SimTime, SimTime),
) -> Option<PastAdmission> {
    let simulation = unchanged.simulation;
    let jobset = target.jobset();
    let waits = run.admission_of(jobset)?.waits.iter().filter(|wait| wait.cause == WaitCause::Quota);
    let within = waits.filter_map(|wait| Some((wait.from.max(from), wait.until?.min(to))));
    let (begins, ends) =
        within.filter(|(begins, ends)| begins < ends).max_by_key(|(begins, ends)| ends.since(*begins))?;
    let (length, total) = (ends.since(begins), to.since(from));
    if length.0 < total.0 / LONG {
        return None;
    }
    let half = Duration(length.0 / 2);
    // In the middle of the wait, the state of the queues gives the changes to try.
    let middle = begins + half;
    let stop = StopSpec { at: middle.since(SimTime::ZERO), when: StopWhen::Time };
    let mut waiting = SimulationInput::new(&ScenarioSpec { stop, ..simulation.scenario().clone() }).ok()?;
    waiting.run(run.seed, 0, &mut DiscardSink);
    let goal = TrialGoal::AtMost { target: target.clone(), time: Duration(total.0 - half.0) };
    let trial = ChangeTrial { goal, ..*unchanged };
    let pending = pending_admission(&trial, &waiting, middle)?;
    Some(PastAdmission { from: begins.seconds(), until: ends.seconds(), pending })
}

/// Tries a tenth of the back-off or of the time limit for ready pods in Kueue's configuration, if the path spends
/// much time in it.
pub(super) fn past_limit(
    (run, simulation): (&RunView<'_>, &SimulationInput), target: &TrialTarget, spans: &[CriticalSpan],
) -> Option<PastAdmission> {
    let (start, end) = (spans.first()?.step.from, spans.last()?.step.to);
    let backs_off = |step: &PathStep| {
        step.part == PathPart::Admission(Some(WaitCause::BackOff)) || step.waited == TicketWait::RequeueBackoff
    };
    let is_limit = |step: &PathStep| step.part == PathPart::Whole && step.waited == TicketWait::PodsReadyTimeout;
    let longest = |which: &dyn Fn(&PathStep) -> bool| {
        spans.iter().map(|span| span.step).filter(|step| which(step)).max_by_key(PathStep::duration)
    };
    let (limit, back_off) = (longest(&is_limit), longest(&backs_off));
    let length = |step: &Option<PathStep>| step.map(|step| step.duration());
    let is_limit = length(&limit) > length(&back_off);
    let step = if is_limit { limit } else { back_off }?;
    let total = end.since(start);
    if step.duration().0 < total.0 / LONG {
        return None;
    }
    let mut scenario = simulation.scenario().clone();
    let wait = scenario.kueue.as_mut()?.configuration.wait_for_pods_ready.as_mut()?;
    let tenth = |time: &mut Duration| {
        let old = *time;
        *time = Duration(old.0 / 10);
        (old, *time)
    };
    let (cause, message, changes) = if is_limit {
        let mut changes = vec![("timeout", tenth(&mut wait.timeout))];
        changes.extend(wait.recovery_timeout.as_mut().map(|time| ("recoveryTimeout", tenth(time))));
        ("podsReady", "the pods were not ready", changes)
    } else {
        let requeuing = &mut wait.requeuing;
        let changes =
            [("backoffBaseSeconds", &mut requeuing.backoff_base), ("backoffMaxSeconds", &mut requeuing.backoff_max)];
        let changes = changes.into_iter().map(|(name, time)| (name, tenth(time)));
        ("backOff", "the Workload was evicted", changes.collect())
    };
    let mut changed = SimulationInput::new(&scenario).ok()?;
    let most = Duration(total.0 - step.duration().0 / 2);
    let takes = trials::measure(&mut changed, target, (run.seed, 0)).takes();
    let helps = takes.is_some_and(|takes| takes <= most);
    let sentence = |(name, (from, to)): (&str, (Duration, Duration))| {
        format!("lower waitForPodsReady {name} in Kueue's Configuration from {from} to {to}")
    };
    let row = RemedyRow {
        changes: changes.into_iter().map(sentence).collect(),
        sizes: Vec::new(),
        wait: None,
        preempted: Vec::new(),
        waiting: Vec::new(),
        evicted: Vec::new(),
    };
    let pending = PendingAdmission {
        cause,
        reason: String::new(),
        message: message.to_owned(),
        ahead: 0,
        smallest_changes: if helps { vec![row] } else { Vec::new() },
        is_incomplete: false,
    };
    Some(PastAdmission { from: step.from.seconds(), until: step.to.seconds(), pending })
}

impl BlockedJobSet {
    pub fn new(object: String, condition: String) -> BlockedJobSet {
        BlockedJobSet { object, condition, change: None, is_unfinished: false, admission: None }
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

/// Tries to admit a JobSet in the state at the end of a run, `waiting`. Returns `None` if its Workload has quota, or
/// would get it in the next cycle.
pub(super) fn pending_admission(
    trial: &ChangeTrial<'_>, waiting: &SimulationInput, end: SimTime,
) -> Option<PendingAdmission> {
    let (simulation, key) = (waiting, trial.jobset.ix());
    let scenario = simulation.scenario();
    let objects = scenario.kueue.as_ref()?;
    without_quota(simulation, Some(trial.jobset))?;
    let (existing, now) = simulation.existing_workloads(end);
    let names = scenario.jobsets.iter().map(|submitted| submitted.jobset.name.clone());
    let state = QueueState {
        objects: Arc::new(objects.clone()),
        nodes: Arc::new(simulation.kueue_nodes_now()),
        namespaces: Arc::new(kueue_namespaces(scenario, objects)),
        workloads: simulation.workloads().into_iter().chain(existing.into_iter().map(Some)).collect(),
        now,
        job_sets: names.enumerate().collect(),
    };
    let verdict = try_admission(&state, key)?;
    let VerdictKind::Pending(cause) = verdict.kind else { return None };
    let trials = RunTrials { trial, state: &state, tried: RefCell::default(), is_incomplete: Cell::new(false) };
    let remedies = smallest_changes(&state, key, &[Additions::None], &trials);
    let mut rows: Vec<RemedyRow> = remedies.iter().filter_map(|remedy| row_with_effects(&trials, remedy)).collect();
    rows.extend(strict_order(trial, &state, &remedies));
    Some(PendingAdmission {
        cause: cause.as_str(),
        reason: verdict.reason,
        message: verdict.message,
        ahead: verdict.ahead.len(),
        smallest_changes: rows,
        is_incomplete: trials.is_incomplete.get(),
    })
}

/// Trials of changes by runs of the scenario from its start on.
struct RunTrials<'a> {
    trial: &'a ChangeTrial<'a>,
    /// The state in which the JobSet is pending.
    state: &'a QueueState,
    /// Results of earlier trials.
    tried: RefCell<Vec<(Vec<QueueChange>, bool)>>,
    /// Whether a change was not tried because of the number of runs.
    is_incomplete: Cell<bool>,
}

impl RunTrials<'_> {
    fn admits(&self, changes: &[QueueChange]) -> bool {
        if let Some((_, known)) = self.tried.borrow().iter().find(|(tried, _)| tried == changes) {
            return *known;
        }
        if self.tried.borrow().len() >= RUNS_MAX {
            self.is_incomplete.set(true);
            return false;
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
        let is_over = matches!(self.trial.goal, TrialGoal::AtMost { .. });
        let is_known_end = changes.iter().any(|change| matches!(change, QueueChange::End { is_pending: false, .. }));
        if is_over && is_known_end {
            return ChangeResult::Fails;
        }
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

/// Describes a change with what it means for other JobSets in a run from the start: a change that admits the JobSet
/// earlier can also make a preemption unnecessary. The end of a Workload cannot be tried in this way.
fn row_with_effects(trials: &RunTrials<'_>, remedy: &Remedy) -> Option<RemedyRow> {
    let is_end = remedy.changes.iter().any(|change| matches!(change, QueueChange::End { .. }));
    let effects = if is_end { None } else { trials.trial.side_effects(&remedy.changes) };
    let mut known = remedy.clone();
    let (jobsets, all) = (&trials.trial.scenario.jobsets, trials.trial.simulation.workloads().len());
    if let Some(effects) = &effects {
        let is_preempted = |key: usize| key >= all || effects.preempted.contains(&JobSetId(key as u32));
        known.preempted.retain(|target| is_preempted(target.key));
    }
    let (waiting, evicted) = effects.map(|effects| (effects.waiting, effects.evicted)).unwrap_or_default();
    let name = |jobset: JobSetId| Some(jobsets.get(jobset.ix())?.jobset.name.clone());
    let row = remedy_rows(trials.state, &[known]).into_iter().next()?;
    let named = |all: Vec<JobSetId>| all.into_iter().filter_map(name).collect();
    Some(RemedyRow { waiting: named(waiting), evicted: named(evicted), ..row })
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
    let changed = trial.run(std::slice::from_ref(&change))?;
    let remedy = Remedy { changes: vec![change], preempted: Vec::new() };
    let row = remedy_rows(state, &[remedy]).into_iter().next()?;
    Some(RemedyRow { wait: changed.wait, ..row })
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
