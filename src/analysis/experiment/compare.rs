//! Variants of a scenario under common random numbers: the metrics of each, and their paired differences.
//!
//! A variant is ranked better only if the interval of the difference excludes zero and it completes at least as many of
//! the common replications. Replications without completed work have no value: they are counted separately, quantiles
//! treat them as the worst value, and means exclude them with a warning.

use super::metric::{BetterDirection, MeasuredMetric, better, metrics, unnamed};
use super::outcome::{OutcomeCounts, ReplicationOutcome};
use super::replication::ReplicationResult;
use super::replications::digest;
use super::warned::warnings;
use serde::{Serialize, Serializer};
use sim_api::spec::ModelLevel;
use sim_base::stats::{
    MeanEstimate, PairedDifference, StatisticalWarning, quantile, quantile_interval, sign_test,
    sorted, statistical_warnings, wilcoxon,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Schema name of [`VariantComparison`].
pub const COMPARE_SCHEMA: &str = "jobset-sim/compare/v1";

/// A simulated variant.
#[derive(Clone, Debug)]
pub struct PlayedVariant {
    /// Name of the variant.
    pub name: String,
    /// Changes relative to the scenario.
    pub changes: Vec<VariantChange>,
    /// Names of its JobSets.
    pub jobsets: Vec<String>,
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
    /// Level of detail; `reduced` if any variant uses the reduced model. Not used for a Fleet.
    #[serde(skip_serializing_if = "is_pods")]
    pub level: ModelLevel,
    /// The variants; the scenario itself is first.
    pub variants: Vec<VariantEstimates>,
    /// All pairs of variants and metrics, as "b − a".
    pub paired: Vec<PairedEstimate>,
    /// Warnings of all variants' runs; warnings that differ only in numbers are merged.
    pub warnings: Vec<String>,
    /// Names of all metrics, in the order of reports.
    pub metrics: Vec<String>,
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
    /// Metric → estimate.
    pub metrics: BTreeMap<String, MetricEstimate>,
}

fn hexadecimal<S: Serializer>(digest: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{digest:016x}"))
}

/// Estimate of one metric of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricEstimate {
    /// Arithmetic mean; null if there are no values, as for the fields below.
    pub mean: Option<f64>,
    /// 95 % confidence interval of the mean by Student's t.
    pub ci95: Option<[f64; 2]>,
    /// The 10th percentile.
    pub p10: Option<f64>,
    /// Median of the values.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// Number of replications with a value.
    pub n: usize,
    /// Distribution-free 95 % confidence intervals of the three quantiles; null for bounds that require more values.
    #[serde(rename = "quantiles_ci95")]
    pub quantile_intervals: [[Option<f64>; 2]; 3],
    /// Number of replications in which a JobSet failed before the metric was defined.
    pub failed: usize,
    /// Number of replications that were blocked before the metric was defined.
    pub blocked: usize,
    /// Number of replications whose time limit came before the metric was defined.
    pub censored: usize,
    /// Number of replications in which the metric does not exist.
    pub absent: usize,
    /// Reasons why the estimate is unreliable.
    pub weaknesses: Vec<StatisticalWarning>,
}

/// Comparison of two variants in one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairedEstimate {
    /// The first variant.
    pub a: String,
    /// The second variant.
    pub b: String,
    /// Name of the metric.
    pub metric: String,
    /// Mean, interval and standard deviation of "b − a" over the replications in which both have a value.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The better variant, if the interval excludes zero.
    pub verdict: CompareVerdict,
    /// Whether lower or higher values are better.
    pub better: BetterDirection,
    /// Approximate number of pairs required to separate a difference of this mean; null if it is already separated,
    /// or no reasonable number suffices.
    pub needed: Option<usize>,
    /// Number of replications in which only one of them has a value.
    pub unpaired: usize,
    /// Numbers of common replications that `a` and `b` completed; null if they are equal.
    pub completed: Option<[usize; 2]>,
    /// p-value of the sign test.
    pub sign_p: f64,
    /// p-value of Wilcoxon's test; null if all differences are 0.
    pub wilcoxon_p: Option<f64>,
}

/// The better of two variants.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CompareVerdict {
    /// The first variant is better.
    A,
    /// The second variant is better.
    B,
    /// The interval contains zero.
    Inconclusive,
    /// The difference is below the resolution of the metric.
    NoDifference,
    /// The variant with the better value completes fewer of the common replications, so it is not better.
    CompletesLess,
}

fn is_pods(level: &ModelLevel) -> bool {
    *level == ModelLevel::Pods
}

/// Returns the level that all variants share, otherwise the reduced one.
fn level(played: &[PlayedVariant]) -> ModelLevel {
    let mut all = played.iter().flat_map(|v| &v.replications);
    if all.any(|r| r.level == ModelLevel::Reduced && r.outputs.is_empty()) {
        ModelLevel::Reduced
    } else {
        ModelLevel::Pods
    }
}

