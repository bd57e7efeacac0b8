//! Student's t distribution: quantiles for any degrees of freedom, and the confidence interval of a mean.

use super::beta::{beta_power, incomplete_beta};
use super::normal::normal_quantile;

/// Quantile of Student's t with `degrees` degrees of freedom at `p`. The relative error is below 1e-10 for `p` >
/// 1e-100 and at least one degree; infinite with zero degrees, at 0 and at 1.
pub fn t_quantile(degrees: f64, p: f64) -> f64 {
    if p < 0.5 { -t_upper(degrees, p) } else { t_upper(degrees, 1.0 - p) }
}

/// Like `t_quantile`, from the upper tail probability, because 1 − 1e-20 rounds to 1.
pub fn t_upper(degrees: f64, tail: f64) -> f64 {
    if tail > 0.5 {
        return -t_upper(degrees, 1.0 - tail);
    }
    if tail == 0.5 {
        return 0.0;
    }
    if degrees <= 0.0 || tail <= 0.0 {
        return f64::INFINITY;
    }
    // Newton's method on logarithms, where both functions are almost linear; uses the one that is not close to 1.
    let center = 0.5 - tail;
    let from_center = center < 0.25;
    let goal = libm::log(if from_center { center } else { tail });
    let mut t = if from_center { 2.5 * center } else { -normal_quantile(tail) };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..200 {
        let (chance, slope) = if from_center { central(degrees, t) } else { upper(degrees, t) };
        let excess = libm::log(chance) - goal;
        if (excess > 0.0) == from_center {
            high = t;
        } else {
            low = t;
        }
        let newton = t * libm::exp(-excess * chance / slope);
        let next = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * t
        };
        let moved = (next - t).abs();
        t = next;
        if moved <= 1e-14 * t {
            break;
        }
    }
    t
}

/// Probability of more than `t`, and its slope over the logarithm of `t`.
fn upper(degrees: f64, t: f64) -> (f64, f64) {
    let (parameters, (x, y)) = as_beta(degrees, t);
    let chance = 0.5 * incomplete_beta(parameters, (x, y));
    (chance, -beta_power(parameters, (x, y)))
}

/// Probability of 0 to `t`, and its slope over the logarithm of `t`.
fn central(degrees: f64, t: f64) -> (f64, f64) {
    let ((a, b), (x, y)) = as_beta(degrees, t);
    let chance = 0.5 * incomplete_beta((b, a), (y, x));
    (chance, beta_power((a, b), (x, y)))
}

/// `degrees / (degrees + t²)` has a beta distribution with parameters `degrees`/2 and 1/2.
fn as_beta(degrees: f64, t: f64) -> ((f64, f64), (f64, f64)) {
    let ratio = t * t / degrees;
    let x = 1.0 / (1.0 + ratio);
    ((0.5 * degrees, 0.5), (x, ratio * x))
}

/// Mean and standard deviation of a sample.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct StudentMean {
    /// The arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1; 0 for a single value.
    pub deviation: f64,
    /// Number of values.
    pub n: usize,
}

impl StudentMean {
    /// Returns `None` if there are no values.
    pub fn from_values(values: &[f64]) -> Option<StudentMean> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let deviation = match n {
            1 => 0.0,
            _ => libm::sqrt(squares / (n - 1) as f64),
        };
        Some(StudentMean { mean, deviation, n })
    }

    /// Half-width of Student's confidence interval at this level; infinite for a single value.
    pub fn half_width(&self, level: f64) -> f64 {
        if self.n < 2 {
            return f64::INFINITY;
        }
        let t = t_upper((self.n - 1) as f64, 0.5 * (1.0 - level));
        t * self.deviation / libm::sqrt(self.n as f64)
    }

    /// Confidence interval at this level of the mean of right-skewed values that are not negative, such as products of
    /// shares: symmetric around the logarithm of the mean, with the deviation of log-normal values. Student's interval
    /// of few skewed values is too low and too short. The variance of the logarithms is the mean of two estimates, from
    /// the logarithms of the positive `values` and from the coefficient of variation of all: the first is too large if
    /// the values are less skewed than log-normal ones, the second too small for few values. `None` without a positive
    /// value, or for a single value.
    /// Source: D. R. Cox's interval in X. Zhou and S. Gao, "Confidence intervals for the log-normal mean", 1997; with
    /// Student's quantile: U. Olsson, "Confidence intervals for the mean of a log-normal distribution", 2005.
    pub fn log_normal_interval(&self, values: &[f64], level: f64) -> Option<[f64; 2]> {
        if self.n < 2 || self.mean <= 0.0 {
            return None;
        }
        let logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| libm::log(*v)).collect();
        let of_logs = StudentMean::from_values(&logs)?.deviation;
        let variation = self.deviation / self.mean;
        let least = libm::log1p(variation * variation);
        let variance = f64::max(least, 0.5 * (least + of_logs * of_logs));
        let degrees = (self.n - 1) as f64;
        let error = libm::sqrt(variance / self.n as f64 + variance * variance / (2.0 * degrees));
        let factor = libm::exp(t_upper(degrees, 0.5 * (1.0 - level)) * error);
        Some([self.mean / factor, self.mean * factor])
    }

    /// Student's confidence interval at this level.
    pub fn interval(&self, level: f64) -> [f64; 2] {
        let half = self.half_width(level);
        [self.mean - half, self.mean + half]
    }
}
