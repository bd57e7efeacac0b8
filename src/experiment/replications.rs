//! Several replications of one scenario: every metric with its mean, interval and quantiles.

use super::player::Player;
use super::stop::{Limited, Limits};
use crate::base::*;
use crate::metrics::summary::{Latency, SCHEMA, Shares, cost, ledger, total_cost};
use crate::metrics::timeline::Timeline;
use crate::metrics::training::{Taken, TrainingSummary, by_cause};
use crate::metrics::{Ending, Folds, Phase, Restart, RunView};
use crate::record::{EndReason, TrainingPhase};
use crate::spec::Level;
use crate::stats::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// Plays one replication, and keeps what `Replications` needs; nothing if `limits` stopped it.
pub(super) fn replication(
    player: &mut Player,
    (seed, i): (u64, u64),
    not_modelled: &[String],
    limits: &Limits,
) -> Option<Replication> {
    let simulation = player.simulation(seed, i);
    let folds = Folds::new(simulation.scenario(), false).without_paths();
    let mut sink = (folds, Limited::by(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    // Nothing is kept of the run, so nothing is copied as `play` does.
    let folded = sink.0.finish(&outcome, simulation.names());
    let one = RunView {
        scenario: simulation.scenario(),
        names: simulation.names(),
        outcome: &outcome,
        folded: &folded,
        seed,
        not_modelled,
    };
    Some(Replication::of(&one, i))
}

/// What is kept of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Its number.
    pub replication: u64,
    /// How much detail it has.
    pub level: Level,
    /// The hash over its records.
    pub digest: u64,
    /// When it ended, in seconds of virtual time.
    pub end_s: f64,
    /// Why it ended.
    pub end_reason: &'static str,
    /// In the order of the scenario.
    pub jobsets: Vec<ReplicatedJobSet>,
    /// Accelerator-seconds per category.
    pub ledger_s: BTreeMap<&'static str, f64>,
    /// Of installed accelerator-time, steps that count; where JobSets train.
    pub fleet_goodput: Option<f64>,
    /// What the accelerators cost, in the topology's currency.
    pub cost: f64,
    /// The same per category.
    pub cost_by_category: BTreeMap<&'static str, f64>,
    /// Of a fleet all that is told, by name; else nothing.
    pub outputs: Vec<(String, f64)>,
    /// What the run warned of.
    pub warnings: Vec<String>,
    /// Which JobSet never found nodes for all its pods, and why.
    pub never_placed: Option<String>,
}

/// One JobSet of a replication.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedJobSet {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// The median over its restarts.
    pub latency_p50_s: Option<f64>,
    /// The 95th percentile over its restarts.
    pub latency_p95_s: Option<f64>,
    /// The longest of its restarts.
    pub latency_max_s: Option<f64>,
    /// Its training job, if it has one.
    pub training: Option<TrainingSummary>,
    /// How far that was at any time.
    pub timeline: Option<Timeline>,
    /// What interruptions took of that, by their cause.
    pub taken: BTreeMap<String, Taken>,
    /// In the order of their start.
    pub each: Vec<BriefRestart>,
}

/// As much of a restart as thousands of replications keep.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefRestart {
    /// When it began.
    pub start: Time,
    /// All ready again; else when the JobSet or the run ended.
    pub end: Time,
    /// How it ended.
    pub ending: Ending,
    /// What each phase took, of the first ones that have any.
    phases: Option<Box<[Duration; Phase::COUNT]>>,
}

impl BriefRestart {
    /// Of one without pods.
    pub fn new((start, end): (Time, Time), ending: Ending) -> BriefRestart {
        BriefRestart {
            start,
            end,
            ending,
            phases: None,
        }
    }

    /// The nth of a run.
    fn of((nth, restart): (usize, &Restart)) -> BriefRestart {
        let has_phases = nth < EACH && restart.latency().is_some() && restart.reached().len() > 1;
        let whole = BriefRestart::new((restart.start, restart.end), restart.ending);
        BriefRestart {
            phases: has_phases.then(|| Box::new(restart.phases())),
            ..whole
        }
    }

