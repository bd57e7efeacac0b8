//! The decision log: golden transcripts of small scenarios, and a check that recording decisions changes no result.
//!
//! The files are `decisions/NAME.yaml` with `NAME.log` and `NAME.ndjson`; `UPDATE_GOLDEN=1 cargo test --test it
//! decisions` writes them.

use crate::support::{self, files, root};

use sim_api::spec::ScenarioSpec;
use sim_engine::record::*;
use sim_policy::decision::{PolicyDecision, PolicyOutcome};
use sim_report::decisions::DecisionLog;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let all = files(&root().join("tests/it/decisions"), "yaml");
    let is_case = |p: &PathBuf| !p.to_string_lossy().ends_with(".jobset.yaml");
    all.into_iter().filter(is_case).collect()
}

fn read(path: &Path) -> ScenarioSpec {
    match sim_inputs::read_scenario(path, &[]) {
        Ok(loaded) => loaded.scenario,
        Err(errors) => panic!("{errors}"),
    }
}

fn log(scenario: &ScenarioSpec) -> (String, Vec<u8>, RunOutcome) {
    let mut simulation = support::simulation(scenario);
    let mut log = DecisionLog::new(scenario);
    let outcome = simulation.run(scenario.seed, 0, &mut log);
    let (text, ndjson) = log.finish(&outcome, simulation.names());
    (text, ndjson, outcome)
}

#[test]
fn every_decision_log_equals_its_golden_log() {
    let mut different = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 6, "{} cases", cases.len());
    for path in cases {
        let (text, ndjson, _) = log(&read(&path));
        for (extension, now) in [("log", text.into_bytes()), ("ndjson", ndjson)] {
            let golden = path.with_extension(extension);
            if support::updates_golden_files() {
                std::fs::write(&golden, &now).expect("a golden log can be written");
            } else if std::fs::read(&golden).unwrap_or_default() != now {
                different.push(golden.display().to_string());
            }
        }
    }
    assert!(different.is_empty(), "these golden files differ (UPDATE_GOLDEN=1 writes them):\n{}", different.join("\n"));
}

/// Each transcript shows the rule that it was written for.
#[test]
fn the_transcripts_show_the_rules_they_are_named_after() {
    for (name, expected) in [
        ("rule-order", "FailJobSet for Job js-driver-0, by rule 0 driverFails"),
        ("rule-order", "js-worker-0 is the earliest"),
        ("untargeted", "worker is not in the targets [driver]"),
        ("untargeted", "the default: no rule matches"),
        ("invalid-pattern", "is not a valid RE2 pattern: it never matches"),
        ("invalid-pattern", "the message matches \"exit code 4[0-9] \""),
        ("budget-reached", "1 of maxRestarts 1 counted so far: exhausted, so the JobSet fails"),
        ("restart-job", "1 (0 by JobSet restarts, 1 by Job restarts) of maxRestarts 3"),
        ("in-place", "attempt 2 − 0 uncounted restarts exceeds maxRestarts 1"),
        ("depends-on", "worker, until driver is Ready: 0 of 1 Job"),
        ("depends-on", "BlockingRecreate: no Job is created until all of them are gone"),
        ("pod-failure-policy", "ignored, by rule 0"),
        ("pod-failure-policy", "counts, no rule matches"),
        ("pod-failure-policy", "fails the Job, by rule 1"),
        ("success-and-failure", "not evaluated, 1 Job Complete: failed Jobs take precedence"),
        ("success-and-failure", "operator Any: 1 Job Complete, 1 needed: met"),
        ("container-restart", "1 container restart of active pods, backoffLimit 6: not reached"),
    ] {
        let path = root().join("tests/it/decisions").join(format!("{name}.yaml"));
        let (text, ..) = log(&read(&path));
        let words: Vec<&str> = text.split_whitespace().collect();
        let flat = words.join(" ");
        let result = flat.contains(expected) || without_rules(&flat).contains(expected);
        assert!(result, "{name}: {expected}\n{text}");
    }
}

/// Removes rule ids and record numbers. Long entries are wrapped, so these end up in the middle of the sentence.
fn without_rules(text: &str) -> String {
    let rule = |w: &str| w.starts_with('[') && w.contains('-');
    let number = |w: &str| w.starts_with('#') || w == "<-";
    let words = text.split(' ').filter(|w| !rule(w) && !number(w));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn watching_decisions_changes_no_record() {
    let own = cases().into_iter().map(|path| read(&path));
    let shipped = ["first-steps", "in-place-main-container", "node-drain"];
    let shipped = shipped.iter().map(|name| support::scenario(name, &[]));
    for scenario in own.chain(shipped) {
        let mut simulation = support::simulation(&scenario);
        let mut plain = KeepSink::default();
        let unwatched = simulation.run(scenario.seed, 0, &mut plain);
        let mut log = DecisionLog::new(&scenario);
        let mut watched = (KeepSink::default(), &mut log as &mut dyn RecordSink);
        let outcome = simulation.run(scenario.seed, 0, &mut Both(&mut watched.0, watched.1));
        assert_eq!(outcome.digest, unwatched.digest, "{}", scenario.name);
        assert_eq!(watched.0.0, plain.0, "{}", scenario.name);
    }
}

struct Both<'a>(&'a mut KeepSink, &'a mut dyn RecordSink);

impl RecordSink for Both<'_> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.0.record(record, names);
        self.1.record(record, names);
    }

    fn receives_decisions(&self) -> bool {
        self.1.receives_decisions()
    }

    fn decision(&mut self, decision: PolicyDecision) {
        self.1.decision(decision);
    }
}

