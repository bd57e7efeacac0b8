//! Plain data of one restart: cause, milestones, and how it ended.
//!
//! Must never contain text: with only ids and times, a fold can store thousands of restarts.

#![deny(missing_docs)]

use super::path::CriticalPath;
use super::steps::RestartStep;
use super::waits;
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime, TextId};
use sim_engine::record::{DeletionActor, SegmentOutcome};

macro_rules! milestones {
    ($($(#[$about:meta])* $name:ident => $text:literal),* $(,)?) => {
        /// Milestones of a restart, named as in the recordings of real clusters.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Milestone { $($(#[$about])* $name),* }

        impl Milestone {
            /// All milestones, in order of declaration.
            pub const ALL: [Milestone; Milestone::COUNT] = [$(Milestone::$name),*];
            /// Number of milestones.
            pub const COUNT: usize = [$($text),*].len();

            /// Returns the name of the milestone in tables and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Milestone::$name => $text),* }
            }
        }
    };
}

milestones! {
    /// The fault occurred that caused the restart.
    Fault => "fault",
    /// The first pod was reported as not ready.
    PodNotReady => "podNotReady",
    /// The first pod was reported as failed.
    PodFailed => "podFailed",
    /// The first pod was marked for deletion.
    PodDeleting => "podDeleting",
    /// The first Job got the condition `FailureTarget`.
    FailureTarget => "failureTarget",
    /// The first Job got the condition `Failed`.
    JobFailed => "jobFailed",
    /// The JobSet controller counted the restart.
    RestartCounted => "restartCounted",
    /// The first Job was marked for deletion.
    FirstJobDeleting => "firstJobDeleting",
    /// The first Job was removed.
    FirstJobGone => "firstJobGone",
    /// The last Job was removed.
    LastJobGone => "lastJobGone",
    /// The last pod from before the restart was removed.
    LastOldPodGone => "lastOldPodGone",
    /// The first new Job was created.
    FirstJobCreated => "firstJobCreated",
    /// The last new Job was created.
    LastJobCreated => "lastJobCreated",
    /// The first new pod was created.
    FirstPodCreated => "firstPodCreated",
    /// The last new pod was created.
    LastPodCreated => "lastPodCreated",
    /// The last new pod was bound to a node.
    LastPodBound => "lastPodBound",
    /// The first pod began to restart its containers.
    FirstContainersRestarting => "firstContainersRestarting",
    /// The last pod began to restart its containers.
    LastContainersRestarting => "lastContainersRestarting",
    /// The first agent reported the new in-place attempt.
    AttemptsFirst => "attemptsFirst",
    /// `previousInPlaceRestartAttempt` was raised, which orders the agents to restart.
    PreviousWritten => "previousWritten",
    /// The last agent reported the new in-place attempt.
    AttemptsLast => "attemptsLast",
    /// `currentInPlaceRestartAttempt` was raised, which opens the barrier.
    CurrentWritten => "currentWritten",
    /// The first pod became ready again.
    FirstReady => "firstReady",
    /// The last pod became ready again.
    LastReady => "lastReady",
    /// Every Job became ready again.
    JobsReady => "jobsReady",
}

/// Extent of a restart; determines the steps into which it is divided. A larger extent replaces a smaller one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RestartScope {
    /// A container was restarted in its pod, and nothing else happened.
    ContainerRestart,
    /// The Job controller replaced pods within their Jobs.
    PodReplacement,
    /// Every pod restarted its containers in place.
    InPlaceRestart,
    /// One Job was deleted and created again (action RestartJob).
    RestartJob,
    /// Every Job was suspended, which deletes its pods, and resumed.
    Resume,
    /// Every Job was deleted and created again.
    Recreate,
}

