//! Names and units of metrics for people: titles, axes and values of charts.
//!
//! Text output, CSV and JSON use the names of metrics as options of the command line take them.

use crate::console::compare::format_seconds_row;
use crate::planning::number::{change_with_interval, short_value};
use sim_analysis::experiment::is_by_cause;
use sim_analysis::format::{seconds, thousands};
use sim_analysis::planning::RangeUnit;
use sim_base::Duration;

/// The unit of a metric, which determines how its values are written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MetricUnit {
    /// A number without a unit.
    Number,
    /// A fraction, written in percent.
    Share,
    /// Seconds, written as a duration.
    Time,
    /// Another unit: its name, and the number of own units in it.
    Named(String, u32),
}

/// Name and unit of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricLabel {
    /// The name, for example `restart duration (median)`.
    pub name: String,
    unit: MetricUnit,
}

/// Metrics with their names. A metric of one of several JobSets ends with such a name.
const NAMES: [(&str, &str); 33] = [
    ("goodput.fleet", "goodput of the fleet"),
    ("goodput", "goodput"),
    ("ettr", "effective training time ratio"),
    ("effective_training_ratio", "effective training ratio"),
    ("training_time_h", "training time"),
    ("completed", "replications with completed work"),
    ("failed", "replications that fail"),
    ("blocked", "blocked replications"),
    ("depleted", "replications out of machines"),
    ("end.t_s", "time until the end of the run"),
    ("timeToComplete_s", "time to complete the work"),
    ("interruptions", "interruptions"),
    ("failures", "failures"),
    ("restarts", "restarts"),
    ("recoveries", "recoveries"),
    ("restartBudgetUsed", "restarts that count towards maxRestarts"),
    ("restartsCountTowardsMax", "status.restartsCountTowardsMax"),
    ("restartLatency_s.p50", "restart duration (median)"),
    ("restartLatency_s.p95", "restart duration (95th percentile)"),
    ("restartLatency_s.max", "restart duration (longest)"),
    ("usefulWork_s", "useful work"),
    ("lost_s", "lost work"),
    ("recovery_s", "recovery time"),
    ("checkpoint_s", "time blocked by checkpoints"),
    ("stepTime_s", "mean step time"),
    ("exposedShare", "exposed communication, share of the step time"),
    ("productive_h", "productive time"),
    ("compute_h", "compute time"),
    ("cost.total", "cost of a run"),
    ("cost.toComplete", "cost to complete the work"),
    ("cost.perProductiveAcceleratorHour", "cost per productive accelerator-hour"),
    ("host_selections", "host selections"),
    ("spares_pulled", "spares used"),
];

/// Metrics per cause, activity or pool: the prefix of the metric, and the name before the cause.
const GROUPS: [(&str, &str); 5] = [
    ("lost_s.", "lost work, cause"),
    ("recovery_s.", "recovery time, cause"),
    ("ledger.", "accelerator time:"),
    ("cost.", "cost of accelerator time:"),
    ("nodeHours.", "node time:"),
];

const SHARES: [&str; 9] = [
    "goodput", "goodput.fleet", "ettr", "effective_training_ratio", "exposedShare", "completed", "failed", "blocked",
    "depleted",
];

impl MetricLabel {
    /// Returns the label of a metric. `currency` is the unit of costs; if it is empty, costs are plain numbers.
    pub fn new(metric: &str, currency: &str) -> MetricLabel {
        let group = GROUPS.iter().find_map(|(prefix, name)| Some((prefix, name, metric.split_once(prefix)?)));
        let known = NAMES.iter().filter(|_| !is_by_cause(metric)).find_map(|(known, name)| {
            let jobset = metric.strip_suffix(known)?;
            (jobset.is_empty() || jobset.ends_with('.')).then_some((*known, *name, jobset.trim_end_matches('.')))
        });
        let (base, name, jobset) = match (known, group) {
            (Some((base, name, jobset)), _) => (base, name.to_owned(), jobset),
            (None, Some((prefix, name, (jobset, cause)))) => {
                (*prefix, format!("{name} {cause}"), jobset.trim_end_matches('.'))
            }
            (None, None) => (metric, words(metric.trim_end_matches("_s").trim_end_matches("_h")), ""),
        };
        let name = if jobset.is_empty() { name } else { format!("{name} of {jobset}") };
        MetricLabel { name, unit: unit(base, currency) }
    }

