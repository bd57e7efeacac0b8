//! Summary of a training job: time by phase, and goodput in the definitions in use.
//!
//! These definitions share names and differ in numerator and denominator, so each field documents its quotient.

#![deny(missing_docs)]

use super::RunView;
use super::restarts::restart::{CauseKind, FatalFailure, RestartCause};
use super::step_time::MeanStep;
use serde::Serialize;
use sim_api::spec::{ScenarioSpec, TrainingJob};
use sim_base::Duration;
use sim_engine::record::{StepOutcome, TrainingOutcome, TrainingPhase};
use std::collections::BTreeMap;

/// Summary of the training job of one JobSet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrainingSummary {
    /// Whether all of its work was completed.
    pub done: bool,
    /// Total work in seconds of steps; `None` if the work has no end.
    #[serde(rename = "work_s")]
    pub work_s: Option<f64>,
    /// Progress at the last step, in seconds of steps.
    #[serde(rename = "reached_s")]
    pub reached_s: f64,
    /// Part of `reached_s` that no interruption can discard.
    #[serde(rename = "durable_s")]
    pub durable_s: f64,
    /// Latest step; `None` if the scenario does not specify the duration of a step.
    pub latest_step: Option<u64>,
    /// Latest step that no interruption can discard; `None` if the scenario does not specify the duration of a step.
    pub durable_step: Option<u64>,
    /// Number of times that all required pods were ready and training began or continued.
    pub starts: u32,
    /// Number of interruptions.
    pub interruptions: u32,
    /// Number of completed checkpoints.
    pub checkpoints: u64,
    /// Seconds by phase, from the submission of the JobSet to its end.
    #[serde(rename = "time_s")]
    pub time_s: BTreeMap<&'static str, f64>,
    /// Productive steps ÷ time from the first moment with all pods ready to the end of the work. With steps of constant
    /// length this is the goodput of Google's measurement library and the effective training time of MegaScale.
    pub goodput: Option<f64>,
    /// Productive steps ÷ time from the submission to the end, including queueing: the ETTR of Kokolis et al. and
    /// ByteRobust.
    pub ettr: Option<f64>,
    /// Google's ML productivity goodput; `None` if the JobSet never held all of its nodes.
    pub ml_productivity: Option<MlProductivity>,
    /// Time with every pod at work, productive or not ÷ time from the submission to the end.
    pub job_uptime: Option<f64>,
    /// Step times with the placement of the pods; empty unless the training has `communication`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step_times: Vec<StepTimeSummary>,
    /// The mean step; only if the training has `communication` and steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_step: Option<MeanStep>,
}

/// The step time from an instant on, with the placement at that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepTimeSummary {
    /// Virtual time in seconds.
    #[serde(rename = "from_s")]
    pub from_s: f64,
    /// Duration of a step in seconds.
    #[serde(rename = "step_s")]
    pub step_s: f64,
    /// Part of the step in seconds that is communication beyond the computation.
    #[serde(rename = "exposed_s")]
    pub exposed_s: f64,
    /// `exposed_s` ÷ `step_s`.
    pub exposed_share: f64,
    /// Seconds of each entry of `communication`.
    #[serde(rename = "traffic_s")]
    pub traffic_s: Vec<f64>,
    /// What limits the largest exposed communication.
    pub limit: Option<String>,
    /// Number of islands in which the job has pods.
    pub islands: u32,
    /// Number of groups of each network level in which the job has pods, nearest level first.
    pub groups: Vec<u32>,
}

impl StepTimeSummary {
    fn from_outcome(step: &StepOutcome) -> StepTimeSummary {
        StepTimeSummary {
            from_s: step.at.seconds(),
            step_s: step.step.seconds(),
            exposed_s: step.exposed.seconds(),
            exposed_share: step.exposed.seconds() / step.step.seconds(),
            traffic_s: step.traffic.iter().map(|part| part.seconds()).collect(),
            limit: step.limit.clone(),
            islands: step.islands,
            groups: step.groups.clone(),
        }
    }
}

/// ML productivity goodput: the product of its three factors.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct MlProductivity {
    /// Time in which the JobSet held nodes for all of its pods ÷ time from the submission to the end.
    pub scheduling: f64,
    /// Productive steps and their communication ÷ time in which the JobSet held nodes for all of its pods.
    pub runtime: f64,
    /// Computation ÷ duration of a step with its exposed communication; 1 unless the training has `communication`.
    pub program: f64,
}

/// Phases in which at least one pod is not at work.
const AWAY: [TrainingPhase; 4] =
    [TrainingPhase::Startup, TrainingPhase::Recovery, TrainingPhase::Suspended, TrainingPhase::Ending];

