//! Results of a sweep: the value of every metric at every point, and the best points.

use super::points::SweepPoints;
use super::row::SweepRow;
use crate::experiment::{
    BetterDirection, MeasuredMetric, MetricEstimate, ReplicationOutcome, accumulates, better, is_below_resolution,
    is_by_cause, sample_kind,
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
    /// Currency of the costs; empty if it is unknown.
    currency: String,
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
    /// Points with values that are not ranked, because fewer of their replications complete.
    pub unranked: Vec<usize>,
}

/// Reason why no point is the best in a metric.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NoBestPoint {
    /// Fewer than two points have a value in every replication.
    TooFewValues,
    /// The means of all points are equal.
    Equal,
    /// The metric is lower in runs that fail or are blocked, and fewer than two points are without such runs.
    CutShort,
    /// An axis is an uncertainty.
    Uncertain,
}

impl NoBestPoint {
    /// Returns a sentence that states the reason.
    pub fn sentence(self, metric: &str) -> String {
        match self {
            NoBestPoint::TooFewValues => {
                format!("Fewer than two points have a value of {metric} in every replication.")
            }
            NoBestPoint::Equal => format!("The points do not differ in {metric}."),
            NoBestPoint::CutShort => format!(
                "No point is best in {metric}: replications that fail or are blocked have less time for it, and fewer \
                 than two points are without them."
            ),
            NoBestPoint::Uncertain => format!("No point is best in {metric}: an axis cannot be chosen."),
        }
    }
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
        SweepResults { points, rows, places, names, columns, currency: String::new() }
    }

    /// Sets the currency of the costs.
    pub fn with_currency(self, currency: &str) -> SweepResults {
        SweepResults { currency: currency.to_owned(), ..self }
    }

    pub fn currency(&self) -> &str {
        &self.currency
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
        self.best_or_reason(metric).ok()
    }

    /// Returns the best points, or the reason why there are none.
    pub fn best_or_reason(&self, metric: &str) -> Result<BestPoint, NoBestPoint> {
        let all: Vec<usize> = (0..self.points.count()).collect();
        if self.uncertain_axes().is_empty() { self.best_among(metric, &all) } else { Err(NoBestPoint::Uncertain) }
    }

    /// Returns whether runs of the point fail or are blocked, so that a metric that adds up over time is too low.
    fn is_cut_short(&self, point: usize, metric: &str) -> bool {
        accumulates(metric) && self.rows(point).iter().any(|row| row.outcome.is_cut_short())
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
        groups.values().filter_map(|points| self.best_among(metric, points).ok()).collect()
    }

    /// Returns the best of some points. A point is best only if no point with a mean completes more replications, and
    /// in a metric that adds up over time only if none of its replications fails or is blocked.
    fn best_among(&self, metric: &str, points: &[usize]) -> Result<BestPoint, NoBestPoint> {
        let means = self.means(metric);
        let with_mean = || points.iter().copied().filter(|p| means[*p].is_some());
        if with_mean().count() < 2 {
            return Err(NoBestPoint::TooFewValues);
        }
        if !self.differs(metric) {
            return Err(NoBestPoint::Equal);
        }
        let comparable: Vec<usize> = with_mean().filter(|p| !self.is_cut_short(*p, metric)).collect();
        if comparable.len() < 2 {
            return Err(NoBestPoint::CutShort);
        }
        let side = better(metric);
        let most = comparable.iter().map(|p| self.completed(*p)).max();
        let ranked = comparable.iter().copied().filter(|p| Some(self.completed(*p)) == most);
        let order = |a: f64, b: f64| match side {
            BetterDirection::Higher => b.total_cmp(&a),
            BetterDirection::Lower => a.total_cmp(&b),
        };
        let ranked = ranked.filter_map(|p| Some((p, means[p]?)));
        let best = ranked.min_by(|a, b| order(a.1, b.1).then(a.0.cmp(&b.0)));
        let (point, _) = best.ok_or(NoBestPoint::TooFewValues)?;
        let is_without_value = |p: &usize| means[*p].is_none() && self.estimate(*p, metric).excluded() > 0;
        let is_unranked = |p: &usize| is_without_value(p) || means[*p].is_some() && self.is_cut_short(*p, metric);
        let mut found = BestPoint {
            metric: metric.to_owned(),
            better: side,
            point,
            inconclusive: Vec::new(),
            equal: Vec::new(),
            unranked: points.iter().copied().filter(is_unranked).collect(),
        };
        let worse = match side {
            BetterDirection::Higher => Ordering::Less,
            BetterDirection::Lower => Ordering::Greater,
        };
        for other in comparable.into_iter().filter(|other| *other != point) {
            let order = self.paired(point, other, metric).and_then(|d| d.significant_order());
            // A point that completes fewer replications is worse, or not compared.
            if Some(self.completed(other)) != most {
                if order != Some(worse) {
                    found.unranked.push(other);
                }
                continue;
            }
            let pairs = self.pairs(point, other, metric);
            if !pairs.is_empty() && is_below_resolution(&pairs) {
                found.equal.push(other);
                continue;
            }
            match order {
                None => found.inconclusive.push(other),
                Some(order) if order == worse => {}
                Some(_) => found.unranked.push(other),
            }
        }
        found.unranked.sort_unstable();
        Ok(found)
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
