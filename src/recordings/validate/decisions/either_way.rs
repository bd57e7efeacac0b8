//! Finds the pods that may have ended either way, because a container exit raced with the deletion of the pod.
//!
//! The own exit of a pod is the instant at which the script ends a run of its container, whether or not the deletion
//! prevents it. A pod may have ended either way if its own exit lies between its recorded and its simulated deletion
//! mark, or within `MARGIN_S` of one of them. A pod that only the deletion stops is compared in full.

use super::DecisionRun;
use super::mask::VolatileMask;
use crate::validate::recording::{PodRule, RecordedRun};
use crate::validate::rows::RecordedPodRow;
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
    pub is_either_way: bool,
}

/// All pods, and the objects whose comparison depends on those that may have ended either way.
pub struct EitherWay<'r> {
    pub pairs: Vec<PodPair<'r>>,
    /// Job objects of the recording, by name and number among the objects of that name.
    recorded_jobs: BTreeSet<(String, usize)>,
    simulated_jobs: BTreeSet<JobId>,
    /// Names of the pods, with masked suffix.
    pod_names: BTreeSet<String>,
}

impl<'r> EitherWay<'r> {
    pub fn find(recording: &'r RecordedRun, run: &DecisionRun<'r>, mask: &VolatileMask) -> EitherWay<'r> {
        let mut found = EitherWay {
            pairs: pairs(recording, run),
            recorded_jobs: BTreeSet::new(),
            simulated_jobs: BTreeSet::new(),
            pod_names: BTreeSet::new(),
        };
        let mut tries: BTreeMap<(String, usize, u32), u32> = BTreeMap::new();
        for pair in &mut found.pairs {
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
            let marks = deletion_marks(recorded, simulated, run.history.created_s());
            let exits = own_exits(recording, recorded, &selected, simulated.in_place_attempt);
            pair.is_either_way = exits.iter().any(|exit_s| is_race(*exit_s, marks));
            if pair.is_either_way {
                found.recorded_jobs.insert((job, object));
                found.simulated_jobs.insert(simulated.job);
                let PodMetrics {
                    pod, incarnation, index, ..
                } = *simulated;
                let name = run.names.pod(simulated.job, index, pod, incarnation);
                found.pod_names.insert(mask.mask_names(&name));
            }
        }
        found
    }

    /// Returns the number of pods that may have ended either way.
    pub fn count(&self) -> usize {
        self.pairs.iter().filter(|p| p.is_either_way).count()
    }

    pub fn has_pod_of_recorded_job(&self, name: &str, nth: usize) -> bool {
        self.recorded_jobs.contains(&(name.to_owned(), nth))
    }

    pub fn has_pod_of_simulated_job(&self, job: JobId) -> bool {
        self.simulated_jobs.contains(&job)
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
                is_either_way: false,
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
    [
        recorded.deleting_ms.map(|ms| ms as f64 / 1e3),
        marked.then(|| simulated.deleting.seconds() - created_s),
    ]
}

fn is_race(exit_s: f64, [recorded, simulated]: [Option<f64>; 2]) -> bool {
    let near = |mark: Option<f64>| mark.is_some_and(|mark| (exit_s - mark).abs() <= MARGIN_S);
    let between = recorded
        .zip(simulated)
        .is_some_and(|(r, s)| r.min(s) <= exit_s && exit_s <= r.max(s));
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

/// Returns the instants, in seconds, at which the script ends the runs of a recorded pod.
fn own_exits(
    recording: &RecordedRun,
    pod: &RecordedPodRow,
    selected: &PodSelection<'_>,
    last_attempt: Option<u32>,
) -> Vec<f64> {
    let script = &recording.script;
    let is_in_place = !pod.in_place_ms.is_empty();
    let starts = pod.ready_changes_ms.iter().filter_map(|ms| u64::try_from(*ms).ok());
    let mut exits = Vec::new();
    for (nth, start_ms) in starts.enumerate() {
        // Every agent of an in-place restart writes its attempt when its container starts.
        let later = pod.in_place_ms.iter().filter(|ms| **ms > start_ms).count() as u32;
        let run = match is_in_place {
            true => pod.container_restarts.saturating_sub(later),
            false => nth as u32,
        };
        let attempt = last_attempt.unwrap_or(0).saturating_sub(later);
        // A pod whose node was silent becomes ready again without a new run.
        let rule = selected.rule(&script.pods, attempt, run).filter(|_| run <= pod.container_restarts);
        exits.extend(rule.and_then(|r| exit_s(start_ms, r)));
    }
    if exits.is_empty() && pod.ready_changes_ms.is_empty() && !is_in_place {
        // The deletion came before the containers ran.
        let rule = selected.rule(&script.pods, 0, 0);
        let start = |r: &PodRule| Some(pod.bound_ms? + r.start_ms.unwrap_or(script.start_ms));
        exits.extend(rule.and_then(|r| exit_s(start(r)?, r)));
    }
    exits
}

fn exit_s(start_ms: u64, rule: &PodRule) -> Option<f64> {
    let run_ms = u64::try_from(rule.run_ms).ok()?;
    Some((start_ms + run_ms) as f64 / 1e3)
}
