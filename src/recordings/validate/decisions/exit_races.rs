//! Finds the pods that may have ended either way, because a container exit raced with the deletion of the pod.
//!
//! The own exit of a pod is the instant at which the script ends a run of its container, whether or not the deletion
//! prevents it. A pod may have ended either way if its own exit lies between its recorded and its simulated deletion
//! mark, or within `MARGIN_S` of one of them. A pod that only the deletion stops is compared in full.

use super::DecisionRun;
use super::mask::VolatileMask;
use crate::validate::recording::{PodRule, RecordedRun};
use crate::validate::rows::RecordedPodRow;
use crate::validate::steps::{RecordedStep, StepAction, StepObject};
use sim_analysis::metrics::pods::PodMetrics;
use sim_base::{JobId, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum distance in seconds between the own exit of a pod and one of its deletion marks.
const MARGIN_S: f64 = 0.3;

/// Key of a pod: replicatedJob, jobIndex, podIndex, restartAttempt. Pods of NonIndexed Jobs have podIndex 0.
pub type PodKey<'r> = (&'r str, u32, u32, u32);

/// The nth pod object with a key on both sides.
pub struct PodPair<'r> {
    pub key: PodKey<'r>,
    pub recorded: Option<&'r RecordedPodRow>,
    pub simulated: Option<&'r PodMetrics>,
    pub has_exit_race: bool,
}

/// All pods, and the objects whose comparison depends on those that may have ended either way.
pub struct ExitRaces<'r> {
    pub pairs: Vec<PodPair<'r>>,
    /// Job objects of the recording, by name and number among the objects of that name.
    recorded_jobs: BTreeSet<(String, usize)>,
    /// Job objects of the run, likewise.
    simulated_jobs: BTreeSet<(String, usize)>,
    /// Names of the pods, with masked suffix.
    pod_names: BTreeSet<String>,
}

impl<'r> ExitRaces<'r> {
    pub fn find(recording: &'r RecordedRun, run: &DecisionRun<'r>, mask: &VolatileMask) -> ExitRaces<'r> {
        let mut result = ExitRaces {
            pairs: pairs(recording, run),
            recorded_jobs: BTreeSet::new(),
            simulated_jobs: BTreeSet::new(),
            pod_names: BTreeSet::new(),
        };
        let created: Vec<RecordedStep> = run.steps.recorded_steps(recording, run.names);
        let mut tries: BTreeMap<(String, usize, u32), u32> = BTreeMap::new();
        for pair in &mut result.pairs {
            let (Some(recorded), Some(simulated)) = (pair.recorded, pair.simulated) else {
                continue;
            };
            let job = run.names.job(simulated.job).to_owned();
            let object = recorded_job_object(recording, &job, recorded.created_ms.unwrap_or(0));
            let nth = tries.entry((job.clone(), object, pair.key.2)).or_default();
            let selected = PodSelection {
                jobset: jobset_of(run, simulated.job),
                key: pair.key,
                job_restart: recorded_job_restart(recording, recorded),
                job_try: *nth,
            };
            *nth += 1;
            let created_s = run.history.created_s();
            let marks = deletion_marks(recorded, simulated, created_s);
            let exits = own_exits(recording, (recorded, simulated), &selected, created_s);
            pair.has_exit_race = exits.iter().any(|exit_s| is_race(*exit_s, marks));
            if pair.has_exit_race {
                let simulated_object = simulated_job_object(&created, &job, simulated.created.seconds());
                result.recorded_jobs.insert((job.clone(), object));
                result.simulated_jobs.insert((job, simulated_object));
                let PodMetrics { pod, incarnation, index, .. } = *simulated;
                let name = run.names.pod(simulated.job, index, pod, incarnation);
                result.pod_names.insert(mask.mask_names(&name));
            }
        }
        result
    }

    /// Returns the number of pods that may have ended either way.
    pub fn count(&self) -> usize {
        self.pairs.iter().filter(|p| p.has_exit_race).count()
    }

    pub fn has_pod_of_recorded_job(&self, name: &str, nth: usize) -> bool {
        self.recorded_jobs.contains(&(name.to_owned(), nth))
    }

    pub fn has_pod_of_simulated_job(&self, name: &str, nth: usize) -> bool {
        self.simulated_jobs.contains(&(name.to_owned(), nth))
    }

    /// Returns whether a pod with this name, with masked suffix, may have ended either way.
    pub fn has_pod_named(&self, name: &str) -> bool {
        self.pod_names.contains(name)
    }
}

fn jobset_of<'r>(run: &DecisionRun<'r>, job: JobId) -> &'r str {
    run.names.jobs.get(job.ix()).map_or("?", |j| run.names.jobset(j.jobset))
}

