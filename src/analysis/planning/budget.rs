//! The probability that a restart limit (`maxRestarts`) suffices. It is estimated from runs without a limit in which
//! all counted restarts are recorded.
//!
//! A limit has no effect before it is used up. Therefore the same runs provide the result for every limit, and for
//! every failure policy rule that excludes restarts of some cause.

use crate::experiment::{CountedRun, UsedAt, metric_mean};
use serde::Serialize;
use sim_base::stats::{
    MeanEstimate, negative_binomial_cdf, poisson_cdf, proportion_interval, values_for_quantile_interval,
};
use std::collections::BTreeMap;

/// Schema name of [`LossBudget`].
pub const SCHEMA: &str = "jobset-sim/plan-budget/v1";

/// Confidence level of all intervals.
const LEVEL: f64 = 0.95;
/// Number of instants on the curve.
const CURVE: usize = 90;

/// Inputs of the estimation.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetQuestion {
    /// Time in seconds for which the limit has to suffice.
    pub horizon_s: f64,
    /// Restart limit in the inputs.
    pub limit: Option<u32>,
    /// Required probability that the limit suffices.
    pub probability: f64,
    /// Causes that are failures of nodes and not maintenance.
    pub node_failures: Vec<String>,
}

/// Proportion of the replications, with its exact (Clopper-Pearson) confidence interval.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct LossShare {
    /// Proportion of the replications.
    pub share: f64,
    /// Exact 95 % confidence interval of the probability.
    pub ci95: [f64; 2],
}

impl LossShare {
    fn from_counts(k: usize, n: usize) -> LossShare {
        LossShare { share: k as f64 / n.max(1) as f64, ci95: proportion_interval(k, n, LEVEL) }
    }
}

/// The smallest limit that suffices with the required probability.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeastLimit {
    /// The smallest limit that may suffice; smaller limits do not.
    pub low: u32,
    /// The smallest limit that is known to suffice; null if more replications are needed.
    pub high: Option<u32>,
    /// Number of replications needed to determine a limit.
    pub replications_needed: usize,
}

/// Result for one limit.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitRow {
    /// Value of `maxRestarts`.
    pub max_restarts: u32,
    /// Share of runs for which the limit suffices.
    pub lasts: LossShare,
    /// Probability for a Poisson distribution with the same mean (independent restarts).
    pub poisson: f64,
    /// Probability for the negative binomial distribution with the same mean and variance, if the variance exceeds
    /// the mean.
    pub negative_binomial: Option<f64>,
}

/// Use of the limit by one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseUse {
    /// Name of the cause.
    pub cause: String,
    /// Number of counted restarts per run with this cause.
    pub used: MeanEstimate,
    /// Mean number of restarts per run with this cause that do not count.
    pub uncounted: f64,
    /// Share of all counted restarts.
    pub share: f64,
    /// Number of runs in which a restart with this cause exceeded the limit.
    pub last_straw: usize,
    /// Share of runs for which the limit suffices if restarts with this cause are not counted.
    pub lasts_without: Option<LossShare>,
    /// The smallest sufficient limit if restarts with this cause are not counted.
    pub least_without: LeastLimit,
}

/// The same runs with a rule that does not count some restarts.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledBudget {
    /// Description of the restarts that are not counted.
    pub what: String,
    /// The runs with the rule.
    pub runs: Vec<CountedRun>,
    /// The restarts that the rule matches.
    pub matches: RuleMatch,
}

/// Restarts that a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleMatch {
    /// The failed Job has the reason PodFailurePolicy.
    PodFailurePolicy,
    /// The cause is one of these.
    Causes(Vec<String>),
}

impl RuleMatch {
    fn matches(&self, restart: &UsedAt) -> bool {
        match self {
            RuleMatch::PodFailurePolicy => restart.is_pod_failure_policy,
            RuleMatch::Causes(causes) => causes.iter().any(|cause| **cause == *restart.cause),
        }
    }
}

/// Result for a rule that does not count some restarts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetRule {
    /// Description of the restarts that are not counted.
    pub what: String,
    /// Cause → mean number of restarts per run that the rule does not count.
    pub uncounted: BTreeMap<String, f64>,
    /// Cause → mean number of restarts per run that the rule matches and that the inputs do not count without it.
    pub already_uncounted: BTreeMap<String, f64>,
    /// Number of counted restarts per run.
    pub used: MeanEstimate,
    /// Share of runs for which the limit of the inputs suffices.
    pub lasts: Option<LossShare>,
    /// The smallest sufficient limit with the rule.
    pub least: LeastLimit,
}

/// State of the replications after a number of days.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtDay {
    /// Days since the start.
    pub day: f64,
    /// Share of runs whose limit is not used up.
    pub lasts: LossShare,
    /// The same share with the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_rule: Option<LossShare>,
}

