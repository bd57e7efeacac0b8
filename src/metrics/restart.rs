//! One restart as plain data: what began it, its milestones, how it ended.
//!
//! Must never hold a text: ids and times only, so that a fold can keep thousands of them.

use super::path::Path;
use crate::base::*;
use crate::record::Deleter;

macro_rules! milestones {
    ($($name:ident => $text:literal),* $(,)?) => {
        /// Instants of a restart, named as in the recordings of real clusters.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Milestone { $($name),* }

        impl Milestone {
            pub const ALL: [Milestone; Milestone::COUNT] = [$(Milestone::$name),*];
            pub const COUNT: usize = [$($text),*].len();

            /// The name in tables and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Milestone::$name => $text),* }
            }
        }
    };
}

milestones! {
    Fault => "fault",
    PodFailed => "podFailed",
    PodDeleting => "podDeleting",
    FailureTarget => "failureTarget",
    JobFailed => "jobFailed",
    RestartCounted => "restartCounted",
    FirstJobDeleting => "firstJobDeleting",
    FirstJobGone => "firstJobGone",
    LastJobGone => "lastJobGone",
    LastOldPodGone => "lastOldPodGone",
    FirstJobCreated => "firstJobCreated",
    LastJobCreated => "lastJobCreated",
    FirstPodCreated => "firstPodCreated",
    LastPodCreated => "lastPodCreated",
    LastPodBound => "lastPodBound",
    FirstContainersRestarting => "firstContainersRestarting",
    LastContainersRestarting => "lastContainersRestarting",
    AttemptsFirst => "attemptsFirst",
    PreviousWritten => "previousWritten",
    AttemptsLast => "attemptsLast",
    CurrentWritten => "currentWritten",
    FirstReady => "firstReady",
    LastReady => "lastReady",
    JobsReady => "jobsReady",
}

/// What a restart turned out to be; decides which milestones divide it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// A container was started again in its pod; nothing else happened.
    ContainerRestart,
    /// The Job controller replaced pods within their Jobs.
    PodReplacement,
    InPlaceRestart,
    /// One Job was deleted and created again (action RestartJob).
    RestartJob,
    /// Every Job was deleted and created again.
    Recreate,
}

/// The first thing that went wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CauseKind {
    ContainerExited {
        exit_code: i32,
    },
    /// A scripted fault, by its index in the scenario.
    Fault {
        index: u32,
    },
    NodeNotReady,
    PodDeleted {
        by: Deleter,
    },
    PodFailed {
        exit_code: i32,
    },
    /// The restart was counted before anything was seen to fail.
    Unknown,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub kind: CauseKind,
    pub pod: PodId,
    pub incarnation: u32,
    pub job: JobId,
    pub index: u32,
    pub node: NodeId,
}

impl Cause {
    pub const UNKNOWN: Cause = Cause {
        kind: CauseKind::Unknown,
        pod: PodId::NONE,
        incarnation: 0,
        job: JobId::NONE,
        index: 0,
        node: NodeId::NONE,
    };
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every pod is ready again.
    Ready,
    /// The JobSet completed, failed, was suspended or deleted first.
    JobSetEnded,
    /// The run ended first.
    Unfinished,
}

impl Ending {
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Ready => "ready",
            Ending::JobSetEnded => "jobSetEnded",
            Ending::Unfinished => "unfinished",
        }
    }
}

/// From the fault to the instant at which every pod is ready again.
#[derive(Clone, Debug, PartialEq)]
pub struct Restart {
    pub jobset: JobSetId,
    pub shape: Shape,
    /// The restart attempt that the new pods carry; in place, the new in-place attempt.
    pub attempt: u32,
    pub cause: Cause,
    pub start: Time,
    /// All ready again; else when the JobSet or the run ended.
    pub end: Time,
    pub ending: Ending,
    /// Pods that had to come back: created again, or ready again in place.
    pub pods: u32,
    /// Absolute instants; `Time::NEVER` for what did not happen.
    pub at: [Time; Milestone::COUNT],
    /// What it waited for, one thing after the other.
    pub path: Path,
}

impl Restart {
    pub fn new(jobset: JobSetId, start: Time, cause: Cause) -> Restart {
        let mut at = [Time::NEVER; Milestone::COUNT];
        at[Milestone::Fault as usize] = start;
        Restart {
            jobset,
            shape: Shape::ContainerRestart,
            attempt: 0,
            cause,
            start,
            end: Time::NEVER,
            ending: Ending::Unfinished,
            pods: 0,
            at,
            path: Path::default(),
        }
    }

    pub fn milestone(&self, m: Milestone) -> Option<Time> {
        let t = self.at[m as usize];
        (t != Time::NEVER).then_some(t)
    }

    /// Fault to all ready; `None` if that was never reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == Ending::Ready).then(|| self.end.since(self.start))
    }

    /// Fault to the end, whatever the end was.
    pub fn total(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Milestones that happened, in order of time, with the time since the fault.
    pub fn reached(&self) -> Vec<(Milestone, Duration)> {
        let mut all: Vec<(Milestone, Duration)> = Milestone::ALL
            .iter()
            .filter_map(|&m| Some((m, self.milestone(m)?.since(self.start))))
            .collect();
        all.sort_by_key(|&(_, d)| d);
        all
    }

    pub(crate) fn first(&mut self, m: Milestone, t: Time) {
        let slot = &mut self.at[m as usize];
        *slot = (*slot).min(t);
    }

    pub(crate) fn last(&mut self, m: Milestone, t: Time) {
        self.at[m as usize] = t;
    }

    pub(crate) fn became(&mut self, shape: Shape) {
        self.shape = self.shape.max(shape);
    }
}
