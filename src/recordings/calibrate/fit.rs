//! Fits all preset values that recordings and metrics determine, and lists the values that are ambiguous or not
//! observable.

use super::bucket::{self, Line};
use super::histogram::Histogram;
use super::lognormal::{self, Cell, Fit};
use super::prometheus::{Metrics, REQUESTS, WAITS};
use super::tokens::{self, Tokens};
use crate::validate::recording::{Recording, RequestRow};
use serde::Serialize;
use sim_base::stats::{quantile, quantile_interval, sorted};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Value {
    Number(f64),
    /// The median in seconds and sigma of a log-normal distribution.
    LogNormal(f64, f64),
    /// Observed values in seconds, in ascending order.
    Empirical(Vec<f64>),
}

/// One fitted value of a preset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Path of the field in a scenario: `controlPlane.kubeControllerManager.qps`, `timing.apiWrite`.
    pub id: String,
    pub value: Value,
    /// 95 % interval of the number, or of the median of a distribution.
    pub interval: [f64; 2],
    /// 95 % interval of sigma.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma_interval: Option<[f64; 2]>,
    pub n: u64,
    pub from: String,
}

/// Result of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    pub parameters: Vec<Parameter>,
    /// Values that the data cannot distinguish.
    pub undecided: Vec<String>,
    /// Parameters that the data does not show.
    pub unseen: Vec<String>,
}

/// Smallest number of observations for a measured value. With fewer, the preset marks the value as unverified.
pub const ENOUGH: u64 = 20;
/// Assumed relative error of the number of requests that were only counted or were inferred from a count. A
/// recording does not contain a better estimate.
const MISCOUNTED: f64 = 0.1;
/// Smallest number of observations that is fitted.
const LEAST: usize = 5;
/// Median wait for binding, in seconds, above which the scheduler is taken to be the bottleneck.
const WAITS_S: f64 = 1.0;
/// Smallest bucket bound of the wait histogram in seconds. Shorter waits do not count as waits.
const SOON_S: f64 = 0.005;
/// Median stop time in seconds below which a stop consists only of two API writes (grace period 0).
const STOP_LEAST_S: f64 = 0.2;
/// p-value at or below which the form of a distribution is rejected.
pub const UNLIKELY: f64 = 0.01;

/// Fits every parameter that the data determines. Each recording is paired with its name. `rest_s` is the default
/// duration, in seconds, of the parts of a pod's start other than the container start.
pub fn calibrate(recordings: &[(String, Recording)], metrics: &Metrics, rest_s: f64) -> Found {
    let mut found = Found::default();
    rates(recordings, metrics, &mut found);
    latencies(recordings, metrics, &mut found);
    start_up(recordings, rest_s, &mut found);
    stops(recordings, &mut found);
    for (what, why) in [
        (
            "controlPlane.kubeControllerManager.concurrentJobSyncs, concurrentGcSyncs",
            "workers that wait look like none",
        ),
        (
            "controlPlane.nodeRequestsPerSecond",
            "nobody counts what kubelets were answered",
        ),
        (
            "timing.watchLag, agentFanout",
            "no object tells when a cache saw it",
        ),
        (
            "timing.schedulerFixed, schedulerPerNode, schedulerAffinityPerNode",
            "a cycle leaves no trace of its own",
        ),
        (
            "timing.cleanup, containerRemove",
            "a pod's end is told once",
        ),
    ] {
        found.unseen.push(format!("{what}: {why}"));
    }
    found
}

fn resolution(recording: &Recording) -> f64 {
    // Imported times are whole seconds. The order of the writes narrows them further.
    match recording.imported.is_some() {
        true => 0.5,
        false => 0.001,
    }
}

