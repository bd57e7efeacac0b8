//! A shard of a sweep: the part of its replications that one process simulates.
//!
//! The result of a replication is independent of the shard.

use std::fmt;

/// One of `of` shards, numbered from 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SweepShard {
    pub index: u64,
    pub of: u64,
}

/// Maximum number of shards, which exceeds the number of pods that an Indexed Job may have.
pub const SHARDS_MAX: u64 = 100_000;

/// A shard that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepShardError {
    NotShard {
        text: String,
    },
    /// The number of shards is out of range.
    ShardCount {
        of: u64,
    },
    NoSuchShard {
        index: u64,
        of: u64,
    },
}

impl fmt::Display for SweepShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepShardError::NotShard { text } => {
                write!(f, "{text:?} is not a shard; use I/N, such as 2/8 for one of eight shards")
            }
            SweepShardError::ShardCount { of } => {
                write!(f, "invalid number of shards {of}: it must be between 1 and {SHARDS_MAX}")
            }
            SweepShardError::NoSuchShard { index, of } => {
                write!(f, "shard {index} of {of} does not exist: use 0/{of} to {}/{of}, or 1/{of} to {of}/{of}", of - 1)
            }
        }
    }
}

impl std::error::Error for SweepShardError {}

impl SweepShard {
    /// The only shard of a sweep that is not divided.
    pub const WHOLE: SweepShard = SweepShard { index: 0, of: 1 };

    /// Parses `I/N`. Numbers from 0 and from 1 are both accepted, as `N/N` means `0/N`.
    pub fn parse(text: &str) -> Result<SweepShard, SweepShardError> {
        let bad = || SweepShardError::NotShard { text: text.to_owned() };
        let (index, of) = text.split_once('/').ok_or_else(bad)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| bad());
        SweepShard::new(number(index)?, number(of)?)
    }

    pub fn new(index: u64, of: u64) -> Result<SweepShard, SweepShardError> {
        if of == 0 || of > SHARDS_MAX {
            return Err(SweepShardError::ShardCount { of });
        }
        if index > of {
            return Err(SweepShardError::NoSuchShard { index, of });
        }
        Ok(SweepShard { index: index % of, of })
    }

    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Returns true if the shard contains the nth piece of work. Pieces are assigned in turn, each round with
    /// another first shard, so that no shard gets all slow pieces.
    pub fn contains(self, piece: u64) -> bool {
        let turn = turn(self.of);
        let round = (piece / self.of) as u128;
        let place = (u128::from(piece) + round * u128::from(turn)) % u128::from(self.of);
        place as u64 == self.index
    }
}

/// Returns the number of shards by which the start of each round is shifted. It has no common divisor with the
/// number of shards, so that every shard gets every place of a round.
fn turn(of: u64) -> u64 {
    let near = of * 618 / 1000;
    let fits = |turn: &u64| gcd(*turn, of) == 1;
    (near..of).find(fits).unwrap_or(0)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for SweepShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}
