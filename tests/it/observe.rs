//! `recording commands` and `recording import`: what is read from kubectl's output about a restart, and what a
//! recording omits.

mod printer;
mod variants;

use crate::program::{program, scratch};
use crate::support::root;

use serde_json::{Value, json};
use sim_recordings::observe;
use sim_recordings::observe::{ImportedRecording, ObservedLifecycle, WatchReader, anonymizer, lifecycle};
use sim_recordings::validate::read;
use sim_recordings::validate::scenario::ScenarioOverrides;
use sim_recordings::validate::simulate;
use std::collections::{BTreeMap, BTreeSet};

fn run(arguments: &[&str]) -> std::process::Output {
    program(arguments).output().expect("the program runs")
}

const WATCHES: [&str; 5] =
    ["watch-jobsets.json", "watch-jobs.json", "watch-pods.json", "watch-events.json", "nodes.json"];

fn text(file: &str) -> String {
    let path = root().join("tests/recordings/kubectl").join(file);
    std::fs::read_to_string(path).expect("the recording is in the repository")
}

fn imported(files: &[&str]) -> (ObservedLifecycle, ImportedRecording) {
    let mut reader = WatchReader::default();
    for file in files {
        let text = text(file);
        if file.ends_with(".json") {
            reader.read_json(file, &text).expect("kubectl prints JSON")
        } else {
            let source = sim_inputs::SourceText { file: (*file).to_owned(), text };
            for value in sim_inputs::documents(&source).expect("kubectl prints YAML") {
                reader.read_value(value).expect("the document contains objects");
            }
        }
    }
    let chosen = lifecycle::select_jobset(&reader.versions, None, None).expect("one JobSet");
    let lifecycle = lifecycle::observed_lifecycle(&reader.versions, &chosen);
    let defaults = sim_inputs::control_plane("stock").expect("a preset");
    let imported = observe::import(&lifecycle, 1, &defaults).expect("a restart");
    (lifecycle, imported)
}

/// Time of each milestone in seconds after 22:13:00 on that day, determined by hand from the raw lines. Event names
/// contain nanoseconds. Other times are bounded by neighboring writes: the failing pod's status is write 9023 in
/// second 5, and the Job controller deleted the first of its siblings at 6.27, a batch period of 1 s later.
const MANUAL_MILESTONES: [(&str, f64); 12] = [
    ("podFailed", 5.25),
    ("failureTarget", 6.30),
    ("jobFailed", 8.81),
    ("restartCounted", 8.82),
    ("firstJobDeleting", 8.83),
    ("firstJobGone", 8.95),
    ("firstJobCreated", 8.98),
    ("firstPodCreated", 8.99),
    ("lastOldPodGone", 10.90),
    ("lastJobGone", 10.92),
    ("lastJobCreated", 10.94),
    ("lastPodCreated", 11.00),
];
/// Tolerance in seconds, because timestamps are whole seconds.
const TOLERANCE_S: f64 = 1.1;

fn check(json: &Value, wanted: &[&str]) {
    let hand: BTreeMap<&str, f64> = MANUAL_MILESTONES.into_iter().collect();
    let actual = json["milestones"]["milestones_s"].as_object().expect("milestones");
    assert_eq!(actual.keys().map(String::as_str).collect::<BTreeSet<_>>(), wanted.iter().copied().collect());
    for name in wanted {
        let expected = hand[name] - hand["podFailed"];
        let is = actual[*name].as_f64().expect("seconds");
        assert!((is - expected).abs() <= TOLERANCE_S, "{name}: {is}, expected {expected}");
    }
}

#[test]
fn every_milestone_of_a_watched_restart_is_found_within_the_resolution_of_its_timestamps() {
    let (life, imported) = imported(&WATCHES);
    let names: Vec<&str> = MANUAL_MILESTONES.iter().map(|(name, _)| *name).skip(1).collect();
    check(&imported.json, &names);
    // No node accepted a new pod, because all nodes had lost contact.
    let unknown: Vec<&str> = imported.restart.unknown.iter().map(|(m, _)| m.as_str()).collect();
    assert_eq!(unknown, ["lastPodBound", "lastReady", "jobsReady"]);
    assert_eq!(imported.restart.first_pod.as_deref(), Some("js-w-0-3-zv6hw"));
    // The later deletion of the JobSet by the user is not part of the restart.
    assert!(life.jobset.deleted.is_some());
    assert!(life.jobs.iter().filter(|j| j.attempt == "1").all(|j| j.gone.is_none()));
    let script = &imported.json["script"];
    let near = |key: &str, ms: i64| {
        let is = script[key].as_i64().expect("a number");
        assert!((is - ms).abs() <= 700, "{key} {is}");
    };
    near("startMs", 1000);
    near("termMs", 1500);
    assert_eq!(script["termExit"], 143);
    assert_eq!((&script["pods"][0]["podIndex"], &script["pods"][0]["exit"]), (&json!(3), &json!(1)));
    assert_eq!(script["actions"], json!([]));
}

