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

fn explained(text: &str, format: ObjectFormat) -> Result<String, CommandFailure> {
    let source = sim_inputs::SourceText { file: "js.yaml".to_owned(), text: text.to_owned() };
    let documents = sim_inputs::documents(&source).expect("YAML");
    let mut out = String::new();
    let mut add = |text: &str| out.push_str(text);
    let mut writer = ChildWriter { format, written: 0, notes: Vec::new(), out: &mut add };
    children(&documents, AdmissionGates::default(), &mut |entry| writer.write(entry))?;
    writer.finish();
    Ok(out)
}

#[test]
fn each_child_is_shown_with_what_it_waits_for() {
    let text = explained(MANIFEST, ObjectFormat::Yaml).expect("admitted");
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
    let text = explained(&good, ObjectFormat::Yaml).expect("admitted");
    assert!(text.contains("# job js-b-0 waits until replicatedJob a is Ready"), "{text}");
    let list = explained(MANIFEST, ObjectFormat::Json).expect("admitted");
    let value: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list, format!("{value:#}\n"), "formatted like all JSON");
    assert_eq!(value["items"].as_array().map(Vec::len), Some(4), "a Service, a Job, two pods");
    assert_eq!(value["notes"].as_array().map(Vec::len), Some(2), "{list}");
    // A JobSet of another controller has no children.
    let other = MANIFEST.replace("spec:\n  rep", "spec:\n  managedBy: a.com/b\n  rep");
    let list = explained(&other, ObjectFormat::Json).expect("admitted");
    let value: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list, format!("{value:#}\n"));
    assert_eq!(value["items"], json!([]));
}

#[test]
fn what_the_server_rejects_is_rejected_in_its_words() {
    let bad = MANIFEST.replace("name: a, status: Ready", "name: zzz, status: Ready");
    let Err(CommandFailure::Invalid(message)) = explained(&bad, ObjectFormat::Yaml) else {
        panic!("it was admitted");
    };
    assert!(message.starts_with("admission webhook \"vjobset.kb.io\""), "{message}");
}
