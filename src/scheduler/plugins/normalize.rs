//! The range of scores.

/// Highest score of a plugin before its weight is applied.
pub const MAX_NODE_SCORE: i64 = 100;

/// Scales scores so that the highest is 100, and subtracts them from 100 if lower ones are better
/// (`DefaultNormalizeScore`).
pub fn normalize(mut scores: Vec<i64>, lower_is_better: bool) -> Vec<i64> {
    let max = scores.iter().copied().max().unwrap_or(0);
    for score in &mut scores {
        let scaled = if max == 0 { 0 } else { *score * MAX_NODE_SCORE / max };
        *score = if lower_is_better { MAX_NODE_SCORE - scaled } else { scaled };
    }
    scores
}
