//! Derives the milestones of one restart from the life of a JobSet, with the names used in recordings of kind `times`.
//!
//! Missing milestones are never estimated. They are listed as unknown, each with a reason.

use super::lifecycle::{JobLife, ObservedLifecycle, PodLife};
use super::restart_error::{MissingMilestone, RestartImportError};
use super::timestamp::{ClockTime, SECOND};
use super::write_time::{JOB_FAILED_REASONS, is_restart_reason};
use serde_json::Value;
use sim_analysis::metrics::restarts::restart::Milestone;

/// Milestones at which an imported restart can begin, the most reliable first.
pub const ORIGINS: [Milestone; 3] = [Milestone::PodFailed, Milestone::PodNotReady, Milestone::PodDeleting];

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
pub struct ObservedRestart {
    /// Number of the restart, starting at 1.
    pub number: u32,
    pub in_place: bool,
    /// The milestone from which times are counted, and its time.
    pub origin: Option<(Milestone, ClockTime)>,
    pub derived: bool,
    pub at: Vec<(Milestone, ClockTime)>,
    /// Milestones without a time, each with the reason.
    pub unknown: Vec<(Milestone, MissingMilestone)>,
    /// Name of the pod whose failure or deletion triggered the restart.
    pub first_pod: Option<String>,
}

impl ObservedRestart {
    pub fn get(&self, milestone: Milestone) -> Option<ClockTime> {
        let matching = self.at.iter().find(|(m, _)| *m == milestone);
        matching.map(|(_, at)| *at)
    }
}

fn status_number(status: &Value, key: &str) -> Option<u64> {
    status[key].as_u64()
}

