//! Every citation is valid: rule ids, sections of `kubernetes.md`, and pages that a file names.

use crate::support::root;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Words that have the form of a rule id, but are not rule ids.
const NOT_RULE_PREFIXES: [&str; 10] = ["BSD", "BSL", "DNS", "FNV", "KEP", "LGPL", "MIT", "MPL", "SHA", "UTF"];

/// Returns every rule of `docs/rules/`: its id and its text.
pub fn documented_rules() -> BTreeMap<String, String> {
    let mut result = BTreeMap::new();
    for path in crate::support::files(&root().join("docs/rules"), "md") {
        let text = std::fs::read_to_string(&path).expect("a page can be read");
        for line in text.lines() {
            let rule = line.strip_prefix("- **").and_then(|l| l.split_once("** "));
            let Some((id, words)) = rule else { continue };
            let before = result.insert(id.to_owned(), words.to_owned());
            assert_eq!(before, None, "duplicate rule {id}");
        }
    }
    result
}

/// Returns the rule that an id belongs to: `COND-1e` and `REC-12c` are parts of `COND-1` and `REC-12`.
pub fn parent_rule(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

/// Returns the rule ids in a text: capitals, a dash, digits, optionally a letter.
pub fn ids(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(family, number)| {
            let number = parent_rule(number);
            let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            let capitals = family.chars().all(|c| c.is_ascii_uppercase());
            digits && capitals && (1..=4).contains(&family.len())
        })
    };
    words.filter(is_id).collect()
}

/// Returns every manually written text with its path, without recordings and generated files.
fn texts() -> Vec<(String, String)> {
    let (mut found, mut folders): (Vec<PathBuf>, _) = (Vec::new(), vec![root().to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder can be read");
        for path in entries.map(|e| e.expect("an entry can be read").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let written = ["rs", "md", "yaml", "txt", "toml"];
            let extension = path.extension().and_then(|e| e.to_str());
            if path.is_dir() {
                let generated =
                    path.ends_with("tests/recordings") || ["target", "node_modules", "dist"].contains(&&*name);
                if !generated && (!name.starts_with('.') || name == ".ci") {
                    folders.push(path);
                }
            } else if extension.is_some_and(|e| written.contains(&e)) || name == "run" {
                found.push(path);
            }
        }
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path.strip_prefix(root()).unwrap_or(&path);
        (name.display().to_string(), text)
    };
    found.into_iter().map(read).collect()
}

#[test]
fn every_rule_id_that_is_cited_has_a_line_in_docs_rules() {
    let listed = documented_rules();
    let mut wrong = Vec::new();
    let mut cited = BTreeSet::new();
    for (file, text) in texts() {
        for (at, line) in text.lines().enumerate() {
            for id in ids(line) {
                let family = id.split_once('-').map_or(id, |(family, _)| family);
                if NOT_RULE_PREFIXES.contains(&family) {
                    continue;
                }
                let part = &id[parent_rule(id).len()..];
                let words = listed.get(parent_rule(id));
                if !words.is_some_and(|w| part.is_empty() || w.contains(&format!("({part})"))) {
                    wrong.push(format!("{file}:{}: {id}", at + 1));
                }
                cited.insert(id.to_owned());
            }
        }
    }
    assert!(wrong.is_empty(), "no such rules:\n{}", wrong.join("\n"));
    assert!(cited.len() > 200, "{cited:?}");
}

#[test]
fn every_section_of_kubernetes_md_that_is_cited_is_there() {
    let page = root().join("docs/rules/kubernetes.md");
    let page = std::fs::read_to_string(page).expect("the page can be read");
    let heads = page.lines().filter(|l| l.starts_with("##"));
    let sections: BTreeSet<&str> = heads.filter_map(|l| l.split(' ').nth(1)).collect();
    let citation = Regex::new(r"kubernetes\.md`? (\d+(?:\.\d+)?(?:, \d+\.\d+)*)").expect("a pattern");
    let (mut wrong, mut cited) = (Vec::new(), BTreeSet::new());
    for (file, text) in texts() {
        for result in citation.captures_iter(&text) {
            for section in result[1].split(", ") {
                cited.insert(section.to_owned());
                if !sections.contains(section) {
                    wrong.push(format!("{file}: {section}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "no such sections:\n{}", wrong.join("\n"));
    assert!(cited.len() > 15, "{cited:?}");
}

#[test]
fn every_page_that_is_named_is_in_the_repository() {
    let texts = texts();
    let pages: Vec<&String> = texts.iter().map(|(file, _)| file).collect();
    let name = Regex::new(r"[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md\b").expect("a pattern");
    let mut wrong = Vec::new();
    // The sources of acting keys are pages of other projects.
    for (file, text) in texts.iter().filter(|(file, _)| file != "src/inputs/acting_keys/table.rs") {
        for result in name.find_iter(text) {
            let wanted = result.as_str().trim_start_matches(['.', '/']);
            let there = |page: &&&String| {
                let rest = page.strip_suffix(wanted);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            if !pages.iter().any(|page| there(&page)) && !is_elsewhere(wanted) {
                wrong.push(format!("{file}: {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "no such pages:\n{}", wrong.join("\n"));
}

/// Returns whether a page belongs to another project, or is the optional reference of the rules.
fn is_elsewhere(page: &str) -> bool {
    // Output files in examples.
    const WRITTEN: [&str; 13] = [
        "file.md", "run.md", "compared.md", "report.md", "review.md", "r.md", "c.md", "args.md", "strategies.md",
        "one-failure.md", "rates.md", "ttr.md", "s.md",
    ];
    if WRITTEN.contains(&page) {
        return true;
    }
    let others = ["sig-scalability/", "site/content/"];
    others.iter().any(|site| page.contains(site)) || page == "shared/reference/jobset.md"
}