#[test]
fn a_list_after_the_fact_holds_some_milestones_and_the_others_are_named() {
    let (_, imported) = imported(&["after.yaml"]);
    let held =
        ["jobFailed", "restartCounted", "firstJobCreated", "lastJobCreated", "firstPodCreated", "lastPodCreated"];
    check(&imported.json, &held);
    let unknown = imported.json["imported"]["unknown"].as_array().expect("a list");
    assert_eq!(held.len() + unknown.len(), 14);
    assert!(unknown.iter().all(|u| u["why"].as_str().is_some_and(|why| why.len() > 10)));
    assert!(imported.notes.iter().any(|n| n.contains("removed without a trace")));
    assert_eq!(imported.json["script"]["pods"][0]["podIndex"], 3);
}

#[test]
fn the_order_of_files_and_a_list_beside_the_watches_change_nothing() {
    let (_, one) = imported(&WATCHES);
    let mut files = WATCHES.to_vec();
    files.reverse();
    let (_, two) = imported(&files);
    assert_eq!(one.json["milestones"], two.json["milestones"]);
    files.push("after.yaml");
    let (_, three) = imported(&files);
    assert_eq!(one.json["milestones"], three.json["milestones"]);
}

#[test]
fn an_imported_restart_is_simulated_and_compared() {
    // A list made afterwards does not show that containers took 1.5 s to stop, once for each of the two deletions.
    for (files, off) in [(&WATCHES[..], 1.5), (&["after.yaml"], 3.0 + TOLERANCE_S)] {
        let (_, imported) = imported(files);
        for json in [imported.json.clone(), anonymizer::anonymize(&imported.json)] {
            let recording = read::read("f", &json.to_string()).expect("a recording");
            let defaults = simulate::defaults().expect("presets");
            let result = simulate::validate("f", &recording, &defaults, &ScenarioOverrides::default());
            assert_eq!(result.not_simulated, Vec::<String>::new());
            let restart = result.restart.expect("a restart");
            assert_eq!(restart.milestone, "lastPodCreated");
            let simulated = restart.simulated_s.expect("the restart is simulated");
            assert!((simulated - restart.recorded_s).abs() < off, "{simulated} {}", restart.recorded_s);
        }
    }
}

/// Returns the words that a user or a cluster chose: names, images, nodes, addresses, ids, label values.
fn private_words() -> BTreeSet<String> {
    const KEYS: [&str; 9] =
        ["name", "namespace", "uid", "image", "nodeName", "hostIP", "podIP", "generateName", "resourceVersion"];
    let mut words = BTreeSet::new();
    fn walk(value: &Value, words: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, words)),
            Value::Object(map) => {
                for (key, value) in map {
                    if let (true, Some(word)) = (KEYS.contains(&key.as_str()), value.as_str()) {
                        words.insert(word.to_owned());
                    }
                    walk(value, words);
                }
            }
            _ => {}
        }
    }
    for file in WATCHES {
        let text = text(file);
        let stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        stream.for_each(|value| walk(&value.expect("JSON"), &mut words));
    }
    words
}

