//! The admission of JobSets by Kueue: waits for quota, borrowing, preemptions and evictions, for `run` and reports.

use super::page::{Block, Page, Rank, wrapped};
use super::waterfall::WaterfallStyle;
use sim_analysis::format;
use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::admission::{
    AdmissionWait, ExistingHistory, HeldQuota, JobSetAdmission, QuotaReservation, WaitCause, WorkloadOfRun,
};
use sim_analysis::metrics::assumed;
use sim_base::{Duration, SimTime};
use sim_engine::local_queue_text;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of JobSets in the console output.
const MAX_JOB_SETS: usize = 20;
/// Maximum number of preempted JobSets and of lenders that are named.
const MAX_NAMES: usize = 3;

/// Writes a paragraph per JobSet.
pub fn admission(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let all = &run.folded.admission.job_sets;
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style.bold("Admission by Kueue"));
    for own in all.iter().take(MAX_JOB_SETS) {
        let _ = writeln!(out, "{}", paragraph(run, own, style));
    }
    for sentence in existing(run) {
        let _ = writeln!(out, "{}", hanging(&sentence, "  ", style));
    }
    let more = all.len().saturating_sub(MAX_JOB_SETS) as u64;
    if more > 0 {
        let _ = writeln!(out, "  ... and {}", count(more, "more JobSet"));
    }
    for found in run.preemption_loops() {
        for part in format::wrap(&found, style.width - 2) {
            let _ = writeln!(out, "  {}", style.bold(&part));
        }
    }
    out.push('\n');
}

/// Adds the admissions to a page.
pub(super) fn push_admissions(page: &mut Page<'_>, run: &RunView<'_>, style: &WaterfallStyle) {
    let all = &run.folded.admission.job_sets;
    if all.is_empty() {
        return;
    }
    let block = Block::new(Rank::Main, style.bold("Admission by Kueue")).noun("JobSet").growth(Rank::Note);
    page.push(block.entries(all.iter().map(|own| paragraph(run, own, style))));
    let loops = run.preemption_loops();
    let loops = loops.iter().map(|found| style.bold(&hanging(found, "  ", style)));
    page.push(Block::new(Rank::Main, "").entries(loops).noun("loop").attached());
    let existing = existing(run).into_iter().map(|sentence| hanging(&sentence, "  ", style));
    page.push(Block::new(Rank::Note, "").entries(existing).attached());
}

/// Returns the sentences about the admission of a JobSet, one or more lines each.
fn paragraph(run: &RunView<'_>, own: &JobSetAdmission, style: &WaterfallStyle) -> String {
    let name = run.names.jobset(own.jobset);
    let sentence = |(at, sentence): (usize, String)| match at {
        0 => hanging(&format!("JobSet {name}: {sentence}"), "  ", style),
        _ => hanging(&sentence, "    ", style),
    };
    sentences(run, own).into_iter().enumerate().map(sentence).collect::<Vec<_>>().join("\n")
}

/// Wraps a sentence; the lines after the first one have an indentation of four.
fn hanging(sentence: &str, indent: &str, style: &WaterfallStyle) -> String {
    let lines = wrapped(sentence, style.width - 6, SENTENCE_LINES, style);
    let indented =
        lines.iter().enumerate().map(|(at, line)| format!("{}{line}", if at == 0 { indent } else { "    " }));
    indented.collect::<Vec<_>>().join("\n")
}

/// Maximum number of lines of a sentence on a page.
const SENTENCE_LINES: usize = 2;

/// Returns what happened to the admission of a JobSet, as sentences without periods.
pub fn sentences(run: &RunView<'_>, own: &JobSetAdmission) -> Vec<String> {
    let mut list = vec![waits(own, run.outcome.end)];
    list.extend(longest_reason(own, run.outcome.end));
    list.extend(own.reservations.last().map(held));
    list.extend(own.reservations.iter().rev().find_map(borrowed));
    list.extend(evictions(run, own));
    list.extend(preempted(run, own));
    list
}

/// Returns the names of the queues of a JobSet, after `of`.
fn queue_of(own: &JobSetAdmission) -> String {
    match own.reservations.last() {
        // An admission without flavors, for pods without requests, has no quota that names its ClusterQueue.
        Some(reservation) if !reservation.cluster_queue.is_empty() => {
            let local = local_queue_text(&own.local_queue, "LocalQueue ");
            format!(" of ClusterQueue {} ({})", reservation.cluster_queue, local.trim_start())
        }
        _ => local_queue_text(&own.local_queue, " of LocalQueue "),
    }
}

fn waits(own: &JobSetAdmission, end: SimTime) -> String {
    let queue = queue_of(own);
    let is_waiting = own.waits.last().is_some_and(|wait| wait.until.is_none()) && own.finished.is_none();
    let state = if is_waiting { ", and still waits" } else { "" };
    let until = own.finished.unwrap_or(end);
    let waited = |cause: WaitCause| {
        let all = || own.waits.iter().filter(move |wait| wait.cause == cause);
        let time = all().map(|wait| wait.until.unwrap_or(until).since(wait.from).0).sum();
        let times = match all().count() {
            0 | 1 => String::new(),
            n => format!(" in {n} waits"),
        };
        (seconds(Duration(time)), times)
    };
    let (quota, times) = waited(WaitCause::Quota);
    let mut checks = own.waits.iter().filter(|wait| wait.cause == WaitCause::AdmissionChecks);
    let checks = checks.next_back().map(|wait| {
        let (time, times) = waited(WaitCause::AdmissionChecks);
        format!(" and {time} for AdmissionCheck {}{times}", wait.message)
    });
    let with = |cause: WaitCause, what: &str| {
        let (time, times) = waited(cause);
        let is_any = own.waits.iter().any(|wait| wait.cause == cause);
        if is_any { format!(" and {time} {what}{times}") } else { String::new() }
    };
    let back_off = with(WaitCause::BackOff, "for the end of a back-off");
    let deactivated = with(WaitCause::Deactivated, "deactivated");
    let checks = checks.unwrap_or_default();
    format!("waited {quota} for quota{queue}{times}{checks}{back_off}{deactivated}{state}")
}

