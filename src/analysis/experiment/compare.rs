//! Variants of a scenario under common random numbers: the metrics of each, and their paired differences.
//!
//! A variant is ranked better only if the interval of the difference excludes zero and it completes at least as many of
//! the common replications. Replications without completed work have no value: they are counted separately, quantiles
//! treat them as the worst value, and means exclude them with a warning.

mod estimate;
mod paired;

pub use estimate::MetricEstimate;
pub use paired::{CompareVerdict, PairedEstimate, is_below_resolution};

use super::metric::{MeasuredMetric, TIME_LIMIT, metrics, unnamed};
use super::outcome::{OutcomeCounts, ReplicationOutcome};
use super::replication::ReplicationResult;
use super::replications::digest;
use super::warned::warnings;
use serde::{Serialize, Serializer};
use sim_api::spec::ModelLevel;
use sim_base::stats::any_pair_error;
use std::collections::BTreeMap;

/// Schema name of [`VariantComparison`].
pub const COMPARE_SCHEMA: &str = "jobset-sim/compare/v1";

/// A simulated variant.
#[derive(Clone, Debug)]
pub struct SimulatedVariant {
    /// Name of the variant.
    pub name: String,
    /// Changes relative to the scenario.
    pub changes: Vec<VariantChange>,
    /// Names of its JobSets.
    pub jobsets: Vec<String>,
    /// Currency of its costs; empty for a Fleet, whose costs are node-hours or have no named currency.
    pub currency: String,
    /// Replications in the order of their numbers.
    pub replications: Vec<ReplicationResult>,
}

/// One field that a variant changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariantChange {
    /// Path of the field.
    pub path: String,
    /// Value as written in a file.
    pub value: String,
    /// The reason, if the change was made automatically.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
}

/// `summary.json` of a comparison.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantComparison {
    /// Name and version of the output schema.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Level of detail; `Nodes` if any variant uses it. Not used for a Fleet.
    #[serde(skip_serializing_if = "is_pods")]
    pub level: ModelLevel,
    /// Currency of all costs; empty if the variants have several or none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub currency: String,
    /// Names of the JobSets of all variants.
    #[serde(skip)]
    pub jobsets: Vec<String>,
    /// The variants; the scenario itself is first.
    pub variants: Vec<VariantEstimates>,
    /// All pairs of variants and metrics, as "b − a".
    pub paired: Vec<PairedEstimate>,
    /// Number of pairs whose intervals are not corrected for it; only present with more than two variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiplicity: Option<PairMultiplicity>,
    /// Whether a signal ended the command before all replications were finished; only present then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Warnings of all variants' runs; warnings that differ only in numbers are merged.
    pub warnings: Vec<String>,
    /// Names of all metrics, in the order of reports.
    pub metrics: Vec<String>,
    /// Pairs of variants whose unfinished runs have different time limits, so that sums over time do not rank them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unequal_times: Vec<[String; 2]>,
}

/// The number of comparisons of a metric, whose intervals are not corrected for it.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairMultiplicity {
    /// Number of pairs.
    pub pairs: usize,
    /// Probability that at least one pair differs significantly in a metric if all are equal in the mean.
    pub any_false: f64,
}

impl PairMultiplicity {
    /// Returns the number of pairs of variants or points; `None` for a single pair.
    pub fn of_choices(n: usize) -> Option<PairMultiplicity> {
        (n > 2).then(|| PairMultiplicity { pairs: n * (n - 1) / 2, any_false: any_pair_error(n) })
    }
}

/// Estimates of one variant over its replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantEstimates {
    /// Name of the variant.
    pub name: String,
    /// Changes relative to the scenario.
    pub changes: Vec<VariantChange>,
    /// Number of replications.
    pub replications: usize,
    /// Hash over the digests of all replications, in order.
    #[serde(serialize_with = "hexadecimal")]
    pub digest: u64,
    /// Outcome → number of replications.
    pub outcomes: OutcomeCounts,
    /// End reason → number of replications.
    pub end_reasons: BTreeMap<&'static str, usize>,
    /// Number of replications in which a JobSet fails or is blocked, by its name; empty for a Fleet.
    #[serde(skip)]
    pub ended_jobsets: BTreeMap<(ReplicationOutcome, String), usize>,
    /// Metric → estimate.
    pub metrics: BTreeMap<String, MetricEstimate>,
}

fn hexadecimal<S: Serializer>(digest: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{digest:016x}"))
}

fn is_pods(level: &ModelLevel) -> bool {
    *level == ModelLevel::Pods
}

/// Returns the pairs of variants with a common replication that time limits end at different times.
fn unequal_times(variants: &[SimulatedVariant]) -> Vec<[String; 2]> {
    let ends = |variant: &SimulatedVariant| -> BTreeMap<u64, f64> {
        let open = variant.replications.iter().filter(|r| r.end_reason == TIME_LIMIT);
        open.map(|r| (r.replication, r.end_s)).collect()
    };
    let all: Vec<(&String, BTreeMap<u64, f64>)> = variants.iter().map(|v| (&v.name, ends(v))).collect();
    let mut pairs = Vec::new();
    for (i, (a, first)) in all.iter().enumerate() {
        for (b, second) in &all[i + 1..] {
            if first.iter().any(|(replication, end)| second.get(replication).is_some_and(|other| other != end)) {
                pairs.push([(*a).clone(), (*b).clone()]);
            }
        }
    }
    pairs
}

