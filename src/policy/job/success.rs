//! The successPolicy of a Job (kubernetes.md 1.6; `pkg/controller/job/success_policy.go`).
//!
//! Not to be confused with the JobSet's successPolicy, in `success`.

use crate::JobSyncView;
use sim_api::spec::{CompletionMode, JobSuccessRule, KubeVersion};

pub const SUCCESS_POLICY: &str = "SuccessPolicy";

/// Feature gate JobSuccessPolicy, on by default since 1.31.
const SINCE: KubeVersion = KubeVersion::new(31);

/// Message of SuccessCriteriaMet for the first satisfied rule.
pub fn satisfied_message(view: &JobSyncView<'_>) -> Option<String> {
    let rules = view.spec.success_policy.as_deref()?;
    let indexed = view.spec.completion_mode == CompletionMode::Indexed;
    if view.version < SINCE || !indexed || view.succeeded_indexes.is_empty() {
        return None;
    }
    let completions = view.spec.completions().unwrap_or(0);
    let index = rules.iter().position(|r| satisfied(r, view.succeeded_indexes, completions))?;
    Some(format!("Matched rules at index {index}"))
}

/// succeededIndexes: all of them, or with succeededCount this number of them; otherwise succeededCount of any.
fn satisfied(rule: &JobSuccessRule, succeeded: &[u32], completions: u32) -> bool {
    let count = rule.succeeded_count;
    let Some(text) = &rule.succeeded_indexes else {
        return count.is_some_and(|c| succeeded.len() as u64 >= u64::from(c));
    };
    let wanted = intervals(text, completions);
    let total: u64 = wanted.iter().map(|(a, b)| u64::from(b - a) + 1).sum();
    if total == 0 {
        return false;
    }
    let within = |i: &&u32| wanted.iter().any(|(a, b)| (a..=b).contains(i));
    let have = succeeded.iter().filter(within).count() as u64;
    have == total || count.is_some_and(|c| have >= u64::from(c))
}

/// Parses `0-2,5` into ascending intervals below `completions`; invalid parts are skipped.
pub fn intervals(text: &str, completions: u32) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
            continue;
        };
        if first >= completions {
            break;
        }
        let last = last.min(completions - 1);
        match all.last_mut() {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ if last >= first => all.push((first, last)),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
#[path = "../../../tests/inside/policy/job/success.rs"]
mod tests;
