//! Search for the best checkpoint interval: the vertex of a parabola fitted to five intervals around it. Each
//! replication has its own parabola, which gives the vertex a confidence interval.
//!
//! The cost of checkpoints is proportional to 1/interval, and the loss by failures is proportional to the interval.
//! Over the logarithm of the interval, the total is symmetric around the optimum, where it is flat. Intervals far
//! from the optimum therefore locate it better than a comparison of almost equal values near it.

use super::sample::{SampleMetric, SampleRun, mean_estimate, paired_difference};
use crate::experiment::{BetterDirection, better};
use serde::Serialize;
use sim_base::stats::{MeanEstimate, PairedDifference, t_quantile};
use std::collections::BTreeMap;

/// Confidence level of all intervals.
const LEVEL: f64 = 0.95;
/// The five intervals are spaced by this factor around the center.
const FACTOR: f64 = std::f64::consts::SQRT_2;
const STEPS: [i32; 5] = [-2, -1, 0, 1, 2];
/// Coefficients, in twelfths, of the five-point estimate of the slope at the center. It is exact for cubics; a
/// fitted parabola would interpret the slight asymmetry of the curve as a slope.
const SLOPE: [f64; 5] = [1.0, -8.0, 0.0, 8.0, -1.0];
/// Maximum number of times that the five intervals are moved.
const ROUNDS: usize = 8;
/// Accepted distance of the vertex from the center, as a natural logarithm.
const NEAR: f64 = 0.12;

/// An evaluated checkpoint interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedInterval {
    /// The interval in seconds.
    #[serde(rename = "every_s")]
    pub every_s: f64,
    /// Estimate of the metric over the replications.
    pub metric: Option<MeanEstimate>,
    /// Paired difference from the best evaluated interval.
    pub change: Option<PairedDifference>,
    /// Number of replications.
    pub replications: usize,
    /// Number of replications without completed work, which the estimates exclude.
    pub excluded: usize,
}

/// Result of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct BestInterval {
    /// The best interval in seconds; null if there is no vertex.
    pub every_s: Option<f64>,
    /// 95 % confidence interval of the best interval; null for a bound that requires more replications, and if the
    /// interval is only the best simulated one.
    pub ci95_s: Option<[f64; 2]>,
    /// True if a simulated interval is better than the vertex: the curve is no parabola there. It is then the best one.
    pub is_simulated: bool,
    /// All evaluated intervals, ascending.
    pub points: Vec<SimulatedInterval>,
    /// True if the best interval is at the edge of the searched range.
    pub at_edge: bool,
    /// True if the search was interrupted.
    pub interrupted: bool,
}

fn point(metric: &str, every_s: f64, (sample, best): (&SampleMetric, &SampleMetric)) -> SimulatedInterval {
    SimulatedInterval {
        every_s,
        metric: mean_estimate(metric, sample),
        change: paired_difference(metric, best, sample).filter(|p| p.n > 1),
        replications: sample.len(),
        excluded: sample.iter().filter(|row| row.is_worst).count(),
    }
}

/// Inputs of the search.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct IntervalSearch {
    /// Center of the first five intervals, in seconds.
    pub start_s: f64,
    /// The configured interval in seconds, which is simulated as well; `None` if there is none.
    pub now_s: Option<f64>,
    /// Smallest and largest interval of the search, in seconds.
    pub bounds_s: [f64; 2],
    /// Initial number of replications per interval.
    pub first: u64,
    /// Maximum number of replications per interval.
    pub most: u64,
}

/// A checkpoint interval in milliseconds.
type Milliseconds = u64;

/// Searches for the checkpoint interval with the best value of the metric.
pub fn best<E>(
    search: &IntervalSearch, metric: &str, play: &mut SampleRun<'_, Milliseconds, E>,
) -> Result<BestInterval, E> {
    let mut known: BTreeMap<Milliseconds, SampleMetric> = BTreeMap::new();
    let [from, to] = search.bounds_s;
    let (mut middle, mut n) = (search.start_s.clamp(from, to), search.first);
    let mut top = CurveTop::default();
    for _ in 0..ROUNDS {
        let five = STEPS.map(|k| ms(middle * libm::pow(FACTOR, f64::from(k))));
        for every in five {
            let sample = known.entry(every).or_default();
            let have = sample.len() as u64;
            if have < n {
                sample.extend(play(&every, have..n)?);
                top.interrupted |= (sample.len() as u64) < n;
            }
        }
        if top.interrupted {
            break;
        }
        let fit =
            ParabolaFit::through_points(&five.map(|every| &known[&every]), better(metric) == BetterDirection::Higher);
        let Some(fit) = fit else { break };
        top.found = None;
        // If the curvature is too uncertain for a vertex, replications are added below.
        let bent = fit.is_bent();
        let moved = fit.top();
        if bent && moved.abs() <= NEAR {
            let of = |u: f64| middle * libm::exp(u);
            top.found = Some((of(moved), fit.interval().map(|i| i.map(of))));
            let wide = fit.interval().is_none_or(|[low, high]| high - low > 0.3);
            if !wide || n >= search.most {
                break;
            }
            n = (2 * n).min(search.most);
        } else if bent {
            let next = middle * libm::exp(moved.clamp(-1.0, 1.0));
            top.at_edge = next < from || next > to;
            if top.at_edge && (middle == from || middle == to) {
                break;
            }
            middle = next.clamp(from, to);
        } else if n < search.most {
            n = (4 * n).min(search.most);
        } else {
            let up = fit.slope() > 0.0;
            let next = middle * if up { 4.0 } else { 0.25 };
            top.at_edge = next < from || next > to;
            if top.at_edge || !fit.is_sloped() {
                break;
            }
            middle = next;
        }
    }
    let most = known.values().map(Vec::len).max().unwrap_or(0) as u64;
    let others = [search.now_s, top.found.map(|(vertex, _)| vertex)];
    for every in others.into_iter().flatten().map(ms).filter(|_| !top.interrupted) {
        let sample = known.entry(every).or_default();
        let have = sample.len() as u64;
        if have < most {
            sample.extend(play(&every, have..most)?);
        }
    }
    Ok(top.report(known, metric))
}

