//! What a training job came to: where its time went, and goodput by the definitions in use, each under its name.
//!
//! The same word hides different numerators and denominators, so each says what it divides by what.

#![deny(missing_docs)]

use super::RunView;
use super::restarts::restart::{Cause, CauseKind};
use serde::Serialize;
use sim_api::spec::Scenario;
use sim_base::*;
use sim_engine::record::{TrainingOutcome, TrainingPhase};
use std::collections::BTreeMap;

/// The training job of one JobSet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrainingSummary {
    /// Whether all of its work was done.
    pub done: bool,
    /// What was to be done, in seconds of steps; null: without end.
    #[serde(rename = "work_s")]
    pub work_s: Option<f64>,
    /// What was done until the last step.
    #[serde(rename = "reached_s")]
    pub reached_s: f64,
    /// Of that, what no interruption takes back.
    #[serde(rename = "durable_s")]
    pub durable_s: f64,
    /// The latest step; null if the scenario does not say what a step takes.
    pub latest_step: Option<u64>,
    /// The latest step that no interruption takes back.
    pub durable_step: Option<u64>,
    /// How often every pod was ready, and it began or went on.
    pub starts: u32,
    /// How often it was interrupted.
    pub interruptions: u32,
    /// Checkpoints that were completed.
    pub checkpoints: u64,
    /// Seconds by phase, from the submission of the JobSet to its end.
    #[serde(rename = "time_s")]
    pub time_s: BTreeMap<&'static str, f64>,
    /// Steps that count / time since every pod was ready for the first time, until the work was done. With steps of one
    /// length that is the goodput of Google's measurement library, and the effective training time of MegaScale.
    pub goodput: Option<f64>,
    /// Steps that count / time from the submission to the end, queueing included: the ETTR of Kokolis et al. and
    /// ByteRobust.
    pub ettr: Option<f64>,
    /// The product that Google calls ML productivity goodput.
    pub ml_productivity: Option<MlProductivity>,
    /// Time with every pod at work, whatever at / time from the submission to the end.
    pub job_uptime: Option<f64>,
}

/// ML productivity goodput: the product of its three parts.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct MlProductivity {
    /// Time during which its pods held all the nodes that they want / time from the submission to the end.
    pub scheduling: f64,
    /// Steps that count / time during which they held them.
    pub runtime: f64,
    /// How near a step is to the ideal one: a step takes what the scenario says.
    pub program: f64,
}

/// Phases in which not every pod is at work.
const AWAY: [TrainingPhase; 4] = [
    TrainingPhase::Startup,
    TrainingPhase::Recovery,
    TrainingPhase::Suspended,
    TrainingPhase::Ending,
];

impl TrainingSummary {
    /// Of a run's outcome.
    pub fn of(training: &TrainingOutcome) -> TrainingSummary {
        let t = training;
        let seconds = |phase: &TrainingPhase| (phase.as_str(), t.ns(*phase) as f64 / 1e9);
        let wall: u64 = t.spent_ns.iter().sum();
        let without =
            |phases: &[TrainingPhase]| wall - phases.iter().map(|p| t.ns(*p)).sum::<u64>();
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let productive = t.ns(TrainingPhase::Productive);
        let (scheduling, runtime) = (share(t.held_ns, wall), share(productive, t.held_ns));
        let (startup, ending) = (TrainingPhase::Startup, TrainingPhase::Ending);
        TrainingSummary {
            done: t.done,
            work_s: t.work.map(Duration::seconds),
            reached_s: t.reached.seconds(),
            durable_s: t.kept.seconds(),
            latest_step: t.reached_steps,
            durable_step: t.kept_steps,
            starts: t.starts,
            interruptions: t.interruptions,
            checkpoints: t.commits,
            time_s: TrainingPhase::ALL.iter().map(seconds).collect(),
            goodput: share(productive, without(&[startup, ending])),
            ettr: share(productive, wall),
            ml_productivity: scheduling
                .zip(runtime)
                .map(|(scheduling, runtime)| MlProductivity {
                    scheduling,
                    runtime,
                    program: 1.0,
                }),
            job_uptime: share(without(&AWAY), wall),
        }
    }
}

/// What interruptions with one cause took.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// Seconds of steps.
    pub lost_s: f64,
    /// Seconds until it began again.
    pub recovery_s: f64,
}

/// By what began the restart that the job was in: a random fault by its name, any other by its kind.
pub fn by_cause(run: &RunView<'_>, training: &TrainingOutcome) -> BTreeMap<String, Taken> {
    let mut all: BTreeMap<String, Taken> = BTreeMap::new();
    let restarts: Vec<_> = run.restarts_of(training.jobset).collect();
    for (at, stretch) in training.stretches.iter().enumerate() {
        let next = training.stretches.get(at + 1).map(|next| next.since);
        if next.is_none() && (training.done || stretch.until >= training.end) {
            break;
        }
        // An elastic job that takes slices in goes on.
        if next == Some(stretch.until) && stretch.lost == Duration::ZERO {
            continue;
        }
        let began = |r: &&&super::Restart| r.start <= stretch.until && stretch.until <= r.end;
        let follows = |r: &&&super::Restart| r.start >= stretch.until && next > Some(r.start);
        let mut newest = restarts.iter().rev();
        let restart = newest.find(began).or_else(|| restarts.iter().find(follows));
        let cause = restart.map_or("other".to_owned(), |r| cause_name(run.scenario, &r.cause));
        let taken = all.entry(cause).or_default();
        let away = next.unwrap_or(training.end).since(stretch.until);
        let recovery = away - stretch.suspended;
        taken.lost_s += stretch.lost.seconds();
        taken.recovery_s += recovery.seconds();
    }
    all
}

/// A random fault by its name, any other cause by its kind.
pub fn cause_name(scenario: &Scenario, cause: &Cause) -> String {
    let word = match cause.kind {
        CauseKind::Fault { index } => {
            let fault = scenario.faults.get(index as usize);
            return match fault.and_then(|fault| fault.drawn_as.as_deref()) {
                Some(name) => name.to_owned(),
                None => "script".to_owned(),
            };
        }
        CauseKind::ContainerExited { .. } => "exit",
        CauseKind::NodeNotReady => "node",
        CauseKind::PodDeleted { .. } => "deleted",
        CauseKind::PodFailed { .. } => "failed",
        CauseKind::Unknown => "other",
    };
    word.to_owned()
}
