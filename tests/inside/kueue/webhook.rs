//! Unit tests of `sim_kueue::workload::webhook`.

use super::*;
use sim_api::spec::kueue::{LocalQueue, WorkloadPriorityClass};
use sim_api::spec::{JobSetSpec, PodTemplate, ReplicatedJob};
use std::collections::BTreeMap;

const AT: &str = "spec.replicatedJobs[0].template.spec.template.metadata.annotations";
const AT_1: &str = "spec.replicatedJobs[1].template.spec.template.metadata.annotations";

/// A replicatedJob with a number of pods. Annotations are written without their common prefix.
fn job(count: u32, annotations: &[(&str, &str)]) -> ReplicatedJob {
    let annotation = |(key, value): &(&str, &str)| (format!("kueue.x-k8s.io/podset-{key}"), (*value).to_owned());
    let template = PodTemplate { annotations: annotations.iter().map(annotation).collect(), ..PodTemplate::default() };
    let mut job = ReplicatedJob { replicas: count, ..ReplicatedJob::default() };
    job.template.template = template;
    job
}

fn answer(jobs: Vec<ReplicatedJob>) -> String {
    let spec = JobSetSpec { replicated_jobs: jobs, ..JobSetSpec::default() };
    let rejection = refusal(&JobSet { spec, ..JobSet::default() }, &KueueObjects::default());
    let message = rejection.map(|rejection| rejection.message).unwrap_or_default();
    message.replace("admission webhook \"vjobset.kb.io\" denied the request: ", "")
}

#[test]
fn kueue_refuses_annotations_that_contradict_each_other() {
    let p = "kueue.x-k8s.io/podset-";
    let cases = [
        ("a request is accepted", vec![job(4, &[("required-topology", "rack")])], String::new()),
        (
            "two levels are refused",
            vec![job(4, &[("required-topology", "rack"), ("preferred-topology", "rack")])],
            format!(
                "{AT}: Invalid value: must not contain more than one topology annotation: [\"{p}required-topology\", \
                 \"{p}preferred-topology\", \"{p}unconstrained-topology\"]"
            ),
        ),
        (
            "a slice needs a size",
            vec![job(4, &[("slice-required-topology", "rack")])],
            format!("{AT}[{p}slice-size]: Required value: must be set when '{p}slice-required-topology' is specified"),
        ),
        (
            "a slice has at most the pods of the replicatedJob",
            vec![job(4, &[("slice-required-topology", "rack"), ("slice-size", "5")])],
            format!("{AT}[{p}slice-size]: Invalid value: \"5\": must not be greater than pod set count 4"),
        ),
        (
            "a size is a number",
            vec![job(4, &[("slice-required-topology", "rack"), ("slice-size", "x")])],
            "strconv.ParseInt: parsing \"x\": invalid syntax".to_owned(),
        ),
        (
            "layers divide each other",
            vec![job(
                6,
                &[(
                    "slice-required-topology-constraints",
                    "[{\"topology\":\"a\",\"size\":6},{\"topology\":\"b\",\"size\":4}]",
                )],
            )],
            format!(
                "{AT}[{p}slice-required-topology-constraints][1].size: Invalid value: 4: must evenly divide the parent \
                 layer size 6"
            ),
        ),
        (
            "a size with a sign and a size beyond any number are read like Go does",
            vec![
                job(4, &[("slice-required-topology", "rack"), ("slice-size", "+2")]),
                job(4, &[("slice-required-topology", "rack"), ("slice-size", &"9".repeat(53))]),
            ],
            format!("strconv.ParseInt: parsing \"{}\": value out of range", "9".repeat(53)),
        ),
        (
            "a group with a sign is no number",
            vec![
                job(1, &[("required-topology", "rack"), ("group-name", "+5")]),
                job(2, &[("required-topology", "rack"), ("group-name", "+5")]),
            ],
            String::new(),
        ),
        (
            "a group has two pod sets",
            vec![job(1, &[("required-topology", "rack"), ("group-name", "g")])],
            format!(
                "{AT}[{p}group-name]: Invalid value: \"g\": can only define groups of exactly 2 pod sets, got: 1 pod \
                 set(s)"
            ),
        ),
        (
            "both pod sets of a group request the same level",
            vec![
                job(1, &[("required-topology", "rack"), ("group-name", "g")]),
                job(2, &[("preferred-topology", "rack"), ("group-name", "g")]),
            ],
            format!(
                "[{AT}: Invalid value: must specify '{p}required-topology' or '{p}preferred-topology' topology \
                 consistent with '{AT_1}' in group 'g', {AT_1}: Invalid value: must specify '{p}required-topology' or \
                 '{p}preferred-topology' topology consistent with '{AT}' in group 'g']"
            ),
        ),
    ];
    for (name, jobs, message) in cases {
        assert_eq!(answer(jobs), message, "{name}");
    }
}