impl VariantComparison {
    /// Compares variants simulated under one seed. The first variant is the scenario itself.
    pub fn from_variants(
        (scenario, seed): (&str, u64),
        played: &[PlayedVariant],
    ) -> VariantComparison {
        let tables: Vec<ComparisonTable> =
            played.iter().map(ComparisonTable::from_variant).collect();
        let mut names: Vec<String> = Vec::new();
        for name in tables.iter().flat_map(|t| &t.names) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut paired = Vec::new();
        for (i, a) in tables.iter().enumerate() {
            for b in &tables[i + 1..] {
                paired.extend(names.iter().filter_map(|metric| pair(a, b, metric)));
            }
        }
        let warned = |v: &PlayedVariant| {
            let of = |w: String| format!("{}: {w}", v.name);
            warnings(&v.replications)
                .into_iter()
                .map(of)
                .collect::<Vec<_>>()
        };
        VariantComparison {
            schema: COMPARE_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.to_owned(),
            seed,
            level: level(played),
            variants: tables.iter().map(ComparisonTable::estimates).collect(),
            paired,
            warnings: played.iter().flat_map(warned).collect(),
            metrics: names,
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
    variant: &'a PlayedVariant,
    names: Vec<String>,
    columns: Vec<Vec<MeasuredMetric>>,
}

impl<'a> ComparisonTable<'a> {
    fn from_variant(variant: &'a PlayedVariant) -> ComparisonTable<'a> {
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
        ComparisonTable {
            variant,
            names,
            columns,
        }
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
        let columns = self.names.iter().cloned().zip(&self.columns);
        VariantEstimates {
            name: variant.name.clone(),
            changes: variant.changes.clone(),
            replications: variant.replications.len(),
            digest: digest(&variant.replications),
            outcomes: OutcomeCounts::new(
                variant.replications.iter().map(ReplicationResult::outcome),
            ),
            end_reasons,
            metrics: columns
                .map(|(name, column)| {
                    let estimate = MetricEstimate::from_column(column, better(&name));
                    (name, estimate)
                })
                .collect(),
        }
    }
}

impl MetricEstimate {
    /// Computes the estimate from one value per replication. Quantiles treat replications without completed work as
    /// the worst value and are unknown if they are among these.
    pub fn from_column(column: &[MeasuredMetric], better: BetterDirection) -> MetricEstimate {
        let count = |what: MeasuredMetric| column.iter().filter(|m| **m == what).count();
        let failed = count(MeasuredMetric::Failed);
        let blocked = count(MeasuredMetric::Blocked);
        let censored = count(MeasuredMetric::Censored);
        let values: Vec<f64> = column.iter().filter_map(|m| m.value()).collect();
        let mut weaknesses = if values.is_empty() {
            Vec::new()
        } else {
            statistical_warnings(&values)
        };
        if failed + blocked + censored > 0 {
            weaknesses.push(StatisticalWarning::Excluded {
                failed,
                blocked,
                censored,
                of: column.len(),
            });
        }
        let worst = match better {
            BetterDirection::Lower => f64::INFINITY,
            BetterDirection::Higher => f64::NEG_INFINITY,
        };
        let ranked = column.iter().filter_map(|m| match m {
            MeasuredMetric::Value(value) => Some(*value),
            m => m.is_worst().then_some(worst),
        });
        let ranked = sorted(ranked.collect());
        let known = |v: Option<f64>| v.filter(|v| v.is_finite());
        let quantiles = [0.1, 0.5, 0.9].map(|p| known(quantile(&ranked, p)));
        let n = values.len();
        let estimate = MeanEstimate::from_values(values);
        MetricEstimate {
            mean: estimate.map(|e| e.mean),
            ci95: estimate.map(|e| e.ci95),
            p10: quantiles[0],
            p50: quantiles[1],
            p90: quantiles[2],
            n,
            quantile_intervals: [0.1, 0.5, 0.9]
                .map(|p| quantile_interval(&ranked, p, 0.95).map(known)),
            failed,
            blocked,
            censored,
            absent: count(MeasuredMetric::Absent),
            weaknesses,
        }
    }

    /// Returns the number of replications without completed work, which are not in the mean.
    pub fn excluded(&self) -> usize {
        self.failed + self.blocked + self.censored
    }
}

fn pair(a: &ComparisonTable, b: &ComparisonTable, metric: &str) -> Option<PairedEstimate> {
    let (first, second) = (a.column(metric)?, b.column(metric)?);
    let (mut pairs, mut unpaired, mut completed) = (Vec::new(), 0, [0, 0]);
    let numbers = |t: &ComparisonTable| {
        t.variant
            .replications
            .iter()
            .map(|r| r.replication)
            .collect()
    };
    let (left, right): (Vec<u64>, Vec<u64>) = (numbers(a), numbers(b));
    let is_completed = |t: &ComparisonTable, at: usize| {
        t.variant.replications[at].outcome() == ReplicationOutcome::Completed
    };
    for (i, (number, measured)) in left.iter().zip(first).enumerate() {
        // Interrupted replications are missing.
        let Ok(at) = right.binary_search(number) else {
            continue;
        };
        completed[0] += usize::from(is_completed(a, i));
        completed[1] += usize::from(is_completed(b, at));
        match (measured.value(), second[at].value()) {
            (Some(x), Some(y)) => pairs.push((x, y)),
            (None, None) => {}
            _ => unpaired += 1,
        }
    }
    let difference = PairedDifference::from_pairs(&pairs)?;
    let differences: Vec<f64> = pairs.iter().map(|(x, y)| y - x).collect();
    let better = better(metric);
    let separated = difference.significant_order();
    Some(PairedEstimate {
        a: a.variant.name.clone(),
        b: b.variant.name.clone(),
        metric: metric.to_owned(),
        difference,
        verdict: if is_below_resolution(&pairs, &differences) {
            CompareVerdict::NoDifference
        } else {
            verdict(separated, better, completed)
        },
        better,
        needed: separated.map_or(difference.required_pairs(), |_| None),
        unpaired,
        completed: (completed[0] != completed[1]).then_some(completed),
        sign_p: sign_test(&differences).p,
        wilcoxon_p: wilcoxon(&differences).map(|w| w.p),
    })
}

/// Relative resolution of metrics: differences of less than 1 in 100,000 are not printed with the values.
const RESOLUTION: f64 = 1e-5;

/// Returns true if every difference is smaller than the resolution of the values.
fn is_below_resolution(pairs: &[(f64, f64)], differences: &[f64]) -> bool {
    let size = pairs
        .iter()
        .fold(0.0, |size: f64, (x, y)| size.max(x.abs()).max(y.abs()));
    differences.iter().all(|d| d.abs() <= size * RESOLUTION)
}

/// Returns the verdict. `separated` is the order of the second variant relative to the first, `completed` their numbers
/// of completed replications: a variant that completes fewer is never better.
fn verdict(
    separated: Option<Ordering>,
    better: BetterDirection,
    completed: [usize; 2],
) -> CompareVerdict {
    let winner = match (separated, better) {
        (Some(Ordering::Less), BetterDirection::Lower)
        | (Some(Ordering::Greater), BetterDirection::Higher) => CompareVerdict::B,
        (Some(Ordering::Less | Ordering::Greater), _) => CompareVerdict::A,
        (Some(Ordering::Equal) | None, _) => CompareVerdict::Inconclusive,
    };
    match winner {
        CompareVerdict::A if completed[0] < completed[1] => CompareVerdict::CompletesLess,
        CompareVerdict::B if completed[1] < completed[0] => CompareVerdict::CompletesLess,
        winner => winner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_better_side_and_none_without_separation() {
        use BetterDirection::*;
        use Ordering::*;
        for (separated, better, expected) in [
            (Some(Less), Lower, CompareVerdict::B),
            (Some(Greater), Lower, CompareVerdict::A),
            (Some(Less), Higher, CompareVerdict::A),
            (Some(Greater), Higher, CompareVerdict::B),
            (None, Lower, CompareVerdict::Inconclusive),
        ] {
            assert_eq!(
                verdict(separated, better, [8, 8]),
                expected,
                "{separated:?} {better:?}"
            );
        }
    }

    #[test]
    fn variant_that_completes_fewer_replications_is_never_better() {
        let less = Some(Ordering::Less);
        for (completed, expected) in [
            ([8, 8], CompareVerdict::B),
            ([7, 8], CompareVerdict::B),
            ([8, 7], CompareVerdict::CompletesLess),
        ] {
            let verdict = verdict(less, BetterDirection::Lower, completed);
            assert_eq!(verdict, expected, "{completed:?}");
        }
    }

    #[test]
    fn replications_without_completed_work_are_the_worst_in_quantiles() {
        let mut column = vec![MeasuredMetric::Value(10.0); 40];
        column.extend([MeasuredMetric::Blocked; 3]);
        column.extend([MeasuredMetric::Censored; 2]);
        column.push(MeasuredMetric::Failed);
        column.push(MeasuredMetric::Absent);
        let of = column.len();
        let e = MetricEstimate::from_column(&column, BetterDirection::Lower);
        assert_eq!(
            (e.n, e.failed, e.blocked, e.censored, e.absent),
            (40, 1, 3, 2, 1)
        );
        assert_eq!((e.mean, e.p50, e.p90), (Some(10.0), Some(10.0), None));
        let excluded = StatisticalWarning::Excluded {
            failed: 1,
            blocked: 3,
            censored: 2,
            of,
        };
        assert_eq!(e.weaknesses, [excluded]);
        let none = MetricEstimate::from_column(&[MeasuredMetric::Blocked], BetterDirection::Lower);
        assert_eq!((none.n, none.mean, none.ci95), (0, None, None));
    }
}