/// Kind of the first failure that led to a restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// A container exited.
    ContainerExited {
        /// Exit code of the container.
        exit_code: i32,
    },
    /// A fault of the scenario was applied.
    Fault {
        /// Index of the fault in the scenario.
        index: u32,
    },
    /// The Ready condition of a node changed to `False` or `Unknown`.
    NodeNotReady,
    /// A pod was deleted.
    PodDeleted {
        /// Component or user that deleted the pod.
        by: DeletionActor,
    },
    /// A pod was reported as failed without an earlier known cause.
    PodFailed {
        /// Exit code of its container, if a kubelet reported one.
        exit_code: Option<i32>,
    },
    /// The kubelet of its node did not admit a pod.
    PodRefused {
        /// Reason in the status of the pod.
        reason: TextId,
    },
    /// Kueue evicted the Workload of the JobSet.
    Evicted {
        /// Reason of the condition Evicted.
        reason: TextId,
    },
    /// A user suspended the JobSet.
    Suspended,
    /// A Job exceeded its activeDeadlineSeconds.
    Deadline,
    /// The restart was counted before any failure was recorded.
    Unknown,
}

/// First failure that led to a restart, with the objects it affected.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RestartCause {
    /// Kind of the failure.
    pub kind: CauseKind,
    /// Id of the affected pod; several pod objects can share it, one after the other.
    pub pod: PodId,
    /// Number of the pod object among those with this id.
    pub incarnation: u32,
    /// Job of the pod.
    pub job: JobId,
    /// Completion index of the pod.
    pub index: u32,
    /// Node of the pod.
    pub node: NodeId,
}

impl RestartCause {
    /// Cause of a restart without a recorded failure.
    pub const UNKNOWN: RestartCause = RestartCause {
        kind: CauseKind::Unknown,
        pod: PodId::NONE,
        incarnation: 0,
        job: JobId::NONE,
        index: 0,
        node: NodeId::NONE,
    };
}

/// Outcome of a restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RestartOutcome {
    /// Every pod became ready again.
    Ready,
    /// The JobSet completed, failed or was deleted before that.
    JobSetEnded,
    /// The run ended before that.
    Unfinished,
}

impl RestartOutcome {
    /// Returns the spelling used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            RestartOutcome::Ready => "ready",
            RestartOutcome::JobSetEnded => "jobSetEnded",
            RestartOutcome::Unfinished => "unfinished",
        }
    }
}

/// One restart, from the fault until every pod is ready again.
#[derive(Clone, Debug, PartialEq)]
pub struct RestartMetrics {
    /// JobSet that restarted.
    pub jobset: JobSetId,
    /// Extent of the restart.
    pub shape: RestartScope,
    /// Restart attempt of the new pods; for restarts in place, the new in-place restart attempt.
    pub attempt: u32,
    /// First failure that led to the restart.
    pub cause: RestartCause,
    /// Virtual time of the fault, or the time at which every pod was ready the last time if that is later.
    pub start: SimTime,
    /// Virtual time of the fault. It is before `start` if the fault was not visible when every pod was ready the last
    /// time.
    pub caused_at: SimTime,
    /// Time at which every pod was ready again, otherwise the end of the JobSet or of the run.
    pub end: SimTime,
    /// Outcome of the restart.
    pub ending: RestartOutcome,
    /// Number of pods that became ready during the restart, whether created again or restarted in place.
    pub pods: u32,
    /// Number of pods that were created for the new attempt. A pod that replaces one of them does not count in
    /// addition.
    pub created: u32,
    /// Virtual time of each milestone; `SimTime::NEVER` if it was not reached.
    pub at: [SimTime; Milestone::COUNT],
    /// Times in which pods waited for a node to be repaired, replaced or released, in order and disjoint.
    pub capacity: Vec<(SimTime, SimTime)>,
    /// Times in which the JobSet was suspended and waited to be admitted or resumed, in order and disjoint.
    pub queue: Vec<(SimTime, SimTime)>,
    /// Time since which an unfinished restart has waited for a deleted pod that cannot be removed from its node.
    pub stuck_since: Option<SimTime>,
    /// Critical path of the restart.
    pub path: CriticalPath,
    /// Next segment of its training job, if the JobSet has one.
    pub next: Option<SegmentOutcome>,
}

