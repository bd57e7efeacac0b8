//! Project conventions that the compiler does not enforce: where names may be used, width of lines, wording. Sizes of
//! files and folders are not limited; `.ci/run sizes` prints them.

mod wording;
mod workspace;

use crate::support::{files, root, scenario_names};
use std::path::{Path, PathBuf};

const COLUMNS_MAX: usize = 120;

/// Names that are permitted only in some files (a file, or a folder with a trailing slash).
const NAMED_ONLY_IN: [(&str, &[&str]); 9] = [
    ("clap", &["src/program/cli/"]),
    ("rand::", &["src/base/random.rs"]),
    ("rand_chacha::", &["src/base/random.rs"]),
    ("serde_yaml", &["src/inputs/text/yaml.rs"]),
    ("plotters", &["src/report/draw/bitmap.rs"]),
    ("Instant", &["src/program/cli/", "src/program/main.rs"]),
    ("SystemTime", &["src/program/cli/", "src/program/main.rs"]),
    ("HashMap", &[]),
    ("HashSet", &[]),
];

/// Beginnings of strings that occur in only one file, which is responsible for the subject.
const WRITTEN_ONLY_IN: [(&str, &str); 8] = [
    ("\"jobset.sigs.k8s.io/", "src/api/spec/keys.rs"),
    ("\"alpha.jobset.sigs.k8s.io/", "src/api/spec/keys.rs"),
    ("\"batch.kubernetes.io/", "src/api/spec/keys.rs"),
    ("\"kubernetes.io/hostname", "src/api/spec/keys.rs"),
    ("(\"Ki\"", "src/base/quantity.rs"),
    ("regex used for validation", "src/api/admission/names.rs"),
    ("\"Required value", "src/api/admission/field.rs"),
    ("does not appear in .spec.ReplicatedJobs", "src/api/admission/webhook/policies.rs"),
];

/// Forbidden words, each in two parts so that this file does not contain them.
const FORBIDDEN: [(&str, &str); 6] =
    [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("place", "holder"), ("for ", "now"), ("this ", "session")];

/// Returns all Rust files below a folder, sorted by path.
fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut result = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        result.extend(files(&folder, "rs"));
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let paths = entries.filter_map(|e| Some(e.ok()?.path()));
        folders.extend(paths.filter(|p| p.is_dir()));
    }
    result.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a source file can be read");
        (relative(&path), text)
    };
    result.into_iter().map(read).collect()
}

fn all_rust_files() -> Vec<(String, String)> {
    let folders = ["src", "tests", "benches", "examples"];
    folders.into_iter().flat_map(rust_files).collect()
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

/// Returns the text without comments and without parts that only unit tests use.
fn code(path: &str, text: &str) -> String {
    if path.ends_with("tests.rs") {
        return String::new();
    }
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn restricted_names_occur_only_in_permitted_files() {
    for (path, text) in rust_files("src") {
        let code = code(&path, &text);
        for (what, places) in NAMED_ONLY_IN {
            let allowed = places.iter().any(|p| path == *p || (p.ends_with('/') && path.starts_with(p)));
            assert!(allowed || !names_word(&code, what), "{path} must not use {what}");
        }
    }
}

#[test]
fn keys_quantities_names_and_rules_of_webhooks_are_written_once() {
    let files = rust_files("src");
    for (text, place) in WRITTEN_ONLY_IN {
        let has = |(path, file): &&(String, String)| code(path, file).contains(text);
        let result: Vec<&str> = files.iter().filter(has).map(|f| f.0.as_str()).collect();
        assert_eq!(result, [place], "{text:?}");
    }
}

/// Returns whether `word` occurs in the code as a whole word.
fn names_word(code: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let goes_on = !word.ends_with(':') && code[at + word.len()..].starts_with(inside);
        !code[..at].ends_with(inside) && !goes_on
    })
}

#[test]
fn every_module_says_first_what_it_is_for() {
    let starts_so = |(_, text): &(String, String)| text.starts_with("//!");
    let silent: Vec<String> =
        all_rust_files().into_iter().filter(|file| !starts_so(file)).map(|(path, _)| path).collect();
    assert!(silent.is_empty(), "these do not start with //!: {silent:?}");
}

