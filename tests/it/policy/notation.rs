//! The compact notation of policy cases.
//!
//! - `js.rjs`: `a:2 b:3x4` is replicatedJob a with 2 Jobs of one pod, b with 3 Jobs of 4 pods; `c:1x-` leaves the size
//!   unset, `d:1x4/2` has 2 completions.
//! - `jobs`: `a/0 run`, `a/1-3 pend`. Words: `run` (all pods ready), `pend` (pods not ready), `ready=N`, `done=N`
//!   (succeeded pods), `ok` (Complete), `fail` or `fail=Reason` (Failed; `t=SECONDS`; `m=MESSAGE` to the end), `susp`,
//!   `del`, `size=N` (stored parallelism and completions), `@N` or `@?` (label restart-attempt), `~N` or `~?` (label
//!   job-restart-attempt). Default labels: those of the current attempt.
//! - `status`: `restarts: 2/1` (all/counted), `conditions: ["Suspended=True SuspendedJobs: jobset is suspended @50"]`,
//!   `counters: none` (never written) or absent (already right), `job_restarts: ["a 0,1", "a counted 0,1"]`.
//! - `in_place`: `{restarts: largest container restart count, attempts: [0, 1]}`; `attempts: bad` is a malformed one.

use super::job_notation;
use serde::Deserialize;
use sim_api::spec::*;
use sim_base::{Duration, SimTime};
use sim_engine::record::JobSetConditionType;
use sim_engine::record::JobSetConditionType::*;
use sim_policy::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// Rules that the plan must cite.
    pub rules: Vec<String>,
    /// Rules and corner cases that the case covers without a citation.
    #[serde(default)]
    pub shows: Vec<String>,
    pub js: Spec,
    #[serde(default)]
    pub status: Status,
    #[serde(default)]
    pub jobs: Vec<String>,
    #[serde(default)]
    pub gates: Vec<String>,
    #[serde(default = "hundred")]
    pub now: f64,
    #[serde(default = "yes")]
    pub service: bool,
    pub in_place: Option<InPlace>,
    pub plan: String,
}

