//! Evaluates `--fail-if 'restart.error.p50 > 5%'`: a condition on one of the totals.
//!
//! A missing value never passes: a condition on the restart error without any scored restart is an error of the
//! command.

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
        // A relative condition has no baseline here, so it is rejected.
        if condition.is_relative() {
            condition.holds(0.0, None)?;
        }
        Ok(Gate { condition, name })
    }
}

impl Gate {
    /// Returns the value, and whether the gate failed, i.e. whether the condition is true.
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
