//! Unit tests of `sim_kueue::workload::webhook`.

use super::*;
use sim_api::spec::{JobSetSpec, PodTemplate, ReplicatedJob};

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
    let rejection = refusal(&JobSet { spec, ..JobSet::default() });
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
