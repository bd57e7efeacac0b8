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
    let index = rules
        .iter()
        .position(|r| satisfied(r, view.succeeded_indexes, completions))?;
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
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_a_success_policy() {
        let rule = |indexes: &str, count: Option<u32>| JobSuccessRule {
            succeeded_indexes: (!indexes.is_empty()).then(|| indexes.to_owned()),
            succeeded_count: count,
        };
        for (indexes, count, succeeded, expected, sentence) in [
            ("0", None, &[0][..], true, "the leader is enough"),
            ("0", None, &[1, 2][..], false, "others are not"),
            ("0-2", None, &[0, 1][..], false, "all of a range"),
            ("0-2", None, &[0, 1, 2, 5][..], true, "a whole range and more"),
            ("0-2", Some(2), &[1, 2][..], true, "two of a range"),
            ("0-2", Some(2), &[0, 5, 6][..], false, "two, but not of the range"),
            ("", Some(2), &[5, 6][..], true, "any two"),
            ("", Some(3), &[5, 6][..], false, "two are not three"),
            (
                "0,9-20",
                None,
                &[0][..],
                true,
                "indexes beyond the completions are cut off",
            ),
            (
                "9",
                None,
                &[0][..],
                false,
                "a rule of which nothing is left is never met",
            ),
        ] {
            let got = satisfied(&rule(indexes, count), succeeded, 8);
            assert_eq!(got, expected, "{sentence}");
        }
    }

    #[test]
    fn intervals_are_read_as_the_api_writes_them() {
        assert_eq!(intervals("0-2,3,5,7-99", 10), [(0, 3), (5, 5), (7, 9)]);
        assert_eq!(intervals("", 10), []);
        assert_eq!(intervals("x,4", 10), [(4, 4)]);
    }
}
