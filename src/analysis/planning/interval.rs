//! The best checkpoint interval: the top of a parabola through five intervals around it, each replication with a
//! parabola of its own, so that the top has an interval.
//!
//! What a checkpoint costs and what a failure takes back are as the intervals' inverse and the intervals themselves:
//! over their logarithm that is alike on both sides of the best one, where it is flat. So its place is found from
//! values further off, and not by looking for the greatest of many that hardly differ.

use super::sample::{Play, Sample, pairs, values};
use crate::experiment::{Better, better};
use serde::Serialize;
use sim_base::stats::{Estimate, Paired, t_quantile};
use std::collections::BTreeMap;

/// The level of all intervals.
const LEVEL: f64 = 0.95;
/// Powers of this factor around the middle.
const FACTOR: f64 = std::f64::consts::SQRT_2;
const STEPS: [i32; 5] = [-2, -1, 0, 1, 2];
/// Twelfths of the values that add up to the slope in the middle, exact for cubics: the curve is a little steeper on
/// one side, and a parabola alone would take that for a slope.
const SLOPE: [f64; 5] = [1.0, -8.0, 0.0, 8.0, -1.0];
/// So often the five are moved.
const ROUNDS: usize = 8;
/// How far from the middle, as a logarithm, the top may be found: a tenth of the factor between neighbors would do.
const NEAR: f64 = 0.12;

/// An interval that was played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// In seconds.
    #[serde(rename = "every_s")]
    pub every_s: f64,
    /// The metric over the replications.
    pub metric: Option<Estimate>,
    /// Less that of the best one that was played.
    pub change: Option<Paired>,
    /// Replications.
    pub replications: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The best interval, in seconds; null where no top was found.
    pub every_s: Option<f64>,
    /// 95 % interval of it; null for a bound that the replications do not give.
    pub ci95_s: Option<[f64; 2]>,
    /// All that were played, ascending.
    pub points: Vec<Played>,
    /// The sample of the best one that was played.
    best: Sample,
    /// The metric fell or rose as far as was looked.
    pub at_edge: bool,
    /// Somebody has ended it early.
    pub interrupted: bool,
}

impl Best {
    /// One more interval that was played.
    pub fn add(&mut self, every_s: f64, sample: Sample) {
        let at = self.points.partition_point(|p| p.every_s < every_s);
        self.points.insert(at, point(every_s, &sample, &self.best));
    }
}

fn point(every_s: f64, sample: &Sample, best: &Sample) -> Played {
    Played {
        every_s,
        metric: metric_of(sample),
        change: Paired::of(&pairs(best, sample)).filter(|p| p.n > 1),
        replications: sample.len(),
    }
}

fn metric_of(sample: &Sample) -> Option<Estimate> {
    let finite = values(sample).into_iter().filter(|v| v.is_finite());
    Estimate::of(finite.collect())
}

/// How far and how often is looked.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Search {
    /// Where it begins, in seconds.
    pub start_s: f64,
    /// No interval outside of these is played.
    pub bounds_s: [f64; 2],
    /// Replications of each.
    pub first: u64,
    /// No interval is played more often.
    pub most: u64,
}

/// Candidates are milliseconds.
type Ms = u64;

/// Searches.
pub fn best<E>(search: &Search, metric: &str, play: &mut Play<'_, Ms, E>) -> Result<Best, E> {
    let mut known: BTreeMap<Ms, Sample> = BTreeMap::new();
    let [from, to] = search.bounds_s;
    let (mut middle, mut n) = (search.start_s.clamp(from, to), search.first);
    let mut top = Top::default();
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
        let fit = Fit::of(
            &five.map(|every| &known[&every]),
            better(metric) == Better::Higher,
        );
        let Some(fit) = fit else { break };
        top.found = None;
        // Too little of a bend to say where the top is: more replications tell.
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
    Ok(top.told(known, metric))
}

fn ms(seconds: f64) -> Ms {
    ((seconds * 1e3).round() as Ms).max(1)
}

#[derive(Default)]
struct Top {
    found: Option<(f64, Option<[f64; 2]>)>,
    at_edge: bool,
    interrupted: bool,
}

impl Top {
    fn told(self, known: BTreeMap<Ms, Sample>, metric: &str) -> Best {
        let sign = if better(metric) == Better::Higher {
            1.0
        } else {
            -1.0
        };
        let mean = |sample: &Sample| metric_of(sample).map_or(f64::MIN, |e| sign * e.mean);
        let best = known
            .values()
            .max_by(|a, b| mean(a).total_cmp(&mean(b)))
            .cloned();
        let best = best.unwrap_or_default();
        Best {
            every_s: self.found.map(|(every, _)| every),
            ci95_s: self.found.and_then(|(_, interval)| interval),
            points: known
                .iter()
                .map(|(every, sample)| point(*every as f64 / 1e3, sample, &best))
                .collect(),
            best,
            at_edge: self.at_edge,
            interrupted: self.interrupted,
        }
    }
}

/// Slope `b` and half of the bend `c` in the middle, over the logarithm of the factor to it, by replication: their
/// means, and how they vary together.
struct Fit {
    n: f64,
    b: f64,
    c: f64,
    bb: f64,
    bc: f64,
    cc: f64,
}

impl Fit {
    /// Of five samples, replications that all of them have.
    fn of(five: &[&Sample; 5], higher: bool) -> Option<Fit> {
        let step = libm::log(FACTOR);
        let sign = if higher { 1.0 } else { -1.0 };
        let mut all: Vec<(f64, f64)> = Vec::new();
        for i in 0..five[0].len() {
            let value = |s: &&Sample| s.get(i).and_then(|r| r.value).filter(|v| v.is_finite());
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
        Some(Fit {
            n,
            bb: together(&|p| (p.0 - b) * (p.0 - b)),
            bc: together(&|p| (p.0 - b) * (p.1 - c)),
            cc: together(&|p| (p.1 - c) * (p.1 - c)),
            b,
            c,
        })
    }

    /// Where the parabola of the means has its top.
    fn top(&self) -> f64 {
        -self.b / (2.0 * self.c)
    }

    fn slope(&self) -> f64 {
        self.b
    }

    fn is_sloped(&self) -> bool {
        self.b * self.b > self.share() * self.bb
    }

    /// What a squared mean is held against, for each unit of variance.
    fn share(&self) -> f64 {
        let t = t_quantile(self.n - 1.0, 1.0 - 0.5 * (1.0 - LEVEL));
        t * t / self.n
    }

    /// Whether it surely has a top.
    fn is_bent(&self) -> bool {
        self.c < 0.0 && self.c * self.c > self.share() * self.cc
    }

    /// All tops that the replications do not rule out: of those that have the mean slope `b + 2 c u` of 0 within
    /// Student's interval. Source: E. Fieller, "Some problems in interval estimation", 1954.
    fn interval(&self) -> Option<[f64; 2]> {
        let s = self.share();
        let (a, half, c) = (
            self.c * self.c - s * self.cc,
            self.b * self.c - s * self.bc,
            self.b * self.b - s * self.bb,
        );
        let under = half * half - a * c;
        if a <= 0.0 || under < 0.0 {
            return None;
        }
        let root = libm::sqrt(under);
        // Of w = 2 u.
        Some([(-half - root) / a / 2.0, (-half + root) / a / 2.0])
    }
}