/// Pairs the nth recorded pod of a key with the nth simulated one, each in order of creation.
fn pairs<'r>(recording: &'r RecordedRun, run: &DecisionRun<'r>) -> Vec<PodPair<'r>> {
    let without_index = non_indexed_jobs(recording);
    let index = |rj: &str, index| if without_index.contains(rj) { 0 } else { index };
    let mut pods: BTreeMap<PodKey<'r>, (Vec<&'r RecordedPodRow>, Vec<&'r PodMetrics>)> = BTreeMap::new();
    for pod in &recording.pods.0 {
        let rj = pod.replicated_job.as_str();
        let key = (rj, pod.job_index, index(rj, pod.pod_index), pod.restart_attempt);
        pods.entry(key).or_default().0.push(pod);
    }
    for pod in run.pods {
        let Some(job) = run.names.jobs.get(pod.job.ix()).filter(|j| !j.standalone_pod) else {
            continue;
        };
        let rj = job.replicated_job.as_str();
        let key = (rj, job.job_index, index(rj, pod.index), pod.restart_attempt);
        pods.entry(key).or_default().1.push(pod);
    }
    let mut pairs = Vec::new();
    for (key, (mut recorded, simulated)) in pods {
        recorded.sort_by_key(|p| p.created_ms);
        for i in 0..recorded.len().max(simulated.len()) {
            pairs.push(PodPair {
                key,
                recorded: recorded.get(i).copied(),
                simulated: simulated.get(i).copied(),
                has_exit_race: false,
            });
        }
    }
    pairs
}

/// Returns the replicatedJobs whose pods have no index, of all JobSets in the recording.
fn non_indexed_jobs(recording: &RecordedRun) -> BTreeSet<String> {
    let bodies = recording.script.actions.iter().filter_map(|a| a.body.as_deref());
    let created = bodies.filter_map(|body| serde_json::from_str::<serde_json::Value>(body).ok());
    let created: Vec<serde_json::Value> = created.collect();
    let objects = recording.objects.iter().chain(&created).chain([&recording.job_set]);
    let rjs = objects.filter_map(|object| object["spec"]["replicatedJobs"].as_array()).flatten();
    let non_indexed = rjs.filter(|rj| rj["template"]["spec"]["completionMode"] == "NonIndexed");
    non_indexed.filter_map(|rj| rj["name"].as_str().map(str::to_owned)).collect()
}

/// Returns which object of this name is the Job of a pod that was created at `at_ms`.
fn recorded_job_object(recording: &RecordedRun, job: &str, at_ms: u64) -> usize {
    let created = recording.log.iter().filter(|e| e.kind == "Job" && e.what == "created");
    let objects = created.filter(|e| e.name == job && e.at_ms <= at_ms).count();
    objects.saturating_sub(1)
}

/// Returns the same for a pod of the run.
fn simulated_job_object(steps: &[RecordedStep], job: &str, at_s: f64) -> usize {
    let is_of_job = |step: &&RecordedStep| matches!(&step.object, StepObject::Job(name) if name == job);
    let created = steps.iter().filter(is_of_job).filter(|s| s.action == StepAction::Created);
    created.filter(|s| s.at_s <= at_s).count().saturating_sub(1)
}

/// Returns how often the Job of a pod had been restarted on its own when the pod was created.
fn recorded_job_restart(recording: &RecordedRun, pod: &RecordedPodRow) -> u32 {
    let created_ms = pod.created_ms.unwrap_or(0);
    let statuses = recording.log.iter().filter(|e| e.kind == "JobSet" && e.what == "status");
    let last = statuses.take_while(|e| e.at_ms <= created_ms).last();
    let rows = last.and_then(|e| e.detail["replicatedJobsStatus"].as_array());
    let row = rows.into_iter().flatten().find(|row| row["name"] == pod.replicated_job.as_str());
    let restarts = row.and_then(|row| row["jobRestarts"][pod.job_index as usize].as_u64());
    restarts.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// Returns the recorded and the simulated deletion mark in seconds since the creation of the JobSet.
fn deletion_marks(recorded: &RecordedPodRow, simulated: &PodMetrics, created_s: f64) -> [Option<f64>; 2] {
    let marked = simulated.deleting != SimTime::NEVER;
    [recorded.deleting_ms.map(|ms| ms as f64 / 1e3), marked.then(|| simulated.deleting.seconds() - created_s)]
}

fn is_race(exit_s: f64, [recorded, simulated]: [Option<f64>; 2]) -> bool {
    let near = |mark: Option<f64>| mark.is_some_and(|mark| (exit_s - mark).abs() <= MARGIN_S);
    let between = recorded.zip(simulated).is_some_and(|(r, s)| r.min(s) <= exit_s && exit_s <= r.max(s));
    between || near(recorded) || near(simulated)
}

/// The fields by which rules of the script select a pod.
struct PodSelection<'a> {
    jobset: &'a str,
    key: PodKey<'a>,
    job_restart: u32,
    job_try: u32,
}