    /// Adds the statistic to the name: `p10 of goodput`.
    pub fn of_statistic(mut self, statistic: &str) -> MetricLabel {
        self.name = format!("{statistic} of {}", self.name);
        self
    }

    /// Returns the title of an axis: `goodput, %`. The labels of a time axis contain their units.
    pub fn axis(&self) -> String {
        match &self.unit {
            MetricUnit::Number | MetricUnit::Time => self.name.clone(),
            MetricUnit::Share => format!("{}, %", self.name),
            MetricUnit::Named(unit, _) => format!("{}, {unit}", self.name),
        }
    }

    /// Returns the title of an axis whose labels are multiples of a number such as `million `.
    pub fn axis_in(&self, multiple: &str) -> String {
        match &self.unit {
            MetricUnit::Named(unit, _) => format!("{}, {multiple}{unit}", self.name),
            _ if multiple.is_empty() => self.axis(),
            _ => format!("{}, {}", self.axis(), multiple.trim_end()),
        }
    }

    /// Returns the title of an axis of differences: those of shares are in percentage points.
    pub fn difference_axis(&self) -> String {
        match &self.unit {
            MetricUnit::Share => format!("{}, percentage points", self.name),
            _ => self.axis(),
        }
    }

    /// Returns the smallest and the largest value that the metric can have.
    pub fn range(&self) -> [f64; 2] {
        match &self.unit {
            MetricUnit::Share => [0.0, 1.0],
            MetricUnit::Time | MetricUnit::Named(..) => [0.0, f64::INFINITY],
            MetricUnit::Number => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    pub(crate) fn is_time(&self) -> bool {
        self.unit == MetricUnit::Time
    }

    /// Returns the number of own units in the unit of tick labels on an axis of this length: ticks are its multiples.
    pub(crate) fn tick_unit(&self, span: f64) -> f64 {
        match &self.unit {
            MetricUnit::Share => 0.01,
            MetricUnit::Named(_, size) => f64::from(*size),
            MetricUnit::Time => crate::draw::time_axis::TimeUnit::for_span(span).seconds(),
            MetricUnit::Number => 1.0,
        }
    }

    /// Formats the label of a tick. The unit is in the title of the axis, except for times.
    pub fn tick(&self, v: f64) -> String {
        let sign = if v < 0.0 { "-" } else { "" };
        match &self.unit {
            MetricUnit::Share => number(rounded(v * 100.0)),
            MetricUnit::Named(_, size) => number(v / f64::from(*size)),
            MetricUnit::Time => match v.abs() {
                0.0 => "0".to_owned(),
                s if s < 0.9995 => format!("{sign}{} s", short_value(s)),
                s => format!("{sign}{}", short_time(s)),
            },
            MetricUnit::Number => number(v),
        }
    }

    /// Formats a value without the unit that the title of the axis contains.
    pub fn bare(&self, v: f64) -> String {
        if self.is_time() { self.value(v) } else { self.tick(v) }
    }

    /// Formats a change with its interval, without the unit: `+0.42 (0.07 to 0.84)`.
    pub fn change(&self, mean: f64, ci95: [f64; 2]) -> String {
        let scale = match &self.unit {
            MetricUnit::Time => {
                let sign = if mean > 0.0 { "+" } else { "" };
                let [mean, low, high] = format_seconds_row([mean, ci95[0], ci95[1]].map(Some), |v| self.value(v));
                return format!("{sign}{mean} ({low} to {high})");
            }
            MetricUnit::Share => 100.0,
            MetricUnit::Named(_, size) => 1.0 / f64::from(*size),
            MetricUnit::Number => 1.0,
        };
        change_with_interval(mean * scale, ci95.map(|v| v * scale))
    }

    /// Formats a value for planning results: times as durations, other metrics as plain numbers, as in targets.
    pub(crate) fn plain(&self, v: f64) -> String {
        if self.is_time() && v.is_finite() { self.value(v) } else { short_value(v) }
    }

    /// Formats a change with its interval like `plain`.
    pub(crate) fn plain_change(&self, mean: f64, ci95: [f64; 2]) -> String {
        let is_exact_zero = mean == 0.0 && ci95[0] == ci95[1];
        if self.is_time() && !is_exact_zero { self.change(mean, ci95) } else { change_with_interval(mean, ci95) }
    }

    /// Formats a value with its unit: `85.3 %`, `1 h 20 min`, `120,000 USD`.
    pub fn value(&self, v: f64) -> String {
        match &self.unit {
            MetricUnit::Share => format!("{} %", self.tick(v)),
            MetricUnit::Named(unit, _) => format!("{} {unit}", self.tick(v)),
            MetricUnit::Time if v.abs() >= 0.9995 => {
                let sign = if v < 0.0 { "-" } else { "" };
                format!("{sign}{}", seconds(Duration::from_seconds_f64(v.abs())))
            }
            MetricUnit::Number | MetricUnit::Time => self.tick(v),
        }
    }
}

/// Formats a number with separators between thousands.
fn number(v: f64) -> String {
    let is_whole = v.abs() < 1e15 && v == v.trunc();
    if is_whole && v.abs() >= 1_000.0 {
        let sign = if v < 0.0 { "-" } else { "" };
        return format!("{sign}{}", thousands(v.abs() as u64));
    }
    short_value(v)
}

/// Removes the rounding error of a product.
fn rounded(v: f64) -> f64 {
    (v * 1e9).round() / 1e9
}

/// Formats a duration of at least a second with its largest units: `45 s`, `1.5 min`, `2 h`, `1 h 20 min`, `3 d`.
fn short_time(s: f64) -> String {
    let whole = |unit: f64| (s / unit).fract().min(1.0 - (s / unit).fract()) < 1e-9;
    match s {
        s if s >= 2.0 * 86_400.0 => format!("{} d", short_value(s / 86_400.0)),
        s if s >= 3_600.0 && (whole(3_600.0) || s >= 36_000.0) => format!("{} h", short_value(s / 3_600.0)),
        s if s >= 3_600.0 => seconds(Duration::from_seconds_f64(s)),
        s if s >= 120.0 || (s >= 60.0 && whole(60.0)) => format!("{} min", short_value(s / 60.0)),
        s => format!("{} s", short_value(s)),
    }
}

fn unit(base: &str, currency: &str) -> MetricUnit {
    match base {
        m if SHARES.contains(&m) => MetricUnit::Share,
        "ledger." => MetricUnit::Named("accelerator-hours".to_owned(), 3_600),
        "nodeHours." => MetricUnit::Named("node-hours".to_owned(), 1),
        m if m.starts_with("cost.") && currency.is_empty() => MetricUnit::Number,
        m if m.starts_with("cost.") => MetricUnit::Named(currency.to_owned(), 1),
        m if m.ends_with("_h") => MetricUnit::Named("h".to_owned(), 1),
        m if m.ends_with("_s") || m.contains("_s.") => MetricUnit::Time,
        _ => MetricUnit::Number,
    }
}

/// Splits a name such as `backAfter` or `failures_gpu` into lower-case words. Words in capitals are kept, and
/// abbreviations are in capitals.
pub(crate) fn words(name: &str) -> String {
    const ABBREVIATIONS: [&str; 9] = ["api", "cpu", "gc", "gpu", "pleg", "qps", "tpu", "ttl", "dcn"];
    let capitals = |word: &str| {
        if ABBREVIATIONS.contains(&word) { word.to_ascii_uppercase() } else { word.to_owned() }
    };
    split_words(name).split(' ').map(capitals).collect::<Vec<_>>().join(" ")
}

fn split_words(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts_word = c.is_ascii_uppercase() && before.is_ascii_lowercase();
        if starts_word || c == '_' {
            out.push(' ');
        }
        if c != '_' {
            out.push(if starts_word { c.to_ascii_lowercase() } else { c });
        }
        before = c;
    }
    out
}

/// Parameters with their names: the ends of their paths without indexes.
const PARAMETERS: [(&str, &str); 31] = [
    ("training.checkpoint.every", "checkpoint interval"),
    ("tiers.every", "checkpoint interval of the tier"),
    ("checkpoint.blocking", "time blocked per checkpoint"),
    ("training.step", "duration of a step"),
    ("training.work", "work of the training job"),
    ("faultProcesses.times", "failure rate factor"),
    ("faultProcesses.mtbf", "mean time between failures"),
    ("faultProcesses.backAfter", "time until a failed node is back"),
    ("faultProcesses.deletedAfter", "time until a failed Node is deleted"),
    ("faultProcesses.preset", "failure preset"),
    ("replicatedJobs.replicas", "replicas"),
    ("spec.parallelism", "pods per Job"),
    ("spec.completions", "completions per Job"),
    ("failurePolicy.maxRestarts", "maxRestarts"),
    ("failurePolicy.restartStrategy", "restart strategy"),
    ("strategy", "restart strategy"),
    ("kubeControllerManager.qps", "kube-controller-manager QPS per controller"),
    ("kubeControllerManager.burst", "kube-controller-manager burst per controller"),
    ("jobSetManager.qps", "JobSet manager QPS"),
    ("jobSetManager.burst", "JobSet manager burst"),
    ("kubeScheduler.qps", "kube-scheduler QPS"),
    ("kubeScheduler.burst", "kube-scheduler burst"),
    ("controlPlane.preset", "control plane preset"),
    ("pools.count", "pool count"),
    ("pools.islands", "slices per pool"),
    ("pools.nodesPerIsland", "nodes per slice"),
    ("topology", "topology"),
    ("job.maxRestarts", "maxRestarts"),
    ("job.recovery", "recovery time"),
    ("terminationGracePeriodSeconds", "termination grace period in seconds"),
    ("seed", "seed"),
];

/// Returns the name of the parameter at a path: `checkpoint interval` for `training.checkpoint.every`. Unknown paths
/// become their last words, with the element before a word that says little alone.
pub fn parameter_name(path: &str) -> String {
    const VAGUE: [&str; 12] =
        ["every", "count", "at", "mean", "value", "name", "times", "size", "max", "min", "qps", "burst"];
    let segments: Vec<&str> = path.split('.').map(|s| s.split('[').next().unwrap_or(s)).collect();
    let plain = segments.join(".");
    let is_end = |end: &str| plain.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if let Some((_, name)) = PARAMETERS.iter().find(|(end, _)| is_end(end)) {
        return (*name).to_owned();
    }
    match segments.as_slice() {
        [.., parent, last] if VAGUE.contains(last) && *parent != "parameters" => {
            format!("{} {}", words(parent), words(last))
        }
        [.., last] => words(last),
        [] => path.to_owned(),
    }
}

/// Returns the names of parameters, with the path beside names that several parameters share.
pub fn parameter_names(paths: &[&str]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| parameter_name(path)).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let label = |(name, path): (&String, &&str)| {
        if is_shared(name) { format!("{name} ({path})") } else { name.clone() }
    };
    names.iter().zip(paths).map(label).collect()
}

/// Formats a parameter value of a unit for an axis.
pub(crate) fn parameter_tick(v: f64, unit: RangeUnit) -> String {
    match unit {
        RangeUnit::Seconds if v.abs() >= 0.9995 => short_time(v),
        RangeUnit::Seconds => format!("{} s", short_value(v)),
        RangeUnit::Whole | RangeUnit::Number => short_value(v),
    }
}

#[cfg(test)]
#[path = "../../tests/inside/report/metric_label.rs"]
mod tests;
