//! The range over which random variation moves a time.

/// Estimated range of times from a small sample: of n uniform values, the first and last are on average (n − 1) / (n
/// + 1) of the range apart (mean range of uniform order statistics).
pub fn range(seen: &[u64]) -> u64 {
    let (first, last) = (seen.iter().min(), seen.iter().max());
    let apart = last.unwrap_or(&0) - first.unwrap_or(&0);
    match seen.len() as u64 {
        0 | 1 => 0,
        n => apart / (n - 1) * (n + 1),
    }
}
