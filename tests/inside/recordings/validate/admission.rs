//! Unit tests of `sim_recordings::validate::admission`.

use super::super::result::EqualCounts;
use super::*;

#[test]
fn file_without_list_of_cases_is_rejected_by_name() {
    let head = |kind: &str| format!("[{{\"schema\": \"{SCHEMA}\", \"kind\": \"{kind}\"}}]");
    for (text, expected) in [
        ("[".to_owned(), "f.json: not JSON"),
        ("[]".to_owned(), "f.json: empty list"),
        ("[{}]".to_owned(), "f.json: unknown schema null"),
        (head("film"), "f.json: unknown kind \"film\""),
        (head("create").replace(']', ", {}]"), "f.json: case 1 has no id"),
    ] {
        let error = read("f.json", &text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(read("f.json", &head("update")).map(|f| f.kind), Ok(RecordingKind::Update));
}

#[test]
fn shared_cases_match_recorded_responses() {
    for (file, text) in super::super::read::tests::shared("admission") {
        let read = read(&file, &text).unwrap();
        let result = validate(&file, &read);
        let Some(admission) = result.admission else {
            continue;
        };
        let EqualCounts { equal, total } = admission.count;
        assert!(total > 20, "{file}: {total} cases");
        assert_eq!(equal, total, "{file}: {:#?}", admission.differences);
    }
}
