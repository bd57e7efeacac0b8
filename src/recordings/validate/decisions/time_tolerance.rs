//! The tolerances of recorded times.

use crate::validate::recording::{RecordedRun, RecordingKind};

const MIN_TOLERANCE_S: f64 = 1.5;
const RELATIVE_TOLERANCE: f64 = 0.10;

/// Tolerance in seconds of steps that depend on heartbeats and on the node monitor, with Kueue.
const HEARTBEAT_TOLERANCE_S: f64 = 15.0;
/// Actions whose effects depend on heartbeats and on the node monitor.
const HEARTBEAT_ACTIONS: [&str; 3] = ["crashNode", "partitionNode", "returnNode"];

/// The tolerances of a recording.
#[derive(Copy, Clone, Debug)]
pub struct TimeTolerance {
    /// Time in seconds from which steps may depend on heartbeats.
    heartbeats_from_s: f64,
}

impl TimeTolerance {
    /// Tolerance of recordings without steps that depend on heartbeats.
    pub const PLAIN: TimeTolerance = TimeTolerance { heartbeats_from_s: f64::INFINITY };

    pub fn new(recording: &RecordedRun) -> TimeTolerance {
        let has_kueue = recording.kind == RecordingKind::KueueLive;
        let actions = recording.script.actions.iter().filter(|_| has_kueue);
        let of_nodes = actions.filter(|action| HEARTBEAT_ACTIONS.contains(&action.what.as_str()));
        let first = of_nodes.map(|action| action.at_ms as f64 / 1e3).next();
        TimeTolerance { heartbeats_from_s: first.unwrap_or(f64::INFINITY) }
    }

    pub fn band_s(self, recorded_s: f64) -> f64 {
        let wide = if recorded_s >= self.heartbeats_from_s { HEARTBEAT_TOLERANCE_S } else { MIN_TOLERANCE_S };
        wide.max(RELATIVE_TOLERANCE * recorded_s)
    }
}
