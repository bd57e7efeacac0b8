//! Training jobs in the console output of `run`: progress, goodput and time by phase.

use super::page::{Block, Page, Rank};
use super::style::Detail;
use super::waterfall::WaterfallStyle;
use sim_analysis::format::{count, percent, precise_seconds, seconds};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::training::TrainingSummary;
use sim_api::spec::{CheckpointSchedule, TrainingJob};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{StepOutcome, TrainingOutcome, TrainingPhase};
use std::cmp::Reverse;
use std::fmt::Write;

/// Writes a section for each JobSet with a training job.
pub fn training(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    for training in &run.outcome.training {
        write_training_outcome(out, run, training, style);
        out.push('\n');
    }
}

/// Adds the training jobs to a page: the first one with the time by phase, the others with a line each.
pub(super) fn push_training(page: &mut Page<'_>, run: &RunView<'_>, style: &WaterfallStyle) {
    let Some((first, others)) = run.outcome.training.split_first() else { return };
    let mut text = String::new();
    write_training_outcome(&mut text, run, first, style);
    let mut lines = text.lines().map(str::to_owned);
    let title = lines.next().unwrap_or_default();
    page.push(Block::new(Rank::Main, title).entries(lines).minimum(PHASES_MIN, 0));
    let line = |training: &TrainingOutcome| {
        let summary = TrainingSummary::from_outcome(training, run.scenario.training_for(training.jobset));
        let goodput = summary.goodput.map_or("none".to_owned(), |v| percent(v, 2));
        let interruptions = count(u64::from(training.interruptions), "interruption");
        format!("  JobSet {}: goodput {goodput}, {interruptions}", run.names.jobset(training.jobset))
    };
    let block = Block::new(Rank::Support, style.bold("Other training jobs")).noun("training job");
    if !others.is_empty() {
        page.push(block.entries(others.iter().map(line)));
    }
}

/// Number of lines about the first training job that a page contains if it has few lines for them.
const PHASES_MIN: usize = 5;

/// Describes the training job for the header of the report: work, step duration and checkpoints.
pub fn describe_training_job(run: &RunView<'_>, training: &TrainingJob) -> String {
    let name = run.names.jobset(JobSetId(training.jobset as u32));
    let work = match training.work {
        Some(work) => format!("{work} of work"),
        None => "unlimited work".to_owned(),
    };
    let step = training.step.map(|step| format!(" in steps of {step}"));
    let saved = match &training.checkpoint_schedule {
        CheckpointSchedule::Always => "progress is saved continuously".to_owned(),
        CheckpointSchedule::Never => "no checkpoints".to_owned(),
        CheckpointSchedule::Checkpoints(kinds) => {
            let every: Vec<String> = kinds.iter().map(|kind| kind.every.to_string()).collect();
            format!("a checkpoint every {}", every.join(", every "))
        }
    };
    format!("{name}: {work}{}, {saved}", step.unwrap_or_default())
}

fn write_training_outcome(out: &mut String, run: &RunView<'_>, training: &TrainingOutcome, style: &WaterfallStyle) {
    let summary = TrainingSummary::from_outcome(training, run.scenario.training_for(training.jobset));
    let share = |v: Option<f64>| v.map_or("none".to_owned(), |v| percent(v, 2));
    let of = match training.work {
        Some(_) if training.done => String::new(),
        Some(work) => format!(" of {work}"),
        None => " so far".to_owned(),
    };
    let title = format!(
        "Training of JobSet {}: {}{of} done{}, {}",
        run.names.jobset(training.jobset),
        training.reached,
        step_suffix(training.reached_steps),
        count(u64::from(training.interruptions), "interruption"),
    );
    let _ = writeln!(out, "{}", style.bold(&title));
    if training.saved_progress != training.reached {
        let kept = training.saved_progress;
        let _ = writeln!(out, "  saved: {kept}{}", step_suffix(training.saved_steps));
    }
    let _ = writeln!(
        out,
        "  goodput {} (productive time / time from all pods first ready to the end of the work)\n  ETTR    {} (productive \
         time / time since submission)",
        share(summary.goodput),
        share(summary.ettr),
    );
    step_times(out, run, training);
    let wall: u64 = training.spent_ns.iter().sum();
    let mut phases: Vec<TrainingPhase> = TrainingPhase::ALL.into_iter().filter(|p| training.ns(*p) > 0).collect();
    if style.detail == Detail::Brief {
        phases.sort_by_key(|phase| Reverse(training.ns(*phase)));
    }
    for phase in phases {
        let ns = training.ns(phase);
        let _ = writeln!(
            out,
            "  {:<15} {:>12} {:>8.3} %  {}",
            phase.as_str(),
            seconds(Duration(ns)),
            ns as f64 / wall as f64 * 100.0,
            phase_label(phase),
        );
    }
}

