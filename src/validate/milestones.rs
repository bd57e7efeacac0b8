//! Finds the milestones of one restart in records, as the recordings of kind `times` name them.
//!
//! Must never hold an expectation: it reports when things happened, in seconds after the failing pod's status was
//! seen, or nothing. Only the first restart counts; what belongs to a second one is left out.

use crate::base::{JobId, PodId, Time, row};
use crate::record::*;
use std::collections::BTreeMap;

/// Names in the order in which they are shown.
pub const RECREATE: [&str; 14] = [
    "failureTarget",
    "jobFailed",
    "restartCounted",
    "firstJobDeleting",
    "firstJobGone",
    "lastJobGone",
    "lastOldPodGone",
    "firstJobCreated",
    "lastJobCreated",
    "firstPodCreated",
    "lastPodCreated",
    "lastPodBound",
    "lastPodReady",
    "jobsReady",
];
pub const IN_PLACE: [&str; 6] = [
    "previousWritten",
    "attemptsFirst",
    "attemptsLast",
    "currentWritten",
    "firstReady",
    "lastReady",
];

/// The milestone that ends a restart: all pods ready again.
pub fn total(in_place: bool) -> &'static str {
    if in_place {
        "lastReady"
    } else {
        "lastPodReady"
    }
}

#[derive(Copy, Clone)]
struct Place {
    incarnation: u32,
    job: JobId,
    attempt: u32,
}

/// A sink that keeps only the milestones.
pub struct Milestones {
    in_place: bool,
    places: Vec<Option<Place>>,
    exited: Option<(PodId, u32)>,
    /// When the failing pod's status was seen; everything counts from here.
    start: Option<Time>,
    failing_job: JobId,
    over: bool,
    seen: BTreeMap<&'static str, Time>,
}

impl Milestones {
    pub fn new(in_place: bool) -> Milestones {
        Milestones {
            in_place,
            places: Vec::new(),
            exited: None,
            start: None,
            failing_job: JobId::NONE,
            over: false,
            seen: BTreeMap::new(),
        }
    }

    /// Seconds from the start to each milestone that was reached.
    pub fn seconds(&self) -> BTreeMap<&'static str, f64> {
        let Some(start) = self.start else {
            return BTreeMap::new();
        };
        let since = |(name, at): (&&'static str, &Time)| (*name, at.since(start).seconds());
        self.seen.iter().map(since).collect()
    }

    fn first(&mut self, name: &'static str, at: Time) {
        self.seen.entry(name).or_insert(at);
    }

    fn last(&mut self, name: &'static str, at: Time) {
        self.seen.insert(name, at);
    }

    fn place(&self, pod: PodId, incarnation: u32) -> Option<Place> {
        let place = self.places.get(pod.ix()).copied().flatten()?;
        (place.incarnation == incarnation).then_some(place)
    }

    fn remember(&mut self, pod: PodId, place: Place) {
        *row(&mut self.places, pod.ix()) = Some(place);
    }

    /// In place, the failing pod stays: its status is seen as not ready.
    fn before_in_place(&mut self, at: Time, body: &Body) {
        match *body {
            Body::ContainerExited {
                pod, incarnation, ..
            } if self.exited.is_none() => self.exited = Some((pod, incarnation)),
            Body::PodNotReady { pod, incarnation } if self.exited == Some((pod, incarnation)) => {
                self.start = Some(at)
            }
            _ => {}
        }
    }

    fn before_recreate(&mut self, at: Time, body: &Body) {
        if let Body::PodFinished {
            pod,
            incarnation,
            succeeded: false,
            ..
        } = *body
        {
            self.start = Some(at);
            self.failing_job = self
                .place(pod, incarnation)
                .map_or(JobId::NONE, |place| place.job);
        }
    }

    fn in_place(&mut self, at: Time, body: &Body) {
        match *body {
            Body::PreviousAttempt { .. } if self.seen.contains_key("previousWritten") => {
                self.over = true;
            }
            Body::PreviousAttempt { .. } => self.first("previousWritten", at),
            Body::CurrentAttempt { .. } => self.first("currentWritten", at),
            Body::AttemptWritten { .. } => {
                self.first("attemptsFirst", at);
                self.last("attemptsLast", at);
            }
            Body::PodReady { .. } => {
                self.first("firstReady", at);
                self.last("lastReady", at);
            }
            _ => {}
        }
    }

    fn recreate(&mut self, at: Time, body: &Body) {
        match *body {
            Body::RestartCounted { restarts, .. } if restarts > 1 => self.over = true,
            Body::RestartCounted { .. } => self.first("restartCounted", at),
            Body::JobCondition { job, kind, .. } if job == self.failing_job => match kind {
                JobConditionType::FailureTarget => self.first("failureTarget", at),
                JobConditionType::Failed => self.first("jobFailed", at),
                _ => {}
            },
            Body::JobDeleting { .. } => self.first("firstJobDeleting", at),
            Body::JobGone { .. } => {
                self.first("firstJobGone", at);
                self.last("lastJobGone", at);
            }
            Body::JobCreated { .. } => {
                self.first("firstJobCreated", at);
                self.last("lastJobCreated", at);
            }
            Body::JobSetCondition {
                kind: JobSetConditionType::RestartingJobSet,
                status: false,
                ..
            } => {
                self.first("jobsReady", at);
                self.over = true;
            }
            _ => self.recreate_pod(at, body),
        }
    }