/// A sink that keeps the decisions and the restart counts of JobSets.
#[derive(Default)]
struct Watch {
    decisions: Vec<PolicyDecision>,
    restarts: Vec<(u32, u32)>,
}

impl RecordSink for Watch {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if let Body::RestartCounted { restarts, counted, .. } = record.body {
            self.restarts.push((restarts, counted));
        }
    }

    fn receives_decisions(&self) -> bool {
        true
    }

    fn decision(&mut self, decision: PolicyDecision) {
        self.decisions.push(decision);
    }
}

/// Reported decisions match the actual ones: the chosen rule is the first that matches, and the counters equal the
/// recorded ones.
#[test]
fn logged_rule_is_the_deciding_rule() {
    let mut failures = 0;
    for scenario in cases().iter().map(|p| read(p)) {
        let mut watch = Watch::default();
        support::simulation(&scenario).run(scenario.seed, 0, &mut watch);
        let mut counted = Vec::new();
        for decision in &watch.decisions {
            let PolicyOutcome::JobSet(pass) = &decision.what else {
                continue;
            };
            counted.push((pass.restarts.after, pass.restarts_count_towards_max.after));
            let Some(f) = &pass.failure_policy else {
                continue;
            };
            failures += 1;
            let first = f.rules.iter().find(|r| r.verdicts.iter().any(|v| v.matches));
            assert_eq!(first.map(|r| r.index), f.chosen_rule, "{}: {f:?}", scenario.name);
            let cited = if f.chosen_rule.is_some() { "FP-3" } else { "FP-5" };
            assert!(!f.has_policy || pass.rules.contains(&cited), "{f:?}");
            for v in f.rules.iter().flat_map(|r| &r.verdicts) {
                let parts = [v.reason, v.pattern.as_ref().map(|p| !p.is_empty()), v.target];
                assert_eq!(v.matches, parts.iter().all(|p| *p != Some(false)), "{v:?}");
            }
            let Some(budget) = f.budget else { continue };
            let total = budget.restarts_count_towards_max + budget.job_restarts_count_towards_max;
            let used_up = budget.counted && total >= budget.max_restarts;
            assert_eq!(budget.reached, used_up, "{}: {budget:?}", scenario.name);
        }
        for restart in &watch.restarts {
            assert!(counted.contains(restart), "{}: {restart:?}", scenario.name);
        }
    }
    assert!(failures > 5, "only {failures} failures");
}

/// Follows a container's exit to the JobSet's condition, using only the record numbers in the text.
#[test]
fn log_leads_from_exit_code_to_condition() {
    let (text, ..) = log(&support::scenario("first-steps", &[]));
    let line_of = |id: &str| text.lines().find(|l| l.split_whitespace().nth(1) == Some(id));
    let last = text.lines().find(|l| l.contains("condition RestartingJobSet=True"));
    let last = last.filter(|l| l.contains('#')).expect("the restart's condition");
    let (mut line, mut chain) = (last, vec![last]);
    while let Some((_, id)) = line.rsplit_once("<- ") {
        line = line_of(id).unwrap_or_else(|| panic!("{id} is not in the text\n{text}"));
        chain.push(line);
    }
    let chain = chain.join("\n");
    let steps = [
        "condition RestartingJobSet=True",
        "JobSet controller, train",
        "condition Failed=True BackoffLimitExceeded",
        "Job controller, train-workers-1",
        "train-workers-1-2: phase Failed",
        "train-workers-1-2: a container exits with code 1",
        "script: the container of pod train-workers-1-2 exits with code 1",
        "JobSet train: created",
    ];
    let mut rest = chain.as_str();
    for step in steps {
        let at = rest.find(step);
        rest = &rest[at.unwrap_or_else(|| panic!("{step} is not on the chain\n{chain}"))..];
    }
}

#[test]
fn every_logged_rule_is_documented() {
    let pages = files(&root().join("docs/rules"), "md");
    let pages = pages.iter().map(|p| std::fs::read_to_string(p).expect("a page can be read"));
    let rules: String = pages.collect();
    let mut missing = Vec::new();
    for folder in ["src/policy", "src/report", "src/engine"] {
        for path in files(&root().join(folder), "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file can be read");
            for word in text.split('"').skip(1).step_by(2).filter(|w| is_rule(w)) {
                if !rules.contains(&format!("- **{word}**")) {
                    missing.push(format!("{word} of {}", path.display()));
                }
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Returns whether a word is a rule id, such as `FP-3` or `COND-1`.
fn is_rule(word: &str) -> bool {
    word.split_once('-').is_some_and(|(family, number)| {
        !family.is_empty()
            && family.chars().all(|c| c.is_ascii_uppercase())
            && number.trim_end_matches(char::is_alphabetic).parse::<u32>().is_ok()
    })
}
