//! Compares pods: the number of objects per index and attempt, how each ended, and how often its containers
//! restarted.
//!
//! Pods of NonIndexed Jobs are counted per Job. Names and nodes are random and not compared.

use super::Run;
use crate::validate::recording::Recording;
use crate::validate::result::Difference;
use crate::validate::rows::PodRow as Recorded;
use serde_json::{Value, json};
use sim_analysis::metrics::pods::PodRow as Simulated;
use sim_base::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum time in milliseconds between the end and the deletion of a pod for which its outcome is ambiguous.
const EITHER_WAY_MS: u64 = 300;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Succeeded,
    Failed,
    Never,
}

/// Outcome of one pod object.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Life {
    end: End,
    either_way: bool,
    container_restarts: u32,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.end {
            _ if self.either_way => "ended as it was deleted",
            End::Succeeded => "Succeeded",
            End::Failed => "Failed",
            End::Never => "never ended",
        };
        write!(f, "{end}, {} container restarts", self.container_restarts)
    }
}

/// Key of a pod: replicatedJob, jobIndex, podIndex, restartAttempt.
type Key<'a> = (&'a str, u32, u32, u32);

/// Pods with an ambiguous outcome, identified by `<replicatedJob>-<jobIndex>-<podIndex>` and attempt. Counts and
/// Events about them depend on the outcome.
pub struct EitherWay(BTreeSet<(String, u32)>);

impl EitherWay {
    pub fn of(recording: &Recording, run: &Run<'_>) -> EitherWay {
        let recorded = recording.pods.0.iter().filter(|p| recorded(p).either_way);
        let recorded = recorded.map(|p| {
            let place = format!("{}-{}-{}", p.replicated_job, p.job_index, p.pod_index);
            (place, p.restart_attempt)
        });
        let simulated = run.pods.iter().filter(|p| simulated(p).either_way);
        let simulated = simulated.filter_map(|p| {
            let job = run.names.jobs.get(p.job.ix())?;
            let place = format!("{}-{}-{}", job.replicated_job, job.job_index, p.index);
            Some((place, p.restart_attempt))
        });
        EitherWay(recorded.chain(simulated).collect())
    }

    /// Returns whether a Job has such pods. `job` is its name without the JobSet's name.
    pub fn any_of(&self, job: &str, attempt: &str) -> bool {
        let of_job = |place: &str| place.rsplit_once('-').is_some_and(|(name, _)| name == job);
        let attempt: Option<u32> = attempt.parse().ok();
        self.0
            .iter()
            .any(|(place, a)| of_job(place) && Some(*a) == attempt)
    }

    /// Returns whether a pod is in the set. `place` is its name without the JobSet's name and the random suffix.
    pub fn is(&self, place: &str) -> bool {
        self.0.iter().any(|(p, _)| p == place)
    }
}

pub fn compare(recording: &Recording, run: &Run<'_>, out: &mut Vec<Difference>) {
    let loose = not_indexed(recording);
    let index = |rj: &str, index| if loose.contains(rj) { 0 } else { index };
    let mut lives: BTreeMap<Key<'_>, (Vec<Life>, Vec<Life>)> = BTreeMap::new();
    for pod in &recording.pods.0 {
        let rj = pod.replicated_job.as_str();
        let key = (
            rj,
            pod.job_index,
            index(rj, pod.pod_index),
            pod.restart_attempt,
        );
        lives.entry(key).or_default().0.push(recorded(pod));
    }
    for pod in run.pods {
        let Some(job) = run.names.jobs.get(pod.job.ix()).filter(|j| !j.bare) else {
            continue;
        };
        let rj = job.replicated_job.as_str();
        let key = (rj, job.job_index, index(rj, pod.index), pod.restart_attempt);
        lives.entry(key).or_default().1.push(simulated(pod));
    }
    for ((rj, job, pod, attempt), (mut recorded, mut simulated)) in lives {
        recorded.sort_unstable();
        simulated.sort_unstable();
        if !agree(&recorded, &simulated) {
            let path = format!("pods {rj}-{job}-{pod} attempt {attempt}");
            out.push(Difference::new(path, shown(&recorded), shown(&simulated)));
        }
    }
}

fn shown(lives: &[Life]) -> Value {
    json!(lives.iter().map(Life::to_string).collect::<Vec<String>>())
}

/// Returns the replicatedJobs whose pods have no index.
fn not_indexed(recording: &Recording) -> BTreeSet<&str> {
    let rjs = recording.job_set["spec"]["replicatedJobs"].as_array();
    let loose = rjs
        .into_iter()
        .flatten()
        .filter(|rj| rj["template"]["spec"]["completionMode"] == "NonIndexed");
    loose.filter_map(|rj| rj["name"].as_str()).collect()
}

/// Returns whether the pods of both sides can be matched one to one.
fn agree(recorded: &[Life], simulated: &[Life]) -> bool {
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
            let fits = |other: &Life| {
                (life.either_way || other.either_way)
                    && life.container_restarts == other.container_restarts
            };
            right.iter().position(fits).is_some_and(|at| {
                right.remove(at);
                true
            })
        })
}

fn recorded(pod: &Recorded) -> Life {
    let end = match pod.phase.as_str() {
        "Succeeded" => End::Succeeded,
        "Failed" => End::Failed,
        _ => End::Never,
    };
    life(
        end,
        (pod.finished_ms, pod.deleting_ms, pod.gone_ms),
        pod.container_restarts,
    )
}

fn simulated(pod: &Simulated) -> Life {
    let ms = |t: Time| (t != Time::NEVER).then(|| t.since(Time::ZERO).0 / 1_000_000);
    let end = match (pod.finished == Time::NEVER, pod.succeeded) {
        (true, _) => End::Never,
        (_, true) => End::Succeeded,
        (_, false) => End::Failed,
    };
    life(
        end,
        (ms(pod.finished), ms(pod.deleting), ms(pod.gone)),
        pod.container_restarts,
    )
}

fn life(
    end: End,
    (finished, deleting, gone): (Option<u64>, Option<u64>, Option<u64>),
    container_restarts: u32,
) -> Life {
    // If the end of a pod was not observed, the pod ended when its object was removed.
    let close = |ended: u64, deleting: u64| ended.abs_diff(deleting) < EITHER_WAY_MS;
    let either_way = finished
        .or(gone)
        .zip(deleting)
        .is_some_and(|(e, d)| close(e, d));
    Life {
        end: if either_way { End::Never } else { end },
        either_way,
        container_restarts,
    }
}
