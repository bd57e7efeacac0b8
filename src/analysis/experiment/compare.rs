//! Variants of a scenario under the same random numbers: each metric of each, and their paired differences.
//!
//! A verdict is given only where the interval of the difference excludes zero. Runs that got stuck or were cut are
//! counted apart: they have no number, and no quantile is of the others without saying so.

use super::metric::{Better, Measured, better, metrics, unnamed};
use super::replication::Replication;
use super::replications::digest;
use super::warned::warnings;
use serde::{Serialize, Serializer};
use sim_api::spec::Level;
use sim_base::stats::{
    Estimate, Paired, Weakness, quantile_interval, sign_test, sorted, weaknesses, wilcoxon,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The name of the format of [`Comparison`].
pub const COMPARE_SCHEMA: &str = "jobset-sim/compare/v1";

/// A variant that was played.
#[derive(Clone, Debug)]
pub struct PlayedVariant {
    /// Its name.
    pub name: String,
    /// What differs from the scenario.
    pub changes: Vec<Change>,
    /// Names of its JobSets.
    pub jobsets: Vec<String>,
    /// In the order of their numbers.
    pub replications: Vec<Replication>,
}

/// One field that a variant changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The field.
    pub path: String,
    /// As it would be written in a file.
    pub value: String,
    /// What it was changed for, if nobody asked for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
}

/// `summary.json` of a comparison.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The name of the format.
    pub schema: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// Of all random numbers.
    pub seed: u64,
    /// How much detail the replications have, if one is collapsed; a Fleet has no other.
    #[serde(skip_serializing_if = "is_pods")]
    pub level: Level,
    /// The scenario itself first.
    pub variants: Vec<VariantEstimates>,
    /// Every two variants, metric by metric: "b less a".
    pub paired: Vec<PairedEstimate>,
    /// What the runs of each variant warned of: what differs in numbers only is one.
    pub warnings: Vec<String>,
    /// Names of all metrics, in the order of reports.
    pub metrics: Vec<String>,
}

/// One variant over its replications.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantEstimates {
    /// Its name.
    pub name: String,
    /// What differs from the scenario.
    pub changes: Vec<Change>,
    /// How many were played.
    pub replications: usize,
    /// The hash over the digests of all of them, in their order.
    #[serde(serialize_with = "hexadecimal")]
    pub digest: u64,
    /// Why they ended → replications.
    pub end_reasons: BTreeMap<&'static str, usize>,
    /// Metric → what is known of it.
    pub metrics: BTreeMap<String, MetricEstimate>,
}

fn hexadecimal<S: Serializer>(digest: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{digest:016x}"))
}

/// One metric of one variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricEstimate {
    /// The arithmetic mean; null without any value, as are those below.
    pub mean: Option<f64>,
    /// 95 % interval of the mean by Student's t.
    pub ci95: Option<[f64; 2]>,
    /// The 10th percentile.
    pub p10: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// Replications with a value.
    pub n: usize,
    /// 95 % intervals of the three quantiles, whatever the distribution; null for a bound that so few values do not
    /// give.
    #[serde(rename = "quantiles_ci95")]
    pub quantile_intervals: [[Option<f64>; 2]; 3],
    /// Replications that got stuck before it was measured.
    pub stuck: usize,
    /// Replications that ended before it was measured.
    pub cut: usize,
    /// Replications in which there was nothing to measure.
    pub absent: usize,
    /// What speaks against trusting it.
    pub weaknesses: Vec<Weakness>,
}

/// Two variants, one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairedEstimate {
    /// The first variant.
    pub a: String,
    /// The second variant.
    pub b: String,
    /// Of what.
    pub metric: String,
    /// Mean, interval and deviation of "b less a" over the replications in which both have a value.
    #[serde(flatten)]
    pub difference: Paired,
    /// Which is better, if the interval says so.
    pub verdict: Verdict,
    /// Which of two numbers is better.
    pub better: Better,
    /// About so many pairs would separate a difference of this mean; null if it is separated, or none would.
    pub needed: Option<usize>,
    /// Replications in which only one of them has a value.
    pub unpaired: usize,
    /// The chance of such signs without a difference.
    pub sign_p: f64,
    /// The same by Wilcoxon's test; null if all differences are 0.
    pub wilcoxon_p: Option<f64>,
}

/// Which variant is better.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// The first.
    A,
    /// The second.
    B,
    /// The interval contains zero.
    NotSeparated,
}

fn is_pods(level: &Level) -> bool {
    *level == Level::Pods
}

/// That of all, or else the lower one.
fn level(played: &[PlayedVariant]) -> Level {
    let mut all = played.iter().flat_map(|v| &v.replications);
    match all.any(|r| r.level == Level::Collapsed && r.outputs.is_empty()) {
        true => Level::Collapsed,
        false => Level::Pods,
    }
}

impl Comparison {
    /// Of variants played under one seed, the scenario itself first.
    pub fn of((scenario, seed): (&str, u64), played: &[PlayedVariant]) -> Comparison {
        let tables: Vec<Table> = played.iter().map(Table::of).collect();
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
        Comparison {
            schema: COMPARE_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.to_owned(),
            seed,
            level: level(played),
            variants: tables.iter().map(Table::estimates).collect(),
            paired,
            warnings: played.iter().flat_map(warned).collect(),
            metrics: names,
        }
    }