/// How long a restart limit suffices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LossBudget {
    /// Number of replications.
    pub replications: usize,
    /// Time in seconds for which the limit has to suffice.
    #[serde(rename = "horizon_s")]
    pub horizon_s: f64,
    /// Restart limit in the inputs.
    pub max_restarts: Option<u32>,
    /// Required probability that the limit suffices.
    pub probability: f64,
    /// Number of counted restarts per run up to the horizon.
    pub used: MeanEstimate,
    /// Mean number of restarts per run up to the horizon that do not count.
    pub uncounted: f64,
    /// Failures of nodes whose restarts a rule for disruptions does not count.
    pub exempt_failures: Vec<String>,
    /// Variance ÷ mean of the number of counted restarts; 1 for independent restarts, null without restarts.
    pub dispersion: Option<f64>,
    /// Share of runs for which the limit of the inputs suffices.
    pub lasts: Option<LossShare>,
    /// The smallest sufficient limit.
    pub least: LeastLimit,
    /// Causes of counted restarts, most frequent first.
    pub causes: Vec<CauseUse>,
    /// Result with a failure policy rule that does not count some restarts.
    pub rule: Option<BudgetRule>,
    /// Results for individual limits, around the smallest sufficient one.
    pub limits: Vec<LimitRow>,
    /// Share of runs within the limit over time.
    pub curve: Vec<AtDay>,
    /// Limit used for `curve`: that of the inputs, otherwise the smallest sufficient one.
    pub curve_limit: u32,
    /// Number of runs that completed their work before the horizon.
    pub completed: usize,
    /// Number of runs that ended before the horizon for other reasons.
    pub ended_otherwise: usize,
}

/// Returns the number of counted restarts of a run until an instant, without the causes in `but`.
fn used(run: &CountedRun, until_s: f64, but: &[String]) -> u32 {
    let counts = |u: &&UsedAt| u.at_s <= until_s && !but.iter().any(|ignored| **ignored == *u.cause);
    run.used.iter().filter(counts).map(|u| u.times).sum()
}

/// Returns the mean number per run of the restarts in `of` up to an instant that `is` selects, by cause.
fn means<'r>(
    runs: &'r [CountedRun], until_s: f64, of: impl Fn(&'r CountedRun) -> &'r [UsedAt], is: impl Fn(&UsedAt) -> bool,
) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let restarts = runs.iter().flat_map(of).filter(|u| u.at_s <= until_s && is(u));
    for restart in restarts {
        *all.entry(restart.cause.to_string()).or_insert(0.0) += f64::from(restart.times) / runs.len() as f64;
    }
    all
}

impl LossBudget {
    /// Estimates the budget from runs without a limit; `None` without runs. `ruled` contains the same runs with a rule.
    pub fn from_runs(
        question: &BudgetQuestion, runs: &[CountedRun], ruled: Option<&RuledBudget>,
    ) -> Option<LossBudget> {
        let total = LossCounts::from_runs(runs, question.horizon_s, &[]);
        let least = total.least(question.probability);
        let spread = total.estimate()?;
        let curve_limit = question.limit.unwrap_or(least.high.unwrap_or(least.low));
        let rule = ruled.and_then(|ruled| rule(question, runs, ruled));
        let (mean, variance) = total.moments();
        let uncounted = means(runs, question.horizon_s, |r| &r.uncounted, |_| true);
        Some(LossBudget {
            replications: runs.len(),
            horizon_s: question.horizon_s,
            max_restarts: question.limit,
            probability: question.probability,
            used: spread,
            uncounted: uncounted.values().sum(),
            exempt_failures: exempt_failures(question, runs, ruled),
            dispersion: (mean > 0.0).then(|| variance / mean),
            lasts: question.limit.map(|m| total.lasts(m)),
            least,
            causes: causes(question, runs),
            rule,
            limits: limits(question, &total, least),
            curve: curve(question, (runs, ruled), curve_limit),
            curve_limit,
            completed: runs.iter().filter(|r| r.completed).count(),
            ended_otherwise: runs.iter().filter(|r| r.ended_otherwise.is_some()).count(),
        })
    }

    /// Returns the names of all causes of restarts, sorted.
    pub fn cause_names(runs: &[CountedRun]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for used in runs.iter().flat_map(|r| r.used.iter().chain(&r.uncounted)) {
            if !names.iter().any(|n| **n == *used.cause) {
                names.push(used.cause.to_string());
            }
        }
        names.sort();
        names
    }
}

/// Counted restarts of each run, ascending.
struct LossCounts(Vec<u32>);

impl LossCounts {
    fn from_runs(runs: &[CountedRun], until_s: f64, but: &[String]) -> LossCounts {
        let mut all: Vec<u32> = runs.iter().map(|r| used(r, until_s, but)).collect();
        all.sort_unstable();
        LossCounts(all)
    }

    /// Returns the number of runs with at most `limit` counted restarts.
    fn within(&self, limit: u32) -> usize {
        self.0.partition_point(|used| *used <= limit)
    }

    fn lasts(&self, limit: u32) -> LossShare {
        LossShare::from_counts(self.within(limit), self.0.len())
    }