    /// From the fault to all ready; none if that was never reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == Ending::Ready).then(|| self.end.since(self.start))
    }
}

impl Replication {
    /// What is kept of a run.
    pub fn of(run: &RunView<'_>, replication: u64) -> Replication {
        let outcome = run.outcome;
        let jobset = |(i, o): (usize, &crate::record::JobSetOutcome)| {
            let restarts = || run.restarts_of(JobSetId(i as u32));
            let latency = Latency::of(restarts().filter_map(Restart::latency));
            let training = outcome.training_of(JobSetId(i as u32));
            ReplicatedJobSet {
                terminal_state: o.terminal_state,
                restarts: o.restarts,
                restarts_count_towards_max: o.restarts_count_towards_max,
                latency_p50_s: latency.p50,
                latency_p95_s: latency.p95,
                latency_max_s: latency.max,
                training: training.map(TrainingSummary::of),
                taken: training.map_or_else(BTreeMap::new, |t| by_cause(run, t)),
                timeline: training.and_then(Timeline::of),
                each: restarts().enumerate().map(BriefRestart::of).collect(),
            }
        };
        Replication {
            replication,
            level: Level::Pods,
            digest: outcome.digest,
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: outcome.jobsets.iter().enumerate().map(jobset).collect(),
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: Shares::of(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: run.warnings(),
            never_placed: run.never_placed(),
        }
    }
}

/// `summary.json` of several replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replications {
    /// The name of the format.
    pub schema: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// The hash over the digests of all replications, in their order.
    pub digest: String,
    /// Of all random numbers.
    pub seed: u64,
    /// How many were played.
    pub replications: usize,
    /// How much detail they have.
    pub level: Level,
    /// When and why they ended.
    pub end: End,
    /// In the order of the scenario.
    pub job_sets: Vec<JobSetEstimates>,
    /// Accelerator-seconds per category.
    pub ledger: BTreeMap<&'static str, Option<Estimate>>,
    /// Of installed accelerator-time, steps that count; where JobSets train.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet_goodput: Option<Estimate>,
    /// What the accelerators cost.
    pub cost: Cost,
    /// What the runs warned of: what differs in numbers only is one, with how many replications say it.
    pub warnings: Vec<String>,
    /// Fields of the inputs that the API knows and the model ignores.
    pub not_modelled: Vec<String>,
}

/// How the replications ended.
#[derive(Clone, Debug, Serialize)]
pub struct End {
    /// Seconds of virtual time.
    pub t_s: Option<Estimate>,
    /// Reason → replications that ended so.
    pub reasons: BTreeMap<&'static str, usize>,
}

/// What they cost.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Of the topology.
    pub currency: String,
    /// Over all categories of the ledger.
    pub total: Option<Estimate>,
    /// Of each.
    #[serde(rename = "byCategory")]
    pub by_category: BTreeMap<&'static str, Option<Estimate>>,
}

/// One JobSet over the replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetEstimates {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// Terminal state → replications; the empty one is "still running".
    pub terminal_states: BTreeMap<&'static str, usize>,
    /// `status.restarts`.
    pub restarts: Option<Estimate>,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: Option<Estimate>,
    /// Of its training job; none without one.
    pub goodput: Option<Estimate>,
    /// The same by other definitions, and where its time went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingEstimates>,
    /// Seconds from the fault until all pods were ready again.
    #[serde(rename = "restartLatency_s")]
    pub restart_latency: LatencyEstimates,
    /// The nth restart over the replications that had one.
    pub each_restart: Vec<RestartEstimates>,
}

/// A training job over the replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrainingEstimates {
    /// Replications in which all of its work was done.
    pub done: usize,
    /// As of one run.
    pub ettr: Option<Estimate>,
    /// As of one run.
    pub job_uptime: Option<Estimate>,
    /// How often it was interrupted.
    pub interruptions: Option<Estimate>,
    /// Seconds by phase.
    #[serde(rename = "time_s")]
    pub time_s: BTreeMap<&'static str, Option<Estimate>>,
}

