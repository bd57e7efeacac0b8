//! Estimates a client's token bucket (rate `q` and burst `b`) from the times of its requests.
//!
//! A client that starts with a full bucket sends at most b + q·T requests in any span of length T, and exactly that
//! many while it has more to send. Therefore the maximum number of requests seen in a span, plotted against the
//! length of the span, lies on a straight line wherever the limit paced the client. The slope of the line is q and
//! its value at 0 is b. A client can be slower than its limit, but never faster. A line without an initial burst may
//! be the limit, or any other cause that slowed the client down.

use sim_base::stats::t_quantile;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct BucketLine {
    pub qps: f64,
    pub qps_interval: [f64; 2],
    pub burst: f64,
    pub burst_interval: [f64; 2],
    pub n: usize,
    /// Whether a burst preceded the line. Only a rate limit produces such a burst.
    pub has_burst: bool,
}

impl BucketLine {
    /// Widens both intervals for the case that the fraction `part` of the requests is missing or counted in excess.
    /// The line is rotated about its upper end.
    pub fn widen_intervals(mut self, part: f64) -> BucketLine {
        let (q, b) = (self.qps * part, (self.n as f64 - self.burst) * part);
        self.qps_interval = [(self.qps_interval[0] - q).max(0.0), self.qps_interval[1] + q];
        self.burst_interval = [(self.burst_interval[0] - b).max(1.0), self.burst_interval[1] + b];
        self
    }
}

/// Number of span lengths examined. The start and end of a line are located to 1/60 of the requests.
const SPAN_LENGTHS: usize = 60;
/// Relative precision required of a rate; less precise rates are rejected. The constants below are derived from it.
const PRECISION: f64 = 0.05;
/// Standard deviation of the number of requests at one end of a span: one more, the same or one less are equally
/// likely, so it is √(2/3).
const JITTER: f64 = 0.816_496_580_927_726;
/// Smallest number of requests on a line whose slope is known to `PRECISION`: one `JITTER` at each end and one
/// request for counting.
const MIN_REQUESTS: f64 = (2.0 * JITTER + 1.0) / PRECISION;
/// 95th percentile of the duration of a write (`timing.apiWrite`), in seconds. Requests sent together are recorded
/// up to this far apart.
const LATENCY_S: f64 = 0.025;
/// Shortest duration of a line in seconds. Each end is known only to within `LATENCY_S`.
const SHORTEST_S: f64 = 2.0 * LATENCY_S / PRECISION;
/// Deviation from a straight line, as a fraction of all requests, if the rate is 5 % higher at one end and 5 % lower
/// at the other. It is the RMS deviation of x² from its best straight line on [−1, 1], √(4/45), times a quarter of
/// `PRECISION`.
const MAX_BEND: f64 = PRECISION * 0.298_142_396_999_972 / 4.0;
/// Default number of Job controller workers (`--concurrent-job-syncs`). This many requests can be in flight without
/// a burst. The same number can be missing in a pause of `PAUSE_S`, ten times the 95th percentile of the latency,
/// while every worker waits for a slow response.
const DEFAULT_WORKERS: f64 = 5.0;
const PAUSE_S: f64 = 10.0 * LATENCY_S;

/// Returns the line that covers the most requests, or `None` if the client was never limited for long enough.
/// `resolution_s` is the resolution of the times in seconds.
pub fn longest_line(times: &[f64], resolution_s: f64) -> Option<BucketLine> {
    let points = max_requests_by_span(times);
    let mut best: Option<(f64, BucketLine)> = None;
    for from in 0..points.len() {
        for to in ((from + 5)..points.len()).rev() {
            let part = &points[from..=to];
            let (first, last) = (part[0], part[part.len() - 1]);
            let long = last.1 - first.1;
            let shortest = SHORTEST_S.max(5.0 * resolution_s);
            if last.0 - first.0 < shortest || long < MIN_REQUESTS {
                break;
            }
            if best.as_ref().is_some_and(|(known, _)| *known >= long) {
                break;
            }
            let fitted = fit_line(part);
            let jitter = JITTER + fitted.slope * resolution_s * 0.3;
            let straight = fitted.rms_deviation <= jitter + MAX_BEND * long && fitted.intercept >= 1.0;
            if straight && !has_pause(times, last.1 as usize, fitted.slope, resolution_s) {
                best = Some((long, bucket_line(&fitted, part.len(), last.1, resolution_s)));
                break;
            }
        }
    }
    best.map(|(_, line)| line)
}

