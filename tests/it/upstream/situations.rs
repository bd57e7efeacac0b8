//! Coverage of upstream's tests: each situation has a counterpart here, or a reason why it cannot have one.
//!
//! `situations.txt` lists the cases of all JobSet test suites by upstream's name. A counterpart must be simulated or
//! tested itself. A test function must name the situation in its documentation, so that the two are not paired by
//! accident.

use super::{pods, unit};
use crate::support::{self, root};
use std::collections::BTreeSet;

const SITUATIONS: &str = include_str!("situations.txt");

/// Returns upstream's names with their counterparts.
fn situations() -> Vec<(&'static str, &'static str)> {
    let lines = SITUATIONS.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|l| l.split_once(" => ").unwrap_or_else(|| panic!("no counterpart: {l}"))).collect()
}

/// Returns all Rust code, to search for test functions.
fn code() -> String {
    let mut folders =
        vec![root().join("src"), root().join("tests/it"), root().join("tests/unit"), root().join("tests/inside")];
    let mut code = String::new();
    while let Some(folder) = folders.pop() {
        code.extend(
            support::files(&folder, "rs").iter().map(|p| std::fs::read_to_string(p).expect("the code can be read")),
        );
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        folders.extend(entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()));
    }
    code
}

fn check_exists(row: &str, what: &str, code: &str) -> Result<(), String> {
    let (kind, name) = what.split_once(' ').unwrap_or((what, ""));
    let result = match kind {
        "scenario" => root().join(format!("scenarios/upstream/{name}.log")).exists(),
        "policy" => {
            let (file, case) = name.split_once(' ').unwrap_or((name, ""));
            let text = std::fs::read_to_string(root().join("tests/it/policy").join(file));
            text.is_ok_and(|text| text.lines().any(|l| l == format!("- name: {case}")))
        }
        "test" => names_situation(code, name, row),
        "not:" => !name.is_empty(),
        _ => false,
    };
    if result { Ok(()) } else { Err(format!("there is no {what}")) }
}

/// Returns whether a test function exists and its documentation names the situation.
fn names_situation(code: &str, test: &str, row: &str) -> bool {
    let Some((before, _)) = code.split_once(&format!("#[test]\nfn {test}() {{")) else {
        return false;
    };
    let lines = before.lines().rev().map_while(|line| line.strip_prefix("/// "));
    let mut documentation: Vec<&str> = lines.collect();
    documentation.reverse();
    documentation.join(" ").contains(&format!("`{row}`"))
}

#[test]
fn every_situation_of_upstreams_suites_is_simulated_or_says_why_not() {
    let (all, code) = (situations(), code());
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), all.len(), "duplicate name");
    let data: BTreeSet<&str> = all.iter().filter(|(_, what)| *what == "data").map(|(name, _)| *name).collect();
    let mut simulated = unit::tested_rows();
    simulated.extend(pods::tested_rows());
    let simulated: BTreeSet<&str> = simulated.iter().map(String::as_str).collect();
    assert_eq!(data, simulated, "situations.txt and the data files must list the same cases");
    let others = all.iter().filter(|(_, what)| *what != "data");
    let wrong = others.filter_map(|(name, what)| Some(format!("{name}: {}", check_exists(name, what, &code).err()?)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_count_of_upstreams_situations_is_the_one_that_is_reported() {
    let all = situations();
    let of = |kind: &str| all.iter().filter(|(_, what)| what.starts_with(kind)).count();
    let (cannot, data, scenarios) = (of("not:"), of("data"), of("scenario "));
    let cases = of("policy ") + of("test ");
    let text = format!(
        "Of {} situations {} can be simulated, and all of them agree: {data} by upstream's own inputs, {scenarios} as \
         scenarios, {cases} by cases and tests. {cannot} cannot; the reason is in the same row.",
        all.len(),
        all.len() - cannot
    );
    let page = std::fs::read_to_string(root().join("docs/rules/README.md")).expect("a page");
    assert!(page.contains(&text), "docs/rules/README.md does not say: {text}");
}
