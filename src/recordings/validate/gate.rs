//! `--fail-if 'restart.error.p50 > 5%'`: the numbers of the totals that a condition may name.
//!
//! Must never pass because there was nothing to measure: an error of restarts without any scored restart is an error
//! of the command.

use super::result::Totals;
use sim_base::condition::Condition;
use std::fmt;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Name {
    RestartErrorP50,
    RestartErrorMax,
    DecisionsDifferent,
    AdmissionDifferent,
}

const NAMES: [(&str, Name); 4] = [
    ("restart.error.p50", Name::RestartErrorP50),
    ("restart.error.max", Name::RestartErrorMax),
    ("decisions.different", Name::DecisionsDifferent),
    ("admission.different", Name::AdmissionDifferent),
];

#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    condition: Condition,
    name: Name,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let condition: Condition = text.parse()?;
        let known = NAMES.iter().find(|n| n.0 == condition.name);
        let unknown = || condition.unknown(NAMES.iter().map(|n| n.0));
        let name = known.ok_or_else(unknown)?.1;
        // There is nothing that a change could be against.
        if condition.is_relative() {
            condition.holds(0.0, None)?;
        }
        Ok(Gate { condition, name })
    }
}

impl Gate {
    /// The value, and whether the gate failed: the expression is true.
    pub fn check(&self, totals: &Totals) -> Result<(f64, bool), String> {
        let nothing = || {
            format!(
                "--fail-if {:?}: none of the recordings has a scored restart",
                self.condition.text()
            )
        };
        let restart = || totals.restart.ok_or_else(nothing);
        let decisions = totals.decisions.unwrap_or_default();
        let admission = totals.admission.unwrap_or_default();
        let value = match self.name {
            Name::RestartErrorP50 => restart()?.p50,
            Name::RestartErrorMax => restart()?.max,
            Name::DecisionsDifferent => (decisions.total() - decisions.equal) as f64,
            Name::AdmissionDifferent => (admission.total - admission.equal) as f64,
        };
        let verdict = self.condition.holds(value, None)?;
        Ok((value, verdict.failed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::{RestartError, Verdicts};
    use super::*;

    #[test]
    fn gates_fail_when_their_expression_is_true() {
        let totals = Totals {
            decisions: Some(Verdicts {
                equal: 8,
                other_play: 1,
                not_simulated: 1,
                ..Verdicts::default()
            }),
            restart: Some(RestartError {
                p50: 0.04,
                max: 0.1,
            }),
            ..Totals::default()
        };
        for (text, failed) in [
            ("restart.error.p50 > 5%", false),
            ("restart.error.p50>3.9%", true),
            ("restart.error.max >= 0.1", true),
            ("restart.error.max < 10 %", false),
            ("decisions.different == 2", true),
            ("decisions.different <= 1", false),
            ("admission.different > 0", false),
        ] {
            let gate: Gate = text.parse().unwrap();
            assert_eq!(gate.check(&totals).unwrap().1, failed, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_gate_is_refused_with_what_is_legal() {
        for (text, expected) in [
            ("", "no operator"),
            ("restart.error.p50", "no operator"),
            (
                "restart.error.p99 > 5%",
                "the names are restart.error.p50, restart.error.max",
            ),
            ("restart.error.p50 = 5%", "no such operator"),
            ("restart.error.p50 > five", "not a number"),
            ("restart.error.p50 > nan", "not a number"),
            ("restart.error.p50 > 5% and x", "not a number"),
            ("restart.error.p50 > +5%", "nothing to compare with"),
        ] {
            let error = text.parse::<Gate>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_gate_on_restarts_needs_a_scored_restart() {
        let gate: Gate = "restart.error.max > 5%".parse().unwrap();
        assert!(
            gate.check(&Totals::default())
                .unwrap_err()
                .contains("scored restart")
        );
    }
}
