//! Durations of each pod phase, grouped by container image and node pool. Each group has a fitted distribution and
//! observed quantiles, because a mixture of images or pools does not have the form of its components.

use super::fit::{MAX_REJECTED_P, MIN_MEASURED};
use super::lognormal::{self, HistogramCell};
use crate::{validate::recording::RecordedRun, validate::rows::RecordedPodRow};
use serde::Serialize;
use sim_base::stats::{quantile, sorted};
use std::collections::BTreeMap;

/// Keys by which pods are grouped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GroupKey {
    Phase,
    Image,
    Pool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SampleGroup {
    pub phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    pub n: usize,
    /// Log-normal fit; absent if there are too few observations or all are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_normal: Option<FittedGroup>,
    /// Observed quantiles in seconds, by probability in percent.
    #[serde(rename = "quantiles_s")]
    pub quantiles_s: BTreeMap<&'static str, f64>,
    /// `measured`, or `assumed` with fewer than 20 observations.
    pub confidence: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FittedGroup {
    #[serde(rename = "median_s")]
    pub median_s: f64,
    #[serde(rename = "medianInterval_s")]
    pub median_interval: [f64; 2],
    pub sigma: f64,
    pub sigma_interval: [f64; 2],
    /// Goodness of fit: probability of a greater deviation if the distribution is log-normal.
    pub p: f64,
    pub fits: bool,
}

const QUANTILES: [(&str, f64); 6] =
    [("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95), ("p99", 0.99)];

/// Labels that name a node's pool if the user does not name one. The first label present is used.
pub const POOL_LABELS: [&str; 4] =
    ["cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool", "pool"];

type SampleKey = (usize, Option<String>, Option<String>);

/// Returns the durations of every phase of every pod, in groups.
pub fn groups(recordings: &[(String, RecordedRun)], by: &[GroupKey], label: Option<&str>) -> Vec<SampleGroup> {
    let mut cells: BTreeMap<SampleKey, Vec<HistogramCell>> = BTreeMap::new();
    for (_, recording) in recordings {
        let images = images_by_replicated_job(recording);
        let pools = pools_by_node(recording, label);
        let half = if recording.imported.is_some() { 0.5 } else { 0.0005 };
        for pod in &recording.pods.0 {
            let image = images.get(&pod.replicated_job).cloned().unwrap_or_default();
            let pool = pools.get(pod.node.as_str()).copied().unwrap_or("").to_owned();
            for (i, (_, span)) in PHASES.iter().enumerate() {
                let Some(s) = span(pod) else { continue };
                let of = |by_it: GroupKey, value: &str| {
                    by.contains(&by_it).then(|| if value.is_empty() { "?" } else { value }.to_owned())
                };
                let key = (i, of(GroupKey::Image, &image), of(GroupKey::Pool, &pool));
                let cell = HistogramCell { low: (s - half).max(0.0), high: s + half, n: 1.0 };
                cells.entry(key).or_default().push(cell);
            }
        }
    }
    cells.into_iter().map(|(key, cells)| sample_group(key, &cells)).collect()
}

type SampleSpan = fn(&RecordedPodRow) -> Option<f64>;

/// The phases of a pod and their durations in seconds.
const PHASES: [(&str, SampleSpan); 4] = [
    ("schedule", |p| seconds_between(p.created_ms, p.bound_ms)),
    ("start", |p| seconds_between(p.bound_ms, p.ready_ms)),
    ("stop", |p| {
        p.ready_ms?;
        seconds_between(p.deleting_ms, p.finished_ms)
    }),
    ("remove", |p| seconds_between(p.finished_ms.or(p.deleting_ms), p.gone_ms)),
];

fn seconds_between(from: Option<u64>, to: Option<u64>) -> Option<f64> {
    Some(to?.checked_sub(from?)? as f64 / 1e3)
}

fn sample_group((phase, image, pool): SampleKey, cells: &[HistogramCell]) -> SampleGroup {
    let middles = sorted(cells.iter().map(|c| 0.5 * (c.low + c.high)).collect());
    let fitted = |f: lognormal::LognormalFit| FittedGroup {
        median_s: f.median_s,
        median_interval: f.median_interval,
        sigma: f.sigma,
        sigma_interval: f.sigma_interval,
        p: f.p,
        fits: f.p > MAX_REJECTED_P,
    };
    let at = |(name, p): &(&'static str, f64)| Some((*name, quantile(&middles, *p)?));
    SampleGroup {
        phase: PHASES[phase].0,
        image,
        pool,
        n: cells.len(),
        log_normal: lognormal::fit(&lognormal::merge_cells(cells)).map(fitted),
        quantiles_s: QUANTILES.iter().filter_map(at).collect(),
        confidence: if cells.len() as u64 >= MIN_MEASURED { "measured" } else { "assumed" },
    }
}

/// Returns the image of the first container of each replicated job.
fn images_by_replicated_job(recording: &RecordedRun) -> BTreeMap<String, String> {
    let all = recording.job_set["spec"]["replicatedJobs"].as_array();
    let image = |rj: &serde_json::Value| {
        let pod = &rj["template"]["spec"]["template"]["spec"];
        let image = pod["containers"][0]["image"].as_str()?;
        Some((rj["name"].as_str()?.to_owned(), image.to_owned()))
    };
    all.into_iter().flatten().filter_map(image).collect()
}

fn pools_by_node<'r>(recording: &'r RecordedRun, label: Option<&'r str>) -> BTreeMap<&'r str, &'r str> {
    let nodes = recording.objects.iter().filter(|o| o["kind"] == "Node");
    let of = |node: &'r serde_json::Value| {
        let meta = &node["metadata"];
        let keys = label.map_or(POOL_LABELS.to_vec(), |label| vec![label]);
        let pool = keys.iter().find_map(|key| meta["labels"][*key].as_str())?;
        Some((meta["name"].as_str()?, pool))
    };
    nodes.filter_map(of).collect()
}
