//! Evaluation of the `--fail-if` conditions over replications, and the metric names that they accept.
//!
//! `METRIC` is the mean over the replications, `METRIC@p90` a quantile; `METRIC.p90` is the same unless a metric has
//! that name. `VARIANT:METRIC` refers to one variant or point of a sweep; without a variant, the condition is checked
//! for all of them. A relative change is measured against the first variant. A condition must never pass because a
//! metric has no value.

use super::metric::{BetterDirection, MeasuredMetric, better, limit_outside_share, metrics};
use super::replication::ReplicationResult;
use sim_base::condition::{ConditionLimit, FieldCondition};
use sim_base::stats::{quantile, sorted};
use std::collections::BTreeMap;
use std::fmt;

/// The values of one variant; a run has one variant without a name.
pub struct ConditionGroup {
    /// Name in conditions: the variant, or the number of the point.
    pub name: String,
    /// Name in messages.
    pub title: String,
    /// By metric: the value of each replication that has it.
    values: BTreeMap<String, Vec<MeasuredMetric>>,
}

impl ConditionGroup {
    /// Extracts the values from replications; `jobsets` are the names of their JobSets.
    pub fn evaluate(name: &str, jobsets: &[String], replications: &[ReplicationResult]) -> ConditionGroup {
        let rows = replications.iter().map(|r| metrics(r, jobsets));
        ConditionGroup::from_values(name, name, rows.flatten())
    }

    /// Returns a group in which each metric has a value, to check the names in conditions before a simulation.
    pub fn from_names(name: &str, metrics: Vec<String>) -> ConditionGroup {
        ConditionGroup::from_values(name, name, metrics.into_iter().map(|name| (name, MeasuredMetric::Value(1.0))))
    }

    /// Creates a group from values by metric.
    pub fn from_values(name: &str, title: &str, all: impl Iterator<Item = (String, MeasuredMetric)>) -> ConditionGroup {
        let mut values: BTreeMap<String, Vec<MeasuredMetric>> = BTreeMap::new();
        all.for_each(|(name, value)| values.entry(name).or_default().push(value));
        ConditionGroup { name: name.to_owned(), title: title.to_owned(), values }
    }
}

/// A met condition, and where it is met.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldCondition {
    /// The variant; empty for a run.
    pub variant: String,
    /// The value, or its change.
    pub value: f64,
}

/// Reason why a condition cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailIfError(String);

impl FailIfError {
    fn new(condition: &FieldCondition, why: impl fmt::Display) -> FailIfError {
        FailIfError(format!("--fail-if {:?}: {why}", condition.text()))
    }
}

impl fmt::Display for FailIfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FailIfError {}

/// Evaluates a condition; returns all variants that meet it.
pub fn held(condition: &FieldCondition, groups: &[ConditionGroup]) -> Result<Vec<HeldCondition>, FailIfError> {
    let (variant, metric) = condition.name.rsplit_once(':').unwrap_or(("", &condition.name));
    let is_known = |name: &str| groups.iter().any(|g| g.values.contains_key(name));
    let dotted = metric.rsplit_once('.').filter(|(name, over)| is_known(name) && share(over).is_some());
    let dotted = dotted.filter(|_| !is_known(metric));
    let (metric, over) = metric.rsplit_once('@').or(dotted).unwrap_or((metric, "mean"));
    let share = share(over).ok_or_else(|| {
        let usual = "use METRIC, METRIC@min, METRIC@max or METRIC@p90";
        FailIfError::new(condition, format!("unknown statistic {over:?}; {usual}"))
    })?;
    if let ConditionLimit::Absolute(limit) = condition.limit
        && let Some(why) = limit_outside_share(metric, limit)
    {
        return Err(FailIfError::new(condition, why));
    }
    if !variant.is_empty() && !groups.iter().any(|g| g.name == variant) {
        let available: Vec<&str> = groups.iter().map(|g| g.name.as_str()).collect();
        let why = format!("unknown variant {variant:?}; available: {}", available.join(", "));
        return Err(FailIfError::new(condition, why));
    }
    let first = groups.first().map(|g| value(condition, g, (metric, share)));
    let reference = match (condition.is_relative() && groups.len() > 1, first) {
        (true, Some(first)) => Some(first?),
        _ => None,
    };
    let mut held = Vec::new();
    let request = groups.iter().enumerate();
    let own = request.filter(|(i, g)| match (variant, condition.is_relative()) {
        ("", true) => *i > 0 || groups.len() == 1,
        ("", false) => true,
        (name, _) => g.name == name,
    });
    for (_, group) in own {
        let now = value(condition, group, (metric, share))?;
        let verdict = condition.evaluate(now, reference);
        let verdict = verdict.map_err(|e| FailIfError(e.to_string()))?;
        if verdict.failed {
            held.push(HeldCondition { variant: group.title.clone(), value: verdict.value });
        }
    }
    Ok(held)
}

/// Quantile of the sorted values; `None` for the mean.
type ConditionShare = Option<f64>;

fn share(over: &str) -> Option<ConditionShare> {
    let percent = |p: &str| p.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
    match over {
        "mean" => Some(None),
        "min" => Some(Some(0.0)),
        "max" => Some(Some(1.0)),
        other => Some(Some(percent(other.strip_prefix('p')?)? / 100.0)),
    }
}

fn value(
    condition: &FieldCondition, group: &ConditionGroup, (metric, share): (&str, ConditionShare),
) -> Result<f64, FailIfError> {
    let Some(own) = group.values.get(metric) else {
        let known = group.values.keys().map(String::as_str);
        return Err(FailIfError(condition.unknown_name_error(known).to_string()));
    };
    // Replications without completed work have no value and count as the worst.
    let worst = match better(metric) {
        BetterDirection::Lower => f64::INFINITY,
        BetterDirection::Higher => f64::NEG_INFINITY,
    };
    let number = |m: &MeasuredMetric| match m {
        MeasuredMetric::Value(value) => Some(*value),
        MeasuredMetric::Failed | MeasuredMetric::Blocked | MeasuredMetric::Censored => Some(worst),
        MeasuredMetric::Absent => None,
    };
    let values: Vec<f64> = own.iter().filter_map(number).collect();
    if values.is_empty() {
        let why = "the metric has no value in any replication, for example because there was no restart";
        return Err(FailIfError::new(condition, why));
    }
    Ok(match share {
        None => values.iter().sum::<f64>() / values.len() as f64,
        Some(p) => quantile(&sorted(values), p).unwrap_or(worst),
    })
}
