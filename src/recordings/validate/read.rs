//! Reads recordings, one JSON file each.
//!
//! Unreadable or implausible contents are errors that name the file; nothing is guessed.

use super::recording::{RecordedRun, RecordingKind, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Longest time accepted in a recording, in milliseconds: 100 years, the same as for other inputs.
const MAX_TIME_MS: u64 = 100 * 365 * 86_400 * 1_000;
/// Maximum number of nodes accepted in a recording, to bound memory.
const MAX_NODES: u32 = 1_000_000;

#[derive(Deserialize)]
struct RecordingHead {
    schema: Option<Value>,
    kind: Option<Value>,
}

/// Reads one recording; `file` appears in the error.
pub fn read(file: &str, text: &str) -> Result<RecordedRun, String> {
    check_head(file, text)?;
    let recording: RecordedRun = serde_json::from_str(text)
        .map_err(|e| format!("{file}: not a recording of schema {SCHEMA}: {e}"))?;
    check_ranges(&recording).map_err(|e| format!("{file}: {e}"))?;
    Ok(recording)
}

fn check_head(file: &str, text: &str) -> Result<(), String> {
    let not_json = |e| format!("{file}: not JSON: {e}");
    if text.trim_start().starts_with('[') {
        serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
        return Err(format!(
            "{file}: a list of admission cases, not one recording"
        ));
    }
    let head: RecordingHead = serde_json::from_str(text).map_err(not_json)?;
    match head.schema {
        Some(Value::String(s)) if s == SCHEMA => {}
        Some(other) => {
            return Err(format!(
                "{file}: unknown schema {other}; expected {SCHEMA:?}"
            ));
        }
        None => {
            return Err(format!(
                "{file}: key `schema` is missing; a recording has \"schema\": {SCHEMA:?}"
            ));
        }
    }
    let known = ["decisions", "times", "corner", "nodes"];
    match head.kind {
        Some(Value::String(k)) if known.contains(&k.as_str()) => Ok(()),
        Some(other) => Err(format!(
            "{file}: unknown kind {other}; expected one of {}",
            known.join(", ")
        )),
        None => Err(format!(
            "{file}: key `kind` is missing; expected one of {}",
            known.join(", ")
        )),
    }
}

fn check_ranges(recording: &RecordedRun) -> Result<(), String> {
    let cp = &recording.control_plane;
    for (name, rate) in [
        ("kubeControllerManager", cp.kube_controller_manager),
        ("kubeScheduler", cp.kube_scheduler),
        ("jobsetManager", cp.jobset_manager),
    ] {
        if !(rate.qps.is_finite() && rate.qps > 0.0 && rate.burst > 0) {
            return Err(format!(
                "controlPlane.{name}: qps {} and burst {} must be greater than 0",
                rate.qps, rate.burst
            ));
        }
    }
    let own = recording.objects.iter().any(|o| o["kind"] == "Node");
    if (cp.nodes == 0 && !own) || cp.nodes > MAX_NODES {
        return Err(format!(
            "controlPlane.nodes: {} is not between 1 and {MAX_NODES}",
            cp.nodes
        ));
    }
    if cp.nodes_per_pool == 0 || cp.nodes_per_zone == Some(0) {
        return Err("controlPlane.nodesPerPool and nodesPerZone must be greater than 0".to_owned());
    }
    if let Some(latency) = cp.api_latency_ms {
        let (p50, p95) = latency.p50_p95();
        super::check_latency(p50, p95).map_err(|e| format!("controlPlane.apiLatencyMs: {e}"))?;
    }
    let script = &recording.script;
    let mut times = vec![script.start_ms, script.term_ms, script.restart_ms];
    times.extend(recording.played_for_ms);
    times.extend(script.actions.iter().map(|a| a.at_ms));
    for rule in &script.pods {
        times.extend([rule.start_ms, rule.term_ms].into_iter().flatten());
        times.push(rule.run_ms.max(0) as u64);
    }
    if let Some(ms) = times.into_iter().find(|ms| *ms > MAX_TIME_MS) {
        return Err(format!(
            "{ms} ms exceeds the longest supported time, 100 years"
        ));
    }
    if recording.kind == RecordingKind::Times && recording.milestones.is_none() {
        return Err("kind times requires the key `milestones`".to_owned());
    }
    if recording.kind != RecordingKind::Times && recording.played_for_ms.is_none() {
        return Err(format!(
            "kind {} requires the key `playedForMs`",
            recording.kind.as_str()
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/read.rs"]
pub mod tests;