/// A simulated interval counts as better than the vertex if the difference is beyond this number of half-widths of its
/// 95 % interval, a probability of 0.1 %: several intervals are compared.
const DISTINCT: f64 = 1.7;

fn ms(seconds: f64) -> Milliseconds {
    ((seconds * 1e3).round() as Milliseconds).max(1)
}

#[derive(Default)]
struct CurveTop {
    found: Option<(f64, Option<[f64; 2]>)>,
    at_edge: bool,
    interrupted: bool,
}

impl CurveTop {
    fn report(self, known: BTreeMap<Milliseconds, SampleMetric>, metric: &str) -> BestInterval {
        let sign = if better(metric) == BetterDirection::Higher { 1.0 } else { -1.0 };
        let mean = |sample: &SampleMetric| mean_estimate(metric, sample).map_or(f64::MIN, |e| sign * e.mean);
        let best = known.iter().max_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b)));
        let (best_ms, best) = best.map(|(every, sample)| (*every, sample.clone())).unwrap_or_default();
        let vertex = self.found.and_then(|(vertex, _)| known.get(&ms(vertex)));
        let gain = vertex.and_then(|vertex| paired_difference(metric, vertex, &best)).filter(|gain| gain.n > 1);
        let is_simulated = gain.is_some_and(|gain| {
            let half = (gain.ci95[1] - gain.ci95[0]) / 2.0;
            sign * gain.mean > DISTINCT * half
        });
        let found = if is_simulated { Some((best_ms as f64 / 1e3, None)) } else { self.found };
        BestInterval {
            every_s: found.map(|(every, _)| every),
            ci95_s: found.and_then(|(_, interval)| interval),
            is_simulated,
            points: known.iter().map(|(every, sample)| point(metric, *every as f64 / 1e3, (sample, &best))).collect(),
            at_edge: self.at_edge,
            interrupted: self.interrupted,
        }
    }
}

/// Means and covariances, over the replications, of the slope `b` and half of the curvature `c` at the center. The
/// abscissa is the logarithm of the interval relative to the center.
struct ParabolaFit {
    n: f64,
    b: f64,
    c: f64,
    bb: f64,
    bc: f64,
    cc: f64,
}

impl ParabolaFit {
    /// Fits parabolas to five samples, using the replications that all of them have.
    fn through_points(five: &[&SampleMetric; 5], higher: bool) -> Option<ParabolaFit> {
        let step = libm::log(FACTOR);
        let sign = if higher { 1.0 } else { -1.0 };
        let mut all: Vec<(f64, f64)> = Vec::new();
        for i in 0..five[0].len() {
            let value = |s: &&SampleMetric| s.get(i).and_then(|r| r.value).filter(|v| v.is_finite());
            let y: Option<Vec<f64>> = five.iter().map(value).collect();
            let Some(y) = y else { continue };
            let (mut b, mut c) = (0.0, 0.0);
            for (i, (k, y)) in STEPS.iter().zip(&y).enumerate() {
                let k = f64::from(*k);
                b += SLOPE[i] * y / 12.0;
                c += (k * k - 2.0) * y / 14.0;
            }
            all.push((sign * b / step, sign * c / (step * step)));
        }
        let n = all.len() as f64;
        if n < 2.0 {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / n;
        let (b, c) = (mean(|p| p.0), mean(|p| p.1));
        let together = |f: &dyn Fn(&(f64, f64)) -> f64| all.iter().map(f).sum::<f64>() / (n - 1.0);
        Some(ParabolaFit {
            n,
            bb: together(&|p| (p.0 - b) * (p.0 - b)),
            bc: together(&|p| (p.0 - b) * (p.1 - c)),
            cc: together(&|p| (p.1 - c) * (p.1 - c)),
            b,
            c,
        })
    }

    /// Returns the position of the vertex of the mean parabola, as a logarithm relative to the center.
    fn top(&self) -> f64 {
        -self.b / (2.0 * self.c)
    }

    fn slope(&self) -> f64 {
        self.b
    }

    fn is_sloped(&self) -> bool {
        self.b * self.b > self.share() * self.bb
    }

    /// Returns the critical value of a squared mean divided by its variance.
    fn share(&self) -> f64 {
        let t = t_quantile(self.n - 1.0, 1.0 - 0.5 * (1.0 - LEVEL));
        t * t / self.n
    }

    /// Returns true if the curvature is negative and significantly differs from zero.
    fn is_bent(&self) -> bool {
        self.c < 0.0 && self.c * self.c > self.share() * self.cc
    }

    /// Confidence set of the vertex: all positions at which the mean slope `b + 2 c u` may be 0 by Student's
    /// interval. Source: E. Fieller, "Some problems in interval estimation", 1954.
    fn interval(&self) -> Option<[f64; 2]> {
        let s = self.share();
        let (a, half, c) =
            (self.c * self.c - s * self.cc, self.b * self.c - s * self.bc, self.b * self.b - s * self.bb);
        let under = half * half - a * c;
        if a <= 0.0 || under < 0.0 {
            return None;
        }
        let root = libm::sqrt(under);
        // The quadratic equation is in w = 2 u.
        Some([(-half - root) / a / 2.0, (-half + root) / a / 2.0])
    }
}
