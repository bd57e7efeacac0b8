//! The effect of a fault as a function of the outage duration: measured samples, and interpolation between them.

use crate::{reduced::accuracy::RELATIVE_ERROR_MAX, reduced::chance_range::range};

/// Marks a time that is never reached, such as the return of a node that stays away.
pub const NEVER: u64 = u64::MAX;

/// The pods that a restart moves to other nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CurveShift {
    NoPods,
    /// The pods of the lost nodes.
    Lost,
    All,
}

/// Result of one fault. Times are nanoseconds since the fault; [`NEVER`] means that the event did not occur.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CurveSample {
    /// Time at which the job stopped; `NEVER` if it continued.
    pub interrupt: u64,
    /// Time at which every pod was ready again.
    pub ready: u64,
    /// Time at which the last pod was bound again.
    pub bind: u64,
    /// Time at which the restart was counted.
    pub counted: u64,
    pub restarts: u32,
    pub counts: u32,
    pub moves: CurveShift,
    /// Time at which the JobSet failed although restarts were left.
    pub failed: u64,
    /// Whether the job started and stopped again during the restart.
    pub is_repeated: bool,
}

impl CurveSample {
    /// A fault that has no effect.
    pub const NOTHING: CurveSample = CurveSample {
        interrupt: 0,
        ready: 0,
        bind: 0,
        counted: 0,
        restarts: 0,
        counts: 0,
        moves: CurveShift::All,
        failed: NEVER,
        is_repeated: false,
    };

    /// Returns the part of the result that does not depend on random variation. Samples with equal values are of the
    /// same kind.
    pub fn kind(&self) -> (bool, bool, u32, u32, CurveShift, bool) {
        let (stops, back) = (self.interrupt != NEVER, self.ready != NEVER);
        let fails = self.failed != NEVER;
        (stops, back, self.restarts, self.counts, self.moves, fails)
    }
}

/// Samples with the same outage duration, in ascending order of the ready time.
#[derive(Clone, Debug)]
pub struct CurvePoint {
    pub outage: u64,
    pub samples: Vec<CurveSample>,
}

/// Measured points in ascending order of the outage duration.
#[derive(Clone, Debug, Default)]
pub struct LossCurve {
    points: Vec<CurvePoint>,
    typical: u64,
    spread: u64,
    stop_spread: u64,
    ready_range: u64,
    failed_range: u64,
    binds: u64,
}

impl LossCurve {
    /// Creates the curve; `typical` is the median outage duration.
    pub fn new(mut points: Vec<CurvePoint>, typical: u64) -> LossCurve {
        points.retain(|point| !point.samples.is_empty());
        points.sort_by_key(|point| point.outage);
        for point in &mut points {
            point.samples.sort_by_key(|s| (s.ready, s.interrupt));
        }
        let spread = points.iter().map(CurvePoint::spread).max().unwrap_or(0);
        let most = |time: &dyn Fn(&CurveSample) -> u64| points.iter().map(|p| p.range(time)).max().unwrap_or(0);
        let (binds, stop_spread) = (most(&|s| s.bind), most(&|s| s.interrupt));
        let (ready_range, failed_range) = (most(&|s| s.ready), most(&|s| s.failed));
        LossCurve { points, typical, spread, stop_spread, ready_range, failed_range, binds }
    }

    /// Returns true if the curve was measured.
    pub fn is_known(&self) -> bool {
        !self.points.is_empty()
    }

    pub fn points(&self) -> &[CurvePoint] {
        &self.points
    }

    /// Returns the point with the outage duration nearest to the typical one, among those with a finite restart.
    pub fn typical_point(&self) -> &CurvePoint {
        let ends = |p: &&CurvePoint| p.samples.iter().all(|s| s.ready != NEVER);
        let off = |p: &&CurvePoint| p.outage.abs_diff(self.typical);
        let nearest = self.points.iter().filter(ends).min_by_key(off);
        nearest.unwrap_or(&self.points[0])
    }

    /// Returns a point of the same kind as the typical one whose pods are bound in less than 75 % of the time.
    pub fn shorter(&self) -> Option<&CurvePoint> {
        let typical = self.typical_point();
        let (bind, kind) = (typical.samples[0].bind, typical.samples[0].kind());
        let is_similar = |p: &&CurvePoint| p.samples.iter().all(|s| s.kind() == kind && s.bind < bind / 4 * 3);
        self.points.iter().rev().find(is_similar)
    }

