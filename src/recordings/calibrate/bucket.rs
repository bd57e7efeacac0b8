//! A client's token bucket, rate and burst, from the times of its requests.
//!
//! In any span T a client with a full bucket sends at most b + q·T requests, and exactly so many while it has more to
//! send. So the most that were seen in a span of each length lie on a line as long as the limit was what paced it: its
//! slope is q, its height at 0 is b. A client can be slower than its limit, never faster: a line that begins with no
//! burst may be the limit, or whatever else took its time.

use sim_base::stats::t_quantile;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Line {
    pub qps: f64,
    pub qps_interval: [f64; 2],
    pub burst: f64,
    pub burst_interval: [f64; 2],
    /// Requests on the line.
    pub n: usize,
    /// Whether a burst came before it, as only a limit makes it.
    pub burst_seen: bool,
}

impl Line {
    /// With so large a part of its requests missing, or too many: the slope turns about the line's end.
    pub fn widened(mut self, part: f64) -> Line {
        let (q, b) = (self.qps * part, (self.n as f64 - self.burst) * part);
        self.qps_interval = [
            (self.qps_interval[0] - q).max(0.0),
            self.qps_interval[1] + q,
        ];
        self.burst_interval = [
            (self.burst_interval[0] - b).max(1.0),
            self.burst_interval[1] + b,
        ];
        self
    }
}

/// Lengths of spans that are looked at: where a line begins and ends is found to a sixtieth.
const POINTS: usize = 60;
/// A rate that is not known to a twentieth is none. What follows is the arithmetic of that.
const PRECISION: f64 = 0.05;
/// At each end of a span there may be one request more or less, evenly likely: the root of 2/3.
const JITTER: f64 = 0.816_496_580_927_726;
/// So many requests are on a line that is known so well: at both ends it may be off by its jitter, and one is counted.
const LEAST: f64 = (2.0 * JITTER + 1.0) / PRECISION;
/// The 95th percentile of a write (timing.apiWrite): as far apart in time are requests that leave together.
const LATENCY_S: f64 = 0.025;
/// A line lasts so long: its ends are not known better than that, each.
const SHORTEST_S: f64 = 2.0 * LATENCY_S / PRECISION;
/// As a part of all requests, how far from a line points lie whose rate is a twentieth more at one end and less at the
/// other: x² less its best line, from -1 to 1, deviates by the root of 4/45, and its height is a quarter of the
/// twentieth.
const BENT: f64 = PRECISION * 0.298_142_396_999_972 / 4.0;
/// The Job controller has so many workers (--concurrent-job-syncs): so many requests may be under way without a burst,
/// and as many may be missing while each waits for an answer that takes ten times as long as nineteen in twenty do.
const WORKERS: f64 = 5.0;
const PAUSE_S: f64 = 10.0 * LATENCY_S;

/// The longest line; `None`: the client was never held for long. `resolution_s` is that of the times.
pub fn line(times: &[f64], resolution_s: f64) -> Option<Line> {
    let points = most(times);
    let mut best: Option<(f64, Line)> = None;
    for from in 0..points.len() {
        for to in ((from + 5)..points.len()).rev() {
            let part = &points[from..=to];
            let (first, last) = (part[0], part[part.len() - 1]);
            let long = last.1 - first.1;
            let shortest = SHORTEST_S.max(5.0 * resolution_s);
            if last.0 - first.0 < shortest || long < LEAST {
                break;
            }
            if best.as_ref().is_some_and(|(known, _)| *known >= long) {
                break;
            }
            let fitted = straight(part);
            let jitter = JITTER + fitted.slope * resolution_s * 0.3;
            let straight = fitted.off <= jitter + BENT * long && fitted.at_zero >= 1.0;
            if straight && !pauses(times, last.1 as usize, fitted.slope, resolution_s) {
                best = Some((long, of(&fitted, part.len(), last.1, resolution_s)));
                break;
            }
        }
    }
    best.map(|(_, line)| line)
}

/// The most requests in a span of each length: (s, requests).
fn most(times: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut points = Vec::new();
    let mut known = 0;
    for i in 1..=POINTS {
        let k = (n * i / POINTS).max(2);
        if k > n || k == known {
            continue;
        }
        known = k;
        let spans = (0..=n - k).map(|from| sorted[from + k - 1] - sorted[from]);
        points.push((spans.fold(f64::INFINITY, f64::min), k as f64));
    }
    points
}

/// Whether the busiest span of so many requests has a pause in it: whoever is held by a limit makes none.
fn pauses(times: &[f64], k: usize, slope: f64, resolution_s: f64) -> bool {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let spans = sorted.windows(k.max(2));
    let busiest = spans.min_by(|a, b| (a[a.len() - 1] - a[0]).total_cmp(&(b[b.len() - 1] - b[0])));
    let longest = WORKERS / slope.max(1e-9) + PAUSE_S + resolution_s;
    busiest.is_some_and(|span| span.windows(2).any(|pair| pair[1] - pair[0] > longest))
}

struct Straight {
    slope: f64,
    at_zero: f64,
    /// The deviation of a point.
    off: f64,
    slope_error: f64,
    zero_error: f64,
}

fn straight(points: &[(f64, f64)]) -> Straight {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let wide: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    let both: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = both / wide.max(1e-12);
    let at_zero = y - slope * x;
    let left: Vec<f64> = points
        .iter()
        .map(|p| p.1 - (at_zero + slope * p.0))
        .collect();
    let squares: f64 = left.iter().map(|r| r * r).sum();
    // Neighbors share most of their requests: as many points count as are independent.
    let along: f64 = left.windows(2).map(|w| w[0] * w[1]).sum();
    let alike = (along / squares.max(1e-12)).clamp(0.0, 0.95);
    let apart = (n * (1.0 - alike) / (1.0 + alike)).max(3.0);
    let variance = squares / (n - 2.0).max(1.0) * (n / apart);
    Straight {
        slope,
        at_zero,
        off: libm::sqrt(squares / n),
        slope_error: libm::sqrt(variance / wide.max(1e-12)),
        zero_error: libm::sqrt(variance * (1.0 / n + x * x / wide.max(1e-12))),
    }
}

fn of(fitted: &Straight, points: usize, last: f64, resolution_s: f64) -> Line {
    let t = t_quantile((points as f64 - 2.0).max(1.0), 0.5 + 0.5 * super::LEVEL);
    // The jitter of either end, what leaves within a latency, and the times' own resolution are always possible.
    let end = 2.0 * JITTER + fitted.slope * (LATENCY_S + resolution_s);
    let span = (last - fitted.at_zero) / fitted.slope.max(1e-9);
    let q = t * fitted.slope_error + end / span.max(1e-9);
    let b = t * fitted.zero_error + end;
    Line {
        qps: fitted.slope,
        qps_interval: [(fitted.slope - q).max(0.0), fitted.slope + q],
        burst: fitted.at_zero,
        burst_interval: [(fitted.at_zero - b).max(1.0), fitted.at_zero + b],
        n: last as usize,
        burst_seen: fitted.at_zero >= WORKERS,
    }
}

/// Without a line: more requests than this were sent at once, so the burst is not smaller; and how many there were.
pub fn at_once(times: &[f64]) -> f64 {
    let points = most(times);
    let within = points.iter().take_while(|(span, _)| *span <= 1.0);
    within.map(|p| p.1).fold(0.0, f64::max)
}