impl RestartMetrics {
    /// Creates a restart that has just begun.
    pub fn new(jobset: JobSetId, start: SimTime, cause: RestartCause) -> RestartMetrics {
        let mut at = [SimTime::NEVER; Milestone::COUNT];
        at[Milestone::Fault as usize] = start;
        RestartMetrics {
            jobset,
            shape: RestartScope::ContainerRestart,
            attempt: 0,
            cause,
            start,
            caused_at: start,
            end: SimTime::NEVER,
            ending: RestartOutcome::Unfinished,
            pods: 0,
            created: 0,
            at,
            capacity: Vec::new(),
            queue: Vec::new(),
            stuck_since: None,
            path: CriticalPath::default(),
            next: None,
        }
    }

    /// Describes a step of the restart.
    pub fn describe_step(&self, step: &RestartStep) -> String {
        let pods = match self.created {
            0 => "no pods".to_owned(),
            1 => "1 pod".to_owned(),
            n => format!("{} pods", waits::thousands(u64::from(n))),
        };
        step.what.replace("{pods} pods", &pods)
    }

    /// Returns the virtual time of a milestone, or `None` if it was not reached.
    pub fn milestone(&self, m: Milestone) -> Option<SimTime> {
        let t = self.at[m as usize];
        (t != SimTime::NEVER).then_some(t)
    }

    /// Returns the time from the fault until every pod was ready, or `None` if that was not reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == RestartOutcome::Ready).then(|| self.end.since(self.start))
    }

    /// Returns the time from the fault to the end of the restart, independent of its outcome.
    pub fn total(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Returns the milestones that were reached, in order of time, with the time since the fault.
    pub fn reached_milestones(&self) -> Vec<(Milestone, Duration)> {
        let mut all: Vec<(Milestone, Duration)> =
            Milestone::ALL.iter().filter_map(|&m| Some((m, self.milestone(m)?.since(self.start)))).collect();
        all.sort_by_key(|&(_, d)| d);
        all
    }

    /// Sets a milestone to the earlier of its current time and `t`.
    pub fn set_earliest(&mut self, m: Milestone, t: SimTime) {
        let slot = &mut self.at[m as usize];
        *slot = (*slot).min(t);
    }

    /// Sets a milestone to `t`, replacing an earlier time.
    pub fn set_latest(&mut self, m: Milestone, t: SimTime) {
        self.at[m as usize] = t;
    }

    /// Returns whether pods were not ready for a time and nothing else happened: no pod ended, and no container
    /// restarted.
    pub(crate) fn is_interruption(&self) -> bool {
        use Milestone::{FirstContainersRestarting, PodDeleting, PodFailed};
        let happened = [FirstContainersRestarting, PodDeleting, PodFailed].map(|m| self.milestone(m));
        self.shape == RestartScope::ContainerRestart && happened == [None; 3]
    }

    pub(crate) fn became(&mut self, shape: RestartScope) {
        self.shape = self.shape.max(shape);
    }
}

/// A failure after which a JobSet ended instead of restarting.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FatalFailure {
    /// The JobSet that ended.
    pub jobset: JobSetId,
    /// Time of the failure.
    pub start: SimTime,
    /// Time of the terminal condition.
    pub end: SimTime,
    /// Cause of the failure.
    pub cause: RestartCause,
}

/// Returns the index of the restart to explain by default: the first that did not end with every pod ready, otherwise
/// the longest (the first of equals).
pub fn longest(restarts: &[RestartMetrics]) -> Option<usize> {
    let open = restarts.iter().position(|r| r.ending != RestartOutcome::Ready);
    open.or_else(|| {
        let all = restarts.iter().enumerate().rev();
        all.max_by_key(|(_, r)| r.total()).map(|(i, _)| i)
    })
}
