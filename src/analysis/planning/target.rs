//! A target such as `goodput.p10 >= 0.9`, and whether replications meet it: yes, no, or not to be told from so many.

use super::sample::{Row, values};
use serde::Serialize;
use sim_base::condition::{Condition, Limit, Operator};
use sim_base::stats::{quantile, quantile_interval, share_interval, sorted, student};

/// What of the values over replications is meant.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Statistic {
    /// The quantile of this share.
    Quantile(f64),
    /// The arithmetic mean.
    Mean,
}

/// A metric, what of it, on which side of a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// As it was written.
    pub text: String,
    /// Of a replication.
    pub metric: String,
    /// Over the replications.
    pub statistic: Statistic,
    /// At least the limit; else at most.
    pub at_least: bool,
    /// In the unit of the metric.
    pub limit: f64,
}

/// What replications say of a target.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Judgement {
    /// The whole interval is on the right side.
    Meets,
    /// The whole interval is on the wrong side.
    Misses,
    /// The interval has the limit in it.
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

/// An estimate, and its interval at the level that was asked for.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimated {
    /// The best guess.
    pub value: f64,
    /// None for a bound that so few values do not give.
    pub interval: [Option<f64>; 2],
}

impl Target {
    /// The statistic of a sample; none without values.
    pub fn estimate(&self, sample: &[Row], level: f64) -> Option<Estimated> {
        let values = sorted(values(sample));
        match self.statistic {
            Statistic::Quantile(p) => Some(Estimated {
                value: quantile(&values, p)?,
                interval: quantile_interval(&values, p, level),
            }),
            Statistic::Mean => {
                let mean = student::Mean::of(&values)?;
                // A share: whether it happened. Student's interval of equal values has no width.
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

    /// Whether a sample meets it, at this level.
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

    /// `p10` or `mean`.
    pub fn statistic_name(&self) -> String {
        match self.statistic {
            Statistic::Mean => "mean".to_owned(),
            Statistic::Quantile(p) => format!("p{}", (p * 1e8).round() / 1e6),
        }
    }
}