/// How long its restarts took.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyEstimates {
    /// How many restarts of a replication ended with every pod ready.
    pub count: Option<Estimate>,
    /// The median of a replication.
    pub p50: Option<Estimate>,
    /// The 95th percentile of a replication.
    pub p95: Option<Estimate>,
    /// The longest of a replication.
    pub max: Option<Estimate>,
}

/// One restart over the replications that had it.
#[derive(Clone, Debug, Serialize)]
pub struct RestartEstimates {
    /// 1 for the first.
    pub restart: usize,
    /// Replications in which it ended with every pod ready; the metrics are over these alone.
    pub ended: usize,
    /// Replications in which it did not.
    #[serde(rename = "notEnded")]
    pub not_ended: usize,
    /// Seconds from the fault until all pods were ready again.
    pub total_s: Option<Estimate>,
    /// Phase → seconds; only restarts that ended with every pod ready.
    pub phases_s: BTreeMap<&'static str, Estimate>,
}

/// More restarts than this are not told apart.
const EACH: usize = 20;

impl Replications {
    /// `run` is any run of the scenario, for its names; `all` in the order of the replications.
    pub fn of(run: &RunView<'_>, all: &[Replication]) -> Replications {
        let estimate = |f: &dyn Fn(&Replication) -> f64| Estimate::of(all.iter().map(f).collect());
        let jobsets = (0..run.names.jobsets.len()).map(|i| jobset(run, i, all));
        let categories = run.outcome.ledger.categories().iter().map(|c| c.as_str());
        Replications {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: run.scenario.name.clone(),
            digest: format!("{:016x}", digest(all)),
            seed: run.seed,
            replications: all.len(),
            level: all.first().map_or(Level::Pods, |r| r.level),
            end: End {
                t_s: estimate(&|r| r.end_s),
                reasons: counted(all.iter().map(|r| r.end_reason)),
            },
            job_sets: jobsets.collect(),
            ledger: categories
                .map(|name| {
                    (
                        name,
                        estimate(&|r| r.ledger_s.get(name).copied().unwrap_or(0.0)),
                    )
                })
                .collect(),
            fleet_goodput: Estimate::of(all.iter().filter_map(|r| r.fleet_goodput).collect()),
            cost: Cost {
                currency: run.outcome.ledger.currency.clone(),
                total: estimate(&|r| r.cost),
                by_category: (all
                    .first()
                    .into_iter()
                    .flat_map(|r| r.cost_by_category.keys()))
                .map(|name| {
                    let own = |r: &Replication| r.cost_by_category.get(name).copied();
                    (*name, estimate(&|r| own(r).unwrap_or(0.0)))
                })
                .collect(),
            },
            warnings: warnings(all),
            not_modelled: run.not_modelled.to_vec(),
        }
    }
}

pub(super) fn warnings(all: &[Replication]) -> Vec<String> {
    let own: Vec<&[String]> = all.iter().map(|r| r.warnings.as_slice()).collect();
    warnings_of(&own)
}

/// What replications warned of, in all: sentences that are equal but for their numbers are one.
pub fn warnings_of(all: &[&[String]]) -> Vec<String> {
    // Of each: itself without numbers, the first of its kind, how many replications have one, whether they are equal.
    let mut kinds: Vec<(String, &str, usize, bool)> = Vec::new();
    for own in all {
        let mut seen: Vec<usize> = Vec::new();
        for warning in *own {
            let bare = without_numbers(warning);
            let at = kinds.iter().position(|(known, ..)| *known == bare);
            let at = at.unwrap_or(kinds.len());
            if at == kinds.len() {
                kinds.push((bare, warning, 0, true));
            }
            kinds[at].3 &= kinds[at].1 == warning;
            if !seen.contains(&at) {
                seen.push(at);
                kinds[at].2 += 1;
            }
        }
    }
    let told = |(_, first, n, equal): (String, &str, usize, bool)| {
        let others = if equal { "" } else { ", with other numbers" };
        format!("in {n} of {} replications{others}: {first}", all.len())
    };
    kinds.into_iter().map(told).collect()
}

