//! Large lists of Pods, which two threads read.

use serde_json::json;
use sim_inputs::{ImportRequest, imported};
use std::path::PathBuf;

/// Pods of the list; each has an annotation that makes the file large enough for two threads.
const PODS: usize = 340;
const ANNOTATION: usize = 100_000;

fn pod(number: usize, is_large: bool, kind: Option<&str>) -> serde_json::Value {
    let annotation = if is_large { "x".repeat(ANNOTATION) } else { String::new() };
    let mut pod = json!({
        "metadata": {"name": format!("pod-{number}"), "annotations": {"text": annotation}},
        "spec": {"nodeName": format!("node-{}", number % 4), "containers": [
            {"resources": {"requests": {"cpu": format!("{}m", 1 + number / 4)}}}]},
        "status": {"phase": "Running"}});
    if let Some(kind) = kind {
        pod["kind"] = kind.into();
    }
    pod
}

/// Writes a list with kubectl's indentation.
fn listed(pods: &[serde_json::Value], kind: &str) -> String {
    let indented = |pod: &serde_json::Value| {
        let mut text = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut text, format);
        serde::Serialize::serialize(pod, &mut writer).expect("JSON");
        String::from_utf8(text).expect("text").replace('\n', "\n        ")
    };
    let pods: Vec<String> = pods.iter().map(indented).collect();
    format!("{{\n    \"items\": [\n        {}\n    ],\n    \"kind\": \"{kind}\"\n}}\n", pods.join(",\n        "))
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("jobset-sim-import-{name}-{}.json", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

/// Returns the imported topology, or the error, as text.
fn import(name: &str, pods: &str) -> String {
    let node = |n: usize| json!({"kind": "Node", "metadata": {"name": format!("node-{n}")}, "status": {"allocatable": {"cpu": "8"}}});
    let nodes: Vec<serde_json::Value> = (0..4).map(node).collect();
    let nodes = file(&format!("{name}-nodes"), &listed(&nodes, "List"));
    let pods = file(&format!("{name}-pods"), pods);
    let request = ImportRequest { name: "c", pods: &[pods.display().to_string()], anonymize: false };
    let read = imported(&nodes.display().to_string(), &request);
    let text = match read {
        Ok(read) => format!("{:?}", read.topology.pools),
        Err(problems) => problems.to_string().lines().next().unwrap_or("").to_owned(),
    };
    [nodes, pods].iter().for_each(|path| drop(std::fs::remove_file(path)));
    text
}

#[test]
fn a_large_list_gives_the_occupancy_of_the_same_pods_in_a_small_list() {
    let pods = |is_large: bool, kind: Option<&str>| -> Vec<serde_json::Value> {
        (0..PODS).map(|number| pod(number, is_large, kind)).collect()
    };
    let small = import("small", &listed(&pods(false, Some("Pod")), "List"));
    assert!(small.contains("\"cpu\": 3655"), "85 pods of 1m to 85m occupy a node: {small}");
    let large = listed(&pods(true, Some("Pod")), "List");
    let cases = [
        ("the output of kubectl", large.clone()),
        ("a typed list, whose objects have no kind", listed(&pods(true, None), "PodList")),
        ("a list without kubectl's indentation", large.replace("\n        ", "\n")),
        ("a list and an object after it", format!("{large}{{\"kind\": \"Service\"}}\n")),
    ];
    for (n, (case, text)) in cases.iter().enumerate() {
        assert_eq!(import(&format!("large-{n}"), text), small, "{case}");
    }
}

#[test]
fn a_large_list_that_ends_too_early_is_an_error() {
    let pods: Vec<serde_json::Value> = (0..PODS).map(|number| pod(number, true, Some("Pod"))).collect();
    let text = listed(&pods, "List");
    let cut = text.rfind("\n        },\n        {").expect("two pods");
    let error = import("cut", &text[..cut]);
    assert!(error.contains("incomplete"), "{error}");
}