    /// What is known of these two and this metric.
    pub fn pair(&self, a: &str, b: &str, metric: &str) -> Option<&PairedEstimate> {
        let mut all = self.paired.iter();
        all.find(|p| p.a == a && p.b == b && p.metric == metric)
    }
}

/// The numbers of a variant: by metric, then by replication.
struct Table<'a> {
    variant: &'a PlayedVariant,
    names: Vec<String>,
    columns: Vec<Vec<Measured>>,
}

impl<'a> Table<'a> {
    fn of(variant: &'a PlayedVariant) -> Table<'a> {
        let mut names: Vec<String> = Vec::new();
        let mut columns: Vec<Vec<Measured>> = Vec::new();
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
        Table {
            variant,
            names,
            columns,
        }
    }

    fn column(&self, metric: &str) -> Option<&[Measured]> {
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
            end_reasons,
            metrics: columns
                .map(|(name, column)| (name, MetricEstimate::of(column)))
                .collect(),
        }
    }
}

impl MetricEstimate {
    /// Of one number for each replication.
    pub fn of(column: &[Measured]) -> MetricEstimate {
        let count = |what: Measured| column.iter().filter(|m| **m == what).count();
        let (stuck, cut) = (count(Measured::Stuck), count(Measured::Cut));
        let values: Vec<f64> = column.iter().filter_map(|m| m.value()).collect();
        let mut weaknesses = match values.is_empty() {
            true => Vec::new(),
            false => weaknesses(&values),
        };
        if stuck + cut > 0 {
            let of = column.len();
            weaknesses.push(Weakness::LeftOut { stuck, cut, of });
        }
        let sorted = sorted(values.clone());
        let estimate = Estimate::of(values);
        MetricEstimate {
            mean: estimate.map(|e| e.mean),
            ci95: estimate.map(|e| e.ci95),
            p10: estimate.map(|e| e.p10),
            p50: estimate.map(|e| e.p50),
            p90: estimate.map(|e| e.p90),
            n: sorted.len(),
            quantile_intervals: [0.1, 0.5, 0.9].map(|p| quantile_interval(&sorted, p, 0.95)),
            stuck,
            cut,
            absent: count(Measured::Absent),
            weaknesses,
        }
    }
}

fn pair(a: &Table, b: &Table, metric: &str) -> Option<PairedEstimate> {
    let (first, second) = (a.column(metric)?, b.column(metric)?);
    let (mut pairs, mut unpaired) = (Vec::new(), 0);
    let numbers = |t: &Table| {
        t.variant
            .replications
            .iter()
            .map(|r| r.replication)
            .collect()
    };
    let (left, right): (Vec<u64>, Vec<u64>) = (numbers(a), numbers(b));
    for (number, measured) in left.iter().zip(first) {
        // A replication that was interrupted is missing.
        let Ok(at) = right.binary_search(number) else {
            continue;
        };
        match (measured.value(), second[at].value()) {
            (Some(x), Some(y)) => pairs.push((x, y)),
            (None, None) => {}
            _ => unpaired += 1,
        }
    }
    let difference = Paired::of(&pairs)?;
    let differences: Vec<f64> = pairs.iter().map(|(x, y)| y - x).collect();
    let better = better(metric);
    let separated = difference.separated();
    Some(PairedEstimate {
        a: a.variant.name.clone(),
        b: b.variant.name.clone(),
        metric: metric.to_owned(),
        difference,
        verdict: verdict(separated, better),
        better,
        needed: separated.map_or(difference.needed(), |_| None),
        unpaired,
        sign_p: sign_test(&differences).p,
        wilcoxon_p: wilcoxon(&differences).map(|w| w.p),
    })
}

/// `separated` is how the second lies to the first.
fn verdict(separated: Option<Ordering>, better: Better) -> Verdict {
    match (separated, better) {
        (Some(Ordering::Less), Better::Lower) | (Some(Ordering::Greater), Better::Higher) => {
            Verdict::B
        }
        (Some(Ordering::Less | Ordering::Greater), _) => Verdict::A,
        (Some(Ordering::Equal) | None, _) => Verdict::NotSeparated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_better_side_and_none_without_separation() {
        use Better::*;
        use Ordering::*;
        for (separated, better, expected) in [
            (Some(Less), Lower, Verdict::B),
            (Some(Greater), Lower, Verdict::A),
            (Some(Less), Higher, Verdict::A),
            (Some(Greater), Higher, Verdict::B),
            (None, Lower, Verdict::NotSeparated),
        ] {
            assert_eq!(
                verdict(separated, better),
                expected,
                "{separated:?} {better:?}"
            );
        }
    }

    #[test]
    fn runs_that_got_stuck_are_in_no_quantile_and_are_counted() {
        let mut column = vec![Measured::Value(10.0); 40];
        column.extend([Measured::Stuck; 3]);
        column.extend([Measured::Cut; 2]);
        column.push(Measured::Absent);
        let of = column.len();
        let e = MetricEstimate::of(&column);
        assert_eq!((e.n, e.stuck, e.cut, e.absent), (40, 3, 2, 1));
        assert_eq!((e.mean, e.p90), (Some(10.0), Some(10.0)));
        let left_out = Weakness::LeftOut {
            stuck: 3,
            cut: 2,
            of,
        };
        assert_eq!(e.weaknesses, [left_out]);
        let none = MetricEstimate::of(&[Measured::Stuck]);
        assert_eq!((none.n, none.mean, none.ci95), (0, None, None));
    }
}
