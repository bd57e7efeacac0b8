//! Dumps that cannot be imported, or lack something.

use super::import;
use crate::program::{program, run_with_stdin, scratch};
use serde_json::json;
use sim_inputs::{ImportRequest, ImportedTopology, SourceText, import_nodes};

fn error(text: &str) -> String {
    let source = SourceText { file: "nodes.json".into(), text: text.to_owned() };
    let request = ImportRequest { name: "prod", ..ImportRequest::default() };
    import_nodes(&source, &request).expect_err("an invalid dump").to_string()
}

const NODE: &str = r#"{"kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4"}}}"#;

#[test]
fn unusable_dumps_are_explained() {
    let list = |items: &str| format!("{{\"kind\":\"List\",\"items\":[{items}]}}");
    let cases = [
        (list(NODE)[..60].to_owned(), &["nodes.json:1:", "ends too early: the file is incomplete"][..]),
        (list(&format!("{NODE},{NODE}")), &["duplicate Node \"a\": entries 1 and 2 of the list"]),
        (list(&NODE.replace("\"name\":\"a\"", "")), &["Node 1 of the list has no metadata.name"]),
        (list(&NODE.replace("\"4\"", "\"four\"")), &["Node \"a\": allocatable cpu:", "four"]),
        (list(&NODE.replace("\"4\"", "\"-4\"")), &["Node \"a\": allocatable cpu: -4 is negative"]),
        (list(&NODE.replace("{\"name\":\"a\"}", "7")), &["invalid type: integer `7`", "kubectl get nodes -o json"]),
        (list(""), &["the list contains no Node", "kubectl get nodes -o json"]),
        (list(&NODE.replace("Node", "Pod")), &["a list of Pods, not of Nodes", "topology import NODES --pods FILE"]),
        ("NAME   STATUS   ROLES\na   Ready   <none>\n".to_owned(), &["nodes.json"]),
    ];
    for (text, parts) in cases {
        let message = error(&text);
        for part in parts {
            assert!(message.contains(part), "{part:?}: {message}");
        }
    }
}

#[test]
fn a_cluster_without_accelerators_or_with_incomplete_slices_is_noted() {
    let notes = import(NODE).notes.join("; ");
    assert!(notes.contains("no node has accelerators"), "{notes}");
    let tpu = NODE.replace("\"cpu\":\"4\"", "\"google.com/tpu\":\"4\"");
    let notes = import(&tpu).notes.join("; ");
    assert!(notes.contains("the slices of these TPU nodes are unknown") && notes.ends_with(": a"), "{notes}");
    let labels =
        r#""name":"a","labels":{"cloud.google.com/gke-nodepool":"p","cloud.google.com/gke-tpu-topology":"2x2x2"}"#;
    let notes = import(&tpu.replace("\"name\":\"a\"", labels)).notes.join("; ");
    assert!(notes.contains("incomplete TPU slices: p (4 of 8 chips)"), "{notes}");
}

/// Objects of other kinds may have fields of the same names with other types.
#[test]
fn other_objects_in_a_dump_are_counted() {
    let other = r#"{"kind":"NodePool","metadata":{"name":"x"},"spec":{"taints":"none","containers":3}}"#;
    let list = format!("{{\"kind\":\"List\",\"items\":[{other},{NODE}]}}");
    let notes = import(&list).notes.join("; ");
    assert!(notes.contains("not imported: 1 of kind \"NodePool\""), "{notes}");
}

/// The API server omits the kind of items, and `kubectl` writes the kind of a list after them.
#[test]
fn items_of_typed_lists_have_the_kind_of_the_list() {
    let list = |items: &str| format!("{{\"items\":[{items}],\"kind\":\"List\"}}");
    let described = |text: &str| {
        let ImportedTopology { topology, notes, .. } = import(text);
        format!("{topology:?} {notes:?}")
    };
    let untyped = NODE.replace("\"kind\":\"Node\",", "");
    for typed in ["{\"kind\":\"NodeList\",\"items\":[ITEM]}", "{\"items\":[ITEM],\"kind\":\"NodeList\"}"] {
        assert_eq!(described(&typed.replace("ITEM", &untyped)), described(&list(NODE)), "{typed}");
    }
    let notes = import(&list(&format!("{NODE},{untyped}"))).notes.join("; ");
    assert!(notes.contains("not imported: 1 of kind \"\""), "{notes}");
}

