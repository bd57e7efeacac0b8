//! Replications of one scenario: every metric with its mean, confidence interval and quantiles.

use super::compare::MetricEstimate;
use super::metric::{MeasuredMetric, metric_mean, metrics, unnamed};
use super::outcome::{OutcomeCounts, ReplicationOutcome};
use super::replication::{EACH, ReplicatedJobSet, ReplicationResult};
use super::warned::{scenario_heavy_tails, warnings};
use crate::metrics::{Phase, RunView};
use crate::{metrics::summary::SCHEMA, metrics::training::TrainingSummary};
use serde::Serialize;
use sim_api::spec::ModelLevel;
use sim_base::stats::MeanEstimate;
use sim_base::{JobSetId, fnv};
use sim_engine::record::TrainingPhase;
use std::collections::BTreeMap;

/// `summary.json` of several replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicationSet {
    /// Name and version of the output schema.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// Hash over the digests of all replications, in order.
    pub digest: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of replications.
    pub replications: usize,
    /// Level of detail.
    pub level: ModelLevel,
    /// Outcome → number of replications.
    pub outcomes: OutcomeCounts,
    /// Estimates by metric, with the names that `compare` uses.
    pub metrics: BTreeMap<String, MetricEstimate>,
    /// Times and reasons of the ends.
    pub end: ReplicationEnd,
    /// JobSets in the order of the scenario.
    pub job_sets: Vec<JobSetEstimates>,
    /// Accelerator-seconds per category.
    pub ledger: BTreeMap<&'static str, Option<MeanEstimate>>,
    /// Productive steps ÷ installed accelerator-time; if JobSets train.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet_goodput: Option<MeanEstimate>,
    /// Cost of the accelerators.
    pub cost: WorkCost,
    /// Whether a signal ended the command before all replications were finished; only present then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Warnings of the runs, with the number of replications; warnings that differ only in numbers are merged.
    pub warnings: Vec<String>,
    /// Fields of the inputs that the API accepts but the model ignores.
    pub not_modelled: Vec<String>,
}

/// How the replications ended.
#[derive(Clone, Debug, Serialize)]
pub struct ReplicationEnd {
    /// End in seconds of virtual time.
    pub t_s: Option<MeanEstimate>,
    /// End reason → number of replications.
    pub reasons: BTreeMap<&'static str, usize>,
}

/// Cost over the replications.
#[derive(Clone, Debug, Serialize)]
pub struct WorkCost {
    /// Currency of the topology.
    pub currency: String,
    /// Total over all categories of the ledger.
    pub total: Option<MeanEstimate>,
    /// Cost per category.
    #[serde(rename = "byCategory")]
    pub by_category: BTreeMap<&'static str, Option<MeanEstimate>>,
}

/// Estimates of one JobSet over the replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetEstimates {
    /// The field `metadata.name`.
    pub name: String,
    /// The field `metadata.namespace`.
    pub namespace: String,
    /// Terminal state → number of replications; the empty state means unfinished.
    pub terminal_states: BTreeMap<&'static str, usize>,
    /// Number of restarts of every kind that were ordered: of the whole JobSet, of single Jobs, and in place.
    pub restarts: Option<MeanEstimate>,
    /// Number of intervals from a fault or an eviction until every pod was ready again.
    pub recoveries: Option<MeanEstimate>,
    /// The use of `maxRestarts` as the controller compares it with the limit.
    pub restart_budget_used: Option<MeanEstimate>,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: Option<MeanEstimate>,
    /// Goodput of its training job, if any.
    pub goodput: Option<MeanEstimate>,
    /// Further estimates of the training job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingEstimates>,
    /// Seconds from the fault until all pods were ready again.
    #[serde(rename = "restartLatency_s")]
    pub restart_latency: LatencyEstimates,
    /// The nth restart, over the replications that had one.
    pub each_restart: Vec<RestartEstimates>,
}

/// Estimates of a training job over the replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrainingEstimates {
    /// Number of replications that completed all work.
    pub done: usize,
    /// Effective training time ratio, defined as for a single run.
    pub ettr: Option<MeanEstimate>,
    /// Job uptime, defined as for a single run.
    pub job_uptime: Option<MeanEstimate>,
    /// Number of interruptions.
    pub interruptions: Option<MeanEstimate>,
    /// Seconds by phase.
    #[serde(rename = "time_s")]
    pub time_s: BTreeMap<&'static str, Option<MeanEstimate>>,
}

