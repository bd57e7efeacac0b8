//! Numbers by name, and the cache that makes neighbors cheap.
//!
//! A number is a word of ChaCha8: seed, replication, purpose and entity are the key, the occurrence is the stream, the
//! lane is the position. The cache decides what a number costs, never what it is.

use super::block::{self, block, first_word};
use super::{BATCH, Batch, Dist, Key, Mixture, Purpose, fill, open_unit, scaled};
use crate::time::Duration;

/// The name of one number: what it is for, whose, the nth time, and which of many alike.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    pub purpose: Purpose,
    pub entity: Key,
    pub occurrence: u32,
    pub lane: u32,
}

/// Batches kept at a time, 1 MiB: enough for 5,000 pods that take turns in any order, each with numbers for a score of
/// purposes. Speed alone depends on it.
pub(super) const LINES: usize = 4096;

/// Lines in which a batch may be kept: with two, few of those that are in use drive each other out.
const WAYS: usize = 2;

/// All numbers of one run, by name.
#[derive(Clone)]
pub struct Draws {
    seed: u64,
    of: Mixture,
    /// By line: the name of the first word of the batch that is kept there.
    firsts: Vec<Option<Draw>>,
    batches: Vec<Batch>,
    /// By line: whether only the first block of the batch is there.
    partial: Vec<bool>,
    /// By pair of lines: which was used last.
    recent: Vec<u8>,
}

impl Draws {
    pub fn new(seed: u64, replication: u64) -> Draws {
        Draws {
            seed,
            of: Mixture::of(replication),
            firsts: vec![None; LINES],
            batches: vec![[0; BATCH * 8]; LINES],
            partial: vec![false; LINES],
            recent: vec![0; LINES / WAYS],
        }
    }

    /// As `new`, in the memory that is there.
    pub fn reset(&mut self, seed: u64, replication: u64) {
        self.reset_to(seed, Mixture::of(replication));
    }

    /// The same with the numbers of several replications.
    pub fn reset_to(&mut self, seed: u64, of: Mixture) {
        (self.seed, self.of) = (seed, of);
        self.firsts.fill(None);
    }

    /// The number of that name, 64 bits. Lanes that lie side by side cost one computation in 32.
    pub fn word(&mut self, draw: Draw) -> u64 {
        let within = draw.lane as usize % BATCH;
        let first = Draw {
            lane: draw.lane - within as u32,
            ..draw
        };
        let line = self.find(first, within);
        let (words, _) = self.batches[line].as_chunks();
        u64::from_le_bytes(words[within])
    }

    /// The line that holds word `within` of the batch that begins with `first`. Of a pair, the one used longer ago
    /// makes room.
    fn find(&mut self, first: Draw, within: usize) -> usize {
        let pair = pair_of(first);
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

    /// Objects without many alike need one number or a few: the first block is enough for them.
    fn begin(&mut self, line: usize, first: Draw, within: usize) {
        self.firsts[line] = Some(first);
        if first.lane > 0 || within >= block::WORDS {
            return self.fill(line, first);
        }
        self.partial[line] = true;
        let key = self.key(first);
        if let Some(start) = self.batches[line].first_chunk_mut() {
            block(start, key, u64::from(first.occurrence), 0);
        }
    }

    fn fill(&mut self, line: usize, first: Draw) {
        let key = self.key(first);
        let stream = u64::from(first.occurrence);
        fill(&mut self.batches[line], key, stream, first.lane);
        self.partial[line] = false;
    }

    fn key(&self, first: Draw) -> [u64; 4] {
        let purpose = first.purpose as u64;
        [self.seed, self.of.has(first), purpose, first.entity.0]
    }

    /// The same of a name that nobody asks for twice, and without a lane: it costs a quarter where nothing is kept.
    #[inline]
    pub fn word_once(&self, draw: Draw) -> u64 {
        debug_assert_eq!(draw.lane, 0, "the first word of a stream");
        first_word(self.key(draw), u64::from(draw.occurrence))
    }

    /// As `uniform`, of a name that nobody asks for twice.
    pub fn uniform_once(&self, draw: Draw) -> f64 {
        open_unit(self.word_once(draw))
    }

    /// As `sample`, of a name that nobody asks for twice.
    pub fn sample_once(&self, draw: Draw, dist: &Dist) -> Duration {
        match dist {
            Dist::Fixed(d) => *d,
            _ => dist.quantile(self.uniform_once(draw)),
        }
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

/// The pair of lines in which the batch that begins with `first` is kept: the highest bits of a product that all parts
/// move.
pub(super) fn pair_of(first: Draw) -> usize {
    let batch = u64::from(first.lane) / BATCH as u64;
    let parts =
        first.entity.0 ^ (first.purpose as u64) << 48 ^ u64::from(first.occurrence) << 24 ^ batch;
    (parts.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - (LINES / WAYS).ilog2())) as usize
}
