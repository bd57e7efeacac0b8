//! Merges the warnings of replications.

use super::replication::ReplicationResult;

pub(super) fn warnings(all: &[ReplicationResult]) -> Vec<String> {
    let own: Vec<&[String]> = all.iter().map(|r| r.warnings.as_slice()).collect();
    warnings_of(&own)
}

/// Merges the warnings of all replications. Warnings that differ only in numbers become one.
pub fn warnings_of(all: &[&[String]]) -> Vec<String> {
    // Per warning: its text without numbers, its first occurrence, the number of replications, and whether all are
    // equal.
    let mut kinds: Vec<(String, &str, usize, bool)> = Vec::new();
    for own in all {
        let mut seen: Vec<usize> = Vec::new();
        for warning in *own {
            let bare = without_numbers(warning);
            let at = kinds.iter().position(|(known, ..)| *known == bare);
            let at = at.unwrap_or(kinds.len());
            if at == kinds.len() {
                kinds.push((bare, warning, 0, true));
            }
            kinds[at].3 &= kinds[at].1 == warning;
            if !seen.contains(&at) {
                seen.push(at);
                kinds[at].2 += 1;
            }
        }
    }
    let told = |(_, first, n, equal): (String, &str, usize, bool)| {
        let others = if equal { "" } else { ", with different numbers" };
        format!("in {n} of {} replications{others}: {first}", all.len())
    };
    kinds.into_iter().map(told).collect()
}

fn without_numbers(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if bare.ends_with('0') => {}
            '0'..='9' => bare.push('0'),
            c => bare.push(c),
        }
    }
    bare
}
