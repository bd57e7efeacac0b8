//! Fits all preset values that recordings and metrics determine, and lists the values that are ambiguous or not
//! observable.

use super::bucket::{self, BucketLine};
use super::histogram::CumulativeHistogram;
use super::lognormal::{self, HistogramCell, LognormalFit};
use super::prometheus::{LIMITER_METRIC, PrometheusMetrics, REQUEST_METRIC};
use super::tokens::{self, ClientRequests};
use crate::validate::recording::{RecordedRun, RequestRow};
use serde::Serialize;
use sim_base::stats::{quantile, quantile_interval, sorted};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FitValue {
    Number(f64),
    /// The median in seconds and sigma of a log-normal distribution.
    LogNormal(f64, f64),
    /// Observed values in seconds, in ascending order.
    Empirical(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedParameter {
    /// Path of the field in a scenario: `controlPlane.kubeControllerManager.qps`, `timing.apiWrite`.
    pub id: String,
    pub value: FitValue,
    /// 95 % interval of the number, or of the median of a distribution.
    pub interval: [f64; 2],
    /// 95 % interval of sigma.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma_interval: Option<[f64; 2]>,
    pub n: u64,
    pub from: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FitResult {
    pub parameters: Vec<FittedParameter>,
    /// Values that the data cannot distinguish.
    pub undecided: Vec<String>,
    /// Parameters that the data does not show.
    pub unseen: Vec<String>,
}

/// Smallest number of observations for a measured value. With fewer, the preset marks the value as unverified.
pub const MIN_MEASURED: u64 = 20;
/// Assumed relative error of the number of requests that were only counted or were inferred from a count. A
/// recording does not contain a better estimate.
const COUNT_ERROR: f64 = 0.1;
/// Smallest number of observations that is fitted.
const MIN_OBSERVATIONS: usize = 5;
/// Median wait for binding, in seconds, above which the scheduler is taken to be the bottleneck.
const MIN_BINDING_WAIT_S: f64 = 1.0;
/// Smallest bucket bound of the wait histogram in seconds. Shorter waits do not count as waits.
const MIN_WAIT_S: f64 = 0.005;
/// Median stop time in seconds below which a stop consists only of two API writes (grace period 0).
const MIN_STOP_S: f64 = 0.2;
/// p-value at or below which the form of a distribution is rejected.
pub const MAX_REJECTED_P: f64 = 0.01;

/// Fits every parameter that the data determines. Each recording is paired with its name. `rest_s` is the default
/// duration, in seconds, of the parts of a pod's start other than the container start.
pub fn calibrate(recordings: &[(String, RecordedRun)], metrics: &PrometheusMetrics, rest_s: f64) -> FitResult {
    let mut result = FitResult::default();
    fit_rates(recordings, metrics, &mut result);
    fit_latencies(recordings, metrics, &mut result);
    fit_start_up(recordings, rest_s, &mut result);
    fit_stops(recordings, &mut result);
    for (what, why) in [
        (
            "controlPlane.kubeControllerManager.concurrentJobSyncs, concurrentGcSyncs",
            "a waiting worker cannot be distinguished from a missing one",
        ),
        ("controlPlane.nodeRequestsPerSecond", "responses to kubelets are not counted"),
        ("timing.watchLag, agentFanout", "objects do not record when a cache received them"),
        (
            "timing.schedulerFixed, schedulerPerNode, schedulerPerFeasibleNode, schedulerAffinityPerNode",
            "scheduling cycles are not recorded separately",
        ),
        ("timing.cleanup, containerRemove", "the end of a pod is recorded only once"),
    ] {
        result.unseen.push(format!("{what}: {why}"));
    }
    result
}

fn time_resolution(recording: &RecordedRun) -> f64 {
    // Imported times are whole seconds. The order of the writes narrows them further.
    if recording.imported.is_some() { 0.5 } else { 0.001 }
}

fn fit_rates(recordings: &[(String, RecordedRun)], metrics: &PrometheusMetrics, result: &mut FitResult) {
    type RequestsFn = fn(&RecordedRun, Option<u64>) -> ClientRequests;
    let clients: [(&'static str, RequestsFn); 3] = [
        ("kubeControllerManager", tokens::job_controller),
        ("kubeScheduler", |r, _| tokens::scheduler(r)),
        ("jobsetManager", |r, _| tokens::jobset_manager(r)),
    ];
    for (client, of) in clients {
        let waits = metrics.limiter_waits.get(client);
        let waited = waits.map(|h| h.count_above(MIN_WAIT_S));
        let mut lines: Vec<(&str, BucketLine, ClientRequests)> = Vec::new();
        let mut at_once = 0.0f64;
        for (name, recording) in recordings {
            let held = client != "kubeScheduler"
                || tokens::median_binding_wait(recording).is_some_and(|s| s > MIN_BINDING_WAIT_S);
            match client_line(recording, of).filter(|_| held) {
                Some((line, tokens)) => lines.push((name, line, tokens)),
                None => at_once = at_once.max(bucket::max_requests_in_one_second(&of(recording, None).times)),
            }
        }
        lines.sort_by_key(|(_, line, _)| (!line.has_burst, std::cmp::Reverse(line.n)));
        add_disagreements(client, &lines, result);
        let Some((name, line, tokens)) = lines.first() else {
            add_unlimited_client(client, at_once, waited, result);
            continue;
        };
        // The scheduler handles one pod at a time, so scheduling cycles of equal duration produce the same line as a
        // limit.
        let shows = line.has_burst && client != "kubeScheduler";
        match waited {
            Some(0.0) => add_undecided_limit(client, line, waited, result),
            None if !shows => add_undecided_limit(client, line, waited, result),
            _ => add_rate(client, name, line, tokens, result),
        }
    }
}

/// Returns the line of a client. Requests that were only counted may have been sent evenly or with an initial burst;
/// the interval covers both cases.
fn client_line(
    recording: &RecordedRun, of: fn(&RecordedRun, Option<u64>) -> ClientRequests,
) -> Option<(BucketLine, ClientRequests)> {
    let resolution = time_resolution(recording);
    let timed = of(recording, None);
    let alone = bucket::longest_line(&timed.times, resolution);
    let burst = alone.map_or(bucket::max_requests_in_one_second(&timed.times), |line| line.burst);
    let tokens = of(recording, Some(burst.round() as u64));
    if tokens.spread_count == 0 {
        let line = alone?;
        return Some((line.widen_intervals(COUNT_ERROR * timed.unobserved_fraction()), timed));
    }
    let mut line =
        bucket::longest_line(&tokens.times, resolution)?.widen_intervals(COUNT_ERROR * tokens.unobserved_fraction());
    if let Some(even) = bucket::longest_line(&of(recording, Some(0)).times, resolution) {
        let hull = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        line.qps_interval = hull(line.qps_interval, even.qps_interval);
        line.burst_interval = hull(line.burst_interval, even.burst_interval);
    }
    Some((line, tokens))
}

fn add_rate(client: &str, name: &str, line: &BucketLine, tokens: &ClientRequests, result: &mut FitResult) {
    let mut from = format!("{name}: {} requests at the limit", line.n);
    let interval = line.qps_interval;
    if tokens.unobserved_fraction() > 0.0 {
        let part = tokens.unobserved_fraction() * 100.0;
        from.push_str(&format!(", {part:.0} % of them inferred from counts"));
    }
    let n = line.n as u64;
    let number = |id: &str, value: f64, interval: [f64; 2]| FittedParameter {
        id: format!("controlPlane.{client}.{id}"),
        value: FitValue::Number(value),
        interval,
        sigma_interval: None,
        n,
        from: from.clone(),
    };
    result.parameters.push(number("qps", line.qps, interval));
    if line.has_burst {
        result.parameters.push(number("burst", line.burst.round(), line.burst_interval));
        let mean = 0.5 * (line.n as f64 - line.burst) / line.qps;
        result.undecided.push(format!(
            "controlPlane.{client}.qps and burst: raising qps by 1 request/s and lowering burst by {mean:.1} fits equally well"
        ));
    }
}

/// Records that the client never reached its limit in any recording.
fn add_unlimited_client(client: &str, at_once: f64, waited: Option<f64>, result: &mut FitResult) {
    let waits = match waited {
        Some(0.0) => format!("; according to {LIMITER_METRIC}, it never waited for its limit"),
        Some(n) => format!("; according to {LIMITER_METRIC}, {n} requests waited for its limit"),
        None => String::new(),
    };
    result.unseen.push(if at_once > 1.0 { format!(
        "controlPlane.{client}.qps, burst: the client never reached its limit; {at_once:.0} requests within one second show \
         only that burst plus qps is at least that number{waits}"
    ) } else { format!("controlPlane.{client}.qps, burst: the recordings contain no requests of this client{waits}") });
}

fn add_undecided_limit(client: &str, line: &BucketLine, waited: Option<f64>, result: &mut FitResult) {
    let rate = line.qps;
    result.undecided.push(match waited {
        Some(_) => format!(
            "controlPlane.{client}.qps is {rate:.1}/s or more: requests were evenly spaced, but according to {LIMITER_METRIC} none waited for a \
             limit, so the duration of each request set the pace"
        ),
        None => format!(
            "controlPlane.{client}.qps and the duration of its requests: {} requests were evenly spaced at {rate:.1}/s, which is either the \
             limit or the rate of sequential requests. Provide its {LIMITER_METRIC} to decide",
            line.n
        ),
    });
}

fn add_disagreements(client: &str, lines: &[(&str, BucketLine, ClientRequests)], result: &mut FitResult) {
    let mut seen = lines.iter().filter(|(_, line, _)| line.has_burst);
    let Some((name, first, _)) = seen.next() else {
        return;
    };
    let apart = |line: &BucketLine| {
        line.qps_interval[0] > first.qps_interval[1] * 1.1 || line.qps_interval[1] < first.qps_interval[0] * 0.9
    };
    if let Some((other, line, _)) = seen.find(|(_, line, _)| apart(line)) {
        result.undecided.push(format!(
            "controlPlane.{client}.qps: {name} shows {:.1}, {other} shows {:.1}. Are they from different clusters? The recording with \
             more requests is used",
            first.qps, line.qps
        ));
    }
}

/// Returns the latency parameter of the model that applies to a request.
fn latency_parameter(verb: &str, resource: &str) -> Option<&'static str> {
    let verb = verb.to_ascii_uppercase();
    let model = ["pods", "jobs", "jobsets", "services"];
    let base = resource.split('/').next().unwrap_or("");
    if !model.contains(&base) {
        return None;
    }
    Some(match verb.as_str() {
        "GET" => "timing.apiRead",
        "POST" | "CREATE" if resource == "pods" => "timing.apiPodCreate",
        "POST" | "CREATE" | "PUT" | "UPDATE" | "PATCH" | "APPLY" | "DELETE" => "timing.apiWrite",
        _ => return None,
    })
}

const LATENCY_PARAMETERS: [&str; 3] = ["timing.apiRead", "timing.apiWrite", "timing.apiPodCreate"];

fn fit_latencies(recordings: &[(String, RecordedRun)], metrics: &PrometheusMetrics, result: &mut FitResult) {
    for id in LATENCY_PARAMETERS {
        let mut histogram = CumulativeHistogram::default();
        let of = metrics.requests.iter().filter(|((verb, resource), _)| latency_parameter(verb, resource) == Some(id));
        for (_, own) in of {
            own.buckets.iter().for_each(|(le, n)| histogram.add(*le, *n));
        }
        if let Some(fit) = lognormal::fit(&histogram.cells()) {
            add_distribution(id, &fit, format!("{REQUEST_METRIC}, {} requests", fit.n), result);
            continue;
        }
        let rows = recordings.iter().filter_map(|(_, r)| r.requests.as_ref());
        let rows: Vec<&RequestRow> = rows.flat_map(|r| r.restart.iter().chain(&r.start)).collect();
        match fit_request_latencies(&rows, id) {
            Some(fit) => add_distribution(id, &fit, format!("audit log, {} requests", fit.n), result),
            None if histogram.cells().iter().all(|c| c.n == 0.0) => {
                result.unseen.push(format!("{id}: no {REQUEST_METRIC} in the input"));
            }
            None => {
                result.unseen.push(format!("{id}: the buckets of {REQUEST_METRIC} do not determine a distribution"))
            }
        }
    }
}

/// Fits medians and 95th percentiles of several kinds of requests. Each kind contributes three cells: below the
/// median, between median and 95th percentile, and above.
fn fit_request_latencies(rows: &[&RequestRow], id: &str) -> Option<LognormalFit> {
    let mut cells = Vec::new();
    for RequestRow(client, verb, resource, error, n, p50, p95, ..) in rows {
        let own = latency_parameter(verb, resource) == Some(id) && error.is_empty() && client != "kubelets";
        if !own || *p50 <= 0.0 || *n < 20 {
            continue;
        }
        let (p50, p95, n) = (p50 / 1e3, p95.max(*p50 * 1.001) / 1e3, *n as f64);
        let cell = |low, high, part| HistogramCell { low, high, n: n * part };
        cells.extend([cell(0.0, p50, 0.5), cell(p50, p95, 0.45), cell(p95, f64::INFINITY, 0.05)]);
    }
    lognormal::fit(&cells)
}

fn add_distribution(id: &str, fit: &LognormalFit, from: String, result: &mut FitResult) {
    result.parameters.push(FittedParameter {
        id: id.to_owned(),
        value: FitValue::LogNormal(fit.median_s, fit.sigma),
        interval: fit.median_interval,
        sigma_interval: Some(fit.sigma_interval),
        n: fit.n as u64,
        from,
    });
}

/// Returns the time from one event of each pod to another in seconds, with its resolution.
fn spans(
    recordings: &[(String, RecordedRun)], of: &dyn Fn(&crate::validate::rows::RecordedPodRow) -> Option<(u64, u64)>,
) -> Vec<HistogramCell> {
    let one = |recording: &RecordedRun, pod| {
        let (from, to) = of(pod)?;
        let s = to.checked_sub(from)? as f64 / 1e3;
        // The difference of two whole seconds is known to 1 s.
        let width = if recording.imported.is_some() { 1.0 } else { 0.001 };
        Some(HistogramCell { low: (s - width / 2.0).max(0.0), high: s + width / 2.0, n: 1.0 })
    };
    let all = recordings.iter().flat_map(|(_, r)| r.pods.0.iter().filter_map(move |pod| one(r, pod)));
    all.collect()
}

fn fit_start_up(recordings: &[(String, RecordedRun)], rest_s: f64, result: &mut FitResult) {
    let cells = spans(recordings, &|pod| Some((pod.bound_ms?, pod.ready_ms?)));
    if cells.len() < MIN_OBSERVATIONS {
        result.unseen.push("timing.containerStart: fewer than 5 pods were observed both bound and ready".to_owned());
        return;
    }
    let less =
        |c: &HistogramCell| HistogramCell { low: (c.low - rest_s).max(0.0), high: (c.high - rest_s).max(1e-3), n: c.n };
    let cells: Vec<HistogramCell> = cells.iter().map(less).collect();
    add_checked_distribution("timing.containerStart", &cells, "pods, bound to ready", result);
    result.undecided.push(format!(
        "timing.containerStart, volumes, sandbox and imageCheck: only their sum is observed, from bound to ready. containerStart \
         is set to the sum minus {rest_s:.2} s (defaults of statusWrite and the API); the others are set to 0"
    ));
}

fn fit_stops(recordings: &[(String, RecordedRun)], result: &mut FitResult) {
    let cells = spans(recordings, &|pod| {
        pod.ready_ms?;
        Some((pod.deleting_ms?, pod.finished_ms?))
    });
    let middles = sorted(cells.iter().map(|c| 0.5 * (c.low + c.high)).collect());
    let usual = quantile(&middles, 0.5).unwrap_or(0.0);
    let long = if usual > MIN_STOP_S { cells } else { Vec::new() };
    if long.len() >= MIN_OBSERVATIONS {
        add_checked_distribution("timing.containerStop", &long, "pods, deleted to ended", result)
    } else {
        result.unseen.push(
            "timing.containerStop: fewer than 5 running pods were deleted and took a measurable time to stop"
                .to_owned(),
        )
    }
}

/// Records a log-normal distribution, unless the goodness-of-fit test rejects it. In that case records the
/// observations themselves.
fn add_checked_distribution(id: &str, cells: &[HistogramCell], of: &str, result: &mut FitResult) {
    let n = cells.len() as u64;
    let fit = lognormal::fit(&lognormal::merge_cells(cells));
    let middles = sorted(cells.iter().map(|c| 0.5 * (c.low + c.high)).collect());
    if let Some(fit) = fit.filter(|fit| fit.p > MAX_REJECTED_P) {
        add_distribution(id, &fit, format!("{n} {of}; log-normal, p {:.2}", fit.p), result);
        return;
    }
    let [low, high] = quantile_interval(&middles, 0.5, super::CONFIDENCE_LEVEL);
    let bound = |side: Option<f64>, end: usize| side.unwrap_or(middles[end]);
    const MAX_POINTS: usize = 40;
    let at = |i: usize| quantile(&middles, (i as f64 + 0.5) / MAX_POINTS as f64).unwrap_or(0.0);
    let values = if middles.len() <= MAX_POINTS { middles.clone() } else { (0..MAX_POINTS).map(at).collect() };
    result.parameters.push(FittedParameter {
        id: id.to_owned(),
        interval: [bound(low, 0), bound(high, middles.len() - 1)],
        value: FitValue::Empirical(values),
        sigma_interval: None,
        n,
        from: format!("{n} {of}; log-normal rejected"),
    });
}
