//! Sets of nodes as bit sets; 64 nodes per word. Words beyond the end are empty.

use super::fit::FeasibleCandidates;
use sim_base::NodeId;
use std::ops::Range;

/// Candidates that are nodes.
pub trait SearchCandidates: FeasibleCandidates {
    /// The node with this number as a candidate.
    fn node(&self, at: u32) -> NodeId;
}

/// A set of nodes in a range of words, with the number of nodes per word.
#[derive(Clone, Default)]
pub struct NodeSet {
    /// Index of the first word.
    first: usize,
    words: Vec<u64>,
    counts: Vec<u8>,
}

impl NodeSet {
    /// Replaces the set by these words, and computes the numbers of nodes.
    pub fn read(&mut self, words: &[u64]) {
        self.first = 0;
        self.words.clear();
        self.words.extend_from_slice(words);
        self.counts.clear();
        self.counts.extend(words.iter().map(|word| word.count_ones() as u8));
    }

    /// Replaces the set by the nodes of another one in a range of its words.
    pub fn copy(&mut self, range: Range<usize>, from: &NodeSet) {
        self.first = range.start;
        self.words.clear();
        self.words.extend_from_slice(&from.words[range.clone()]);
        self.counts.clear();
        self.counts.extend_from_slice(&from.counts[range]);
    }

    /// The words that may have nodes.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.words.len()
    }

    pub fn has(&self, node: NodeId) -> bool {
        let word = (node.ix() / 64).checked_sub(self.first).and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (node.ix() % 64) & 1 == 1)
    }

    /// Sets or clears the bit of a node. Words are added at the end if necessary.
    pub fn set(&mut self, node: NodeId, is_set: bool) {
        let at = node.ix() / 64 - self.first;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
            self.counts.resize(at + 1, 0);
        }
        let bit = 1 << (node.ix() % 64);
        let word = self.words[at];
        self.replace(at, if is_set { word | bit } else { word & !bit });
    }

    /// Removes the nodes that are not in `others`.
    pub fn keep(&mut self, others: &[u64]) {
        for at in 0..self.words.len() {
            self.replace(at, self.words[at] & others.get(self.first + at).copied().unwrap_or(0));
        }
    }

    /// Removes the nodes of `others`.
    pub fn remove(&mut self, others: &[u64]) {
        for at in 0..self.words.len().min(others.len().saturating_sub(self.first)) {
            self.replace(at, self.words[at] & !others[self.first + at]);
        }
    }

    /// Removes the nodes that are not in `nodes`, which are in ascending order.
    pub fn keep_nodes(&mut self, nodes: &[NodeId]) {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return self.keep(&[]);
        };
        if last.ix() - first.ix() + 1 != nodes.len() {
            let mut kept = Vec::new();
            set_bits(&mut kept, nodes, true);
            return self.keep(&kept);
        }
        // A domain usually has consecutive nodes: only the first and the last word have others.
        let (low, high, words) = (first.ix() / 64, last.ix() / 64, self.range());
        (words.start..low.min(words.end)).for_each(|at| self.mask(at, 0));
        self.mask(low, u64::MAX << (first.ix() % 64));
        self.mask(high, u64::MAX >> (63 - last.ix() % 64));
        (words.start.max(high + 1)..words.end).for_each(|at| self.mask(at, 0));
    }

    /// Removes the nodes of a word that are not in a mask, if the word is in the range.
    fn mask(&mut self, word: usize, mask: u64) {
        if let Some(at) = word.checked_sub(self.first).filter(|at| *at < self.words.len()) {
            self.replace(at, self.words[at] & mask);
        }
    }

    #[inline]
    fn replace(&mut self, at: usize, word: u64) {
        if self.words[at] != word {
            self.words[at] = word;
            self.counts[at] = word.count_ones() as u8;
        }
    }
}

impl FeasibleCandidates for NodeSet {
    fn word(&self, at: usize) -> u64 {
        self.words[at - self.first]
    }

    fn count(&self, at: usize) -> u32 {
        u32::from(self.counts[at - self.first])
    }
}

impl SearchCandidates for NodeSet {
    fn node(&self, at: u32) -> NodeId {
        NodeId(at)
    }
}

/// Nodes in an order of their own, as candidates if they are in a set.
pub struct NamedNodes<'a> {
    pub nodes: &'a [NodeId],
    pub set: &'a NodeSet,
}

impl FeasibleCandidates for NamedNodes<'_> {
    fn word(&self, at: usize) -> u64 {
        let nodes = self.nodes.iter().skip(64 * at).take(64).enumerate();
        nodes.fold(0, |bits, (bit, node)| bits | u64::from(self.set.has(*node)) << bit)
    }
}

impl SearchCandidates for NamedNodes<'_> {
    fn node(&self, at: u32) -> NodeId {
        self.nodes[at as usize]
    }
}

/// Sets or clears the bits of nodes. Words are added at the end if necessary.
pub fn set_bits(words: &mut Vec<u64>, nodes: &[NodeId], is_set: bool) {
    for node in nodes {
        if words.len() <= node.ix() / 64 {
            words.resize(node.ix() / 64 + 1, 0);
        }
        let bit = 1 << (node.ix() % 64);
        let word = &mut words[node.ix() / 64];
        *word = if is_set { *word | bit } else { *word & !bit };
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/policy/placement/node_search.rs"]
mod tests;
