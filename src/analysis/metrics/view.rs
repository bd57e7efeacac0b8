//! Read-only view of one finished run, the input of summaries and reports.

use super::admission::{JobSetAdmission, preemption_loops};
use super::fold::FoldedMetrics;
use super::restarts::restart::RestartMetrics;
use crate::format::seconds;
use sim_api::spec::ScenarioSpec;
use sim_base::{Duration, JobSetId, SimTime, time};
use sim_engine::record::{EndReason, RecordNames, RunOutcome};

#[derive(Copy, Clone)]
pub struct RunView<'a> {
    pub scenario: &'a ScenarioSpec,
    pub names: &'a RecordNames,
    pub outcome: &'a RunOutcome,
    pub folded: &'a FoldedMetrics,
    pub seed: u64,
    /// Input fields that are valid in the Kubernetes API and ignored by the model.
    pub not_modelled: &'a [String],
}

/// A JobSet with the condition Failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedJobSet {
    pub name: String,
    /// Time at which the condition was set.
    pub at: SimTime,
    pub reason: String,
    pub message: String,
}

impl FailedJobSet {
    /// Formats the failure as a headline, without the name of the run.
    pub fn headline(&self) -> String {
        let after = seconds(self.at.since(SimTime::ZERO));
        format!("JobSet {} failed after {after}: {}", self.name, self.reason)
    }
}

/// Returns a time at which a JobSet that is suspended since the given time can be resumed: the next full minute.
pub fn resumption_time(since: SimTime) -> Duration {
    const MINUTE: u64 = 60;
    Duration::from_secs((since.0 / time::NANOS_PER_SECOND / MINUTE + 1) * MINUTE)
}

impl<'a> RunView<'a> {
    pub fn digest(&self) -> String {
        format!("{:016x}", self.outcome.digest)
    }

