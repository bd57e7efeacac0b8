//! Wilcoxon's signed-rank test: whether differences have a preferred sign, by signs and ranks.

use super::normal::normal_cdf;
use serde::Serialize;

/// For more differences, the normal approximation of the rank sum is accurate.
const EXACT_MAX: usize = 50;

/// How the p-value was computed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WilcoxonMethod {
    /// Exact, by enumeration of the signs.
    Exact,
    /// Normal approximation with corrections for continuity and ties.
    Normal,
}

/// Result of the test.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct WilcoxonTest {
    /// The smaller of the rank sums of both signs.
    pub statistic: f64,
    /// Number of nonzero differences; zero differences are ignored.
    pub n: usize,
    /// Probability of a statistic at most this large if both signs were equally likely.
    pub p: f64,
    /// Method used for `p`.
    pub method: WilcoxonMethod,
}

/// Two-sided test: exact for up to 50 differences without ties and zeros. `None` if all differences are 0.
pub fn wilcoxon(differences: &[f64]) -> Option<WilcoxonTest> {
    let mut by_size: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    by_size.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = by_size.len();
    if n == 0 {
        return None;
    }
    let (mut positive, mut negative, mut ties) = (0.0, 0.0, 0.0);
    let mut rank = 0;
    for equal in by_size.chunk_by(|a, b| a.abs() == b.abs()) {
        let count = equal.len();
        // Ties get the mean of their ranks.
        let mean = rank as f64 + (count + 1) as f64 / 2.0;
        for d in equal {
            *(if *d > 0.0 { &mut positive } else { &mut negative }) += mean;
        }
        ties += cube_minus_self(count);
        rank += count;
    }
    let statistic = f64::min(positive, negative);
    let exact = n <= EXACT_MAX && n == differences.len() && ties == 0.0;
    let (p, method) = if exact {
        (exact_p(statistic as usize, n), WilcoxonMethod::Exact)
    } else {
        (normal_p(statistic, n, ties), WilcoxonMethod::Normal)
    };
    Some(WilcoxonTest { statistic, n, p, method })
}

fn cube_minus_self(count: usize) -> f64 {
    let c = count as f64;
    c * c * c - c
}

/// Twice the probability of a rank sum of at most `statistic`.
fn exact_p(statistic: usize, n: usize) -> f64 {
    // By sum: the chance that the ranks of positive differences add up to it.
    let mut chances = vec![0.0; statistic + 1];
    chances[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=statistic).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |rest| chances[rest]);
            chances[sum] = 0.5 * (chances[sum] + with);
        }
    }
    (2.0 * chances.iter().sum::<f64>()).min(1.0)
}

fn normal_p(statistic: f64, n: usize, ties: f64) -> f64 {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let from_mean = statistic - mean;
    // The sum moves by whole ranks: half of one towards the mean.
    let corrected = if from_mean < 0.0 { from_mean + 0.5 } else { from_mean };
    let z = corrected / libm::sqrt(variance);
    2.0 * normal_cdf(-z.abs())
}
