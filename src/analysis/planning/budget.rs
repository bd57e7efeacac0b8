//! How long a limit of restarts lasts: from runs without one, of which every restart that would have counted is known.
//!
//! A limit changes nothing before it is used up, so the same runs tell of every limit, and of any rule that would have
//! left the restarts of some cause uncounted.

use crate::experiment::CountedRun;
use serde::Serialize;
use sim_base::stats::{
    Estimate, negative_binomial_cdf, poisson_cdf, share_interval, values_for_quantile_interval,
};
use std::collections::BTreeMap;

/// The name of the format of [`Budget`].
pub const SCHEMA: &str = "jobset-sim/plan-budget/v1";

/// The level of all intervals.
const LEVEL: f64 = 0.95;
/// Instants of the curve.
const CURVE: usize = 90;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Until when the limit is to last, in seconds.
    pub horizon_s: f64,
    /// The limit that the inputs have.
    pub limit: Option<u32>,
    /// With which chance the least limit is to last.
    pub probability: f64,
}

/// A share of the replications, with its exact interval.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Of the replications.
    pub share: f64,
    /// Exact 95 % interval of the chance.
    pub ci95: [f64; 2],
}

impl Share {
    fn of(k: usize, n: usize) -> Share {
        Share {
            share: k as f64 / n.max(1) as f64,
            ci95: share_interval(k, n, LEVEL),
        }
    }
}

/// The least limit that lasts with the chance that is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeastLimit {
    /// No smaller one does.
    pub low: u32,
    /// This one does; null: so few replications cannot tell of any.
    pub high: Option<u32>,
    /// So many replications could tell of some limit.
    pub replications_needed: usize,
}

/// What one limit is worth.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitRow {
    /// `maxRestarts`.
    pub max_restarts: u32,
    /// Runs that it lasts for.
    pub lasts: Share,
    /// The chance if restarts came independently of each other, with the same mean.
    pub poisson: f64,
    /// The chance of the negative binomial distribution with the same mean and variance, where that is more than the
    /// mean.
    pub negative_binomial: Option<f64>,
}

/// What one cause uses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseUse {
    /// Its name.
    pub cause: String,
    /// Of the limit, in a run.
    pub used: Estimate,
    /// Of all that is used.
    pub share: f64,
    /// Runs in which it was what the limit was not enough for.
    pub last_straw: usize,
    /// Were its restarts not counted.
    pub lasts_without: Option<Share>,
    /// The least limit then.
    pub least_without: LeastLimit,
}

/// The same runs with a rule that leaves some restarts uncounted.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruled {
    /// Which restarts it leaves uncounted, in words.
    pub what: String,
    /// The runs with it.
    pub runs: Vec<CountedRun>,
}

/// What a rule that leaves some restarts uncounted is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Which restarts it leaves uncounted, in words.
    pub what: String,
    /// Cause → what it leaves uncounted in a run, on average.
    pub uncounted: BTreeMap<String, f64>,
    /// Of the limit, in a run.
    pub used: Estimate,
    /// With the limit of the inputs.
    pub lasts: Option<Share>,
    /// The least limit with it.
    pub least: LeastLimit,
}

/// The state on a day.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtDay {
    /// Since the start.
    pub day: f64,
    /// Runs whose limit is not used up.
    pub lasts: Share,
    /// The same with the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_rule: Option<Share>,
}

/// How long a limit lasts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// How many were played.
    pub replications: usize,
    /// Until when.
    #[serde(rename = "horizon_s")]
    pub horizon_s: f64,
    /// Of the inputs.
    pub max_restarts: Option<u32>,
    /// The chance that is asked for.
    pub probability: f64,
    /// Of the limit, in a run, until then.
    pub used: Estimate,
    /// The variance of that over its mean: 1 if restarts came independently of each other.
    pub dispersion: f64,
    /// With the limit of the inputs.
    pub lasts: Option<Share>,
    /// The least limit.
    pub least: LeastLimit,
    /// Who uses it, the greatest first.
    pub causes: Vec<CauseUse>,
    /// With a rule.
    pub rule: Option<Rule>,
    /// Limits around those that matter.
    pub limits: Vec<LimitRow>,
    /// Over time, with the limit of the inputs, or the least one.
    pub curve: Vec<AtDay>,
    /// The limit of the curve.
    pub curve_limit: u32,
    /// Runs whose work was done before.
    pub completed: usize,
    /// Runs that ended in another way before, without the limit.
    pub ended_otherwise: usize,
}