    /// Returns the result of a fault with outage duration `outage` at the quantile `u`. The second value is true if
    /// neighboring samples differ in kind, so that the result is uncertain.
    pub fn at(&self, outage: u64, u: f64) -> (CurveSample, bool) {
        let next = self.points.partition_point(|point| point.outage < outage);
        let after = &self.points[next.min(self.points.len() - 1)];
        let before = &self.points[next.saturating_sub(1).min(self.points.len() - 1)];
        let (a, b) = (before.pick(u), after.pick(u));
        let open = !before.agrees(&a) || !after.agrees(&b) || a.kind() != b.kind();
        if after.outage == before.outage || outage >= after.outage {
            return (b, !after.agrees(&b));
        }
        if after.outage == NEVER || a.kind() != b.kind() || outage <= before.outage {
            // Samples that differ in kind cannot be interpolated, so the nearer one is used.
            let nearer_after = after.outage != NEVER && after.outage - outage < outage.abs_diff(before.outage);
            return (if nearer_after { b } else { a.extend_outage(before.outage, outage) }, open);
        }
        let share = outage.saturating_sub(before.outage) as f64 / (after.outage - before.outage) as f64;
        (a.interpolate(&b, share), open)
    }

    /// Returns true if pods are bound later by the same time by which the outage is longer, near this outage duration.
    pub fn binds_with(&self, outage: u64) -> bool {
        let longer = self.binds.max(1);
        let bind = |outage| self.at(outage, 0.5).0.bind;
        outage != NEVER && bind(outage.saturating_add(longer)).abs_diff(bind(outage)) > longer / 2
    }

    /// Returns the largest difference of ready times at one point, which is their random variation.
    pub fn spread(&self) -> u64 {
        self.spread
    }

    /// Returns the estimated range of ready times at one point.
    pub fn ready_range(&self) -> u64 {
        self.ready_range
    }

    /// Returns the estimated range of the times at which the JobSet fails or its pods are ready.
    pub fn end_range(&self) -> u64 {
        self.failed_range.max(self.ready_range)
    }

    /// Returns the random variation of the time at which the job stops, for example when a silent node is detected.
    pub fn stop_spread(&self) -> u64 {
        self.stop_spread
    }

    /// Returns the random variation of the binding time.
    pub fn binds(&self) -> u64 {
        self.binds
    }
}

impl CurvePoint {
    pub fn spread(&self) -> u64 {
        let ready = self.samples.iter().map(|s| s.ready).filter(|r| *r != NEVER);
        ready.clone().max().unwrap_or(0) - ready.min().unwrap_or(0)
    }

    /// Returns the estimated range of a time, without samples that do not have it.
    fn range(&self, time: impl Fn(&CurveSample) -> u64) -> u64 {
        let times = self.samples.iter().map(time).filter(|at| *at != NEVER);
        range(&times.collect::<Vec<u64>>())
    }

    fn pick(&self, u: f64) -> CurveSample {
        let n = self.samples.len();
        self.samples[((u * n as f64) as usize).min(n - 1)]
    }

    fn agrees(&self, with: &CurveSample) -> bool {
        self.samples.iter().all(|s| s.kind() == with.kind())
    }
}

impl CurveSample {
    /// Returns the time of the last change; `None` if some change did not occur.
    pub fn last_change(&self) -> Option<u64> {
        let times = [self.interrupt, self.ready, self.bind, self.counted];
        let failed = Some(self.failed).filter(|at| *at != NEVER);
        let over = times.into_iter().chain(failed).max();
        over.filter(|at| *at != NEVER)
    }

    /// Returns true if the sample is on the straight line between two samples, within `spread` or the accepted error.
    pub fn is_between(&self, [a, b]: [&CurveSample; 2], share: f64, spread: u64) -> bool {
        let line = a.interpolate(b, share);
        let off = |at: u64| ((at as f64 * RELATIVE_ERROR_MAX) as u64).max(spread);
        let near = |a: u64, b: u64| a == b || a != NEVER && b != NEVER && a.abs_diff(b) <= off(a);
        let same = self.kind() == a.kind() && self.kind() == b.kind();
        same && near(self.ready, line.ready) && near(self.bind, line.bind) && near(self.interrupt, line.interrupt)
    }

    fn interpolate(&self, other: &CurveSample, share: f64) -> CurveSample {
        let mix = |a: u64, b: u64| match (a, b) {
            (NEVER, _) | (_, NEVER) => a.max(b),
            _ => (a as f64 + (b as f64 - a as f64) * share) as u64,
        };
        CurveSample {
            interrupt: mix(self.interrupt, other.interrupt),
            ready: mix(self.ready, other.ready),
            bind: mix(self.bind, other.bind),
            counted: mix(self.counted, other.counted),
            failed: mix(self.failed, other.failed),
            ..*self
        }
    }

    /// Adjusts the sample to a longer outage. If the restart waited for the nodes, it takes longer by the same time.
    fn extend_outage(self, measured: u64, outage: u64) -> CurveSample {
        if measured == NEVER || self.ready == NEVER || self.ready < measured || outage <= measured {
            return self;
        }
        let more = outage - measured;
        CurveSample {
            ready: self.ready + more,
            bind: if self.bind >= measured { self.bind + more } else { self.bind },
            ..self
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/surrogate/reduced/measurement/curve.rs"]
mod tests;
