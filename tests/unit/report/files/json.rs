//! Tests of `sim_report::files::json`.

use sim_report::files::json::*;
#[test]
fn what_is_written_is_read_back_by_a_json_parser() {
    let text = "a \"quoted\" \\ line\nwith \t tab, \u{1} and µ";
    let mut out = b"{\"first\":0".to_vec();
    let mut m = JsonMembers(&mut out);
    m.str("text", text).i32("code", i32::MIN).u64("big", u64::MAX).bool("yes", true);
    out.push(b'}');
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(value["text"], text);
    assert_eq!(value["code"], i32::MIN);
    assert_eq!(value["big"], u64::MAX);
    assert_eq!(value["yes"], true);
}
