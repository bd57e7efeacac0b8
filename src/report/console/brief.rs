//! Default console output of `run`: the outcome, the main events, one restart by phase, and caveats on one page.

use super::page::{Block, Page, Rank, sentence_list, wrapped};
use super::waterfall::{self, WaterfallStyle};
use super::{admission, facts, main_events, placement, training};
use sim_analysis::format::{self, count, seconds, thousands};
use sim_analysis::metrics::restarts::restart::{self, RestartOutcome};
use sim_analysis::metrics::summary::total_cost;
use sim_analysis::metrics::{RestartMetrics, RunView, assumed};
use sim_base::{JobSetId, SimTime};
use sim_engine::record::EndReason;

/// Maximum number of lines.
const LINES: usize = 45;
/// Maximum number of lines of a sentence.
const SENTENCE_LINES: usize = 3;
/// Number of JobSets that are described; more are counted.
const MAX_JOBSETS: usize = 3;

/// Returns the report of one run. `files` is the path of the run directory, if one was written.
pub fn run(run: &RunView<'_>, files: Option<&str>, style: &WaterfallStyle) -> String {
    let mut page = Page::new(LINES, style);
    page.push(head(run, style));
    page.push(main_events::block(run, style));
    admission::push_admissions(&mut page, run, style);
    training::push_training(&mut page, run, style);
    push_restarts(&mut page, run, style);
    placement::push_groups(&mut page, &run.outcome.pending, style);
    push_caveats(&mut page, run, style);
    page.push(closing(run, files));
    page.finish()
}

/// Returns the title, the inputs and the outcome.
fn head(run: &RunView<'_>, style: &WaterfallStyle) -> Block {
    let scenario = run.scenario;
    let title = format!("jobset-sim {}: {}", env!("CARGO_PKG_VERSION"), scenario.name);
    let mut lines = vec![style.bold(&title)];
    let mut fact = |label: &str, text: &str, most: usize| {
        let mut label = label.to_owned();
        for part in wrapped(text, style.width - 13, most, style) {
            lines.push(format!("  {:<10} {part}", std::mem::take(&mut label)));
        }
    };
    fact("cluster", &facts::describe_cluster(run), SENTENCE_LINES);
    for (at, jobset) in scenario.jobsets.iter().take(MAX_JOBSETS).enumerate() {
        fact(if at == 0 { "JobSet" } else { "" }, &facts::describe_jobset(&jobset.jobset), 1);
    }
    let others = scenario.jobsets.get(MAX_JOBSETS..).unwrap_or_default();
    if !others.is_empty() {
        let pods = others.iter().map(|j| j.jobset.spec.pods()).sum();
        fact("", &format!("and {} with {}", count(others.len() as u64, "more JobSet"), count(pods, "pod")), 1);
    }
    if let Some(training) = scenario.training.first() {
        fact("training", &training::describe_training_job(run, training), 1);
    }
    let assumed = assumed::containers(scenario).lines();
    if !assumed.is_empty() {
        fact("containers", &assumed.join("; ").replace("; (", " ("), SENTENCE_LINES);
    }
    if let Some(kueue) = assumed::kueue(scenario) {
        fact("Kueue", &kueue, SENTENCE_LINES);
    }
    fact("seed", &facts::describe_seed(run), 1);
    let mut label = "outcome";
    for sentence in outcomes(run) {
        for part in wrapped(&sentence, style.width - 13, 2, style) {
            lines.push(format!("  {:<10} {}", std::mem::take(&mut label), style.bold(&part)));
        }
    }
    let cost = total_cost(&run.outcome.ledger);
    if cost > 0.0 {
        let cost = if cost < 100.0 { format!("{cost:.2}") } else { thousands(cost.round() as u64) };
        lines.push(format!("  {:<10} {cost} {} for accelerators", "cost", run.outcome.ledger.currency));
    }
    Block::text(Rank::Answer, lines.join("\n"))
}

