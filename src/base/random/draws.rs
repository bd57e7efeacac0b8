//! Named random numbers (a counter-based generator), and a set-associative cache of batches.
//!
//! A number is a word of ChaCha8: seed, replication, purpose and entity form the key, the occurrence is the stream,
//! and the lane is the position. The cache affects the cost of a number, never its value.

use super::block::{WORDS, block, first_word, first_words};
use super::{BATCH, Distribution, MixtureDistribution, StreamKey, StreamPurpose, fill, open_unit, scaled};
use crate::time::Duration;

/// The name of a random number: purpose, entity, occurrence, and lane among similar numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UniformDraw {
    pub purpose: StreamPurpose,
    pub entity: StreamKey,
    pub occurrence: u32,
    pub substream: u32,
}

/// Number of cached blocks, 1 MiB: enough for 5,000 pods in any order, each with about 20 purposes. Affects speed
/// only.
pub(super) const LINES: usize = 16_384;

/// Associativity of the cache: with two ways, few blocks in use evict each other.
const WAYS: usize = 2;
const PAIRS: usize = LINES / WAYS;

/// The name of a cached block: the entity, followed by purpose, occurrence and position. No purpose is 0.
type BlockName = (u64, u64);
const NO_BLOCK: BlockName = (0, 0);

/// The random numbers of one run, by name.
#[derive(Clone)]
pub struct DrawSequence {
    seed: u64,
    mixture: MixtureDistribution,
    /// Per line: the name of the cached block.
    names: Box<[BlockName; LINES]>,
    blocks: Box<[[u64; WORDS]; LINES]>,
    /// Per pair of lines: the one used last.
    recent: Box<[u8; PAIRS]>,
}

/// Allocates an array on the heap; it may be too large for the stack.
fn boxed<T: Clone, const N: usize>(value: T) -> Box<[T; N]> {
    vec![value; N].into_boxed_slice().try_into().ok().expect("the length is N")
}

impl DrawSequence {
    pub fn new(seed: u64, replication: u64) -> DrawSequence {
        DrawSequence {
            seed,
            mixture: MixtureDistribution::single(replication),
            names: boxed(NO_BLOCK),
            blocks: boxed([0; WORDS]),
            recent: boxed(0),
        }
    }

    /// Resets to a new seed and replication, reusing the memory.
    pub fn reset(&mut self, seed: u64, replication: u64) {
        self.reset_to(seed, MixtureDistribution::single(replication));
    }

    /// Resets to a mixture of several replications.
    pub fn reset_to(&mut self, seed: u64, of: MixtureDistribution) {
        (self.seed, self.mixture) = (seed, of);
        self.names.fill(NO_BLOCK);
    }

    /// The random word with that name, 64 bits. Adjacent lanes share one computation per 32 words.
    pub fn word(&mut self, draw: UniformDraw) -> u64 {
        let within = draw.substream as usize % WORDS;
        let Some(name) = block_name(draw) else {
            return self.compute(draw)[within];
        };
        let line = self.line_for(line_pair(draw), name);
        if self.names[line] != name {
            self.load(draw, line);
        }
        self.blocks[line][within]
    }

    /// Computes the block with `draw` into a line. Of the first four blocks of an object, the first is computed alone:
    /// many objects have few similar numbers.
    #[inline(never)]
    fn load(&mut self, draw: UniformDraw, line: usize) {
        if draw.substream < WORDS as u32 {
            self.names[line] = block_name(draw).unwrap_or(NO_BLOCK);
            self.blocks[line] = self.compute(draw);
            return;
        }
        let (own, first) = (draw.substream / WORDS as u32, draw.substream - draw.substream % BATCH as u32);
        let words = fill(self.key(draw), u64::from(draw.occurrence), first);
        for (number, words) in (first / WORDS as u32..).zip(words.as_chunks().0) {
            let other = UniformDraw { substream: number * WORDS as u32, ..draw };
            let name = block_name(other).unwrap_or(NO_BLOCK);
            let line = if number == own { line } else { self.line_for(line_pair(other), name) };
            (self.names[line], self.blocks[line]) = (name, *words);
        }
    }

    /// The line of a pair that has the block, otherwise the less recently used one.
    #[inline(always)]
    fn line_for(&mut self, pair: usize, name: BlockName) -> usize {
        let recent = pair * WAYS + usize::from(self.recent[pair] & 1);
        if self.names[recent] == name {
            return recent;
        }
        self.recent[pair] ^= 1;
        recent ^ 1
    }

    fn compute(&self, draw: UniformDraw) -> [u64; WORDS] {
        block(self.key(draw), u64::from(draw.occurrence), u64::from(draw.substream / WORDS as u32))
    }

    /// The key of the cipher, which is the same for all numbers of a batch.
    fn key(&self, draw: UniformDraw) -> [u64; 4] {
        let first = UniformDraw { substream: draw.substream - draw.substream % BATCH as u32, ..draw };
        [self.seed, self.mixture.replication_for(first), draw.purpose as u64, draw.entity.0]
    }

    /// Like `word`, for a name that is used once and has no lane: bypasses the cache, at a quarter of the cost of a
    /// miss.
    #[inline]
    pub fn word_once(&self, draw: UniformDraw) -> u64 {
        assert_eq!(draw.substream, 0, "the first word of a stream");
        first_word(self.key(draw), u64::from(draw.occurrence))
    }

    /// Like `word_once`, for several names at once, at less than half of the cost of each.
    #[inline]
    pub fn words_once<const N: usize>(&self, draws: [UniformDraw; N]) -> [u64; N] {
        assert!(draws.iter().all(|draw| draw.substream == 0), "the first word of a stream");
        let keys = draws.map(|draw| self.key(draw));
        let columns = std::array::from_fn(|part| keys.map(|key| key[part]));
        first_words(&columns, &draws.map(|draw| u64::from(draw.occurrence)))
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
    #[inline]
    pub fn uniform(&mut self, draw: UniformDraw) -> f64 {
        open_unit(self.word(draw))
    }

    /// Uniform in `0..n` by multiplication; `n` > 0.
    pub fn below(&mut self, draw: UniformDraw, n: u32) -> u32 {
        scaled(self.word(draw), n)
    }

    /// Samples `dist` with the number of that name. A constant needs no number.
    #[inline]
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
        self.names.iter().filter(|name| **name != NO_BLOCK).count()
    }
}

/// The name of the block, or `None` if its position is too large for the cache.
fn block_name(draw: UniformDraw) -> Option<BlockName> {
    let number = draw.substream / WORDS as u32;
    let place = (draw.purpose as u64) << 56 | u64::from(draw.occurrence) << 24 | u64::from(number);
    (number < 1 << 24).then_some((draw.entity.0, place))
}

/// The pair of lines for the block with `draw`: the highest bits of a multiplicative hash of its batch. The blocks of
/// a batch have adjacent pairs.
pub(super) fn line_pair(draw: UniformDraw) -> usize {
    let batch = u64::from(draw.substream) / BATCH as u64;
    let parts = draw.entity.0 ^ (draw.purpose as u64) << 48 ^ u64::from(draw.occurrence) << 24 ^ batch;
    let pair = (parts.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PAIRS.ilog2())) as usize;
    pair ^ (draw.substream as usize % BATCH / WORDS)
}
