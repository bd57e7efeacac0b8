//! The outcome of a replication: whether its work was completed, and if not, why. The only place that decides this.

use super::replication::ReplicationResult;
use serde::Serialize;
use sim_surrogate::fleet::FleetEnd;
use std::fmt;

/// The outcome of one replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplicationOutcome {
    /// Every JobSet is Completed or its training job has done all work.
    Completed,
    /// A JobSet failed before its work was done, or the nodes of a Fleet are used up.
    Failed,
    /// A JobSet is permanently blocked, or no events are pending and it is suspended.
    Blocked,
    /// The time limit of the scenario ended the run first.
    Unfinished,
    /// The pods run indefinitely because no run time is set; no further events are pending.
    Running,
}

impl ReplicationOutcome {
    /// Number of outcomes.
    pub const COUNT: usize = 5;

    /// All outcomes in the order of reports.
    pub const ALL: [ReplicationOutcome; ReplicationOutcome::COUNT] = [
        ReplicationOutcome::Completed,
        ReplicationOutcome::Failed,
        ReplicationOutcome::Blocked,
        ReplicationOutcome::Unfinished,
        ReplicationOutcome::Running,
    ];

    /// Returns the name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReplicationOutcome::Completed => "Completed",
            ReplicationOutcome::Failed => "Failed",
            ReplicationOutcome::Blocked => "Blocked",
            ReplicationOutcome::Unfinished => "Unfinished",
            ReplicationOutcome::Running => "Running",
        }
    }

    /// Returns whether the run ended because it could not continue, before its work was done.
    pub const fn is_cut_short(self) -> bool {
        matches!(self, ReplicationOutcome::Failed | ReplicationOutcome::Blocked)
    }

    /// Returns the outcome with this name.
    pub fn from_name(name: &str) -> Option<ReplicationOutcome> {
        let mut all = ReplicationOutcome::ALL.into_iter();
        all.find(|outcome| outcome.as_str() == name)
    }
}

impl From<FleetEnd> for ReplicationOutcome {
    fn from(end: FleetEnd) -> ReplicationOutcome {
        match end {
            FleetEnd::Completed => ReplicationOutcome::Completed,
            FleetEnd::Failed | FleetEnd::Depleted => ReplicationOutcome::Failed,
            FleetEnd::Stuck => ReplicationOutcome::Blocked,
            FleetEnd::TimeLimit => ReplicationOutcome::Unfinished,
        }
    }
}

impl ReplicationResult {
    /// Determines the outcome. A failed JobSet whose training work is done counts as completed.
    pub fn outcome(&self) -> ReplicationOutcome {
        let done = |j: &super::ReplicatedJobSet| {
            j.terminal_state == "Completed" || j.training.as_ref().is_some_and(|t| t.done && t.work_s.is_some())
        };
        let is_failed = |j: &super::ReplicatedJobSet| j.terminal_state == "Failed" && !done(j);
        match self.end_reason {
            // End reasons of a Fleet.
            "Completed" => FleetEnd::Completed.into(),
            "Failed" => FleetEnd::Failed.into(),
            "Depleted" => FleetEnd::Depleted.into(),
            "Stuck" => ReplicationOutcome::Blocked,
            _ if self.jobsets.iter().any(is_failed) => ReplicationOutcome::Failed,
            _ if !self.jobsets.is_empty() && self.jobsets.iter().all(done) => ReplicationOutcome::Completed,
            // Nothing resumes a suspended JobSet, and pods whose run time is set would have ended.
            "Settled" if self.jobsets.iter().any(|j| !done(j) && (j.is_suspended || j.has_run_time)) => {
                ReplicationOutcome::Blocked
            }
            "Settled" => ReplicationOutcome::Running,
            _ if self.jobsets.iter().any(|j| !done(j) && j.is_left_suspended) => ReplicationOutcome::Blocked,
            _ => ReplicationOutcome::Unfinished,
        }
    }

    /// Returns the outcome of the replication if it is that of this JobSet: it failed, or it is blocked.
    pub fn ending_of(&self, jobset: &super::ReplicatedJobSet) -> Option<ReplicationOutcome> {
        let outcome = self.outcome();
        let is_done = jobset.training.as_ref().is_some_and(|t| t.done && t.work_s.is_some());
        let is_own = match outcome {
            ReplicationOutcome::Failed => jobset.terminal_state == "Failed" && !is_done,
            ReplicationOutcome::Blocked if self.end_reason == "Settled" => {
                jobset.terminal_state != "Completed" && !is_done && (jobset.is_suspended || jobset.has_run_time)
            }
            ReplicationOutcome::Blocked if self.end_reason != "Stuck" => !is_done && jobset.is_left_suspended,
            ReplicationOutcome::Blocked => jobset.terminal_state.is_empty() && !is_done,
            ReplicationOutcome::Completed | ReplicationOutcome::Unfinished | ReplicationOutcome::Running => false,
        };
        is_own.then_some(outcome)
    }

    /// Returns whether the time and cost of the replication are those of whole work: it completed, or has no amount of
    /// work and neither failed nor is blocked.
    pub fn has_totals(&self) -> bool {
        match self.outcome() {
            ReplicationOutcome::Failed | ReplicationOutcome::Blocked => false,
            ReplicationOutcome::Unfinished => !self.has_open_work(),
            ReplicationOutcome::Completed | ReplicationOutcome::Running => true,
        }
    }

    /// Returns true if the inputs state an amount of work that the replication did not complete. The job of a Fleet
    /// always has an amount of work.
    pub fn has_open_work(&self) -> bool {
        let open = |j: &super::ReplicatedJobSet| j.training.as_ref().is_some_and(|t| t.work_s.is_some() && !t.done);
        !self.outputs.is_empty() || self.jobsets.iter().any(open)
    }
}

/// The number of replications by outcome.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts([usize; ReplicationOutcome::COUNT]);

impl OutcomeCounts {
    /// Counts the outcomes of replications.
    pub fn new(all: impl Iterator<Item = ReplicationOutcome>) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        all.for_each(|outcome| counts.0[outcome as usize] += 1);
        counts
    }

    /// Returns the number of replications with this outcome.
    pub fn get(&self, outcome: ReplicationOutcome) -> usize {
        self.0[outcome as usize]
    }

    /// Returns the number of all replications.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

/// Formats the counts, for example `11 completed, 9 failed`; outcomes without replications are omitted.
impl fmt::Display for OutcomeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = ReplicationOutcome::ALL.into_iter();
        let present = all.filter(|outcome| self.get(*outcome) > 0);
        for (i, outcome) in present.enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            let name = match outcome {
                ReplicationOutcome::Completed => "completed",
                ReplicationOutcome::Failed => "failed",
                ReplicationOutcome::Blocked => "blocked",
                ReplicationOutcome::Unfinished => "unfinished at the time limit",
                ReplicationOutcome::Running => "running (no run time set)",
            };
            write!(f, "{separator}{} {name}", self.get(outcome))?;
        }
        Ok(())
    }
}

impl Serialize for OutcomeCounts {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all = ReplicationOutcome::ALL.into_iter();
        to.collect_map(all.map(|outcome| (outcome.as_str(), self.get(outcome))))
    }
}
