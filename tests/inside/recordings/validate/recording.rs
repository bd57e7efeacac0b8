//! Unit tests of `sim_recordings::validate::recording`.

use super::super::read::tests::example;

#[test]
fn responses_are_assigned_to_their_actions() {
    let r = example(|j| {
        j["script"]["actions"] = serde_json::json!([
            {"atMs": 6500, "do": "suspend"}, {"atMs": 12500, "do": "resume"},
            {"atMs": 3500, "do": "deletePod", "pod": "js-w-0-1"}]);
        j["log"] =
            serde_json::json!([[3568, "User", "js-w-0-1", "deletePod", "no such pod"], [6551, "User", "", "suspend"]]);
    });
    assert_eq!(r.responses(), [Some(""), None, Some("no such pod")]);
}
