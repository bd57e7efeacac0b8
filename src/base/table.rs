//! Tables indexed by ids, which grow when an id first appears.

/// Returns the row `at`, adding it and preceding rows if needed. `at` must not be the index of `NONE`.
pub fn row_or_default<T: Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        assert!(at < u32::MAX as usize, "the index of a missing object has no row");
        table.resize_with(at + 1, T::default);
    }
    &mut table[at]
}
