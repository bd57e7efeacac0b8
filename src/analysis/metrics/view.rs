//! Everything known about one finished run, borrowed: what summaries and reports are made from.

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
    /// Fields of the inputs that the API knows and the model ignores.
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

    /// `Recreate`, `BlockingRecreate` or `InPlaceRestart` where the JobSet restarted as its policy says; else what
    /// happened instead.
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

    /// Which JobSet never found nodes for all its pods and never will, or did not in the time of the run, and why.
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

    /// JobSets that somebody outside has to resume, and who.
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

    /// Whom a JobSet that is suspended at the end waits for.
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

    /// What can never go on, who waits to be resumed, and warnings of the engine.
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
