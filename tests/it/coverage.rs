//! Every rule has a test case: a policy case, another data-driven case, or a scenario with a golden log.
//!
//! The rules are those of `docs/rules/`; `coverage/rules.txt` lists the rules without a case, with the reason.
//! Citations are lines `rules:`, `rule:` or `shows:` of a data file below `tests/it`, and `# rules:` in a scenario.
//! Other text must never count as a citation.

use crate::rules::{documented_rules, ids, parent_rule};
use crate::support::{self, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const WITHOUT_CASE: &str = include_str!("coverage/rules.txt");

/// Prefix of rules that only recordings show: cases may cite them, but need not.
const RECORDING_RULES_PREFIX: &str = "D-";

/// Returns the rules without a case, with the reason.
fn rules_without_case() -> BTreeMap<&'static str, &'static str> {
    let lines = WITHOUT_CASE.lines().filter(|l| !l.starts_with('#'));
    let entry = |line: &'static str| line.split_once(": ").unwrap_or((line, ""));
    lines.map(entry).collect()
}

/// Returns the rule ids that a data file cites, with their line numbers.
fn cited_rules(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut in_list) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start_matches(['#', ' ']);
        let item = bare.strip_prefix("- ");
        let key = item.unwrap_or(bare);
        let rest = ["rules:", "rule:", "shows:"].iter().find_map(|k| key.strip_prefix(k));
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

/// Returns the data files of a folder and its subfolders.
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

/// Returns every citation: id, file and line.
fn citations() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in ["tests/it", "scenarios"] {
        for path in data_files(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).expect("a data file can be read");
            let name = path.strip_prefix(root()).unwrap_or(&path).display();
            let of_file = cited_rules(&text).into_iter();
            all.extend(of_file.map(|(line, id)| (id.to_owned(), format!("{name}:{line}"))));
        }
    }
    all
}

#[test]
fn every_rule_has_a_case_or_a_reason_why_not() {
    let (listed, without) = (documented_rules(), rules_without_case());
    let cited: BTreeSet<String> = citations().iter().map(|(id, _)| parent_rule(id).to_owned()).collect();
    let needed = listed.keys().filter(|id| !id.starts_with(RECORDING_RULES_PREFIX));
    let missing: Vec<&String> =
        needed.filter(|id| !cited.contains(*id) && !without.contains_key(id.as_str())).collect();
    assert!(missing.is_empty(), "no case cites these rules: {missing:?}");
    for (id, reason) in without {
        assert!(listed.contains_key(id), "docs/rules does not list {id}");
        assert!(!reason.is_empty(), "{id}: the reason for the missing case is empty");
        assert!(!cited.contains(id), "{id} has a case: remove it from coverage/rules.txt");
    }
}

#[test]
fn every_rule_of_the_reference_is_in_docs_rules() {
    let path = root().join("../shared/reference/jobset.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        support::print_to_stderr(
            "NOT TESTED: ../shared/reference/jobset.md is missing, so its rule ids were not compared",
        );
        return;
    };
    let listed = documented_rules();
    let families: BTreeSet<&str> = listed.keys().filter_map(|id| Some(id.split_once('-')?.0)).collect();
    let known = |id: &&str| id.split_once('-').is_some_and(|(f, _)| families.contains(f));
    let mut there: BTreeSet<String> =
        ids(&text).into_iter().filter(known).map(|id| parent_rule(id).to_owned()).collect();
    // The rows of the transition table in section 3.7 contain their ids without a dash.
    let row = |line: &str| Some(format!("J-{}", line.strip_prefix("| J")?.split_once(" |")?.0));
    there.extend(text.lines().filter_map(row).filter(|id| ids(id) == [id]));
    let missing: Vec<&String> = there.iter().filter(|id| !listed.contains_key(*id)).collect();
    assert!(missing.is_empty(), "docs/rules does not list {missing:?}");
}

#[test]
fn citations_are_read_in_every_form_and_prose_is_not_counted() {
    let text = "- name: REC-1 in prose\n  rules: [FP-3, COND-1e]\n# rules: C-2 C-3\n  rule: VAL-5\n  rules:\n  \
                - EXC-10\n  - C-4\n  plan: FP-9\n  - FP-8\n";
    let actual: Vec<&str> = cited_rules(text).into_iter().map(|(_, id)| id).collect();
    let expected = ["FP-3", "COND-1e", "C-2", "C-3", "VAL-5", "EXC-10", "C-4"];
    assert_eq!(actual, expected);
}
