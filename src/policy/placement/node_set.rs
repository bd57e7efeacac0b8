//! Sets of nodes as bit sets; 64 nodes per word. Words beyond the end are empty.

use super::fit::FeasibleCandidates;
use sim_base::NodeId;
use std::cmp::Ordering;
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

    /// Removes the nodes of another set.
    pub fn remove_set(&mut self, others: &NodeSet) {
        for (word, bits) in others.range().zip(&others.words) {
            self.mask(word, !bits);
        }
    }

    /// Adds the nodes of another set, of which `kept` returns those of a word that are added.
    pub fn add_set(&mut self, others: &NodeSet, kept: impl Fn(usize) -> u64) {
        for (word, bits) in others.range().zip(&others.words) {
            let at = word - self.first;
            if self.words.len() <= at {
                self.words.resize(at + 1, 0);
                self.counts.resize(at + 1, 0);
            }
            self.replace(at, self.words[at] | bits & kept(word));
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> u32 {
        self.counts.iter().map(|count| u32::from(*count)).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Number of nodes before this one.
    pub fn rank(&self, node: NodeId) -> u32 {
        let words = (node.ix() / 64).clamp(self.first, self.first + self.words.len()) - self.first;
        let before: u32 = self.counts[..words].iter().map(|count| u32::from(*count)).sum();
        let here = self.words.get(words).filter(|_| node.ix() / 64 == self.first + words);
        before + here.map_or(0, |word| (word & !(u64::MAX << (node.ix() % 64))).count_ones())
    }

    /// The nodes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> {
        self.range().zip(&self.words).flat_map(|(at, word)| {
            let bits = std::iter::successors(Some(*word).filter(|bits| *bits != 0), |bits| {
                Some(bits & (bits - 1)).filter(|rest| *rest != 0)
            });
            bits.map(move |bits| NodeId((64 * at) as u32 + bits.trailing_zeros()))
        })
    }

    /// Removes the words without nodes at both ends of the range.
    pub fn trim(&mut self) {
        let last = self.words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let first = self.words.iter().position(|word| *word != 0).unwrap_or(last);
        self.words.truncate(last);
        self.counts.truncate(last);
        self.words.drain(..first);
        self.counts.drain(..first);
        self.first += first;
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

    /// Removes the nodes that are not between two nodes, both included; from a later to an earlier one, these are the
    /// nodes at the end and at the beginning.
    pub fn keep_between(&mut self, from: NodeId, to: NodeId) {
        for word in self.range() {
            let after = match (from.ix() / 64).cmp(&word) {
                Ordering::Less => u64::MAX,
                Ordering::Equal => u64::MAX << (from.ix() % 64),
                Ordering::Greater => 0,
            };
            let before = match (to.ix() / 64).cmp(&word) {
                Ordering::Less => 0,
                Ordering::Equal => u64::MAX >> (63 - to.ix() % 64),
                Ordering::Greater => u64::MAX,
            };
            self.mask(word, if from <= to { after & before } else { after | before });
        }
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

/// Sets or clears the bits of nodes in ascending order. Words are added at the end if necessary.
pub fn set_bits(words: &mut Vec<u64>, nodes: &[NodeId], is_set: bool) {
    if let (Some(first), Some(last)) = (nodes.first(), nodes.last())
        && last.ix() - first.ix() + 1 == nodes.len()
    {
        // A domain usually has consecutive nodes.
        if words.len() <= last.ix() / 64 {
            words.resize(last.ix() / 64 + 1, 0);
        }
        let own = first.ix() / 64..last.ix() / 64 + 1;
        for (at, word) in own.clone().zip(&mut words[own]) {
            let from = first.ix().saturating_sub(64 * at);
            let mask = u64::MAX << from & u64::MAX >> (63 - (last.ix() - 64 * at).min(63));
            *word = if is_set { *word | mask } else { *word & !mask };
        }
        return;
    }
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
