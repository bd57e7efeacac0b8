//! Quantiles of small samples.

/// Quantile by definition 7 of Hyndman and Fan (linear interpolation between order statistics, the default of NumPy
/// and R). `sorted` must be ascending; `None` if it is empty.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let h = p.clamp(0.0, 1.0) * last as f64;
    let below = h.floor() as usize;
    let above = (below + 1).min(last);
    let part = h - below as f64;
    // Censored observations are +inf; interpolation is skipped because 0 × inf is NaN.
    if part == 0.0 || sorted[below] == sorted[above] {
        return Some(sorted[below]);
    }
    Some(sorted[below] + part * (sorted[above] - sorted[below]))
}

/// Sorts the values in ascending order; NaN does not occur in times.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}
