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

/// A gate that cannot be parsed or checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConformanceGateError {
    /// The condition has an invalid form or has no reference value.
    InvalidCondition {
        reason: String,
    },
    UnknownName {
        reason: String,
    },
    /// None of the recordings has a scored restart.
    NoScoredRestart {
        condition: String,
    },
}

impl fmt::Display for ConformanceGateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConformanceGateError::InvalidCondition { reason } | ConformanceGateError::UnknownName { reason } => {
                f.write_str(reason)
            }
            ConformanceGateError::NoScoredRestart { condition } => {
                write!(f, "--fail-if {condition:?}: none of the recordings has a scored restart")
            }
        }
    }
}

impl std::error::Error for ConformanceGateError {}

/// Returns the error for a condition that cannot be parsed or evaluated.
fn invalid_condition(error: impl fmt::Display) -> ConformanceGateError {
    ConformanceGateError::InvalidCondition { reason: error.to_string() }
}

impl std::str::FromStr for ConformanceGate {
    type Err = ConformanceGateError;

    fn from_str(text: &str) -> Result<ConformanceGate, ConformanceGateError> {
        let condition: FieldCondition = text.parse().map_err(invalid_condition)?;
        let known = NAMES.iter().find(|n| n.0 == condition.name);
        let unknown = || ConformanceGateError::UnknownName {
            reason: condition.unknown_name_error(NAMES.iter().map(|n| n.0)).to_string(),
        };
        let name = known.ok_or_else(unknown)?.1;
        // A relative condition has no baseline here, so it is rejected.
        if condition.is_relative() {
            condition.evaluate(0.0, None).map_err(invalid_condition)?;
        }
        Ok(ConformanceGate { condition, name })
    }
}

impl ConformanceGate {
    /// Returns the value, and whether the gate failed, i.e. whether the condition is true.
    pub fn check(&self, totals: &ResultTotals) -> Result<(f64, bool), ConformanceGateError> {
        let nothing = || ConformanceGateError::NoScoredRestart { condition: self.condition.text().to_owned() };
        let restart = || totals.restart.ok_or_else(nothing);
        let decisions = totals.decisions.unwrap_or_default();
        let admission = totals.admission.unwrap_or_default();
        let value = match self.name {
            GateName::RestartErrorP50 => restart()?.p50,
            GateName::RestartErrorMax => restart()?.max,
            GateName::DecisionsDifferent => (decisions.total() - decisions.equal) as f64,
            GateName::AdmissionDifferent => (admission.total - admission.equal) as f64,
        };
        let verdict = self.condition.evaluate(value, None).map_err(invalid_condition)?;
        Ok((value, verdict.failed))
    }
}
