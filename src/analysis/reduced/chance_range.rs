//! The range over which chance moves a time.

/// How far apart chance moves times of which a few were seen: of n that are spread evenly the first and the last are
/// (n - 1) / (n + 1) of the whole apart, on average (the mean range of uniform order statistics).
pub fn range(seen: &[u64]) -> u64 {
    let (first, last) = (seen.iter().min(), seen.iter().max());
    let apart = last.unwrap_or(&0) - first.unwrap_or(&0);
    match seen.len() as u64 {
        0 | 1 => 0,
        n => apart / (n - 1) * (n + 1),
    }
}
