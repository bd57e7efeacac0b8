//! Replays with different values for properties that affect the real system but are not recorded: the fraction of a
//! wall-clock second at which the recording began, the order of a cache's map, and the order of two racing writes.
//! If any replay reproduces a decision, the decision counts as reproduced.
//!
//! Recorded properties are never varied. The number of replays is small, so that a match by accident is unlikely.

use super::recording::{Kind, Recording};
use super::scenario::SEED;
use super::scenario::clock::clock_phases;
use sim_api::spec::TieBreak;
use sim_base::Duration;
use std::fmt;

/// Additional seeds for latencies and delays, which change the outcome of races.
const MORE_SEEDS: [u64; 3] = [2, 3, 4];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Fraction of a wall-clock second at which the JobSet was created.
    pub clock_phase: Duration,
    /// Rule FP-2: which of several Jobs that failed within the same second counts as the first.
    pub ties: TieBreak,
    pub seed: u64,
}

impl Play {
    /// Replay with the creation at the start of a second, which is run first.
    pub const PLAIN: Play = Play {
        clock_phase: Duration::ZERO,
        ties: TieBreak::FirstName,
        seed: SEED,
    };
}

/// Returns the replays of a recording. The first one has the most plausible clock phase.
pub fn plays(recording: &Recording) -> Vec<Play> {
    let plain = |clock_phase| Play {
        clock_phase,
        ..Play::PLAIN
    };
    if !matches!(recording.kind, Kind::Decisions | Kind::Corner) {
        return vec![Play::PLAIN];
    }
    let phases = clock_phases(recording);
    let first = plain(phases[0]);
    let mut plays: Vec<Play> = phases.into_iter().map(plain).collect();
    plays.push(Play {
        ties: TieBreak::LastName,
        ..first
    });
    plays.extend(MORE_SEEDS.map(|seed| Play { seed, ..first }));
    plays
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "created {:.2} s into a second",
            self.clock_phase.seconds()
        )?;
        if self.ties == TieBreak::LastName {
            f.write_str(", ties to the last name")?;
        }
        if self.seed != SEED {
            write!(f, ", races by seed {}", self.seed)?;
        }
        Ok(())
    }
}