/// Returns the final state of the JobSets: of each one if there are few, otherwise their number by state.
fn outcomes(run: &RunView<'_>) -> Vec<String> {
    let failed = run.failed_jobsets();
    let jobsets = run.outcome.jobsets.iter().enumerate();
    let all: Vec<(&'static str, String)> = jobsets
        .map(|(i, outcome)| {
            let id = JobSetId(i as u32);
            let name = run.names.jobset(id);
            if let Some(failed) = failed.iter().find(|f| f.name == name) {
                return ("failed", format!("{} ({})", failed.headline(), failed.message));
            }
            let done = outcome.conditions.iter().find(|c| c.kind == "Completed" && c.status);
            let (state, suffix) = match done {
                Some(condition) => ("completed", after(condition.last_transition)),
                None if outcome.deleted => ("deleted", String::new()),
                None if outcome.never_placed_reason.is_some() => ("not placed", String::new()),
                None if run.who_resumes(id).is_some() => ("suspended", String::new()),
                None if run.outcome.blocked_reason(name).is_some() => ("blocked", String::new()),
                None if run.outcome.end_reason == EndReason::Settled => ("running", at_end(run)),
                None => ("not finished", at_end(run)),
            };
            (state, format!("JobSet {name} {state}{suffix}; {}", restarts_of(run, id)))
        })
        .collect();
    if all.len() <= MAX_JOBSETS {
        return all.into_iter().map(|(_, sentence)| sentence).collect();
    }
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for (state, _) in &all {
        match counts.iter_mut().find(|(known, _)| known == state) {
            Some((_, n)) => *n += 1,
            None => counts.push((state, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(state, n)| format!("{} {state}", count(*n, "JobSet"))).collect();
    let mut sentences = vec![format!("{}; {}", counts.join(", "), count(run.restarts().len() as u64, "restart"))];
    let first = all.iter().find(|(state, _)| *state == "failed");
    sentences.extend(first.map(|(_, sentence)| format!("first failure: {sentence}")));
    sentences
}

fn at_end(run: &RunView<'_>) -> String {
    format!(" at the end ({})", seconds(run.outcome.end.since(SimTime::ZERO)))
}

fn after(at: SimTime) -> String {
    format!(" after {}", seconds(at.since(SimTime::ZERO)))
}

/// Describes the number and the durations of the restarts of a JobSet.
fn restarts_of(run: &RunView<'_>, jobset: JobSetId) -> String {
    let all: Vec<&RestartMetrics> = run.restarts_of(jobset).collect();
    let longest = all.iter().map(|r| r.total()).max();
    match (all.len(), longest) {
        (0, _) | (_, None) => "no restart".to_owned(),
        (1, Some(longest)) => format!("1 restart ({})", seconds(longest)),
        (n, Some(longest)) => format!("{}, longest {}", count(n as u64, "restart"), seconds(longest)),
    }
}

/// Adds the longest restart by phase, and a line for each other one.
fn push_restarts(page: &mut Page<'_>, run: &RunView<'_>, style: &WaterfallStyle) {
    let all = run.restarts();
    let Some(longest) = restart::longest(all) else { return };
    let r = &all[longest];
    let mut title = vec![style.bold(&heading(run, r, longest + 1))];
    let cause = format!("cause: {}, at {}", format::cause(run, &r.cause), r.caused_at);
    let waits = waterfall::describe_longest_waits_plainly(run, r);
    for text in [cause, waits].iter().filter(|text| !text.is_empty()) {
        title.extend(wrapped(text, style.width - 2, 2, style).iter().map(|line| format!("  {line}")));
    }
    let mut phases = waterfall::phases(run, r, style).into_iter();
    title.extend(phases.next());
    page.push(Block::new(Rank::Main, title.join("\n")).entries(phases).minimum(5, 0).noun("phase"));
    if all.len() > 1 {
        let title = match facts::latency_quantiles(all) {
            Some(quantiles) => quantiles,
            None => count(all.len() as u64, "restart"),
        };
        let others = all.iter().enumerate().filter(|(at, _)| *at != longest);
        let lines = others.map(|(at, r)| restart_line(run, r, at + 1, style));
        let block = Block::new(Rank::Support, style.bold(&title)).noun("restart");
        page.push(block.entries(lines).minimum(2, 1).growth(Rank::Note));
    }
}

/// Returns the heading of a restart, without its attempt.
fn heading(run: &RunView<'_>, r: &RestartMetrics, number: usize) -> String {
    let end = match r.ending {
        RestartOutcome::Ready => "until every pod was ready",
        RestartOutcome::JobSetEnded => "until the JobSet ended",
        RestartOutcome::Unfinished => "to the end of the run (unfinished)",
    };
    let from = format::origin(run, r);
    let (jobset, strategy) = (run.names.jobset(r.jobset), run.strategy(r));
    format!("Restart {number} of JobSet {jobset} ({strategy}): {} from the {from} {end}", seconds(r.total()))
}

/// Describes a restart on one line.
fn restart_line(run: &RunView<'_>, r: &RestartMetrics, number: usize, style: &WaterfallStyle) -> String {
    let end = match r.ending {
        RestartOutcome::Ready => "",
        RestartOutcome::JobSetEnded => " (JobSet ended)",
        RestartOutcome::Unfinished => " (unfinished)",
    };
    let jobset =
        if run.scenario.jobsets.len() > 1 { format!("JobSet {}: ", run.names.jobset(r.jobset)) } else { String::new() };
    let lead = format!("  restart {number:<4} {:>9}{end}  ", seconds(r.total()));
    let cause = format::cause(run, &r.cause);
    // The length counts from a later instant than the fault.
    let clamp = if r.caused_at < r.start { format!("; every pod was ready until {}", r.start) } else { String::new() };
    let text = format!("{jobset}{}, at {}: {cause}{clamp}", run.strategy(r), r.caused_at);
    let room = style.width.saturating_sub(lead.chars().count());
    lead + &wrapped(&text, room, 1, style).concat()
}

/// Adds blocked and suspended objects, warnings, and input fields that are not modelled.
fn push_caveats(page: &mut Page<'_>, run: &RunView<'_>, style: &WaterfallStyle) {
    let (blocked, unfinished) = run.outcome.blocked_and_unfinished();
    let suspended = run.suspended();
    let contradictions = run.scenario.contradictions();
    let (contradictions, warnings): (Vec<String>, Vec<String>) =
        run.outcome.warnings.iter().cloned().partition(|warning| contradictions.contains(warning));
    for (rank, title, noun, sentences) in [
        (Rank::Main, "Permanently blocked", "object", &blocked),
        (Rank::Support, "Not ready at the end", "object", &unfinished),
        (Rank::Main, "Suspended at the end", "JobSet", &suspended),
        (Rank::Main, "Contradictions of the inputs", "contradiction", &contradictions),
        (Rank::Support, "Warnings", "warning", &warnings),
    ] {
        page.push(sentence_list(rank, title, sentences, style).noun(noun));
    }
    if !run.not_modelled.is_empty() {
        let text = format!("Not modelled: {}", run.not_modelled.join(", "));
        page.push(Block::text(Rank::Note, wrapped(&text, style.width, 2, style).join("\n")));
    }
}

/// Names the output that the page does not contain.
fn closing(run: &RunView<'_>, files: Option<&str>) -> Block {
    let (files, out) = match files {
        Some(files) => (format!("Files: {files} (start with summary.json and restarts.csv)\n"), ""),
        None => (String::new(), ", --out DIR"),
    };
    let explained = if !run.restarts().is_empty() {
        Some("the restart")
    } else {
        Some("what is blocked").filter(|_| !run.outcome.blocked.is_empty())
    };
    let why = explained.map_or(String::new(), |what| format!("; `why` with the same arguments explains {what}"));
    Block::text(Rank::Answer, format!("{files}More: --verbose{out}{why}."))
}