    fn recreate_pod(&mut self, at: Time, body: &Body) {
        let is_new = |m: &Milestones, pod, incarnation| {
            m.place(pod, incarnation)
                .is_some_and(|place| place.attempt > 0)
        };
        match *body {
            Body::PodCreated { attempt, .. } if attempt > 0 => {
                self.first("firstPodCreated", at);
                self.last("lastPodCreated", at);
            }
            Body::PodGone { pod, incarnation } if !is_new(self, pod, incarnation) => {
                self.last("lastOldPodGone", at);
            }
            Body::PodBound {
                pod, incarnation, ..
            } if is_new(self, pod, incarnation) => self.last("lastPodBound", at),
            Body::PodReady { pod, incarnation } if is_new(self, pod, incarnation) => {
                self.last("lastPodReady", at);
            }
            _ => {}
        }
    }
}

impl Sink for Milestones {
    fn record(&mut self, record: &Record, _: &Names) {
        if self.over {
            return;
        }
        if let Body::PodCreated {
            pod,
            incarnation,
            job,
            attempt,
            ..
        } = record.body
        {
            let place = Place {
                incarnation,
                job,
                attempt,
            };
            self.remember(pod, place);
        }
        match (self.start, self.in_place) {
            (None, true) => self.before_in_place(record.at, &record.body),
            (None, false) => self.before_recreate(record.at, &record.body),
            (Some(_), true) => self.in_place(record.at, &record.body),
            (Some(_), false) => self.recreate(record.at, &record.body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::*;

    fn play(in_place: bool, records: &[(u64, Body)]) -> Vec<(&'static str, f64)> {
        let mut milestones = Milestones::new(in_place);
        for (seq, (ms, body)) in records.iter().enumerate() {
            let record = Record {
                seq: seq as u32,
                cause: NO_CAUSE,
                ticket: NO_TICKET,
                at: Time(ms * 1_000_000),
                body: *body,
            };
            milestones.record(&record, &Names::default());
        }
        milestones.seconds().into_iter().collect()
    }

    fn created(pod: u32, incarnation: u32, attempt: u32) -> Body {
        Body::PodCreated {
            pod: PodId(pod),
            incarnation,
            job: JobId(0),
            index: pod,
            attempt,
        }
    }

    fn ready(pod: u32, incarnation: u32) -> Body {
        Body::PodReady {
            pod: PodId(pod),
            incarnation,
        }
    }

    fn counted(restarts: u32) -> Body {
        Body::RestartCounted {
            jobset: JobSetId(0),
            restarts,
            counted: restarts,
            failed_job: JobId(0),
        }
    }

    #[test]
    fn a_recreate_restart_is_timed_from_the_failed_pod() {
        let condition = |kind| Body::JobCondition {
            job: JobId(0),
            kind,
            status: true,
            reason: TextId(0),
            message: TextId(0),
        };
        let failed = Body::PodFinished {
            pod: PodId(1),
            incarnation: 0,
            succeeded: false,
            exit_code: 1,
        };
        let gone = |incarnation| Body::PodGone {
            pod: PodId(1),
            incarnation,
        };
        let seen = play(
            false,
            &[
                (0, created(0, 0, 0)),
                (0, created(1, 0, 0)),
                (900, ready(0, 0)),
                (1000, failed),
                (2000, condition(JobConditionType::FailureTarget)),
                (3000, condition(JobConditionType::Failed)),
                (3010, counted(1)),
                (3500, gone(0)),
                (4000, created(0, 1, 1)),
                (4100, created(1, 1, 1)),
                (5000, ready(1, 1)),
                (5200, ready(0, 1)),
                (6000, counted(2)),
                (7000, ready(0, 1)),
            ],
        );
        assert_eq!(
            seen,
            [
                ("failureTarget", 1.0),
                ("firstPodCreated", 3.0),
                ("jobFailed", 2.0),
                ("lastOldPodGone", 2.5),
                ("lastPodCreated", 3.1),
                ("lastPodReady", 4.2),
                ("restartCounted", 2.01),
            ]
        );
    }

    #[test]
    fn an_in_place_restart_is_timed_from_the_failing_pod_being_not_ready() {
        let written = |pod| Body::AttemptWritten {
            pod: PodId(pod),
            incarnation: 0,
            attempt: 1,
        };
        let previous = |attempt| Body::PreviousAttempt {
            jobset: JobSetId(0),
            attempt,
        };
        let seen = play(
            true,
            &[
                (0, written(1)),
                (500, ready(0, 0)),
                (
                    1000,
                    Body::ContainerExited {
                        pod: PodId(1),
                        incarnation: 0,
                        exit_code: 1,
                    },
                ),
                (
                    1010,
                    Body::PodNotReady {
                        pod: PodId(1),
                        incarnation: 0,
                    },
                ),
                (1700, written(1)),
                (1710, previous(0)),
                (2400, written(0)),
                (
                    2500,
                    Body::CurrentAttempt {
                        jobset: JobSetId(0),
                        attempt: 1,
                    },
                ),
                (2600, ready(1, 0)),
                (2700, ready(0, 0)),
                (9000, previous(1)),
                (9900, ready(0, 0)),
            ],
        );
        assert_eq!(
            seen,
            [
                ("attemptsFirst", 0.69),
                ("attemptsLast", 1.39),
                ("currentWritten", 1.49),
                ("firstReady", 1.59),
                ("lastReady", 1.69),
                ("previousWritten", 0.7),
            ]
        );
    }

    #[test]
    fn without_a_failure_there_are_no_milestones() {
        assert_eq!(play(false, &[(0, created(0, 0, 0)), (5, ready(0, 0))]), []);
    }
}