/// Every type at the root of the library is declared in a module that denies missing documentation.
#[test]
fn public_crates_deny_missing_docs() {
    let files = rust_files("src");
    let denies = |text: &str| text.contains("#![deny(missing_docs)]");
    let text_of = |path: &str| files.iter().find(|(p, _)| p == path).map(|(_, t)| t.as_str());
    // Whether the file, or a module that contains it, denies missing documentation.
    let is_documented = |path: &str| {
        let folders = Path::new(path).ancestors().skip(1).map(Path::display);
        let mut around = folders.flat_map(|f| [format!("{f}/mod.rs"), format!("{f}.rs")]);
        text_of(path).is_some_and(denies) || around.any(|f| text_of(&f).is_some_and(denies))
    };
    let promised = code("src/program/lib.rs", text_of("src/program/lib.rs").expect("a library"));
    let uses = promised.split("pub use ").skip(1);
    let mut count = 0;
    for text in uses.filter_map(|u| u.split(';').next()) {
        let (module, names) = text.split_once("::").expect("a path");
        let folder = match module.strip_prefix("sim_") {
            Some(name) => format!("src/{name}/"),
            None => format!("src/program/{module}/"),
        };
        let names = names.split(|c: char| !c.is_alphanumeric());
        let names = names.filter(|n| n.starts_with(|c: char| c.is_uppercase()));
        for name in names.filter(|n| *n != "RestartShape") {
            count += 1;
            // The engine re-exports some types of crates below it.
            let declaring = |folder: &str| {
                let is_here = |f: &&(String, String)| f.0.starts_with(folder) && declares(&f.1, name);
                files.iter().find(is_here)
            };
            let result = [&*folder, "src/policy/", "src/reliability/"].into_iter().find_map(declaring);
            let (path, text) = result.expect(name);
            let item = text.split("#[deny(missing_docs)]").skip(1);
            let mut heads = item.filter_map(|t| t.split('{').next());
            let alone = heads.any(|head| head.contains(&format!(" {name} ")));
            assert!(is_documented(path) || alone, "{path}: {name} is public, but its documentation is not enforced");
        }
    }
    assert!(count > 30, "{count} types found");
}

/// Returns whether the text declares a public type of this name. Ids are declared by a macro.
fn declares(text: &str, name: &str) -> bool {
    let item = |kind: &str| {
        let start = format!("pub {kind} {name}");
        let after = |(at, _)| text[at + start.len()..].chars().next();
        let mut ends = text.match_indices(&start).filter_map(after);
        ends.any(|c| !c.is_alphanumeric())
    };
    let id = text.contains("define_id! {") && text.contains(&format!("\n    {name},"));
    item("struct") || item("enum") || id
}

#[test]
fn lines_fit_the_width_that_rustfmt_gives_to_code() {
    let mut long = Vec::new();
    for (path, text) in all_rust_files() {
        for (k, line) in text.lines().enumerate() {
            // Strings are exempt from the limit; rustfmt wraps the code.
            let text = line.contains('"') || line.ends_with('\\') || line.contains("\\n");
            let columns = line.chars().count();
            if columns > COLUMNS_MAX && !text {
                long.push(format!("{path}:{}: {columns} columns", k + 1));
            }
        }
    }
    assert!(long.is_empty(), "too long:\n{}", long.join("\n"));
}

#[test]
fn no_todo_comments_remain() {
    let mut texts = all_rust_files();
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        if let Ok(text) = std::fs::read_to_string(root().join(name)) {
            texts.push((name.to_owned(), text));
        }
    }
    for (path, text) in texts {
        for (k, line) in text.lines().enumerate() {
            for (a, b) in FORBIDDEN {
                let word = format!("{a}{b}");
                assert!(!line.contains(&word), "{path}:{}: {word}", k + 1);
            }
        }
    }
}

#[test]
fn every_shipped_scenario_has_a_golden_log_and_every_log_a_scenario() {
    let dir = root().join("scenarios");
    let logs: Vec<String> =
        files(&dir, "log").iter().filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned())).collect();
    if !logs.is_empty() {
        assert_eq!(logs, scenario_names());
    }
}
