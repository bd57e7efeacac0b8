//! Fits a log-normal distribution to observations that are known only to lie between two bounds, or that are counted
//! in buckets.

use super::maximizer::{maximize, profile_interval};
use sim_base::stats::normal::{normal_cdf, normal_quantile};

/// A number of observations between two bounds in seconds. The upper bound may be infinite.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HistogramCell {
    pub low: f64,
    pub high: f64,
    pub n: f64,
}

/// Median and sigma of a log-normal distribution, with their intervals.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LognormalFit {
    pub median_s: f64,
    pub median_interval: [f64; 2],
    pub sigma: f64,
    pub sigma_interval: [f64; 2],
    pub n: f64,
    /// Goodness of fit: probability of a greater deviation if the observations are log-normal.
    pub p: f64,
}

fn cumulative_probability(x: f64, [mu, log_sigma]: [f64; 2]) -> f64 {
    match x {
        x if x <= 0.0 => 0.0,
        f64::INFINITY => 1.0,
        x => normal_cdf((libm::log(x) - mu) / libm::exp(log_sigma)),
    }
}

/// Largest sigma and median (s) that a preset accepts. Larger estimates are the boundary of a likelihood without a
/// maximum: the cells, for example two with one edge, do not determine the distribution.
const MAX_SIGMA: f64 = 10.0;
const MAX_MEDIAN_S: f64 = 1e9;

/// Fits a log-normal distribution by maximum likelihood. Returns `None` if there are fewer than 5 observations, if
/// all are in one cell, or if the cells do not determine the distribution.
pub fn fit(cells: &[HistogramCell]) -> Option<LognormalFit> {
    let n: f64 = cells.iter().map(|c| c.n).sum();
    let filled = cells.iter().filter(|c| c.n > 0.0).count();
    if n < 5.0 || filled < 2 {
        return None;
    }
    let likelihood = |at: [f64; 2]| {
        let one = |c: &HistogramCell| {
            let part = cumulative_probability(c.high, at) - cumulative_probability(c.low, at);
            c.n * libm::log(part.max(1e-300))
        };
        cells.iter().filter(|c| c.n > 0.0).map(one).sum::<f64>()
    };
    let start = moments(cells, n);
    let top = maximize(&likelihood, start, [0.3, 0.3]);
    if libm::exp(top[1]) > MAX_SIGMA || libm::exp(top[0]) > MAX_MEDIAN_S {
        return None;
    }
    let step = (libm::exp(top[1]) / libm::sqrt(n)).max(1e-6);
    let mu = profile_interval(&likelihood, top, 0, step);
    let log_sigma = profile_interval(&likelihood, top, 1, 1.0 / libm::sqrt(n));
    Some(LognormalFit {
        median_s: libm::exp(top[0]),
        median_interval: mu.map(libm::exp),
        sigma: libm::exp(top[1]),
        sigma_interval: log_sigma.map(libm::exp),
        n,
        p: goodness_of_fit(cells, top, n),
    })
}

/// Merges neighboring cells into at most 200, so that the likelihood has fewer terms. The shape of the distribution
/// is preserved.
pub fn merge_cells(cells: &[HistogramCell]) -> Vec<HistogramCell> {
    const MAX_CELLS: usize = 200;
    let mut sorted = cells.to_vec();
    sorted.sort_by(|a, b| a.low.total_cmp(&b.low));
    let together = |part: &[HistogramCell]| HistogramCell {
        low: part[0].low,
        high: part.iter().map(|c| c.high).fold(0.0, f64::max),
        n: part.iter().map(|c| c.n).sum(),
    };
    let parts = sorted.chunks(sorted.len().div_ceil(MAX_CELLS).max(1));
    parts.map(together).collect()
}

/// Returns the mean, and the logarithm of the standard deviation, of the logarithms of the cells' midpoints.
fn moments(cells: &[HistogramCell], n: f64) -> [f64; 2] {
    let middle = |c: &HistogramCell| {
        let high = if c.high.is_finite() { c.high } else { c.low * 2.0 };
        libm::log((0.5 * (c.low.max(0.0) + high)).max(1e-6))
    };
    let mean = cells.iter().map(|c| c.n * middle(c)).sum::<f64>() / n;
    let square = cells.iter().map(|c| c.n * (middle(c) - mean).powi(2));
    let sd = libm::sqrt(square.sum::<f64>() / n);
    [mean, libm::log(sd.max(1e-3))]
}

/// Returns the p-value of a likelihood-ratio test of the fit against free counts in √n parts of equal probability
/// (at least 5, at most 40).
fn goodness_of_fit(cells: &[HistogramCell], at: [f64; 2], n: f64) -> f64 {
    let parts = (libm::sqrt(n) as usize).clamp(5, 40);
    let mut counts = vec![0.0; parts];
    for c in cells.iter().filter(|c| c.n > 0.0) {
        // An observation whose cell spans several parts is divided among them by probability.
        let (low, high) = (cumulative_probability(c.low, at), cumulative_probability(c.high, at));
        let width = (high - low).max(1e-12);
        for (i, count) in counts.iter_mut().enumerate() {
            let (from, to) = (i as f64 / parts as f64, (i + 1) as f64 / parts as f64);
            let both = (high.min(to) - low.max(from)).max(0.0);
            *count += c.n * both / width;
        }
    }
    let expected = n / parts as f64;
    let one = |o: &f64| {
        if *o > 0.0 { o * libm::log(o / expected) } else { 0.0 }
    };
    let g = 2.0 * counts.iter().map(one).sum::<f64>();
    chi_square_above(g, parts as f64 - 3.0)
}

/// Returns the upper tail probability of the chi-square distribution, by the approximation of Wilson and Hilferty
/// (PNAS 17, 1931).
fn chi_square_above(x: f64, degrees: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees);
    let z = (libm::cbrt(x.max(0.0) / degrees) - (1.0 - part)) / libm::sqrt(part);
    normal_cdf(-z)
}

impl LognormalFit {
    /// Returns the 95th percentile in seconds.
    pub fn p95_s(&self) -> f64 {
        self.median_s * libm::exp(self.sigma * normal_quantile(0.95))
    }
}
