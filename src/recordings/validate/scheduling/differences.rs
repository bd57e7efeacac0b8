//! Collects the differences of a replay.

use crate::validate::result::RecordedDifference;
use serde_json::Value;

#[derive(Default)]
pub struct Differences(pub Vec<RecordedDifference>);

impl Differences {
    pub fn compare(&mut self, path: &str, recorded: Value, simulated: Value) {
        if recorded != simulated {
            self.0.push(RecordedDifference::new(path, recorded, simulated));
        }
    }
}
