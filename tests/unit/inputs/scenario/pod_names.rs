//! Tests of `sim_inputs::scenario::pod_names`.

use sim_api::spec::SubmittedJobSet;
use sim_inputs::kube::read_manifests;
use sim_inputs::scenario::pod_names::*;
use sim_inputs::text::diagnostic::SourceText;
fn jobsets() -> Vec<SubmittedJobSet> {
    let text = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: js}\nspec:\n  replicatedJobs:\n  \
                - name: w-x\n    replicas: 2\n    template: {spec: {parallelism: 3, completions: 3, template: {spec: {containers: []}}}}\n  \
                - name: b\n    template: {spec: {completionMode: NonIndexed, template: {spec: {containers: []}}}}\n";
    let source = SourceText { file: "x".into(), text: text.into() };
    let manifests = read_manifests(&source).unwrap();
    let submit = |(jobset, source)| SubmittedJobSet { jobset, submit_at: sim_base::Duration::ZERO, source };
    manifests.jobsets.into_iter().map(submit).collect()
}

#[test]
fn a_pod_exists_if_its_job_and_index_do() {
    let jobsets = jobsets();
    for (name, expected) in [
        ("js-w-x-0-0", true),
        ("js-w-x-1-2", true),
        ("js-w-x-2-0", false),
        ("js-w-x-0-3", false),
        ("js-w-x-0", false),
        ("js-w-x-00-0", false),
        ("js-b-0-0", true),
        ("js-b-0-1", false),
        ("js-b-0", true),
        ("js-b-1", false),
        ("js-b-0-", false),
        ("other", false),
    ] {
        assert_eq!(exists(&jobsets, name), expected, "{name}");
    }
    assert_eq!(meant(&jobsets, "w-x/1/2"), ["js-w-x-1-2"]);
    assert_eq!(meant(&jobsets, "b-0-0"), ["js-b-0-0"]);
    assert_eq!(meant(&jobsets, "js-b-0"), ["js-b-0-0"], "the first");
    assert_eq!(meant(&jobsets, "w-x-2-0"), [""; 0]);
    assert_eq!(describe(&jobsets), "js-w-x-{0..1}-{0..2}, js-b-0-0");
}
