//! Evaluates `--fail-if 'restart.error.p50 > 5%'`: a condition on one of the totals.
//!
//! A missing value never passes: a condition on the restart error without any scored restart is an error of the
//! command.

use super::result::ResultTotals;
use sim_base::condition::FieldCondition;
use std::fmt;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum GateName {
    RestartErrorP50,
    RestartErrorMax,
    DecisionsDifferent,
    AdmissionDifferent,
}

const NAMES: [(&str, GateName); 4] = [
    ("restart.error.p50", GateName::RestartErrorP50),
    ("restart.error.max", GateName::RestartErrorMax),
    ("decisions.different", GateName::DecisionsDifferent),
    ("admission.different", GateName::AdmissionDifferent),
];

#[derive(Clone, Debug, PartialEq)]
pub struct ConformanceGate {
    condition: FieldCondition,
    name: GateName,
}

impl fmt::Display for ConformanceGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl std::str::FromStr for ConformanceGate {
    type Err = String;

    fn from_str(text: &str) -> Result<ConformanceGate, String> {
        let condition = text.parse::<FieldCondition>();
        let condition = condition.map_err(|e| e.to_string())?;
        let known = NAMES.iter().find(|n| n.0 == condition.name);
        let unknown = || {
            let error = condition.unknown_name_error(NAMES.iter().map(|n| n.0));
            error.to_string()
        };
        let name = known.ok_or_else(unknown)?.1;
        // A relative condition has no baseline here, so it is rejected.
        if condition.is_relative() {
            condition.evaluate(0.0, None).map_err(|e| e.to_string())?;
        }
        Ok(ConformanceGate { condition, name })
    }
}

impl ConformanceGate {
    /// Returns the value, and whether the gate failed, i.e. whether the condition is true.
    pub fn check(&self, totals: &ResultTotals) -> Result<(f64, bool), String> {
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
            GateName::RestartErrorP50 => restart()?.p50,
            GateName::RestartErrorMax => restart()?.max,
            GateName::DecisionsDifferent => (decisions.total() - decisions.equal) as f64,
            GateName::AdmissionDifferent => (admission.total - admission.equal) as f64,
        };
        let verdict = self.condition.evaluate(value, None);
        let verdict = verdict.map_err(|e| e.to_string())?;
        Ok((value, verdict.failed))
    }
}
