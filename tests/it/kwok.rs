//! `export kwok`: the folder reads back, its script is one that a shell takes, and what it cannot say is named.

use crate::program::{program, scratch};
use crate::support::files;
use jobset_sim::manifest::{self, Source};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What was printed, and the folder.
fn exported(scenario: &str, more: &[&str], name: &str) -> (String, std::path::PathBuf) {
    let dir = scratch(name);
    let out = dir.join("kwok");
    let to = out.to_string_lossy().into_owned();
    let words = [&["export", "kwok", scenario, "--out", &to], more].concat();
    let done = program(&words).output().expect("the program starts");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{scenario}: {said}");
    (String::from_utf8_lossy(&done.stdout).into_owned(), out)
}

fn documents(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("it is written");
    let source = Source {
        file: file.display().to_string(),
        text,
    };
    manifest::documents(&source).unwrap_or_else(|e| panic!("{e}"))
}

fn is_shell(file: &Path) {
    let done = Command::new("sh")
        .arg("-n")
        .arg(file)
        .output()
        .expect("a shell");
    assert!(
        done.status.success(),
        "{}: {}",
        file.display(),
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn nodes_stages_and_jobsets_are_those_of_the_scenario() {
    let (told, dir) = exported("scenarios/first-steps.yaml", &[], "kwok");
    assert!(told.contains("Not expressed:"), "{told}");
    let nodes = documents(&dir.join("nodes.yaml"));
    assert_eq!(nodes.len(), 16);
    assert_eq!(
        nodes[0]["metadata"]["annotations"]["kwok.x-k8s.io/node"],
        "fake"
    );
    assert!(
        nodes[0]["status"]["allocatable"]["example.com/accelerator"].is_string(),
        "{}",
        nodes[0]
    );
    let all = documents(&dir.join("kwok.yaml"));
    let kinds: Vec<&str> = all.iter().filter_map(|o| o["kind"].as_str()).collect();
    assert_eq!(kinds[..2], ["KwokctlConfiguration", "Stage"]);
    let stages: Vec<&str> = all[1..]
        .iter()
        .filter_map(|o| o["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        stages[..5],
        [
            "node-ready",
            "node-heartbeat",
            "pod-start",
            "pod-exit",
            "pod-delete"
        ]
    );
    let start = &all[3]["spec"]["delay"]["durationMilliseconds"];
    assert!(start.as_u64().is_some_and(|ms| ms > 100), "{start}");
    // The topology that `topology import` makes of the nodes takes the JobSet again.
    let jobsets = files(&dir.join("jobsets"), "yaml");
    assert_eq!(jobsets.len(), 1);
    let (nodes, jobset) = (
        dir.join("nodes.yaml"),
        jobsets[0].to_string_lossy().into_owned(),
    );
    let words = [
        "run",
        "-f",
        &jobset,
        "-t",
        &nodes.to_string_lossy(),
        "--set",
        "stop.at=5m",
    ];
    let again = program(&words).output().expect("the program starts");
    assert_eq!(
        again.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
    let faults = fs::read_to_string(dir.join("faults.sh")).expect("it is written");
    assert!(
        faults.contains("after_ready 120 'kubectl annotate"),
        "{faults}"
    );
    assert!(faults.contains("jobset-sim/exit-code=1"), "{faults}");
    for name in ["faults.sh", "functions.sh", "run.sh", "record/train.sh"] {
        is_shell(&dir.join(name));
    }
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn every_action_of_the_script_is_a_command_or_is_named() {
    for (scenario, words) in [
        ("scenarios/node-drain.yaml", "kubectl drain"),
        ("scenarios/node-partition-return.yaml", "silence"),
        ("scenarios/taint-noexecute.yaml", "kubectl taint"),
    ] {
        let (_, dir) = exported(scenario, &[], "kwok-actions");
        let faults = fs::read_to_string(dir.join("faults.sh")).expect("it is written");
        assert!(faults.contains(words), "{scenario}: {faults}");
        is_shell(&dir.join("faults.sh"));
        let _ = fs::remove_dir_all(dir);
    }
    let (told, dir) = exported(
        "scenarios/stories/silent-node.yaml",
        &["--set", "stop.at=1h"],
        "kwok-silent",
    );
    assert!(told.contains("training: containers do nothing"), "{told}");
    let readme = fs::read_to_string(dir.join("README.md")).expect("it is written");
    assert!(readme.contains("Not expressed here"), "{readme}");
    let _ = fs::remove_dir_all(dir);
}

#[test]
fn a_directory_that_exists_is_not_written_over() {
    let dir = scratch("kwok-there");
    let to = dir.to_string_lossy().into_owned();
    let done = program(&["export", "kwok", "scenarios/first-steps.yaml", "--out", &to])
        .output()
        .unwrap();
    assert_eq!(
        done.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let done = program(&[
        "export",
        "kwok",
        "scenarios/published/bloom-176b.yaml",
        "--out",
        "x",
    ])
    .output()
    .unwrap();
    assert_eq!(done.status.code(), Some(2), "a Fleet has no objects");
    let _ = fs::remove_dir_all(dir);
}

/// Names are anybody's: what they hold reaches no terminal and no page as it is.
#[test]
fn a_name_of_control_characters_is_harmless_in_the_readme() {
    let named = ["--set", "metadata.name=\u{85}\u{202e}<b>"];
    let (_, out) = exported("scenarios/first-steps.yaml", &named, "kwok-name");
    let text = fs::read_to_string(out.join("README.md")).expect("it is written");
    assert!(text.starts_with("# \\\\u0085\\\\u202e&lt;b>"), "{text}");
    assert!(!text.contains(['\u{85}', '\u{202e}']), "{text}");
}
