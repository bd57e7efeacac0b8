//! Derives the milestones of one restart from the life of a JobSet, with the names used in recordings of kind
//! `times`.
//!
//! Missing milestones are never estimated. They are listed as unknown, each with a reason.

use super::life::{JobLife, Life, PodLife};
use super::stamp::{At, SECOND};
use super::when::{JOB_FAILED, is_restart};
use serde_json::Value;
use sim_analysis::metrics::restarts::restart::Milestone;

/// Milestones at which an imported restart can begin, the most reliable first.
pub const ORIGINS: [Milestone; 3] = [
    Milestone::PodFailed,
    Milestone::PodNotReady,
    Milestone::PodDeleting,
];

const RECREATE: [Milestone; 14] = [
    Milestone::FailureTarget,
    Milestone::JobFailed,
    Milestone::RestartCounted,
    Milestone::FirstJobDeleting,
    Milestone::FirstJobGone,
    Milestone::LastJobGone,
    Milestone::LastOldPodGone,
    Milestone::FirstJobCreated,
    Milestone::LastJobCreated,
    Milestone::FirstPodCreated,
    Milestone::LastPodCreated,
    Milestone::LastPodBound,
    Milestone::LastReady,
    Milestone::JobsReady,
];
const IN_PLACE: [Milestone; 6] = [
    Milestone::PreviousWritten,
    Milestone::AttemptsFirst,
    Milestone::AttemptsLast,
    Milestone::CurrentWritten,
    Milestone::FirstReady,
    Milestone::LastReady,
];

#[derive(Clone, Debug)]
pub struct Restart {
    /// Number of the restart, starting at 1.
    pub number: u32,
    pub in_place: bool,
    /// The milestone from which times are counted, and its time.
    pub origin: Option<(Milestone, At)>,
    pub derived: bool,
    pub at: Vec<(Milestone, At)>,
    /// Milestones without a time, each with the reason.
    pub unknown: Vec<(Milestone, String)>,
    /// Name of the pod whose failure or deletion triggered the restart.
    pub first_pod: Option<String>,
}

impl Restart {
    pub fn get(&self, milestone: Milestone) -> Option<At> {
        let found = self.at.iter().find(|(m, _)| *m == milestone);
        found.map(|(_, at)| *at)
    }
}

fn number(status: &Value, key: &str) -> Option<u64> {
    status[key].as_u64()
}

/// Returns the number of restarts that the JobSet counted, or triggered in place.
pub fn count(life: &Life) -> u32 {
    let in_place = in_place(life);
    let of = |status: &Value| match in_place {
        true => number(status, "previousInPlaceRestartAttempt").map_or(0, |n| n + 1),
        false => number(status, "restarts").unwrap_or(0),
    };
    let statuses = life.jobset.statuses.iter().map(|(_, status)| of(status));
    statuses
        .max()
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or(0)
}

pub fn in_place(life: &Life) -> bool {
    life.jobset.manifest["spec"]["failurePolicy"]["restartStrategy"] == "InPlaceRestart"
}

/// Returns the number of pods that the JobSet specifies.
pub fn wanted(life: &Life) -> u64 {
    let jobs = life.jobset.manifest["spec"]["replicatedJobs"].as_array();
    let pods = |rj: &Value| {
        let spec = &rj["template"]["spec"];
        let parallelism = spec["parallelism"].as_u64().unwrap_or(1);
        let completions = spec["completions"].as_u64().unwrap_or(parallelism);
        let replicas = rj["replicas"].as_u64().unwrap_or(1);
        replicas.saturating_mul(parallelism.min(completions))
    };
    let all = jobs.into_iter().flatten().map(pods);
    all.fold(0, u64::saturating_add)
}

