//! Results of the comparison of recordings: plain data that comparing modules pass to printing modules.
//!
//! Formatting is the task of other modules.

use super::recording::RecordingKind;
use serde::Serialize;
use serde_json::Value;
use sim_base::stats::quantile;
use std::collections::BTreeMap;

/// A difference between the recording and the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedDifference {
    pub path: String,
    pub recorded: Value,
    pub simulated: Value,
}

impl RecordedDifference {
    pub fn new(path: impl Into<String>, recorded: impl Into<Value>, simulated: impl Into<Value>) -> RecordedDifference {
        RecordedDifference { path: path.into(), recorded: recorded.into(), simulated: simulated.into() }
    }
}

/// An instant on one side or both, in seconds since the creation of the JobSet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedMoment {
    pub what: String,
    pub recorded_s: Option<f64>,
    pub simulated_s: Option<f64>,
    pub differs: bool,
    /// Name of another JobSet than the recorded one, if the instant belongs to it.
    #[serde(skip)]
    pub other_jobset: Option<String>,
}

impl ComparedMoment {
    /// Returns an instant that has not been compared yet.
    pub fn new(what: String, recorded_s: Option<f64>, simulated_s: Option<f64>) -> ComparedMoment {
        ComparedMoment { what, recorded_s, simulated_s, differs: false, other_jobset: None }
    }

