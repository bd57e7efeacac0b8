//! Replications of which only the restarts that use up a limit are kept, with their causes.

use super::collapsed::Collapsed;
use super::parallel::{NoRuns, each};
use super::player::Player;
use super::stop::{Limited, Limits};
use super::subject::Subject;
use crate::fleet::{FleetEnd, FleetSimulation};
use crate::metrics::training::cause_name;
use crate::metrics::{CountedFold, Restart, RestartFold};
use crate::reduced::{CollapsedOutcome, Counting};
use sim_api::spec::{
    DISRUPTION_TARGET, FailurePolicyAction, FailurePolicyRule, Fleet, POD_FAILURE_POLICY,
    PodFailurePolicyAction, PodFailurePolicyRule, ReplicatedJob, Scenario,
};
use sim_base::time::LONGEST;
use sim_base::{Duration, JobSetId, Time};
use sim_engine::record::EndReason;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Something of a limit of restarts was used up.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedAt {
    /// In seconds of virtual time.
    pub at_s: f64,
    /// How much of it.
    pub times: u32,
    /// By what: a random fault by its name, any other cause by its kind.
    pub cause: Arc<str>,
}

/// One replication.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedRun {
    /// Its number.
    pub replication: u64,
    /// When it ended, in seconds.
    pub end_s: f64,
    /// Whether the job's work was done.
    pub completed: bool,
    /// How it ended before its time, if it did and its work was not done.
    pub ended_otherwise: Option<&'static str>,
    /// Why it never found nodes for all its pods, if it did not.
    pub never_placed: Option<String>,
    /// In the order of time.
    pub used: Vec<UsedAt>,
    /// The hash over its records.
    pub digest: u64,
}

