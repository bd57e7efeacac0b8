//! One restart as plain data: what began it, its milestones, how it ended.
//!
//! Must never hold a text: ids and times only, so that a fold can keep thousands of them.

#![deny(missing_docs)]

use super::path::Path;
use sim_base::*;
use sim_engine::record::{Deleter, TrainingStretch};

macro_rules! milestones {
    ($($(#[$about:meta])* $name:ident => $text:literal),* $(,)?) => {
        /// Instants of a restart, named as in the recordings of real clusters.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Milestone { $($(#[$about])* $name),* }

        impl Milestone {
            /// All of them.
            pub const ALL: [Milestone; Milestone::COUNT] = [$(Milestone::$name),*];
            /// How many there are.
            pub const COUNT: usize = [$($text),*].len();

            /// The name in tables and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Milestone::$name => $text),* }
            }
        }
    };
}

milestones! {
    /// Something went wrong.
    Fault => "fault",
    /// The first pod was seen not to be ready.
    PodNotReady => "podNotReady",
    /// The first pod was seen to have failed.
    PodFailed => "podFailed",
    /// The first pod was marked for deletion.
    PodDeleting => "podDeleting",
    /// The first Job was to fail.
    FailureTarget => "failureTarget",
    /// The first Job had failed.
    JobFailed => "jobFailed",
    /// The JobSet counted the restart.
    RestartCounted => "restartCounted",
    /// The first Job was marked for deletion.
    FirstJobDeleting => "firstJobDeleting",
    /// The first Job was gone.
    FirstJobGone => "firstJobGone",
    /// The last Job was gone.
    LastJobGone => "lastJobGone",
    /// The last pod of before was gone.
    LastOldPodGone => "lastOldPodGone",
    /// The first new Job was there.
    FirstJobCreated => "firstJobCreated",
    /// The last new Job was there.
    LastJobCreated => "lastJobCreated",
    /// The first new pod was there.
    FirstPodCreated => "firstPodCreated",
    /// The last new pod was there.
    LastPodCreated => "lastPodCreated",
    /// The last new pod had a node.
    LastPodBound => "lastPodBound",
    /// The first pod began to restart its containers.
    FirstContainersRestarting => "firstContainersRestarting",
    /// The last pod began to restart its containers.
    LastContainersRestarting => "lastContainersRestarting",
    /// The first agent reported the new in-place attempt.
    AttemptsFirst => "attemptsFirst",
    /// `previousInPlaceRestartAttempt` was raised: the restart was ordered.
    PreviousWritten => "previousWritten",
    /// The last agent reported the new in-place attempt.
    AttemptsLast => "attemptsLast",
    /// `currentInPlaceRestartAttempt` was raised: the barrier could open.
    CurrentWritten => "currentWritten",
    /// The first pod was ready again.
    FirstReady => "firstReady",
    /// The last pod was ready again.
    LastReady => "lastReady",
    /// Every Job was ready again.
    JobsReady => "jobsReady",
}

/// What a restart turned out to be; decides which milestones divide it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// A container was started again in its pod; nothing else happened.
    ContainerRestart,
    /// The Job controller replaced pods within their Jobs.
    PodReplacement,
    /// Every pod restarted its containers in place.
    InPlaceRestart,
    /// One Job was deleted and created again (action RestartJob).
    RestartJob,
    /// Every Job was deleted and created again.
    Recreate,
}

/// The first thing that went wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// A container ended by itself.
    ContainerExited {
        /// Its exit code.
        exit_code: i32,
    },
    /// A scripted fault, by its index in the scenario.
    Fault {
        /// Its place in the list of faults.
        index: u32,
    },
    /// A node lost contact, or was seen to be not ready.
    NodeNotReady,
    /// A pod was deleted.
    PodDeleted {
        /// Who deleted it.
        by: Deleter,
    },
    /// A pod was seen to have failed.
    PodFailed {
        /// The exit code of its container.
        exit_code: i32,
    },
    /// The restart was counted before anything was seen to fail.
    Unknown,
}

/// The first thing that went wrong, and where.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What it was.
    pub kind: CauseKind,
    /// The pod's row.
    pub pod: PodId,
    /// Which object of the row.
    pub incarnation: u32,
    /// The pod's Job.
    pub job: JobId,
    /// The pod's completion index.
    pub index: u32,
    /// The pod's node, or the one that failed.
    pub node: NodeId,
}

impl Cause {
    /// Nobody knows.
    pub const UNKNOWN: Cause = Cause {
        kind: CauseKind::Unknown,
        pod: PodId::NONE,
        incarnation: 0,
        job: JobId::NONE,
        index: 0,
        node: NodeId::NONE,
    };
}

/// How a restart ended.
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
    /// The word in files.
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
    /// Of which JobSet.
    pub jobset: JobSetId,
    /// What was restarted.
    pub shape: Shape,
    /// The restart attempt that the new pods carry; in place, the new in-place attempt.
    pub attempt: u32,
    /// What began it.
    pub cause: Cause,
    /// When it began.
    pub start: Time,
    /// All ready again; else when the JobSet or the run ended.
    pub end: Time,
    /// How it ended.
    pub ending: Ending,
    /// Pods that had to come back: created again, or ready again in place.
    pub pods: u32,
    /// Absolute instants; `Time::NEVER` for what did not happen.
    pub at: [Time; Milestone::COUNT],
    /// What it waited for, one thing after the other.
    pub path: Path,
    /// What its training job did next, if the JobSet has one.
    pub next: Option<TrainingStretch>,
}

impl Restart {
    /// One that has just begun.
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
            next: None,
        }
    }

    /// When a milestone was reached, if it was.
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

    /// Sets a milestone; the earliest time counts.
    pub fn first(&mut self, m: Milestone, t: Time) {
        let slot = &mut self.at[m as usize];
        *slot = (*slot).min(t);
    }

    /// Sets a milestone; the latest call counts.
    pub fn last(&mut self, m: Milestone, t: Time) {
        self.at[m as usize] = t;
    }

    pub(crate) fn became(&mut self, shape: Shape) {
        self.shape = self.shape.max(shape);
    }
}

/// The one to explain, if none is asked for: the one that never ended, or the longest; of equals the first.
pub fn longest(restarts: &[Restart]) -> Option<usize> {
    let open = restarts.iter().position(|r| r.ending != Ending::Ready);
    open.or_else(|| {
        let all = restarts.iter().enumerate().rev();
        all.max_by_key(|(_, r)| r.total()).map(|(i, _)| i)
    })
}
