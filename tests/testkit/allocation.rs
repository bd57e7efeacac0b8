//! An allocator that counts. It is in this crate because this crate is optimized, and tests allocate often.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Passes every call to the system allocator, and counts per thread, since tests run in parallel.
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Returns how often this thread has allocated or resized memory.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Returns the bytes that this thread has allocated, less those that it has returned. Negative if it returned more
/// memory of other threads.
pub fn bytes_held() -> i64 {
    BYTES.get()
}

fn count(calls: u64, bytes: i64) {
    // The counters are already destroyed when a thread ends.
    let _ = ALLOCATIONS.try_with(|counter| counter.set(counter.get() + calls));
    let _ = BYTES.try_with(|counter| counter.set(counter.get() + bytes));
}

// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        unsafe { System.realloc(memory, layout, size) }
    }
}
