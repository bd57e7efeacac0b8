//! Replays recorded stories of Kueue with `sim-kueue`: JobSets that come and go under quotas, cohorts and topologies.
//!
//! Only Kueue runs here, as in the recordings: a JobSet is what Kueue starts and stops by `suspend`.

mod compare;
mod objects;
mod story;

use super::recording::{RecordingKind, SCHEMA};
use super::result::FileResult;
use super::scheduling::Differences;
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct KueueFile {
    pub recording: Value,
}

/// Reads a text if it is a story of Kueue.
pub fn read(text: &str) -> Option<KueueFile> {
    // Other recordings are larger. Their texts are not parsed here.
    if !text.contains("\"kueue\"") {
        return None;
    }
    let recording: Value = serde_json::from_str(text).ok()?;
    let is_story = recording["schema"] == SCHEMA && recording["kind"] == RecordingKind::Kueue.as_str();
    is_story.then_some(KueueFile { recording })
}

/// Plays a story and compares the state after each step.
pub fn validate(name: &str, file: &KueueFile) -> FileResult {
    let mut result = FileResult::new(name, RecordingKind::Kueue);
    result.not_simulated = objects::unmodelled(&file.recording);
    if result.not_simulated.is_empty() {
        let mut found = Differences::default();
        story::play(&file.recording, &mut found);
        result.differences = Some(found.0);
    }
    result
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/kueue.rs"]
mod tests;
