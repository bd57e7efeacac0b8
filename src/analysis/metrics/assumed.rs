//! Descriptions of the assumptions about containers whose run time the inputs do not specify.

use crate::format;
use sim_api::spec::kueue::StoredWorkload;
use sim_api::spec::{ReplicatedJob, ScenarioSpec};
use sim_base::{Duration, JobSetId};
use std::collections::BTreeMap;

/// Assumed run times of containers that have no explicit run time in the scenario.
#[derive(Clone, Debug, Default)]
pub struct AssumedParameter {
    /// Names of the replicatedJobs (`None` for all) and the assumption about their containers.
    of: Vec<(Option<String>, String)>,
    /// How to set a run time, if anything is assumed.
    pub hint: Option<String>,
}

impl AssumedParameter {
    /// Returns the assumptions and the hint as lines to be printed after the label "containers".
    pub fn lines(&self) -> Vec<String> {
        let line = |(of, what): &(Option<String>, String)| match of {
            Some(of) => format!("those of {of} {what}"),
            None => what.clone(),
        };
        let hint = self.hint.iter().map(|hint| format!("({hint})"));
        self.of.iter().map(line).chain(hint).collect()
    }

    /// Returns the assumptions as complete sentences, without the hint.
    pub fn sentences(&self) -> Vec<String> {
        let sentence = |(of, what): &(Option<String>, String)| match of {
            Some(of) => format!("containers of {of} {what}"),
            None => format!("containers {what}"),
        };
        self.of.iter().map(sentence).collect()
    }
}

/// Returns the assumptions for containers whose run time the scenario does not set.
pub fn containers(scenario: &ScenarioSpec) -> AssumedParameter {
    let mut assumed = AssumedParameter::default();
    let mut endless: Vec<&str> = Vec::new();
    let mut by_command: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut all: Vec<&ReplicatedJob> = Vec::new();
    for (i, submitted) in scenario.jobsets.iter().enumerate() {
        let jobset = &submitted.jobset;
        let training = scenario.training_for(JobSetId(i as u32));
        let trains = training.is_some_and(|t| t.work.is_some());
        for rj in jobset.spec.replicated_jobs.iter().filter(|r| r.replicas > 0) {
            let mut rules = scenario.containers.iter();
            match rules.find(|rule| rule.may_apply_to(jobset, rj)) {
                None if trains => {}
                None => endless.push(&rj.name),
                Some(rule) => {
                    let (Some(command), Some(run_for)) = (&rule.from_command, rule.run_for) else {
                        continue;
                    };
                    let code = match rule.exit_code {
                        0 => String::new(),
                        code => format!(", exit code {code}"),
                    };
                    let behavior = format!("run for {run_for}{code}, derived from their command {command:?}");
                    by_command.entry(behavior).or_default().push(&rj.name);
                }
            }
            all.push(rj);
        }
    }
    for (behavior, of) in &by_command {
        assumed.of.push((Some(list(of)), behavior.clone()));
    }
    if !endless.is_empty() {
        let some = (endless.len() < all.len()).then(|| list(&endless));
        let behavior = "run indefinitely: no run time is set";
        assumed.of.push((some, behavior.to_owned()));
    }
    let first = by_command.values().next().unwrap_or(&endless).first();
    assumed.hint = first.map(|name| {
        // A rule without a name applies to all containers; the API server accepts a replicatedJob without a name.
        let of = if name.is_empty() { String::new() } else { format!("replicatedJob: {name}, ") };
        format!("set a run time with --set 'containers=[{{{of}runFor: 1h}}]', or in the containers field of a scenario")
    });
    assumed
}

/// Returns whether the inputs limit the work of a JobSet's training job, or the run time of all its pods.
pub fn has_run_time(scenario: &ScenarioSpec, jobset: JobSetId) -> bool {
    let trains = scenario.training_for(jobset).is_some_and(|job| job.work.is_some());
    let Some(submitted) = scenario.jobsets.get(jobset.ix()) else { return trains };
    let ends = |rj: &ReplicatedJob| {
        let mut rules = scenario.containers.iter();
        rules.any(|rule| rule.exits() && rule.may_apply_to(&submitted.jobset, rj))
    };
    trains || submitted.jobset.spec.replicated_jobs.iter().filter(|rj| rj.replicas > 0).all(ends)
}

/// Returns the assumption about the jobs of existing Workloads without a run time, as a sentence without a period.
pub fn existing_workloads(scenario: &ScenarioSpec) -> Option<String> {
    let endless = |w: &&StoredWorkload| w.run_time.is_none() && !w.is_of_any(&scenario.jobsets);
    let count = scenario.kueue.iter().flat_map(|kueue| &kueue.workloads).filter(endless).count() as u64;
    (count > 0).then(|| {
        let workloads = format::count(count, "existing Workload");
        format!("the jobs of {workloads} run indefinitely: no run time is set")
    })
}

/// Returns what Kueue does by default or by its configuration that the inputs do not show in another place, as a
/// sentence without a period.
pub fn kueue(scenario: &ScenarioSpec) -> Option<String> {
    let objects = scenario.kueue.as_ref()?;
    let configuration = &objects.configuration;
    let mut jobsets = scenario.jobsets.iter().map(|submitted| &submitted.jobset);
    let ignored = jobsets.clone().find(|jobset| jobset.kueue_queue().is_some() && !objects.has_integration(jobset));
    if let Some(jobset) = ignored {
        let (kinds, framework) = if objects.is_of_train_job(jobset) {
            ("TrainJobs", "trainer.kubeflow.org/trainjob")
        } else {
            ("JobSets", "jobset.x-k8s.io/jobset")
        };
        return Some(format!("ignores {kinds}: integrations.frameworks of its Configuration lacks {framework}"));
    }
    let wait = configuration.wait_for_pods_ready.as_ref().filter(|_| configuration.has_default_readiness)?;
    jobsets.any(|jobset| objects.manages(jobset)).then(|| {
        let minutes = wait.timeout.0 / Duration::from_secs(60).0;
        let is_whole = Duration::from_secs(60).saturating_mul(minutes) == wait.timeout;
        let time = if is_whole { format!("{minutes} min") } else { format::seconds(wait.timeout) };
        format!("evicts JobSets that are not ready within {time} (waitForPodsReady, on by default)")
    })
}

/// How to set the run time of existing Workloads.
pub const EXISTING_HINT: &str = "set a run time with --set 'existingWorkloads=[{runTime: 4h}]', or in the \
                                 existingWorkloads field of a scenario";

fn list(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    let listed = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0..=SHOWN => listed,
        n => format!("{listed} and {} more", n - SHOWN),
    }
}
