//! Mixes the random streams of several replications: a given fraction of draws comes from another replication.
//!
//! Used to search for rare events: some of the draws of a run close to the event are replaced, the others are kept.
//! The replaced draws are chosen by their names and the other replication only, so that a step and its reverse have
//! the same probability.

use super::{StreamKey, UniformDraw};

/// The replication that provides each draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixtureDistribution {
    pub(super) replication: u64,
    /// In order of addition: a later one replaces draws of earlier ones.
    parts: Vec<MixturePart>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct MixturePart {
    replication: u64,
    /// Draws whose name has a hash below this come from this replication.
    below: u64,
}

impl MixtureDistribution {
    /// All draws come from a single replication.
    pub fn single(replication: u64) -> MixtureDistribution {
        MixtureDistribution { replication, parts: Vec::new() }
    }

    /// Replaces this share of the draws by those of another replication.
    #[must_use]
    pub fn with_share(&self, replication: u64, share: f64) -> MixtureDistribution {
        let mut mixture = self.clone();
        mixture.parts.push(MixturePart { replication, below: (share * u64::MAX as f64) as u64 });
        mixture
    }

    /// The replication that provides the batch beginning with `first`.
    pub(super) fn replication_for(&self, first: UniformDraw) -> u64 {
        if self.parts.is_empty() {
            return self.replication;
        }
        let what = (first.purpose as u64) << 32 | u64::from(first.occurrence);
        let name = first.entity.part(what).part(u64::from(first.substream));
        let own = |part: &&MixturePart| StreamKey(name.0 ^ part.replication).part(0).0 < part.below;
        let matching = self.parts.iter().rev().find(own);
        matching.map_or(self.replication, |part| part.replication)
    }
}
