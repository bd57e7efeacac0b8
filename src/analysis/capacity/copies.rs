//! Scenarios with copies of the JobSets of manifests, submitted one after the other.

use sim_api::spec::{ContainerRule, DependsOnStatus, JobSet, ScenarioSpec, StopSpec, StopWhen, SubmittedJobSet};
use sim_base::Duration;
use std::sync::Arc;

/// Longer than a start of the largest JobSets, so that only a blocked copy is not ready by then.
const LONGEST_START: Duration = Duration::from_secs(86_400);
/// Run time of pods that another replicatedJob requires to be complete.
const REQUIRED_RUN: Duration = Duration::from_secs(1);
/// Names up to this length are not shortened by the number of a copy.
const SHORT_NAME: usize = 30;

/// The JobSets of a scenario as one unit that can be copied. Their containers run until the end.
pub struct CopySet {
    base: ScenarioSpec,
}

impl CopySet {
    /// Removes everything that ends pods: faults, run times, training work, deadlines of Jobs, suspension.
    pub fn new(scenario: &ScenarioSpec) -> CopySet {
        let mut base = scenario.clone();
        base.faults.clear();
        base.fault_processes.clear();
        base.training.clear();
        base.containers.clear();
        base.admit_unplaceable = true;
        for submitted in &mut base.jobsets {
            submitted.jobset.resume();
            remove_deadlines(&mut submitted.jobset);
        }
        CopySet { base }
    }

    /// Returns the JobSets of one copy.
    pub fn jobsets(&self) -> &[SubmittedJobSet] {
        &self.base.jobsets
    }

    /// Returns a scenario with `copies` copies; each is submitted `gap` after the previous one.
    pub fn scenario(&self, copies: u64, gap: Duration) -> ScenarioSpec {
        let mut scenario = ScenarioSpec { jobsets: Vec::new(), ..self.base.clone() };
        for copy in 0..copies {
            for (at, submitted) in self.base.jobsets.iter().enumerate() {
                let mut submitted = submitted.clone();
                submitted.submit_at = gap.saturating_mul(copy);
                if copy > 0 {
                    rename(&mut submitted.jobset, copy * self.base.jobsets.len() as u64 + at as u64 + 1);
                }
                scenario.containers.extend(required_runs(&submitted.jobset));
                scenario.jobsets.push(submitted);
            }
        }
        let at = gap.saturating_mul(copies) + LONGEST_START;
        scenario.stop = StopSpec { at, when: StopWhen::AllJobSetsFinished };
        scenario
    }
}

fn change_object(jobset: &mut JobSet, change: impl FnOnce(&mut serde_json::Value)) {
    if let Some(object) = &mut jobset.object {
        change(Arc::make_mut(object));
    }
}

/// A Job that reaches its deadline fails and frees its nodes for the next copy.
fn remove_deadlines(jobset: &mut JobSet) {
    for rj in &mut jobset.spec.replicated_jobs {
        rj.template.active_deadline_seconds = None;
    }
    change_object(jobset, |object| {
        for rj in object["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
            if let Some(job) = rj["template"]["spec"].as_object_mut() {
                job.remove("activeDeadlineSeconds");
            }
        }
    });
}

/// Appends a number to the name; a long name is shortened, so that the names of its pods stay valid.
fn rename(jobset: &mut JobSet, number: u64) {
    let suffix = format!("-{number}");
    let longest = jobset.name.len().max(SHORT_NAME);
    let kept: String = jobset.name.chars().take(longest - suffix.len()).collect();
    jobset.name = format!("{}{suffix}", kept.trim_end_matches('-'));
    let name = jobset.name.clone();
    change_object(jobset, |object| object["metadata"]["name"] = name.into());
}

/// Returns rules that end the pods of replicatedJobs that others require to be complete.
fn required_runs(jobset: &JobSet) -> Vec<ContainerRule> {
    let depends = jobset.spec.replicated_jobs.iter().flat_map(|rj| &rj.depends_on);
    let complete = depends.filter(|depends| depends.status == DependsOnStatus::Complete);
    let rule = |name: &String| ContainerRule {
        jobset: Some(jobset.name.clone()),
        replicated_job: Some(name.clone()),
        run_for: Some(REQUIRED_RUN),
        ..ContainerRule::default()
    };
    complete.map(|depends| rule(&depends.name)).collect()
}
