//! Mixes the random streams of several replications: a given fraction of draws comes from another replication.
//!
//! Used to search for rare events: some of the draws of a run close to the event are replaced, the others are kept.
//! The replaced draws are chosen by their names and the other replication only, so that a step and its reverse have
//! the same probability.

use super::{Draw, Key};

/// The replication that provides each draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixture {
    pub(super) replication: u64,
    /// In order of addition: a later one replaces draws of earlier ones.
    parts: Vec<Part>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Part {
    replication: u64,
    /// Draws whose name has a hash below this come from this replication.
    below: u64,
}

impl Mixture {
    /// All draws come from a single replication.
    pub fn of(replication: u64) -> Mixture {
        Mixture {
            replication,
            parts: Vec::new(),
        }
    }

    /// Replaces this share of the draws by those of another replication.
    #[must_use]
    pub fn with(&self, replication: u64, share: f64) -> Mixture {
        let mut mixture = self.clone();
        mixture.parts.push(Part {
            replication,
            below: (share * u64::MAX as f64) as u64,
        });
        mixture
    }

    /// The replication that provides the batch beginning with `first`.
    pub(super) fn has(&self, first: Draw) -> u64 {
        if self.parts.is_empty() {
            return self.replication;
        }
        let what = (first.purpose as u64) << 32 | u64::from(first.occurrence);
        let name = first.entity.and(what).and(u64::from(first.lane));
        let own = |part: &&Part| Key(name.0 ^ part.replication).and(0).0 < part.below;
        let found = self.parts.iter().rev().find(own);
        found.map_or(self.replication, |part| part.replication)
    }
}
