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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_calibration_table() {
        // reference 6.2: C, M; Young, Daly, exact.
        for (c, m, expected) in [
            (10.0, 3600.0, [268.328, 261.703, 261.7033]),
            (60.0, 3600.0, [657.267, 617.876, 617.8906]),
            (300.0, 6480.0, [1971.801, 1776.873, 1777.0820]),
            (40.0, 28_440.0, [1508.377, 1481.828, 1481.8286]),
        ] {
            let found = ClosedForm::of(c, m);
            let found = [found.young_s, found.daly_s, found.exact_s];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-3,
                    "{c} {m}: {found}, not {expected}"
                );
            }
        }
        assert_eq!(ClosedForm::of(0.0, 100.0).exact_s, 0.0);
    }
}
