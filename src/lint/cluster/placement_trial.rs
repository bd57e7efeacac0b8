//! Runs of the JobSets on a cluster, as `run` simulates them, but with containers that never end. Pods that have no
//! node at the end of such a run stay Pending.
//!
//! This module must not decide about nodes itself.

use sim_api::endless::required_runs;
use sim_api::spec::{JobSet, ScenarioSpec, TopologySpec};
use sim_base::JobSetId;
use sim_engine::record::{DiscardSink, PendingPods};
use sim_engine::{CannotRun, SimulationInput};
use sim_inputs::{Diagnostics, SourceText};
use sim_scheduler::explain::PlacementExplanation;

/// The pods of a JobSet that stay Pending.
#[derive(Clone, Debug)]
pub enum TrialVerdict {
    /// Every pod finds a node.
    Placed,
    /// Some pods find no node although no other JobSet runs.
    Pending(Vec<PendingPods>, PendingCondition),
    /// Some pods find no node while the other JobSets run.
    PendingTogether(Vec<PendingPods>),
}

/// The condition under which pods stay Pending.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PendingCondition {
    /// In every run.
    Always,
    /// Only if the containers do not finish, as their commands do.
    WithoutFinish,
    /// Only after replicatedJobs that others depend on are complete, which takes until their containers finish.
    AfterDependency,
    /// Only after a resume of the suspended JobSet.
    AfterResume,
}

/// The verdicts on the JobSets of a scenario, in its order.
pub struct PlacementTrial {
    scenario: ScenarioSpec,
    /// The scenario with containers that never end.
    endless: ScenarioSpec,
    verdicts: Vec<TrialVerdict>,
}

impl PlacementTrial {
    /// Simulates the manifests on a cluster. Returns the errors if they are not a valid scenario.
    pub fn new(sources: &[SourceText], cluster: &TopologySpec) -> Result<PlacementTrial, Diagnostics> {
        let manifests = sim_inputs::read_sources(sources, &[])?;
        let scenario = sim_inputs::scenario_with_unplaceable(manifests, cluster.clone())?;
        let mut trial = PlacementTrial { endless: endless(&scenario), scenario, verdicts: Vec::new() };
        let mut together = vec![Vec::new(); trial.scenario.jobsets.len()];
        let running: Vec<usize> = (0..together.len()).filter(|at| !trial.is_suspended(*at)).collect();
        for group in pending(&trial.endless, &running) {
            together[running[group.jobset.ix()]].push(group);
        }
        for (at, pods) in together.into_iter().enumerate() {
            let verdict = trial.judge(at, pods, running.len());
            trial.verdicts.push(verdict);
        }
        Ok(trial)
    }

    pub fn verdict(&self, jobset: &JobSet) -> Option<&TrialVerdict> {
        let is_it = |other: &JobSet| other.name == jobset.name && other.namespace == jobset.namespace;
        let at = self.scenario.jobsets.iter().position(|submitted| is_it(&submitted.jobset))?;
        self.verdicts.get(at)
    }

    /// Returns whether the JobSet starts only after an action of a user.
    fn is_suspended(&self, at: usize) -> bool {
        let jobset = &self.scenario.jobsets[at].jobset;
        jobset.spec.suspend && !self.scenario.kueue.as_ref().is_some_and(|kueue| kueue.suspends(jobset))
    }

    /// Returns the verdict on a JobSet of which `pods` are Pending in the run of all JobSets.
    fn judge(&self, at: usize, pods: Vec<PendingPods>, running: usize) -> TrialVerdict {
        let is_suspended = self.is_suspended(at);
        if pods.is_empty() && !is_suspended {
            return TrialVerdict::Placed;
        }
        if let Some(verdict) = self.verdict_of_equal(at) {
            return verdict.clone();
        }
        let alone = if running > 1 || is_suspended { pending(&self.endless, &[at]) } else { pods.clone() };
        match alone.is_empty() {
            true if is_suspended => TrialVerdict::Placed,
            true => TrialVerdict::PendingTogether(pods),
            false => TrialVerdict::Pending(alone, self.condition(at)),
        }
    }

