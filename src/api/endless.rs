//! Changes of a scenario so that its pods never end, for the question which pods have a node at the same time.

use crate::spec::{ContainerRule, DependsOnStatus, JobSet, ScenarioSpec};
use sim_base::Duration;
use std::sync::Arc;

/// Run time of pods that another replicatedJob requires to be complete.
const REQUIRED_RUN: Duration = Duration::from_secs(1);

impl ScenarioSpec {
    /// Removes everything that ends pods: faults, run times, training work, deadlines of Jobs. The pods that others
    /// require to be complete also run on; [`required_runs`] ends them.
    pub fn remove_ends(&mut self) {
        self.faults.clear();
        self.fault_processes.clear();
        self.training.clear();
        self.containers.clear();
        for submitted in &mut self.jobsets {
            remove_deadlines(&mut submitted.jobset);
        }
    }
}

/// A Job that reaches its deadline fails and frees its nodes.
fn remove_deadlines(jobset: &mut JobSet) {
    for rj in &mut jobset.spec.replicated_jobs {
        rj.template.active_deadline_seconds = None;
    }
    let Some(object) = &mut jobset.object else { return };
    for rj in Arc::make_mut(object)["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
        if let Some(job) = rj["template"]["spec"].as_object_mut() {
            job.remove("activeDeadlineSeconds");
        }
    }
}

/// Returns rules that end the pods of replicatedJobs that others require to be complete.
pub fn required_runs(jobset: &JobSet) -> Vec<ContainerRule> {
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
