//! Tests of `sim_inputs::scenario::node_patch`.

use sim_api::spec::TopologySpec;
use sim_inputs::scenario::node_patch::*;
use sim_inputs::text::diagnostic::{DiagnosticReport, SourceText};
use sim_inputs::text::yaml;
fn messages(text: &str, status: bool) -> Vec<String> {
    let source = SourceText { file: "x".into(), text: text.into() };
    let none = SourceText::default();
    let node = yaml::parse(&source).unwrap().pop().unwrap();
    let mut report = DiagnosticReport::new(&source, &none);
    let accepted = node_patch(&node, status, &TopologySpec::default(), &mut report).is_some();
    assert_eq!(accepted, report.is_clean());
    report.found.into_iter().map(|d| d.message).collect()
}

#[test]
fn values_have_their_types_and_null_takes_away() {
    let good =
        "metadata: {labels: {a: b, c: null}}\nspec: {taints: [{key: k, effect: NoExecute}], unschedulable: null}";
    assert_eq!(messages(good, false), [""; 0]);
    assert_eq!(messages("spec: {taints: null, unschedulable: true}", false), [""; 0]);
    assert_eq!(messages("status: {allocatable: {cpu: 3, gpu: null}}", true), [""; 0]);
    let bad = "metadata: {labels: {a: 1}}\nspec: {taints: [{key: k}], unschedulable: 1}";
    assert_eq!(
        messages(bad, false),
        [
            "metadata.labels.a must be a string, found the integer 1",
            "spec.taints[0].effect is required",
            "spec.unschedulable must be true or false, found the integer 1",
        ]
    );
    assert_eq!(
        messages("metadata: {labels: {}}\nspec: {providerID: x}", false),
        ["spec.providerID of a Node has no effect in the simulation"]
    );
}
