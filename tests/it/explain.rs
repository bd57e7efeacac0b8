//! `explain` knows every word that a command prints: columns, keys, phases, categories, kinds, reasons, exit codes.

use crate::support::{cases, files, root};
use jobset_sim::glossary::{Glossary, RULE_PAGES};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command and returns its standard output. Accepts the exit codes that report a result.
fn printed(line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let words = line.split(' ').map(|w| w.replace('\u{a0}', " "));
    command.args(words).current_dir(root());
    let output = command.output().expect("the program starts");
    let code = output.status.code();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(matches!(code, Some(0 | 2 | 3 | 5)), "{line}: {code:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns the glossary without the command-line help.
fn glossary() -> Glossary {
    Glossary::new(Vec::new())
}

/// Words, each with the place of its first occurrence.
#[derive(Default)]
struct Words(BTreeMap<String, String>);

/// Keys whose children are names chosen by the user. `WORDS_IN` are the keys whose values are words of the program.
const NAMES_BELOW: [&str; 2] = ["parameters", "inputs"];
const WORDS_IN: [&str; 20] = [
    "kind", "reason", "type", "status", "strategy", "ending", "phase", "phases", "state", "terminalState", "verdict",
    "better", "controller", "severity", "category", "resource", "deleted_by", "by", "endReason", "about",
];

impl Words {
    fn add_word(&mut self, word: &str, place: &str) {
        let word = word.trim();
        if !word.is_empty() && word.parse::<f64>().is_err() {
            let place = || place.to_owned();
            self.0.entry(word.to_owned()).or_insert_with(place);
        }
    }

    fn json(&mut self, value: &Value, place: &str) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    self.add_word(key, place);
                    if WORDS_IN.contains(&key.as_str())
                        && let Some(text) = value.as_str()
                    {
                        self.add_word(text, place);
                    }
                    if !NAMES_BELOW.contains(&key.as_str()) {
                        self.json(value, place);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.json(item, place)),
            _ => {}
        }
    }

    fn csv(&mut self, text: &str, place: &str) {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head: Vec<String> = match reader.headers() {
            Ok(head) => head.iter().map(str::to_owned).collect(),
            Err(e) => panic!("{place}: {e}"),
        };
        for name in &head {
            self.add_word(name, place);
        }
        for row in reader.records() {
            let row = row.expect("a row can be read");
            for (name, cell) in head.iter().zip(&row) {
                if WORDS_IN.contains(&name.as_str()) {
                    self.add_word(cell, place);
                }
            }
        }
    }

    fn lines(&mut self, text: &str, place: &str) {
        for line in text.lines() {
            self.json(&serde_json::from_str(line).expect("a line is JSON"), place);
        }
    }

    /// Adds the words in every file of a run directory, and the names of the files.
    fn directory(&mut self, dir: &Path) {
        let mut all: Vec<PathBuf> = files(dir, "csv");
        all.extend(files(dir, "json"));
        all.extend(files(dir, "ndjson"));
        for path in all {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("a file can be read");
            self.add_word(&name, "a run directory");
            match path.extension().and_then(|e| e.to_str()) {
                Some("csv") => self.csv(&text, &name),
                Some("json") => self.json(&serde_json::from_str(&text).expect("JSON"), &name),
                _ => self.lines(&text, &name),
            }
        }
    }
}

