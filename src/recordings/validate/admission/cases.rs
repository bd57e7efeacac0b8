//! Reads the recorded responses of an admission case.

use serde_json::Value;
use sim_api::admission::AdmissionGates;

const ALL_GATES: AdmissionGates = AdmissionGates { in_place_restart: true, restart_job: true, elastic_job_set: true };

/// Returns the recorded responses of a case, each with its feature gates. The response for `on` may refer to that
/// for `off`.
pub fn recorded_responses(case: &Value) -> Vec<(&'static str, AdmissionGates, &Value)> {
    let mut results = Vec::new();
    for (name, gates) in [("off", AdmissionGates::default()), ("on", ALL_GATES)] {
        match &case[name] {
            Value::String(same) if same == "same" => results.push((name, gates, &case["off"])),
            result @ Value::Object(_) => results.push((name, gates, result)),
            _ => {}
        }
    }
    results
}
