//! Read-only view of one finished run, the input of summaries and reports.

use super::fold::Folded;
use super::restarts::restart::Restart;
use sim_api::spec::Scenario;
use sim_base::*;
use sim_engine::record::{EndReason, Names, RunOutcome};

#[derive(Copy, Clone)]
pub struct RunView<'a> {
    pub scenario: &'a Scenario,
    pub names: &'a Names,
    pub outcome: &'a RunOutcome,
    pub folded: &'a Folded,
    pub seed: u64,
    /// Input fields that are valid in the Kubernetes API and ignored by the model.
    pub not_modelled: &'a [String],
}

impl<'a> RunView<'a> {
    pub fn digest(&self) -> String {
        format!("{:016x}", self.outcome.digest)
    }

    pub fn restarts(&self) -> &'a [Restart] {
        &self.folded.restarts
    }

    pub fn restarts_of(&self, jobset: JobSetId) -> impl Iterator<Item = &'a Restart> {
        self.folded
            .restarts
            .iter()
            .filter(move |r| r.jobset == jobset)
    }

    pub fn namespace(&self, jobset: JobSetId) -> &'a str {
        self.names.namespace(jobset)
    }

    /// Returns the restart strategy that took effect: `Recreate`, `BlockingRecreate` or `InPlaceRestart` if the JobSet
    /// restarted according to its failure policy, otherwise `RestartJob`, `PodReplacement` or `ContainerRestart`.
    pub fn strategy(&self, restart: &Restart) -> &'static str {
        use super::restarts::restart::Shape;
        use sim_api::spec::RestartStrategy;
        let asked = self
            .scenario
            .jobsets
            .get(restart.jobset.ix())
            .map(|j| j.jobset.spec.strategy())
            .unwrap_or_default();
        match (restart.shape, asked) {
            (Shape::Recreate, RestartStrategy::BlockingRecreate) => "BlockingRecreate",
            (Shape::Recreate, _) => "Recreate",
            (Shape::InPlaceRestart, _) => "InPlaceRestart",
            (Shape::RestartJob, _) => "RestartJob",
            (Shape::PodReplacement, _) => "PodReplacement",
            (Shape::ContainerRestart, _) => "ContainerRestart",
        }
    }

    /// Describes the first JobSet whose pods were never all placed, with the reason, or returns `None`.
    pub fn never_placed(&self) -> Option<String> {
        let mut jobsets = self.outcome.jobsets.iter().enumerate();
        jobsets.find_map(|(i, o)| {
            let (name, why) = (
                self.names.jobset(JobSetId(i as u32)),
                o.never_placed.as_ref()?,
            );
            Some(match self.outcome.end_reason {
                EndReason::TimeLimit => {
                    format!("JobSet {name} was not placed before the run's time was over: {why}")
                }
                _ => format!("JobSet {name} could never be placed: {why}"),
            })
        })
    }

    /// Describes each JobSet that is suspended at the end of the run, with the condition for its resumption.
    pub fn suspended(&self) -> Vec<String> {
        let jobsets = self.scenario.jobsets.iter().enumerate();
        let waits = jobsets.filter_map(|(i, submitted)| {
            let (name, who) = (
                &submitted.jobset.name,
                self.who_resumes(JobSetId(i as u32))?,
            );
            Some(format!("JobSet {name} has no pods: {who}"))
        });
        waits.collect()
    }

    /// Describes who can resume a JobSet that is suspended at the end of the run; `None` if it is not suspended.
    pub fn who_resumes(&self, jobset: JobSetId) -> Option<String> {
        let outcome = self.outcome.jobsets.get(jobset.ix())?;
        let mut conditions = outcome.conditions.iter();
        let open = outcome.terminal_state.is_empty() && !outcome.deleted;
        if !open || !conditions.any(|c| c.kind == "Suspended" && c.status) {
            return None;
        }
        let jobset = &self.scenario.jobsets.get(jobset.ix())?.jobset;
        let who = match jobset.kueue_queue() {
            Some(queue) => format!(
                "it waits to be admitted by Kueue, from queue {queue}, and Kueue is not played: no quota is counted"
            ),
            None => "it waits for somebody to set spec.suspend to false".to_owned(),
        };
        let name = &jobset.name;
        Some(format!(
            "{who}. A scenario resumes it: faults: [{{at: 10m, resumeJobSet: {{name: {name}}}}}]"
        ))
    }

    /// Returns all warnings of the run: permanently blocked or unfinished parts, suspended JobSets, engine warnings.
    pub fn warnings(&self) -> Vec<String> {
        let (stuck, overtaken) = self.outcome.stuck_and_overtaken();
        let stuck = stuck.iter().map(|s| format!("stuck: {s}"));
        let suspended = self
            .suspended()
            .into_iter()
            .map(|s| format!("suspended: {s}"));
        let stuck = stuck.chain(overtaken).chain(suspended);
        stuck.chain(self.outcome.warnings.iter().cloned()).collect()
    }
}
