//! The evaluation of a failure policy: the failed Jobs, each rule with its result per Job, and the restart budget.

use super::block::{DecisionBlock, names};
use sim_analysis::format::count;
use sim_policy::decision::{FailureTrace, JobSetPass, PolicyVerdict, RestartBudget, RuleTrace};

/// Number of failed Jobs shown in the list and for each rule.
const MAX_SHOWN_JOBS: usize = 5;

pub fn add_failure_policy(block: &mut DecisionBlock, pass: &JobSetPass, f: &FailureTrace) {
    for (i, failed) in f.failed_jobs.iter().take(MAX_SHOWN_JOBS).enumerate() {
        let record = failed.record.map_or(String::new(), |seq| format!(" (#{seq})"));
        let text =
            format!("Job {} Failed at {}{record}: {}", failed.name, whole_seconds(failed.failed_at), failed.reason);
        block.add_line(if i == 0 { "seen" } else { "" }, text, if i == 0 { "REC-10" } else { "" });
        block.add_line("", format!("\"{}\"", failed.message), "");
    }
    let more = f.failed_jobs.len().saturating_sub(MAX_SHOWN_JOBS) as u64;
    if more > 0 {
        block.add_line("", format!("... and {}", count(more, "more failed Job")), "");
    }
    if f.failed_jobs.len() > 1 {
        let text = format!("{} is the earliest", f.failed_jobs[0].name);
        block.add_line("", text, "FP-2");
    }
    if f.success_not_asked > 0 {
        let complete = count(u64::from(f.success_not_asked), "Job");
        let text = format!("not evaluated, {complete} Complete: failed Jobs take precedence");
        block.add_line("success", text, "REC-10");
    }
    for rule in &f.rules {
        add_rule(block, rule, f);
    }
    add_result(block, f);
    counters(block, pass, f);
}

/// Formats a time in whole seconds, the precision of API timestamps.
fn whole_seconds(at: sim_base::SimTime) -> String {
    format!("{}s", at.0 / 1_000_000_000)
}

const LABELS: [&str; 10] =
    ["rule 0", "rule 1", "rule 2", "rule 3", "rule 4", "rule 5", "rule 6", "rule 7", "rule 8", "rule 9"];

fn add_rule(block: &mut DecisionBlock, rule: &RuleTrace, f: &FailureTrace) {
    let label = LABELS.get(rule.index).copied().unwrap_or("rule");
    let head = format!("{} -> {}", rule.name, rule.action);
    if rule.verdicts.is_empty() {
        let by = f.chosen_rule.unwrap_or(0);
        block.add_line(label, format!("{head}: skipped, rule {by} matched"), "FP-3");
        return;
    }
    block.add_line(label, head, "FP-4");
    for invalid in &rule.invalid_patterns {
        let text = format!("  {} is not a valid RE2 pattern: it never matches", quoted(invalid));
        block.add_line("", text, "API-20");
    }
    for v in rule.verdicts.iter().take(MAX_SHOWN_JOBS) {
        let word = if v.matches { "yes:\u{a0}" } else { "no:\u{a0}\u{a0}" };
        let whom = if rule.verdicts.len() > 1 { format!("{}: ", v.job) } else { String::new() };
        block.add_line("", format!("  {word}{whom}{}", verdict_reasons(rule, v, f)), "");
    }
    let more = rule.verdicts.len().saturating_sub(MAX_SHOWN_JOBS);
    if more > 0 {
        let hits = rule.verdicts.iter().skip(MAX_SHOWN_JOBS).filter(|v| v.matches).count();
        let text = format!("  ... {}, {hits} of them match", count(more as u64, "more failed Job"));
        block.add_line("", text, "");
    }
}

/// Quotes a pattern with non-breaking spaces so that it stays on one line.
fn quoted(pattern: &str) -> String {
    format!("{pattern:?}").replace(' ', "\u{a0}")
}

/// Returns the conditions of the rule that match or do not match.
fn verdict_reasons(rule: &RuleTrace, v: &PolicyVerdict, f: &FailureTrace) -> String {
    let failed = f.failed_jobs.iter().find(|j| j.name == v.job);
    let (reason, rj) = failed.map_or(("", ""), |j| (j.reason.as_str(), j.replicated_job.as_str()));
    let mut parts = Vec::new();
    match v.reason {
        Some(true) => parts.push(format!("reason {reason} is listed")),
        Some(false) => parts.push(format!("reason {reason} is not in [{}]", rule.reasons.join(", "))),
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
        Some(false) => parts.push(format!("{rj} is not in the targets [{}]", rule.targets.join(", "))),
        None => {}
    }
    //  Conditions after the first failing one are not evaluated.
    if parts.is_empty() {
        return "the rule has no conditions and matches every failed Job".to_owned();
    }
    parts.join("; ")
}

fn add_result(block: &mut DecisionBlock, f: &FailureTrace) {
    let Some(action) = f.action else {
        if !f.has_policy {
            block.add_line("result", "the JobSet fails: it has no failurePolicy", "FP-1");
        }
        return;
    };
    match f.chosen_rule {
        Some(at) => {
            let name = f.rules.get(at).map_or("", |r| r.name.as_str());
            let text = format!("{action} for Job {}, by rule {at} {name}", f.job);
            block.add_line("result", text, "FP-3");
        }
        None => {
            let why = match f.rules.as_slice() {
                [] => "there are no rules",
                _ => "no rule matches",
            };
            let text = format!("{action} for Job {}, the default: {why}", f.job);
            block.add_line("result", text, "FP-5");
        }
    }
    if let Some(budget) = &f.budget {
        add_budget(block, action, budget);
    }
}

fn add_budget(block: &mut DecisionBlock, action: &str, b: &RestartBudget) {
    if !b.counted {
        let rule = match action {
            "FailJobSet" => "FP-8",
            "RestartJobSetAndIgnoreMaxRestarts" => "FP-10",
            _ => "FP-12",
        };
        let text = format!("not checked: {action} does not count towards maxRestarts {}", b.max_restarts);
        return block.add_line("budget", text, rule);
    }
    let total = b.restarts_count_towards_max + b.job_restarts_count_towards_max;
    let used = match b.job_restarts_count_towards_max {
        0 => format!("{total}"),
        jobs => format!("{total} ({} by JobSet restarts, {jobs} by Job restarts)", b.restarts_count_towards_max),
    };
    let left = if b.reached { "exhausted, so the JobSet fails" } else { "one more is allowed" };
    let text = format!("{used} of maxRestarts {} counted so far: {left}", b.max_restarts);
    block.add_line("budget", text, "FP-7");
}

/// Adds both counters, including unchanged ones.
fn counters(block: &mut DecisionBlock, pass: &JobSetPass, f: &FailureTrace) {
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
    block.add_line("counters", text, rule);
}