fn rates(recordings: &[(String, Recording)], metrics: &Metrics, found: &mut Found) {
    type Of = fn(&Recording, Option<u64>) -> Tokens;
    let clients: [(&'static str, Of); 3] = [
        ("kubeControllerManager", tokens::job_controller),
        ("kubeScheduler", |r, _| tokens::scheduler(r)),
        ("jobsetManager", |r, _| tokens::jobset_manager(r)),
    ];
    for (client, of) in clients {
        let waits = metrics.waits.get(client);
        let waited = waits.map(|h| h.above(SOON_S));
        let mut lines: Vec<(&str, Line, Tokens)> = Vec::new();
        let mut at_once = 0.0f64;
        for (name, recording) in recordings {
            let held = client != "kubeScheduler"
                || tokens::wait_for_binding(recording).is_some_and(|s| s > WAITS_S);
            match line_of(recording, of).filter(|_| held) {
                Some((line, tokens)) => lines.push((name, line, tokens)),
                None => at_once = at_once.max(bucket::at_once(&of(recording, None).times)),
            }
        }
        lines.sort_by_key(|(_, line, _)| (!line.burst_seen, std::cmp::Reverse(line.n)));
        disagree(client, &lines, found);
        let Some((name, line, tokens)) = lines.first() else {
            unheld(client, at_once, waited, found);
            continue;
        };
        // The scheduler handles one pod at a time, so scheduling cycles of equal duration produce the same line as a
        // limit.
        let shows = line.burst_seen && client != "kubeScheduler";
        match waited {
            Some(0.0) => no_limit(client, line, waited, found),
            None if !shows => no_limit(client, line, waited, found),
            _ => put_rate(client, name, line, tokens, found),
        }
    }
}

/// Returns the line of a client. Requests that were only counted may have been sent evenly or with an initial burst;
/// the interval covers both cases.
fn line_of(
    recording: &Recording,
    of: fn(&Recording, Option<u64>) -> Tokens,
) -> Option<(Line, Tokens)> {
    let resolution = resolution(recording);
    let timed = of(recording, None);
    let alone = bucket::line(&timed.times, resolution);
    let burst = alone.map_or(bucket::at_once(&timed.times), |line| line.burst);
    let tokens = of(recording, Some(burst.round() as u64));
    if tokens.spread == 0 {
        let line = alone?;
        return Some((line.widened(MISCOUNTED * timed.unseen()), timed));
    }
    let mut line = bucket::line(&tokens.times, resolution)?.widened(MISCOUNTED * tokens.unseen());
    if let Some(even) = bucket::line(&of(recording, Some(0)).times, resolution) {
        let hull = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        line.qps_interval = hull(line.qps_interval, even.qps_interval);
        line.burst_interval = hull(line.burst_interval, even.burst_interval);
    }
    Some((line, tokens))
}

fn put_rate(client: &str, name: &str, line: &Line, tokens: &Tokens, found: &mut Found) {
    let mut from = format!("{name}: {} requests at the limit", line.n);
    let interval = line.qps_interval;
    if tokens.unseen() > 0.0 {
        let part = tokens.unseen() * 100.0;
        from.push_str(&format!(", {part:.0} % of them not seen but counted"));
    }
    let n = line.n as u64;
    let number = |id: &str, value: f64, interval: [f64; 2]| Parameter {
        id: format!("controlPlane.{client}.{id}"),
        value: Value::Number(value),
        interval,
        sigma_interval: None,
        n,
        from: from.clone(),
    };
    found.parameters.push(number("qps", line.qps, interval));
    if line.burst_seen {
        found
            .parameters
            .push(number("burst", line.burst.round(), line.burst_interval));
        let mean = 0.5 * (line.n as f64 - line.burst) / line.qps;
        found.undecided.push(format!(
            "controlPlane.{client}.qps and burst: 1 request/s more and {mean:.1} fewer of the burst lie as well on its line"
        ));
    }
}

/// Records that the client never reached its limit in any recording.
fn unheld(client: &str, at_once: f64, waited: Option<f64>, found: &mut Found) {
    let waits = match waited {
        Some(0.0) => format!("; by {WAITS} it never waited for its limit"),
        Some(n) => format!("; by {WAITS} {n} requests waited for its limit at some time"),
        None => String::new(),
    };
    found.unseen.push(match at_once > 1.0 {
        true => format!(
            "controlPlane.{client}.qps, burst: it was never held by its limit; {at_once:.0} requests within a second say \
             only that burst and qps together are not below that{waits}"
        ),
        false => format!("controlPlane.{client}.qps, burst: no requests of it are in these recordings{waits}"),
    });
}

fn no_limit(client: &str, line: &Line, waited: Option<f64>, found: &mut Found) {
    let rate = line.qps;
    found.undecided.push(match waited {
        Some(_) => format!(
            "controlPlane.{client}.qps is {rate:.1}/s or more: requests went out evenly, but by {WAITS} none waited for a \
             limit: what each took paced them"
        ),
        None => format!(
            "controlPlane.{client}.qps and what each of its requests took: {} went out evenly at {rate:.1}/s; that is its \
             limit, or the time of one after the other. {WAITS} of it tells which",
            line.n
        ),
    });
}

fn disagree(client: &str, lines: &[(&str, Line, Tokens)], found: &mut Found) {
    let mut seen = lines.iter().filter(|(_, line, _)| line.burst_seen);
    let Some((name, first, _)) = seen.next() else {
        return;
    };
    let apart = |line: &Line| {
        line.qps_interval[0] > first.qps_interval[1] * 1.1
            || line.qps_interval[1] < first.qps_interval[0] * 0.9
    };
    if let Some((other, line, _)) = seen.find(|(_, line, _)| apart(line)) {
        found.undecided.push(format!(
            "controlPlane.{client}.qps: {name} shows {:.1}, {other} {:.1}: of different clusters? The one with more requests \
             is taken",
            first.qps, line.qps
        ));
    }
}

/// Returns the latency parameter of the model that applies to a request.
fn class(verb: &str, resource: &str) -> Option<&'static str> {
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

const CLASSES: [&str; 3] = ["timing.apiRead", "timing.apiWrite", "timing.apiPodCreate"];

fn latencies(recordings: &[(String, Recording)], metrics: &Metrics, found: &mut Found) {
    for id in CLASSES {
        let mut histogram = Histogram::default();
        let of = metrics
            .requests
            .iter()
            .filter(|((verb, resource), _)| class(verb, resource) == Some(id));
        for (_, own) in of {
            own.buckets
                .iter()
                .for_each(|(le, n)| histogram.add(*le, *n));
        }
        if let Some(fit) = lognormal::fit(&histogram.cells()) {
            put_fit(id, &fit, format!("{REQUESTS}, {} requests", fit.n), found);
            continue;
        }
        let rows = recordings.iter().filter_map(|(_, r)| r.requests.as_ref());
        let rows: Vec<&RequestRow> = rows
            .flat_map(|r| r.restart.iter().chain(&r.start))
            .collect();
        match audited(&rows, id) {
            Some(fit) => put_fit(id, &fit, format!("audit log, {} requests", fit.n), found),
            None => found.unseen.push(format!("{id}: no {REQUESTS} was given")),
        }
    }
}

/// Fits medians and 95th percentiles of several kinds of requests. Each kind contributes three cells: below the
/// median, between median and 95th percentile, and above.
fn audited(rows: &[&RequestRow], id: &str) -> Option<Fit> {
    let mut cells = Vec::new();
    for RequestRow(client, verb, resource, error, n, p50, p95, ..) in rows {
        let own = class(verb, resource) == Some(id) && error.is_empty() && client != "kubelets";
        if !own || *p50 <= 0.0 || *n < 20 {
            continue;
        }
        let (p50, p95, n) = (p50 / 1e3, p95.max(*p50 * 1.001) / 1e3, *n as f64);
        let cell = |low, high, part| Cell {
            low,
            high,
            n: n * part,
        };
        cells.extend([
            cell(0.0, p50, 0.5),
            cell(p50, p95, 0.45),
            cell(p95, f64::INFINITY, 0.05),
        ]);
    }
    lognormal::fit(&cells)
}

fn put_fit(id: &str, fit: &Fit, from: String, found: &mut Found) {
    found.parameters.push(Parameter {
        id: id.to_owned(),
        value: Value::LogNormal(fit.median_s, fit.sigma),
        interval: fit.median_interval,
        sigma_interval: Some(fit.sigma_interval),
        n: fit.n as u64,
        from,
    });
}

/// Returns the time from one event of each pod to another in seconds, with its resolution.
fn spans(
    recordings: &[(String, Recording)],
    of: &dyn Fn(&crate::validate::rows::PodRow) -> Option<(u64, u64)>,
) -> Vec<Cell> {
    let one = |recording: &Recording, pod| {
        let (from, to) = of(pod)?;
        let s = to.checked_sub(from)? as f64 / 1e3;
        // The difference of two whole seconds is known to 1 s.
        let width = match recording.imported.is_some() {
            true => 1.0,
            false => 0.001,
        };
        Some(Cell {
            low: (s - width / 2.0).max(0.0),
            high: s + width / 2.0,
            n: 1.0,
        })
    };
    let all = recordings
        .iter()
        .flat_map(|(_, r)| r.pods.0.iter().filter_map(move |pod| one(r, pod)));
    all.collect()
}

fn start_up(recordings: &[(String, Recording)], rest_s: f64, found: &mut Found) {
    let cells = spans(recordings, &|pod| Some((pod.bound_ms?, pod.ready_ms?)));
    if cells.len() < LEAST {
        found.unseen.push(
            "timing.containerStart: fewer than 5 pods were seen bound and then ready".to_owned(),
        );
        return;
    }
    let less = |c: &Cell| Cell {
        low: (c.low - rest_s).max(0.0),
        high: (c.high - rest_s).max(1e-3),
        n: c.n,
    };
    let cells: Vec<Cell> = cells.iter().map(less).collect();
    distribution(
        "timing.containerStart",
        &cells,
        "pods, bound to ready",
        found,
    );
    found.undecided.push(format!(
        "timing.containerStart, volumes, sandbox and imageCheck: only their sum is seen, from bound to ready; containerStart \
         has all of it but the {rest_s:.2} s that statusWrite and the API take by default, the others are 0"
    ));
}

fn stops(recordings: &[(String, Recording)], found: &mut Found) {
    let cells = spans(recordings, &|pod| {
        pod.ready_ms?;
        Some((pod.deleting_ms?, pod.finished_ms?))
    });
    let middles = sorted(cells.iter().map(|c| 0.5 * (c.low + c.high)).collect());
    let usual = quantile(&middles, 0.5).unwrap_or(0.0);
    let long = match usual > STOP_LEAST_S {
        true => cells,
        false => Vec::new(),
    };
    match long.len() >= LEAST {
        true => distribution(
            "timing.containerStop",
            &long,
            "pods, deleted to ended",
            found,
        ),
        false => found.unseen.push(
            "timing.containerStop: fewer than 5 running pods were seen to be deleted and to take their time to end"
                .to_owned(),
        ),
    }
}

/// Records a log-normal distribution, unless the goodness-of-fit test rejects it. In that case records the
/// observations themselves.
fn distribution(id: &str, cells: &[Cell], of: &str, found: &mut Found) {
    let n = cells.len() as u64;
    let fit = lognormal::fit(&lognormal::gathered(cells));
    let middles = sorted(cells.iter().map(|c| 0.5 * (c.low + c.high)).collect());
    if let Some(fit) = fit.filter(|fit| fit.p > UNLIKELY) {
        put_fit(
            id,
            &fit,
            format!("{n} {of}; log-normal, p {:.2}", fit.p),
            found,
        );
        return;
    }
    let [low, high] = quantile_interval(&middles, 0.5, super::LEVEL);
    let bound = |side: Option<f64>, end: usize| side.unwrap_or(middles[end]);
    const POINTS: usize = 40;
    let at = |i: usize| quantile(&middles, (i as f64 + 0.5) / POINTS as f64).unwrap_or(0.0);
    let values = match middles.len() <= POINTS {
        true => middles.clone(),
        false => (0..POINTS).map(at).collect(),
    };
    found.parameters.push(Parameter {
        id: id.to_owned(),
        interval: [bound(low, 0), bound(high, middles.len() - 1)],
        value: Value::Empirical(values),
        sigma_interval: None,
        n,
        from: format!("{n} {of}; no log-normal"),
    });
}