    fn estimate(&self) -> Option<MeanEstimate> {
        metric_mean("restarts", self.0.iter().map(|n| f64::from(*n)).collect())
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
        // The proportion and both bounds of its interval increase with the limit, so bisection finds the first one.
        let first = |is: &dyn Fn(LossShare) -> bool| {
            let (mut low, mut high) = (0, most + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if is(self.lasts(middle)) { high = middle } else { low = middle + 1 }
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

fn causes(question: &BudgetQuestion, runs: &[CountedRun]) -> Vec<CauseUse> {
    let all: u32 = runs.iter().map(|r| used(r, question.horizon_s, &[])).sum();
    let straws: Vec<Option<&str>> = runs.iter().map(|r| last_straw(question, r)).collect();
    let uncounted = means(runs, question.horizon_s, |r| &r.uncounted, |_| true);
    let one = |cause: String| {
        let only = [cause.clone()];
        let without = LossCounts::from_runs(runs, question.horizon_s, &only);
        let own = |r: &CountedRun| {
            let all = used(r, question.horizon_s, &[]);
            f64::from(all - used(r, question.horizon_s, &only))
        };
        let own: Vec<f64> = runs.iter().map(own).collect();
        let sum: f64 = own.iter().sum();
        Some(CauseUse {
            used: metric_mean("restarts", own)?,
            uncounted: uncounted.get(&cause).copied().unwrap_or(0.0),
            share: sum / f64::from(all.max(1)),
            last_straw: straws.iter().filter(|s| **s == Some(&cause)).count(),
            lasts_without: question.limit.map(|m| without.lasts(m)),
            least_without: without.least(question.probability),
            cause,
        })
    };
    let mut uses: Vec<CauseUse> = LossBudget::cause_names(runs).into_iter().filter_map(one).collect();
    uses.sort_by(|a, b| b.used.mean.total_cmp(&a.used.mean).then(b.uncounted.total_cmp(&a.uncounted)));
    uses
}

/// Returns the cause of the restart that exceeded the limit.
fn last_straw<'r>(question: &BudgetQuestion, run: &'r CountedRun) -> Option<&'r str> {
    let limit = question.limit?;
    let mut sum = 0;
    let mut in_time = run.used.iter().filter(|u| u.at_s <= question.horizon_s);
    let straw = in_time.find(|u| {
        sum += u.times;
        sum > limit
    });
    straw.map(|u| &*u.cause)
}

/// Returns the results for about a dozen limits, from those that rarely suffice to those that always do.
fn limits(question: &BudgetQuestion, counts: &LossCounts, least: LeastLimit) -> Vec<LimitRow> {
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

/// Returns the failures of nodes whose Jobs fail with the reason PodFailurePolicy and whose restarts do not count, in
/// the inputs or with the rule: the pods of a lost node have the condition DisruptionTarget, as those of a drained one.
fn exempt_failures(question: &BudgetQuestion, runs: &[CountedRun], ruled: Option<&RuledBudget>) -> Vec<String> {
    let ruled = ruled.filter(|ruled| ruled.matches == RuleMatch::PodFailurePolicy);
    let runs = runs.iter().chain(ruled.iter().flat_map(|ruled| &ruled.runs));
    let is_exempt = |u: &&UsedAt| u.at_s <= question.horizon_s && u.is_pod_failure_policy;
    let causes: Vec<&str> = runs.flat_map(|r| &r.uncounted).filter(is_exempt).map(|u| &*u.cause).collect();
    question.node_failures.iter().filter(|cause| causes.contains(&cause.as_str())).cloned().collect()
}

fn rule(question: &BudgetQuestion, runs: &[CountedRun], ruled: &RuledBudget) -> Option<BudgetRule> {
    let counts = LossCounts::from_runs(&ruled.runs, question.horizon_s, &[]);
    let counted = |runs| means(runs, question.horizon_s, |r| &r.used, |_| true);
    let (without, with) = (counted(runs), counted(&ruled.runs));
    let less = |(cause, mean): (&String, &f64)| {
        let less = mean - with.get(cause).copied().unwrap_or(0.0);
        (less > 1e-9).then(|| (cause.clone(), less))
    };
    Some(BudgetRule {
        what: ruled.what.clone(),
        uncounted: without.iter().filter_map(less).collect(),
        already_uncounted: means(runs, question.horizon_s, |r| &r.uncounted, |u| ruled.matches.matches(u)),
        used: counts.estimate()?,
        lasts: question.limit.map(|m| counts.lasts(m)),
        least: counts.least(question.probability),
    })
}

impl RuledBudget {
    /// Returns the runs with restarts of these causes removed.
    pub fn ignoring(causes: &[String], runs: &[CountedRun]) -> RuledBudget {
        let without = |run: &CountedRun| {
            let mut run = run.clone();
            run.used.retain(|u| !causes.iter().any(|c| **c == *u.cause));
            run
        };
        RuledBudget {
            what: format!("restarts by {}", causes.join(", ")),
            runs: runs.iter().map(without).collect(),
            matches: RuleMatch::Causes(causes.to_vec()),
        }
    }
}

fn curve(question: &BudgetQuestion, (runs, ruled): (&[CountedRun], Option<&RuledBudget>), limit: u32) -> Vec<AtDay> {
    let lasts = |runs: &[CountedRun], until_s: f64| {
        let within = runs.iter().filter(|r| used(r, until_s, &[]) <= limit);
        LossShare::from_counts(within.count(), runs.len())
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
