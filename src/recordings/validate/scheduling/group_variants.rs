//! The possible results of one attempt to schedule a group: kube-scheduler takes the pods of a group in the order of a
//! Go map and selects among equal nodes at random.

use serde_json::Value;
use sim_api::objects::value_access::{has_value, text};
use sim_scheduler::groups::attempt::{GroupResult, Placement};
use sim_scheduler::groups::preemption::{VictimUnit, preempt_for_group};
use sim_scheduler::{Cluster, GroupAttempt, NodeIndex, PodIndex, PodView};
use std::collections::BTreeSet;

/// Number of orders that are drawn. Those that differ in no request count once.
const MAX_ORDERS: usize = 300;
/// Number of selections among equal nodes that are tried with each order.
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
    /// Pods that were bound at the same time may be listed on a node in any order. `is_reversed` tries the other one.
    pub fn run(attempt: GroupAttempt<'_>, cluster: &Cluster, is_reversed: bool) -> Attempted {
        let outcome = attempt.run(cluster);
        if !outcome.best().is_empty() {
            return Attempted::Fits(outcome);
        }
        let rank = |node: NodeIndex, pod: PodIndex| {
            let of_pod = if is_reversed { u32::MAX as usize - pod } else { pod };
            ((node as u64) << 32) + of_pod as u64
        };
        match preempt_for_group(&attempt, cluster, rank) {
            Ok(victims) => Attempted::Preempts(victims),
            Err(reason) => Attempted::Fails(format!("{}, {reason}", outcome.message())),
        }
    }

    /// Returns how far the result is from the recorded state after the step; 0 is equal.
    pub fn distance(&self, cluster: &Cluster, result: &Value, pods: &[PodView]) -> usize {
        let recorded = &result["pods"];
        let bound = pods.iter().filter(|pod| has_value(&recorded[&pod.name], "node")).count();
        match self {
            Attempted::Fits(outcome) => {
                let missing = |p: &&Placement| bound.checked_sub(p.assigned()).unwrap_or(WRONG);
                outcome.best().iter().chain(&outcome.largest()).map(missing).min().unwrap_or(WRONG)
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

/// Returns the pods in several orders, the given one first, each with several selections among equal nodes.
pub fn variants(pods: &[PodView]) -> impl Iterator<Item = (Vec<PodView>, usize)> {
    let kind = |pod: &PodView| pods.iter().position(|other| other.requests == pod.requests);
    let mut known = BTreeSet::new();
    let mut orders = Vec::new();
    let mut order = pods.to_vec();
    let mut state = 1;
    for _ in 0..MAX_ORDERS {
        let is_new = known.insert(order.iter().map(kind).collect::<Vec<Option<usize>>>());
        if is_new {
            orders.push(order.clone());
        }
        shuffle(&mut order, &mut state);
    }
    orders.into_iter().flat_map(|order| (0..TIES).map(move |tie| (order.clone(), tie)))
}

/// Brings the pods into another order with a linear congruential generator (multiplier and increment of Knuth's MMIX).
fn shuffle(pods: &mut [PodView], state: &mut u64) {
    for at in (1..pods.len()).rev() {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pods.swap(at, (*state >> 33) as usize % (at + 1));
    }
}
