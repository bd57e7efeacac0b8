//! Compares the responses of the API server to user actions.
//!
//! Uids, times and addresses are not compared.

use super::history::DecisionHistory;
use crate::{validate::recording::RecordedRun, validate::result::RecordedDifference};
use serde_json::Value;

pub fn compare(recording: &RecordedRun, history: &DecisionHistory, out: &mut Vec<RecordedDifference>) {
    out.extend(differing_responses(recording, history).into_iter().map(|(_, d)| d));
}

/// Returns the indexes of actions with a different response, and the difference.
pub fn differing_responses(recording: &RecordedRun, history: &DecisionHistory) -> Vec<(usize, RecordedDifference)> {
    let mut out = Vec::new();
    for (i, answer) in recording.responses().into_iter().enumerate() {
        let Some(answer) = answer else { continue };
        let action = &recording.script.actions[i];
        let result = history.action_found_object.get(&(i as u32)).copied().unwrap_or(false);
        let simulated = history.responses.get(&(i as u32));
        let simulated = simulated.cloned().unwrap_or_default();
        let (recorded, simulated) = match action.what.as_str() {
            "patch" | "patchObject" | "create" | "deleteObject" | "show" => {
                if responses_agree(answer, &simulated) {
                    continue;
                }
                (answer, simulated)
            }
            "suspend" | "resume" | "deleteJobSet" => (answer, simulated),
            "deletePod" | "forceDeletePod" | "evictPod" => {
                if result {
                    (answer, simulated)
                } else {
                    (answer, "no such pod".to_owned())
                }
            }
            // The response to a node action is the name of the node. The scheduler may have chosen another node.
            _ if result && answer.contains(' ') => (answer, "accepted".to_owned()),
            _ if !result && !answer.contains(' ') => (answer, "no such node".to_owned()),
            _ => continue,
        };
        if recorded != simulated {
            let path = format!("actions[{i}] {}", action.what);
            out.push((i, RecordedDifference::new(path, recorded, simulated)));
        }
    }
    out
}

/// Compares responses without the parts that differ between any two runs: uids, times, addresses and order of fields.
fn responses_agree(recorded: &str, simulated: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parse(recorded), parse(simulated)) {
        (Some(r), Some(s)) => fields_agree(&r, &s, ""),
        _ => recorded == simulated,
    }
}

fn fields_agree(recorded: &Value, simulated: &Value, key: &str) -> bool {
    let changing = key.ends_with("Time") || key.ends_with("uid") || key.ends_with("clusterIP");
    match (recorded, simulated) {
        // Fields maintained by the API server that do not affect decisions.
        _ if key.ends_with("managedFields") || key.ends_with("generation") => true,
        (Value::Null, s) => s.is_null(),
        (r, s) if changing => r.is_string() == s.is_string(),
        (Value::Object(r), Value::Object(s)) => {
            r.len() == s.len() && r.iter().all(|(k, v)| s.get(k).is_some_and(|w| fields_agree(v, w, k)))
        }
        (Value::Array(r), Value::Array(s)) => {
            r.len() == s.len() && r.iter().zip(s).all(|(v, w)| fields_agree(v, w, key))
        }
        (r, s) => r == s,
    }
}