/// Texts of the annotation of slice layers in a replicatedJob with four pods, with Kueue's answers.
#[test]
fn the_annotation_of_slice_layers_is_read_like_gos_json() {
    let key = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
    let parse = "failed to parse multi-layer topology constraints annotation: ";
    let go = format!("{parse}json: cannot unmarshal");
    let (list, layer) = (
        "Go value of type []v1beta2.PodsetSliceRequiredTopologyConstraint",
        "Go struct field PodsetSliceRequiredTopologyConstraint",
    );
    let count = |n: usize| format!("topology constraints must contain between 1 and 3 entries: got {n}");
    let four =
        r#"[{"topology":"a","size":4},{"topology":"b","size":2},{"topology":"c","size":1},{"topology":"d","size":1}]"#;
    let too_small = |n: i32| format!("{AT}[{key}][0].size: Invalid value: {n}: must be greater than or equal to 1");
    let cases = [
        (r#"[{"topology":"rack","size":4}]"#, String::new()),
        (r#"[{"Topology":"rack","SIZE":4,"other":true}]"#, String::new()),
        ("[]", count(0)),
        ("null", count(0)),
        (four, count(4)),
        ("junk", format!("{parse}invalid character 'j' looking for beginning of value")),
        ("", format!("{parse}unexpected end of JSON input")),
        ("{}", format!("{go} object into {list}")),
        ("\"rack\"", format!("{go} string into {list}")),
        ("[1]", format!("{go} number into Go value of type v1beta2.PodsetSliceRequiredTopologyConstraint")),
        (r#"[{"topology":"rack","size":"4"}]"#, format!("{go} string into {layer}.size of type int32")),
        (r#"[{"topology":"rack","size":4.5}]"#, format!("{go} number 4.5 into {layer}.size of type int32")),
        (r#"[{"topology":1,"size":4}]"#, format!("{go} number into {layer}.topology of type string")),
        (r#"[{"topology":"rack"}]"#, too_small(0)),
        (r#"[{"topology":"rack","size":-1}]"#, too_small(-1)),
        (
            r#"[{"topology":"rack","size":5}]"#,
            format!("{AT}[{key}]: Invalid value: 5: must not be greater than pod set count 4"),
        ),
        (
            r#"[{"topology":"a b","size":4}]"#,
            format!(
                "{AT}[{key}][0].topology: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', \
                 '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                 '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(answer(vec![job(4, &[("slice-required-topology-constraints", text)])]), message, "{text}");
    }
}

/// Cases of upstream's validation functions, with the names of the functions.
#[derive(serde::Deserialize)]
struct ValidationTable {
    /// Functions without a case, each with the reason.
    without_case: BTreeMap<String, String>,
    cases: Vec<ValidationCase>,
}

#[derive(serde::Deserialize)]
struct ValidationCase {
    function: String,
    name: String,
    /// The JobSet before the change; absent for a new JobSet.
    old: Option<Metadata>,
    new: Metadata,
    /// Whether the namespace has a LocalQueue named `default`.
    #[serde(default)]
    default_queue: bool,
    /// Error of the webhook, or empty if it accepts the JobSet.
    error: String,
}

/// Labels, annotations and `suspend`; keys are written without `kueue.x-k8s.io/`.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Metadata {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    runs: bool,
}

impl Metadata {
    fn jobset(&self) -> JobSet {
        let full = |map: &BTreeMap<String, String>| {
            map.iter().map(|(key, value)| (format!("kueue.x-k8s.io/{key}"), value.clone())).collect()
        };
        let mut jobset = JobSet { namespace: "default".to_owned(), ..JobSet::default() };
        (jobset.labels, jobset.annotations) = (full(&self.labels), full(&self.annotations));
        jobset.spec.suspend = !self.runs;
        jobset
    }
}

#[test]
fn the_webhook_refuses_what_upstreams_validation_functions_refuse() {
    let table: ValidationTable = serde_json::from_str(include_str!("validation.json")).expect("a table");
    for case in &table.cases {
        let queue = LocalQueue {
            namespace: "default".to_owned(),
            name: DEFAULT_LOCAL_QUEUE.to_owned(),
            ..LocalQueue::default()
        };
        let local_queues = if case.default_queue { vec![queue] } else { Vec::new() };
        let objects = KueueObjects { local_queues, ..KueueObjects::default() };
        let new = case.new.jobset();
        let rejection = match &case.old {
            Some(old) => update_refusal(&old.jobset(), &new, &objects),
            None => refusal(&new, &objects),
        };
        let message = rejection.map(|rejection| rejection.message).unwrap_or_default();
        let message = message.replace("admission webhook \"vjobset.kb.io\" denied the request: ", "");
        assert_eq!(message, case.error, "{}: {}", case.function, case.name);
    }
    let with_case = |function: &str| table.cases.iter().any(|case| case.function == function);
    for (function, reason) in &table.without_case {
        assert!(!with_case(function) && !reason.is_empty(), "{function} has a case or no reason");
    }
    // Each rule refuses something in one of its cases.
    for case in &table.cases {
        let refuses = |other: &&ValidationCase| other.function == case.function && !other.error.is_empty();
        assert!(table.cases.iter().any(|other| refuses(&other)), "{} refuses nothing", case.function);
    }
}

#[test]
fn a_jobset_gets_the_default_queue_and_the_default_class_unless_it_names_others() {
    let class = |name: &str| WorkloadPriorityClass { name: name.to_owned(), value: 1 };
    let mut objects =
        KueueObjects { priority_classes: vec![class("low"), class("default")], ..KueueObjects::default() };
    let completed = |labels: &[(&str, &str)], objects: &KueueObjects| {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut jobset = JobSet { labels, ..JobSet::default() };
        set_defaults(&mut jobset, objects);
        jobset.labels.get(KUEUE_PRIORITY_CLASS).cloned()
    };
    assert_eq!(completed(&[], &objects).as_deref(), Some("default"));
    assert_eq!(completed(&[(KUEUE_PRIORITY_CLASS, "low")], &objects).as_deref(), Some("low"));
    objects.configuration.manages_jobsets = false;
    assert_eq!(completed(&[], &objects), None, "Kueue does not manage JobSets");
    objects = KueueObjects { priority_classes: vec![class("low")], ..KueueObjects::default() };
    assert_eq!(completed(&[], &objects), None, "no class is named default");
}
