//! Replays with different values for properties that affect the real system but are not recorded: the fraction of a
//! wall-clock second at which the recording began, the order of a cache's map, the phase of the heartbeats, and random
//! draws of kube-scheduler among equal victims. A recording that only a later replay reproduces is not equal, except
//! for the draws of kind `cluster`, whose README permits any of them.
//!
//! Recorded properties are never varied. The number of replays is small, so that a match by accident is unlikely.

use super::recording::{RecordedRun, RecordingKind};
use super::scenario::clock::clock_phases;
use sim_api::spec::TieBreak;
use sim_base::Duration;
use std::fmt;

/// Number of heartbeat phases that are tried. They divide the period of the heartbeats evenly.
const HEARTBEAT_PHASES: u64 = 5;
/// Period of the heartbeats, unless the recording states it.
const HEARTBEAT_S: u64 = 10;
/// Number of draws among equal victims that are tried.
const VICTIM_DRAWS: u64 = 8;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnobservedInputs {
    /// Fraction of a wall-clock second at which the JobSet was created.
    pub clock_phase: Duration,
    /// Rule FP-2: which of several Jobs that failed within the same second counts as the first.
    pub ties: TieBreak,
    /// Time by which the JobSet is created later in the period of the heartbeats of all nodes.
    pub heartbeat_shift: Duration,
    /// Number of the draw among equal victims of a preemption.
    pub victim_draw: u64,
}

impl UnobservedInputs {
    /// Replay with the creation at the start of a second, which is run first.
    pub const DEFAULT: UnobservedInputs = UnobservedInputs {
        clock_phase: Duration::ZERO,
        ties: TieBreak::FirstName,
        heartbeat_shift: Duration::ZERO,
        victim_draw: 0,
    };
}

/// Returns the replays of a recording. The first one has the most plausible clock phase.
pub fn candidates(recording: &RecordedRun) -> Vec<UnobservedInputs> {
    let plain = |clock_phase| UnobservedInputs { clock_phase, ..UnobservedInputs::DEFAULT };
    if recording.kind == RecordingKind::Cluster {
        return (0..VICTIM_DRAWS)
            .map(|victim_draw| UnobservedInputs { victim_draw, ..plain(Duration::ZERO) })
            .collect();
    }
    let has_phases =
        matches!(recording.kind, RecordingKind::Decisions | RecordingKind::Corner | RecordingKind::KueueLive);
    if !has_phases {
        return heartbeat_candidates(recording);
    }
    let phases = clock_phases(recording);
    let first = plain(phases[0]);
    let mut plays: Vec<UnobservedInputs> = phases.into_iter().map(plain).collect();
    plays.push(UnobservedInputs { ties: TieBreak::LastName, ..first });
    plays
}

/// Returns the replays of a recording of kind `nodes`. Only the times of other kinds are compared.
fn heartbeat_candidates(recording: &RecordedRun) -> Vec<UnobservedInputs> {
    let period_s = recording.control_plane.heartbeat_s.unwrap_or(HEARTBEAT_S);
    let phases = match recording.kind {
        RecordingKind::Nodes => HEARTBEAT_PHASES,
        _ => 1,
    };
    let replay = |i| UnobservedInputs {
        heartbeat_shift: Duration(Duration::from_secs(period_s).0 * i / HEARTBEAT_PHASES),
        ..UnobservedInputs::DEFAULT
    };
    (0..phases).map(replay).collect()
}

impl fmt::Display for UnobservedInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "creation {:.2} s into a wall-clock second", self.clock_phase.seconds())?;
        if self.ties == TieBreak::LastName {
            f.write_str(", ties broken by last name")?;
        }
        if self.heartbeat_shift != Duration::ZERO {
            let shift_s = self.heartbeat_shift.seconds();
            write!(f, ", {shift_s:.1} s later in the period of the heartbeats")?;
        }
        if self.victim_draw != 0 {
            write!(f, ", draw {} among equal victims", self.victim_draw + 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/unobserved_inputs.rs"]
mod tests;