/// Returns Kueue's last reason during the longest wait.
fn longest_reason(own: &JobSetAdmission, end: SimTime) -> Option<String> {
    let until = |wait: &AdmissionWait| wait.until.unwrap_or(own.finished.unwrap_or(end));
    let longest = own.waits.iter().max_by_key(|wait| until(wait).since(wait.from))?;
    let time = seconds(until(longest).since(longest.from));
    let AdmissionWait { reason, message, .. } = longest;
    let words = if message.is_empty() { reason.clone() } else { format!("{reason}: {message}") };
    let words = match longest.tried.filter(|_| !longest.behind.is_empty()) {
        Some(tried) => {
            let untried = seconds(tried.since(longest.from));
            format!("{}, {untried}; then {words}", longest.behind)
        }
        None => words,
    };
    let is_known = !reason.is_empty() && reason != "QuotaReserved";
    is_known.then(|| format!("longest wait, {time}: {words}"))
}

fn held(reservation: &QuotaReservation) -> String {
    let quota = |held: &HeldQuota| format!("{} {} in flavor {}", held.amount, held.resource, held.flavor);
    let parts: Vec<String> = reservation.quota.iter().map(quota).collect();
    format!("quota: {}", if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
}

fn borrowed(reservation: &QuotaReservation) -> Option<String> {
    let of_resource = |held: &HeldQuota| {
        let from = match held.lenders.as_slice() {
            [] => "the cohort".to_owned(),
            names => limited(names.iter().map(String::as_str)),
        };
        let HeldQuota { borrowed, resource, flavor, .. } = held;
        format!("{borrowed} {resource} in flavor {flavor} from {from}")
    };
    let parts: Vec<String> = reservation.quota.iter().filter(|h| !h.borrowed.is_empty()).map(of_resource).collect();
    (!parts.is_empty()).then(|| format!("borrowed {}", parts.join(", ")))
}

fn evictions(run: &RunView<'_>, own: &JobSetAdmission) -> Option<String> {
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    for eviction in &own.evictions {
        let by = eviction.preemptor.as_ref().map(|by| format!(" for {}", owner(run, by)));
        *causes.entry(format!("{}{}", eviction.reason, by.unwrap_or_default())).or_default() += 1;
    }
    let part = |(cause, n): (&String, &usize)| if *n == 1 { cause.clone() } else { format!("{cause} {n} times") };
    let parts: Vec<String> = causes.iter().map(part).collect();
    let times = count(own.evictions.len() as u64, "time");
    (!parts.is_empty()).then(|| format!("evicted {times}: {}", limited(parts.iter().map(String::as_str))))
}

fn preempted(run: &RunView<'_>, own: &JobSetAdmission) -> Option<String> {
    let owners: Vec<String> = own.preempted.iter().map(|(_, preempted)| owner(run, preempted)).collect();
    (!owners.is_empty()).then(|| format!("preempted {}", limited(owners.iter().map(String::as_str))))
}

fn owner(run: &RunView<'_>, owner: &WorkloadOfRun) -> String {
    match owner {
        WorkloadOfRun::JobSet(jobset) => format!("JobSet {}", run.names.jobset(*jobset)),
        WorkloadOfRun::Existing(workload) => format!("Workload {workload}"),
    }
}

/// Describes what happened to the Workloads that existed at the start.
fn existing(run: &RunView<'_>) -> Vec<String> {
    let all = run.folded.admission.existing.values();
    let total = run.scenario.kueue.as_ref().map_or(0, |kueue| kueue.workloads.len());
    let counted = |is: fn(&ExistingHistory) -> bool, what: &str| {
        let count = all.clone().filter(|own| is(own)).count();
        (count > 0).then(|| format!("{} {what}", thousands(count as u64)))
    };
    let parts: Vec<String> = [
        counted(|own| own.had_quota, "with quota at the start"),
        counted(|own| own.reservations > 0, "admitted during the run"),
        counted(|own| own.evictions > 0, "evicted"),
        counted(|own| own.is_finished, "ended"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut list = Vec::new();
    if total > 0 {
        let parts = if parts.is_empty() { "none changed".to_owned() } else { parts.join(", ") };
        list.push(format!("{} in the inputs: {parts}", count(total as u64, "Workload")));
    }
    let assumed = assumed::existing_workloads(run.scenario);
    list.extend(assumed.map(|assumed| format!("{assumed} ({})", assumed::EXISTING_HINT)));
    list
}

/// Joins the first names and counts the others.
fn limited<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let shown = all[..all.len().min(MAX_NAMES)].join(", ");
    match all.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