/// Returns the milestones of restart `nth`.
pub fn restart(life: &Life, nth: u32) -> Result<Restart, String> {
    let counted = count(life);
    if nth == 0 || nth > counted {
        return Err(match counted {
            0 => "the JobSet did not restart in these files".to_owned(),
            n => format!("--restart {nth}: the JobSet restarted {n} times in these files"),
        });
    }
    let in_place = in_place(life);
    let finder = Finder {
        life,
        nth,
        ordered: ordered(life, nth, in_place),
    };
    let mut restart = Restart {
        number: nth,
        in_place,
        origin: None,
        derived: false,
        at: Vec::new(),
        unknown: Vec::new(),
        first_pod: None,
    };
    finder.origin(&mut restart);
    let names: &[Milestone] = if in_place { &IN_PLACE } else { &RECREATE };
    for name in names {
        match finder.find(*name, in_place) {
            Ok(at) => restart.at.push((*name, at)),
            Err(why) => restart.unknown.push((*name, why)),
        }
    }
    if restart.origin.is_none() {
        restart.origin = restart.at.iter().copied().min_by_key(|(_, at)| at.ns);
    }
    Ok(restart)
}

/// Returns when the JobSet's status first showed restart `nth`.
fn ordered(life: &Life, nth: u32, in_place: bool) -> Option<At> {
    let tells = |status: &Value| match in_place {
        true => {
            number(status, "previousInPlaceRestartAttempt").is_some_and(|n| n + 1 >= u64::from(nth))
        }
        false => number(status, "restarts").is_some_and(|n| n >= u64::from(nth)),
    };
    if life.watched {
        let mut statuses = life.jobset.statuses.iter();
        // The time of a restart that preceded the watch is unknown.
        let first = statuses.position(|(_, status)| tells(status))?;
        return (first > 0).then(|| life.jobset.statuses[first].0);
    }
    let began = life
        .jobset
        .conditions
        .iter()
        .find(|(_, c)| c.is("RestartingJobSet", "True"));
    // A condition records only its last transition.
    let last = count(life) == nth;
    let told = life
        .events
        .iter()
        .rev()
        .find(|e| e.object.starts_with("JobSet/") && is_restart(&e.reason));
    let told = told.and_then(|e| e.at);
    let condition = began.map(|(at, _)| *at);
    match (told, condition) {
        // The Event is emitted after the status has been written.
        (Some(told), Some(condition)) if last && told.ns.abs_diff(condition.ns) < 2 * SECOND => {
            Some(told)
        }
        (_, Some(condition)) if last => Some(condition),
        (Some(told), _) if last => Some(told),
        _ => None,
    }
}

struct Finder<'l> {
    life: &'l Life,
    nth: u32,
    ordered: Option<At>,
}

