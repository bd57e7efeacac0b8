//! A run allocates little once its tables have their size: the second run on one `Simulation` is counted.

use crate::support;
use jobset_sim::record::Discard;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts allocations per thread, since tests run side by side.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_second_run_stays_within_its_limit_of_allocations_per_event() {
    // With 1,250 Jobs, passes and their texts make a share of the events that the large Jobs do not have.
    for (name, share_max) in [
        ("restart-5000-recreate", 0.02),
        ("restart-5000-in-place", 0.02),
        ("regime-job-controller-bound", 0.03),
        ("regime-event-bound", 0.15),
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
