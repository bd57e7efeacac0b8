//! Tests of `sim_recordings::validate::admission::compare`.

use serde_json::json;
use sim_api::admission::{AdmissionAnswer, AdmissionRejection};
use sim_recordings::validate::admission::compare::*;
fn answer(code: u16, message: &str) -> AdmissionAnswer {
    AdmissionAnswer { code, result: Err(AdmissionRejection::new(code, "", message)), warnings: Vec::new() }
}

#[test]
fn messages_agree_by_stage() {
    let webhook = "admission webhook \"vjobset.kb.io\" denied the request: JobSet \"a\" is invalid: ";
    let schema = "JobSet \"a\" is invalid: ";
    let named = "rule names are not unique, rules with indices";
    for (recorded, simulated, equal) in [
        (format!("{webhook}x: Invalid value: 1"), format!("{webhook}x: Invalid value: 2"), false),
        (
            format!("{webhook}[<nil>: {named} [0 1], <nil>: {named} [2 3]]"),
            format!("{webhook}[<nil>: {named} [2 3], <nil>: {named} [0 1]]"),
            true,
        ),
        (
            format!("{schema}[x: Invalid value: 1: more, y: Required value]"),
            format!("{schema}[y: Required value, x: Invalid value: 2]"),
            true,
        ),
        (format!("{schema}x: Invalid value: 1"), format!("{schema}x: Required value"), false),
        (
            "json: cannot unmarshal string into Go struct field A.b.c of type int32".to_owned(),
            "json: cannot unmarshal bool into Go struct field A.b.c of type int32".to_owned(),
            true,
        ),
        (
            "json: cannot unmarshal string into Go struct field A.b.c of type int32".to_owned(),
            "json: cannot unmarshal string into Go struct field A.b.d of type int32".to_owned(),
            false,
        ),
    ] {
        let result = json!({"accepted": false, "code": 422, "message": recorded});
        let actual = difference("case", &result, &answer(422, &simulated));
        assert_eq!(actual.is_none(), equal, "{recorded} / {simulated}");
    }
}

#[test]
fn another_code_and_another_object_are_differences() {
    let result = json!({"accepted": false, "code": 422, "message": "m"});
    assert!(difference("case", &result, &answer(400, "m")).is_some());
    let stored = |restarts: i64| {
        json!({"kind": "JobSet", "metadata": {"name": "gx7k2p", "generateName": "g", "uid": "1"},
            "status": {"restarts": restarts, "conditions": [{"lastTransitionTime": "x"}]}})
    };
    let recorded = json!({"accepted": true, "code": 201, "object": {
        "metadata": {"name": "g<rand>", "generateName": "g"},
        "status": {"restarts": 1, "conditions": [{}]}}});
    for (restarts, equal) in [(1, true), (2, false)] {
        let answer = AdmissionAnswer { code: 201, result: Ok(stored(restarts)), warnings: Vec::new() };
        assert_eq!(difference("case", &recorded, &answer).is_none(), equal);
    }
}
