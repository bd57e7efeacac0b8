//! The work plan of a sweep: the number of replications per point, and those that a shard has still to simulate.

use super::finished_points::FinishedPoints;
use super::shard::SweepShard;
use crate::experiment::sample_kind;
use sim_base::stats::{InterimLooks, TargetPrecision};

/// With `until`, the number of replications before the first interim analysis of a point.
const FIRST_LOOK: usize = 32;

/// The number of replications per point.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkTarget {
    pub points: usize,
    /// Number of replications per point; with `until`, the maximum.
    pub replications: u64,
    pub until: Option<WorkLimit>,
}

/// A goal for the precision: replications are added until the interval of the metric's mean is narrow enough.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkLimit {
    pub metric: String,
    pub precision: TargetPrecision,
}

/// Numbers of the replications to simulate, by point.
pub type WorkItem = Vec<(usize, Vec<u64>)>;

impl WorkTarget {
    /// Returns the replications that the shard has to simulate next; empty if it is complete. With `until`, the
    /// precision of a point is checked after each round, so a shard consists of whole points.
    pub fn next(&self, shard: SweepShard, finished: &FinishedPoints) -> WorkItem {
        let missing = |point: usize| {
            let wanted = self.of_point(point, shard, finished);
            let left: Vec<u64> = wanted.filter(|i| !finished.contains(point, *i)).collect();
            (!left.is_empty()).then_some((point, left))
        };
        (0..self.points).filter_map(missing).collect()
    }

    /// Returns the number of replications of the shard; with `until`, the maximum.
    pub fn total(&self, shard: SweepShard) -> u64 {
        let points = self.points as u64;
        match self.until {
            Some(_) => (0..points).filter(|p| shard.contains(*p)).count() as u64 * self.replications,
            None if shard.is_whole() => points * self.replications,
            None => (0..points * self.replications).filter(|u| shard.contains(*u)).count() as u64,
        }
    }

    /// Returns the replications of a point that belong to the shard, as far as they are known.
    fn of_point<'a>(
        &'a self, point: usize, shard: SweepShard, finished: &FinishedPoints,
    ) -> Box<dyn Iterator<Item = u64> + 'a> {
        match &self.until {
            None => {
                let first = point as u64 * self.replications;
                let own = (0..self.replications).filter(move |i| shard.contains(first + i));
                Box::new(own)
            }
            Some(until) if shard.contains(point as u64) => {
                Box::new(0..self.wanted_replications(until, point, finished))
            }
            Some(_) => Box::new(std::iter::empty()),
        }
    }

    /// Returns the number of replications to simulate for a point: up to the first interim analysis that reaches the
    /// precision or lacks replications.
    fn wanted_replications(&self, until: &WorkLimit, point: usize, finished: &FinishedPoints) -> u64 {
        let rows = finished.of_point(point);
        for look in InterimLooks::new(FIRST_LOOK, 0.95).looks() {
            let n = (look.n as u64).min(self.replications);
            if (rows.len() as u64) < n || n == self.replications {
                return n;
            }
            let seen = &rows[..n as usize];
            let values: Vec<f64> = seen.iter().filter_map(|r| r.measured(&until.metric).value()).collect();
            if look.sufficient_interval((&values, sample_kind(&until.metric)), until.precision).is_some() {
                return n;
            }
        }
        self.replications
    }

    /// Returns the points that have the maximum number of replications without reaching the precision.
    pub fn imprecise_points(&self, finished: &FinishedPoints) -> Vec<usize> {
        let Some(until) = &self.until else {
            return Vec::new();
        };
        let ends = |point: &usize| {
            let rows = finished.of_point(*point);
            let mut looks = InterimLooks::new(FIRST_LOOK, 0.95).looks();
            let look = looks.find(|l| l.n as u64 >= self.replications.min(rows.len() as u64));
            let values: Vec<f64> = rows.iter().filter_map(|r| r.measured(&until.metric).value()).collect();
            look.is_some_and(|l| {
                l.sufficient_interval((&values, sample_kind(&until.metric)), until.precision).is_some()
            })
        };
        (0..self.points).filter(|p| !ends(p)).collect()
    }

    /// Describes missing or superfluous replications; `None` if the sweep is complete.
    pub fn describe_gaps(&self, finished: &FinishedPoints) -> Option<String> {
        let left = self.next(SweepShard::WHOLE, finished);
        let missing: usize = left.iter().map(|(_, which)| which.len()).sum();
        if let Some((point, which)) = left.first() {
            return Some(format!(
                "{missing} replications are missing; the first one is number {} of point {point}",
                which[0]
            ));
        }
        let wanted = |p| self.of_point(p, SweepShard::WHOLE, finished).count();
        let wanted: usize = (0..self.points).map(wanted).sum();
        let more = finished.count() - wanted;
        (more > 0).then(|| format!("{more} replications do not belong to this experiment"))
    }
}
