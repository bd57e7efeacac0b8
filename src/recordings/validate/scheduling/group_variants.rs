//! The possible results of one attempt to schedule a group. kube-scheduler takes the pods of a group in the order of a
//! Go map, selects among equal nodes at random, and takes equal victims in any order.
//!
//! A draw decides something only if it changes more than the names of pods and nodes: the order and the nodes of equal
//! pods do not, because as many of them fit in every order. Equal victims are taken as recorded.

use serde_json::Value;
use sim_api::objects::value_access::{has_value, text};
use sim_scheduler::groups::attempt::{GroupResult, Placement};
use sim_scheduler::groups::preemption::{VictimUnit, preempt_for_group};
use sim_scheduler::{Cluster, GroupAttempt, NodeIndex, PodIndex, PodView};
use std::collections::BTreeSet;

/// Maximum number of orders of unequal pods that are tried.
const MAX_ORDERS: usize = 1000;
/// Number of selections among equal nodes that are tried with each order of unequal pods.
const TIES: usize = 4;
/// Distance of a result that the recording contradicts.
const WRONG: usize = 1000;

/// The result of one attempt.
pub enum Attempted {
    Fits(GroupResult),
    Preempts(Vec<VictimUnit>),
    /// With the message of the group.
    Fails(String),
}

impl Attempted {
    /// Equal victims are taken in the order in which the recorded ones are the last to be spared.
    pub fn run(attempt: GroupAttempt<'_>, cluster: &Cluster, result: &Value) -> Attempted {
        let outcome = attempt.run(cluster);
        if !outcome.best().is_empty() {
            return Attempted::Fits(outcome);
        }
        let rank = |_: NodeIndex, pod: PodIndex| {
            let is_victim = result["pods"][&cluster.pods[pod].name].is_null();
            (u64::from(is_victim) << 32) + pod as u64
        };
        match preempt_for_group(&attempt, cluster, rank) {
            Ok(victims) => Attempted::Preempts(victims),
            Err(reason) => Attempted::Fails(format!("{}, {reason}", outcome.message())),
        }
    }

    /// Returns how far the result is from the recorded state after the step; 0 is equal. `domains` are the values of
    /// the topology key of the recorded nodes.
    pub fn distance(&self, cluster: &Cluster, result: &Value, pods: &[PodView], domains: &BTreeSet<&str>) -> usize {
        let recorded = &result["pods"];
        let bound = pods.iter().filter(|pod| has_value(&recorded[&pod.name], "node")).count();
        match self {
            Attempted::Fits(outcome) => {
                let missing = |placement: &&Placement| match bound.checked_sub(placement.assigned()) {
                    Some(missing) if domains.is_empty() || domains.contains(placement.domain.as_str()) => missing,
                    _ => WRONG,
                };
                outcome.best().iter().map(missing).min().unwrap_or(WRONG)
            }
            Attempted::Preempts(victims) => {
                let mut removed = victims.iter().flat_map(|unit| &unit.pods).map(|(_, row)| &cluster.pods[*row].name);
                if removed.all(|name| recorded[name].is_null()) { 0 } else { WRONG }
            }
            Attempted::Fails(message) if bound == 0 => {
                let own = pods.first().and_then(|pod| cluster.groups.get(pod.group?));
                let conditions = own.and_then(|group| result["groups"][&group.name].as_array());
                let is_equal = |c: &Value| text(c, "message") == message || text(c, "status") == "True";
                usize::from(!conditions.is_some_and(|all| all.iter().any(is_equal)))
            }
            Attempted::Fails(_) => WRONG,
        }
    }
}

/// Returns the orders of the pods that differ, the given one first, each with several selections among equal nodes.
/// `kinds` are equal for pods that the scheduler treats equally. Pods of one kind have one order and one selection.
pub fn variants(pods: &[PodView], kinds: &[usize]) -> impl Iterator<Item = (Vec<PodView>, usize)> {
    let ties = if kinds.iter().all(|kind| *kind == kinds[0]) { 1 } else { TIES };
    let mut first = kinds.to_vec();
    first.sort_unstable();
    let all = std::iter::successors(Some(first), |order| next_permutation(order)).take(MAX_ORDERS);
    let others: Vec<Vec<usize>> = all.filter(|order| order != kinds).collect();
    let in_order = |order: Vec<usize>| {
        let mut left: Vec<(usize, &PodView)> = kinds.iter().copied().zip(pods).collect();
        let next = |kind: &usize| {
            let at = left.iter().position(|(other, _)| other == kind)?;
            Some(left.remove(at).1.clone())
        };
        order.iter().filter_map(next).collect()
    };
    let orders: Vec<Vec<PodView>> = std::iter::once(kinds.to_vec()).chain(others).map(in_order).collect();
    orders.into_iter().flat_map(move |order| (0..ties).map(move |tie| (order.clone(), tie)))
}

/// Returns the next permutation of a multiset in lexicographic order.
fn next_permutation(kinds: &[usize]) -> Option<Vec<usize>> {
    let pivot = (1..kinds.len()).rev().find(|at| kinds[at - 1] < kinds[*at])? - 1;
    let mut next = kinds.to_vec();
    let larger = (pivot + 1..next.len()).rev().find(|at| next[*at] > next[pivot])?;
    next.swap(pivot, larger);
    next[pivot + 1..].reverse();
    Some(next)
}
