//! What no recording says and the real system decides all the same: how far into a second of wall time it began, the
//! order of a cache's map, which of two racing writes was first. Each such choice is a play; a decision that some play
//! reproduces is a decision of the same system.
//!
//! Must never vary anything that a recording does say, nor try so many plays that one would fit by accident.

use super::recording::{Kind, Recording};
use super::scenario::SEED;
use super::scenario::clock::clock_phases;
use sim_api::spec::TieBreak;
use sim_base::Duration;
use std::fmt;

/// Chances of the races that are tried: latencies and lags under another key.
const MORE_SEEDS: [u64; 3] = [2, 3, 4];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// The JobSet was created so far into a second of wall time.
    pub clock_phase: Duration,
    /// FP-2: which of the Jobs that failed within one second counts as the first.
    pub ties: TieBreak,
    pub seed: u64,
}

impl Play {
    /// Created at the beginning of a second.
    pub const PLAIN: Play = Play {
        clock_phase: Duration::ZERO,
        ties: TieBreak::FirstName,
        seed: SEED,
    };
}

/// The plays of a recording, the plain one first.
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
