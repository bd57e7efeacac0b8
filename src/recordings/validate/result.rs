//! What the comparison of recordings found: plain data between the comparing and the printing modules.
//!
//! Must never format anything.

use super::recording::Kind;
use serde::Serialize;
use serde_json::Value;
use sim_base::stats::quantile;
use std::collections::BTreeMap;

/// One thing that the recording and the run disagree about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub path: String,
    pub recorded: Value,
    pub simulated: Value,
}

impl Difference {
    pub fn new(
        path: impl Into<String>,
        recorded: impl Into<Value>,
        simulated: impl Into<Value>,
    ) -> Difference {
        Difference {
            path: path.into(),
            recorded: recorded.into(),
            simulated: simulated.into(),
        }
    }
}

/// One instant, on either side or both, in seconds after the creation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    pub what: String,
    pub recorded_s: Option<f64>,
    pub simulated_s: Option<f64>,
    pub differs: bool,
}

impl Moment {
    /// Nobody has compared it yet.
    pub fn new(what: String, recorded_s: Option<f64>, simulated_s: Option<f64>) -> Moment {
        Moment {
            what,
            recorded_s,
            simulated_s,
            differs: false,
        }
    }

    pub fn at_s(&self) -> f64 {
        self.recorded_s.or(self.simulated_s).unwrap_or(0.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Milestone {
    pub name: String,
    pub recorded_s: Option<f64>,
    pub simulated_s: Option<f64>,
}

/// The time of a whole restart, or up to the last milestone that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    pub milestone: String,
    pub recorded_s: f64,
    /// None: the restart was never complete in the run.
    pub simulated_s: Option<f64>,
    /// False: shown, but not part of the totals.
    pub scored: bool,
}

impl Restart {
    /// (simulated − recorded) / recorded; a restart that was never complete counts as −100 %.
    pub fn error(&self) -> f64 {
        (self.simulated_s.unwrap_or(0.0) - self.recorded_s) / self.recorded_s
    }
}

/// Requests of one kind before (`start`) or during (`restart`) the restart.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDifference {
    pub window: &'static str,
    pub client: String,
    pub verb: String,
    pub resource: String,
    pub code: String,
    pub recorded: u64,
    pub simulated: u64,
    /// Why the run has none, where that is on purpose.
    pub note: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct FileResult {
    pub file: String,
    pub kind: Kind,
    pub about: String,
    /// Why this recording was not simulated; nothing is compared then.
    pub not_simulated: Vec<String>,
    /// Of the first play. None: not simulated, or decisions are not compared for this kind.
    pub differences: Option<Vec<Difference>>,
    /// What of the unrecorded had to be otherwise than in the first play for equal decisions.
    pub play: Option<String>,
    pub milestones: Vec<Milestone>,
    pub restart: Option<Restart>,
    pub requests: Vec<RequestDifference>,
    /// Only for admission recordings.
    pub admission: Option<Admission>,
}

impl FileResult {
    /// Nothing found yet.
    pub fn new(file: &str, kind: Kind) -> FileResult {
        FileResult {
            file: file.to_owned(),
            kind,
            about: String::new(),
            not_simulated: Vec::new(),
            differences: None,
            play: None,
            milestones: Vec::new(),
            restart: None,
            requests: Vec::new(),
            admission: None,
        }
    }

    /// What became of the decisions; None: they are not compared for this kind.
    pub fn verdict(&self) -> Option<Verdict> {
        if !self.kind.has_decisions() {
            return None;
        }
        Some(match (&self.differences, &self.play) {
            _ if !self.not_simulated.is_empty() => Verdict::NotSimulated,
            (Some(differences), _) if differences.is_empty() => Verdict::Equal,
            (_, Some(_)) => Verdict::OtherPlay,
            _ => Verdict::Different,
        })
    }
}

/// What became of the decisions of one recording. Only the first is a success.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Equal,
    /// Equal only in another play than the first.
    OtherPlay,
    Different,
    NotSimulated,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::OtherPlay => "otherPlay",
            Verdict::Different => "different",
            Verdict::NotSimulated => "notSimulated",
        }
    }
}

/// How many recordings there are of each verdict.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub equal: usize,
    pub other_play: usize,
    pub different: usize,
    pub not_simulated: usize,
}

impl Verdicts {
    pub fn total(self) -> usize {
        self.equal + self.other_play + self.different + self.not_simulated
    }

    fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Equal => &mut self.equal,
            Verdict::OtherPlay => &mut self.other_play,
            Verdict::Different => &mut self.different,
            Verdict::NotSimulated => &mut self.not_simulated,
        } += 1;
    }
}

/// The cases of one admission recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    pub count: Equal,
    pub differences: Vec<Difference>,
}

/// Counts over all files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub decisions: Option<Verdicts>,
    /// The same by kind of recording.
    pub kinds: BTreeMap<&'static str, Verdicts>,
    pub admission: Option<Equal>,
    /// Median and largest absolute error of the scored restarts.
    pub restart: Option<RestartError>,
    pub scored_restarts: usize,
    /// Reason → recordings.
    pub not_simulated: BTreeMap<String, usize>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Equal {
    pub equal: usize,
    pub total: usize,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RestartError {
    pub p50: f64,
    pub max: f64,
}

impl Totals {
    pub fn of(files: &[FileResult]) -> Totals {
        let mut totals = Totals::default();
        let mut errors = Vec::new();
        for file in files {
            for reason in &file.not_simulated {
                *totals.not_simulated.entry(reason.clone()).or_default() += 1;
            }
            if let Some(verdict) = file.verdict() {
                totals.decisions.get_or_insert_default().count(verdict);
                totals
                    .kinds
                    .entry(file.kind.as_str())
                    .or_default()
                    .count(verdict);
            }
            if let Some(admission) = &file.admission {
                let count = totals.admission.get_or_insert_default();
                count.total += admission.count.total;
                count.equal += admission.count.equal;
            }
            errors.extend(
                file.restart
                    .iter()
                    .filter(|r| r.scored)
                    .map(|r| r.error().abs()),
            );
        }
        errors.sort_by(f64::total_cmp);
        totals.scored_restarts = errors.len();
        totals.restart = errors.last().map(|max| RestartError {
            p50: quantile(&errors, 0.5).unwrap_or_default(),
            max: *max,
        });
        totals
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/result.rs"]
pub mod tests;
