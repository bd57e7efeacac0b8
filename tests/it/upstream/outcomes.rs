//! Situations of upstream's tests that are simulated as scenarios, with the outcome that upstream's test expects.
//!
//! `outcomes.yaml` states the outcome of each situation as parts of the golden log. Several situations may use one
//! scenario, each with its own expectations. Must never take an expectation from a golden log alone.

use super::transcript_with;
use crate::support;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeRow {
    of: String,
    scenario: String,
    /// Overrides of the manifest.
    #[serde(default)]
    jobset: Vec<String>,
    /// Script that replaces the one of the scenario.
    faults: Option<serde_json::Value>,
    /// Other fields of the scenario.
    #[serde(default)]
    set: BTreeMap<String, String>,
    shows: Vec<Expected>,
    #[serde(default)]
    counts: BTreeMap<String, usize>,
}

/// A text that a line contains, or several in any order.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    One(String),
    All(Vec<String>),
}

fn rows() -> Vec<OutcomeRow> {
    let path = support::root().join("tests/it/upstream/outcomes.yaml");
    let text = std::fs::read_to_string(path).expect("outcomes.yaml can be read");
    serde_yaml::from_str(&text).expect("outcomes.yaml is valid")
}

/// Returns upstream's names of the situations that are simulated here.
pub fn tested_rows() -> Vec<String> {
    rows().into_iter().map(|row| row.of).collect()
}

/// Runs the scenario of the row and returns the lines of its log without times.
fn log_lines(row: &OutcomeRow) -> Result<Vec<String>, String> {
    let mut sets: Vec<(String, String)> = row.set.clone().into_iter().collect();
    if !row.jobset.is_empty() {
        sets.push(("jobSets[0].set".to_owned(), serde_json::json!(row.jobset).to_string()));
    }
    sets.extend(row.faults.as_ref().map(|faults| ("faults".to_owned(), faults.to_string())));
    let path = support::root().join(format!("scenarios/upstream/{}.yaml", row.scenario));
    let log = transcript_with(&path, &sets)?;
    let lines = log.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect())
}

/// Compares the log with the row. Returns the first expectation that is not met.
fn check(row: &OutcomeRow, lines: &[String]) -> Result<(), String> {
    let mut next = 0;
    for expected in &row.shows {
        let texts = match expected {
            Expected::One(text) => std::slice::from_ref(text),
            Expected::All(texts) => texts,
        };
        let mut last = next;
        for text in texts {
            let at = lines[next..].iter().position(|line| line.contains(text.as_str()));
            let at = at.ok_or_else(|| format!("`{text}` is missing after line {next}"))?;
            last = last.max(next + at + 1);
        }
        next = last;
    }
    for (text, expected) in &row.counts {
        let count = lines.iter().filter(|line| line.contains(text.as_str())).count();
        if count != *expected {
            return Err(format!("{count} lines with `{text}` instead of {expected}"));
        }
    }
    Ok(())
}

#[test]
fn simulated_situations_end_as_upstreams_tests_expect() {
    let (mut wrong, mut names) = (Vec::new(), BTreeSet::new());
    for row in rows() {
        assert!(names.insert(row.of.clone()), "{} is listed twice", row.of);
        assert!(!row.shows.is_empty(), "{} has no expectation", row.of);
        match log_lines(&row) {
            Err(problem) => wrong.push(format!("{}: {problem}", row.of)),
            Ok(lines) => {
                let problem = check(&row, &lines).err();
                wrong.extend(problem.map(|p| format!("{}: {p}\n  {}", row.of, lines.join("\n  "))));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
