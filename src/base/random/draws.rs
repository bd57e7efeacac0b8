//! Named random numbers (a counter-based generator), and a set-associative cache of batches.
//!
//! A number is a word of ChaCha8: seed, replication, purpose and entity form the key, the occurrence is the stream,
//! and the lane is the position. The cache affects the cost of a number, never its value.

use super::block::{self, block, first_word};
use super::{BATCH, Distribution, DrawBatch, MixtureDistribution, StreamKey, StreamPurpose, fill, open_unit, scaled};
use crate::time::Duration;

/// The name of a random number: purpose, entity, occurrence, and lane among similar numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UniformDraw {
    pub purpose: StreamPurpose,
    pub entity: StreamKey,
    pub occurrence: u32,
    pub substream: u32,
}

/// Number of cached batches, 1 MiB: enough for 5,000 pods in any order, each with about 20 purposes. Affects speed
/// only.
pub(super) const LINES: usize = 4096;

/// Associativity of the cache: with two ways, few batches in use evict each other.
const WAYS: usize = 2;

/// The random numbers of one run, by name.
#[derive(Clone)]
pub struct DrawSequence {
    seed: u64,
    mixture: MixtureDistribution,
    /// Per line: the name of the first word of the cached batch.
    firsts: Vec<Option<UniformDraw>>,
    batches: Vec<DrawBatch>,
    /// Per line: true if only the first block of the batch is valid.
    partial: Vec<bool>,
    /// Per pair of lines: the one used last.
    recent: Vec<u8>,
}

impl DrawSequence {
    pub fn new(seed: u64, replication: u64) -> DrawSequence {
        DrawSequence {
            seed,
            mixture: MixtureDistribution::single(replication),
            firsts: vec![None; LINES],
            batches: vec![[0; BATCH * 8]; LINES],
            partial: vec![false; LINES],
            recent: vec![0; LINES / WAYS],
        }
    }

    /// Resets to a new seed and replication, reusing the memory.
    pub fn reset(&mut self, seed: u64, replication: u64) {
        self.reset_to(seed, MixtureDistribution::single(replication));
    }

    /// Resets to a mixture of several replications.
    pub fn reset_to(&mut self, seed: u64, of: MixtureDistribution) {
        (self.seed, self.mixture) = (seed, of);
        self.firsts.fill(None);
    }

    /// The random word with that name, 64 bits. Adjacent lanes share one computation per 32 words.
    pub fn word(&mut self, draw: UniformDraw) -> u64 {
        let within = draw.substream as usize % BATCH;
        let first = UniformDraw { substream: draw.substream - within as u32, ..draw };
        let line = self.find(first, within);
        let (words, _) = self.batches[line].as_chunks();
        u64::from_le_bytes(words[within])
    }

    /// Returns the line with word `within` of the batch that begins with `first`, computing it if needed. Evicts the
    /// less recently used line of the pair.
    fn find(&mut self, first: UniformDraw, within: usize) -> usize {
        let pair = line_pair(first);
        let recent = &mut self.recent[pair];
        let mut line = pair * WAYS + usize::from(*recent);
        if self.firsts[line] != Some(first) {
            *recent ^= 1;
            line ^= 1;
            if self.firsts[line] != Some(first) {
                self.begin(line, first, within);
                return line;
            }
        }
        if self.partial[line] && within >= block::WORDS {
            self.fill(line, first);
        }
        line
    }

    /// Computes the first block only if that is sufficient, as for objects with few similar numbers.
    fn begin(&mut self, line: usize, first: UniformDraw, within: usize) {
        self.firsts[line] = Some(first);
        if first.substream > 0 || within >= block::WORDS {
            return self.fill(line, first);
        }
        self.partial[line] = true;
        let key = self.key(first);
        if let Some(start) = self.batches[line].first_chunk_mut() {
            block(start, key, u64::from(first.occurrence), 0);
        }
    }

    fn fill(&mut self, line: usize, first: UniformDraw) {
        let key = self.key(first);
        let stream = u64::from(first.occurrence);
        fill(&mut self.batches[line], key, stream, first.substream);
        self.partial[line] = false;
    }

    fn key(&self, first: UniformDraw) -> [u64; 4] {
        let purpose = first.purpose as u64;
        [self.seed, self.mixture.replication_for(first), purpose, first.entity.0]
    }

    /// Like `word`, for a name that is used once and has no lane: bypasses the cache, at a quarter of the cost of a
    /// miss.
    #[inline]
    pub fn word_once(&self, draw: UniformDraw) -> u64 {
        debug_assert_eq!(draw.substream, 0, "the first word of a stream");
        first_word(self.key(draw), u64::from(draw.occurrence))
    }

    /// Like `uniform`, for a name that is used once.
    pub fn uniform_once(&self, draw: UniformDraw) -> f64 {
        open_unit(self.word_once(draw))
    }

    /// Like `sample`, for a name that is used once.
    pub fn sample_once(&self, draw: UniformDraw, dist: &Distribution) -> Duration {
        match dist {
            Distribution::Fixed(d) => *d,
            _ => dist.quantile(self.uniform_once(draw)),
        }
    }

    /// Uniform in the open interval (0, 1), 53 bits.
    pub fn uniform(&mut self, draw: UniformDraw) -> f64 {
        open_unit(self.word(draw))
    }

    /// Uniform in `0..n` by multiplication; `n` > 0.
    pub fn below(&mut self, draw: UniformDraw, n: u32) -> u32 {
        scaled(self.word(draw), n)
    }

    /// Samples `dist` with the number of that name. A constant needs no number.
    pub fn sample(&mut self, draw: UniformDraw, dist: &Distribution) -> Duration {
        match dist {
            Distribution::Fixed(d) => *d,
            _ => dist.quantile(self.uniform(draw)),
        }
    }

    /// Fisher–Yates shuffle from the end; uses the lanes 0, 1, 2 … of that name.
    pub fn shuffle<T>(&mut self, purpose: StreamPurpose, entity: StreamKey, occurrence: u32, items: &mut [T]) {
        for (substream_index, i) in (1..items.len()).rev().enumerate() {
            let draw = UniformDraw { purpose, entity, occurrence, substream: substream_index as u32 };
            items.swap(i, self.below(draw, i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
impl DrawSequence {
    /// Number of cache lines in use.
    pub(super) fn filled_lines(&self) -> usize {
        self.firsts.iter().flatten().count()
    }
}

/// The pair of lines for the batch that begins with `first`: the highest bits of a multiplicative hash.
pub(super) fn line_pair(first: UniformDraw) -> usize {
    let batch = u64::from(first.substream) / BATCH as u64;
    let parts = first.entity.0 ^ (first.purpose as u64) << 48 ^ u64::from(first.occurrence) << 24 ^ batch;
    (parts.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - (LINES / WAYS).ilog2())) as usize
}
