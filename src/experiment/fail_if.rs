//! The numbers of replications that `--fail-if` may name, and whether a condition holds of them.
//!
//! `METRIC` is the mean over the replications, `METRIC@p90` a quantile; `VARIANT:METRIC` is of one variant, a metric
//! alone of any; a change is one against the first variant. Must never pass because there was nothing to measure.

use super::metric::{Better, Measured, better, metrics};
use super::replications::Replication;
use crate::base::condition::Condition;
use crate::stats::{quantile, sorted};

/// The replications of one variant; a run has one, without a name.
pub struct Group<'g> {
    /// Of the variant.
    pub name: &'g str,
    /// Names of its JobSets.
    pub jobsets: &'g [String],
    /// In their order.
    pub replications: &'g [Replication],
}

/// A condition that holds, and of what.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The variant; empty of a run.
    pub variant: String,
    /// The number, or its change.
    pub value: f64,
}

/// Where the condition holds; empty: nowhere.
pub fn held(condition: &Condition, groups: &[Group<'_>]) -> Result<Vec<Held>, String> {
    let (variant, metric) = condition
        .name
        .rsplit_once(':')
        .unwrap_or(("", &condition.name));
    let (metric, over) = metric.rsplit_once('@').unwrap_or((metric, "mean"));
    let share = share(over).ok_or_else(|| {
        format!(
            "--fail-if {:?}: {over:?} is no number over replications; write METRIC, METRIC@min, METRIC@max or METRIC@p90",
            condition.text()
        )
    })?;
    if !variant.is_empty() && !groups.iter().any(|g| g.name == variant) {
        let names: Vec<&str> = groups.iter().map(|g| g.name).collect();
        let names = names.join(", ");
        return Err(format!(
            "--fail-if {:?}: there is no variant {variant:?}; there are {names}",
            condition.text()
        ));
    }
    let first = groups.first().map(|g| value(condition, g, (metric, share)));
    let reference = match (condition.is_relative() && groups.len() > 1, first) {
        (true, Some(first)) => Some(first?),
        _ => None,
    };
    let mut held = Vec::new();
    let asked = groups.iter().enumerate();
    let own = asked.filter(|(i, g)| match (variant, condition.is_relative()) {
        ("", true) => *i > 0 || groups.len() == 1,
        ("", false) => true,
        (name, _) => g.name == name,
    });
    for (_, group) in own {
        let now = value(condition, group, (metric, share))?;
        let verdict = condition.holds(now, reference)?;
        if verdict.failed {
            held.push(Held {
                variant: group.name.to_owned(),
                value: verdict.value,
            });
        }
    }
    Ok(held)
}

/// What of the sorted values is meant; `None`: their mean.
type Share = Option<f64>;

fn share(over: &str) -> Option<Share> {
    let percent = |p: &str| p.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
    match over {
        "mean" => Some(None),
        "min" => Some(Some(0.0)),
        "max" => Some(Some(1.0)),
        other => Some(Some(percent(other.strip_prefix('p')?)? / 100.0)),
    }
}

fn value(
    condition: &Condition,
    group: &Group<'_>,
    (metric, share): (&str, Share),
) -> Result<f64, String> {
    let rows: Vec<_> = group
        .replications
        .iter()
        .map(|r| metrics(r, group.jobsets))
        .collect();
    let mut names: Vec<&str> = rows
        .iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.contains(&metric) {
        return Err(condition.unknown(names.into_iter()));
    }
    // What got stuck, or was cut, has no number: it is as bad as can be.
    let worst = match better(metric) {
        Better::Lower => f64::INFINITY,
        Better::Higher => f64::NEG_INFINITY,
    };
    let number = |m: &Measured| match m {
        Measured::Value(value) => Some(*value),
        Measured::Stuck | Measured::Cut => Some(worst),
        Measured::Absent => None,
    };
    let own = rows.iter().flatten().filter(|(name, _)| name == metric);
    let values: Vec<f64> = own.filter_map(|(_, m)| number(m)).collect();
    if values.is_empty() {
        return Err(format!(
            "--fail-if {:?}: there is nothing to measure, such as no restart",
            condition.text()
        ));
    }
    Ok(match share {
        None => values.iter().sum::<f64>() / values.len() as f64,
        Some(p) => quantile(&sorted(values), p).unwrap_or(worst),
    })
}
