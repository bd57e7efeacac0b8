//! Replications of a fleet: every output with its mean, confidence interval and quantiles.

use super::compare::MetricEstimate;
use super::metric::{MeasuredMetric, measured_output, metric_mean};
use super::outcome::OutcomeCounts;
use super::parallel::{NoRuns, in_parallel_with};
use super::replication::ReplicationResult;
use super::stop::ReplicationLimits;
use super::warned::fleet_heavy_tails;
use serde::Serialize;
use sim_api::spec::FleetSpec;
use sim_base::fnv;
use sim_base::stats::MeanEstimate;
use sim_surrogate::fleet::{FleetOutcome, FleetSimulation, TimeCategory};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Schema name of [`FleetReplications`].
pub const SCHEMA: &str = "jobset-sim/fleet/v1";

/// Runs replications; `done` receives the number of completed ones. Those stopped by `limits` are omitted.
pub fn replicate_fleet(
    fleet: &FleetSpec, (seed, which): (u64, Range<u64>), (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<FleetOutcome>, NoRuns> {
    let (from, n) = (which.start, which.end.saturating_sub(which.start));
    let finished = AtomicU64::new(0);
    let make = || Ok(FleetSimulation::new(fleet));
    let stops = |events| limits.is_reached(events);
    in_parallel_with(make, (n, threads), &limits.flag, |simulation, i| {
        let outcome = simulation.run_until((seed, from + i), &stops)?;
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        Some(outcome)
    })
}

/// Converts a replication for `compare`, with every output and the node time by category.
pub fn compared(outcome: &FleetOutcome, replication: u64) -> ReplicationResult {
    let hours = |c: TimeCategory| outcome.books.node_ns(c) as f64 / 3.6e12;
    let nodes = TimeCategory::ALL.map(|c| (format!("nodeHours.{}_h", c.as_str()), hours(c)));
    ReplicationResult {
        level: sim_api::spec::ModelLevel::Nodes,
        replication,
        digest: outcome.digest,
        end_s: outcome.end.seconds(),
        end_reason: outcome.why.as_str(),
        jobsets: Vec::new(),
        ledger_s: BTreeMap::new(),
        fleet_goodput: None,
        cost: 0.0,
        cost_by_category: BTreeMap::new(),
        outputs: outcome.outputs.iter().map(|(name, v)| (name.to_owned(), v)).chain(nodes).collect(),
        warnings: Vec::new(),
        never_placed: None,
    }
}

/// `summary.json` of a fleet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetReplications {
    /// Name and version of the output schema.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the fleet.
    pub scenario: String,
    /// Description in the file, such as its assumptions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Hash over the digests of all replications in order.
    pub digest: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of replications.
    pub replications: usize,
    /// Outcome → number of replications.
    pub outcomes: OutcomeCounts,
    /// End reason of the job → number of replications.
    pub ends: BTreeMap<&'static str, usize>,
    /// Parameter values by name, as written in the file or overridden.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// Estimates by output name; names in hours have the suffix `_h`.
    pub outputs: serde_json::Map<String, serde_json::Value>,
    /// Node-hours by category; their sum is the number of nodes × time.
    #[serde(rename = "nodeHours")]
    pub node_hours: BTreeMap<&'static str, Option<MeanEstimate>>,
    /// Whether a signal ended the command before all replications were finished; only present then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Limitations of the results.
    pub warnings: Vec<String>,
    /// Estimates in the order of the text output.
    #[serde(skip)]
    pub rows: Vec<(String, MetricEstimate)>,
}

impl FleetReplications {
    /// Aggregates replications. `all` contains the outcomes in the order of the replications.
    pub fn from_replications(
        (fleet, parameters): (&FleetSpec, &[(String, serde_json::Value)]), seed: u64, all: &[FleetOutcome],
    ) -> FleetReplications {
        let outcomes = OutcomeCounts::new(all.iter().map(|o| o.why.into()));
        let mut ends = BTreeMap::new();
        for outcome in all {
            *ends.entry(outcome.why.as_str()).or_insert(0) += 1;
        }
        let names = all.first().map_or(&[][..], |o| o.outputs.names());
        let estimate = |k: usize, name: &str| {
            let column: Vec<MeasuredMetric> =
                all.iter().map(|o| measured_output((name, o.outputs.values()[k]), o.why.into())).collect();
            MetricEstimate::from_column(name, &column)
        };
        let rows: Vec<(String, MetricEstimate)> =
            names.iter().enumerate().map(|(k, name)| (name.clone(), estimate(k, name))).collect();
        let failures = all.iter().filter_map(|o| o.outputs.get("failures")).sum();
        let heavy_tails = if all.len() > 1 { fleet_heavy_tails(fleet, failures) } else { Vec::new() };
        let json = |e: &MetricEstimate| serde_json::json!({"mean": e.mean, "ci95": e.ci95, "p10": e.p10, "p50": e.p50, "p90": e.p90, "n": e.n});
        let known = rows.iter().filter(|(_, e)| e.n > 0);
        let hours = |c: TimeCategory| all.iter().map(move |o| o.books.node_ns(c) as f64 / 3.6e12);
        FleetReplications {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: fleet.name.clone(),
            description: fleet.description.clone(),
            digest: format!("{:016x}", digest(all)),
            seed,
            replications: all.len(),
            interrupted: false,
            warnings: [fleet.contradictions(), warnings(&ends, all.len()), heavy_tails].concat(),
            ends,
            outcomes,
            parameters: parameters.iter().cloned().collect(),
            outputs: known.map(|(name, e)| (name.clone(), json(e))).collect(),
            node_hours: TimeCategory::ALL.map(|c| (c.as_str(), metric_mean("nodeHours", hours(c).collect()))).into(),
            rows,
        }
    }
}

fn warnings(ends: &BTreeMap<&'static str, usize>, n: usize) -> Vec<String> {
    let ended = ends.get("Completed").copied().unwrap_or(0);
    let mut all = Vec::new();
    if ended < n {
        let others: Vec<String> =
            ends.iter().filter(|(why, _)| **why != "Completed").map(|(why, n)| format!("{why} {n}")).collect();
        all.push(format!(
            "{} of {n} replications did not complete their work ({}): the mean of training_time_h is that of the others, and \
             its quantiles count them as the longest times",
            n - ended,
            others.join(", ")
        ));
    }
    if n == 1 {
        all.push("no confidence interval with one replication: add --seeds N".to_owned());
    }
    all
}

fn digest(all: &[FleetOutcome]) -> u64 {
    fnv::fnv1a_words(all.iter().map(|o| o.digest))
}
