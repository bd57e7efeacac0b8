//! Mean step time of a training job that communicates, over the steps of a run.

use serde::Serialize;
use sim_api::spec::{Communication, StepTraffic, TrainingJob};
use sim_base::Duration;
use sim_engine::record::{SegmentOutcome, StepOutcome, TrainingOutcome};
use std::collections::BTreeMap;

/// The mean step of a training job. Each step between a start of training and its interruption has equal weight.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MeanStep {
    /// Duration of a step in seconds.
    #[serde(rename = "step_s")]
    pub step_s: f64,
    /// Part of `step_s` that is communication beyond the computation.
    #[serde(rename = "exposed_s")]
    pub exposed_s: f64,
    /// `exposed_s` ÷ `step_s`.
    pub exposed_share: f64,
    /// What limits the largest exposed communication for most of the time.
    pub limit: Option<String>,
    /// Parts of `exposed_s`: one per entry of `communication`, and overlapped communication that takes longer than the
    /// computation.
    pub exposed: Vec<ExposedPart>,
}

/// A part of the exposed communication of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExposedPart {
    /// Axis and collective, or [`OVERLAPPED`].
    pub name: String,
    /// Mean duration per step in seconds.
    #[serde(rename = "mean_s")]
    pub mean_s: f64,
}

/// Name of the overlapped communication that takes longer than the computation.
pub const OVERLAPPED: &str = "overlapped, beyond the computation";

impl MeanStep {
    /// Computes the mean; `None` if the job does not communicate or has no steps.
    pub fn from_outcome(training: &TrainingOutcome, job: &TrainingJob) -> Option<MeanStep> {
        let communication = job.communication.as_ref()?;
        let weighted: Vec<(f64, &StepOutcome)> = weights(training).collect();
        let steps: f64 = weighted.iter().map(|(steps, _)| steps).sum();
        if steps <= 0.0 {
            return None;
        }
        let mean = |of: &dyn Fn(&StepOutcome) -> f64| {
            weighted.iter().map(|(weight, step)| weight * of(step)).sum::<f64>() / steps
        };
        let (step_s, exposed_s) = (mean(&|s| s.step.seconds()), mean(&|s| s.exposed.seconds()));
        let mut exposed: Vec<ExposedPart> = Vec::new();
        for (entry, name) in traffic_names(communication).into_iter().enumerate() {
            let share = 1.0 - communication.traffic[entry].overlap;
            let of = |s: &StepOutcome| s.traffic.get(entry).map_or(0.0, |time| time.seconds());
            exposed.push(ExposedPart { name, mean_s: share * mean(&of) });
        }
        let stated: f64 = exposed.iter().map(|part| part.mean_s).sum();
        let overlapped = exposed_s - stated;
        // Times in outcomes are rounded to nanoseconds.
        if overlapped > 1e-6 {
            exposed.push(ExposedPart { name: OVERLAPPED.to_owned(), mean_s: overlapped });
        }
        let mut limits: BTreeMap<&str, f64> = BTreeMap::new();
        for (weight, step) in &weighted {
            if let Some(limit) = &step.limit {
                *limits.entry(limit).or_default() += weight * step.step.seconds();
            }
        }
        let limit = limits.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Some(MeanStep {
            step_s,
            exposed_s,
            exposed_share: exposed_s / step_s,
            limit: limit.map(|(name, _)| name.to_owned()),
            exposed,
        })
    }
}

/// Returns the number of steps with each step time, from the time between starts of training and their ends.
fn weights(training: &TrainingOutcome) -> impl Iterator<Item = (f64, &StepOutcome)> {
    training.steps.iter().enumerate().map(|(nth, step)| {
        let until = training.steps.get(nth + 1).map_or(training.end, |next| next.at);
        let within = |segment: &SegmentOutcome| {
            let (from, to) = (segment.start.max(step.at), segment.end.min(until));
            if to > from { to.since(from) } else { Duration::ZERO }
        };
        let time: f64 = training.segments.iter().map(|segment| within(segment).seconds()).sum();
        (time / step.step.seconds(), step)
    })
}

/// Returns the names of the entries of the traffic: axis and collective, with a number if several are equal.
fn traffic_names(communication: &Communication) -> Vec<String> {
    let name = |t: &StepTraffic| format!("{} {}", communication.axes[t.axis].name, t.collective.as_str());
    let names: Vec<String> = communication.traffic.iter().map(name).collect();
    let numbered = |(i, name): (usize, &String)| match names.iter().filter(|other| *other == name).count() {
        1 => name.clone(),
        _ => format!("{name} ({})", names[..=i].iter().filter(|other| *other == name).count()),
    };
    names.iter().enumerate().map(numbered).collect()
}
