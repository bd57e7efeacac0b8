//! A sync of the Job controller: failed pods, podFailurePolicy, backoffLimit and the resulting actions.

use super::block::DecisionBlock;
use sim_analysis::format::{count, seconds};
use sim_policy::decision::{FailedPod, JobSync};

pub fn add_job_sync(block: &mut DecisionBlock, s: &JobSync) {
    for pod in &s.failed_pods {
        failed_pod(block, pod);
    }
    if s.more_failed_pods > 0 {
        let more = count(u64::from(s.more_failed_pods), "more failed pod");
        block.add_line("", format!("... and {more}"), "");
    }
    counts(block, s);
    if let Some((reason, message)) = &s.fails {
        block.add_line("result", format!("the Job fails: {reason}"), "FP-18");
        block.add_line("", format!("\"{message}\""), "");
    }
    if let Some((reason, _)) = &s.completes {
        let text = match s.completions {
            Some(n) => format!("{} of {n} completions", s.succeeded),
            None => count(u64::from(s.succeeded), "pod") + " succeeded",
        };
        block.add_line("result", format!("{text}, the Job completes: {reason}"), "");
    }
    if s.delete_pods > 0 {
        let why = if s.suspends { ": the Job is suspended" } else { "" };
        block.add_line("deletes", format!("{}{why}", count(u64::from(s.delete_pods), "active pod")), "");
    }
    if s.create_pods > 0 {
        block.add_line("creates", count(u64::from(s.create_pods), "pod"), "");
    }
    if let Some(wait) = s.wait {
        block.add_line("waits", format!("{} before pods are created again (back-off)", seconds(wait)), "FP-19");
    }
}

fn failed_pod(block: &mut DecisionBlock, pod: &FailedPod) {
    let record = pod.record.map_or(String::new(), |seq| format!(" (#{seq})"));
    let state = if pod.by_deletion { "deleted" } else { "Failed" };
    let code = match pod.exit_code {
        Some(code) => format!(": container {} exited with {code}", pod.container),
        None => String::new(),
    };
    let target = if pod.disruption_target { ", DisruptionTarget=True" } else { "" };
    let rule = if pod.by_deletion { "FP-20" } else { "" };
    block.add_line("seen", format!("pod {} {state}{record}{code}{target}", pod.place), rule);
    for rule in &pod.rules {
        let word = if rule.matches { "yes:\u{a0}" } else { "no:\u{a0}\u{a0}" };
        block.add_line("", format!("  {word}podFailurePolicy rule {}: {} {}", rule.index, rule.action, rule.asks), "");
    }
    let by = match pod.rules.last().filter(|r| r.matches) {
        Some(rule) => format!("by rule {}", rule.index),
        None if pod.rules.is_empty() => "there is no podFailurePolicy".to_owned(),
        None => "no rule matches".to_owned(),
    };
    let text = match pod.rules.last().filter(|r| r.matches).map(|r| r.action) {
        Some("Ignore") => format!("ignored, {by}"),
        Some("FailJob") => format!("fails the Job, {by}"),
        Some("FailIndex") => format!("fails its index, {by}"),
        _ => format!("counts, {by}"),
    };
    block.add_line("", format!("  {text}"), "");
}

fn counts(block: &mut DecisionBlock, s: &JobSync) {
    let judged = !s.failed_pods.is_empty();
    let restarts = s.container_restarts.filter(|n| *n > 0);
    if let Some(n) = restarts {
        let limit = s.backoff_limit.max(1);
        let word = if i64::from(n) >= i64::from(limit) { "reached" } else { "not reached" };
        let text = format!(
            "{} of active pods, backoffLimit {}: {word}",
            count(u64::from(n), "container restart"),
            s.backoff_limit
        );
        block.add_line("count", text, "FP-19");
    }
    if judged && s.failed_indexes > 0 {
        let indexes = match s.failed_indexes {
            1 => "1 index has".to_owned(),
            n => format!("{n} indexes have"),
        };
        block.add_line("", format!("{indexes} failed permanently"), "");
    }
    if judged {
        let over = i64::from(s.failed.after) > i64::from(s.backoff_limit);
        let word = if over { "exceeded" } else { "not exceeded" };
        let text =
            format!("failed {} -> {}, backoffLimit {}: {word}", s.failed.before, s.failed.after, s.backoff_limit);
        block.add_line("count", text, "FP-18");
    }
}
