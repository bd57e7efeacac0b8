//! A run allocates little once its tables have their size: the second run on one `Simulation` is counted.

use crate::{growth, support};
use jobset_sim::record::Discard;
use jobset_sim::spec::Scenario;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts allocations per thread, since tests run side by side.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // A thread that ends has no counter any more.
    let _ = COUNT.try_with(|c| c.set(c.get() + u64::from(bytes >= 0)));
    let _ = BYTES.try_with(|b| b.set(b.get() + bytes));
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_second_run_stays_within_its_limit_of_allocations_per_event() {
    // A run has a few hundred of its own (admission of each template); with 1,250 Jobs, passes and their texts make a
    // share of the events that the large Jobs do not have: names, refused pods, conditions of each.
    for (name, share_max) in [
        ("restart-5000-recreate", 0.02),
        ("restart-5000-in-place", 0.02),
        ("regime-job-controller-bound", 0.05),
        // Each follower that the webhook refuses has a sentence of its own, and most are refused once.
        ("regime-event-bound", 0.32),
    ] {
        let scenario = support::scenario(name, &[]);
        let mut simulation = support::simulation(&scenario);
        simulation.run(scenario.seed, 0, &mut Discard);
        let before = COUNT.with(Cell::get);
        let outcome = simulation.run(scenario.seed, 0, &mut Discard);
        let allocations = COUNT.with(Cell::get) - before;
        let share = allocations as f64 / outcome.events as f64;
        println!(
            "{name}: {allocations} allocations, {} events, {:.2} %",
            outcome.events,
            100.0 * share
        );
        assert!(share < share_max, "{name}: {:.2} %", 100.0 * share);
    }
}

/// What the simulation of a scenario holds on the heap after a run.
fn held_bytes(scenario: Scenario) -> i64 {
    let before = BYTES.with(Cell::get);
    let mut simulation = support::simulation(&scenario);
    simulation.run(scenario.seed, 0, &mut Discard);
    let held = BYTES.with(Cell::get) - before;
    drop(simulation);
    held
}

#[test]
fn a_pod_and_its_node_take_few_bytes() {
    // Measured, spare capacity of the tables included: one pod on one node, at two sizes.
    let (small, large) = (2_500, 5_000);
    let held = |n| held_bytes(growth::scenario(n));
    let per_pod = (held(large) - held(small)) / i64::from(large - small);
    println!("{per_pod} B per pod and node");
    assert!((1..=900).contains(&per_pod), "{per_pod} B per pod and node");
}

#[test]
fn the_hot_state_of_a_pod_is_small() {
    // Measured: pods alone, on the same nodes. Tables double when they are full, so full ones are compared.
    let (small, large) = (2_045, 4_095);
    let held = |pods| held_bytes(growth::with_pods(5_000, pods));
    let per_pod = (held(large) - held(small)) / i64::from(large - small);
    println!("{per_pod} B per pod");
    assert!((1..=400).contains(&per_pod), "{per_pod} B per pod");
}
