//! The main events of a run in chronological order.

use super::page::{Block, Rank, wrapped};
use super::training;
use super::waterfall::WaterfallStyle;
use sim_analysis::format;
use sim_analysis::metrics::RunView;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{Body, EndReason, NodeReady, SimulationRecord};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of lines shown on the console.
const MAX_SHOWN_LINES: usize = 30;

pub fn write_main_events(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let _ = writeln!(out, "{}", style.bold("What happened"));
    let (lines, end) = (event_lines(run), run.outcome.end);
    for (at, text) in lines.iter().take(MAX_SHOWN_LINES) {
        let _ = writeln!(out, "{}", entry((*at, end), text, usize::MAX, style));
    }
    let more = lines.len().saturating_sub(MAX_SHOWN_LINES) as u64 + run.folded.story.left_out;
    if more > 0 {
        let (column, count) = (time_column(end), format::count(more, "line"));
        let text = format!("  {:>column$}  {count} more; use `--out DIR` to write all of them", "...");
        let _ = writeln!(out, "{}", style.dim(&text));
        // A failure is the last event of its JobSet, so it would be among the lines that are left out.
        for (at, text) in later_failures(run, &lines[..lines.len().min(MAX_SHOWN_LINES)]) {
            let _ = writeln!(out, "{}", entry((at, end), &text, usize::MAX, style));
        }
    }
    let _ = writeln!(out, "{}", entry((end, end), end_reason_sentence(run), usize::MAX, style));
}

/// Returns the main events as a block of a page: the first ones and the last ones.
pub(super) fn block(run: &RunView<'_>, style: &WaterfallStyle) -> Block {
    let (mut lines, end) = (event_lines(run), run.outcome.end);
    let later = match run.folded.story.left_out {
        0 => Vec::new(),
        _ => later_failures(run, &lines),
    };
    let kept = lines.len();
    lines.extend(later);
    lines.push((run.outcome.end, end_reason_sentence(run).to_owned()));
    // Events that were not kept are omitted between the kept ones and the last ones.
    let last = if run.folded.story.left_out > 0 { lines.len() - kept } else { LAST_EVENTS };
    let lines = merge_simultaneous(lines);
    let entries = lines.iter().map(|(at, text)| entry((*at, end), text, EVENT_LINES, style));
    let block = Block::new(Rank::Main, style.bold("What happened")).entries(entries).noun("event");
    let block = block.minimum(FIRST_EVENTS, last.min(LAST_EVENTS)).growth(Rank::Note);
    block.uncounted(run.folded.story.left_out)
}

/// Merges events of the same time that differ only in the name of a node or JobSet, such as the crashes of a rack.
fn merge_simultaneous(lines: Vec<(SimTime, String)>) -> Vec<(SimTime, String)> {
    let mut merged: Vec<(SimTime, String, u64)> = Vec::new();
    for (at, text) in lines {
        let key = without_name(&text);
        let mut simultaneous = merged.iter_mut().rev().take_while(|(time, ..)| *time == at);
        match simultaneous.find(|(_, known, _)| key.is_some() && without_name(known) == key) {
            Some((.., others)) => *others += 1,
            None => merged.push((at, text, 0)),
        }
    }
    let text = |text: String, others: u64| match without_name(&text) {
        Some((noun, ..)) if others > 0 => format!("{text}, and {}", format::count(others, &format!("other {noun}"))),
        _ => text,
    };
    merged.into_iter().map(|(at, event, others)| (at, text(event, others))).collect()
}

/// Splits an event at the name of its node or JobSet: the noun, and the text before and after the name.
fn without_name(text: &str) -> Option<(&'static str, &str, &str)> {
    ["JobSet", "node"].into_iter().find_map(|noun| {
        let (before, after) = text.split_once(&format!("{noun} "))?;
        Some((noun, before, &after[after.find([' ', ':'])?..]))
    })
}

/// Numbers of first and last events that a page contains if it has few lines for events.
const FIRST_EVENTS: usize = 5;
const LAST_EVENTS: usize = 3;
/// Maximum number of lines of an event on a page.
const EVENT_LINES: usize = 2;

/// Formats an event with its time, on at most `most` lines if the output is brief.
fn entry((at, end): (SimTime, SimTime), text: &str, most: usize, style: &WaterfallStyle) -> String {
    let (mut time, column) = (event_time(at, end), time_column(end));
    let mut lines = Vec::new();
    for part in wrapped(text, style.width - column - 4, most, style) {
        lines.push(format!("  {:>column$}  {part}", std::mem::take(&mut time)));
    }
    lines.join("\n")
}

