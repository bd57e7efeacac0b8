//! A set of small integers as a bit set.

/// A set of integers from 0 to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
    len: usize,
}

impl BitSet {
    /// Creates a set of all integers below `len`, or an empty one.
    pub fn new(len: usize, all: bool) -> BitSet {
        let mut bits = BitSet { words: vec![if all { u64::MAX } else { 0 }; len.div_ceil(64)], len };
        if let (true, Some(last)) = (all && !len.is_multiple_of(64), bits.words.last_mut()) {
            *last = (1 << (len % 64)) - 1;
        }
        bits
    }

    pub fn has(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    pub fn set(&mut self, i: usize, to: bool) {
        let bit = 1 << (i % 64);
        if to { self.words[i / 64] |= bit } else { self.words[i / 64] &= !bit }
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Returns the number of elements that are not in `other`.
    pub fn outside(&self, other: &BitSet) -> usize {
        let words = self.words.iter().zip(&other.words);
        words.map(|(a, b)| (a & !b).count_ones() as usize).sum()
    }

    /// Removes all elements that are not in `other`.
    pub fn keep(&mut self, other: &BitSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Returns the first element at or after `from` that is not in `without`. The search wraps around.
    pub fn next(&self, from: usize, without: &BitSet) -> Option<usize> {
        let free = |w: usize| self.words[w] & !without.words[w];
        let n = self.words.len();
        if n == 0 {
            return None;
        }
        let (first, bit) = (from / 64 % n, from % 64);
        let after = free(first) & (u64::MAX << bit);
        let hit = |w: usize, bits: u64| (bits != 0).then(|| w * 64 + bits.trailing_zeros() as usize);
        hit(first, after).or_else(|| {
            let rest = (1..=n).map(|k| (first + k) % n);
            rest.into_iter().find_map(|w| hit(w, free(w)))
        })
    }

    /// Stores the first `n` elements at or after `from` in `into`, wrapping around. Returns the last of them.
    pub fn first(&self, n: usize, from: usize, into: &mut BitSet) -> Option<usize> {
        into.words.fill(0);
        let words = self.words.len();
        let (mut left, mut last) = (n, None);
        let (first, bit) = (from / 64, from % 64);
        for k in 0..=words {
            if left == 0 || words == 0 {
                break;
            }
            let w = if first + k < words { first + k } else { first + k - words };
            let mut bits = self.words[w];
            if k == 0 {
                bits &= u64::MAX << bit;
            } else if k == words {
                bits &= !(u64::MAX << bit);
            }
            // Without instructions to count bits, complete words are worth a comparison.
            let have = if bits == u64::MAX { 64 } else { bits.count_ones() as usize };
            for _ in left..have {
                bits &= !(1 << (63 - bits.leading_zeros()));
            }
            left -= have.min(left);
            if bits != 0 {
                last = Some(w * 64 + 63 - bits.leading_zeros() as usize);
            }
            into.words[w] |= bits;
        }
        last
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/surrogate/reduced/bit_set.rs"]
mod tests;