fn hundred() -> f64 {
    100.0
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    rjs: String,
    depends: Vec<String>,
    in_order: bool,
    success: String,
    failure: Option<Failure>,
    suspend: bool,
    deleting: bool,
    ttl: Option<u32>,
    managed_by: Option<String>,
    no_dns: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Failure {
    max: i32,
    strategy: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    name: String,
    action: String,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    targets: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Status {
    restarts: String,
    conditions: Vec<String>,
    counters: String,
    job_restarts: Vec<String>,
    current: Option<u32>,
    previous: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InPlace {
    #[serde(default)]
    restarts: u32,
    attempts: Attempts,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Attempts {
    List(Vec<u32>),
    Bad(Malformed),
}

#[derive(Deserialize)]
pub enum Malformed {
    #[serde(rename = "bad")]
    Bad,
}

/// Owner of everything that a view borrows.
pub struct World {
    pub jobset: JobSet,
    pub suspended: bool,
    pub deleting: bool,
    pub status: JobSetStatus,
    pub jobs: Vec<JobView>,
    pub gates: FeatureGates,
    pub now: SimTime,
    pub service_exists: bool,
    pub in_place: Option<InPlaceView>,
    pub job_name: Box<dyn Fn(u32, u32) -> String>,
}

impl World {
    pub fn view(&self) -> JobSetView<'_> {
        JobSetView {
            jobset: &self.jobset,
            suspended: self.suspended,
            deleting: self.deleting,
            status: &self.status,
            jobs: &self.jobs,
            gates: self.gates,
            now: self.now,
            service_exists: self.service_exists,
            in_place: self.in_place,
            ties: Default::default(),
            job_name: &*self.job_name,
        }
    }
}

pub fn seconds(s: f64) -> SimTime {
    SimTime::ZERO + Duration::from_seconds_f64(s)
}

pub fn job_names(jobset: &JobSet) -> Box<dyn Fn(u32, u32) -> String> {
    let rjs = jobset.spec.replicated_jobs.iter();
    let names: Vec<String> = rjs.map(|r| r.name.clone()).collect();
    Box::new(move |rj, index| format!("js-{}-{index}", names[rj as usize]))
}

pub fn world(case: &Case) -> Result<World, String> {
    let gates = FeatureGates {
        in_place_restart: case.gates.iter().any(|g| g == "InPlaceRestart"),
        restart_job: case.gates.iter().any(|g| g == "RestartJob"),
        elastic_jobset: case.gates.iter().any(|g| g == "ElasticJobSet"),
        ..FeatureGates::default()
    };
    let jobset = jobset(&case.js)?;
    let mut status = status(&case.status, &jobset)?;
    let mut jobs = Vec::new();
    for line in &case.jobs {
        jobs.extend(job_notation::jobs(line, &jobset, &status, gates)?);
    }
    if case.status.counters != "none" {
        job_notation::settle(&mut status, &jobs, &jobset);
    }
    Ok(World {
        suspended: case.js.suspend,
        deleting: case.js.deleting,
        status,
        jobs,
        gates,
        now: seconds(case.now),
        service_exists: case.service,
        in_place: case.in_place.as_ref().map(in_place),
        job_name: job_names(&jobset),
        jobset,
    })
}

fn jobset(s: &Spec) -> Result<JobSet, String> {
    let mut spec = JobSetSpec {
        startup_order: if s.in_order { StartupPolicyOrder::InOrder } else { StartupPolicyOrder::AnyOrder },
        suspend: s.suspend,
        managed_by: s.managed_by.clone(),
        ttl_seconds_after_finished: s.ttl,
        failure_policy: s.failure.as_ref().map(failure).transpose()?,
        ..JobSetSpec::default()
    };
    spec.network.enable_dns_hostnames = !s.no_dns;
    let mut words = s.success.split_whitespace();
    if words.next() == Some("Any") {
        spec.success_policy.get_or_insert_default().operator = ConditionOperator::Any;
    }
    spec.success_policy.get_or_insert_default().target_replicated_jobs = words.map(str::to_string).collect();
    for word in s.rjs.split_whitespace() {
        let (name, size) = word.split_once(':').ok_or(format!("rjs: {word}"))?;
        let (replicas, pods) = size.split_once('x').unwrap_or((size, "1"));
        let (pods, completions) = pods.split_once('/').unwrap_or((pods, pods));
        let (pods, completions) = (pods.parse().ok(), completions.parse().ok());
        spec.replicated_jobs.push(ReplicatedJob {
            name: name.to_string(),
            replicas: replicas.parse().map_err(|_| format!("rjs: {word}"))?,
            template: JobSpec { parallelism: pods, completions, ..JobSpec::default() },
            ..ReplicatedJob::default()
        });
    }
    for d in &s.depends {
        let words: Vec<&str> = d.split_whitespace().collect();
        let [who, "on", on, state] = words[..] else {
            return Err(format!("depends: {d}"));
        };
        let rj = spec.replicated_jobs.iter_mut().find(|r| r.name == who);
        rj.ok_or(format!("depends: {d}"))?.depends_on.push(DependsOn {
            name: on.to_string(),
            status: match state {
                "Ready" => DependsOnStatus::Ready,
                "Complete" => DependsOnStatus::Complete,
                _ => return Err(format!("depends: {d}")),
            },
        });
    }
    Ok(JobSet { name: "js".to_string(), spec, ..JobSet::default() })
}

fn failure(f: &Failure) -> Result<FailurePolicy, String> {
    use FailurePolicyAction as A;
    let strategy = match f.strategy.as_str() {
        "" | "Recreate" => RestartStrategy::Recreate,
        "BlockingRecreate" => RestartStrategy::BlockingRecreate,
        "InPlaceRestart" => RestartStrategy::InPlaceRestart,
        other => return Err(format!("strategy: {other}")),
    };
    let actions = [
        A::FailJobSet,
        A::RestartJobSet,
        A::RestartJobSetAndIgnoreMaxRestarts,
        A::RestartJob,
        A::RestartJobAndIgnoreMaxRestarts,
    ];
    let rule = |r: &Rule| {
        let action = actions.into_iter().find(|a| a.as_str() == r.action);
        Ok(FailurePolicyRule {
            name: r.name.clone(),
            action: action.ok_or(format!("action: {}", r.action))?,
            on_job_failure_reasons: r.reasons.clone(),
            on_job_failure_message_patterns: r.patterns.clone(),
            target_replicated_jobs: r.targets.clone(),
        })
    };
    Ok(FailurePolicy {
        max_restarts: f.max,
        restart_strategy: strategy,
        rules: f.rules.iter().map(rule).collect::<Result<_, String>>()?,
    })
}

fn status(s: &Status, jobset: &JobSet) -> Result<JobSetStatus, String> {
    let mut status = JobSetStatus {
        current_in_place_restart_attempt: s.current,
        previous_in_place_restart_attempt: s.previous,
        ..JobSetStatus::default()
    };
    if let Some((all, counted)) = s.restarts.split_once('/') {
        status.restarts = all.parse().map_err(|_| "restarts")?;
        status.restarts_count_towards_max = counted.parse().map_err(|_| "restarts")?;
    }
    for text in &s.conditions {
        status.conditions.push(condition(text).ok_or(format!("condition: {text}"))?);
    }
    status.terminal_state = match status.conditions.iter().find(|c| c.status) {
        Some(c) if c.kind == Completed => Some(TerminalState::Completed),
        Some(c) if c.kind == Failed => Some(TerminalState::Failed),
        _ => None,
    };
    if s.counters == "none" {
        return Ok(status);
    }
    let rjs = &jobset.spec.replicated_jobs;
    status.replicated_jobs.resize_with(rjs.len(), Default::default);
    for text in &s.job_restarts {
        let (head, list) = text.rsplit_once(' ').ok_or(format!("job_restarts: {text}"))?;
        let list: Result<Vec<u32>, _> = list.split(',').map(str::parse).collect();
        let list = list.map_err(|_| format!("job_restarts: {text}"))?;
        let (name, counted) = head.split_once(' ').unwrap_or((head, ""));
        let rj = rjs.iter().position(|r| r.name == name).ok_or("job_restarts")?;
        let of = &mut status.replicated_jobs[rj];
        match counted {
            "" => of.job_restarts = list,
            _ => of.job_restarts_count_towards_max = list,
        }
    }
    Ok(status)
}

fn condition(text: &str) -> Option<PodCondition> {
    let (text, at) = text.rsplit_once(" @")?;
    let (head, message) = text.split_once(": ")?;
    let (state, reason) = head.split_once(' ')?;
    let (kind, state) = state.split_once('=')?;
    let kinds = JobSetConditionType::ALL;
    let (reason, suffix) = match reason.strip_prefix("FailurePolicy_") {
        Some(suffix) => ("FailurePolicy_", suffix),
        None => (reason, ""),
    };
    Some(PodCondition {
        kind: kinds.into_iter().find(|k| k.as_str() == kind)?,
        status: state == "True",
        reason: reason.to_string().into(),
        reason_suffix: suffix.to_string(),
        message: message.to_string(),
        last_transition: seconds(at.parse().ok()?),
    })
}

fn in_place(i: &InPlace) -> InPlaceView {
    let list = match &i.attempts {
        Attempts::List(list) => list.as_slice(),
        Attempts::Bad(_) => &[],
    };
    InPlaceView {
        max_container_restarts: i.restarts,
        attempts: list.len() as u32 + u32::from(matches!(i.attempts, Attempts::Bad(_))),
        min_attempt: list.iter().min().copied(),
        max_attempt: list.iter().max().copied(),
    }
}
