//! Tests of `sim_inputs::server`.

use sim_inputs::{SourceText, read_manifests};
fn error(spec: &str) -> String {
    let head = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n";
    let source = SourceText { file: "a.yaml".into(), text: format!("{head}{spec}") };
    read_manifests(&source).unwrap_err().to_string()
}

#[test]
fn an_error_has_the_servers_sentence_beside_it() {
    let text = error("spec: {suspended: true}\n");
    let server = "= API server message: JobSet in version \"v1alpha2\" cannot be handled as a JobSet: strict \
                  decoding error: unknown field \"spec.suspended\"";
    assert!(text.starts_with("error: unknown field"), "{text}");
    assert!(text.contains("a.yaml:4:8") && text.contains(server), "{text}");
}

#[test]
fn what_only_the_server_rejects_is_rejected_at_its_place() {
    let text = error("spec: {startupPolicy: {startupPolicyOrder: InOrder}}\n");
    assert!(text.contains("no such key: replicatedJobs"), "{text}");
    assert!(text.contains("a.yaml:4:44"), "{text}");
}