/// Restart durations over the replications.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyEstimates {
    /// Number of restarts of a replication that ended with all pods ready.
    pub count: Option<MeanEstimate>,
    /// Median of a replication.
    pub p50: Option<MeanEstimate>,
    /// 95th percentile of a replication.
    pub p95: Option<MeanEstimate>,
    /// Longest restart of a replication.
    pub max: Option<MeanEstimate>,
}

/// Estimates of one restart over the replications that had it.
#[derive(Clone, Debug, Serialize)]
pub struct RestartEstimates {
    /// Number of the restart, from 1.
    pub restart: usize,
    /// Number of replications in which it ended with all pods ready; the metrics include only these.
    pub ended: usize,
    /// Number of replications in which it did not.
    #[serde(rename = "notEnded")]
    pub not_ended: usize,
    /// Seconds from the fault until all pods were ready again.
    pub total_s: Option<MeanEstimate>,
    /// Phase → seconds, for restarts that ended with all pods ready.
    pub phases_s: BTreeMap<&'static str, MeanEstimate>,
}

impl ReplicationSet {
    /// `run` is any run of the scenario, for its names; `all` contains the replications in order.
    pub fn from_results(run: &RunView<'_>, all: &[ReplicationResult]) -> ReplicationSet {
        let estimate = |f: &dyn Fn(&ReplicationResult) -> f64| metric_mean("", all.iter().map(f).collect());
        // As the metrics: runs that are cut off have less time and cost than whole ones.
        let total = |f: &dyn Fn(&ReplicationResult) -> f64| {
            metric_mean("", all.iter().filter(|r| r.has_totals()).map(f).collect())
        };
        let names: Vec<String> =
            (0..run.names.jobsets.len()).map(|i| run.names.jobset(JobSetId(i as u32)).to_owned()).collect();
        let jobsets = (0..run.names.jobsets.len()).map(|i| jobset(run, i, all));
        let categories = run.outcome.ledger.categories().iter().map(|c| c.as_str());
        ReplicationSet {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: run.scenario.name.clone(),
            digest: format!("{:016x}", digest(all)),
            seed: run.seed,
            replications: all.len(),
            level: all.first().map_or(ModelLevel::Pods, |r| r.level),
            outcomes: OutcomeCounts::new(all.iter().map(ReplicationResult::outcome)),
            metrics: metric_estimates(&names, all),
            end: ReplicationEnd { t_s: estimate(&|r| r.end_s), reasons: counted(all.iter().map(|r| r.end_reason)) },
            job_sets: jobsets.collect(),
            ledger: categories.map(|name| (name, total(&|r| r.ledger_s.get(name).copied().unwrap_or(0.0)))).collect(),
            fleet_goodput: metric_mean(
                "goodput.fleet",
                all.iter()
                    .filter(|r| r.outcome() != ReplicationOutcome::Blocked)
                    .filter_map(|r| r.fleet_goodput)
                    .collect(),
            ),
            cost: WorkCost {
                currency: run.outcome.ledger.currency.clone(),
                total: total(&|r| r.cost),
                by_category: (all.first().into_iter().flat_map(|r| r.cost_by_category.keys()))
                    .map(|name| {
                        let own = |r: &ReplicationResult| r.cost_by_category.get(name).copied();
                        (*name, total(&|r| own(r).unwrap_or(0.0)))
                    })
                    .collect(),
            },
            interrupted: false,
            warnings: [warnings(all), scenario_heavy_tails(run.scenario, all)].concat(),
            not_modelled: run.not_modelled.to_vec(),
        }
    }
}

/// Returns the estimate of each metric over the replications.
fn metric_estimates(jobsets: &[String], all: &[ReplicationResult]) -> BTreeMap<String, MetricEstimate> {
    let mut columns: BTreeMap<String, Vec<MeasuredMetric>> = BTreeMap::new();
    let rows: Vec<_> = all.iter().map(|r| metrics(r, jobsets)).collect();
    for (name, _) in rows.iter().flatten() {
        if columns.contains_key(name) {
            continue;
        }
        let value = |(row, r): (&Vec<(String, MeasuredMetric)>, &ReplicationResult)| {
            let mut own = row.iter().filter(|(known, _)| known == name);
            own.next().map_or_else(|| unnamed(name, r), |(_, m)| *m)
        };
        columns.insert(name.clone(), rows.iter().zip(all).map(value).collect());
    }
    let estimate = |(name, column): (String, Vec<MeasuredMetric>)| {
        let estimate = MetricEstimate::from_column(&name, &column);
        (name, estimate)
    };
    columns.into_iter().map(estimate).collect()
}