/// Formats the time of an event in a run that ends at `end`: in seconds, or with hours or days in longer runs. All
/// forms are accepted as times on the command line.
fn event_time(at: SimTime, end: SimTime) -> String {
    const HOUR: u64 = 3_600;
    const SECONDS_UNTIL: u64 = 10_000;
    let milliseconds = at.0 / 1_000_000;
    let (seconds, fraction) = (milliseconds / 1_000, milliseconds % 1_000);
    let (hours, minutes, rest) = (seconds / HOUR, seconds / 60 % 60, seconds % 60);
    match end.0 / 1_000_000_000 {
        length if length < SECONDS_UNTIL => at.to_string(),
        length if length < 100 * HOUR => format!("{hours}h{minutes:02}m{rest:02}.{fraction:03}s"),
        _ => format!("{}d{:02}h{minutes:02}m{rest:02}.{fraction:03}s", hours / 24, hours % 24),
    }
}

/// Returns the width of the column of times.
fn time_column(end: SimTime) -> usize {
    event_time(end, end).chars().count().max(12)
}

/// Returns the failures of JobSets after the given events.
fn later_failures(run: &RunView<'_>, lines: &[(SimTime, String)]) -> Vec<(SimTime, String)> {
    let listed = lines.iter().map(|(at, _)| *at).max();
    let failed = run.failed_jobsets().into_iter().filter(|f| listed.is_none_or(|listed| f.at > listed));
    failed.map(|f| (f.at, format!("JobSet {}: condition Failed is True ({})", f.name, f.reason))).collect()
}

/// Returns all story lines with their times.
pub fn event_lines(run: &RunView<'_>) -> Vec<(SimTime, String)> {
    let kept = run.folded.story.kept.iter();
    let mut saved: BTreeMap<JobSetId, Duration> = BTreeMap::new();
    let mut text = |record: &SimulationRecord| {
        let lost = match record.body {
            Body::TrainingInterrupted { jobset, kept, .. } => {
                saved.insert(jobset, kept);
                None
            }
            Body::TrainingStarted { jobset, from } => saved.remove(&jobset).filter(|kept| *kept > from),
            _ => None,
        };
        Some(line(run, record)? + &lost.map_or(String::new(), |kept| lost_checkpoints(run, record, kept)))
    };
    let mut lines: Vec<(SimTime, String)> = kept.filter_map(|r| Some((r.at, text(r)?))).collect();
    // A drain repeats a refused request every few seconds.
    lines.dedup_by(|later, earlier| later.1 == earlier.1);
    lines
}

/// Reports that checkpoints of an interruption were lost afterwards, so that a training starts from earlier progress.
fn lost_checkpoints(run: &RunView<'_>, record: &SimulationRecord, kept: Duration) -> String {
    let Body::TrainingStarted { jobset, from } = record.body else { return String::new() };
    let place = training::work_position(run.scenario.training_for(jobset), kept);
    let lost = format::seconds(kept - from);
    format!("; another {lost} of work until {place} lost, whose checkpoints did not survive")
}