/// What a run uses until an instant, of all causes but some.
fn used(run: &CountedRun, until_s: f64, but: &[String]) -> u32 {
    let counts = |u: &&crate::experiment::UsedAt| {
        u.at_s <= until_s && !but.iter().any(|ignored| **ignored == *u.cause)
    };
    run.used.iter().filter(counts).map(|u| u.times).sum()
}

impl Budget {
    /// Of runs without a limit; none without runs. `ruled`: the same with a rule.
    pub fn of(question: &Question, runs: &[CountedRun], ruled: Option<&Ruled>) -> Option<Budget> {
        let whole = Counts::of(runs, question.horizon_s, &[]);
        let least = whole.least(question.probability);
        let spread = whole.estimate()?;
        let curve_limit = question.limit.unwrap_or(least.high.unwrap_or(least.low));
        let rule = ruled.and_then(|ruled| rule(question, runs, ruled));
        let mean_and_variance = whole.moments();
        Some(Budget {
            replications: runs.len(),
            horizon_s: question.horizon_s,
            max_restarts: question.limit,
            probability: question.probability,
            used: spread,
            dispersion: match mean_and_variance {
                (mean, variance) if mean > 0.0 => variance / mean,
                _ => 1.0,
            },
            lasts: question.limit.map(|m| whole.lasts(m)),
            least,
            causes: causes(question, runs),
            rule,
            limits: limits(question, &whole, least),
            curve: curve(question, (runs, ruled), curve_limit),
            curve_limit,
            completed: runs.iter().filter(|r| r.completed).count(),
            ended_otherwise: runs.iter().filter(|r| r.ended_otherwise.is_some()).count(),
        })
    }

    /// Names of all causes.
    pub fn cause_names(runs: &[CountedRun]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for used in runs.iter().flat_map(|r| &r.used) {
            if !names.iter().any(|n| **n == *used.cause) {
                names.push(used.cause.to_string());
            }
        }
        names.sort();
        names
    }
}

/// What each run uses, ascending.
struct Counts(Vec<u32>);

impl Counts {
    fn of(runs: &[CountedRun], until_s: f64, but: &[String]) -> Counts {
        let mut all: Vec<u32> = runs.iter().map(|r| used(r, until_s, but)).collect();
        all.sort_unstable();
        Counts(all)
    }

    /// Runs that use at most so much.
    fn within(&self, limit: u32) -> usize {
        self.0.partition_point(|used| *used <= limit)
    }

    fn lasts(&self, limit: u32) -> Share {
        Share::of(self.within(limit), self.0.len())
    }

    fn estimate(&self) -> Option<Estimate> {
        Estimate::of(self.0.iter().map(|n| f64::from(*n)).collect())
    }

    fn moments(&self) -> (f64, f64) {
        let n = self.0.len() as f64;
        let mean = self.0.iter().map(|u| f64::from(*u)).sum::<f64>() / n;
        let square = |u: &u32| (f64::from(*u) - mean) * (f64::from(*u) - mean);
        let variance = self.0.iter().map(square).sum::<f64>() / (n - 1.0).max(1.0);
        (mean, variance)
    }

    fn least(&self, probability: f64) -> LeastLimit {
        let most = self.0.last().copied().unwrap_or(0);
        // Shares grow with the limit, and so do both bounds.
        let first = |is: &dyn Fn(Share) -> bool| {
            let (mut low, mut high) = (0, most + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                match is(self.lasts(middle)) {
                    true => high = middle,
                    false => low = middle + 1,
                }
            }
            low
        };
        let low = first(&|s| s.ci95[1] >= probability);
        let high = first(&|s| s.ci95[0] >= probability);
        LeastLimit {
            low: low.min(most),
            high: (high <= most).then_some(high),
            replications_needed: values_for_quantile_interval(probability, LEVEL),
        }
    }
}

fn causes(question: &Question, runs: &[CountedRun]) -> Vec<CauseUse> {
    let all: u32 = runs.iter().map(|r| used(r, question.horizon_s, &[])).sum();
    let straws: Vec<Option<&str>> = runs.iter().map(|r| last_straw(question, r)).collect();
    let one = |cause: String| {
        let only = [cause.clone()];
        let without = Counts::of(runs, question.horizon_s, &only);
        let own = |r: &CountedRun| {
            let all = used(r, question.horizon_s, &[]);
            f64::from(all - used(r, question.horizon_s, &only))
        };
        let own: Vec<f64> = runs.iter().map(own).collect();
        let sum: f64 = own.iter().sum();
        Some(CauseUse {
            used: Estimate::of(own)?,
            share: sum / f64::from(all.max(1)),
            last_straw: straws.iter().filter(|s| **s == Some(&cause)).count(),
            lasts_without: question.limit.map(|m| without.lasts(m)),
            least_without: without.least(question.probability),
            cause,
        })
    };
    let mut told: Vec<CauseUse> = Budget::cause_names(runs)
        .into_iter()
        .filter_map(one)
        .collect();
    told.sort_by(|a, b| b.used.mean.total_cmp(&a.used.mean));
    told
}

