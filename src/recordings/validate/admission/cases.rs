//! Reads the recorded responses of an admission case.

use serde_json::Value;
use sim_api::admission::Gates;

const ALL: Gates = Gates {
    in_place_restart: true,
    restart_job: true,
    elastic_job_set: true,
};

/// Returns the recorded responses of a case, each with its feature gates. The response for `on` may refer to that
/// for `off`.
pub fn results(case: &Value) -> Vec<(&'static str, Gates, &Value)> {
    let mut results = Vec::new();
    for (name, gates) in [("off", Gates::default()), ("on", ALL)] {
        match &case[name] {
            Value::String(same) if same == "same" => results.push((name, gates, &case["off"])),
            result @ Value::Object(_) => results.push((name, gates, result)),
            _ => {}
        }
    }
    results
}