/// Returns the maximum number of requests in a span as points (length of the span in seconds, number of requests).
fn max_requests_by_span(times: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut points = Vec::new();
    let mut known = 0;
    for i in 1..=SPAN_LENGTHS {
        let k = (n * i / SPAN_LENGTHS).max(2);
        if k > n || k == known {
            continue;
        }
        known = k;
        let spans = (0..=n - k).map(|from| sorted[from + k - 1] - sorted[from]);
        points.push((spans.fold(f64::INFINITY, f64::min), k as f64));
    }
    points
}

/// Returns whether the busiest span of `k` requests contains a pause. A client that is held back by a limit does not
/// pause.
fn has_pause(times: &[f64], k: usize, slope: f64, resolution_s: f64) -> bool {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let spans = sorted.windows(k.max(2));
    let busiest = spans.min_by(|a, b| (a[a.len() - 1] - a[0]).total_cmp(&(b[b.len() - 1] - b[0])));
    let longest = DEFAULT_WORKERS / slope.max(1e-9) + PAUSE_S + resolution_s;
    busiest.is_some_and(|span| span.windows(2).any(|pair| pair[1] - pair[0] > longest))
}

struct LinearBucket {
    slope: f64,
    intercept: f64,
    /// RMS deviation of the points from the line.
    rms_deviation: f64,
    slope_error: f64,
    intercept_error: f64,
}

fn fit_line(points: &[(f64, f64)]) -> LinearBucket {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let wide: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = both / wide.max(1e-12);
    let at_zero = y - slope * x;
    let left: Vec<f64> = points.iter().map(|p| p.1 - (at_zero + slope * p.0)).collect();
    let squares: f64 = left.iter().map(|r| r * r).sum();
    // Neighboring points share most of their requests, so the error estimate uses the effective number of
    // independent points.
    let along: f64 = left.windows(2).map(|w| w[0] * w[1]).sum();
    let similar = (along / squares.max(1e-12)).clamp(0.0, 0.95);
    let apart = (n * (1.0 - similar) / (1.0 + similar)).max(3.0);
    let variance = squares / (n - 2.0).max(1.0) * (n / apart);
    LinearBucket {
        slope,
        intercept: at_zero,
        rms_deviation: libm::sqrt(squares / n),
        slope_error: libm::sqrt(variance / wide.max(1e-12)),
        intercept_error: libm::sqrt(variance * (1.0 / n + x * x / wide.max(1e-12))),
    }
}

fn bucket_line(fitted: &LinearBucket, points: usize, last: f64, resolution_s: f64) -> BucketLine {
    let t = t_quantile((points as f64 - 2.0).max(1.0), 0.5 + 0.5 * super::CONFIDENCE_LEVEL);
    // The uncertainty always includes the jitter at either end, the latency of a request and the resolution of the
    // times.
    let end = 2.0 * JITTER + fitted.slope * (LATENCY_S + resolution_s);
    let span = (last - fitted.intercept) / fitted.slope.max(1e-9);
    let q = t * fitted.slope_error + end / span.max(1e-9);
    let b = t * fitted.intercept_error + end;
    BucketLine {
        qps: fitted.slope,
        qps_interval: [(fitted.slope - q).max(0.0), fitted.slope + q],
        burst: fitted.intercept,
        burst_interval: [(fitted.intercept - b).max(1.0), fitted.intercept + b],
        n: last as usize,
        has_burst: fitted.intercept >= DEFAULT_WORKERS,
    }
}

/// Returns the largest number of requests that were sent within one second. Used if no line was found: burst and QPS
/// together are at least this number.
pub fn max_requests_in_one_second(times: &[f64]) -> f64 {
    let points = max_requests_by_span(times);
    let within = points.iter().take_while(|(span, _)| *span <= 1.0);
    within.map(|p| p.1).fold(0.0, f64::max)
}