/// Commands that print JSON.
const JSON: &[&str] = &[
    "run scenarios/first-steps.yaml --format json",
    "run scenarios/first-steps.yaml --seeds 3 --quiet --format json",
    "compare scenarios/compare-one-failure.yaml --seeds 3 --quiet --format json",
    "why scenarios/first-steps.yaml --format json",
    "bench ttr --case kill-process --nodes 100 --preset stock --format json",
    "lint -f scenarios/manifests/traps.yaml --format json",
    "lint --list --format json",
    "topology show small-16 --format json",
    "topology fit small-16 -f scenarios/manifests/exclusive-workers.yaml --format json",
    "topology show small-16 --blast -f scenarios/manifests/exclusive-workers.yaml --format json",
    "topology list --format json",
    "recording calibrate tests/recordings/times/t20-r-4x50.json --by phase,image,pool --format json",
    "validate tests/recordings/corner/c-02-two-fail-together-restart-jobset.json --format json",
    "run scenarios/published/bloom-176b.yaml --seeds 3 --quiet --format json",
    "explain FP-7 --format json",
    "sensitivity scenarios/first-steps.yaml --seeds 2 --format json",
    "sweep scenarios/first-steps.yaml --grid faults.0.afterReady=1m,2m --seeds 2 --quiet --format json",
    "plan budget scenarios/training.yaml --seeds 3 --quiet --format json",
    "recording commands --jobset train --format json",
    "sweep tests/it/sweep/fleet.yaml --seeds 2 --quiet --format json",
    "explain children -f scenarios/manifests/workers.yaml --format json",
    "plan spares tests/it/sweep/fleet.yaml --target effective_training_ratio.p10\u{a0}>=\u{a0}0.1 --path parameters.spares --max 1 --seeds 3 --quiet --format json",
    "plan interval tests/it/sweep/fleet.yaml --seeds 3 --quiet --format json",
    "plan breakeven tests/it/sweep/fleet.yaml --b b:\u{a0}parameters.spares=2 --over parameters.interval=300..1200 --seeds 3 --quiet --format json",
    "sensitivity tests/it/sweep/fleet.yaml --input parameters.interval=300..1200 --seeds 3 --quiet --format json",
    "plan rare tests/it/sweep/fleet.yaml --horizon 5 --restarts 5 --runs 20 --seeds 3 --quiet --format json",
    "recording calibrate tests/recordings/corner/c-02-two-fail-together-restart-jobset.json --format json",
    "recording import tests/recordings/kubectl/watch-events.json tests/recordings/kubectl/watch-jobs.json tests/recordings/kubectl/watch-jobsets.json tests/recordings/kubectl/watch-pods.json --out -",
];
/// Commands that print CSV.
const CSV: &[&str] = &[
    "run scenarios/first-steps.yaml --format csv",
    "run scenarios/first-steps.yaml --seeds 3 --quiet --format csv",
    "compare scenarios/compare-one-failure.yaml --seeds 3 --quiet --format csv",
    "bench ttr --case kill-process --nodes 100 --preset stock --format csv",
    "lint -f scenarios/manifests/traps.yaml --format csv",
    "run scenarios/published/bloom-176b.yaml --seeds 3 --quiet --format csv",
    "sensitivity --format csv",
    "sweep scenarios/first-steps.yaml --grid faults.0.afterReady=1m,2m --seeds 2 --quiet --format csv",
    "plan budget scenarios/training.yaml --seeds 3 --quiet --format csv",
    "sweep tests/it/sweep/fleet.yaml --seeds 2 --quiet --format csv",
];
/// Commands whose run directories are read.
const RUNS: &[&str] = &[
    "run scenarios/first-steps.yaml --trace decisions",
    "run scenarios/in-place-main-container.yaml --trace decisions",
    "run scenarios/user-actions.yaml --trace decisions",
    "run scenarios/node-drain.yaml",
    "run scenarios/taint-noexecute.yaml",
    "run scenarios/regime-dead-node-bound.yaml",
    "run scenarios/upstream/in-order-restart.yaml",
    "run scenarios/upstream/backoff-limit.yaml",
    "run scenarios/upstream/depends-on-restart.yaml --trace decisions",
    "run scenarios/upstream/claims.yaml",
    "run scenarios/training.yaml",
    "run scenarios/first-steps.yaml --seeds 3",
    "sweep tests/it/sweep/fleet.yaml --seeds 2",
    "compare scenarios/compare-one-failure.yaml --seeds 3",
    "run -f scenarios/manifests/failure-policy.yaml --fail workers-0-1:exit=42 --trace decisions",
];

/// Returns whether a word comes from the inputs: a user's name, or a part of a Kubernetes object that is printed
/// unchanged.
fn is_input_word(word: &str) -> bool {
    let is_domain = word.strip_prefix("pool-").is_some_and(|number| number.parse::<u32>().is_ok());
    word.contains(['/', ' ']) && !word.contains("client") || word.starts_with("parameters.") || is_domain
}

