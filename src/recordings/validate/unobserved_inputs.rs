//! Replays with different values for properties that affect the real system but are not recorded: the fraction of a
//! wall-clock second at which the recording began, the order of a cache's map, and the order of two racing writes.
//! If any replay reproduces a decision, the decision counts as reproduced.
//!
//! Recorded properties are never varied. The number of replays is small, so that a match by accident is unlikely.

use super::recording::{RecordedRun, RecordingKind};
use super::scenario::SEED;
use super::scenario::clock::clock_phases;
use sim_api::spec::TieBreak;
use sim_base::Duration;
use std::fmt;

/// Additional seeds for latencies and delays, which change the outcome of races.
const MORE_SEEDS: [u64; 3] = [2, 3, 4];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnobservedInputs {
    /// Fraction of a wall-clock second at which the JobSet was created.
    pub clock_phase: Duration,
    /// Rule FP-2: which of several Jobs that failed within the same second counts as the first.
    pub ties: TieBreak,
    pub seed: u64,
}

impl UnobservedInputs {
    /// Replay with the creation at the start of a second, which is run first.
    pub const DEFAULT: UnobservedInputs = UnobservedInputs {
        clock_phase: Duration::ZERO,
        ties: TieBreak::FirstName,
        seed: SEED,
    };
}

/// Returns the replays of a recording. The first one has the most plausible clock phase.
pub fn candidates(recording: &RecordedRun) -> Vec<UnobservedInputs> {
    let plain = |clock_phase| UnobservedInputs {
        clock_phase,
        ..UnobservedInputs::DEFAULT
    };
    if !matches!(recording.kind, RecordingKind::Decisions | RecordingKind::Corner) {
        return vec![UnobservedInputs::DEFAULT];
    }
    let phases = clock_phases(recording);
    let first = plain(phases[0]);
    let mut plays: Vec<UnobservedInputs> = phases.into_iter().map(plain).collect();
    plays.push(UnobservedInputs {
        ties: TieBreak::LastName,
        ..first
    });
    plays.extend(MORE_SEEDS.map(|seed| UnobservedInputs { seed, ..first }));
    plays
}

impl fmt::Display for UnobservedInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "creation {:.2} s into a wall-clock second",
            self.clock_phase.seconds()
        )?;
        if self.ties == TieBreak::LastName {
            f.write_str(", ties broken by last name")?;
        }
        if self.seed != SEED {
            write!(f, ", race seed {}", self.seed)?;
        }
        Ok(())
    }
}
