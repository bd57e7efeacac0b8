//! A target such as `goodput.p10 >= 0.9`, and its test against replications: satisfied, missed, or inconclusive.

use super::sample::{Row, values};
use serde::Serialize;
use sim_base::condition::{Condition, Limit, Operator};
use sim_base::stats::{quantile, quantile_interval, share_interval, sorted, student};

/// Statistic over the replications.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Statistic {
    /// The quantile at this probability.
    Quantile(f64),
    /// The arithmetic mean.
    Mean,
}

/// A bound on a statistic of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The text as written.
    pub text: String,
    /// Metric of a replication.
    pub metric: String,
    /// Statistic over the replications.
    pub statistic: Statistic,
    /// True for a lower bound, false for an upper bound.
    pub at_least: bool,
    /// The bound, in the unit of the metric.
    pub limit: f64,
}

/// Result of testing a target against replications.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Judgement {
    /// The whole confidence interval satisfies the bound.
    Meets,
    /// The whole confidence interval violates the bound.
    Misses,
    /// Inconclusive: the interval contains the bound.
    Open,
}

const FORM: &str = "write METRIC.QUANTILE OPERATOR LIMIT, e.g. 'goodput.p10 >= 0.9' (one run in ten may be worse) or 'end.t_s.p90 <= 30d'";

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let read = text.parse::<Condition>();
        let condition = read.map_err(|why| {
            let what = why.split_once(": ").map_or(why.as_str(), |(_, rest)| rest);
            let what = what.split(';').next().unwrap_or(what);
            format!("{text:?}: {what}; {FORM}")
        })?;
        let at_least = match condition.operator {
            Operator::AtLeast | Operator::Above => true,
            Operator::AtMost | Operator::Below => false,
            Operator::Equal | Operator::NotEqual => {
                return Err(format!("{text:?}: a target is a bound: use >= or <="));
            }
        };
        let Limit::Absolute(limit) = condition.limit else {
            return Err(format!(
                "{text:?}: there is nothing to change from: write the limit itself"
            ));
        };
        let (metric, last) = condition
            .name
            .rsplit_once('.')
            .unwrap_or((&condition.name, ""));
        let statistic = statistic(last).ok_or_else(|| {
            let name = &condition.name;
            format!(
                "{text:?}: which quantile of {name} over the replications? e.g. {name}.p10 for the tenth percentile; {FORM}"
            )
        })?;
        Ok(Target {
            text: text.to_owned(),
            metric: metric.to_owned(),
            statistic,
            at_least,
            limit,
        })
    }
}

fn statistic(word: &str) -> Option<Statistic> {
    if word == "mean" {
        return Some(Statistic::Mean);
    }
    let percent: f64 = word.strip_prefix('p')?.parse().ok()?;
    let inside = percent > 0.0 && percent < 100.0;
    inside.then_some(Statistic::Quantile(percent / 100.0))
}

/// An estimate with its confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimated {
    /// The point estimate.
    pub value: f64,
    /// Confidence interval; `None` for a bound that requires more values.
    pub interval: [Option<f64>; 2],
}

impl Target {
    /// Estimates the statistic of a sample; `None` without values.
    pub fn estimate(&self, sample: &[Row], level: f64) -> Option<Estimated> {
        let values = sorted(values(sample));
        match self.statistic {
            Statistic::Quantile(p) => Some(Estimated {
                value: quantile(&values, p)?,
                interval: quantile_interval(&values, p, level),
            }),
            Statistic::Mean => {
                let mean = student::Mean::of(&values)?;
                // The mean of 0/1 values is a proportion, for which Student's interval may have zero width.
                let yes = values.iter().filter(|v| **v == 1.0).count();
                let share = values.iter().all(|v| *v == 0.0 || *v == 1.0);
                let interval = match share {
                    true => share_interval(yes, mean.n, level),
                    false => mean.interval(level),
                };
                let bound = |v: f64| v.is_finite().then_some(v);
                Some(Estimated {
                    value: mean.mean,
                    interval: interval.map(bound),
                })
            }
        }
    }

    /// Tests a sample against the bound at this confidence level.
    pub fn judge(&self, sample: &[Row], level: f64) -> Judgement {
        let Some(estimated) = self.estimate(sample, level) else {
            return Judgement::Open;
        };
        let [low, high] = estimated.interval;
        let (good, bad) = match self.at_least {
            true => (low.map(|v| v >= self.limit), high.map(|v| v < self.limit)),
            false => (high.map(|v| v <= self.limit), low.map(|v| v > self.limit)),
        };
        match (good, bad) {
            (Some(true), _) => Judgement::Meets,
            (_, Some(true)) => Judgement::Misses,
            _ => Judgement::Open,
        }
    }

    /// Returns the name of the statistic, such as `p10` or `mean`.
    pub fn statistic_name(&self) -> String {
        match self.statistic {
            Statistic::Mean => "mean".to_owned(),
            Statistic::Quantile(p) => format!("p{}", (p * 1e8).round() / 1e6),
        }
    }
}
