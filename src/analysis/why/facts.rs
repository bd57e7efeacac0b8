//! The facts from which levers decide whether they concern a case: the critical path, the scenario, and the outcome.

use super::idle_domains::IdleDomains;
use crate::metrics::admission::WaitCause;
use crate::metrics::restarts::path::{CriticalPath, PathPart, PathStep};
use crate::metrics::restarts::waits::WaitKind;
use sim_api::spec::{JobSet, RandomFaults, ScenarioSpec};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{JobSetOutcome, LedgerResource, RecordNames, RunOutcome, TicketWait};

/// Input of the levers.
pub struct RunFacts<'a> {
    /// The scenario as read, without random faults.
    pub scenario: &'a ScenarioSpec,
    pub jobset: JobSetId,
    pub path: &'a CriticalPath,
    /// Index and time of the scripted actions that were executed.
    pub fired: &'a [(u32, SimTime)],
    /// Names of the lost nodes that the path waits for, and since when it waits for each.
    pub silent: &'a [(String, SimTime)],
    /// Names of the cordoned nodes while the path waits for a node, and a time at which all are cordoned and the path
    /// has begun.
    pub cordoned: Option<(&'a [String], SimTime)>,
    /// Whole domains that stay free while the path waits for capacity.
    pub idle: Option<&'a IdleDomains>,
    /// Cause of the random fault that led to the restart.
    pub random_cause: Option<&'a str>,
    /// Causes of the hangs that nothing detects, and that occurred before the end of the subject.
    pub undetected: &'a [&'a str],
    /// Whether a Job exceeded its activeDeadlineSeconds at the start of the restart.
    pub by_deadline: bool,
    /// Whether Kueue deactivated the Workload because of its maximum execution time.
    pub exceeds_limit: bool,
    /// Whether pods of the JobSet waited for a node during a significant part of the subject, whatever they waited for
    /// on the path, or Kueue evicted the Workload because the scheduler had not placed all of them.
    pub lacks_nodes: bool,
    /// State of each JobSet at the end of the run; empty if nothing could be placed.
    pub endings: &'a [JobSetEnding],
    /// Whether the subject was never completed or could not begin.
    pub blocked: bool,
    pub failed: bool,
    /// Time since which the JobSet is suspended, if it is at the end of the run and no Kueue manages it.
    pub suspended: Option<SimTime>,
    /// Whether the cluster can never place the JobSet.
    pub unplaced: bool,
    /// Whether only levers on nodes are tried, because the changes of queues are tried elsewhere.
    pub only_nodes: bool,
    /// Whether the inputs are manifests. Overrides can then set their metadata, but no fields of a cluster.
    pub of_manifests: bool,
}

/// State of a JobSet at the end of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobSetEnding {
    Completed,
    /// Neither finished nor blocked.
    Unfinished,
    Failed {
        at: SimTime,
    },
    Blocked,
}

impl JobSetEnding {
    /// Returns the states of all JobSets.
    pub fn of_run(outcome: &RunOutcome, names: &RecordNames) -> Vec<JobSetEnding> {
        let ending = |(row, state): (usize, &JobSetOutcome)| {
            let since = |kind: &str| {
                let mut all = state.conditions.iter();
                all.find(|condition| condition.kind == kind && condition.status).map(|c| c.last_transition)
            };
            match (since("Failed"), since("Completed")) {
                (Some(at), _) => JobSetEnding::Failed { at },
                (None, Some(_)) => JobSetEnding::Completed,
                _ if outcome.blocked_reason(names.jobset(JobSetId(row as u32))).is_some() => JobSetEnding::Blocked,
                _ => JobSetEnding::Unfinished,
            }
        };
        outcome.jobsets.iter().enumerate().map(ending).collect()
    }

    /// Returns whether the JobSet failed or is blocked.
    pub fn is_lost(self) -> bool {
        matches!(self, JobSetEnding::Failed { .. } | JobSetEnding::Blocked)
    }
}

/// Returns whether the Workload of a JobSet waits, which it also does while it lacks nodes.
pub(super) fn is_of_kueue(wait: WaitKind) -> bool {
    let of_pods = [TicketWait::PodsReadyTimeout, TicketWait::RequeueBackoff].map(WaitKind::Mechanism);
    matches!(wait, WaitKind::Admission(Some(cause)) if cause != WaitCause::AdmissionChecks) || of_pods.contains(&wait)
}

/// A wait below this fraction (one in `SMALL`) of the path is ignored.
pub(super) const SMALL: u64 = 200;

/// Time from the loss of a node to a repair or replacement that is tried.
pub(super) const REPAIR_AFTER: Duration = Duration::from_secs(300);

impl<'a> RunFacts<'a> {
    pub fn jobset(&self) -> Option<&'a JobSet> {
        self.scenario.jobsets.get(self.jobset.ix()).map(|s| &s.jobset)
    }

    /// Returns the fault processes with the index of their entry in the file.
    pub fn fault_processes(&self) -> impl Iterator<Item = (u32, &'a RandomFaults)> {
        self.scenario.process_entries.iter().copied().zip(&self.scenario.fault_processes)
    }

    /// Returns the path of the nth additional fault: after the entries of the file.
    pub fn new_fault(&self, nth: usize) -> String {
        format!("faults.{}", self.scenario.fault_entries() + nth)
    }

    /// Returns true if waits of this kind take a significant part of the path.
    pub fn waits(&self, which: impl Fn(WaitKind) -> bool) -> bool {
        self.spends_time_in(|step| which(WaitKind::from_step(step)))
    }

    /// Returns true if such steps take a significant part of the path.
    pub fn spends_time_in(&self, which: impl Fn(&PathStep) -> bool) -> bool {
        let own = self.path.steps.iter().filter(|step| which(step));
        let time: u64 = own.map(|step| step.duration().0).sum();
        time > self.path.total().0 / SMALL
    }

    /// Returns true if responses to a client's requests take a significant part of the path.
    pub fn waits_for_responses(&self, client: &str) -> bool {
        self.spends_time_in(|step| match (step.waited, step.part) {
            (TicketWait::Request(call), PathPart::Answer) => call.kind().client == client,
            _ => false,
        })
    }

    pub fn waits_for(&self, waited: TicketWait) -> bool {
        self.waits(|what| what == WaitKind::Mechanism(waited))
    }

    /// Returns true if waits for a node take a significant part of the path: of pods, or of a Workload of Kueue while
    /// nodes are lost or cordoned.
    pub fn waits_for_nodes(&self) -> bool {
        let is_without_nodes = !self.silent.is_empty() || self.cordoned.is_some();
        self.lacks_nodes
            || self.waits(|wait| {
                let of_pods = [TicketWait::Unschedulable, TicketWait::SchedulerBackoff].map(WaitKind::Mechanism);
                of_pods.contains(&wait) || is_without_nodes && is_of_kueue(wait)
            })
    }

    pub fn waits_in(&self, resources: &[LedgerResource]) -> bool {
        self.waits(|what| matches!(what, WaitKind::Shared(r) if resources.contains(&r)))
    }
}