#[test]
fn every_word_that_commands_print_is_explained() {
    let mut words = Words::default();
    let step = cases(4, 2) as usize;
    for line in JSON.iter().step_by(step) {
        let text = printed(line);
        if line.starts_with("explain children") {
            continue;
        } else {
            match serde_json::from_str(&text) {
                Ok(value) => words.json(&value, line),
                Err(e) => panic!("{line}: {e}: {text}"),
            }
        }
    }
    for line in CSV.iter().step_by(step) {
        words.csv(&printed(line), line);
    }
    let temporary = tempfile_dir();
    for (i, line) in RUNS.iter().step_by(step).enumerate() {
        let dir = temporary.join(i.to_string());
        printed(&format!("{line} --quiet --out {}", dir.display()));
        words.directory(&dir);
    }
    std::fs::remove_dir_all(&temporary).expect("the directory can be removed");
    let book = glossary();
    // A search looks through all texts, so it is left to the words that are no entry themselves.
    let mut entries: BTreeSet<&String> = book.entries.iter().map(|entry| &entry.word).collect();
    entries.extend(book.entries.iter().flat_map(|entry| entry.aliases.iter().chain(&entry.mentions)));
    let unknown: Vec<String> = words
        .0
        .iter()
        .filter(|(word, _)| !is_input_word(word) && !entries.contains(word))
        .step_by(cases(12, 1) as usize)
        .filter(|(word, _)| !book.knows(word))
        .map(|(word, place)| format!("{word} ({place})"))
        .collect();
    assert!(unknown.is_empty(), "of {} words, explain does not know:\n{}", words.0.len(), unknown.join("\n"));
    assert!(words.0.len() as u64 > cases(150, 200), "{}", words.0.len());
}

