//! How far a training job was at any time of a run: goodput until then, and whether it was at work.
//!
//! What counted of a stretch is spread evenly over its steps: where in it the lost ones were, a run does not keep.

#![deny(missing_docs)]

use sim_base::*;
use sim_engine::record::{TrainingOutcome, TrainingStretch};

/// What a training job did over time, from its first start on.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// When its work was done; else the end of the run.
    end: Time,
    stretches: Vec<Stretch>,
}

/// As much of a stretch as is asked for: thousands of replications keep theirs.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Stretch {
    since: Time,
    /// Of its first step.
    steps: Time,
    until: Time,
    productive: Duration,
}

impl Stretch {
    fn of(of: &TrainingStretch) -> Stretch {
        Stretch {
            since: of.since,
            steps: of.since + of.rendezvous + of.restore,
            until: of.until,
            productive: of.productive,
        }
    }
}

impl Timeline {
    /// None of a job that never started.
    pub fn of(training: &TrainingOutcome) -> Option<Timeline> {
        let last = training.stretches.last()?;
        let end = if training.done {
            last.until
        } else {
            training.end
        };
        Some(Timeline::new(end, &training.stretches))
    }

    /// `end`: of the last thing that is told; at least one stretch.
    pub fn new(end: Time, stretches: &[TrainingStretch]) -> Timeline {
        assert!(!stretches.is_empty(), "a timeline begins with a start");
        let stretches = stretches.iter().map(Stretch::of).collect();
        Timeline { end, stretches }
    }

    fn start(&self) -> Time {
        self.stretches[0].since
    }

    /// From its first start to its end.
    pub fn length(&self) -> Duration {
        self.end.since(self.start())
    }

    /// Steps that counted / time, both from the first start until so long after it: the goodput of
    /// [`TrainingSummary`](super::training::TrainingSummary), were that the end. Later than the end it stays.
    pub fn goodput(&self, after: Duration) -> f64 {
        let at = (self.start() + after).min(self.end);
        let of = |s: &Stretch| {
            let whole = s.until.since(s.steps).seconds();
            let part = at.min(s.until).since(s.steps).seconds();
            match whole > 0.0 {
                true => s.productive.seconds() * part / whole,
                false => 0.0,
            }
        };
        let productive: f64 = self.stretches.iter().map(of).sum();
        productive / at.since(self.start()).seconds().max(1e-9)
    }

    /// The share of the time between two instants, counted from the first start, in which every pod was at work; none
    /// after the end.
    pub fn at_work(&self, from: Duration, to: Duration) -> Option<f64> {
        let from = self.start() + from;
        let to = (self.start() + to).min(self.end);
        if to <= from {
            return None;
        }
        let of = |s: &Stretch| {
            let (since, until) = (s.since.max(from), s.until.min(to));
            until.since(since).seconds()
        };
        let worked: f64 = self.stretches.iter().map(of).sum();
        Some(worked / to.since(from).seconds())
    }
}