fn without_numbers(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if bare.ends_with('0') => {}
            '0'..='9' => bare.push('0'),
            c => bare.push(c),
        }
    }
    bare
}

/// Over the digests in order.
pub(super) fn digest(all: &[Replication]) -> u64 {
    fnv::of_words(all.iter().map(|r| r.digest))
}

fn counted(values: impl Iterator<Item = &'static str>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for v in values {
        *counts.entry(v).or_insert(0) += 1;
    }
    counts
}

fn jobset(run: &RunView<'_>, i: usize, all: &[Replication]) -> JobSetEstimates {
    let mine: Vec<&ReplicatedJobSet> = all.iter().filter_map(|r| r.jobsets.get(i)).collect();
    let estimate = |f: &dyn Fn(&ReplicatedJobSet) -> Option<f64>| {
        Estimate::of(mine.iter().filter_map(|j| f(j)).collect())
    };
    let trained = |f: &dyn Fn(&TrainingSummary) -> Option<f64>| {
        estimate(&|j| j.training.as_ref().and_then(f))
    };
    let id = JobSetId(i as u32);
    let most = mine.iter().map(|j| j.each.len()).max().unwrap_or(0);
    let finished = |j: &ReplicatedJobSet| j.each.iter().filter(|r| r.latency().is_some()).count();
    JobSetEstimates {
        name: run.names.jobset(id).to_owned(),
        namespace: run.namespace(id).to_owned(),
        terminal_states: counted(mine.iter().map(|j| j.terminal_state)),
        restarts: estimate(&|j| Some(f64::from(j.restarts))),
        restarts_count_towards_max: estimate(&|j| Some(f64::from(j.restarts_count_towards_max))),
        goodput: trained(&|t| t.goodput),
        training: mine
            .iter()
            .any(|j| j.training.is_some())
            .then(|| TrainingEstimates {
                ettr: trained(&|t| t.ettr),
                job_uptime: trained(&|t| t.job_uptime),
                interruptions: trained(&|t| Some(f64::from(t.interruptions))),
                done: mine
                    .iter()
                    .filter(|j| j.training.as_ref().is_some_and(|t| t.done))
                    .count(),
                time_s: (TrainingPhase::ALL.iter())
                    .map(|p| (p.as_str(), trained(&|t| t.time_s.get(p.as_str()).copied())))
                    .collect(),
            }),
        restart_latency: LatencyEstimates {
            count: estimate(&|j| Some(finished(j) as f64)),
            p50: estimate(&|j| j.latency_p50_s),
            p95: estimate(&|j| j.latency_p95_s),
            max: estimate(&|j| j.latency_max_s),
        },
        each_restart: (0..most.min(EACH)).map(|n| nth_restart(&mine, n)).collect(),
    }
}

fn nth_restart(jobsets: &[&ReplicatedJobSet], n: usize) -> RestartEstimates {
    let nth = || jobsets.iter().filter_map(|j| j.each.get(n));
    let all = nth().count();
    let nth = nth();
    let total_s: Vec<f64> = nth.filter_map(|r| Some(r.latency()?.seconds())).collect();
    // Who has no pods knows of no phases.
    let nth = jobsets.iter().filter_map(|j| j.each.get(n));
    let phases: Vec<_> = nth.filter_map(|r| r.phases.as_ref()).collect();
    let of_phase = |p: &Phase| {
        let seconds: Vec<f64> = phases.iter().map(|d| d[*p as usize].seconds()).collect();
        let happened = seconds.iter().any(|&s| s > 0.0);
        Some((p.as_str(), Estimate::of(seconds).filter(|_| happened)?))
    };
    RestartEstimates {
        restart: n + 1,
        ended: total_s.len(),
        not_ended: all - total_s.len(),
        total_s: Estimate::of(total_s),
        phases_s: Phase::ALL.iter().filter_map(of_phase).collect(),
    }
}