impl PodSelection<'_> {
    /// Returns the rule for a container run.
    fn rule<'r>(&self, rules: &'r [PodRule], in_place_attempt: u32, run: u32) -> Option<&'r PodRule> {
        let (replicated_job, job_index, pod_index, restart_attempt) = self.key;
        let is_named = |want: &Option<String>, name: &str| want.as_deref().is_none_or(|w| w == name);
        let is = |want: Option<u32>, value: u32| want.is_none_or(|w| w == value);
        rules.iter().find(|r| {
            is_named(&r.job_set, self.jobset)
                && is_named(&r.replicated_job, replicated_job)
                && is(r.job_index, job_index)
                && is(r.pod_index, pod_index)
                && is(r.restart_attempt, restart_attempt)
                && is(r.job_restart, self.job_restart)
                && is(r.job_try, self.job_try)
                && is(r.in_place_attempt, in_place_attempt)
                && is(r.container_run, run)
        })
    }
}

/// Returns the instants, in seconds, at which the script ends the runs of a pod. Both sides are used, because the
/// containers of the run may start slightly earlier or later than the recorded ones.
fn own_exits(
    recording: &RecordedRun, (pod, simulated): (&RecordedPodRow, &PodMetrics), selected: &PodSelection<'_>,
    created_s: f64,
) -> Vec<f64> {
    let ready = (simulated.ready != SimTime::NEVER).then(|| simulated.ready.seconds() - created_s);
    if !pod.in_place_ms.is_empty() {
        return in_place_exits(recording, (pod, simulated), selected);
    }
    let script = &recording.script;
    let ready_s: Vec<f64> = ready_times(pod).map(|ms| ms as f64 / 1e3).collect();
    let first = selected.rule(&script.pods, 0, 0);
    let start_ms = first.and_then(|r| r.start_ms).unwrap_or(script.start_ms);
    // Without a ready time the deletion came before the containers ran.
    let bound = pod.bound_ms.map(|ms| (ms + start_ms) as f64 / 1e3);
    let mut exits = run_exits(recording, pod.container_restarts, selected, &ready_s, bound);
    exits.extend(run_exits(recording, simulated.container_restarts, selected, &[], ready));
    exits
}

/// Returns the exits of all runs. Runs that have no ready time of their own follow the exit before by `restartMs`.
fn run_exits(
    recording: &RecordedRun, restarts: u32, selected: &PodSelection<'_>, ready_s: &[f64], first_s: Option<f64>,
) -> Vec<f64> {
    let script = &recording.script;
    let every_run_is_known = ready_s.len() > restarts as usize;
    let mut start_s = ready_s.first().copied().or(first_s);
    let mut exits = Vec::new();
    for run in 0..=restarts {
        if every_run_is_known {
            start_s = ready_s.get(run as usize).copied();
        }
        let rule = selected.rule(&script.pods, 0, run);
        let exit_s = start_s.zip(rule).and_then(|(start_s, rule)| exit_s(start_s, rule));
        exits.extend(exit_s);
        start_s = exit_s.map(|exit_s| exit_s + script.restart_ms as f64 / 1e3);
    }
    exits
}

/// Returns the exits of a pod with an agent for in-place restart, which writes its attempt whenever it starts.
fn in_place_exits(
    recording: &RecordedRun, (pod, simulated): (&RecordedPodRow, &PodMetrics), selected: &PodSelection<'_>,
) -> Vec<f64> {
    let exit = |start_ms: u64| {
        let later = pod.in_place_ms.iter().filter(|ms| **ms > start_ms).count() as u32;
        let run = pod.container_restarts.saturating_sub(later);
        let attempt = simulated.in_place_attempt.unwrap_or(0).saturating_sub(later);
        let rule = selected.rule(&recording.script.pods, attempt, run)?;
        exit_s(start_ms as f64 / 1e3, rule)
    };
    ready_times(pod).filter_map(exit).collect()
}

fn ready_times(pod: &RecordedPodRow) -> impl Iterator<Item = u64> {
    pod.ready_changes_ms.iter().filter_map(|ms| u64::try_from(*ms).ok())
}

fn exit_s(start_s: f64, rule: &PodRule) -> Option<f64> {
    let run_ms = u64::try_from(rule.run_ms).ok()?;
    Some(start_s + run_ms as f64 / 1e3)
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/exit_races.rs"]
mod tests;
