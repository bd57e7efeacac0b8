//! Tests of `sim_inputs::embedded_jobsets::patch`.

use serde_json::json;
use sim_inputs::embedded_jobsets::patch::*;
#[test]
fn lists_with_a_key_are_merged_and_others_are_replaced() {
    let mut base = json!({
        "containers": [{"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}]}, {"name": "b"}],
        "tolerations": [{"key": "old"}],
        "nodeSelector": {"a": "1"},
        "gone": 1,
    });
    merge(
        &mut base,
        &json!({
            "containers": [{"name": "a", "env": [{"name": "F", "value": "2"}]}, {"name": "c"}],
            "tolerations": [{"key": "new"}],
            "nodeSelector": {"b": "2"},
            "gone": null,
        }),
    );
    let expected = json!({
        "containers": [
            {"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}, {"name": "F", "value": "2"}]},
            {"name": "b"}, {"name": "c"}],
        "tolerations": [{"key": "new"}],
        "nodeSelector": {"a": "1", "b": "2"},
    });
    assert_eq!(base, expected);
}