/// Plays these replications of a subject, for one of its JobSets.
pub fn count_restarts(
    (subject, jobset): (&Subject, usize),
    (seed, which): (u64, Range<u64>),
    (threads, limits): (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<CountedRun>, NoRuns> {
    let (from, n) = (which.start, which.end.saturating_sub(which.start));
    let finished = AtomicU64::new(0);
    let tell = || done(finished.fetch_add(1, Ordering::Relaxed) + 1);
    match subject {
        Subject::Fleet(fleet) => {
            let make = || Ok(FleetSimulation::new(fleet).noting_restarts());
            let causes = causes(fleet);
            each(make, (n, threads), &limits.flag, |simulation, i| {
                let run = of_fleet(simulation, &causes, (seed, from + i), limits)?;
                tell();
                Some(run)
            })
        }
        Subject::Collapsed(collapsed) => {
            let make = || Ok(collapsed.player());
            each(make, (n, threads), &limits.flag, |player, i| {
                let played = player.run_until((seed, from + i), &|n| limits.reached(n))?;
                tell();
                Some(of_collapsed(collapsed, &played, from + i))
            })
        }
        Subject::Pods { scenario, .. } => {
            let make = || Player::new(scenario);
            each(make, (n, threads), &limits.flag, |player, i| {
                let jobset = JobSetId(jobset as u32);
                let run = of_pods(player, jobset, (seed, from + i), limits)?;
                tell();
                Some(run)
            })
        }
    }
}

fn causes(fleet: &Fleet) -> Vec<Arc<str>> {
    let of = |f: &sim_api::spec::FaultProcess| Arc::from(f.cause.as_str());
    fleet.faults.iter().map(of).collect()
}

fn of_fleet(
    simulation: &mut FleetSimulation<'_>,
    causes: &[Arc<str>],
    (seed, i): (u64, u64),
    limits: &Limits,
) -> Option<CountedRun> {
    let outcome = simulation.run_until((seed, i), &|events| limits.reached(events))?;
    let used = |(at, process): &(u64, u32)| UsedAt {
        at_s: Time(*at).seconds(),
        times: 1,
        cause: causes[*process as usize].clone(),
    };
    Some(CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: outcome.why == FleetEnd::Completed,
        ended_otherwise: match outcome.why {
            FleetEnd::Completed | FleetEnd::TimeLimit => None,
            other => Some(other.as_str()),
        },
        never_placed: None,
        used: outcome.interruptions.iter().map(used).collect(),
        digest: outcome.digest,
    })
}

/// How a JobSet's run ended before its time, if its work was not done.
fn ended_otherwise(state: &'static str, reason: EndReason) -> Option<&'static str> {
    match (state, reason) {
        ("Completed", _) => None,
        ("", EndReason::Stuck) => Some("Stuck"),
        ("", _) => None,
        (other, _) => Some(other),
    }
}

fn of_collapsed(collapsed: &Collapsed, outcome: &CollapsedOutcome, i: u64) -> CountedRun {
    let used = |counted: &Counting| {
        let process = collapsed
            .scenario()
            .fault_processes
            .get(counted.process as usize);
        UsedAt {
            at_s: counted.at.seconds(),
            times: counted.times,
            cause: Arc::from(process.map_or("other", |p| p.cause.as_str())),
        }
    };
    CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: outcome.terminal_state == "Completed",
        ended_otherwise: ended_otherwise(outcome.terminal_state, outcome.end_reason),
        never_placed: None,
        used: outcome
            .counted
            .iter()
            .filter(|c| c.times > 0)
            .map(used)
            .collect(),
        digest: collapsed.digest(outcome),
    }
}

fn of_pods(
    player: &mut Player,
    jobset: JobSetId,
    (seed, i): (u64, u64),
    limits: &Limits,
) -> Option<CountedRun> {
    let simulation = player.simulation(seed, i);
    let restarts = RestartFold::new(simulation.scenario()).without_paths();
    let folds = (restarts, CountedFold::default());
    let mut sink = (folds, Limited::by(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    let (restarts, counted) = sink.0;
    let restarts = restarts.finish(&outcome, simulation.names());
    let own = |r: &&Restart| r.jobset == jobset;
    let used = counted.finish().into_iter().filter(|u| u.jobset == jobset);
    let used = used.map(|u| {
        let mut all = restarts.iter().filter(own);
        let restart = all.find(|r| r.start <= u.at && u.at <= r.end);
        let cause = restart.map(|r| cause_name(simulation.scenario(), &r.cause));
        UsedAt {
            at_s: u.at.seconds(),
            times: u.times,
            cause: Arc::from(cause.as_deref().unwrap_or("other")),
        }
    });
    let ended = outcome.jobsets.get(jobset.ix());
    let state = ended.map_or("", |o| o.terminal_state);
    Some(CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: state == "Completed",
        ended_otherwise: ended_otherwise(state, outcome.end_reason),
        never_placed: ended.and_then(|o| o.never_placed.clone()),
        used: used.collect(),
        digest: outcome.digest,
    })
}

/// Lifts the limit of a JobSet's restarts, and lets the subject run until then; what the limit was, and until when it
/// runs. The error says why that would tell nothing.
pub fn without_limit(
    subject: &mut Subject,
    jobset: usize,
    until: Option<Duration>,
) -> Result<(Option<u32>, Duration), String> {
    match subject {
        Subject::Fleet(fleet) => {
            fleet.stop_at = until.unwrap_or(fleet.stop_at);
            if fleet.stop_at == LONGEST {
                return Err("the inputs have no end time: set one with --horizon".to_owned());
            }
            Ok((fleet.job.max_restarts.take(), fleet.stop_at))
        }
        Subject::Pods { scenario, .. } => lift(scenario, jobset, until),
        Subject::Collapsed(collapsed) => {
            let mut scenario = collapsed.scenario().clone();
            let lifted = lift(&mut scenario, jobset, until)?;
            let again = collapsed.with(&scenario);
            *collapsed = again.ok_or("without a limit it cannot be played collapsed")?;
            Ok(lifted)
        }
    }
}

fn lift(
    scenario: &mut Scenario,
    jobset: usize,
    until: Option<Duration>,
) -> Result<(Option<u32>, Duration), String> {
    scenario.stop.at = until.unwrap_or(scenario.stop.at);
    let submitted = &mut scenario.jobsets[jobset].jobset;
    let name = &submitted.name;
    let Some(policy) = submitted.spec.failure_policy.as_mut() else {
        return Err(format!(
            "JobSet {name} has no failurePolicy: its first failure fails it, whatever maxRestarts would be"
        ));
    };
    let limit = u32::try_from(policy.max_restarts).unwrap_or(0);
    policy.max_restarts = i32::MAX;
    Ok((Some(limit), scenario.stop.at))
}

/// Puts rules before the others that leave uncounted what Jobs blame on disruptions; in words, what that is. `None`:
/// no Job of the JobSet tells disruptions from failures, so no rule can.
pub fn with_maintenance_rule(subject: &mut Subject, jobset: usize) -> Option<&'static str> {
    match subject {
        // A rule changes what is counted: the collapsed level would have to be measured anew.
        Subject::Fleet(_) | Subject::Collapsed(_) => None,
        Subject::Pods { scenario, .. } => maintenance_rule(scenario, jobset),
    }
}

fn maintenance_rule(scenario: &mut Scenario, jobset: usize) -> Option<&'static str> {
    let spec = &mut scenario.jobsets[jobset].jobset.spec;
    let of_disruption = |r: &PodFailurePolicyRule| {
        let mut conditions = r.on_pod_conditions.iter();
        r.action == PodFailurePolicyAction::FailJob
            && conditions.any(|c| c.condition == DISRUPTION_TARGET)
    };
    let tells = |rj: &ReplicatedJob| {
        let rules = rj.template.pod_failure_policy.iter().flatten();
        rules.into_iter().any(of_disruption)
    };
    if !spec.replicated_jobs.iter().any(tells) {
        return None;
    }
    let policy = spec.failure_policy.as_mut()?;
    // Whatever a Job of that reason restarts now it restarts then; without a rule that is the JobSet (FP-5).
    let of_reason = |rule: &&FailurePolicyRule| {
        let reasons = &rule.on_job_failure_reasons;
        reasons.is_empty() || reasons.iter().any(|reason| reason == POD_FAILURE_POLICY)
    };
    let otherwise = FailurePolicyRule {
        name: String::new(),
        action: FailurePolicyAction::RestartJobSet,
        on_job_failure_reasons: Vec::new(),
        on_job_failure_message_patterns: Vec::new(),
        target_replicated_jobs: Vec::new(),
    };
    let now = policy.rules.iter().filter(of_reason).chain([&otherwise]);
    let uncounted = now.enumerate().map(|(nth, rule)| FailurePolicyRule {
        name: format!("disruptions-{nth}"),
        action: rule.action.uncounted(),
        on_job_failure_reasons: vec![POD_FAILURE_POLICY.to_owned()],
        ..rule.clone()
    });
    let uncounted: Vec<FailurePolicyRule> = uncounted.collect();
    policy.rules.splice(0..0, uncounted);
    Some("restarts whose Job failed with reason PodFailurePolicy")
}