/// Returns the number of restarts that the JobSet counted, or triggered in place.
pub fn restart_count(life: &ObservedLifecycle) -> u32 {
    let in_place = is_in_place(life);
    let of = |status: &Value| {
        if in_place {
            status_number(status, "previousInPlaceRestartAttempt").map_or(0, |n| n + 1)
        } else {
            status_number(status, "restarts").unwrap_or(0)
        }
    };
    let statuses = life.jobset.statuses.iter().map(|(_, status)| of(status));
    statuses.max().and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

pub fn is_in_place(life: &ObservedLifecycle) -> bool {
    life.jobset.manifest["spec"]["failurePolicy"]["restartStrategy"] == "InPlaceRestart"
}

/// Returns the number of pods that the JobSet specifies.
pub fn specified_pods(life: &ObservedLifecycle) -> u64 {
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
pub fn observed_restart(life: &ObservedLifecycle, nth: u32) -> Result<ObservedRestart, RestartImportError> {
    let counted = restart_count(life);
    if nth == 0 || nth > counted {
        return Err(match counted {
            0 => RestartImportError::NoRestart,
            counted => RestartImportError::NoSuchRestart { requested: nth, counted },
        });
    }
    let in_place = is_in_place(life);
    let finder = MilestoneFinder { life, nth, triggered_at: triggered_at(life, nth, in_place) };
    let mut restart = ObservedRestart {
        number: nth,
        in_place,
        origin: None,
        derived: false,
        at: Vec::new(),
        unknown: Vec::new(),
        first_pod: None,
    };
    finder.set_origin(&mut restart);
    let names: &[Milestone] = if in_place { &IN_PLACE } else { &RECREATE };
    for name in names {
        match finder.milestone_time(*name, in_place) {
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
fn triggered_at(life: &ObservedLifecycle, nth: u32, in_place: bool) -> Option<ClockTime> {
    let tells = |status: &Value| {
        if in_place {
            status_number(status, "previousInPlaceRestartAttempt").is_some_and(|n| n + 1 >= u64::from(nth))
        } else {
            status_number(status, "restarts").is_some_and(|n| n >= u64::from(nth))
        }
    };
    if life.watched {
        let mut statuses = life.jobset.statuses.iter();
        // The time of a restart that preceded the watch is unknown.
        let first = statuses.position(|(_, status)| tells(status))?;
        return (first > 0).then(|| life.jobset.statuses[first].0);
    }
    let began = life.jobset.conditions.iter().find(|(_, c)| c.matches("RestartingJobSet", "True"));
    // A condition records only its last transition.
    let last = restart_count(life) == nth;
    let event_time = life.events.iter().rev().find(|e| e.object.starts_with("JobSet/") && is_restart_reason(&e.reason));
    let event_time = event_time.and_then(|e| e.at);
    let condition = began.map(|(at, _)| *at);
    match (event_time, condition) {
        // The Event is emitted after the status has been written.
        (Some(event_time), Some(condition)) if last && event_time.ns.abs_diff(condition.ns) < 2 * SECOND => {
            Some(event_time)
        }
        (_, Some(condition)) if last => Some(condition),
        (Some(event_time), _) if last => Some(event_time),
        _ => None,
    }
}

struct MilestoneFinder<'l> {
    life: &'l ObservedLifecycle,
    nth: u32,
    triggered_at: Option<ClockTime>,
}

impl MilestoneFinder<'_> {
    /// Returns the restart attempt of a pod or Job. For one that is known only from Events, the attempt is inferred
    /// from its creation time.
    fn attempt(&self, own: Option<u32>, created: Option<ClockTime>) -> Option<u32> {
        own.or_else(|| {
            let (ordered, created) = (self.triggered_at?, created?);
            let before = created.ns < ordered.ns;
            Some(if before { self.nth - 1 } else { self.nth })
        })
    }

    fn pods(&self, attempt: u32) -> impl Iterator<Item = &PodLife> {
        let pods = self.life.pods.iter();
        pods.filter(move |p| self.attempt(p.last_observed.attempt, p.created) == Some(attempt))
    }

    fn jobs(&self, attempt: u32) -> impl Iterator<Item = &JobLife> {
        let jobs = self.life.jobs.iter();
        jobs.filter(move |j| j.attempt.parse() == Ok(attempt))
    }

    fn previous_attempt(&self) -> u32 {
        self.nth - 1
    }

    fn is_before_trigger(&self, at: &ClockTime) -> bool {
        self.triggered_at.is_none_or(|ordered| at.ns <= ordered.ns)
    }

    /// Returns when the barrier opened for attempt `nth`.
    fn barrier_opened_at(&self, nth: u32) -> Option<ClockTime> {
        let opened =
            |status: &Value| status_number(status, "currentInPlaceRestartAttempt").is_some_and(|n| n >= u64::from(nth));
        let mut statuses = self.life.jobset.statuses.iter();
        statuses.find(|(_, s)| opened(s)).map(|(at, _)| *at)
    }

    /// Returns whether a time is later than the previous restart. For restarts in place, the previous restart ends
    /// when its barrier opens, because all pods lose their readiness after the restart was triggered.
    fn is_after_previous_restart(&self, at: &ClockTime) -> bool {
        let in_place = is_in_place(self.life);
        let before = match self.nth {
            1 => None,
            n => {
                self.barrier_opened_at(n - 1).filter(|_| in_place).or_else(|| triggered_at(self.life, n - 1, in_place))
            }
        };
        before.is_none_or(|before| at.ns > before.ns)
    }

    fn set_origin(&self, restart: &mut ObservedRestart) {
        let in_place = restart.in_place;
        let old: Vec<&PodLife> =
            if in_place { self.life.pods.iter().collect() } else { self.pods(self.previous_attempt()).collect() };
        let of_pod = |milestone: Milestone, p: &PodLife| match milestone {
            Milestone::PodFailed if p.last_observed.phase == "Failed" => p.finished,
            // In a restart in place the pod remains. The restart of its containers makes it not ready.
            Milestone::PodNotReady if in_place => {
                let not = p.ready.iter().filter(|(_, ready)| !ready);
                not.map(|(at, _)| *at).find(|at| self.is_after_previous_restart(at))
            }
            Milestone::PodDeleting => p.deleting,
            _ => None,
        };
        for milestone in ORIGINS {
            let all = old.iter().filter_map(|p| Some((of_pod(milestone, p)?, &p.name)));
            let first = all
                .filter(|(at, _)| self.is_before_trigger(at) && self.is_after_previous_restart(at))
                .min_by_key(|(at, _)| at.ns);
            if let Some((at, pod)) = first {
                let is_from_events = self.life.pods.iter().any(|p| p.name == *pod && p.is_only_from_events);
                if milestone == Milestone::PodDeleting && is_from_events {
                    // The Job controller deletes pods one batch period after it has observed the failure of another
                    // pod. It may have processed the Job earlier for another reason, or its request may have waited
                    // for a token. The uncertainty covers these cases.
                    let batch = ClockTime {
                        ns: at.ns.saturating_sub(JOB_SYNC_BATCH),
                        uncertainty_ns: at.uncertainty_ns + JOB_SYNC_BATCH,
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

    fn milestone_time(&self, milestone: Milestone, in_place: bool) -> Result<ClockTime, MissingMilestone> {
        let first = |all: &mut dyn Iterator<Item = ClockTime>| all.min_by_key(|at| at.ns);
        let last = |all: &mut dyn Iterator<Item = ClockTime>| all.max_by_key(|at| at.ns);
        let condition = |kind: &'static str| {
            let mut all = self.jobs(self.previous_attempt()).flat_map(move |j| {
                let of = j.conditions.iter().filter(move |(_, c)| c.matches(kind, "True"));
                of.map(|(at, _)| *at)
            });
            first(&mut all)
        };
        use Milestone::*;
        let result = match milestone {
            FailureTarget => condition("FailureTarget"),
            JobFailed => condition("Failed").or_else(|| self.failure_reported_at()),
            RestartCounted | PreviousWritten => self.triggered_at,
            FirstJobDeleting => first(&mut self.jobs(self.previous_attempt()).filter_map(|j| j.deleting)),
            FirstJobGone => first(&mut self.jobs(self.previous_attempt()).filter_map(|j| j.gone)),
            LastJobGone | LastOldPodGone => return self.last_removal(milestone),
            FirstJobCreated => first(&mut self.jobs(self.nth).filter_map(|j| j.created)),
            LastJobCreated => last(&mut self.jobs(self.nth).filter_map(|j| j.created)),
            FirstPodCreated => first(&mut self.pods(self.nth).filter_map(|p| p.created)),
            LastPodCreated => return self.latest_over_pods(|p| p.created, "created", in_place),
            LastPodBound => return self.latest_over_pods(|p| p.bound, "bound", in_place),
            LastReady => {
                return self.latest_over_pods(|p| self.ready_again_at(p, in_place), "ready", in_place);
            }
            FirstReady => {
                let again = self.life.pods.iter().filter_map(|p| self.ready_again_at(p, true));
                first(&mut { again })
            }
            JobsReady => {
                let over = self.life.jobset.conditions.iter().filter(|(at, c)| {
                    c.matches("RestartingJobSet", "False") && self.triggered_at.is_some_and(|o| at.ns >= o.ns)
                });
                first(&mut over.map(|(at, _)| *at))
            }
            AttemptsFirst => first(&mut self.new_attempt_times()),
            AttemptsLast => {
                return self.latest_over_pods(|p| self.new_attempt_at(p), "at the new attempt", true);
            }
            CurrentWritten => self.barrier_opened_at(self.nth),
            _ => None,
        };
        result.ok_or_else(|| match milestone {
            FailureTarget | FirstJobDeleting | FirstJobGone => self.missing("such Job"),
            RestartCounted | PreviousWritten => MissingMilestone::BeforeFirstEntry,
            _ => MissingMilestone::NotObserved,
        })
    }

    fn new_attempt_at(&self, pod: &PodLife) -> Option<ClockTime> {
        let own = pod.in_place.iter().find(|(_, n)| *n >= self.nth);
        own.map(|(at, _)| *at)
    }

    fn new_attempt_times(&self) -> impl Iterator<Item = ClockTime> {
        self.life.pods.iter().filter_map(|p| self.new_attempt_at(p))
    }

    /// Returns when the failure of a Job was reported. The Job controller emits this Event right after it has
    /// written the failure.
    fn failure_reported_at(&self) -> Option<ClockTime> {
        let failure_events = self
            .life
            .events
            .iter()
            .filter(|e| e.object.starts_with("Job/") && JOB_FAILED_REASONS.contains(&e.reason.as_str()));
        let times = failure_events.filter_map(|e| e.at);
        let near = times.filter(|at| self.is_before_trigger(at) && self.is_after_previous_restart(at));
        near.min_by_key(|at| at.ns)
    }

    /// Returns the reason why the deletion or removal of an object is unknown.
    fn missing(&self, description: &'static str) -> MissingMilestone {
        if self.life.watched { MissingMilestone::NoObject { description } } else { MissingMilestone::OnlyListed }
    }

    fn last_removal(&self, milestone: Milestone) -> Result<ClockTime, MissingMilestone> {
        let ends: Vec<Option<ClockTime>> = match milestone {
            Milestone::LastJobGone => self.jobs(self.previous_attempt()).map(|j| j.gone).collect(),
            _ => self.pods(self.previous_attempt()).map(|p| p.gone).collect(),
        };
        let left = ends.iter().filter(|gone| gone.is_none()).count();
        if left > 0 && self.life.watched {
            return Err(MissingMilestone::NotRemoved { remaining: left, total: ends.len() });
        }
        let last = ends.into_iter().flatten().max_by_key(|at| at.ns);
        last.ok_or_else(|| self.missing("previous Job or pod"))
    }

    fn ready_again_at(&self, pod: &PodLife, in_place: bool) -> Option<ClockTime> {
        let since = self.triggered_at?;
        let mut ready = pod.ready.iter().filter(|(at, ready)| *ready && (!in_place || at.ns > since.ns));
        ready.next().map(|(at, _)| *at)
    }

    /// Returns the latest of a time over all specified pods, or an error if it is missing for any of them.
    fn latest_over_pods(
        &self, of: impl Fn(&PodLife) -> Option<ClockTime>, state: &'static str, in_place: bool,
    ) -> Result<ClockTime, MissingMilestone> {
        let pods: Vec<&PodLife> = if in_place {
            self.life.pods.iter().filter(|p| p.gone.is_none()).collect()
        } else {
            self.pods(self.nth).collect()
        };
        // If an index has several pods, the earliest counts.
        let mut done: std::collections::BTreeMap<(&str, Option<u32>), ClockTime> = Default::default();
        for pod in &pods {
            if let Some(at) = of(pod) {
                let slot = done.entry((pod.last_observed.job.as_str(), pod.last_observed.index)).or_insert(at);
                *slot = if at.ns < slot.ns { at } else { *slot };
            }
        }
        let specified = specified_pods(self.life);
        let count = done.len() as u64;
        if count < specified {
            return Err(MissingMilestone::TooFewPods { count, specified, state });
        }
        let last = done.into_values().max_by_key(|at| at.ns);
        last.ok_or(MissingMilestone::NoPod { state })
    }
}

/// Delay of the Job controller between a change of a pod and the next sync of its Job: 1 s (docs/rules/kubernetes.md
/// 1.1).
const JOB_SYNC_BATCH: u64 = SECOND;
