//! All orders of events over small JobSets: every state that the real policy can reach is visited and checked.
//!
//! A state is what `world.rs` says; the policy under test is `policy::reconcile` itself. Must never sample: what is
//! listed in `setups.rs` is enumerated completely, except for restarts that nothing limits: `BEYOND`.

mod end;
mod events;
mod pass;
mod setups;
mod world;

use events::{Event, after, possible};
use jobset_sim::policy::{JobSetStatus, Plan};
use setups::{in_place, recreate, setup, stale, three_jobs};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use world::*;

/// Restarts that ignore maxRestarts go on for ever; this many more than maxRestarts show everything.
const BEYOND: u32 = 1;

/// Where a state came from.
type From = Option<(u64, Event)>;

#[derive(Default)]
struct Seen {
    states: usize,
    dead_ends: BTreeSet<&'static str>,
    finished: BTreeSet<&'static str>,
}

/// Visits everything that can be reached. Panics with the way to a state that breaks a promise.
fn explore(setup: &Setup) -> Seen {
    let (mut seen, mut plan) = (Seen::default(), Plan::default());
    let start = setup.start();
    let mut known: BTreeMap<u64, From> = BTreeMap::from([(start.key(setup), None)]);
    let mut left = VecDeque::from([start]);
    while let Some(state) = left.pop_front() {
        let key = state.key(setup);
        seen.states += 1;
        let judged = judge(setup, &state, &mut plan, &mut seen);
        judged.unwrap_or_else(|e| panic!("{}: {e}\n{}", setup.text, way(&known, key)));
        if state.largest_counter() > max_restarts(setup) + BEYOND {
            continue;
        }
        for event in possible(setup, &state) {
            let next = after(setup, &state, event, &mut plan)
                .and_then(|next| step(setup, &state, &next).map(|()| next));
            let next = next.unwrap_or_else(|e| {
                panic!("{}: {e} at {event:?}\n{}", setup.text, way(&known, key))
            });
            let to = next.key(setup);
            if let Entry::Vacant(entry) = known.entry(to) {
                entry.insert(Some((key, event)));
                left.push_back(next);
            }
        }
    }
    seen
}

fn max_restarts(setup: &Setup) -> u32 {
    let policy = setup.jobset.spec.failure_policy.as_ref();
    policy.map_or(0, |p| p.max_restarts.max(0) as u32)
}

/// The events that lead to a state.
fn way(known: &BTreeMap<u64, From>, mut key: u64) -> String {
    let mut events = Vec::new();
    while let Some(Some((from, event))) = known.get(&key) {
        events.push(format!("{event:?}"));
        key = *from;
    }
    events.reverse();
    events.join(", ")
}

/// What must hold in every state, and where a helpful world leads from it.
fn judge(setup: &Setup, state: &State, plan: &mut Plan, seen: &mut Seen) -> Result<(), String> {
    let status = &state.js.status;
    let max = max_restarts(setup);
    if counted(status) > max {
        return Err(format!("{} counted restarts of {max}", counted(status)));
    }
    let is_true = |kind: &str| {
        let mut all = status.conditions.iter();
        all.any(|c| c.status && c.kind.as_str() == kind)
    };
    let (completed, failed) = (is_true("Completed"), is_true("Failed"));
    let terminal = state.finished().map(|t| format!("{t:?}"));
    let agree = match terminal.as_deref() {
        None => !completed && !failed,
        Some("Completed") => completed && !failed,
        _ => failed && !completed,
    };
    if !agree {
        return Err(format!("terminalState and conditions differ: {status:?}"));
    }
    if is_true("StartupPolicyInProgress") && is_true("StartupPolicyCompleted") {
        return Err("starting and started at once".to_string());
    }
    seen.finished.extend(completed.then_some("Completed"));
    seen.finished.extend(failed.then_some("Failed"));
    seen.dead_ends.extend(end::dead_end(setup, state, plan)?);
    Ok(())
}

fn counted(status: &JobSetStatus) -> u32 {
    let of_jobs = status.replicated_jobs.iter();
    let of_jobs = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max);
    status.restarts_count_towards_max + of_jobs.sum::<u32>()
}

