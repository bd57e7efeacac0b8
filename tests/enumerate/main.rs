//! All orders of events over small JobSets: every state that the real policy can reach is visited and checked.
//!
//! States are defined in `world.rs`; the policy under test is `policy::reconcile` itself. The enumeration must never
//! sample: the setups of `setups.rs` are enumerated completely, except for unlimited restarts (see `EXTRA_RESTARTS`).

#[path = "../inside/cases.rs"]
mod cases;
mod composed;
mod events;
mod invariants;
mod pass;
#[expect(dead_code, reason = "plans are not compared here")]
mod policy;
mod setups;
mod termination;
mod world;

use events::{Event, possible_events, state_after};
use setups::{in_place, recreate, setup, stale, three_jobs};
use sim_policy::ActionPlan;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use world::*;

/// Number of restarts beyond maxRestarts to explore. Restarts that ignore maxRestarts are unlimited, and this number
/// reaches every kind of state.
const EXTRA_RESTARTS: u32 = 1;

/// The predecessor of a state, and the event between them; `None` for the initial state.
type From = Option<(u64, Event)>;

#[derive(Default)]
struct Seen {
    states: usize,
    dead_ends: BTreeSet<&'static str>,
    finished: BTreeSet<&'static str>,
}

/// Visits every reachable state. Panics with the sequence of events that leads to a violated invariant.
fn explore(setup: &Setup) -> Seen {
    let (mut seen, mut plan) = (Seen::default(), ActionPlan::default());
    let start = setup.start();
    let mut known: BTreeMap<u64, From> = BTreeMap::from([(start.key(setup), None)]);
    let mut left = VecDeque::from([start]);
    while let Some(state) = left.pop_front() {
        let key = state.key(setup);
        seen.states += 1;
        let judged = check_state(setup, &state, &mut plan, &mut seen);
        judged.unwrap_or_else(|e| panic!("{}: {e}\n{}", setup.text, event_path(&known, key)));
        if state.largest_counter() > invariants::max_restarts(&setup.jobset) + EXTRA_RESTARTS {
            continue;
        }
        let step = |next: &State| invariants::check_transition(setup.gates, &state.js.status, &next.js.status);
        for event in possible_events(setup, &state) {
            let next = state_after(setup, &state, event, &mut plan).and_then(|next| step(&next).map(|()| next));
            let next = next.unwrap_or_else(|e| panic!("{}: {e} at {event:?}\n{}", setup.text, event_path(&known, key)));
            let to = next.key(setup);
            if let Entry::Vacant(entry) = known.entry(to) {
                entry.insert(Some((key, event)));
                left.push_back(next);
            }
        }
    }
    seen
}

/// Returns the events that lead to a state.
fn event_path(known: &BTreeMap<u64, From>, mut key: u64) -> String {
    let mut events = Vec::new();
    while let Some(Some((from, event))) = known.get(&key) {
        events.push(format!("{event:?}"));
        key = *from;
    }
    events.reverse();
    events.join(", ")
}

/// Checks the invariants of a state, and the state that it reaches if every other component cooperates.
fn check_state(setup: &Setup, state: &State, plan: &mut ActionPlan, seen: &mut Seen) -> Result<(), String> {
    invariants::check_state(&setup.jobset, &state.js.status)?;
    seen.finished.extend(invariants::terminal_condition(&state.js.status));
    seen.dead_ends.extend(termination::blocked_reason(setup, state, plan)?);
    Ok(())
}

/// Explores all setups, a part of them in a quick run, prints the number of states and returns the combined result.
fn explore_all<S>(what: &str, setups: &[S], explore: impl Fn(&S) -> Seen) -> Seen {
    let mut sum = Seen::default();
    // Every third one of many.
    let step = if setups.len() > 20 { 4 } else { 1 };
    for setup in setups.iter().step_by(cases::cases(5, step) as usize) {
        let seen = explore(setup);
        sum.states += seen.states;
        sum.dead_ends.extend(seen.dead_ends);
        sum.finished.extend(seen.finished);
    }
    println!("{what}: {} JobSets, {} states", setups.len(), sum.states);
    sum
}

/// Returns whether `ENUMERATE=all` is set: the enumeration then omits nothing and takes minutes.
#[expect(clippy::disallowed_methods, reason = "a switch for developers, not an input of a run")]
fn enumerates_all() -> bool {
    std::env::var_os("ENUMERATE").is_some_and(|v| v == "all")
}

#[test]
fn every_order_of_events_over_small_jobsets_keeps_every_promise() {
    let seen = explore_all("one and two Jobs", &recreate(2, enumerates_all()), explore);
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    let known = ["SP-2: operator Any with targets that have no Jobs"];
    assert_eq!(Vec::from_iter(seen.dead_ends), known);
}

#[test]
fn every_order_of_events_over_three_jobs_keeps_every_promise() {
    let seen = explore_all("three Jobs", &three_jobs(), explore);
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    assert_eq!(Vec::from_iter(seen.dead_ends), [""; 0]);
}

#[test]
fn a_cache_that_lags_behind_breaks_no_promise() {
    let seen = explore_all("stale caches", &stale(), explore);
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    assert_eq!(Vec::from_iter(seen.dead_ends), [""; 0]);
}

#[test]
fn every_in_place_order_ends_or_has_a_known_reason() {
    let seen = explore_all("in place", &in_place(), explore);
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    let known = ["C-47: a pod that succeeded keeps its attempt"];
    assert_eq!(Vec::from_iter(seen.dead_ends), known);
}

#[test]
fn permanently_blocked_states_are_those_in_the_reference() {
    let gate = "RestartJob";
    let cases = [
        ("rjs: 'a:0'", gate, "C-10: there are no Jobs"),
        ("rjs: ''", gate, "C-10: there are no Jobs"),
        ("rjs: a:1 b:1, depends: [b on b Ready]", gate, "C-21: a replicatedJob depends on itself"),
        (
            "rjs: a:1, failure: {max: 1, rules: [{name: r, action: RestartJob}]}",
            "",
            "C-43: RestartJob without its gate",
        ),
    ];
    for (text, gates, name) in cases {
        let seen = explore(&setup(text, gates));
        assert_eq!(Vec::from_iter(seen.dead_ends), [name], "{text}");
    }
    for order in ["in_order: true", "depends: [b on a Ready]"] {
        let policy = "failure: {max: 0, strategy: InPlaceRestart}";
        let mut waits = setup(&format!("rjs: 'a:1x1 b:1x1', {order}, {policy}"), gate);
        waits.gates.in_place_restart = true;
        (waits.pods, waits.coarse) = (1, true);
        let name = "IPR-5: pods of waiting replicatedJobs are expected as well";
        let seen = explore(&waits);
        assert!(seen.dead_ends.contains(name), "{order}: {:?}", seen.dead_ends);
    }
    let mut gate_off = setup("rjs: a:1x1, failure: {max: 0, strategy: InPlaceRestart}", "");
    (gate_off.pods, gate_off.coarse) = (1, true);
    let name = "C-54: the gate InPlaceRestart is off";
    assert_eq!(Vec::from_iter(explore(&gate_off).dead_ends), [name]);
    let mut foreign = setup("rjs: a:2", gate);
    foreign.foreign = Some(1);
    let seen = explore(&foreign);
    let name = "C-18: the name of a Job is taken";
    assert_eq!(Vec::from_iter(seen.dead_ends), [name]);
}
