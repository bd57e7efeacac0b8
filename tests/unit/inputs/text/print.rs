//! Tests of `sim_inputs::text::print`.

use serde_json::json;
use sim_inputs::text::print::*;
#[test]
fn an_object_is_printed_as_yaml() {
    let object = json!({"kind": "JobSet", "apiVersion": "a/v1", "metadata": {"name": "x"}, "spec": {
        "list": [{"a": 1, "b": {"c": "yes"}}, "1", []], "empty": {}, "none": null, "on": true}});
    let expected = "apiVersion: a/v1\nkind: JobSet\nmetadata:\n  name: x\nspec:\n  empty: {}\n  list:\n  - a: 1\n    \
                    b:\n      c: \"yes\"\n  - \"1\"\n  - []\n  none: null\n  \"on\": true\n";
    assert_eq!(yaml(&object), expected);
}
