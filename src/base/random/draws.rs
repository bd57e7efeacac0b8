//! Numbers by name, and the cache that makes neighbors cheap.
//!
//! A number is a word of ChaCha8: seed, replication, purpose and entity are the key, the occurrence is the stream, the
//! lane is the position. The cache decides what a number costs, never what it is.

use super::{BATCH, Batch, Dist, Key, Purpose, fill, open_unit, scaled};
use crate::base::time::Duration;

/// The name of one number: what it is for, whose, the nth time, and which of many alike.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    pub purpose: Purpose,
    pub entity: Key,
    pub occurrence: u32,
    pub lane: u32,
}

/// Batches kept at a time, 256 KiB: enough for the pods of a large Job in any order, or some dozen Jobs, each with
/// numbers for several purposes, to take turns.
pub(super) const LINES: usize = 1024;

/// All numbers of one run, by name.
#[derive(Clone)]
pub struct Draws {
    seed: u64,
    replication: u64,
    /// By line: the name of the first word of the batch that is kept there.
    firsts: Vec<Option<Draw>>,
    batches: Vec<Batch>,
}

impl Draws {
    pub fn new(seed: u64, replication: u64) -> Draws {
        Draws {
            seed,
            replication,
            firsts: vec![None; LINES],
            batches: vec![[0; BATCH * 8]; LINES],
        }
    }

    /// As `new`, in the memory that is there.
    pub fn reset(&mut self, seed: u64, replication: u64) {
        (self.seed, self.replication) = (seed, replication);
        self.firsts.fill(None);
    }

    /// The number of that name, 64 bits. Lanes that lie side by side cost one computation in 32.
    pub fn word(&mut self, draw: Draw) -> u64 {
        let within = draw.lane as usize % BATCH;
        let first = Draw {
            lane: draw.lane - within as u32,
            ..draw
        };
        let line = line_of(first);
        let batch = &mut self.batches[line];
        if self.firsts[line] != Some(first) {
            let purpose = first.purpose as u64;
            let key = [self.seed, self.replication, purpose, first.entity.0];
            fill(batch, key, u64::from(first.occurrence), first.lane);
            self.firsts[line] = Some(first);
        }
        let (words, _) = batch.as_chunks();
        u64::from_le_bytes(words[within])
    }

    /// Uniform in the open interval (0, 1), 53 bits.
    pub fn uniform(&mut self, draw: Draw) -> f64 {
        open_unit(self.word(draw))
    }

    /// Uniform in `0..n` by multiplication; `n` > 0.
    pub fn below(&mut self, draw: Draw, n: u32) -> u32 {
        scaled(self.word(draw), n)
    }

    /// The value of `dist` at the uniform number of that name. What is fixed needs no number.
    pub fn sample(&mut self, draw: Draw, dist: &Dist) -> Duration {
        match dist {
            Dist::Fixed(d) => *d,
            _ => dist.quantile(self.uniform(draw)),
        }
    }

    /// Fisher–Yates from the end; the lanes 0, 1, 2 … of that name are its words.
    pub fn shuffle<T>(&mut self, purpose: Purpose, entity: Key, occurrence: u32, items: &mut [T]) {
        for (lane, i) in (1..items.len()).rev().enumerate() {
            let draw = Draw {
                purpose,
                entity,
                occurrence,
                lane: lane as u32,
            };
            items.swap(i, self.below(draw, i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
impl Draws {
    /// Lines with words in them.
    pub(super) fn filled_lines(&self) -> usize {
        self.firsts.iter().flatten().count()
    }
}

/// The line in which the batch that begins with `first` is kept: the highest bits of a product that all parts move.
pub(super) fn line_of(first: Draw) -> usize {
    let batch = u64::from(first.lane) / BATCH as u64;
    let parts =
        first.entity.0 ^ (first.purpose as u64) << 48 ^ u64::from(first.occurrence) << 24 ^ batch;
    (parts.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LINES.ilog2())) as usize
}