/// Returns the level that all variants share, otherwise level `nodes`.
fn level(variants: &[SimulatedVariant]) -> ModelLevel {
    let mut all = variants.iter().flat_map(|v| &v.replications);
    if all.any(|r| r.level == ModelLevel::Nodes && r.outputs.is_empty()) { ModelLevel::Nodes } else { ModelLevel::Pods }
}

/// Returns the currency that all variants share, otherwise an empty text.
fn currency(variants: &[SimulatedVariant]) -> String {
    let first = variants.first().map_or("", |variant| variant.currency.as_str());
    if variants.iter().all(|variant| variant.currency == first) { first.to_owned() } else { String::new() }
}

impl VariantComparison {
    /// Compares variants simulated under one seed. The first variant is the scenario itself.
    pub fn from_variants((scenario, seed): (&str, u64), simulated_variants: &[SimulatedVariant]) -> VariantComparison {
        let tables: Vec<ComparisonTable> = simulated_variants.iter().map(ComparisonTable::from_variant).collect();
        let mut names: Vec<String> = Vec::new();
        for name in tables.iter().flat_map(|t| &t.names) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut paired = Vec::new();
        for (i, a) in tables.iter().enumerate() {
            for b in &tables[i + 1..] {
                paired.extend(names.iter().filter_map(|metric| paired::pair(a, b, metric)));
            }
        }
        let mut jobsets: Vec<String> = Vec::new();
        for name in simulated_variants.iter().flat_map(|variant| &variant.jobsets) {
            if !jobsets.contains(name) {
                jobsets.push(name.clone());
            }
        }
        let warned = |v: &SimulatedVariant| {
            let of = |w: String| format!("{}: {w}", v.name);
            warnings(&v.replications).into_iter().map(of).collect::<Vec<_>>()
        };
        VariantComparison {
            schema: COMPARE_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.to_owned(),
            seed,
            level: level(simulated_variants),
            currency: currency(simulated_variants),
            jobsets,
            variants: tables.iter().map(ComparisonTable::estimates).collect(),
            paired,
            multiplicity: PairMultiplicity::of_choices(tables.len()),
            interrupted: false,
            warnings: simulated_variants.iter().flat_map(warned).collect(),
            metrics: names,
            unequal_times: unequal_times(simulated_variants),
        }
    }

    /// Returns the comparison of two variants in a metric.
    pub fn pair(&self, a: &str, b: &str, metric: &str) -> Option<&PairedEstimate> {
        let mut all = self.paired.iter();
        all.find(|p| p.a == a && p.b == b && p.metric == metric)
    }
}

/// Values of a variant by metric and replication.
struct ComparisonTable<'a> {
    variant: &'a SimulatedVariant,
    names: Vec<String>,
    columns: Vec<Vec<MeasuredMetric>>,
}

impl<'a> ComparisonTable<'a> {
    fn from_variant(variant: &'a SimulatedVariant) -> ComparisonTable<'a> {
        let mut names: Vec<String> = Vec::new();
        let mut columns: Vec<Vec<MeasuredMetric>> = Vec::new();
        for (row, replication) in variant.replications.iter().enumerate() {
            for (name, measured) in metrics(replication, &variant.jobsets) {
                let at = names.iter().position(|known| *known == name);
                let at = at.unwrap_or_else(|| {
                    let before = variant.replications[..row].iter();
                    columns.push(before.map(|r| unnamed(&name, r)).collect());
                    names.push(name);
                    columns.len() - 1
                });
                columns[at].push(measured);
            }
            let short = names.iter().zip(&mut columns);
            for (name, column) in short.filter(|(_, column)| column.len() == row) {
                column.push(unnamed(name, replication));
            }
        }
        ComparisonTable { variant, names, columns }
    }

    fn column(&self, metric: &str) -> Option<&[MeasuredMetric]> {
        let at = self.names.iter().position(|name| name == metric)?;
        Some(&self.columns[at])
    }

    fn estimates(&self) -> VariantEstimates {
        let variant = self.variant;
        let mut end_reasons = BTreeMap::new();
        for replication in &variant.replications {
            *end_reasons.entry(replication.end_reason).or_insert(0) += 1;
        }
        let mut ended_jobsets = BTreeMap::new();
        for replication in &variant.replications {
            for (jobset, name) in replication.jobsets.iter().zip(&variant.jobsets) {
                if let Some(outcome) = replication.ending_of(jobset) {
                    *ended_jobsets.entry((outcome, name.clone())).or_insert(0) += 1;
                }
            }
        }
        let columns = self.names.iter().cloned().zip(&self.columns);
        VariantEstimates {
            ended_jobsets,
            name: variant.name.clone(),
            changes: variant.changes.clone(),
            replications: variant.replications.len(),
            digest: digest(&variant.replications),
            outcomes: OutcomeCounts::new(variant.replications.iter().map(ReplicationResult::outcome)),
            end_reasons,
            metrics: columns
                .map(|(name, column)| {
                    let estimate = MetricEstimate::from_column(&name, column);
                    (name, estimate)
                })
                .collect(),
        }
    }
}
