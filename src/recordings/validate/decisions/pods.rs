//! Compares pods: the number of objects per index and attempt, how each ended, and how often its containers
//! restarted.
//!
//! Pods of NonIndexed Jobs are counted per Job. Names and nodes are random and not compared.

use super::DecisionRun;
use crate::validate::recording::RecordedRun;
use crate::validate::result::RecordedDifference;
use crate::validate::rows::RecordedPodRow as Recorded;
use serde_json::{Value, json};
use sim_analysis::metrics::pods::PodMetrics as Simulated;
use sim_base::SimTime;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum time in milliseconds between the end and the deletion of a pod for which its outcome is ambiguous.
const AMBIGUITY_MS: u64 = 300;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PodEnd {
    Succeeded,
    Failed,
    Never,
}

/// Outcome of one pod object.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RecordedPodLife {
    end: PodEnd,
    is_ambiguous: bool,
    container_restarts: u32,
}

impl fmt::Display for RecordedPodLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.end {
            _ if self.is_ambiguous => "ended during deletion",
            PodEnd::Succeeded => "Succeeded",
            PodEnd::Failed => "Failed",
            PodEnd::Never => "not ended",
        };
        write!(f, "{end}, {} container restarts", self.container_restarts)
    }
}

/// Key of a pod: replicatedJob, jobIndex, podIndex, restartAttempt.
type PodKey<'a> = (&'a str, u32, u32, u32);

/// Pods with an ambiguous outcome, identified by `<replicatedJob>-<jobIndex>-<podIndex>` and attempt. Counts and
/// Events about them depend on the outcome.
pub struct AmbiguousPods(BTreeSet<(String, u32)>);

impl AmbiguousPods {
    pub fn find(recording: &RecordedRun, run: &DecisionRun<'_>) -> AmbiguousPods {
        let recorded = recording.pods.0.iter().filter(|p| recorded_life(p).is_ambiguous);
        let recorded = recorded.map(|p| {
            let place = format!("{}-{}-{}", p.replicated_job, p.job_index, p.pod_index);
            (place, p.restart_attempt)
        });
        let simulated = run.pods.iter().filter(|p| simulated_life(p).is_ambiguous);
        let simulated = simulated.filter_map(|p| {
            let job = run.names.jobs.get(p.job.ix())?;
            let place = format!("{}-{}-{}", job.replicated_job, job.job_index, p.index);
            Some((place, p.restart_attempt))
        });
        AmbiguousPods(recorded.chain(simulated).collect())
    }

    /// Returns whether a Job has such pods. `job` is its name without the JobSet's name.
    pub fn has_pod_of_job(&self, job: &str, attempt: &str) -> bool {
        let of_job = |place: &str| place.rsplit_once('-').is_some_and(|(name, _)| name == job);
        let attempt: Option<u32> = attempt.parse().ok();
        self.0.iter().any(|(place, a)| of_job(place) && Some(*a) == attempt)
    }

    /// Returns whether a pod is in the set. `place` is its name without the JobSet's name and the random suffix.
    pub fn contains(&self, place: &str) -> bool {
        self.0.iter().any(|(p, _)| p == place)
    }
}

pub fn compare(recording: &RecordedRun, run: &DecisionRun<'_>, out: &mut Vec<RecordedDifference>) {
    let loose = non_indexed_jobs(recording);
    let index = |rj: &str, index| if loose.contains(rj) { 0 } else { index };
    let mut lives: BTreeMap<PodKey<'_>, (Vec<RecordedPodLife>, Vec<RecordedPodLife>)> = BTreeMap::new();
    for pod in &recording.pods.0 {
        let rj = pod.replicated_job.as_str();
        let key = (rj, pod.job_index, index(rj, pod.pod_index), pod.restart_attempt);
        lives.entry(key).or_default().0.push(recorded_life(pod));
    }
    for pod in run.pods {
        let Some(job) = run.names.jobs.get(pod.job.ix()).filter(|j| !j.standalone_pod) else {
            continue;
        };
        let rj = job.replicated_job.as_str();
        let key = (rj, job.job_index, index(rj, pod.index), pod.restart_attempt);
        lives.entry(key).or_default().1.push(simulated_life(pod));
    }
    for ((rj, job, pod, attempt), (mut recorded, mut simulated)) in lives {
        recorded.sort_unstable();
        simulated.sort_unstable();
        if !can_be_matched(&recorded, &simulated) {
            let path = format!("pods {rj}-{job}-{pod} attempt {attempt}");
            out.push(RecordedDifference::new(
                path,
                lives_json(&recorded),
                lives_json(&simulated),
            ));
        }
    }
}

fn lives_json(lives: &[RecordedPodLife]) -> Value {
    json!(lives.iter().map(RecordedPodLife::to_string).collect::<Vec<String>>())
}

/// Returns the replicatedJobs whose pods have no index.
fn non_indexed_jobs(recording: &RecordedRun) -> BTreeSet<&str> {
    let rjs = recording.job_set["spec"]["replicatedJobs"].as_array();
    let loose = rjs
        .into_iter()
        .flatten()
        .filter(|rj| rj["template"]["spec"]["completionMode"] == "NonIndexed");
    loose.filter_map(|rj| rj["name"].as_str()).collect()
}

/// Returns whether the pods of both sides can be matched one to one.
fn can_be_matched(recorded: &[RecordedPodLife], simulated: &[RecordedPodLife]) -> bool {
    let (mut left, mut right) = (Vec::new(), simulated.to_vec());
    for life in recorded {
        match right.iter().position(|other| other == life) {
            Some(at) => drop(right.remove(at)),
            None => left.push(*life),
        }
    }
    // Pods without an exact match can only be paired if the outcome of one of the two is ambiguous.
    left.len() == right.len()
        && left.iter().all(|life| {
            let fits = |other: &RecordedPodLife| {
                (life.is_ambiguous || other.is_ambiguous) && life.container_restarts == other.container_restarts
            };
            right.iter().position(fits).is_some_and(|at| {
                right.remove(at);
                true
            })
        })
}

fn recorded_life(pod: &Recorded) -> RecordedPodLife {
    let end = match pod.phase.as_str() {
        "Succeeded" => PodEnd::Succeeded,
        "Failed" => PodEnd::Failed,
        _ => PodEnd::Never,
    };
    pod_life(
        end,
        (pod.finished_ms, pod.deleting_ms, pod.gone_ms),
        pod.container_restarts,
    )
}

fn simulated_life(pod: &Simulated) -> RecordedPodLife {
    let ms = |t: SimTime| (t != SimTime::NEVER).then(|| t.since(SimTime::ZERO).0 / 1_000_000);
    let end = match (pod.finished == SimTime::NEVER, pod.succeeded) {
        (true, _) => PodEnd::Never,
        (_, true) => PodEnd::Succeeded,
        (_, false) => PodEnd::Failed,
    };
    pod_life(
        end,
        (ms(pod.finished), ms(pod.deleting), ms(pod.gone)),
        pod.container_restarts,
    )
}

fn pod_life(
    end: PodEnd,
    (finished, deleting, gone): (Option<u64>, Option<u64>, Option<u64>),
    container_restarts: u32,
) -> RecordedPodLife {
    // If the end of a pod was not observed, the pod ended when its object was removed.
    let close = |ended: u64, deleting: u64| ended.abs_diff(deleting) < AMBIGUITY_MS;
    let either_way = finished.or(gone).zip(deleting).is_some_and(|(e, d)| close(e, d));
    RecordedPodLife {
        end: if either_way { PodEnd::Never } else { end },
        is_ambiguous: either_way,
        container_restarts,
    }
}