    pub fn at_s(&self) -> f64 {
        self.recorded_s.or(self.simulated_s).unwrap_or(0.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MilestoneResult {
    pub name: String,
    pub recorded_s: Option<f64>,
    pub simulated_s: Option<f64>,
}

/// Time of a complete restart, or up to the last scored milestone.
#[derive(Clone, Debug, PartialEq)]
pub struct RestartResult {
    pub milestone: String,
    pub recorded_s: f64,
    /// Simulated time in seconds; `None` if the restart did not complete in the run.
    pub simulated_s: Option<f64>,
    /// Whether the restart is part of the totals. It is shown in either case.
    pub scored: bool,
}

impl RestartResult {
    /// Returns (simulated − recorded) / recorded. A restart that did not complete counts as −100 %.
    pub fn error(&self) -> f64 {
        (self.simulated_s.unwrap_or(0.0) - self.recorded_s) / self.recorded_s
    }
}

/// Number of requests of one kind before the restart (`start`) or during it (`restart`).
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDifference {
    pub window: &'static str,
    pub client: String,
    pub verb: String,
    pub resource: String,
    pub code: String,
    pub recorded: u64,
    pub simulated: u64,
    /// Reason why the model deliberately omits this request.
    pub note: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct FileResult {
    pub file: String,
    pub kind: RecordingKind,
    pub about: String,
    /// Reasons why the recording was not simulated. If there are any, nothing is compared.
    pub not_simulated: Vec<String>,
    /// Differences of the first replay; `None` if it was not simulated or the kind has no decisions.
    pub differences: Option<Vec<RecordedDifference>>,
    /// Unrecorded properties with which a later replay had equal decisions.
    pub equal_replay: Option<String>,
    /// Number of pods that may have ended either way in the first replay.
    pub exit_races: usize,
    pub milestones: Vec<MilestoneResult>,
    pub restart: Option<RestartResult>,
    pub requests: Vec<RequestDifference>,
    /// Result of the cases; only for admission recordings.
    pub admission: Option<AdmissionResult>,
}

impl FileResult {
    pub fn new(file: &str, kind: RecordingKind) -> FileResult {
        FileResult {
            file: file.to_owned(),
            kind,
            about: String::new(),
            not_simulated: Vec::new(),
            differences: None,
            equal_replay: None,
            exit_races: 0,
            milestones: Vec::new(),
            restart: None,
            requests: Vec::new(),
            admission: None,
        }
    }

    pub fn difference_count(&self) -> usize {
        self.differences.as_ref().map_or(0, Vec::len)
    }

    /// Returns the result for the decisions, or `None` if they are not compared for this kind.
    pub fn verdict(&self) -> Option<ValidationVerdict> {
        if !self.kind.has_decisions() {
            return None;
        }
        Some(match (&self.differences, &self.equal_replay) {
            _ if !self.not_simulated.is_empty() => ValidationVerdict::NotSimulated,
            (Some(differences), _) if differences.is_empty() => ValidationVerdict::Equal,
            (_, Some(_)) => ValidationVerdict::OtherReplay,
            _ => ValidationVerdict::Different,
        })
    }
}

/// Result for the decisions of one recording. Only `EqualCounts` is a success.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ValidationVerdict {
    Equal,
    /// Equal only in a later replay, not in the first.
    OtherReplay,
    Different,
    NotSimulated,
}

impl ValidationVerdict {
    pub fn as_str(self) -> &'static str {
        match self {
            ValidationVerdict::Equal => "equal",
            ValidationVerdict::OtherReplay => "otherPlay",
            ValidationVerdict::Different => "different",
            ValidationVerdict::NotSimulated => "notSimulated",
        }
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationVerdicts {
    pub equal: usize,
    pub other_replay: usize,
    pub different: usize,
    pub not_simulated: usize,
    /// Number of equal recordings with pods that may have ended either way; also counted in `equal`.
    pub exit_races: usize,
}

impl ValidationVerdicts {
    pub fn total(self) -> usize {
        self.equal + self.other_replay + self.different + self.not_simulated
    }

    fn add(&mut self, verdict: ValidationVerdict, exit_races: usize) {
        self.exit_races += usize::from(verdict == ValidationVerdict::Equal && exit_races > 0);
        *match verdict {
            ValidationVerdict::Equal => &mut self.equal,
            ValidationVerdict::OtherReplay => &mut self.other_replay,
            ValidationVerdict::Different => &mut self.different,
            ValidationVerdict::NotSimulated => &mut self.not_simulated,
        } += 1;
    }
}

/// Result of the cases of one admission recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionResult {
    pub count: EqualCounts,
    pub differences: Vec<RecordedDifference>,
}

/// Totals over all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTotals {
    pub decisions: Option<ValidationVerdicts>,
    /// Number of recordings by kind and verdict.
    pub kinds: BTreeMap<&'static str, ValidationVerdicts>,
    pub admission: Option<EqualCounts>,
    /// Median and maximum of the absolute error of scored restarts.
    pub restart: Option<RestartError>,
    pub scored_restarts: usize,
    /// Number of recordings by reason.
    pub not_simulated: BTreeMap<String, usize>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct EqualCounts {
    pub equal: usize,
    pub total: usize,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RestartError {
    pub p50: f64,
    pub max: f64,
}

impl ResultTotals {
    pub fn from_files(files: &[FileResult]) -> ResultTotals {
        let mut totals = ResultTotals::default();
        let mut errors = Vec::new();
        for file in files {
            for reason in &file.not_simulated {
                *totals.not_simulated.entry(reason.clone()).or_default() += 1;
            }
            if let Some(verdict) = file.verdict() {
                totals.decisions.get_or_insert_default().add(verdict, file.exit_races);
                totals.kinds.entry(file.kind.as_str()).or_default().add(verdict, file.exit_races);
            }
            if let Some(admission) = &file.admission {
                let count = totals.admission.get_or_insert_default();
                count.total += admission.count.total;
                count.equal += admission.count.equal;
            }
            errors.extend(file.restart.iter().filter(|r| r.scored).map(|r| r.error().abs()));
        }
        errors.sort_by(f64::total_cmp);
        totals.scored_restarts = errors.len();
        totals.restart =
            errors.last().map(|max| RestartError { p50: quantile(&errors, 0.5).unwrap_or_default(), max: *max });
        totals
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/result.rs"]
pub mod tests;
