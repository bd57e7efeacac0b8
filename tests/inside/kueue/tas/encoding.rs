//! Compressed assignments as Kueue stores them (`encoded.ndjson`, recorded from `V1Beta2From`).

use super::situation::assignment;
use crate::tas::encoding::{compress, decompress};
use serde_json::Value;
use sim_api::objects::value_access::list;

#[test]
fn assignments_are_compressed_as_recorded() {
    for line in include_str!("encoded.ndjson").lines() {
        let recorded: Value = serde_json::from_str(line).expect("JSON");
        let levels: Vec<String> =
            list(&recorded, "levels").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let assignment = assignment(recorded["domains"].as_str().expect("domains"), &levels);
        let slices = compress(&assignment);
        let json: Vec<Value> = slices.iter().map(|s| serde_json::from_str(&s.json()).expect("JSON")).collect();
        assert_eq!(Value::from(json), recorded["slices"], "{line}");
        assert_eq!(decompress(&slices), assignment.domains);
    }
}
