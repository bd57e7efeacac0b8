//! `--fail-if 'restart.error.p50 > 5%'`: one number of the totals, an operator, a limit.
//!
//! Must never pass because there was nothing to measure: an error of restarts without any scored restart is an error
//! of the command.

use super::result::Totals;
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

/// Longest first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Operator); 5] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    (">", Operator::Above),
    ("<", Operator::Below),
];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Operator {
    AtLeast,
    AtMost,
    Equal,
    Above,
    Below,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    name: Name,
    operator: Operator,
    limit: f64,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let legal = NAMES.map(|n| n.0).join(", ");
        let form =
            "write NAME OPERATOR LIMIT, e.g. 'restart.error.p50 > 5%', with >, >=, <, <= or ==";
        let at = text.find(['<', '>', '=']);
        let (name, rest) = at
            .map(|at| text.split_at(at))
            .ok_or_else(|| format!("--fail-if {text:?}: no operator; {form}"))?;
        let (operator, limit) = OPERATORS
            .iter()
            .find_map(|(o, operator)| Some((*operator, rest.strip_prefix(o)?)))
            .ok_or_else(|| format!("--fail-if {text:?}: no such operator; {form}"))?;
        let name = name.trim();
        let known = NAMES.iter().find(|n| n.0 == name).ok_or_else(|| {
            format!("--fail-if {text:?}: {name:?} is not a name; the names are {legal}")
        })?;
        let bad = || format!("--fail-if {text:?}: {limit:?} is not a number or percentage; {form}");
        let (number, scale) = match limit.trim().strip_suffix('%') {
            Some(percent) => (percent.trim(), 100.0),
            None => (limit.trim(), 1.0),
        };
        let number: f64 = number.parse().map_err(|_| bad())?;
        if !number.is_finite() {
            return Err(bad());
        }
        Ok(Gate {
            text: text.to_owned(),
            name: known.1,
            operator,
            limit: number / scale,
        })
    }
}

impl Gate {
    /// The value, and whether the gate failed: the expression is true.
    pub fn check(&self, totals: &Totals) -> Result<(f64, bool), String> {
        let nothing = || {
            format!(
                "--fail-if {:?}: none of the recordings has a scored restart",
                self.text
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
        let failed = match self.operator {
            Operator::AtLeast => value >= self.limit,
            Operator::AtMost => value <= self.limit,
            Operator::Equal => value == self.limit,
            Operator::Above => value > self.limit,
            Operator::Below => value < self.limit,
        };
        Ok((value, failed))
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
