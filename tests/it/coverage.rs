//! Every rule of the behavioral reference has a case: a policy case, another data-driven case, or a scenario with a
//! golden log.
//!
//! `coverage/rules.txt` lists the ids, so that the reference itself is not needed. A line `rules:`, `rule:` or `shows:`
//! of a data file below `tests/it`, or `# rules:` in a scenario, cites. Must never count a mention in prose.

use crate::support::{self, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const LIST: &str = include_str!("coverage/rules.txt");

/// Ids that only a recording shows; a case may cite them, none has to.
const OF_RECORDINGS: &str = "D";

/// Ids with the reason why there is no case, if there is one.
fn listed() -> BTreeMap<String, Option<String>> {
    let lines = LIST.lines().filter(|l| !l.starts_with('#'));
    let entry = |line: &str| match line.split_once(": ") {
        Some((id, reason)) => (id.to_owned(), Some(reason.to_owned())),
        None => (line.to_owned(), None),
    };
    lines.map(entry).collect()
}

/// `COND-1e` and `REC-12c` are parts of `COND-1` and `REC-12`.
fn whole(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

/// The ids in a text: capitals, a dash, digits, perhaps a letter.
fn ids(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(family, number)| {
            let number = whole(number);
            let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            let capitals = family.chars().all(|c| c.is_ascii_uppercase());
            digits && capitals && (1..=4).contains(&family.len())
        })
    };
    words.filter(is_id).collect()
}

/// What one data file cites, with the number of the line.
fn cited(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut in_list) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start_matches(['#', ' ']);
        let item = bare.strip_prefix("- ");
        let key = item.unwrap_or(bare);
        let rest = ["rules:", "rule:", "shows:"]
            .iter()
            .find_map(|k| key.strip_prefix(k));
        let cites = match (rest, item) {
            (Some(rest), _) => {
                in_list = rest.trim().is_empty();
                rest
            }
            (None, Some(item)) if in_list => item,
            _ => {
                in_list = false;
                continue;
            }
        };
        found.extend(ids(cites).into_iter().map(|id| (at + 1, id)));
    }
    found
}

/// Data files of a folder and the folders in it.
fn data_files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            let data = path.extension().is_some_and(|e| e == "yaml" || e == "txt");
            if path.is_dir() {
                folders.push(path);
            } else if data {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Every citation: id, file and line.
fn citations() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in ["tests/it", "scenarios"] {
        for path in data_files(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).expect("a data file can be read");
            let name = path.strip_prefix(root()).unwrap_or(&path).display();
            let of_file = cited(&text).into_iter();
            all.extend(of_file.map(|(line, id)| (id.to_owned(), format!("{name}:{line}"))));
        }
    }
    all
}

#[test]
fn every_rule_has_a_case_or_a_reason_why_not() {
    let listed = listed();
    let cited: BTreeSet<String> = citations()
        .iter()
        .map(|(id, _)| whole(id).to_owned())
        .collect();
    let needed = |(id, reason): (&String, &Option<String>)| {
        (reason.is_none() && !cited.contains(id)).then(|| id.clone())
    };
    let missing: Vec<String> = listed.iter().filter_map(needed).collect();
    assert!(
        missing.is_empty(),
        "{} of {} rules have no case: {}",
        missing.len(),
        listed.len(),
        missing.join(" ")
    );
    let excused = listed.iter().filter(|(_, reason)| reason.is_some());
    let idle: Vec<&String> = excused
        .map(|(id, _)| id)
        .filter(|id| cited.contains(*id))
        .collect();
    assert!(
        idle.is_empty(),
        "these have a case after all; drop the reason: {idle:?}"
    );
}

#[test]
fn every_cited_rule_exists() {
    let listed = listed();
    let unknown: Vec<String> = citations()
        .into_iter()
        .filter(|(id, _)| !listed.contains_key(whole(id)))
        .filter(|(id, _)| id.split('-').next() != Some(OF_RECORDINGS))
        .map(|(id, at)| format!("{at}: {id}"))
        .collect();
    assert!(unknown.is_empty(), "no such rules:\n{}", unknown.join("\n"));
}

#[test]
fn the_list_of_rules_is_that_of_the_reference() {
    let path = root().join("../shared/reference/jobset.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        support::say("NOT TESTED: the reference is not beside the project, so its ids were not compared");
        return;
    };
    let listed = listed();
    let families: BTreeSet<&str> = listed
        .keys()
        .filter_map(|id| Some(id.split_once('-')?.0))
        .collect();
    let known = |id: &&str| {
        id.split_once('-')
            .is_some_and(|(f, _)| families.contains(f))
    };
    let mut there: BTreeSet<String> = ids(&text)
        .into_iter()
        .filter(known)
        .map(|id| whole(id).to_owned())
        .collect();
    // The rows of the transition table of 3.7 carry their ids without a dash.
    let row = |line: &str| {
        Some(format!(
            "J-{}",
            line.strip_prefix("| J")?.split_once(" |")?.0
        ))
    };
    there.extend(text.lines().filter_map(row).filter(|id| ids(id) == [id]));
    let here: BTreeSet<String> = listed.into_keys().collect();
    let differ: Vec<&String> = here.symmetric_difference(&there).collect();
    assert!(differ.is_empty(), "only in one of the two: {differ:?}");
}

#[test]
fn citations_are_read_in_every_form_and_prose_is_not_counted() {
    let text = "- name: REC-1 in prose\n  rules: [FP-3, COND-1e]\n# rules: C-2 C-3\n  rule: VAL-5\n  rules:\n  \
                - EXC-10\n  - C-4\n  plan: FP-9\n  - FP-8\n";
    let found: Vec<&str> = cited(text).into_iter().map(|(_, id)| id).collect();
    let expected = ["FP-3", "COND-1e", "C-2", "C-3", "VAL-5", "EXC-10", "C-4"];
    assert_eq!(found, expected);
}
