//! The evaluation of a failure policy: the failed Jobs, each rule with its result per Job, and the restart budget.

use super::block::{Block, names};
use sim_analysis::format::count;
use sim_policy::decision::*;

/// Number of failed Jobs shown in the list and for each rule.
const SHOWN: usize = 5;

pub fn trace(block: &mut Block, pass: &JobSetPass, f: &FailureTrace) {
    for (i, failed) in f.failed_jobs.iter().take(SHOWN).enumerate() {
        let record = failed
            .record
            .map_or(String::new(), |seq| format!(" (#{seq})"));
        let text = format!(
            "Job {} Failed at {}{record}: {}",
            failed.name,
            whole(failed.failed_at),
            failed.reason
        );
        block.add(
            if i == 0 { "seen" } else { "" },
            text,
            if i == 0 { "REC-10" } else { "" },
        );
        block.add("", format!("\"{}\"", failed.message), "");
    }
    let more = f.failed_jobs.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        block.add(
            "",
            format!("... and {}", count(more, "more failed Job")),
            "",
        );
    }
    if f.failed_jobs.len() > 1 {
        let text = format!("{} is the earliest", f.failed_jobs[0].name);
        block.add("", text, "FP-2");
    }
    if f.success_not_asked > 0 {
        let complete = count(u64::from(f.success_not_asked), "Job");
        let text = format!("not asked about {complete} Complete: a failed Job comes first");
        block.add("success", text, "REC-10");
    }
    for rule in &f.rules {
        tried(block, rule, f);
    }
    chosen(block, f);
    counters(block, pass, f);
}

/// Formats a time in whole seconds, the precision of API timestamps.
fn whole(at: sim_base::Time) -> String {
    format!("{}s", at.0 / 1_000_000_000)
}

const LABELS: [&str; 10] = [
    "rule 0", "rule 1", "rule 2", "rule 3", "rule 4", "rule 5", "rule 6", "rule 7", "rule 8",
    "rule 9",
];

fn tried(block: &mut Block, rule: &RuleTrace, f: &FailureTrace) {
    let label = LABELS.get(rule.index).copied().unwrap_or("rule");
    let head = format!("{} -> {}", rule.name, rule.action);
    if rule.verdicts.is_empty() {
        let by = f.chosen_rule.unwrap_or(0);
        block.add(
            label,
            format!("{head}: not tried, rule {by} has decided"),
            "FP-3",
        );
        return;
    }
    block.add(label, head, "FP-4");
    for invalid in &rule.invalid_patterns {
        let text = format!(
            "  {} is no valid RE2 pattern: it never matches",
            quoted(invalid)
        );
        block.add("", text, "API-20");
    }
    for v in rule.verdicts.iter().take(SHOWN) {
        let word = if v.matches {
            "yes:\u{a0}"
        } else {
            "no:\u{a0}\u{a0}"
        };
        let whom = if rule.verdicts.len() > 1 {
            format!("{}: ", v.job)
        } else {
            String::new()
        };
        block.add("", format!("  {word}{whom}{}", why(rule, v, f)), "");
    }
    let more = rule.verdicts.len().saturating_sub(SHOWN);
    if more > 0 {
        let hits = rule
            .verdicts
            .iter()
            .skip(SHOWN)
            .filter(|v| v.matches)
            .count();
        let text = format!(
            "  ... {}, {hits} of them match",
            count(more as u64, "more failed Job")
        );
        block.add("", text, "");
    }
}

/// Quotes a pattern with non-breaking spaces so that it stays on one line.
fn quoted(pattern: &str) -> String {
    format!("{pattern:?}").replace(' ', "\u{a0}")
}

/// Returns the conditions of the rule that match or do not match.
fn why(rule: &RuleTrace, v: &Verdict, f: &FailureTrace) -> String {
    let failed = f.failed_jobs.iter().find(|j| j.name == v.job);
    let (reason, rj) = failed.map_or(("", ""), |j| (j.reason.as_str(), j.replicated_job.as_str()));
    let mut parts = Vec::new();
    match v.reason {
        Some(true) => parts.push(format!("reason {reason} is listed")),
        Some(false) => parts.push(format!(
            "reason {reason} is not in [{}]",
            rule.reasons.join(", ")
        )),
        None => {}
    }
    match v.pattern.as_deref() {
        Some("") => {
            let patterns: Vec<String> = rule.patterns.iter().map(|p| quoted(p)).collect();
            parts.push(format!("the message has no match for {}", names(&patterns)));
        }
        Some(pattern) => parts.push(format!("the message matches {}", quoted(pattern))),
        None => {}
    }
    match v.target {
        Some(true) => parts.push(format!("{rj} is a target")),
        Some(false) => parts.push(format!(
            "{rj} is not in the targets [{}]",
            rule.targets.join(", ")
        )),
        None => {}
    }
    //  Conditions after the first failing one are not evaluated.
    if parts.is_empty() {
        return "the rule has no conditions: it matches every failed Job".to_owned();
    }
    parts.join("; ")
}

fn chosen(block: &mut Block, f: &FailureTrace) {
    let Some(action) = f.action else {
        if !f.has_policy {
            block.add("so", "the JobSet fails: it has no failurePolicy", "FP-1");
        }
        return;
    };
    match f.chosen_rule {
        Some(at) => {
            let name = f.rules.get(at).map_or("", |r| r.name.as_str());
            let text = format!("{action} for Job {}, by rule {at} {name}", f.job);
            block.add("so", text, "FP-3");
        }
        None => {
            let why = match f.rules.as_slice() {
                [] => "there are no rules",
                _ => "no rule matches",
            };
            let text = format!("{action} for Job {}, the default: {why}", f.job);
            block.add("so", text, "FP-5");
        }
    }
    if let Some(budget) = &f.budget {
        spend(block, action, budget);
    }
}

fn spend(block: &mut Block, action: &str, b: &Budget) {
    if !b.counted {
        let rule = match action {
            "FailJobSet" => "FP-8",
            "RestartJobSetAndIgnoreMaxRestarts" => "FP-10",
            _ => "FP-12",
        };
        let text = format!(
            "not asked: {action} does not count towards maxRestarts {}",
            b.max_restarts
        );
        return block.add("budget", text, rule);
    }
    let total = b.restarts_count_towards_max + b.job_restarts_count_towards_max;
    let used = match b.job_restarts_count_towards_max {
        0 => format!("{total}"),
        jobs => format!(
            "{total} ({} of the JobSet, {jobs} of single Jobs)",
            b.restarts_count_towards_max
        ),
    };
    let left = if b.reached {
        "used up, so the JobSet fails instead"
    } else {
        "one more is allowed"
    };
    let text = format!(
        "{used} of maxRestarts {} counted so far: {left}",
        b.max_restarts
    );
    block.add("budget", text, "FP-7");
}

/// Adds both counters, including unchanged ones.
fn counters(block: &mut Block, pass: &JobSetPass, f: &FailureTrace) {
    let rule = match f.action {
        Some("RestartJobSet") => "FP-9",
        Some("RestartJobSetAndIgnoreMaxRestarts") => "FP-10",
        Some("RestartJob") => "FP-11",
        Some("RestartJobAndIgnoreMaxRestarts") => "FP-12",
        _ => "",
    };
    let (all, counted) = (pass.restarts, pass.restarts_count_towards_max);
    let text = format!(
        "restarts {} -> {}, restartsCountTowardsMax {} -> {}",
        all.before, all.after, counted.before, counted.after
    );
    block.add("counters", text, rule);
}
