//! Reads recordings, one JSON file each.
//!
//! Unreadable or implausible contents are errors that name the file; nothing is guessed.

pub mod file_error;
pub mod value_error;

use super::recording::{RecordedRun, RecordingKind, SCHEMA};
use file_error::{RUN_KINDS, RecordingFileError, RecordingFileProblem};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use value_error::{MAX_NODES, NODE_REQUESTS_MAX_PER_S, RecordingValueError};

/// Longest time accepted in a recording, in milliseconds: 100 years, the same as for other inputs.
const MAX_TIME_MS: u64 = 100 * 365 * 86_400 * 1_000;

#[derive(Deserialize)]
struct RecordingHead {
    schema: Option<Value>,
    kind: Option<Value>,
}

/// Reads one recording; `file` appears in the error.
pub fn read(file: &str, text: &str) -> Result<RecordedRun, RecordingFileError> {
    read_checked(text).map_err(|problem| problem.in_file(file))
}

fn read_checked(text: &str) -> Result<RecordedRun, RecordingFileProblem> {
    check_head(text)?;
    let recording: RecordedRun =
        serde_json::from_str(text).map_err(|e| RecordingFileProblem::NotRecording { reason: e.to_string() })?;
    check_ranges(&recording)?;
    Ok(recording)
}

fn check_head(text: &str) -> Result<(), RecordingFileProblem> {
    let not_json = |e: serde_json::Error| RecordingFileProblem::NotJson { reason: e.to_string() };
    if text.trim_start().starts_with('[') {
        serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
        return Err(RecordingFileProblem::ListOfCases);
    }
    let head: RecordingHead = serde_json::from_str(text).map_err(not_json)?;
    match head.schema {
        Some(Value::String(s)) if s == SCHEMA => {}
        Some(schema) => {
            return Err(RecordingFileProblem::UnknownSchema { schema, expected: SCHEMA });
        }
        None => return Err(RecordingFileProblem::MissingSchema),
    }
    match head.kind {
        Some(Value::String(k)) if RUN_KINDS.contains(&k.as_str()) => Ok(()),
        Some(kind) => Err(RecordingFileProblem::UnknownRunKind { kind }),
        None => Err(RecordingFileProblem::MissingKind),
    }
}

fn check_ranges(recording: &RecordedRun) -> Result<(), RecordingValueError> {
    let cp = &recording.control_plane;
    for (client, rate) in [
        ("kubeControllerManager", cp.kube_controller_manager),
        ("kubeScheduler", cp.kube_scheduler),
        ("jobsetManager", cp.jobset_manager),
    ] {
        if !(rate.qps.is_finite() && rate.qps > 0.0 && rate.burst > 0) {
            return Err(RecordingValueError::RateLimit { client, qps: rate.qps, burst: rate.burst });
        }
    }
    let own = recording.objects.iter().any(|o| o["kind"] == "Node");
    if (cp.nodes == 0 && !own) || cp.nodes > MAX_NODES {
        return Err(RecordingValueError::NodeCount { nodes: cp.nodes });
    }
    if cp.nodes_per_pool == 0 || cp.nodes_per_zone == Some(0) {
        return Err(RecordingValueError::NodeGroupSize);
    }
    if let Some(latency) = cp.api_latency_ms {
        let (p50, p95) = latency.p50_p95();
        super::check_latency(p50, p95).map_err(RecordingValueError::ApiLatency)?;
    }
    if let Some(rate) = cp.node_requests_per_second.filter(|rate| !(1.0..=NODE_REQUESTS_MAX_PER_S).contains(rate)) {
        return Err(RecordingValueError::NodeRequests { rate });
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
        return Err(RecordingValueError::TooLong { ms });
    }
    if recording.kind == RecordingKind::Times && recording.milestones.is_none() {
        return Err(RecordingValueError::MissingMilestones);
    }
    if recording.kind != RecordingKind::Times && recording.played_for_ms.is_none() {
        return Err(RecordingValueError::MissingDuration { kind: recording.kind });
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/read.rs"]
pub mod tests;
