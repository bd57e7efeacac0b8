//! Every shared recording is decided as by the real control plane, or is a known difference.
//!
//! The list of known differences states the missing mechanism for each file. The test fails both for a difference
//! that is not on the list and for an entry whose recording is equal.

use crate::support::{self, print_to_stderr};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use sim_recordings::validate::admission;
use sim_recordings::validate::output;
use sim_recordings::validate::read::read;
use sim_recordings::validate::result::{FileResult, ResultTotals, ValidationVerdict};
use sim_recordings::validate::scenario::{RecordingDefaults, ScenarioOverrides, replay_scenario};
use sim_recordings::validate::{kueue, scheduling, simulate};
use std::collections::{BTreeMap, BTreeSet};

const KNOWN: &str = include_str!("recordings/known-differences.yaml");
/// Permitted relative error of a scored restart time.
const TIME_TOLERANCE: f64 = 0.08;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    file: String,
    mechanism: String,
}

/// A recording: its name (`kind/name.json`), path and text.
struct File {
    name: String,
    path: String,
    text: String,
}

/// Returns every recording of the complete set or, if that is missing, of the repository.
fn recordings() -> Vec<File> {
    let mut result = Vec::new();
    for kind in support::RECORDING_KINDS {
        for path in support::recordings(kind) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            result.push(File {
                name: format!("{kind}/{name}"),
                path: path.display().to_string(),
                text: std::fs::read_to_string(&path).expect("a recording can be read"),
            });
        }
    }
    result
}

fn defaults() -> RecordingDefaults {
    simulate::defaults().expect("the presets can be read")
}

fn play(file: &str, text: &str, defaults: &RecordingDefaults) -> FileResult {
    if admission::is_admission(text) {
        let cases = admission::read(file, text).expect("an admission recording is well-formed");
        return admission::validate(file, &cases);
    }
    if let Some(decisions) = scheduling::read(text) {
        return scheduling::validate(file, &decisions);
    }
    if let Some(story) = kueue::read(text) {
        return kueue::validate(file, &story);
    }
    let recording = read(file, text).expect("a recording is well-formed");
    simulate::validate(file, &recording, defaults, &ScenarioOverrides::default())
}

/// Returns how a result differs, or `None` if it is equal.
fn difference(result: &FileResult) -> Option<String> {
    if let Some(admission) = &result.admission {
        let count = admission.count;
        let all = count.equal == count.total;
        return (!all).then(|| format!("only {} of {} cases are equal", count.equal, count.total));
    }
    let Some(verdict) = result.verdict() else {
        let restart = result.restart.as_ref().expect("a restart was recorded");
        let off = restart.scored && restart.error().abs() > TIME_TOLERANCE;
        return off.then(|| format!("restart time {:+.1} % off", 100.0 * restart.error()));
    };
    let first = result.differences.iter().flatten().next();
    match verdict {
        ValidationVerdict::Equal => None,
        ValidationVerdict::OtherReplay => Some(format!("equal only if {:?}", result.equal_replay)),
        ValidationVerdict::Different => Some(format!("different, first {first:?}")),
        ValidationVerdict::NotSimulated => Some(format!("not simulated: {:?}", result.not_simulated)),
    }
}

