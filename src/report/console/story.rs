//! The main events of a run in chronological order.

use super::training;
use super::waterfall::Style;
use sim_analysis::format;
use sim_analysis::metrics::RunView;
use sim_base::*;
use sim_engine::record::{Body, EndReason, NodeReady, Record};
use std::fmt::Write;

/// Maximum number of lines shown on the console.
const SHOWN: usize = 30;

pub fn story(out: &mut String, run: &RunView<'_>, style: &Style) {
    let _ = writeln!(out, "{}", style.bold("What happened"));
    let lines = lines(run);
    for (at, text) in lines.iter().take(SHOWN) {
        for (i, part) in format::wrap(text, style.width - 16).iter().enumerate() {
            let at = if i == 0 {
                at.to_string()
            } else {
                String::new()
            };
            let _ = writeln!(out, "  {at:>12}  {part}");
        }
    }
    let more = lines.len().saturating_sub(SHOWN) as u64 + run.folded.story.left_out;
    if more > 0 {
        let text = format!(
            "  {:>12}  {} more; `--out DIR` writes all of them",
            "...",
            format::count(more, "line")
        );
        let _ = writeln!(out, "{}", style.dim(&text));
    }
    let end = ending(run);
    let _ = writeln!(out, "  {:>12}  {end}", run.outcome.end.to_string());
}

/// Returns all story lines with their times.
pub fn lines(run: &RunView<'_>) -> Vec<(Time, String)> {
    let kept = run.folded.story.kept.iter();
    kept.filter_map(|r| Some((r.at, line(run, r)?))).collect()
}

/// Returns a sentence with the reason why the run ended.
pub fn ending(run: &RunView<'_>) -> &'static str {
    match run.outcome.end_reason {
        EndReason::AllJobSetsFinished => "the run ends: every JobSet has finished",
        EndReason::Settled => "the run ends: nothing is under way and nothing more is scripted",
        EndReason::Stuck => "the run ends: STUCK, nothing will ever change",
        EndReason::TimeLimit => "the run ends: time limit of the scenario",
        EndReason::Stopped => "the run ends: it was stopped from outside",
    }
}

fn line(run: &RunView<'_>, record: &Record) -> Option<String> {
    let name = |id: JobSetId| run.names.jobset(id);
    let place = |id: JobSetId, work| training::place(run.scenario.training_of(id), work);
    Some(match record.body {
        Body::JobSetCreated { jobset } => format!("JobSet {} is created", name(jobset)),
        Body::JobSetRefused { jobset, answer } => format!(
            "JobSet {} is refused: {}",
            name(jobset),
            run.names.text(answer)
        ),
        Body::AllReady {
            jobset,
            ready: true,
        } => format!("JobSet {}: every pod is ready", name(jobset)),
        Body::AllReady {
            jobset,
            ready: false,
        } => format!("JobSet {}: no longer all ready", name(jobset)),
        Body::TrainingStarted { jobset, from } => match from {
            Duration::ZERO => format!("JobSet {}: training begins", name(jobset)),
            from => format!(
                "JobSet {}: training goes on from {}",
                name(jobset),
                place(jobset, from)
            ),
        },
        Body::TrainingSlices { jobset, slices, of } => {
            format!(
                "JobSet {}: it trains with {slices} of {of} slices",
                name(jobset)
            )
        }
        Body::TrainingInterrupted {
            jobset,
            reached,
            kept,
        } => format!(
            "JobSet {}: training is interrupted at {}; {} since {} is lost",
            name(jobset),
            place(jobset, reached),
            reached - kept,
            place(jobset, kept)
        ),
        Body::TrainingDone { jobset, work } => format!(
            "JobSet {}: training is done, at {}",
            name(jobset),
            place(jobset, work)
        ),
        Body::RestartCounted {
            jobset,
            restarts,
            counted,
            failed_job,
        } if !failed_job.is_some() => format!(
            "JobSet {}: status.restarts is {restarts}, written by another hand ({counted} counted towards maxRestarts)",
            name(jobset)
        ),
        Body::RestartCounted {
            jobset,
            restarts,
            counted,
            failed_job,
        } => format!(
            "JobSet {}: restart {restarts} is ordered after Job {} failed ({counted} counted towards maxRestarts)",
            name(jobset),
            run.names.job(failed_job),
        ),
        Body::JobRestartCounted {
            jobset,
            job,
            restarts,
            counted,
        } => format!(
            "JobSet {}: restart {restarts} of Job {} is ordered ({counted} counted towards maxRestarts)",
            name(jobset),
            run.names.job(job)
        ),
        Body::PreviousAttempt { jobset, attempt } => format!(
            "JobSet {}: in-place restart is ordered (previousInPlaceRestartAttempt {attempt})",
            name(jobset)
        ),
        Body::CurrentAttempt { jobset, attempt } => format!(
            "JobSet {}: barrier opens (currentInPlaceRestartAttempt {attempt})",
            name(jobset)
        ),
        Body::JobSetCondition {
            jobset,
            kind,
            status,
            reason,
            ..
        } => format!(
            "JobSet {}: condition {} is {} ({})",
            name(jobset),
            kind.as_str(),
            if status { "True" } else { "False" },
            run.names.text(reason)
        ),
        Body::JobSetDeleted { jobset } => format!("JobSet {} is deleted", name(jobset)),
        Body::NodeState { node, ready } => {
            let state = match ready {
                NodeReady::True => "ready",
                NodeReady::False => "not ready",
                NodeReady::Unknown => "silent (Ready is Unknown)",
            };
            format!("node {} is {state}", run.names.node(node))
        }
        Body::NodeGone { node } => format!("node {} is gone", run.names.node(node)),
        Body::Answered { answer, .. } => {
            let text = run.names.text(answer);
            format!("the API server answers: {text}")
        }
        Body::Fault { index, .. } => match run.scenario.faults.get(index as usize) {
            Some(f) if f.drawn_as.is_some() => format!("random fault: {}", format::scripted(f)),
            Some(f) => format!("scripted: {}", format::scripted(f)),
            None => format!("scripted: fault {index}"),
        },
        _ => return None,
    })
}

/// Returns the times of all scripted and random faults.
pub fn faults(run: &RunView<'_>) -> Vec<Time> {
    let kept = run.folded.story.kept.iter();
    let fault = |r: &&Record| matches!(r.body, Body::Fault { .. });
    kept.filter(fault).map(|r| r.at).collect()
}
