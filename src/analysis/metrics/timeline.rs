//! Goodput and uptime of a training job as functions of time.
//!
//! The productive time of a segment is spread evenly over its steps, as a run does not record which steps were lost.

#![deny(missing_docs)]

use sim_base::{Duration, SimTime};
use sim_engine::record::{SegmentOutcome, TrainingOutcome};

/// Segments of a training job over time, beginning at its first start.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimeline {
    /// Time at which the work was done; otherwise the end of the run.
    end: SimTime,
    segments: Vec<TimelineSegment>,
}

/// Reduced copy of a [`SegmentOutcome`] that saves memory, because thousands of replications keep theirs.
#[derive(Copy, Clone, Debug, PartialEq)]
struct TimelineSegment {
    since: SimTime,
    /// Start of the first step, after rendezvous and restore.
    steps: SimTime,
    until: SimTime,
    productive: Duration,
}

impl TimelineSegment {
    fn from_outcome(of: &SegmentOutcome) -> TimelineSegment {
        TimelineSegment {
            since: of.start,
            steps: of.start + of.rendezvous + of.restore,
            until: of.end,
            productive: of.productive,
        }
    }
}

impl JobTimeline {
    /// Returns the timeline of a training job, or `None` if it never started.
    pub fn from_training(training: &TrainingOutcome) -> Option<JobTimeline> {
        let last = training.segments.last()?;
        let end = if training.done { last.end } else { training.end };
        Some(JobTimeline::new(end, &training.segments))
    }

    /// Creates a timeline that ends at `end`. Panics if there is no segment.
    pub fn new(end: SimTime, segments: &[SegmentOutcome]) -> JobTimeline {
        assert!(!segments.is_empty(), "a timeline requires at least one segment");
        let segments = segments.iter().map(TimelineSegment::from_outcome).collect();
        JobTimeline { end, segments }
    }

    fn start(&self) -> SimTime {
        self.segments[0].since
    }

    /// Returns the time from the first start to the end.
    pub fn length(&self) -> Duration {
        self.end.since(self.start())
    }

    /// Returns the goodput until `after` the first start: productive steps ÷ time, both since the first start, as in
    /// [`TrainingSummary`](super::training::TrainingSummary). Times past the end give the goodput at the end.
    pub fn goodput(&self, after: Duration) -> f64 {
        let at = (self.start() + after).min(self.end);
        let of = |s: &TimelineSegment| {
            let total = s.until.since(s.steps).seconds();
            let part = at.min(s.until).since(s.steps).seconds();
            if total > 0.0 { s.productive.seconds() * part / total } else { 0.0 }
        };
        let productive: f64 = self.segments.iter().map(of).sum();
        productive / at.since(self.start()).seconds().max(1e-9)
    }

    /// Returns the share of an interval in which every pod was working, or `None` if it begins after the end. `from`
    /// and `to` are relative to the first start.
    pub fn at_work(&self, from: Duration, to: Duration) -> Option<f64> {
        let from = self.start() + from;
        let to = (self.start() + to).min(self.end);
        if to <= from {
            return None;
        }
        let of = |s: &TimelineSegment| {
            let (since, until) = (s.since.max(from), s.until.min(to));
            until.since(since).seconds()
        };
        let worked: f64 = self.segments.iter().map(of).sum();
        Some(worked / to.since(from).seconds())
    }
}
