//! Numbers of several replications in one run: a share of the names has those of another one.
//!
//! What hardly ever happens is looked for from runs in which much of it has happened: some of their numbers are drawn
//! anew, and the others kept. Which names are drawn anew hangs on the name and the other replication alone, so the
//! step there and the step back have the same chance.

use super::{Draw, Key};

/// Which replication the number of each name is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixture {
    pub(super) replication: u64,
    /// In the order in which they came: a later one takes names from those before it.
    parts: Vec<Part>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Part {
    replication: u64,
    /// Names whose hash is below this are its own.
    below: u64,
}

impl Mixture {
    /// All numbers are of one replication.
    pub fn of(replication: u64) -> Mixture {
        Mixture {
            replication,
            parts: Vec::new(),
        }
    }

    /// The same, but for this share of the names, which has the numbers of another replication.
    #[must_use]
    pub fn with(&self, replication: u64, share: f64) -> Mixture {
        let mut mixture = self.clone();
        mixture.parts.push(Part {
            replication,
            below: (share * u64::MAX as f64) as u64,
        });
        mixture
    }

    /// The replication that has the batch which begins with `first`.
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