/// What must hold from one state to the next: ends are final, counters only grow, one restart at a time.
fn step(setup: &Setup, before: &State, after: &State) -> Result<(), String> {
    let (old, new) = (&before.js.status, &after.js.status);
    if old.terminal_state.is_some() && old.terminal_state != new.terminal_state {
        return Err("a terminal state changed".to_string());
    }
    let all = |s: &JobSetStatus| {
        let own = s.replicated_jobs.iter().flat_map(|r| &r.job_restarts);
        s.restarts + own.sum::<u32>()
    };
    let grown = all(new).checked_sub(all(old));
    let gates = setup.gates;
    if grown.is_none_or(|n| n > 1) && gates.restart_job {
        return Err("a counter shrank, or one pass counted twice".to_string());
    }
    if new.previous_in_place_restart_attempt < old.previous_in_place_restart_attempt {
        return Err("previousInPlaceRestartAttempt decreased".to_string());
    }
    if new.current_in_place_restart_attempt < old.current_in_place_restart_attempt {
        return Err("currentInPlaceRestartAttempt decreased".to_string());
    }
    Ok(())
}

/// Explores all of them and says how much that was.
fn explore_all(what: &str, setups: &[Setup]) -> Seen {
    let mut sum = Seen::default();
    for setup in setups {
        let seen = explore(setup);
        sum.states += seen.states;
        sum.dead_ends.extend(seen.dead_ends);
        sum.finished.extend(seen.finished);
    }
    println!("{what}: {} JobSets, {} states", setups.len(), sum.states);
    sum
}

/// `ENUMERATE=all` leaves nothing out; that takes minutes.
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for developers, not an input of a run"
)]
fn everything() -> bool {
    std::env::var_os("ENUMERATE").is_some_and(|v| v == "all")
}

#[test]
fn every_order_of_events_over_small_jobsets_keeps_every_promise() {
    let seen = explore_all("one and two Jobs", &recreate(2, everything()));
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    let known = ["SP-2: Any over targets without Jobs"];
    assert_eq!(Vec::from_iter(seen.dead_ends), known);
}

#[test]
fn every_order_of_events_over_three_jobs_keeps_every_promise() {
    let seen = explore_all("three Jobs", &three_jobs());
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    assert_eq!(Vec::from_iter(seen.dead_ends), [""; 0]);
}

#[test]
fn a_cache_that_lags_behind_breaks_no_promise() {
    let seen = explore_all("stale caches", &stale());
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    assert_eq!(Vec::from_iter(seen.dead_ends), [""; 0]);
}

#[test]
fn in_place_every_order_of_agents_and_passes_ends_or_has_a_name() {
    let seen = explore_all("in place", &in_place());
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    let known = ["C-47: a pod that succeeded keeps its attempt"];
    assert_eq!(Vec::from_iter(seen.dead_ends), known);
}

#[test]
fn dead_ends_are_those_that_the_reference_names() {
    let gate = "RestartJob";
    let cases = [
        ("rjs: 'a:0'", gate, "C-10: no Job at all"),
        ("rjs: ''", gate, "C-10: no Job at all"),
        (
            "rjs: a:1 b:1, depends: [b on b Ready]",
            gate,
            "C-21: depends on itself",
        ),
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
        let name = "IPR-5: pods of replicatedJobs that wait are expected too";
        let seen = explore(&waits);
        assert!(
            seen.dead_ends.contains(name),
            "{order}: {:?}",
            seen.dead_ends
        );
    }
    let mut gate_off = setup(
        "rjs: a:1x1, failure: {max: 0, strategy: InPlaceRestart}",
        "",
    );
    (gate_off.pods, gate_off.coarse) = (1, true);
    let name = "C-54: the gate InPlaceRestart is off";
    assert_eq!(Vec::from_iter(explore(&gate_off).dead_ends), [name]);
    let mut foreign = setup("rjs: a:2", gate);
    foreign.foreign = Some(1);
    let seen = explore(&foreign);
    let name = "C-18: the name of a Job is taken";
    assert_eq!(Vec::from_iter(seen.dead_ends), [name]);
}