    pub fn restarts(&self) -> &'a [RestartMetrics] {
        &self.folded.restarts
    }

    pub fn restarts_of(&self, jobset: JobSetId) -> impl Iterator<Item = &'a RestartMetrics> {
        self.folded.restarts.iter().filter(move |r| r.jobset == jobset)
    }

    /// Returns the admissions of a JobSet by Kueue.
    pub fn admission_of(&self, jobset: JobSetId) -> Option<&'a JobSetAdmission> {
        self.folded.admission.job_sets.iter().find(|own| own.jobset == jobset)
    }

    /// Returns evictions that repeat without progress, as sentences.
    pub fn preemption_loops(&self) -> Vec<String> {
        let loops = preemption_loops(&self.folded.admission).into_iter();
        loops.map(|found| found.describe(|id| self.job_set_name(id))).collect()
    }

    /// Returns the name of a JobSet.
    pub fn job_set_name(&self, jobset: JobSetId) -> String {
        self.names.jobset(jobset).to_owned()
    }

    pub fn namespace(&self, jobset: JobSetId) -> &'a str {
        self.names.namespace(jobset)
    }

    /// Returns the restart strategy that took effect: `Recreate`, `BlockingRecreate` or `InPlaceRestart` if the JobSet
    /// restarted according to its failure policy, otherwise `RestartJob`, `Resume` (it was suspended and resumed),
    /// `PodReplacement` or `ContainerRestart`.
    pub fn strategy(&self, restart: &RestartMetrics) -> &'static str {
        use super::restarts::restart::RestartScope;
        use sim_api::spec::RestartStrategy;
        let request =
            self.scenario.jobsets.get(restart.jobset.ix()).map(|j| j.jobset.spec.strategy()).unwrap_or_default();
        match (restart.shape, request) {
            (RestartScope::Recreate, RestartStrategy::BlockingRecreate) => "BlockingRecreate",
            (RestartScope::Recreate, _) => "Recreate",
            (RestartScope::InPlaceRestart, _) => "InPlaceRestart",
            (RestartScope::RestartJob, _) => "RestartJob",
            (RestartScope::Resume, _) => "Resume",
            (RestartScope::PodReplacement, _) => "PodReplacement",
            (RestartScope::ContainerRestart, _) => "ContainerRestart",
        }
    }

    /// Describes the first JobSet whose pods were never all placed, with the reason, or returns `None`.
    pub fn never_placed(&self) -> Option<String> {
        let mut jobsets = self.outcome.jobsets.iter().enumerate();
        jobsets.find_map(|(i, o)| {
            let (name, why) = (self.names.jobset(JobSetId(i as u32)), o.never_placed_reason.as_ref()?);
            Some(match self.outcome.end_reason {
                EndReason::TimeLimit => format!("JobSet {name} was not placed before the time limit: {why}"),
                _ => format!("JobSet {name} could never be placed: {why}"),
            })
        })
    }

    /// Describes each JobSet that failed, with the time of its condition: reason and message.
    pub fn failed_jobsets(&self) -> Vec<FailedJobSet> {
        let outcomes = self.outcome.jobsets.iter().enumerate();
        let failed = outcomes.filter(|(_, o)| o.terminal_state == "Failed").filter_map(|(i, o)| {
            let condition = o.conditions.iter().find(|c| c.kind == "Failed" && c.status)?;
            Some(FailedJobSet {
                name: self.names.jobset(JobSetId(i as u32)).to_owned(),
                at: condition.last_transition,
                reason: condition.reason.clone(),
                message: condition.message.clone(),
            })
        });
        failed.collect()
    }

    /// Appends the JobSets that failed to the subtitle of a chart.
    pub fn with_failures(&self, subtitle: &str) -> String {
        let failed = self.failed_jobsets();
        let failed = failed.iter().map(|f| format!("JobSet {} failed: {}", f.name, f.reason));
        let parts: Vec<String> = [subtitle.to_owned()].into_iter().chain(failed).collect();
        parts.join("; ")
    }

    /// Describes each JobSet that is suspended at the end of the run, with the condition for its resumption.
    pub fn suspended(&self) -> Vec<String> {
        let jobsets = self.scenario.jobsets.iter().enumerate();
        let waits = jobsets.filter_map(|(i, submitted)| {
            let (name, who) = (&submitted.jobset.name, self.who_resumes(JobSetId(i as u32))?);
            Some(format!("JobSet {name} has no pods: {who}"))
        });
        waits.collect()
    }

    /// Describes who can resume a JobSet that is suspended at the end of the run; `None` if it is not suspended.
    pub fn who_resumes(&self, jobset: JobSetId) -> Option<String> {
        let since = self.outcome.jobsets.get(jobset.ix())?.suspended_since()?;
        let jobset = &self.scenario.jobsets.get(jobset.ix())?.jobset;
        if self.scenario.kueue.as_ref().is_some_and(|kueue| kueue.suspends(jobset)) {
            return None;
        }
        let who = match jobset.kueue_queue() {
            Some(queue) => format!("it waits for admission by Kueue in queue {queue}, and Kueue is not simulated"),
            None => "it is suspended until spec.suspend is set to false".to_owned(),
        };
        let (name, at) = (&jobset.name, resumption_time(since));
        Some(format!(
            "{who}. To resume it, add to the scenario: faults: [{{at: {at}, resumeJobSet: {{name: {name}}}}}]"
        ))
    }

    /// Returns all warnings of the run: permanently blocked or unfinished parts, suspended JobSets, engine warnings.
    pub fn warnings(&self) -> Vec<String> {
        let (stuck, overtaken) = self.outcome.blocked_and_unfinished();
        let stuck = stuck.iter().map(|s| format!("blocked: {s}"));
        let suspended = self.suspended().into_iter().map(|s| format!("suspended: {s}"));
        let stuck = stuck.chain(overtaken).chain(suspended).chain(self.preemption_loops());
        stuck.chain(self.outcome.warnings.iter().cloned()).collect()
    }
}
