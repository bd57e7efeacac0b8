//! The contents of `summary.json` of a sweep.

use super::identity::{AxisText, SweepIdentity};
use super::results::{BestPoint, SweepResults};
use crate::experiment::{BetterDirection, MetricEstimate, OutcomeCounts, warnings_of};
use serde::{Serialize, Serializer};
use sim_base::fnv;
use std::collections::BTreeMap;

/// Schema name of [`SweepSummary`].
pub const SCHEMA: &str = "jobset-sim/sweep/v1";

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepSummary {
    pub schema: &'static str,
    pub version: String,
    pub scenario: String,
    /// Level of detail of the replications.
    pub level: String,
    /// Digest of the identity of the sweep.
    pub experiment: String,
    /// Hash over the digests of all replications in order.
    pub digest: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of replications per point; with `until`, the maximum.
    pub replications: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    pub axes: Vec<AxisText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latin_hypercube: Option<u64>,
    /// Best points by metric, for metrics that differ between points.
    pub best: Vec<BestText>,
    /// Points in order; the first axis changes slowest.
    pub points: Vec<PointEstimates>,
    /// Warnings of all runs; warnings that differ only in numbers are merged.
    pub warnings: Vec<String>,
    /// Names of all metrics, in the order of reports.
    pub metrics: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BestText {
    pub metric: String,
    pub better: BetterDirection,
    pub point: usize,
    /// Points whose difference from the best point is inconclusive.
    pub inconclusive: Vec<usize>,
    /// Points without a difference from the best point.
    pub equal: Vec<usize>,
    /// Points with values that are not ranked, because fewer of their replications complete.
    pub unranked: Vec<usize>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PointEstimates {
    pub point: usize,
    /// Value of each axis by its path.
    pub values: serde_json::Map<String, serde_json::Value>,
    pub replications: usize,
    pub digest: String,
    pub outcomes: OutcomeCounts,
    pub end_reasons: BTreeMap<String, usize>,
    pub metrics: BTreeMap<String, CompactSummary>,
}

/// An estimate that is written without counts that are zero.
#[derive(Clone, Debug)]
pub struct CompactSummary(pub MetricEstimate);

impl Serialize for CompactSummary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct WrittenSummary {
            mean: Option<f64>,
            ci95: Option<[f64; 2]>,
            p10: Option<f64>,
            p50: Option<f64>,
            p90: Option<f64>,
            n: usize,
            #[serde(skip_serializing_if = "is_none")]
            failed: usize,
            #[serde(skip_serializing_if = "is_none")]
            blocked: usize,
            #[serde(skip_serializing_if = "is_none")]
            censored: usize,
            #[serde(skip_serializing_if = "is_none")]
            absent: usize,
        }
        fn is_none(n: &usize) -> bool {
            *n == 0
        }
        let e = &self.0;
        let (mean, ci95, p10, p50, p90) = (e.mean, e.ci95, e.p10, e.p50, e.p90);
        let (failed, blocked, censored) = (e.failed, e.blocked, e.censored);
        WrittenSummary { mean, ci95, p10, p50, p90, n: e.n, failed, blocked, censored, absent: e.absent }.serialize(to)
    }
}

impl SweepSummary {
    pub fn new(identity: &SweepIdentity, results: &SweepResults) -> SweepSummary {
        let points = results.points();
        let all = || (0..points.count()).flat_map(|p| results.rows(p));
        let ranked = results.names().iter().filter(|_| results.has_replications());
        let best = ranked.filter_map(|name| results.best(name));
        SweepSummary {
            schema: SCHEMA,
            version: identity.version.clone(),
            scenario: identity.scenario.clone(),
            level: identity.level.clone(),
            experiment: identity.digest(),
            digest: format!("{:016x}", fnv::fnv1a_words(all().map(|r| r.digest))),
            seed: identity.seed,
            replications: identity.replications,
            until: identity.until.clone(),
            axes: identity.axes.clone(),
            latin_hypercube: identity.latin_hypercube,
            best: best.map(BestText::from_point).collect(),
            points: (0..points.count()).map(|p| estimates(results, p)).collect(),
            warnings: warnings_of(&all().map(|r| r.warnings.as_slice()).collect::<Vec<_>>()),
            metrics: results.names().to_vec(),
        }
    }
}

impl BestText {
    fn from_point(best: BestPoint) -> BestText {
        BestText {
            metric: best.metric,
            better: best.better,
            point: best.point,
            inconclusive: best.inconclusive,
            equal: best.equal,
            unranked: best.unranked,
        }
    }
}

fn estimates(results: &SweepResults, point: usize) -> PointEstimates {
    let rows = results.rows(point);
    let mut end_reasons = BTreeMap::new();
    for row in rows {
        *end_reasons.entry(row.end_reason.clone()).or_insert(0) += 1;
    }
    let text = |(path, value): (String, String)| (path, serde_json::Value::String(value));
    let metric = |name: &String| (name.clone(), CompactSummary(results.estimate(point, name)));
    PointEstimates {
        point,
        values: results.points().sets(point).into_iter().map(text).collect(),
        replications: rows.len(),
        digest: format!("{:016x}", fnv::fnv1a_words(rows.iter().map(|r| r.digest))),
        outcomes: OutcomeCounts::new(rows.iter().map(|r| r.outcome)),
        end_reasons,
        metrics: results.names().iter().map(metric).collect(),
    }
}
