//! Selection of the metrics shown first for a sweep, and display names of its axes and points.

use super::console::compare::{HEADLINES, is_headline_metric};
use sim_analysis::sweep::SweepResults;
use sim_analysis::sweep::points::short;

/// Maximum number of metrics selected automatically.
const MAX_SELECTED: usize = 3;

/// Returns the requested metrics, or else the most relevant metrics that differ between points.
pub fn selected_metrics(results: &SweepResults, request: &[String]) -> Vec<String> {
    if !request.is_empty() {
        return request.to_vec();
    }
    let fit = |headline: &'static str| {
        let names = results.names().iter();
        let own = names.filter(move |name| is_headline_metric(name, headline));
        own.filter(|name| results.differs(name)).cloned()
    };
    let is_ranked = |headline: &&str| *headline != "completed" || ranks_by_completion(results);
    HEADLINES.into_iter().filter(is_ranked).flat_map(fit).take(MAX_SELECTED).collect()
}

/// Returns true if some point completes significantly fewer replications than the best choice.
fn ranks_by_completion(results: &SweepResults) -> bool {
    let best = results.best_choices("completed");
    let similar = best.iter().map(|best| 1 + best.inconclusive.len() + best.equal.len());
    similar.sum::<usize>() < results.points().count()
}

/// Returns the display names of the axes: the last path segment, or a longer form if several axes share it.
pub fn axis_names(results: &SweepResults) -> Vec<String> {
    let axes = results.points().axes();
    let last = |path: &str| path.rsplit(['.', '[']).next().unwrap_or(path).to_owned();
    let name = |path: &str| {
        let is_similar = axes.iter().filter(|a| last(&a.path) == last(path)).count();
        if is_similar > 1 || last(path).ends_with(']') { short(path).to_owned() } else { last(path) }
    };
    axes.iter().map(|axis| name(&axis.path)).collect()
}

/// Returns the display name of a point, for example `replicas=4, qps=50`.
pub fn point_name(results: &SweepResults, point: usize) -> String {
    axis_values(results, point, |_| true)
}

/// Returns the names and values of some axes at a point.
pub fn axis_values(results: &SweepResults, point: usize, selects: impl Fn(usize) -> bool) -> String {
    let names = axis_names(results);
    let values = results.points().values(point);
    let all = names.iter().zip(values).enumerate().filter(|(axis, _)| selects(*axis));
    let parts: Vec<String> = all.map(|(_, (name, value))| format!("{name}={value}")).collect();
    parts.join(", ")
}
