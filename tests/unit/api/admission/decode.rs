//! Tests of `sim_api::admission::decode`.

use serde_json::{Value, json};
use sim_api::admission::FieldValidation;
use sim_api::admission::decode::*;
fn refused(body: Value, validation: FieldValidation) -> String {
    decode(&body, &[], validation, &mut Vec::new()).unwrap_err().message
}

#[test]
fn what_is_not_a_jobset_is_rejected_in_the_servers_words() {
    let kind = |edit: Value| {
        let mut body = json!({"apiVersion": API_VERSION, "kind": "JobSet", "metadata": {"name": "a"}});
        for (key, value) in edit.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    for (edit, expected) in [
        (
            json!({"kind": null}),
            "the object provided is unrecognized (must be of type JobSet): Object 'Kind' is missing",
        ),
        (
            json!({"kind": 1}),
            "the object provided is unrecognized (must be of type JobSet): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
        ),
        (json!({"apiVersion": null}), "the API version in the data () does not match the expected API version"),
        (json!({"apiVersion": "v1"}), "the API version in the data (v1) does not match"),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "JobSet in version \"v1alpha2\" cannot be handled as a JobSet: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        (
            json!({"metadata": []}),
            "JobSet in version \"v1alpha2\" cannot be handled as a JobSet: json: cannot unmarshal array into Go value of type v1.ObjectMeta",
        ),
        (
            json!({"specs": 1, "metadata": {"x": 1}}),
            "JobSet in version \"v1alpha2\" cannot be handled as a JobSet: strict decoding error: unknown field \"metadata.x\", unknown field \"specs\"",
        ),
    ] {
        let message = refused(kind(edit), FieldValidation::Strict);
        assert!(message.starts_with(expected), "{message}");
    }
    assert!(refused(json!([]), FieldValidation::Warn).contains("cannot unmarshal array into Go value"));
}

#[test]
fn only_json_objects_are_quoted_as_text() {
    let quoted = |body: &str| {
        let message = unrecognized_body("why", body).message;
        let end = message.rsplit_once(": why ").expect("the reason is quoted").1;
        end.to_owned()
    };
    assert_eq!(quoted(""), "(<empty>)");
    assert_eq!(quoted("{\"kind\": 1}"), "({\"kind\": 1})");
    let long = format!("{{\"kind\": \"{}\"}}", "x".repeat(30));
    assert_eq!(quoted(&long), format!("({} ...)", &long[..30]));
    assert_eq!(quoted("kind: @"), "(6b696e643a2040)");
    assert_eq!(quoted(&"a".repeat(31)), format!("({} ...)", "61".repeat(30)));
}

#[test]
fn each_duplicate_key_of_a_yaml_body_is_a_warning() {
    let body = json!({"apiVersion": API_VERSION, "kind": "JobSet", "metadata": {"name": "a"}});
    let problems =
        ["yaml: unmarshal errors:\n  line 4: key \"a\" already set in map\n  line 5: key \"b\" already set in map"];
    let problems = problems.map(str::to_owned);
    let mut warnings = Vec::new();
    assert!(decode(&body, &problems, FieldValidation::Warn, &mut warnings).is_ok());
    assert_eq!(warnings, ["line 4: key \"a\" already set in map", "line 5: key \"b\" already set in map"]);
    let strict = decode(&body, &problems, FieldValidation::Strict, &mut Vec::new());
    let message = strict.unwrap_err().message;
    assert!(message.contains("strict decoding error: yaml: unmarshal errors:\n  line 4: "), "{message}");
}
