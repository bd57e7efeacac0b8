//! Checkpoint intervals in closed form, for failures that come whatever happened before.

use serde::Serialize;
use sim_base::stats::lambert_w0;

/// What three formulas say of one job, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedForm {
    /// How long the job stands still for a checkpoint.
    #[serde(rename = "blocking_s")]
    pub blocking_s: f64,
    /// Mean time at work between interruptions.
    #[serde(rename = "between_s")]
    pub between_s: f64,
    /// Young's first order.
    #[serde(rename = "young_s")]
    pub young_s: f64,
    /// Daly's higher order.
    #[serde(rename = "daly_s")]
    pub daly_s: f64,
    /// Of greatest availability, exact for exponential failures, whatever a restart takes.
    #[serde(rename = "exact_s")]
    pub exact_s: f64,
}

impl ClosedForm {
    /// Work between two checkpoints of length `blocking_s`, for interruptions every `between_s` at work.
    pub fn of(blocking_s: f64, between_s: f64) -> ClosedForm {
        let (c, m) = (blocking_s, between_s);
        let young = libm::sqrt(2.0 * c * m);
        let half = c / (2.0 * m);
        // Source: J. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006.
        let daly = match c < 2.0 * m {
            true => young * (1.0 + libm::sqrt(half) / 3.0 + half / 9.0) - c,
            false => m,
        };
        // The slope of the expected time of a segment over its work is 0.
        let exact = m * (1.0 + lambert_w0(-libm::exp(-1.0 - c / m)));
        ClosedForm {
            blocking_s,
            between_s,
            young_s: young,
            daly_s: daly,
            exact_s: exact,
        }
    }
}
