//! The JSON schema in a validator: it accepts the shipped files, and rejects what the checker rejects.

use jsonschema::Validator;
use sim_inputs::SourceText;
use sim_inputs::schema::check::{UnmodelledFields, check};
use sim_inputs::schema::definitions::root;
use sim_inputs::schema::field_type::FieldType;
use sim_inputs::schema::json_schema::*;
use sim_inputs::text::diagnostic::DiagnosticReport;
use sim_inputs::text::node::YamlNode;
use sim_inputs::text::path::YamlPath;
use sim_inputs::text::yaml;
use std::path::PathBuf;
const KINDS: [&str; 5] = ["Scenario", "Fleet", "Topology", "Timing", "JobSet"];

fn source(text: &str) -> SourceText {
    SourceText { file: "x".to_owned(), text: text.to_owned() }
}

/// Parses a text with exactly one document. Returns `None` otherwise.
fn document(text: &str) -> Option<YamlNode> {
    let documents = yaml::parse(&source(text)).ok()?;
    <[YamlNode; 1]>::try_from(documents).ok().map(|[node]| node)
}

/// Returns the checker's messages about a document.
fn errors(node: &YamlNode, shape: &FieldType) -> Vec<String> {
    let (of, none) = (source(""), SourceText::default());
    let mut report = DiagnosticReport::new(&of, &none);
    check(node, shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    report.found.iter().map(|e| e.message.clone()).collect()
}

fn validator(kind: &str) -> Validator {
    jsonschema::validator_for(&json_schema(kind).unwrap()).unwrap()
}

/// Returns the names and texts of the files of a kind in a folder of the repository.
fn texts(folder: &str, is: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut result: Vec<(String, String)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, path)
        })
        .filter(|(name, _)| name.ends_with(".yaml") && is(name))
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect();
    result.sort();
    result
}

#[test]
fn each_kind_has_a_schema_whose_references_resolve() {
    for kind in KINDS {
        let schema = json_schema(kind).unwrap();
        assert_eq!(schema["title"], kind);
        let text = schema.to_string();
        for part in text.split("\"#/$defs/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schema["$defs"][name].is_object(), "{kind}: {name}");
        }
    }
    assert!(json_schema("Pod").is_none());
}

#[test]
fn fields_carry_their_ranges_words_defaults_and_examples() {
    let schema = json_schema("Topology").unwrap();
    let pool = &schema["$defs"]["Pool"]["properties"];
    assert_eq!(pool["count"]["minimum"], 0);
    assert_eq!(pool["count"]["default"], 1);
    assert_eq!(pool["count"]["examples"][0], 5);
    assert!(pool["islandKind"]["enum"].is_array());
    assert!(pool["name"]["description"].is_string());
}

#[test]
fn everything_that_is_shipped_satisfies_its_schema() {
    let validators = KINDS.map(|kind| (kind, validator(kind)));
    for folder in [
        "scenarios", "scenarios/planning", "scenarios/published", "scenarios/stories", "scenarios/upstream",
        "topologies",
    ] {
        for (name, text) in texts(folder, |_| true) {
            let json = document(&text).unwrap().to_json();
            let kind = json["kind"].as_str().unwrap_or("none");
            let (_, validator) = validators.iter().find(|(known, _)| *known == kind).unwrap();
            let refused = validator.validate(&json).err();
            assert!(refused.is_none(), "{name}: {}", refused.unwrap());
        }
    }
}

#[test]
fn what_the_checker_rejects_of_the_bad_inputs_the_schema_rejects() {
    let mut count = 0;
    for (kind, prefix) in [("Scenario", "scenario-"), ("Topology", "topology-")] {
        let validator = validator(kind);
        let shape = FieldType::Object(root(kind).unwrap());
        for (name, text) in texts("tests/it/bad", |name| name.starts_with(prefix)) {
            let Some(node) = document(&text) else {
                continue;
            };
            let errors = errors(&node, &shape);
            let refused = !validator.is_valid(&node.to_json());
            assert!(errors.is_empty() || refused, "{name}: {errors:?}");
            count += usize::from(!errors.is_empty());
        }
    }
    assert!(count > 15, "{count}");
}

