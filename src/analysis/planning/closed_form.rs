//! Optimal checkpoint intervals in closed form, for memoryless failures.

use serde::Serialize;
use sim_base::stats::lambert_w0;

/// Results of three formulas for one job, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedForm {
    /// Time in seconds for which a checkpoint blocks the job.
    #[serde(rename = "blocking_s")]
    pub blocking_s: f64,
    /// Mean time between interruptions in seconds, counting only time with training steps.
    #[serde(rename = "between_s")]
    pub between_s: f64,
    /// Young's first-order approximation.
    #[serde(rename = "young_s")]
    pub young_s: f64,
    /// Daly's higher-order approximation.
    #[serde(rename = "daly_s")]
    pub daly_s: f64,
    /// Interval with the largest availability, exact for exponential failures, independent of the restart time.
    #[serde(rename = "exact_s")]
    pub exact_s: f64,
}

impl ClosedForm {
    /// Computes the intervals for checkpoints that block for `blocking_s`, and one interruption per `between_s` of
    /// training steps.
    pub fn new(blocking_s: f64, between_s: f64) -> ClosedForm {
        let (c, m) = (blocking_s, between_s);
        let young = libm::sqrt(2.0 * c * m);
        let half = c / (2.0 * m);
        // Source: J. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
        let daly = if c < 2.0 * m { young * (1.0 + libm::sqrt(half) / 3.0 + half / 9.0) - c } else { m };
        // At the optimum, the derivative of the expected time per unit of work is zero.
        let exact = m * (1.0 + lambert_w0(-libm::exp(-1.0 - c / m)));
        ClosedForm { blocking_s, between_s, young_s: young, daly_s: daly, exact_s: exact }
    }
}