    /// Returns the condition under which the pods of a JobSet stay Pending that do so in the endless run.
    fn condition(&self, at: usize) -> PendingCondition {
        let (finishes, depends) = (self.finishes(at), !required_runs(&self.scenario.jobsets[at].jobset).is_empty());
        if self.is_suspended(at) {
            PendingCondition::AfterResume
        } else if !(finishes || depends) || !pending(&self.scenario, &[at]).is_empty() {
            PendingCondition::Always
        } else if finishes {
            PendingCondition::WithoutFinish
        } else {
            PendingCondition::AfterDependency
        }
    }

    /// Returns the verdict on an earlier JobSet that differs only in its name and cannot run alone either.
    fn verdict_of_equal(&self, at: usize) -> Option<&TrialVerdict> {
        let key = |at: usize| {
            let jobset = &self.scenario.jobsets[at].jobset;
            let object = jobset.object.as_ref().map(|object| &object["spec"]);
            (object, &jobset.namespace, &jobset.labels, &jobset.annotations)
        };
        let mut judged = (0..self.verdicts.len()).filter(|other| key(*other) == key(at));
        judged.find_map(|other| match &self.verdicts[other] {
            verdict @ TrialVerdict::Pending(..) => Some(verdict),
            TrialVerdict::Placed | TrialVerdict::PendingTogether(_) => None,
        })
    }

    /// Returns whether the commands of some containers end.
    fn finishes(&self, at: usize) -> bool {
        let jobset = &self.scenario.jobsets[at].jobset;
        let ends = self.scenario.containers.iter().filter(|rule| rule.run_for.is_some());
        let mut pairs = ends.flat_map(|rule| jobset.spec.replicated_jobs.iter().map(move |rj| (rule, rj)));
        pairs.any(|(rule, rj)| rule.may_apply_to(jobset, rj))
    }
}

/// Returns the scenario with JobSets that run and containers that never end. Kueue evicts no Workload whose pods are
/// not ready, because the eviction would remove the Pending pods.
fn endless(scenario: &ScenarioSpec) -> ScenarioSpec {
    let mut endless = scenario.clone();
    endless.remove_ends();
    if let Some(kueue) = &mut endless.kueue {
        kueue.configuration.wait_for_pods_ready = None;
    }
    for submitted in &mut endless.jobsets {
        endless.containers.extend(required_runs(&submitted.jobset));
        if submitted.jobset.spec.suspend && !endless.kueue.as_ref().is_some_and(|k| k.suspends(&submitted.jobset)) {
            submitted.jobset.resume();
        }
    }
    endless
}

/// Runs the JobSets at these positions. Returns the pods that have no node at the end; their JobSets are indexes of
/// `positions`.
fn pending(scenario: &ScenarioSpec, positions: &[usize]) -> Vec<PendingPods> {
    let jobsets = positions.iter().map(|at| scenario.jobsets[*at].clone()).collect();
    let scenario = ScenarioSpec { jobsets, ..scenario.clone() };
    let mut simulation = match SimulationInput::new(&scenario) {
        Ok(simulation) => simulation,
        Err(why) => return all_pending(&scenario, &why),
    };
    simulation.set_explains_placement(true);
    let mut pending = simulation.run(scenario.seed, 0, &mut DiscardSink).pending;
    pending.retain(|group| group.jobset.ix() < positions.len());
    pending
}

/// Returns the pods of a scenario without nodes.
fn all_pending(scenario: &ScenarioSpec, why: &CannotRun) -> Vec<PendingPods> {
    let jobsets = (0..).map(JobSetId).zip(&scenario.jobsets);
    let rjs = jobsets.flat_map(|(id, submitted)| {
        let rjs = (0..).zip(&submitted.jobset.spec.replicated_jobs);
        rjs.filter(|(_, rj)| rj.replicas > 0 && rj.template.pods() > 0).map(move |(at, _)| (id, at))
    });
    let group = |(jobset, replicated_job)| PendingPods {
        jobset,
        replicated_job,
        pods: Vec::new(),
        explanation: PlacementExplanation::of_message(why.to_string(), None),
    };
    rjs.map(group).collect()
}
