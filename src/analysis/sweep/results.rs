//! Results of a sweep: the value of every metric at every point, and the best points.

use super::points::SweepPoints;
use super::row::SweepRow;
use crate::experiment::{
    BetterDirection, MeasuredMetric, MetricEstimate, ReplicationOutcome, better, is_below_resolution, is_by_cause,
    sample_kind,
};
use sim_base::stats::PairedDifference;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// All replications by point, with one column per metric.
pub struct SweepResults {
    points: SweepPoints,
    rows: Vec<SweepRow>,
    /// Range of the rows of each point.
    places: Vec<Range<usize>>,
    names: Vec<String>,
    /// Values by metric, then by row.
    columns: Vec<Vec<MeasuredMetric>>,
}

/// The point with the best mean of a metric, and those that are not worse.
#[derive(Clone, Debug, PartialEq)]
pub struct BestPoint {
    pub metric: String,
    pub better: BetterDirection,
    pub point: usize,
    /// Points for which the interval of the paired difference from the best point contains zero.
    pub inconclusive: Vec<usize>,
    /// Points with the same values as the best point, up to the resolution of the metric.
    pub equal: Vec<usize>,
}

impl SweepResults {
    /// Creates the results; `rows` must be sorted by point and replication number.
    pub fn new(points: SweepPoints, rows: Vec<SweepRow>) -> SweepResults {
        let mut places = Vec::with_capacity(points.count());
        let mut at = 0;
        for point in 0..points.count() {
            let own = rows[at..].iter().take_while(|r| r.point == point).count();
            places.push(at..at + own);
            at += own;
        }
        let (names, columns) = columns(&rows);
        SweepResults { points, rows, places, names, columns }
    }

    pub fn points(&self) -> &SweepPoints {
        &self.points
    }

    pub fn rows(&self, point: usize) -> &[SweepRow] {
        &self.rows[self.places[point].clone()]
    }

    /// Returns the number of replications of all points.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the names of all metrics, in the order of reports.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the value of a metric in each replication of a point.
    pub fn column(&self, point: usize, metric: &str) -> &[MeasuredMetric] {
        let at = self.names.iter().position(|name| name == metric);
        at.map_or(&[], |at| &self.columns[at][self.places[point].clone()])
    }

    pub fn estimate(&self, point: usize, metric: &str) -> MetricEstimate {
        MetricEstimate::from_column(metric, self.column(point, metric))
    }

    /// Returns the mean of each point; `None` if a replication of the point has no value.
    pub fn means(&self, metric: &str) -> Vec<Option<f64>> {
        let mean = |point: usize| {
            let e = self.estimate(point, metric);
            (e.n == self.rows(point).len()).then_some(e.mean).flatten()
        };
        (0..self.points.count()).map(mean).collect()
    }

    /// Returns the number of replications of a point that completed their work.
    fn completed(&self, point: usize) -> usize {
        let is_completed = |row: &&SweepRow| row.outcome == ReplicationOutcome::Completed;
        self.rows(point).iter().filter(is_completed).count()
    }

    /// Returns the numbers of the axes that are uncertainties.
    pub fn uncertain_axes(&self) -> Vec<usize> {
        let axes = self.points.axes().iter().enumerate();
        axes.filter(|(_, axis)| axis.is_uncertain).map(|(i, _)| i).collect()
    }

    /// Returns the best points. `None` if an axis is an uncertainty, because no point can then be chosen.
    pub fn best(&self, metric: &str) -> Option<BestPoint> {
        let all: Vec<usize> = (0..self.points.count()).collect();
        if self.uncertain_axes().is_empty() { self.best_among(metric, &all) } else { None }
    }

    /// Returns the best choices for each combination of uncertain values; a single entry if no axis is uncertain.
    pub fn best_choices(&self, metric: &str) -> Vec<BestPoint> {
        let uncertain = self.uncertain_axes();
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for point in 0..self.points.count() {
            let indexes = self.points.indexes(point);
            let group = uncertain.iter().map(|axis| indexes[*axis]).collect();
            groups.entry(group).or_default().push(point);
        }
        groups.values().filter_map(|points| self.best_among(metric, points)).collect()
    }

