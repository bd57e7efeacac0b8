//! Tests of `sim_api::admission::decode`.

use serde_json::{Value, json};
use sim_api::admission::FieldValidation;
use sim_api::admission::decode::*;
fn refused(body: Value, validation: FieldValidation) -> String {
    decode(&body, &[], validation, &mut Vec::new()).unwrap_err().message
}

#[test]
fn what_is_no_jobset_is_refused_in_the_servers_words() {
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
        (
            json!({"apiVersion": null}),
            "the API version in the data () does not match the expected API version",
        ),
        (
            json!({"apiVersion": "v1"}),
            "the API version in the data (v1) does not match",
        ),
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