/// The cause of the restart that the limit was not enough for.
fn last_straw<'r>(question: &Question, run: &'r CountedRun) -> Option<&'r str> {
    let limit = question.limit?;
    let mut sum = 0;
    let mut in_time = run.used.iter().filter(|u| u.at_s <= question.horizon_s);
    let straw = in_time.find(|u| {
        sum += u.times;
        sum > limit
    });
    straw.map(|u| &*u.cause)
}

/// Between the limits that hardly ever and nearly always last, about a dozen of them.
fn limits(question: &Question, counts: &Counts, least: LeastLimit) -> Vec<LimitRow> {
    let at = |share: f64| counts.0[((counts.0.len() - 1) as f64 * share) as usize];
    let (from, to) = (at(0.02), at(1.0));
    let step = ((to - from) / 10).max(1);
    let mut all: Vec<u32> = (from..=to).step_by(step as usize).collect();
    all.extend(question.limit);
    all.extend([least.low, least.high.unwrap_or(least.low)]);
    all.sort_unstable();
    all.dedup();
    let (mean, variance) = counts.moments();
    let row = |max_restarts: u32| {
        let k = u64::from(max_restarts);
        let wider = (variance > mean && mean > 0.0).then(|| {
            let successes = mean * mean / (variance - mean);
            negative_binomial_cdf(k, successes, successes / (successes + mean))
        });
        LimitRow {
            max_restarts,
            lasts: counts.lasts(max_restarts),
            poisson: poisson_cdf(k, mean),
            negative_binomial: wider,
        }
    };
    all.into_iter().map(row).collect()
}

fn rule(question: &Question, runs: &[CountedRun], ruled: &Ruled) -> Option<Rule> {
    let counts = Counts::of(&ruled.runs, question.horizon_s, &[]);
    let mean = |runs: &[CountedRun], cause: &str| {
        let own = |r: &CountedRun| {
            let in_time = r.used.iter().filter(|u| u.at_s <= question.horizon_s);
            let own = in_time.filter(|u| *u.cause == *cause);
            f64::from(own.map(|u| u.times).sum::<u32>())
        };
        runs.iter().map(own).sum::<f64>() / runs.len().max(1) as f64
    };
    let less = |cause: String| {
        let less = mean(runs, &cause) - mean(&ruled.runs, &cause);
        (less > 0.0).then_some((cause, less))
    };
    Some(Rule {
        what: ruled.what.clone(),
        uncounted: Budget::cause_names(runs)
            .into_iter()
            .filter_map(less)
            .collect(),
        used: counts.estimate()?,
        lasts: question.limit.map(|m| counts.lasts(m)),
        least: counts.least(question.probability),
    })
}

impl Ruled {
    /// As if restarts by these causes were not counted.
    pub fn ignoring(causes: &[String], runs: &[CountedRun]) -> Ruled {
        let without = |run: &CountedRun| {
            let mut run = run.clone();
            run.used.retain(|u| !causes.iter().any(|c| **c == *u.cause));
            run
        };
        Ruled {
            what: format!("restarts by {}", causes.join(", ")),
            runs: runs.iter().map(without).collect(),
        }
    }
}

fn curve(
    question: &Question,
    (runs, ruled): (&[CountedRun], Option<&Ruled>),
    limit: u32,
) -> Vec<AtDay> {
    let lasts = |runs: &[CountedRun], until_s: f64| {
        let within = runs.iter().filter(|r| used(r, until_s, &[]) <= limit);
        Share::of(within.count(), runs.len())
    };
    let at = |i: usize| {
        let until_s = question.horizon_s * i as f64 / CURVE as f64;
        AtDay {
            day: until_s / 86_400.0,
            lasts: lasts(runs, until_s),
            with_rule: ruled.map(|ruled| lasts(&ruled.runs, until_s)),
        }
    };
    (0..=CURVE).map(at).collect()
}