#[test]
fn every_recording_is_equal_or_a_known_difference() {
    let known: Vec<Known> = serde_yaml::from_str(KNOWN).expect("the list of known differences is YAML");
    let files: Vec<&str> = known.iter().map(|k| k.file.as_str()).collect();
    assert!(files.is_sorted_by(|a, b| a < b), "the list must be sorted and have each file once");
    let nameless = known.iter().filter(|k| k.mechanism.trim().is_empty());
    assert_eq!(nameless.count(), 0, "every difference must have a mechanism");
    let recordings = recordings();
    let mut there: BTreeSet<&str> = recordings.iter().map(|file| file.name.as_str()).collect();
    there.extend(support::omitted_recordings());
    let mut problems: Vec<String> = files
        .iter()
        .filter(|file| !there.contains(*file))
        .map(|file| format!("{file}: there is no such recording; remove it from the list"))
        .collect();
    let known: BTreeSet<&str> = files.into_iter().collect();
    let defaults = defaults();
    let mut compared: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for File { name: file, path, text } in recordings.iter().step_by(support::cases(8, 1) as usize) {
        let trouble = difference(&play(path, text, &defaults));
        let kind = file.split('/').next().unwrap_or("");
        let count = compared.entry(kind).or_default();
        *count = (count.0 + usize::from(trouble.is_none()), count.1 + 1);
        match (trouble, known.contains(file.as_str())) {
            (Some(trouble), false) => problems.push(format!("{file}: {trouble}")),
            (None, true) => problems.push(format!("{file}: the recording is equal; remove it from the list")),
            _ => {}
        }
    }
    let (equal, total) = compared.values().fold((0, 0), |all, kind| (all.0 + kind.0, all.1 + kind.1));
    print_to_stderr(&format!("recordings: {total} files compared, {equal} equal: {compared:?}"));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the comparison in JSON format.
fn json_of(file: &str, text: &str, defaults: &RecordingDefaults) -> String {
    let results = [play(file, text, defaults)];
    output::json(&results, &ResultTotals::from_files(&results)).to_string()
}

/// Returns the recordings of decisions, as JSON; some of them, because each is compared twice.
fn decision_recordings() -> Vec<(String, Value)> {
    let decided = |file: File| {
        let json: Value = serde_json::from_str(&file.text).ok()?;
        let kind = json["kind"].as_str().unwrap_or("");
        ["decisions", "corner", "nodes"].contains(&kind).then_some((file.name, json))
    };
    let all = recordings().into_iter().filter_map(decided);
    all.step_by(support::cases(12, 4) as usize).collect()
}

#[test]
fn descriptions_of_recordings_do_not_affect_results() {
    let defaults = defaults();
    for (file, mut json) in decision_recordings() {
        let before = json_of(&file, &json.to_string(), &defaults);
        json["about"] = json!("");
        let after = json_of(&file, &json.to_string(), &defaults);
        assert_eq!(before, after, "{file}");
    }
}

/// The name is also the namespace and occurs in the server's messages, in objects and in responses, so it is
/// replaced everywhere. Digests of it (the label `job-key`) are masked.
#[test]
fn names_of_recordings_do_not_affect_results() {
    let defaults = defaults();
    let digest = Regex::new("[0-9a-f]{40}").expect("a regular expression");
    let masked = |text: &str| digest.replace_all(text, "<digest>").into_owned();
    for (file, json) in decision_recordings() {
        let name = json["name"].as_str().expect("a recording has a name").to_owned();
        let other = "q".repeat(name.len());
        let renamed = |text: &str| text.replace(&name, &other);
        let text = masked(&json.to_string());
        let before = json_of(&file, &text, &defaults);
        let after = json_of(&renamed(&file), &renamed(&text), &defaults);
        assert_eq!(masked(&renamed(&before)), masked(&after), "{file}");
    }
}

/// Recorded decisions, placements, logs and stored objects are used only for the comparison.
#[test]
fn the_scenario_of_a_recording_does_not_know_what_came_out() {
    let defaults = defaults();
    let of = |file: &str, json: &Value| {
        let recording = read(file, &json.to_string()).expect("a recording is well-formed");
        format!("{:?}", replay_scenario(&recording, &defaults, &ScenarioOverrides::default()))
    };
    for (file, mut json) in decision_recordings() {
        let before = of(&file, &json);
        for key in ["log", "jobs", "pods", "events"] {
            json[key] = json!([]);
        }
        json["status"] = Value::Null;
        json["storedSpec"] = Value::Null;
        json["deleted"] = json!(false);
        assert_eq!(before, of(&file, &json), "{file}");
    }
}
