//! Tables by id that grow when an id appears for the first time.

/// The row `at`; it and those before it are made if they are not there. `at` must be somebody's id, not `NONE`.
pub fn row<T: Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        assert!(at < u32::MAX as usize, "nobody has a row");
        table.resize_with(at + 1, T::default);
    }
    &mut table[at]
}