impl Finder<'_> {
    /// Returns the restart attempt of a pod or Job. For one that is known only from Events, the attempt is inferred
    /// from its creation time.
    fn attempt(&self, own: Option<u32>, created: Option<At>) -> Option<u32> {
        own.or_else(|| {
            let (ordered, created) = (self.ordered?, created?);
            let before = created.ns < ordered.ns;
            Some(if before { self.nth - 1 } else { self.nth })
        })
    }

    fn pods(&self, attempt: u32) -> impl Iterator<Item = &PodLife> {
        let pods = self.life.pods.iter();
        pods.filter(move |p| self.attempt(p.last.attempt, p.created) == Some(attempt))
    }

    fn jobs(&self, attempt: u32) -> impl Iterator<Item = &JobLife> {
        let jobs = self.life.jobs.iter();
        jobs.filter(move |j| j.attempt.parse() == Ok(attempt))
    }

    fn old(&self) -> u32 {
        self.nth - 1
    }

    fn before_order(&self, at: &At) -> bool {
        self.ordered.is_none_or(|ordered| at.ns <= ordered.ns)
    }

    /// Returns when the barrier opened for attempt `nth`.
    fn barrier(&self, nth: u32) -> Option<At> {
        let opened = |status: &Value| {
            number(status, "currentInPlaceRestartAttempt").is_some_and(|n| n >= u64::from(nth))
        };
        let mut statuses = self.life.jobset.statuses.iter();
        statuses.find(|(_, s)| opened(s)).map(|(at, _)| *at)
    }

    /// Returns whether a time is later than the previous restart. For restarts in place, the previous restart ends
    /// when its barrier opens, because all pods lose their readiness after the restart was triggered.
    fn of_this(&self, at: &At) -> bool {
        let in_place = in_place(self.life);
        let before = match self.nth {
            1 => None,
            n => self
                .barrier(n - 1)
                .filter(|_| in_place)
                .or_else(|| ordered(self.life, n - 1, in_place)),
        };
        before.is_none_or(|before| at.ns > before.ns)
    }

    fn origin(&self, restart: &mut Restart) {
        let in_place = restart.in_place;
        let old: Vec<&PodLife> = match in_place {
            true => self.life.pods.iter().collect(),
            false => self.pods(self.old()).collect(),
        };
        let of_pod = |milestone: Milestone, p: &PodLife| match milestone {
            Milestone::PodFailed if p.last.phase == "Failed" => p.finished,
            // In a restart in place the pod remains. The restart of its containers makes it not ready.
            Milestone::PodNotReady if in_place => {
                let not = p.ready.iter().filter(|(_, ready)| !ready);
                not.map(|(at, _)| *at).find(|at| self.of_this(at))
            }
            Milestone::PodDeleting => p.deleting,
            _ => None,
        };
        for milestone in ORIGINS {
            let all = old
                .iter()
                .filter_map(|p| Some((of_pod(milestone, p)?, &p.name)));
            let first = all
                .filter(|(at, _)| self.before_order(at) && self.of_this(at))
                .min_by_key(|(at, _)| at.ns);
            if let Some((at, pod)) = first {
                let told = self.life.pods.iter().any(|p| p.name == *pod && p.only_told);
                if milestone == Milestone::PodDeleting && told {
                    // The Job controller deletes pods one batch period after it has observed the failure of another
                    // pod. It may have processed the Job earlier for another reason, or its request may have waited
                    // for a token. The uncertainty covers these cases.
                    let batch = At {
                        ns: at.ns.saturating_sub(JOB_SYNC_BATCH),
                        off: at.off + JOB_SYNC_BATCH,
                    };
                    restart.origin = Some((Milestone::PodFailed, batch));
                    restart.derived = true;
                    return;
                }
                restart.origin = Some((milestone, at));
                restart.first_pod = Some(pod.clone());
                return;
            }
        }
    }

    fn find(&self, milestone: Milestone, in_place: bool) -> Result<At, String> {
        let none = |why: &str| why.to_owned();
        let gone = "a list after the fact holds nothing of an object that is gone";
        let never = |what: &str| match self.life.watched {
            true => format!("no {what} in these files"),
            false => gone.to_owned(),
        };
        let first = |all: &mut dyn Iterator<Item = At>| all.min_by_key(|at| at.ns);
        let last = |all: &mut dyn Iterator<Item = At>| all.max_by_key(|at| at.ns);
        let condition = |kind: &'static str| {
            let mut all = self.jobs(self.old()).flat_map(move |j| {
                let of = j.conditions.iter().filter(move |(_, c)| c.is(kind, "True"));
                of.map(|(at, _)| *at)
            });
            first(&mut all)
        };
        use Milestone::*;
        let found = match milestone {
            FailureTarget => condition("FailureTarget"),
            JobFailed => condition("Failed").or_else(|| self.failure_told()),
            RestartCounted | PreviousWritten => self.ordered,
            FirstJobDeleting => first(&mut self.jobs(self.old()).filter_map(|j| j.deleting)),
            FirstJobGone => first(&mut self.jobs(self.old()).filter_map(|j| j.gone)),
            LastJobGone | LastOldPodGone => return self.all_gone(milestone, &never),
            FirstJobCreated => first(&mut self.jobs(self.nth).filter_map(|j| j.created)),
            LastJobCreated => last(&mut self.jobs(self.nth).filter_map(|j| j.created)),
            FirstPodCreated => first(&mut self.pods(self.nth).filter_map(|p| p.created)),
            LastPodCreated => return self.every(|p| p.created, "created", in_place),
            LastPodBound => return self.every(|p| p.bound, "bound", in_place),
            LastReady => return self.every(|p| self.ready_again(p, in_place), "ready", in_place),
            FirstReady => {
                let again = self
                    .life
                    .pods
                    .iter()
                    .filter_map(|p| self.ready_again(p, true));
                first(&mut { again })
            }
            JobsReady => {
                let over = self.life.jobset.conditions.iter().filter(|(at, c)| {
                    c.is("RestartingJobSet", "False") && self.ordered.is_some_and(|o| at.ns >= o.ns)
                });
                first(&mut over.map(|(at, _)| *at))
            }
            AttemptsFirst => first(&mut self.attempts()),
            AttemptsLast => return self.every(|p| self.attempt_of(p), "at the new attempt", true),
            CurrentWritten => self.barrier(self.nth),
            _ => None,
        };
        found.ok_or_else(|| match milestone {
            FailureTarget | FirstJobDeleting | FirstJobGone => never("such Job"),
            RestartCounted | PreviousWritten => none("it had happened before these files begin"),
            _ => none("it is not in these files"),
        })
    }

    fn attempt_of(&self, pod: &PodLife) -> Option<At> {
        let own = pod.in_place.iter().find(|(_, n)| *n >= self.nth);
        own.map(|(at, _)| *at)
    }

    fn attempts(&self) -> impl Iterator<Item = At> {
        self.life.pods.iter().filter_map(|p| self.attempt_of(p))
    }

    /// Returns when the failure of a Job was reported. The Job controller emits this Event right after it has
    /// written the failure.
    fn failure_told(&self) -> Option<At> {
        let told =
            self.life.events.iter().filter(|e| {
                e.object.starts_with("Job/") && JOB_FAILED.contains(&e.reason.as_str())
            });
        let near = told
            .filter_map(|e| e.at)
            .filter(|at| self.before_order(at) && self.of_this(at));
        near.min_by_key(|at| at.ns)
    }

    fn all_gone(&self, milestone: Milestone, never: &dyn Fn(&str) -> String) -> Result<At, String> {
        let ends: Vec<Option<At>> = match milestone {
            Milestone::LastJobGone => self.jobs(self.old()).map(|j| j.gone).collect(),
            _ => self.pods(self.old()).map(|p| p.gone).collect(),
        };
        let left = ends.iter().filter(|gone| gone.is_none()).count();
        if left > 0 && self.life.watched {
            return Err(format!(
                "{left} of {} are not gone in these files",
                ends.len()
            ));
        }
        let last = ends.into_iter().flatten().max_by_key(|at| at.ns);
        last.ok_or_else(|| never("old one"))
    }

    fn ready_again(&self, pod: &PodLife, in_place: bool) -> Option<At> {
        let since = self.ordered?;
        let mut ready = pod
            .ready
            .iter()
            .filter(|(at, ready)| *ready && (!in_place || at.ns > since.ns));
        ready.next().map(|(at, _)| *at)
    }

    /// Returns the latest of a time over all specified pods, or an error if it is missing for any of them.
    fn every(
        &self,
        of: impl Fn(&PodLife) -> Option<At>,
        what: &str,
        in_place: bool,
    ) -> Result<At, String> {
        let pods: Vec<&PodLife> = match in_place {
            true => self.life.pods.iter().filter(|p| p.gone.is_none()).collect(),
            false => self.pods(self.nth).collect(),
        };
        // If an index has several pods, the earliest counts.
        let mut done: std::collections::BTreeMap<(&str, Option<u32>), At> = Default::default();
        for pod in &pods {
            if let Some(at) = of(pod) {
                let slot = done
                    .entry((pod.last.job.as_str(), pod.last.index))
                    .or_insert(at);
                *slot = if at.ns < slot.ns { at } else { *slot };
            }
        }
        let wanted = wanted(self.life);
        let n = done.len() as u64;
        if n < wanted {
            return Err(format!("{n} of {wanted} pods were {what} in these files"));
        }
        let last = done.into_values().max_by_key(|at| at.ns);
        last.ok_or_else(|| format!("no pod was {what}"))
    }
}

/// Delay of the Job controller between a change of a pod and the next sync of its Job: 1 s (docs/rules/kubernetes.md
/// 1.1).
const JOB_SYNC_BATCH: u64 = SECOND;
