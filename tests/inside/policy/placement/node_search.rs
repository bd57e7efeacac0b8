//! The search over bit sets against one that examines candidates one by one.

use super::*;
use crate::placement::{NodeSearch, SearchWindow};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Examines candidates one by one, and returns the window and the feasible candidates in order.
fn examine_each(feasible: &[bool], start: u32, wanted: u32) -> (SearchWindow, Vec<u32>) {
    let count = feasible.len() as u32;
    let mut found = Vec::new();
    for examined in 0..count {
        let at = (start + examined) % count;
        if feasible[at as usize] {
            found.push(at);
        }
        if found.len() == wanted as usize {
            return (SearchWindow { examined: examined + 1, feasible: wanted }, found);
        }
    }
    (SearchWindow { examined: count, feasible: found.len() as u32 }, found)
}

fn words(feasible: &[bool]) -> Vec<u64> {
    let bits = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit));
    feasible.chunks(64).map(bits).collect()
}

/// Candidates with runs of equal feasibility.
fn candidates() -> impl Strategy<Value = Vec<bool>> {
    let run = (any::<bool>(), 1usize..90).prop_map(|(bit, n)| vec![bit; n]);
    let mixed = vec(any::<bool>(), 1..90);
    vec(prop_oneof![run, mixed], 1..6).prop_map(|runs| runs.concat())
}

proptest! {
    #[test]
    fn a_search_finds_the_candidates_that_examining_each_finds(
        feasible in candidates(), start in 0u32..500, wanted in 1u32..200,
    ) {
        let (count, words) = (feasible.len() as u32, words(&feasible));
        let start = start % count;
        let (window, found) = examine_each(&feasible, start, wanted);
        // Empty words may be left out.
        let is_used = |at: &usize| words[*at] != 0;
        let first = (0..words.len()).find(is_used).unwrap_or(0);
        let used = first..(0..words.len()).rfind(is_used).map_or(first, |last| last + 1);
        let search = NodeSearch { count, start, wanted, words: used };
        let mut set = NodeSet::default();
        set.read(&words);
        prop_assert_eq!(search.examine(&set), window);
        let nth: Vec<u32> = (0..window.feasible).filter_map(|n| search.nth(n, &set)).collect();
        prop_assert_eq!(&nth, &found);
        let mut all = Vec::new();
        search.collect(window, &set, &mut all);
        prop_assert_eq!(&all, &found);
    }

    #[test]
    fn sets_of_nodes_keep_and_remove_like_sets_of_numbers(
        nodes in btree_set(0u32..300, 0..300), others in btree_set(0u32..400, 0..80), first in 0u32..250,
        length in 1u32..150,
    ) {
        let ids = |set: &BTreeSet<u32>| set.iter().map(|node| NodeId(*node)).collect::<Vec<_>>();
        let as_words = |set: &BTreeSet<u32>| {
            let mut words = vec![0; 7];
            set_bits(&mut words, &ids(set), true);
            words
        };
        let low = first as usize / 64;
        let inside = |node: &u32| *node as usize / 64 >= low;
        let copy = || {
            let (mut all, mut set) = (NodeSet::default(), NodeSet::default());
            all.read(&as_words(&nodes));
            set.copy(low..7, &all);
            set
        };
        let content = |set: &NodeSet| {
            assert!(set.range().all(|at| set.count(at) == set.word(at).count_ones()), "the counts follow the words");
            (0..448).filter(|node| set.has(NodeId(*node))).collect::<BTreeSet<u32>>()
        };
        let mut set = copy();
        set.keep(&as_words(&others));
        prop_assert_eq!(content(&set), nodes.intersection(&others).copied().filter(inside).collect());
        let mut set = copy();
        set.remove(&as_words(&others));
        prop_assert_eq!(content(&set), nodes.difference(&others).copied().filter(inside).collect());
        let run: BTreeSet<u32> = (first..first + length).collect();
        for kept in [&others, &run] {
            let mut set = copy();
            set.keep_nodes(&ids(kept));
            prop_assert_eq!(content(&set), nodes.intersection(kept).copied().filter(inside).collect());
        }
    }
}
