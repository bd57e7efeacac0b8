//! Replays recorded decisions of kube-scheduler with `sim-scheduler`: `scheduling` (single pods) and `gang` (pod
//! groups). Recordings of dynamic resource allocation (`dra`) are counted as not simulated.
//!
//! Nothing runs here: the state of the cluster is part of the recording.

mod differences;
mod group_variants;
mod groups;
mod known_fields;
mod pods;
mod situation;

pub(super) use differences::Differences;
pub(super) use known_fields::unknown_fields;

use super::recording::{RecordingKind, SCHEMA};
use super::result::FileResult;
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct SchedulingFile {
    pub kind: RecordingKind,
    pub recording: Value,
}

/// Reads a text if it is a recording of scheduling decisions.
pub fn read(text: &str) -> Option<SchedulingFile> {
    const KINDS: [RecordingKind; 3] = [RecordingKind::Scheduling, RecordingKind::Gang, RecordingKind::Dra];
    // Other recordings are larger. Their texts are not parsed here.
    if !KINDS.iter().any(|kind| text.contains(&format!("\"{}\"", kind.as_str()))) {
        return None;
    }
    let recording: Value = serde_json::from_str(text).ok()?;
    let kind = KINDS.into_iter().find(|kind| recording["kind"] == kind.as_str())?;
    (recording["schema"] == SCHEMA).then_some(SchedulingFile { kind, recording })
}

/// Compares all decisions of a recording.
pub fn validate(name: &str, file: &SchedulingFile) -> FileResult {
    let mut result = FileResult::new(name, file.kind);
    let (not_modelled, compare): (Vec<String>, fn(&Value) -> _) = match file.kind {
        RecordingKind::Dra => {
            result.not_simulated = vec!["dynamic resource allocation".to_owned()];
            return result;
        }
        RecordingKind::Gang => (situation::unmodelled(&file.recording, &groups::KEYS), groups::compare),
        _ => (situation::unmodelled(&file.recording, &pods::KEYS), pods::compare),
    };
    result.not_simulated = not_modelled;
    if result.not_simulated.is_empty() {
        result.differences = Some(compare(&file.recording));
    }
    result
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scheduling.rs"]
mod tests;
