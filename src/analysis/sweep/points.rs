//! The points of a sweep: all combinations of the values of its axes. Axes that are ranges are sampled together by a
//! Latin hypercube.
//!
//! A point depends only on the axes and the seed; its number is independent of the shard.

use super::points_error::SweepPointsError;
use super::range::{SweepRange, SweepRangeError};
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};

/// Maximum number of points. Each point is a separate scenario with estimates of every metric.
pub const POINTS_MAX: u64 = 20_000;

/// All points in order. The first axis changes slowest, the hypercube fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoints {
    axes: Vec<SweepAxis>,
    /// Values of each axis. A range has one value per point of the hypercube.
    values: Vec<Vec<String>>,
    hypercube: Option<usize>,
    count: usize,
}

impl SweepPoints {
    /// Creates the points. Fails if axes contradict each other or if there are too many points.
    pub fn expand(sweep: &SweepSpec, seed: u64) -> Result<SweepPoints, SweepPointsError> {
        if sweep.axes.is_empty() {
            return Err(SweepPointsError::NoAxis);
        }
        contradictions(&sweep.axes)?;
        let ranges = sweep.axes.iter().any(|a| matches!(a.target, SweepTarget::Range { .. }));
        match (ranges, sweep.hypercube) {
            (true, None) => return Err(SweepPointsError::MissingHypercube),
            (false, Some(points)) => {
                return Err(SweepPointsError::HypercubeWithoutRange { points });
            }
            (true, Some(0)) => return Err(SweepPointsError::EmptyHypercube),
            _ => {}
        }
        let count = count(sweep)?;
        let hypercube = sweep.hypercube.map(|n| n as usize);
        let mut draws = DrawSequence::new(seed, 0);
        let column = |axis: &SweepAxis| {
            Ok(match &axis.target {
                SweepTarget::Values(values) => values.clone(),
                SweepTarget::Range { low, high, log } => {
                    let range = SweepRange::parse(low, high, *log);
                    let range = range.map_err(|e| invalid_range(axis, e))?;
                    strata(&mut draws, &axis.path, hypercube.unwrap_or(1))
                        .into_iter()
                        .map(|share| range.at(share))
                        .collect()
                }
            })
        };
        let values = sweep.axes.iter().map(column).collect::<Result<_, SweepPointsError>>()?;
        Ok(SweepPoints { axes: sweep.axes.clone(), values, hypercube, count })
    }

    /// Returns the number of points, at least one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the axes in the order of the input.
    pub fn axes(&self) -> &[SweepAxis] {
        &self.axes
    }

    /// Returns the values of an axis in order; `None` for a range.
    pub fn grid(&self, axis: usize) -> Option<&[String]> {
        match self.axes[axis].target {
            SweepTarget::Values(_) => Some(&self.values[axis]),
            SweepTarget::Range { .. } => None,
        }
    }

    /// Returns the index of the point's value on each axis.
    pub fn indexes(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let sample = match self.hypercube {
            Some(n) => {
                let at = rest % n;
                rest /= n;
                at
            }
            None => 0,
        };
        let mut indexes = vec![sample; self.axes.len()];
        for axis in (0..self.axes.len()).rev() {
            if let SweepTarget::Values(values) = &self.axes[axis].target {
                indexes[axis] = rest % values.len();
                rest /= values.len();
            }
        }
        indexes
    }

    /// Returns the value of the point on each axis, as written in a file.
    pub fn values(&self, point: usize) -> Vec<&str> {
        let indexes = self.indexes(point);
        let own = indexes.iter().zip(&self.values);
        own.map(|(at, values)| values[*at].as_str()).collect()
    }

    /// Returns the values of a point as overrides (path and value).
    pub fn sets(&self, point: usize) -> Vec<(String, String)> {
        let paths = self.axes.iter().map(|a| a.path.clone());
        let values = self.values(point).into_iter().map(str::to_owned);
        paths.zip(values).collect()
    }

    /// Returns the name of a point for messages and reports.
    pub fn name(&self, point: usize) -> String {
        let values = self.values(point);
        let one = |(axis, value): (&SweepAxis, &str)| format!("{}={value}", short(&axis.path));
        let parts: Vec<String> = self.axes.iter().zip(values).map(one).collect();
        parts.join(", ")
    }
}

/// Removes the prefix `parameters.` from a path.
pub fn short(path: &str) -> &str {
    path.strip_prefix("parameters.").unwrap_or(path)
}

fn invalid_range(axis: &SweepAxis, error: SweepRangeError) -> SweepPointsError {
    SweepPointsError::InvalidRange { path: axis.path.clone(), error }
}

fn count(sweep: &SweepSpec) -> Result<usize, SweepPointsError> {
    let mut factors: Vec<u64> = Vec::new();
    for axis in &sweep.axes {
        if let SweepTarget::Values(values) = &axis.target {
            factors.push(values.len() as u64);
        }
    }
    factors.extend(sweep.hypercube);
    let all = factors.iter().try_fold(1u64, |n, f| n.checked_mul(*f));
    match all.filter(|n| *n <= POINTS_MAX) {
        Some(n) => Ok(n as usize),
        None => Err(SweepPointsError::TooManyPoints { factors }),
    }
}

/// Returns an error for two axes of the same field or of nested fields, and for duplicate values.
fn contradictions(axes: &[SweepAxis]) -> Result<(), SweepPointsError> {
    for (i, axis) in axes.iter().enumerate() {
        let own = segments(&axis.path);
        let path = || axis.path.clone();
        if own.is_empty() {
            return Err(SweepPointsError::NotFieldPath { path: path() });
        }
        for other in &axes[..i] {
            let known = segments(&other.path);
            if known == own {
                return Err(SweepPointsError::RepeatedAxis { path: path() });
            }
            let (outer, inner) = match own.starts_with(&known) {
                true => (&other.path, &axis.path),
                false if known.starts_with(&own) => (&axis.path, &other.path),
                false => continue,
            };
            return Err(SweepPointsError::NestedAxes { inner: inner.clone(), outer: outer.clone() });
        }
        match &axis.target {
            SweepTarget::Values(values) if values.is_empty() => {
                return Err(SweepPointsError::NoValue { path: path() });
            }
            SweepTarget::Values(values) => {
                for (k, value) in values.iter().enumerate() {
                    if values[..k].contains(value) {
                        return Err(SweepPointsError::RepeatedValue { path: path(), value: value.clone() });
                    }
                }
            }
            SweepTarget::Range { low, high, log } => {
                SweepRange::parse(low, high, *log).map_err(|e| invalid_range(axis, e))?;
            }
        }
    }
    Ok(())
}

/// Splits a path into its segments; `a[0].b` and `a.0.b` are equal.
fn segments(path: &str) -> Vec<&str> {
    let parts = path.split(['.', '[', ']', '"']);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns one random number from each of `n` equal parts of [0, 1), in random order.
fn strata(draws: &mut DrawSequence, path: &str, n: usize) -> Vec<f64> {
    let entity = StreamKey::from_text(path);
    let mut order: Vec<usize> = (0..n).collect();
    draws.shuffle(StreamPurpose::LatinHypercube, entity, 0, &mut order);
    let one = |(i, part): (usize, usize)| {
        let within = draws.uniform(UniformDraw {
            purpose: StreamPurpose::LatinHypercube,
            entity,
            occurrence: 1,
            substream: i as u32,
        });
        (part as f64 + within) / n as f64
    };
    order.into_iter().enumerate().map(one).collect()
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/sweep/points.rs"]
mod tests;