#[test]
fn nothing_of_the_original_is_left_in_an_anonymous_recording() {
    let (_, imported) = imported(&WATCHES);
    let plain = imported.json.to_string();
    // The same restart with further confidential values in the JobSet.
    let mut secret = imported.json.clone();
    let spec = &mut secret["jobSet"]["spec"]["replicatedJobs"][0];
    spec["template"]["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{"name": "TOKEN", "value": "hunter2"}]);
    spec["template"]["spec"]["template"]["spec"]["containers"][0]["command"] = json!(["python", "secret-model.py"]);
    spec["template"]["spec"]["template"]["spec"]["containers"][0]["resources"] =
        json!({"requests": {"acme.example/chip": "1"}});
    spec["template"]["spec"]["template"]["metadata"]["labels"] = json!({"team": "moonshot"});
    spec["template"]["spec"]["template"]["spec"]["serviceAccountName"] = json!("moonshot-robot");
    secret["jobSet"]["metadata"]["labels"] = json!({"owner": "moonshot"});
    secret["jobSet"]["metadata"]["annotations"] =
        json!({"note": "moonshot", "alpha.jobset.sigs.k8s.io/exclusive-topology": "acme.example/rack"});
    let hidden = ["hunter2", "secret-model", "acme.example", "moonshot", "python", "TOKEN"];
    let own = private_words();
    assert!(own.len() > 200 && own.iter().filter(|w| plain.contains(w.as_str())).count() > 30);
    // These words also occur in the API.
    let known: BTreeSet<&str> = ["default", "jobset", "kube"].into();
    for json in [&imported.json, &secret] {
        let text = anonymizer::anonymize(json).to_string();
        for word in own.iter().map(String::as_str).chain(hidden) {
            // Resource versions are short numbers and may coincide with milliseconds.
            let telling = word.len() > 1 && word.parse::<u64>().is_err() && !known.contains(word);
            assert!(!telling || !is_word(&text, word), "{word} remains in {text}");
        }
    }
}

/// Returns whether the text contains the word, except as a part of a longer word.
fn is_word(text: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
    text.match_indices(word)
        .any(|(at, _)| !part(text[..at].chars().next_back()) && !part(text[at + word.len()..].chars().next()))
}

#[test]
fn nodes_get_new_names_in_the_order_in_which_they_are_met() {
    let (_, imported) = imported(&WATCHES);
    let json = anonymizer::anonymize(&imported.json);
    let nodes = |json: &Value| -> Vec<String> {
        let all = json["objects"].as_array().expect("nodes");
        all.iter().map(|n| n["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
    };
    let expected: Vec<String> = (0..nodes(&imported.json).len()).map(|n| format!("n-{n:05}")).collect();
    assert_eq!(nodes(&json), expected);
    assert_ne!(nodes(&imported.json), expected);
}

#[test]
fn hostile_texts_are_rejected_with_their_place_or_read_without_harm() {
    let dir = scratch("observe");
    let file = dir.join("f.json");
    let out = dir.join("out.json");
    for (text, expected) in [
        ("{\"type\": \"ADDED\"\n", ":2:"),
        ("{\"kind\": \"List\", \"items\": []}\n[1, 2", "in the middle of an object"),
        ("{\"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}}\n{\"a\": nope}", ":2:8"),
        ("{\"kind\": \"Pod\", \"metadata\": {}}", "Pod with a missing name"),
        ("{\"type\": \"EXPLODED\", \"object\": {\"kind\": \"Pod\"}}", "is not a watch event type"),
        ("{\"kind\": \"Secret\"}", "no JobSet in these files"),
        ("{\"items\": [\"a\"]}", "not a Kubernetes object: kind is missing"),
        ("{\"kind\": \"JobSet\", \"metadata\": {\"name\": \"a\"}}", "did not restart"),
        ("a: [", "f.json:1"),
    ] {
        std::fs::write(&file, text).expect("the file can be written");
        let done = run(&["recording", "import", &file.display().to_string(), "--out", &out.display().to_string()]);
        assert_eq!(done.status.code(), Some(2), "{text}");
        let output = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(output.contains(expected), "{text}: {output}");
        assert!(!out.exists(), "{text}");
    }
    let deep = "[".repeat(100_000);
    std::fs::write(&file, deep).expect("the file can be written");
    let done = run(&["recording", "import", &file.display().to_string(), "--out", &out.display().to_string()]);
    assert_eq!(done.status.code(), Some(2));
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn status_rows_that_are_not_objects_are_ignored() {
    let dir = scratch("observe-rows");
    let mut texts = WATCHES.map(text);
    let begin = "\"replicatedJobsStatus\":[";
    assert!(texts[0].contains(begin), "the watch contains the status");
    texts[0] = texts[0].replace(begin, &format!("{begin}\"secret\",3,"));
    let files: Vec<String> = (0..texts.len()).map(|i| dir.join(format!("{i}.json")).display().to_string()).collect();
    for (file, text) in files.iter().zip(&texts) {
        std::fs::write(file, text).expect("the file can be written");
    }
    let out = dir.join("out.json").display().to_string();
    let inputs = files.iter().map(String::as_str);
    let arguments: Vec<&str> =
        ["recording", "import", "--anonymize", "--out", &out].into_iter().chain(inputs).collect();
    let done = run(&arguments);
    let output = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{output}");
    let written = std::fs::read_to_string(&out).expect("the recording exists");
    assert!(!written.contains("secret"), "{written}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn control_characters_in_names_reach_no_terminal() {
    let dir = scratch("observe-names");
    let file = dir.join("f.json");
    let evil = "js\\u001b[2J";
    let status = |n: u32| {
        format!(
            "{{\"type\":\"MODIFIED\",\"object\":{{\"kind\":\"JobSet\",\"apiVersion\":\"jobset.x-k8s.io/v1alpha2\",\"metadata\":{{\"name\":\"{evil}\",\
         \"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"resourceVersion\":\"{n}\"}},\"spec\":{{}},\"status\":{{\"restarts\":{n}}}}}}}"
        )
    };
    std::fs::write(&file, format!("{}{}", status(0), status(1))).expect("the file can be written");
    let out = dir.join("out.json");
    let done = run(&["recording", "import", &file.display().to_string(), "--out", &out.display().to_string()]);
    let text = [done.stdout, done.stderr].concat();
    assert!(!text.contains(&0x1b), "{}", String::from_utf8_lossy(&text));
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn recording_commands_print_a_command_for_every_kind_that_import_reads() {
    let done = run(&["recording", "commands", "--jobset", "train", "-n", "research"]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let text = text.replace(" \\\n    ", " ");
    for part in [
        "kubectl get jobsets.jobset.x-k8s.io train -n research -w -o json --output-watch-events",
        "jobs -l jobset.sigs.k8s.io/jobset-name=train",
        "pods -l",
        "get events -n research",
        "get nodes -o json",
        "get --raw /metrics",
        "after.yaml",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let done = run(&["recording", "commands", "--jobset", "a;b"]);
    assert_eq!(done.status.code(), Some(2));
    let done = run(&["recording", "commands", "--jobset", "train", "--format", "json"]);
    let json: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(json["watches"].as_array().map(Vec::len), Some(5));
}