fn tempfile_dir() -> PathBuf {
    let dir = std::env::temp_dir().join(format!("explained-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory can be created");
    dir
}

#[test]
fn kinds_and_families_of_rules_have_short_names() {
    let glossary = glossary();
    for entry in &glossary.entries {
        let kind = entry.kind.as_str();
        let is_short = kind.split(' ').count() <= 2 && !kind.contains(['-', '`']);
        assert!(is_short, "{kind:?} of {:?} in {}", entry.word, entry.source);
    }
    let families: Vec<&str> = glossary.entries.iter().filter(|e| e.kind == "rules").map(|e| e.word.as_str()).collect();
    assert!(families.contains(&"FP") && !families.contains(&"JSON"), "{families:?}");
}

#[test]
fn every_page_of_rules_is_in_the_program() {
    let known: BTreeSet<&str> = RULE_PAGES.iter().map(|(name, _)| *name).collect();
    for path in files(&root().join("docs/rules"), "md") {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        assert!(
            known.contains(&*stem) || stem == "README",
            "docs/rules/{stem}.md is not listed in src/program/glossary/rules.rs"
        );
    }
}

#[test]
fn terms_of_the_glossary_page_are_sorted_and_explained_in_one_to_three_sentences() {
    let glossary = glossary();
    let terms: Vec<_> = glossary.entries.iter().filter(|e| e.is_term()).collect();
    assert!(terms.len() >= 80, "{} terms", terms.len());
    let folded = |word: &str| word.to_lowercase();
    assert!(terms.is_sorted_by_key(|e| folded(&e.word)));
    for term in terms {
        let sentences = term.text.matches(". ").count() + 1;
        assert!((1..=4).contains(&sentences), "{}: {sentences}", term.word);
    }
}

/// Runs `explain` for a line of words. Returns the exit code, the standard output and the standard error.
fn explained(line: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    command.arg("explain").args(line.split(' '));
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_word_is_found_as_it_is_typed_and_printed_within_a_hundred_columns() {
    for (word, part) in [
        ("FP-7", "The budget is used up"),
        ("kubernetes.md 1.5", "Back-off"),
        ("failurePolicy.rules.action", "FailJobSet, RestartJobSet"),
        ("spec.replicatedJobs[0].replicas", "replicas"),
        ("restarts.csv", "one row per restart"),
        ("check-level", "both levels of detail"),
        ("stuck", "no pending event can change anything"),
        ("exit code 5", "--fail-if"),
        ("job-controller client", "token bucket"),
        ("FailurePolicy_mine", "RestartingJobSet"),
        ("lost_s.gpu", "faults of one cause"),
        ("controlPlane.nodeRequestsPerSecond", "unverified"),
        ("seeds", "replications"),
        ("-- --seeds", "replications"),
        ("topology import", "list of Nodes"),
        ("pattern-invalid", "RE2"),
        ("token bucket", "Rate limiter"),
        ("whatIf", "levers"),
    ]
    .into_iter()
    .step_by(cases(3, 1) as usize)
    {
        let (code, out, err) = explained(word);
        assert_eq!(code, Some(0), "{word}: {err}");
        assert!(out.contains(part), "{word}: {out}");
        for line in out.lines() {
            assert!(line.chars().count() <= 100, "{word}: {line}");
        }
    }
    for (word, first) in [
        ("maxRestarts", "spec.failurePolicy.maxRestarts (field"),
        ("backoffLimit", "spec.replicatedJobs[].template.spec.backoffLimit (field"),
        ("restarts", "restarts (metric"),
        ("p10", "quantile, p10"),
    ] {
        assert!(explained(word).1.starts_with(first), "{word}: {}", explained(word).1);
    }
    let (code, out, err) = explained("BackofLimitExceded");
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("did you mean \"BackoffLimitExceeded\""), "{err}");
}

/// Returns the lines that `run` prints under "What happened", except for the end of the run.
fn run_event_lines(command: &str) -> Vec<String> {
    let words = shell_words(command);
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    program.args(&words[1..]).current_dir(root());
    let output = program.output().expect("the program starts");
    let actual = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{command}: {actual}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = text.split("What happened\n").nth(1).unwrap_or_default();
    let lines = printed.lines().take_while(|line| !line.is_empty() && !line.contains("run ended: "));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Splits a command line that uses only single quotes.
fn shell_words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(i, part)| match i % 2 {
        0 => part.split(' ').filter(|w| !w.is_empty()).map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

#[test]
fn effects() {
    let mut now = String::new();
    for effect in jobset_sim::glossary::effects::all() {
        let lines = run_event_lines(effect.command);
        assert!((3..=8).contains(&lines.len()), "{}: {lines:?}", effect.word);
        now.push_str(&format!("== {}\n$ {}\n{}\n", effect.word, effect.command, lines.join("\n")));
    }
    let path = root().join("src/program/glossary/effects.txt");
    if crate::support::updates_golden_files() {
        std::fs::write(&path, &now).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&path).expect("the file exists");
    assert!(known == now, "src/program/glossary/effects.txt is out of date (UPDATE_GOLDEN=1 writes it)\n{now}");
}

#[test]
fn the_effect_of_an_action_and_of_a_strategy_is_shown() {
    let (_, out, _) = explained("failurePolicy.rules.action");
    for word in ["Effect of FailJobSet", "Effect of RestartJob", "condition Failed is True"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let (_, out, _) = explained("BlockingRecreate");
    assert!(out.contains("Effect of BlockingRecreate") && !out.contains("Effect of RestartJob"), "{out}");
}

#[test]
fn assumptions_of_a_fleet_are_its_own_numbers_and_the_presets_of_its_faults() {
    let text = printed("sensitivity tests/it/sweep/fleet.yaml --seeds 3 --quiet --format json");
    let text: Value = serde_json::from_str(&text).expect("JSON");
    let rows = text["parameters"].as_array().expect("rows");
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id}: {text}"));
    assert_eq!(row("training.checkpoint.every")["value"], "600s");
    assert_eq!(row("spares.takeOver")["confidence"], "given");
    assert_eq!(row("job.standbys")["confidence"], "assumed");
    assert!(rows.iter().all(|row| !row["id"].as_str().is_some_and(|id| id.starts_with("timing."))), "{text}");
    let preset = printed("sensitivity scenarios/published/opt-175b.yaml --parameters-only --format csv");
    assert!(preset.contains("faults.opt-175b.per1000NodeDays"), "{preset}");
}
