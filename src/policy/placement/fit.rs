//! The search for feasible nodes: it examines candidates from a rotating start until enough of them are feasible
//! (`findNodesThatPassFilters`; kubernetes.md 2.2).
//!
//! Candidates are numbered; 64 of them are the bits of a word, so that a search counts instead of examining one by one.

use super::template::TemplateFacts;
use sim_base::NodeId;
use std::ops::Range;

/// The chosen node, if any, and the numbers of candidates that were examined and that are feasible.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementResult {
    pub node: Option<NodeId>,
    pub examined: u32,
    pub feasible: u32,
}

/// Returns whether a node has the requested resources; `free` has the amounts in thousandths, node-major. A node that
/// the scheduler has not seen yet has no free resources.
pub fn has_room(facts: &TemplateFacts, free: &[i64], columns: usize, node: NodeId) -> bool {
    let at = node.ix() * columns;
    let Some(free) = free.get(at..at + columns) else {
        return false;
    };
    facts.requests.iter().all(|(c, milli)| free[*c as usize] >= *milli)
}

/// The order of a search, and when it ends.
#[derive(Clone, Debug)]
pub struct NodeSearch {
    /// Number of candidates.
    pub count: u32,
    /// The first candidate to examine.
    pub start: u32,
    /// Number of feasible candidates after which the search ends; at least 1.
    pub wanted: u32,
    /// Words that may have feasible candidates.
    pub words: Range<usize>,
}

/// The feasible candidates of a search.
pub trait FeasibleCandidates {
    /// The feasible ones among the 64 from `64 * at`.
    fn word(&self, at: usize) -> u64;

    /// The number of bits in that word.
    fn count(&self, at: usize) -> u32 {
        self.word(at).count_ones()
    }
}

/// What a search examined.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SearchWindow {
    pub examined: u32,
    pub feasible: u32,
}

impl NodeSearch {
    /// Examines candidates until enough are feasible.
    pub fn examine(&self, candidates: &impl FeasibleCandidates) -> SearchWindow {
        match self.skip(self.wanted - 1, candidates) {
            Ok(last) => {
                let before = if last >= self.first() { 0 } else { self.count };
                SearchWindow { examined: last + before - self.first() + 1, feasible: self.wanted }
            }
            Err(missing) => SearchWindow { examined: self.count, feasible: self.wanted - 1 - missing },
        }
    }

    /// Returns the `n`-th feasible candidate in the order of the search, counted from 0.
    pub fn nth(&self, n: u32, candidates: &impl FeasibleCandidates) -> Option<u32> {
        self.skip(n, candidates).ok()
    }

    /// Returns the feasible candidate after `n` others, or how many of these are missing.
    fn skip(&self, n: u32, candidates: &impl FeasibleCandidates) -> Result<u32, u32> {
        let mut left = n;
        let found = self.segments().find(|(at, mask)| {
            let found = count(candidates, *at, *mask);
            let is_here = left < found;
            left -= if is_here { 0 } else { found };
            is_here
        });
        let (at, mask) = found.ok_or(left)?;
        Ok(position(at, nth_bit(candidates.word(at) & mask, left)))
    }

    /// Appends the feasible candidates of a window in the order of the search.
    pub fn collect(&self, window: SearchWindow, candidates: &impl FeasibleCandidates, feasible: &mut Vec<u32>) {
        let end = feasible.len() + window.feasible as usize;
        for (at, mask) in self.segments() {
            let mut bits = candidates.word(at) & mask;
            while bits != 0 && feasible.len() < end {
                feasible.push(position(at, bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }

    /// The first candidate; the start may lie beyond candidates that are gone.
    fn first(&self) -> u32 {
        if self.start < self.count { self.start } else { 0 }
    }

    /// The words in the order of the search, with the bits that belong to it. The first word is visited again at the
    /// end for its bits before the start.
    fn segments(&self) -> impl Iterator<Item = (usize, u64)> {
        let (first, bit) = (self.first() as usize / 64, self.first() % 64);
        let after_start = u64::MAX << bit;
        let (low, high) = (self.words.start, self.words.end);
        let is_inside = self.words.contains(&first);
        let edge = move |mask| is_inside.then_some((first, mask));
        let full = |range: Range<usize>| range.map(|at| (at, u64::MAX));
        let after = full((first + 1).clamp(low, high.max(low))..high);
        let before = full(low..first.clamp(low, high.max(low)));
        edge(after_start).into_iter().chain(after).chain(before).chain(edge(!after_start))
    }
}

fn position(word: usize, bit: u32) -> u32 {
    word as u32 * 64 + bit
}

/// Counts the feasible candidates of a word that belong to a mask.
fn count(candidates: &impl FeasibleCandidates, word: usize, mask: u64) -> u32 {
    if mask == u64::MAX { candidates.count(word) } else { (candidates.word(word) & mask).count_ones() }
}

/// Returns the position of the `n`-th set bit, counted from 0.
fn nth_bit(mut bits: u64, n: u32) -> u32 {
    if bits == u64::MAX {
        return n;
    }
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}