/// Describes a step time that differs from the previous one: both, the exposed communication and its limit.
pub fn changed_step(run: &RunView<'_>, jobset: JobSetId, (at, step): (SimTime, Duration)) -> Option<String> {
    let steps = &run.outcome.training_for(jobset)?.steps;
    let nth = steps.iter().position(|s| (s.at, s.step) == (at, step))?;
    let before = steps[..nth].last()?;
    let now = &steps[nth];
    let limit = now.limit.iter().map(|limit| format!(", limited by the {limit}"));
    Some(format!(
        "steps take {} instead of {}, with {} of exposed communication{}",
        seconds(now.step),
        seconds(before.step),
        precise_seconds(now.exposed),
        limit.collect::<String>()
    ))
}

/// Maximum number of step times that are printed.
const STEP_TIMES_MAX: usize = 8;

/// Writes the step times of a job that communicates, with the placement of its pods.
fn step_times(out: &mut String, run: &RunView<'_>, training: &TrainingOutcome) {
    let levels = &run.scenario.topology.dcn_levels;
    let mut steps: Vec<&StepOutcome> = training.steps.iter().collect();
    // A restart on the same nodes does not change the step time.
    steps.dedup_by(|later, earlier| StepOutcome { at: earlier.at, ..later.clone() } == **earlier);
    for (nth, step) in steps.iter().enumerate().take(STEP_TIMES_MAX) {
        let from = if nth == 0 { String::new() } else { format!("from {}: ", seconds(step.at.since(SimTime::ZERO))) };
        let share = percent(step.exposed.seconds() / step.step.seconds(), 1);
        let limit = step.limit.iter().map(|limit| format!(", limited by the {limit}"));
        let groups =
            levels.iter().zip(&step.groups).map(|(level, n)| format!(", {}", count(u64::from(*n), &level.name)));
        let _ = writeln!(
            out,
            "  {from}step {} = {} of computation + {} of exposed communication ({share}){}; on {}{}",
            seconds(step.step),
            seconds(step.step - step.exposed),
            precise_seconds(step.exposed),
            limit.collect::<String>(),
            count(u64::from(step.islands), "island"),
            groups.collect::<String>(),
        );
    }
    if let Some(more) = steps.len().checked_sub(STEP_TIMES_MAX).filter(|more| *more > 0) {
        let _ = writeln!(out, "  {} more step times are in summary.json", more);
    }
}

/// Returns ` (step 3600)`, or an empty string if the step duration is not set.
fn step_suffix(steps: Option<u64>) -> String {
    steps.map_or(String::new(), |step| format!(" (step {step})"))
}

fn phase_label(phase: TrainingPhase) -> &'static str {
    match phase {
        TrainingPhase::Startup => "until all pods are first ready, without suspensions",
        TrainingPhase::Initialization => "initialization of devices and collectives, at each start",
        TrainingPhase::Compile => "compilation at each start",
        TrainingPhase::Restore => "restoring checkpoints",
        TrainingPhase::Productive => "steps that were not lost",
        TrainingPhase::Checkpoint => "blocked on checkpoints",
        TrainingPhase::Lost => "steps lost by interruptions",
        TrainingPhase::Recovery => "from an interruption until all pods are ready again",
        TrainingPhase::Suspended => "no steps while the JobSet is suspended",
        TrainingPhase::Slow => "extra step time due to slow machines",
        TrainingPhase::Hang => "no steps before a hang was detected",
        TrainingPhase::Reinitialization => "restart with a different set of slices",
        TrainingPhase::Degraded => "extra step time due to missing slices",
        TrainingPhase::Communication => "communication that computation does not hide",
        TrainingPhase::WarmUp => "extra step time during warm-up after a start",
        TrainingPhase::Ending => "from the end of the work to the end of the JobSet",
    }
}

/// Returns the step at this amount of work, or the amount itself if the step duration is not set.
pub fn work_position(training: Option<&TrainingJob>, work: Duration) -> String {
    match training.and_then(|t| t.whole_steps(work)) {
        Some(step) => format!("step {step}"),
        None => format!("{work} of work"),
    }
}
