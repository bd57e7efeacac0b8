//! How Go's JSON package sees the objects.
use serde_json::Value;
pub fn same(_kind: &str, a: &[Value], b: &[Value]) -> bool {
    a == b
}
pub fn render_list(_kind: &str, list: &Value, items: &[Value]) -> String {
    if list.is_array() {
        Value::from(items.to_vec()).to_string()
    } else {
        "null".to_owned()
    }
}