impl TrainingSummary {
    /// Builds the summary from the outcome of a training job. `job` is its specification.
    pub fn from_outcome(training: &TrainingOutcome, job: Option<&TrainingJob>) -> TrainingSummary {
        let t = training;
        let seconds = |phase: &TrainingPhase| (phase.as_str(), t.ns(*phase) as f64 / 1e9);
        let wall: u64 = t.spent_ns.iter().sum();
        let without = |phases: &[TrainingPhase]| wall - phases.iter().map(|p| t.ns(*p)).sum::<u64>();
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let productive = t.ns(TrainingPhase::Productive);
        let stepping = productive + t.ns(TrainingPhase::Communication);
        let (scheduling, runtime) = (share(t.held_ns, wall), share(stepping, t.held_ns));
        let (startup, ending) = (TrainingPhase::Startup, TrainingPhase::Ending);
        TrainingSummary {
            done: t.done,
            work_s: t.work.map(Duration::seconds),
            reached_s: t.reached.seconds(),
            durable_s: t.saved_progress.seconds(),
            latest_step: t.reached_steps,
            durable_step: t.saved_steps,
            starts: t.starts,
            interruptions: t.interruptions,
            checkpoints: t.commits,
            time_s: TrainingPhase::ALL.iter().map(seconds).collect(),
            goodput: share(productive, without(&[startup, ending]) - t.suspended_before_start_ns),
            ettr: share(productive, wall),
            ml_productivity: scheduling.zip(runtime).map(|(scheduling, runtime)| MlProductivity {
                scheduling,
                runtime,
                program: share(productive, stepping).unwrap_or(1.0),
            }),
            job_uptime: share(without(&AWAY), wall),
            step_times: t.steps.iter().map(StepTimeSummary::from_outcome).collect(),
            mean_step: job.and_then(|job| MeanStep::from_outcome(t, job)),
        }
    }
}

/// Training time lost to interruptions with one cause.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct SegmentTime {
    /// Discarded steps, in seconds.
    pub lost_s: f64,
    /// Seconds from the interruptions to the next starts, without suspensions.
    pub recovery_s: f64,
}

/// Sums the losses by the cause of the restart that each interruption belongs to, named as by [`cause_name`].
pub fn by_cause(run: &RunView<'_>, training: &TrainingOutcome) -> BTreeMap<String, SegmentTime> {
    let mut all: BTreeMap<String, SegmentTime> = BTreeMap::new();
    let restarts: Vec<_> = run.restarts_of(training.jobset).collect();
    let failures = run.folded.fatal.iter().filter(|failure| failure.jobset == training.jobset);
    for (at, segment) in training.segments.iter().enumerate() {
        let next = training.segments.get(at + 1).map(|next| next.start);
        let is_cut = segment.end >= training.end && segment.lost == Duration::ZERO;
        if next.is_none() && (training.done || is_cut) {
            break;
        }
        // Not an interruption: an elastic job that admits slices continues without a gap.
        if next == Some(segment.end) && segment.lost == Duration::ZERO {
            continue;
        }
        let began = |r: &&&super::RestartMetrics| r.start <= segment.end && segment.end <= r.end;
        let follows = |r: &&&super::RestartMetrics| r.start >= segment.end && next > Some(r.start);
        let mut newest = restarts.iter().rev();
        let restart = newest.find(began).or_else(|| restarts.iter().find(follows)).map(|restart| restart.cause);
        let is_within = |f: &&FatalFailure| f.start <= segment.end && segment.end <= f.end;
        let fatal = || failures.clone().find(is_within).map(|failure| failure.cause);
        let cause = restart.or_else(fatal).map_or("other".to_owned(), |cause| cause_name(run.scenario, &cause));
        let taken = all.entry(cause).or_default();
        let outage = next.unwrap_or(training.end).since(segment.end);
        let recovery = outage - segment.suspended;
        taken.lost_s += segment.lost.seconds();
        taken.recovery_s += recovery.seconds();
    }
    all
}

/// Returns the name of a random fault, or the kind of any other cause.
pub fn cause_name(scenario: &ScenarioSpec, cause: &RestartCause) -> String {
    let word = match cause.kind {
        CauseKind::Fault { index } => {
            let fault = scenario.faults.get(index as usize);
            return match fault.and_then(|fault| fault.random_cause.as_deref()) {
                Some(name) => name.to_owned(),
                None => "script".to_owned(),
            };
        }
        CauseKind::ContainerExited { .. } => "exit",
        CauseKind::NodeNotReady => "node",
        CauseKind::PodDeleted { .. } => "deleted",
        CauseKind::PodFailed { .. } => "failed",
        CauseKind::PodRefused { .. } => "refused",
        CauseKind::Evicted { .. } => "evicted",
        CauseKind::Suspended => "suspended",
        CauseKind::Deadline => "deadline",
        CauseKind::Unknown => "other",
    };
    word.to_owned()
}
