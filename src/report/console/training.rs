//! Training jobs in the console output of `run`: progress, goodput and time by phase.

use super::waterfall::Style;
use sim_analysis::format::{count, seconds};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::training::TrainingSummary;
use sim_api::spec::{Saves, TrainingJob};
use sim_base::*;
use sim_engine::record::{TrainingOutcome, TrainingPhase};
use std::fmt::Write;

/// Writes a section for each JobSet with a training job.
pub fn training(out: &mut String, run: &RunView<'_>, style: &Style) {
    for training in &run.outcome.training {
        one(out, run, training, style);
        out.push('\n');
    }
}

/// Describes the training job for the header of the report: work, step duration and checkpoints.
pub fn given(run: &RunView<'_>, training: &TrainingJob) -> String {
    let name = run.names.jobset(JobSetId(training.jobset as u32));
    let work = match training.work {
        Some(work) => format!("{work} of work"),
        None => "work without end".to_owned(),
    };
    let step = training.step.map(|step| format!(" in steps of {step}"));
    let saved = match &training.saves {
        Saves::Always => "every instant is saved".to_owned(),
        Saves::Never => "nothing is saved".to_owned(),
        Saves::Checkpoints(kinds) => {
            let every: Vec<String> = kinds.iter().map(|kind| kind.every.to_string()).collect();
            format!("a checkpoint every {}", every.join(", every "))
        }
    };
    format!("{name}: {work}{}, {saved}", step.unwrap_or_default())
}

fn one(out: &mut String, run: &RunView<'_>, training: &TrainingOutcome, style: &Style) {
    let summary = TrainingSummary::of(training);
    let share = |v: Option<f64>| v.map_or("none".to_owned(), |v| format!("{:.2} %", v * 100.0));
    let of = match training.work {
        Some(_) if training.done => String::new(),
        Some(work) => format!(" of {work}"),
        None => " so far".to_owned(),
    };
    let title = format!(
        "Training of JobSet {}: {}{of} done{}, {}",
        run.names.jobset(training.jobset),
        training.reached,
        steps(training.reached_steps),
        count(u64::from(training.interruptions), "interruption"),
    );
    let _ = writeln!(out, "{}", style.bold(&title));
    if training.kept != training.reached {
        let kept = training.kept;
        let _ = writeln!(out, "  saved: {kept}{}", steps(training.kept_steps));
    }
    let _ = writeln!(
        out,
        "  goodput {} (steps that count / time since every pod was there first)\n  ETTR    {} (the same / time since \
         submission)",
        share(summary.goodput),
        share(summary.ettr),
    );
    let wall: u64 = training.spent_ns.iter().sum();
    for phase in TrainingPhase::ALL {
        let ns = training.ns(phase);
        if ns == 0 {
            continue;
        }
        let _ = writeln!(
            out,
            "  {:<15} {:>12} {:>8.3} %  {}",
            phase.as_str(),
            seconds(Duration(ns)),
            ns as f64 / wall as f64 * 100.0,
            words(phase),
        );
    }
}

/// Returns ` (step 3600)`, or an empty string if the step duration is not set.
fn steps(steps: Option<u64>) -> String {
    steps.map_or(String::new(), |step| format!(" (step {step})"))
}

fn words(phase: TrainingPhase) -> &'static str {
    match phase {
        TrainingPhase::Startup => "from the submission until every pod is ready for the first time",
        TrainingPhase::Initialization => "devices and collectives, at each start",
        TrainingPhase::Compile => "at each start",
        TrainingPhase::Restore => "of checkpoints",
        TrainingPhase::Productive => "steps that count",
        TrainingPhase::Checkpoint => "standing still for checkpoints",
        TrainingPhase::Lost => "steps that interruptions took back",
        TrainingPhase::Recovery => "from interruptions until every pod is ready again",
        TrainingPhase::Suspended => "without steps while the JobSet is suspended",
        TrainingPhase::Slow => "what steps took longer because a machine was slow",
        TrainingPhase::Hang => "without a step, and nobody had found out",
        TrainingPhase::Reinitialization => "with other slices than before",
        TrainingPhase::Degraded => "what steps took longer because slices were away",
        TrainingPhase::WarmUp => "what steps took longer right after a start",
        TrainingPhase::Ending => "from the end of the work to that of the JobSet",
    }
}

/// Returns the step at this amount of work, or the amount itself if the step duration is not set.
pub fn place(training: Option<&TrainingJob>, work: Duration) -> String {
    match training.and_then(|t| t.steps(work)) {
        Some(step) => format!("step {step}"),
        None => format!("{work} of work"),
    }
}
