//! Unit tests of `jobset_sim::cli::explain::manifest_children`.

use super::*;

const MANIFEST: &str = "
kind: JobSet
apiVersion: jobset.x-k8s.io/v1alpha2
metadata: {name: js, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: pool}}
spec:
  replicatedJobs:
  - name: a
    replicas: 1
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
  - name: b
    replicas: 1
    dependsOn: [{name: a, status: Ready}]
    template:
      spec:
        parallelism: 1
        completions: 1
        template: {spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}
";

fn explained(text: &str) -> Result<Vec<ChildEntry>, CommandFailure> {
    let source = sim_inputs::SourceText { file: "js.yaml".to_owned(), text: text.to_owned() };
    children(&sim_inputs::documents(&source).expect("YAML"), AdmissionGates::default())
}

#[test]
fn each_child_is_shown_with_what_it_waits_for() {
    let entries = explained(MANIFEST).expect("admitted");
    let text = as_yaml(&entries);
    for part in [
        "kind: Service",
        "name: js-a-0\n",
        "# pod js-a-0-1 waits until its leader js-a-0-0 has a node",
        "pool: \"<pool of js-a-0-0>\"",
        "# job js-b-0 is not created: JobCreationFailed: Job.batch \"js-b-0\" is invalid: spec.template.spec.restartPolicy: Required value",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let good = MANIFEST.replace("restartPolicy: Always, ", "");
    let text = as_yaml(&explained(&good).expect("admitted"));
    assert!(text.contains("# job js-b-0 waits until replicatedJob a is Ready"), "{text}");
    let kinds = as_json(&entries)["items"].as_array().map(Vec::len);
    assert_eq!(kinds, Some(4), "a Service, a Job, two pods");
}

#[test]
fn what_the_server_rejects_is_rejected_in_its_words() {
    let bad = MANIFEST.replace("name: a, status: Ready", "name: zzz, status: Ready");
    let Err(CommandFailure::Invalid(message)) = explained(&bad) else {
        panic!("it was admitted");
    };
    assert!(message.starts_with("admission webhook \"vjobset.kb.io\""), "{message}");
}
