//! What the comparison of recordings found: plain data between the comparing and the printing modules.
//!
//! Must never format anything.

use super::recording::Kind;
use serde_json::Value;
use std::collections::BTreeMap;

/// One thing that the recording and the run disagree about.
#[derive(Clone, Debug, PartialEq)]
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
    /// Why this recording was not simulated; nothing else is filled in then.
    pub not_simulated: Option<String>,
    /// None: decisions are not compared for this kind.
    pub differences: Option<Vec<Difference>>,
    /// What of the unrecorded had to be as it was for equal decisions; absent if the plain play did.
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
            not_simulated: None,
            differences: None,
            play: None,
            milestones: Vec::new(),
            restart: None,
            requests: Vec::new(),
            admission: None,
        }
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
    pub decisions: Option<Equal>,
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
            if let Some(reason) = &file.not_simulated {
                *totals.not_simulated.entry(reason.clone()).or_default() += 1;
            }
            if let Some(differences) = &file.differences {
                let count = totals.decisions.get_or_insert_default();
                count.total += 1;
                count.equal += usize::from(differences.is_empty());
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
            p50: median(&errors),
            max: *max,
        });
        totals
    }
}

/// Of ascending numbers; the mean of the middle two if their count is even.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (None, _) => 0.0,
        (Some(m), 1) => *m,
        (Some(m), _) => (sorted[middle - 1] + m) / 2.0,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn file(kind: Kind) -> FileResult {
        FileResult::new(&format!("{}.json", kind.as_str()), kind)
    }

    pub fn restart(recorded_s: f64, simulated_s: Option<f64>) -> Restart {
        Restart {
            milestone: "lastPodReady".to_owned(),
            recorded_s,
            simulated_s,
            scored: true,
        }
    }

    #[test]
    fn errors_are_absolute_in_the_totals_and_only_scored_restarts_count() {
        let mut files = Vec::new();
        for (simulated, scored) in [
            (Some(90.0), true),
            (Some(104.0), true),
            (Some(102.0), true),
            (Some(900.0), false),
        ] {
            let mut f = file(Kind::Times);
            f.restart = Some(Restart {
                scored,
                ..restart(100.0, simulated)
            });
            files.push(f);
        }
        let totals = Totals::of(&files);
        let error = totals.restart.unwrap();
        assert!(
            (error.p50 - 0.04).abs() < 1e-12 && (error.max - 0.1).abs() < 1e-12,
            "{error:?}"
        );
        assert_eq!((totals.scored_restarts, totals.decisions), (3, None));
        assert_eq!(restart(100.0, None).error(), -1.0);
    }

    #[test]
    fn recordings_that_were_not_simulated_are_counted_apart() {
        let mut equal = file(Kind::Decisions);
        equal.differences = Some(Vec::new());
        let mut different = file(Kind::Decisions);
        different.differences = Some(vec![Difference::new("deleted", true, false)]);
        let mut skipped = file(Kind::Corner);
        skipped.not_simulated = Some("action patch".to_owned());
        let totals = Totals::of(&[equal, different, skipped]);
        assert_eq!(totals.decisions, Some(Equal { equal: 1, total: 2 }));
        assert_eq!(
            totals.not_simulated,
            BTreeMap::from([("action patch".to_owned(), 1)])
        );
    }
}
