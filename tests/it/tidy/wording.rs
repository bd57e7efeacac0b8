//! Wording of comments, strings and Markdown: plain technical English with standard terms. A violation is reported
//! with its replacement.

use crate::support::{files, root};
use regex::{Regex, RegexSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Expressions to avoid, as regular expressions, each with its replacement. Their letters are separated by `~`, which
/// is removed, so that this file does not contain them.
const AVOIDED: [(&str, &str); 21] = [
    (r"\bt~old\b|\bt~ells?\b", "report, print, notify"),
    (r"\b[gG]~o(es)? on\b|\bw~ent on\b", "continue"),
    (r"\bh~angs? on\b", "depend on"),
    (r"\bf~or ever\b", "indefinitely"),
    (r"\ba~new\b", "again"),
    (r"\ba~like\b", "equal, the same"),
    (r"\b[nN]~obody\b|\b[sS]~omebody\b|\b[aA]~nybody\b|\b[wW]~hoever\b", "the name of the component or user"),
    (r"\bg~oes round\b|\bin c~ircles\b", "loops"),
    (r"\bh~ardly\b", "a number with its unit"),
    (r"\bd~ead ends?\b", "permanently blocked"),
    (r"\bc~omes? to nothing\b", "has no effect"),
    (r"\bc~omes? to an end\b", "ends"),
    (r"\bl~ess baseline\b", "− baseline"),
    (r"\bs~o (many|much|often|seldom)\b", "the number, the amount"),
    (r"\bp~lay(s|ed|ing)? (a|the|it|them|all|again) ", "simulate, replay"),
    (r"\bnot s~eparated\b", "inconclusive"),
    (r"\bt~old apart\b", "distinguished"),
    (r", t~oo[.,;]", "also"),
    (r"\b(c~ollapsed|r~educed) (level|model)\b", "level `nodes`"),
    (r"^O~f (what|that|those|course)\b", "a sentence with a subject"),
    (r"^W~hat [a-z ]{3,60} (is|are|was|has|have)\b[^?]*$", "the noun as the subject"),
];

/// Minimum number of words of a string that is checked. Shorter strings are names.
const WORDS_MIN: usize = 4;
const DOC_COMMENT_WORDS_MIN: usize = 3;

/// The patterns of [`AVOIDED`].
struct Avoided {
    /// Finds at once that a text contains none of them.
    any: RegexSet,
    each: Vec<(Regex, &'static str)>,
}

fn avoided() -> Avoided {
    let plain = AVOIDED.map(|(pattern, replacement)| (pattern.replace('~', ""), replacement));
    let each = plain.iter().map(|(pattern, replacement)| (Regex::new(pattern).expect("a pattern"), *replacement));
    Avoided { any: RegexSet::new(plain.iter().map(|(pattern, _)| pattern)).expect("patterns"), each: each.collect() }
}

/// Returns all files with an extension in the project's folders, sorted by path.
fn project_files(extension: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["src", "tests", "benches", "examples", "docs", "python"].iter().map(|folder| root().join(folder)).collect();
    let mut all = files(root(), extension);
    while let Some(folder) = folders.pop() {
        all.extend(files(&folder, extension));
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let inner = entries.filter_map(|e| Some(e.ok()?.path()));
        folders.extend(inner.filter(|p| p.is_dir() && !p.ends_with("target")));
    }
    all.sort();
    all
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a project file can be read")
}

/// Returns the line numbers and texts of a Rust file's comments and longer strings.
fn rust_texts(text: &str) -> Vec<(usize, String)> {
    static STRING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a pattern"));
    static ARGUMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").expect("a pattern"));
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if let Some(comment) = trimmed.strip_prefix("//") {
            let comment = comment.trim_start_matches(['/', '!', ' ']);
            all.push((number, comment.to_owned()));
        } else {
            let strings = STRING.captures_iter(line);
            let strings = strings.map(|c| ARGUMENT.replace_all(&c[1], "{}").into_owned());
            let prose = strings.filter(|s| s.split_whitespace().count() >= WORDS_MIN);
            all.extend(prose.map(|s| (number, s)));
        }
    }
    all
}

/// Returns the line numbers and texts of a Markdown file outside of code blocks.
fn markdown_texts(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            all.push((number, line.to_owned()));
        }
    }
    all
}

/// Returns one line per violation in the texts of a file.
fn violations(path: &str, texts: &[(usize, String)], avoided: &Avoided) -> String {
    let mut report = String::new();
    for (number, text) in texts.iter().filter(|(_, text)| avoided.any.is_match(text)) {
        for (pattern, replacement) in &avoided.each {
            if let Some(hit) = pattern.find(text) {
                let _ = writeln!(report, "{path}:{number}: {:?}: {replacement}", hit.as_str());
            }
        }
    }
    report
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

#[test]
fn comments_strings_and_pages_use_plain_english() {
    let avoided = avoided();
    let mut report = String::new();
    for path in project_files("rs") {
        report += &violations(&relative(&path), &rust_texts(&read(&path)), &avoided);
    }
    for path in project_files("md") {
        report += &violations(&relative(&path), &markdown_texts(&read(&path)), &avoided);
    }
    assert!(report.is_empty(), "wording to replace (with the replacement):\n{report}");
}

#[test]
fn a_violation_is_reported_with_its_line_and_replacement() {
    let text = "fn a() {\n    // The run g~oes on.\n    b(\"the pod is t~old of the fault\");\n}\n";
    let texts = rust_texts(&text.replace('~', ""));
    let report = violations("a.rs", &texts, &avoided());
    let expected = ["a.rs:2: \"g~oes on\": continue\n", "a.rs:3: \"t~old\": report, print, notify\n"];
    assert_eq!(report, expected.concat().replace('~', ""));
}

#[test]
fn doc_comments_have_at_least_three_words() {
    let mut short = Vec::new();
    for path in project_files("rs") {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        let comments = lines.chunk_by(|a, b| a.starts_with("///") && b.starts_with("///"));
        let mut number = 1;
        for comment in comments {
            let words = comment.iter().flat_map(|l| l.split_whitespace());
            let words = words.filter(|w| *w != "///").count();
            if comment[0].starts_with("///") && words < DOC_COMMENT_WORDS_MIN {
                short.push(format!("{}:{number}: {}", relative(&path), comment[0]));
            }
            number += comment.len();
        }
    }
    assert!(short.is_empty(), "say more, or delete:\n{}", short.join("\n"));
}

#[test]
fn no_type_name_is_used_three_times() {
    let item = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) ([A-Z]\w*)").expect("a pattern");
    let mut names: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for path in project_files("rs").into_iter().filter(|p| p.starts_with(root().join("src"))) {
        for name in item.captures_iter(&read(&path)) {
            names.entry(name[1].to_owned()).or_default().push(relative(&path));
        }
    }
    names.retain(|_, files| files.len() > 2);
    assert!(names.is_empty(), "use the concept as a prefix: {names:#?}");
}