#[test]
fn a_parameter_may_replace_a_value_where_a_file_has_parameters() {
    let fleet = |spares: &str| {
        let text = include_str!("../../scenarios/planning/multislice-64x64.yaml");
        let json = document(&text.replace("nodes: ${spares}", &format!("nodes: {spares}")));
        validator("Fleet").is_valid(&json.unwrap().to_json())
    };
    assert!(fleet("${spares}") && fleet("8"));
    assert!(!fleet("many") && !fleet("\"8\"") && !fleet("[\"${spares}\"]"));
    assert!(!json_schema("Topology").unwrap().to_string().contains("${"));
}

/// Each text has a single error, so that the schema cannot reject it because of another one.
#[test]
fn each_error_of_shape_is_rejected_by_the_schema_as_well() {
    let head = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: x}\ntopology: t.yaml\n";
    let (schema, shape) = (validator("Scenario"), FieldType::Object(root("Scenario").unwrap()));
    let is_legal = |rest: &str| {
        let more = if rest.starts_with("jobSets:") { "" } else { "jobSets: [{manifest: j.yaml}]\n" };
        let node = document(&format!("{head}{more}{rest}")).unwrap();
        let errors = errors(&node, &shape);
        assert_eq!(errors.is_empty(), schema.is_valid(&node.to_json()), "{rest}: {errors:?}");
        errors.is_empty()
    };
    for legal in [
        "faults: [{at: 1s, deletePod: {pod: p}}]",
        "faults: [{afterReady: 0, crashNode: {ofPod: p, alias: a}}, {at: 1m30s, returnNode: {alias: a}}]",
        "faults: [{at: 1s, create: {object: {apiVersion: v1, kind: Namespace, metadata: {name: ml}}}}]",
        "controlPlane: {preset: kops, kubernetes: 1.30, jobset: \"0.12.1\"}",
        "timing: {sandbox: {uniform: [1, 2s]}, cleanup: {logNormal: {p50: 1, p95: 2}}, plegPeriod: 1.5s}",
        "containers: [{runFor: 10s, exitCode: 1}]",
        "objects: [{manifest: o.yaml}]",
    ] {
        assert!(is_legal(legal), "{legal}");
    }
    for bad in [
        "faults: [{at: 1s, deletePod: {pod: p}, evictPod: {pod: p}}]",
        "faults: [{deletePod: {pod: p}}]",
        "faults: [{at: 1s, afterReady: 1s, deletePod: {pod: p}}]",
        "faults: [{at: 1s}]",
        "faults: [{at: 1s, crashNode: {}}]",
        "faults: [{at: 1s, crashNode: {node: a, ofPod: p}}]",
        "faults: [{at: 1s, taintNode: {node: a, key: k}}]",
        "faults: [{at: 1s, create: {}}]",
        "faults: [{at: 1s, create: {jobSet: {}, object: {apiVersion: v1, kind: Namespace, metadata: {name: m}}}}]",
        "faults: [{at: 1s, create: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: m}}}}]",
        "faults: [{at: 5, deletePod: {pod: p}}]",
        "faults: [{at: -1s, deletePod: {pod: p}}]",
        "controlPlane: {preset: gke}",
        "controlPlane: {presets: kops}",
        "controlPlane: {kubeScheduler: {qps: -1}}",
        "timing: {sandbox: {uniform: [1]}}",
        "timing: {sandbox: {uniform: [1, 2], exponential: {mean: 1}}}",
        "timing: {sandbox: {}}",
        "timing: {sandbox: {logNormal: {median: 1}}}",
        "timing: {sandbox: {logNormal: {median: 1, sigma: 1, p50: 1}}}",
        "timing: {sandbox: 1s, kubelet: {scripted: {}}}",
        "containers: [{exitCode: 1}]",
        "jobSets: []",
        "jobSets: [{manifest: j.yaml, set: [replicas]}]",
        "jobSets: [{}]",
        "objects: [{kind: Nod}]",
        "stop: {when: Never}",
    ] {
        assert!(!is_legal(bad), "{bad}");
    }
}

#[test]
fn a_version_that_is_not_simulated_is_rejected() {
    let schema = validator("Scenario");
    for (versions, legal) in [
        ("kubernetes: 1.36", true),
        ("kubernetes: v1.24.3", true),
        ("kubernetes: 1.20", false),
        ("kubernetes: \"1.41\"", false),
        ("jobset: 0.13", true),
        ("jobset: 0.3", false),
    ] {
        let text = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: x}}\ntopology: t\n\
             jobSets: [{{manifest: j}}]\ncontrolPlane: {{{versions}}}"
        );
        let json = document(&text).unwrap().to_json();
        assert_eq!(schema.is_valid(&json), legal, "{versions}");
    }
}