/// Returns a sentence with the reason why the run ended.
pub fn end_reason_sentence(run: &RunView<'_>) -> &'static str {
    match run.outcome.end_reason {
        EndReason::AllJobSetsFinished => "run ended: every JobSet has finished",
        EndReason::Settled => "run ended: no pending events",
        EndReason::Stuck => "run ended: BLOCKED, no further progress is possible",
        EndReason::TimeLimit => "run ended: time limit of the scenario reached",
        EndReason::Stopped => "run ended: stopped externally",
    }
}

fn line(run: &RunView<'_>, record: &SimulationRecord) -> Option<String> {
    let name = |id: JobSetId| run.names.jobset(id);
    let place = |id: JobSetId, work| training::work_position(run.scenario.training_for(id), work);
    Some(match record.body {
        Body::JobSetCreated { jobset } => format!("JobSet {} created", name(jobset)),
        Body::JobSetRefused { jobset, answer } => {
            format!("JobSet {} rejected by the API server: {}", name(jobset), run.names.text(answer))
        }
        Body::EvictionRefused { answer, .. } => format!("eviction refused: {}", run.names.text(answer)),
        Body::AllReady { jobset, ready: true } => format!("JobSet {}: every pod is ready", name(jobset)),
        Body::AllReady { jobset, ready: false } => format!("JobSet {}: no longer all ready", name(jobset)),
        Body::TrainingStarted { jobset, from } => match from {
            Duration::ZERO => format!("JobSet {}: training started", name(jobset)),
            from => format!("JobSet {}: training resumed from {}", name(jobset), place(jobset, from)),
        },
        Body::TrainingSlices { jobset, slices, of } => {
            format!("JobSet {}: training on {slices} of {of} slices", name(jobset))
        }
        Body::TrainingInterrupted { jobset, reached, kept } => format!(
            "JobSet {}: training interrupted at {}; lost {} of work since {}",
            name(jobset),
            place(jobset, reached),
            format::seconds(reached - kept),
            place(jobset, kept)
        ),
        Body::TrainingStepTime { jobset, step, .. } => {
            format!("JobSet {}: {}", name(jobset), training::changed_step(run, jobset, (record.at, step))?)
        }
        Body::TrainingDone { jobset, work } => {
            format!("JobSet {}: training finished at {}", name(jobset), place(jobset, work))
        }
        Body::RestartCounted { jobset, restarts, counted, failed_job } if !failed_job.is_some() => format!(
            "JobSet {}: status.restarts set to {restarts} by another client ({counted} counted towards maxRestarts)",
            name(jobset)
        ),
        Body::RestartCounted { jobset, restarts, counted, failed_job } => format!(
            "JobSet {}: restart {restarts} triggered: Job {} failed ({counted} counted towards maxRestarts)",
            name(jobset),
            run.names.job(failed_job),
        ),
        Body::JobRestartCounted { jobset, job, restarts, counted } => format!(
            "JobSet {}: restart {restarts} of Job {} triggered ({counted} counted towards maxRestarts)",
            name(jobset),
            run.names.job(job)
        ),
        Body::PreviousAttempt { jobset, attempt } => {
            format!("JobSet {}: in-place restart triggered (previousInPlaceRestartAttempt {attempt})", name(jobset))
        }
        Body::CurrentAttempt { jobset, attempt } => {
            format!("JobSet {}: barrier opened (currentInPlaceRestartAttempt {attempt})", name(jobset))
        }
        Body::JobSetCondition { jobset, kind, status, reason, .. } => format!(
            "JobSet {}: condition {} is {} ({})",
            name(jobset),
            kind.as_str(),
            if status { "True" } else { "False" },
            run.names.text(reason)
        ),
        Body::WorkloadCondition { jobset, kind, status, reason, message } => format!(
            "Workload of JobSet {}: condition {} is {} ({}): {}",
            name(jobset),
            kind.as_str(),
            if status { "True" } else { "False" },
            run.names.text(reason),
            run.names.text(message)
        ),
        Body::ExistingPreempted { workload, preemptor } => {
            format!("Workload {} evicted to make room for JobSet {}", run.names.text(workload), name(preemptor))
        }
        Body::PodGroupCondition { group, scheduled, reason, message } => {
            let (group, reason) = (run.names.text(group), run.names.text(reason));
            let status = if scheduled { "True" } else { "False" };
            let message = run.names.text(message);
            let separator = if message.is_empty() { "" } else { ": " };
            format!("PodGroup {group}: condition PodGroupScheduled is {status} ({reason}){separator}{message}")
        }
        Body::SliceForming { slice, replaced } => {
            let cubes = if replaced == 1 { "cube" } else { "cubes" };
            format!("slice {}: {replaced} {cubes} lost, formed again with others", run.names.text(slice))
        }
        Body::SliceFormed { slice } => format!("slice {}: formed", run.names.text(slice)),
        Body::JobSetDeleted { jobset } => format!("JobSet {} deleted", name(jobset)),
        Body::NodeState { node, ready } => {
            let state = match ready {
                NodeReady::True => "ready",
                NodeReady::False => "not ready",
                NodeReady::Unknown => "unresponsive (Ready is Unknown)",
            };
            format!("node {} is {state}", run.names.node(node))
        }
        Body::NodeGone { node } => format!("node {} deleted", run.names.node(node)),
        Body::Answered { answer, .. } => {
            let text = run.names.text(answer);
            format!("API server response: {text}")
        }
        Body::Fault { index, .. } => match run.scenario.faults.get(index as usize) {
            Some(f) if f.random_cause.is_some() => format!("random fault: {}", format::scripted(f)),
            Some(f) => format!("scripted: {}", format::scripted(f)),
            None => format!("scripted: fault {index}"),
        },
        _ => return None,
    })
}

/// Returns the times of all scripted and random actions, with their indexes in the scenario.
pub fn faults(run: &RunView<'_>) -> Vec<(SimTime, u32)> {
    let fault = |r: &SimulationRecord| match r.body {
        Body::Fault { index, .. } => Some((r.at, index)),
        _ => None,
    };
    run.folded.story.kept.iter().filter_map(fault).collect()
}