    /// Returns the best of some points. A point is best only if no point with a mean completes more replications.
    /// `None` if the metric has a mean at fewer than two points, or is equal at all points.
    fn best_among(&self, metric: &str, points: &[usize]) -> Option<BestPoint> {
        let means = self.means(metric);
        let with_mean = || points.iter().copied().filter(|p| means[*p].is_some());
        if with_mean().count() < 2 || !self.differs(metric) {
            return None;
        }
        let side = better(metric);
        let most = with_mean().map(|p| self.completed(p)).max();
        let ranked = with_mean().filter(|p| Some(self.completed(*p)) == most).filter_map(|p| Some((p, means[p]?)));
        let order = |a: f64, b: f64| match side {
            BetterDirection::Higher => b.total_cmp(&a),
            BetterDirection::Lower => a.total_cmp(&b),
        };
        let (point, _) = ranked.min_by(|a, b| order(a.1, b.1).then(a.0.cmp(&b.0)))?;
        let is_equal = |other: &usize| {
            let pairs = self.pairs(point, *other, metric);
            *other != point && !pairs.is_empty() && is_below_resolution(&pairs)
        };
        let inconclusive = |other: &usize| {
            let difference = self.paired(point, *other, metric);
            *other != point && !is_equal(other) && difference.is_none_or(|d| d.significant_order().is_none())
        };
        Some(BestPoint {
            metric: metric.to_owned(),
            better: side,
            point,
            inconclusive: with_mean().filter(inconclusive).collect(),
            equal: with_mean().filter(is_equal).collect(),
        })
    }

    /// Returns whether the points have more than one replication. One replication ranks no points.
    pub fn has_replications(&self) -> bool {
        self.places.iter().any(|rows| rows.len() > 1)
    }

    /// Returns the paired difference "b − a" over the replications in which both points have a value.
    pub fn paired(&self, a: usize, b: usize, metric: &str) -> Option<PairedDifference> {
        PairedDifference::from_pairs(&self.pairs(a, b, metric), sample_kind(metric))
    }

    fn pairs(&self, a: usize, b: usize, metric: &str) -> Vec<(f64, f64)> {
        let values = |point: usize| {
            let numbers = self.rows(point).iter().map(|r| r.replication);
            numbers.zip(self.column(point, metric))
        };
        let mut pairs = Vec::new();
        let mut second = values(b).peekable();
        for (number, x) in values(a) {
            while second.next_if(|(n, _)| *n < number).is_some() {}
            if let Some((_, y)) = second.next_if(|(n, _)| *n == number)
                && let (Some(x), Some(y)) = (x.value(), y.value())
            {
                pairs.push((x, y));
            }
        }
        pairs
    }

    /// Returns true if the means of two points differ by more than rounding errors.
    pub fn differs(&self, metric: &str) -> bool {
        let means = self.means(metric);
        let known = || means.iter().flatten().copied();
        let (low, high) = known().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let size = low.abs().max(high.abs());
        let by = |o: Ordering| o == Ordering::Greater;
        by((high - low).total_cmp(&(size * 1e-9)))
    }
}

/// Returns the names of all metrics in the order of their first occurrence, and for each of them the values of all
/// rows.
fn columns(rows: &[SweepRow]) -> (Vec<String>, Vec<Vec<MeasuredMetric>>) {
    let mut names: Vec<String> = Vec::new();
    let mut lists: BTreeMap<&Arc<Vec<String>>, Vec<usize>> = BTreeMap::new();
    for row in rows {
        lists.entry(&row.names).or_insert_with(|| {
            let place = |name: &String| {
                let known = names.iter().position(|n| n == name);
                known.unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                })
            };
            row.names.iter().map(place).collect()
        });
    }
    let by_cause: Vec<bool> = names.iter().map(|name| is_by_cause(name)).collect();
    let mut columns = vec![vec![MeasuredMetric::Absent; rows.len()]; names.len()];
    for (i, row) in rows.iter().enumerate() {
        // A cause that did not occur in a run has taken no time; the metric is only listed by runs in which it
        // occurred.
        if row.outcome != ReplicationOutcome::Blocked {
            let causes = columns.iter_mut().zip(&by_cause).filter(|(_, by)| **by);
            causes.for_each(|(column, _)| column[i] = MeasuredMetric::Value(0.0));
        }
        for (at, value) in lists[&row.names].iter().zip(&row.values) {
            columns[*at][i] = *value;
        }
    }
    (names, columns)
}