/// Hash over the digests in order.
pub(super) fn digest(all: &[ReplicationResult]) -> u64 {
    fnv::fnv1a_words(all.iter().map(|r| r.digest))
}

fn counted(values: impl Iterator<Item = &'static str>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for v in values {
        *counts.entry(v).or_insert(0) += 1;
    }
    counts
}

fn jobset(run: &RunView<'_>, i: usize, all: &[ReplicationResult]) -> JobSetEstimates {
    let mine: Vec<&ReplicatedJobSet> = all.iter().filter_map(|r| r.jobsets.get(i)).collect();
    let estimate =
        |f: &dyn Fn(&ReplicatedJobSet) -> Option<f64>| metric_mean("", mine.iter().filter_map(|j| f(j)).collect());
    let trained = |f: &dyn Fn(&TrainingSummary) -> Option<f64>| estimate(&|j| j.training.as_ref().and_then(f));
    // Ratios of a failed or blocked replication end with the failure, so they say nothing about the job.
    let has_ratio =
        |r: &&ReplicationResult| !matches!(r.outcome(), ReplicationOutcome::Failed | ReplicationOutcome::Blocked);
    let ratio = |f: &dyn Fn(&TrainingSummary) -> Option<f64>| {
        let own = all.iter().filter(has_ratio).filter_map(|r| r.jobsets.get(i));
        //  All ratios are shares of a time.
        metric_mean("goodput", own.filter_map(|j| f(j.training.as_ref()?)).collect())
    };
    let id = JobSetId(i as u32);
    let most = mine.iter().map(|j| j.each.len()).max().unwrap_or(0);
    let finished = |j: &ReplicatedJobSet| j.each.iter().filter(|r| r.latency().is_some()).count();
    JobSetEstimates {
        name: run.names.jobset(id).to_owned(),
        namespace: run.namespace(id).to_owned(),
        terminal_states: counted(mine.iter().map(|j| j.terminal_state)),
        restarts: estimate(&|j| Some(f64::from(j.all_restarts))),
        recoveries: estimate(&|j| Some(j.each.len() as f64)),
        restart_budget_used: estimate(&|j| Some(f64::from(j.restart_budget_used))),
        restarts_count_towards_max: estimate(&|j| Some(f64::from(j.restarts_count_towards_max))),
        goodput: ratio(&|t| t.goodput),
        training: mine.iter().any(|j| j.training.is_some()).then(|| TrainingEstimates {
            ettr: ratio(&|t| t.ettr),
            job_uptime: ratio(&|t| t.job_uptime),
            interruptions: trained(&|t| Some(f64::from(t.interruptions))),
            done: mine.iter().filter(|j| j.training.as_ref().is_some_and(|t| t.done)).count(),
            time_s: (TrainingPhase::ALL.iter())
                .map(|p| (p.as_str(), trained(&|t| t.time_s.get(p.as_str()).copied())))
                .collect(),
        }),
        restart_latency: LatencyEstimates {
            count: estimate(&|j| Some(finished(j) as f64)),
            p50: estimate(&|j| j.latency_quantile(0.5).seconds()),
            p95: estimate(&|j| j.latency_quantile(0.95).seconds()),
            max: estimate(&|j| j.latency_quantile(1.0).seconds()),
        },
        each_restart: (0..most.min(EACH)).map(|n| nth_restart(&mine, n)).collect(),
    }
}

fn nth_restart(jobsets: &[&ReplicatedJobSet], n: usize) -> RestartEstimates {
    let nth = || jobsets.iter().filter_map(|j| j.each.get(n));
    let all = nth().count();
    let nth = nth();
    let total_s: Vec<f64> = nth.filter_map(|r| Some(r.latency()?.seconds())).collect();
    // Models without pods have no phases.
    let nth = jobsets.iter().filter_map(|j| j.each.get(n));
    let phases: Vec<_> = nth.filter_map(|r| r.phases.as_ref()).collect();
    let of_phase = |p: &Phase| {
        let seconds: Vec<f64> = phases.iter().map(|d| d[*p as usize].seconds()).collect();
        let happened = seconds.iter().any(|&s| s > 0.0);
        Some((p.as_str(), metric_mean("", seconds).filter(|_| happened)?))
    };
    RestartEstimates {
        restart: n + 1,
        ended: total_s.len(),
        not_ended: all - total_s.len(),
        total_s: metric_mean("", total_s),
        phases_s: Phase::ALL.iter().filter_map(of_phase).collect(),
    }
}
