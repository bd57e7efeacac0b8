//! Estimation of the range of a time that varies randomly.

/// Returns the estimated range of times from a small sample. The first and the last of n uniformly distributed
/// values are (n − 1) / (n + 1) of the range apart on average (order statistics).
pub fn range(seen: &[u64]) -> u64 {
    let (first, last) = (seen.iter().min(), seen.iter().max());
    let apart = last.unwrap_or(&0) - first.unwrap_or(&0);
    match seen.len() as u64 {
        0 | 1 => 0,
        n => apart / (n - 1) * (n + 1),
    }
}
