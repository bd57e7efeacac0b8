//! Compares the responses of the API server to user actions.
//!
//! Uids, times and addresses are not compared.

use super::history::History;
use crate::validate::recording::Recording;
use crate::validate::result::Difference;
use serde_json::Value;

pub fn compare(recording: &Recording, history: &History, out: &mut Vec<Difference>) {
    out.extend(differing(recording, history).into_iter().map(|(_, d)| d));
}

/// Returns the indexes of actions with a different response, and the difference.
pub fn differing(recording: &Recording, history: &History) -> Vec<(usize, Difference)> {
    let mut out = Vec::new();
    for (i, answer) in recording.answers().into_iter().enumerate() {
        let Some(answer) = answer else { continue };
        let action = &recording.script.actions[i];
        let found = history.faults.get(&(i as u32)).copied().unwrap_or(false);
        let simulated = history.answers.get(&(i as u32));
        let simulated = simulated.cloned().unwrap_or_default();
        let (recorded, simulated) = match action.what.as_str() {
            "patch" | "patchObject" | "create" | "deleteObject" | "show" => {
                if answers_agree(answer, &simulated) {
                    continue;
                }
                (answer, simulated)
            }
            "suspend" | "resume" | "deleteJobSet" => (answer, simulated),
            "deletePod" | "forceDeletePod" | "evictPod" => match found {
                true => (answer, String::new()),
                false => (answer, "no such pod".to_owned()),
            },
            // The response to a node action is the name of the node. The scheduler may have chosen another node.
            _ if found && answer.contains(' ') => (answer, "accepted".to_owned()),
            _ if !found && !answer.contains(' ') => (answer, "no such node".to_owned()),
            _ => continue,
        };
        if recorded != simulated {
            let path = format!("actions[{i}] {}", action.what);
            out.push((i, Difference::new(path, recorded, simulated)));
        }
    }
    out
}

/// Compares responses without the parts that differ between any two runs: uids, times, addresses and order of
/// fields.
fn answers_agree(recorded: &str, simulated: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parse(recorded), parse(simulated)) {
        (Some(r), Some(s)) => shown_agree(&r, &s, ""),
        _ => recorded == simulated,
    }
}

fn shown_agree(recorded: &Value, simulated: &Value, key: &str) -> bool {
    let changing = key.ends_with("Time") || key.ends_with("uid") || key.ends_with("clusterIP");
    match (recorded, simulated) {
        // Fields maintained by the API server that do not affect decisions.
        _ if key.ends_with("managedFields") || key.ends_with("generation") => true,
        (Value::Null, s) => s.is_null(),
        (r, s) if changing => r.is_string() == s.is_string(),
        (Value::Object(r), Value::Object(s)) => {
            r.len() == s.len()
                && r.iter()
                    .all(|(k, v)| s.get(k).is_some_and(|w| shown_agree(v, w, k)))
        }
        (Value::Array(r), Value::Array(s)) => {
            r.len() == s.len() && r.iter().zip(s).all(|(v, w)| shown_agree(v, w, key))
        }
        (r, s) => r == s,
    }
}
