//! Which metrics of a sweep are told first, and in which words its axes and points are.

use super::console::compare::{HEADLINES, tells};
use sim_analysis::sweep::Results;
use sim_analysis::sweep::points::short;

/// More tables than these nobody reads.
const TOLD: usize = 3;

/// Those that were asked for; else those that a reviewer asks for first and in which points differ.
pub fn told(results: &Results, asked: &[String]) -> Vec<String> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let fit = |headline: &'static str| {
        let names = results.names().iter();
        let own = names.filter(move |name| tells(name, headline));
        own.filter(|name| results.differs(name)).cloned()
    };
    HEADLINES.into_iter().flat_map(fit).take(TOLD).collect()
}

/// Axes as tables name them: by the last part of their path, if that is no other's, too.
pub fn axis_names(results: &Results) -> Vec<String> {
    let axes = results.points().axes();
    let last = |path: &str| path.rsplit(['.', '[']).next().unwrap_or(path).to_owned();
    let name = |path: &str| {
        let alike = axes.iter().filter(|a| last(&a.path) == last(path)).count();
        match alike > 1 || last(path).ends_with(']') {
            true => short(path).to_owned(),
            false => last(path),
        }
    };
    axes.iter().map(|axis| name(&axis.path)).collect()
}

/// A point in these words.
pub fn point_name(results: &Results, point: usize) -> String {
    let names = axis_names(results);
    let values = results.points().values(point);
    let one = |(name, value): (&String, &str)| format!("{name}={value}");
    let parts: Vec<String> = names.iter().zip(values).map(one).collect();
    parts.join(", ")
}