#[test]
fn a_wrong_request_names_its_pod_and_its_file() {
    let dir = scratch("wrong-request");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let pod = |cpu: &str| {
        json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "a",
            "containers": [{"resources": {"requests": {"cpu": cpu}}}]}})
    };
    for (name, text) in [("nodes", NODE.to_owned()), ("b", pod("one").to_string()), ("c", pod("1").to_string())] {
        std::fs::write(path(name), text).unwrap();
    }
    let output = program(&["topology", "import", &path("nodes"), "--pods", &path("b"), "--pods", &path("c")]).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && errors.contains("Pod \"n/p\" requests cpu: \"one\""), "{errors}");
    assert!(errors.ends_with(&format!(" --> {}\n", path("b"))), "{errors}");
    std::fs::remove_dir_all(dir).unwrap();
}

/// JSON files are read in parts and standard input as a whole.
#[test]
fn an_error_in_a_file_has_a_position_and_a_file_equals_standard_input() {
    let dir = scratch("parts");
    let file = dir.join("nodes.json");
    for text in [NODE.to_owned(), format!("{{\"kind\":\"List\",\"items\":[{NODE},{{}}]}}"), NODE[..60].to_owned()] {
        std::fs::write(&file, &text).unwrap();
        let read = program(&["topology", "import", file.to_str().unwrap()]).output().unwrap();
        let piped = run_with_stdin(&["topology", "import", "-"], &text);
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(file.to_str().unwrap(), "<stdin>");
        assert_eq!(plain(&read.stdout), plain(&piped.stdout));
        assert_eq!((read.status.code(), plain(&read.stderr)), (piped.status.code(), plain(&piped.stderr)));
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_list_in_place_of_a_topology_names_the_command() {
    let dir = scratch("list");
    let file = dir.join("nodes.json");
    std::fs::write(&file, NODE).unwrap();
    let file = file.to_str().unwrap();
    let output = program(&["topology", "check", file]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).replace("\n  ", " ");
    assert!(output.status.success() && text.contains("jobset-sim topology import"), "{text}");
    std::fs::remove_dir_all(dir).unwrap();
    let output = run_with_stdin(&["topology", "import", "-", "--pods", "none.json"], NODE);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && text.contains("none.json"), "{text}");
}

/// Overrides reach the fields of a topology that is given as a file or generated, and their errors name the override.
#[test]
fn fields_of_a_topology_file_can_be_set() {
    let manifest = "scenarios/manifests/workers.yaml";
    let run =
        |words: &[&str]| program(&[&["run", "-f", manifest, "--format", "json"], words].concat()).output().unwrap();
    let set = ["--set", "topology.pools[0].nodesPerIsland=1"];
    let small = run(&[&["-t", "small-16"], &set[..]].concat());
    let whole = run(&["-t", "small-16"]);
    assert_ne!(small.stdout, whole.stdout);
    let wrong = run(&["-t", "small-16", "--set", "topology.pools[0].nodesPerIsland=many"]);
    let text = String::from_utf8_lossy(&wrong.stderr);
    assert!(wrong.status.code() == Some(2) && text.contains("topology.pools[0].nodesPerIsland"), "{text}");
    let unknown = run(&["-t", "small-16", "--set", "topology.pools[0].size=3"]);
    let text = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() == Some(2) && text.contains("size"), "{text}");
    let generated = run(&["--set", "topology.pools[0].count=9"]);
    assert!(generated.status.success(), "{}", String::from_utf8_lossy(&generated.stderr));
}
