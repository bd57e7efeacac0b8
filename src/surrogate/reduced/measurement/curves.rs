//! Trials with single faults: the restart time as a function of the outage duration.

use super::curve::{LossCurve, NEVER};
use super::effect::FaultEffect;
use super::effect_measurement::TrialBench;
use super::trial_result::{SimulatedTrial, TrialResult};
use super::trial_runner::NotMeasured;
use crate::reduced::accuracy::{
    LINE_CHECKS, OUTAGE_RESOLUTION_NS, OUTCOME_CHANGE_SHARE_MAX, RELATIVE_ERROR_MAX, RUNS_PER_OUTAGE,
};
use sim_base::{Duration, SimTime};
use sim_reliability::faults::FaultModel;

/// Runs one trial; the arguments are the number that selects the random numbers, and the outage duration.
type CurveAttempt<'a> = &'a (dyn Fn((u64, u64)) -> Result<TrialResult, NotMeasured> + Sync);

impl TrialBench<'_> {
    /// Measures the curve of each effect, adding points until linear interpolation is accurate.
    pub fn curves(&self) -> Result<(Vec<LossCurve>, Vec<Vec<SimulatedTrial>>), NotMeasured> {
        let effects = self.run_all(self.effects.len() as u64, |e| {
            self.points(e as usize, &|numbers| self.try_once(e as usize, numbers))
        })?;
        let all = effects.iter().enumerate();
        let curves = all.map(|(effect, replication)| self.curve(effect, replication));
        Ok((curves.collect(), effects))
    }

    /// Creates the curve from the measured points of an effect.
    pub fn curve(&self, effect: usize, trials: &[SimulatedTrial]) -> LossCurve {
        let middle = self.effects[effect].back.first();
        let typical = middle.map_or(NEVER, |back| back.quantile(0.5).0);
        LossCurve::new(trials.iter().map(SimulatedTrial::point).collect(), typical)
    }

    pub fn points(&self, effect: usize, attempt: CurveAttempt<'_>) -> Result<Vec<SimulatedTrial>, NotMeasured> {
        let times = outage_durations(&self.effects[effect], self.runner.faults);
        let Some((longest, shorter)) = times.split_last() else {
            return Ok(Vec::new());
        };
        let longest = self.run_trial(attempt, *longest)?;
        let over = ends_before(attempt, &longest, shorter)?;
        let mut points: Vec<SimulatedTrial> = Vec::new();
        for outage in shorter {
            points.push(if over.is_some_and(|over| *outage > over) {
                longest.with_outage(*outage)
            } else {
                self.run_trial(attempt, *outage)?
            });
        }
        if let Some(over) = over.filter(|over| times[0] < *over) {
            points.push(longest.with_outage(over + 1));
        }
        points.push(longest);
        points.sort_by_key(|replication| replication.outage);
        let finite: Vec<SimulatedTrial> = points.iter().filter(|p| p.outage != NEVER).cloned().collect();
        for pair in finite.windows(2) {
            if over.is_none_or(|over| pair[0].outage <= over) {
                self.refine((effect, attempt), [&pair[0], &pair[1]], &mut points)?;
            }
        }
        Ok(points)
    }

    fn try_once(&self, effect: usize, (nth, outage): (u64, u64)) -> Result<TrialResult, NotMeasured> {
        let trial = self.trial(effect, (nth, outage), self.has_room);
        let at = SimTime::ZERO + trial.faults[0].at + Duration(self.notice_period_ns(effect));
        Ok(self.run_single_fault(&self.run_trials(&trial)?, at))
    }

    fn run_trial(&self, attempt: CurveAttempt<'_>, outage: u64) -> Result<SimulatedTrial, NotMeasured> {
        let trials = self.run_all(RUNS_PER_OUTAGE, |nth| attempt((nth, outage)))?;
        Ok(SimulatedTrial { outage, trials })
    }

    /// Measures a point in the middle of two others unless it is on the straight line between them, and then refines
    /// both halves.
    fn refine(
        &self, (effect, attempt): (usize, CurveAttempt<'_>), [low, high]: [&SimulatedTrial; 2],
        points: &mut Vec<SimulatedTrial>,
    ) -> Result<(), NotMeasured> {
        let share = share_between(&self.effects[effect], low.outage, high.outage);
        let enough = if low.agrees_with(high) { RELATIVE_ERROR_MAX } else { OUTCOME_CHANGE_SHARE_MAX };
        if high.outage - low.outage < OUTAGE_RESOLUTION_NS || share.is_some_and(|share| share <= enough) {
            return Ok(());
        }
        let outage = low.outage + (high.outage - low.outage) / 2;
        let part = (outage - low.outage) as f64 / (high.outage - low.outage) as f64;
        let spread = low.spread().max(high.spread());
        let mut trials = self.run_all(LINE_CHECKS, |nth| attempt((nth, outage)))?;
        let on_line = |(nth, trial): (usize, &TrialResult)| {
            let ends = [low.sample(nth), high.sample(nth)];
            trial.sample.is_between(ends, part, spread)
        };
        if trials.iter().enumerate().all(on_line) {
            return Ok(());
        }
        trials.extend(self.run_all(RUNS_PER_OUTAGE - LINE_CHECKS, |n| attempt((LINE_CHECKS + n, outage)))?);
        let middle = SimulatedTrial { outage, trials };
        points.push(middle.clone());
        self.refine((effect, attempt), [low, &middle], points)?;
        self.refine((effect, attempt), [&middle, high], points)
    }
}

/// Returns the time after which nothing changes, if that is before the nodes return. Longer outages then have the
/// same result, because the same random numbers produce the same history until the return. One trial with the
/// earliest later return checks that the return itself changes nothing.
fn ends_before(
    attempt: CurveAttempt<'_>, longest: &SimulatedTrial, shorter: &[u64],
) -> Result<Option<u64>, NotMeasured> {
    let Some(over) = longest.last_change() else {
        return Ok(None);
    };
    let Some(soonest) = shorter.iter().find(|outage| **outage > over) else {
        return Ok(Some(over));
    };
    let looked = attempt((0, *soonest))?;
    Ok((looked.sample == *longest.sample(0)).then_some(over))
}

/// Returns the share of faults with an outage from `low` (exclusive) to `high` (inclusive); `None` if the
/// distribution is unknown.
fn share_between(effect: &FaultEffect, low: u64, high: u64) -> Option<f64> {
    let until = |back: &sim_base::random::Distribution, outage: u64| {
        let (mut least, mut most) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = (least + most) / 2.0;
            if back.quantile(middle).0 <= outage { least = middle } else { most = middle }
        }
        least
    };
    let of = |back| until(back, high) - until(back, low);
    let all = effect.back.iter().map(of).reduce(f64::max)?;
    Some(all).filter(|_| !effect.any_time)
}

/// Returns the outage durations to measure first: quantiles of the distributions, and special times.
fn outage_durations(effect: &FaultEffect, faults: &FaultModel) -> Vec<u64> {
    if !effect.takes_nodes(faults) {
        return vec![NEVER];
    }
    const AT: [f64; 9] = [1e-6, 0.0005, 0.02, 0.1, 0.5, 0.9, 0.98, 0.9995, 0.999_999];
    let mut all: Vec<u64> = Vec::new();
    for back in &effect.back {
        all.extend(AT.iter().map(|u| back.quantile(*u).0));
    }
    for process in effect.processes.iter().filter_map(|p| faults.processes().nth(*p)) {
        // Includes times just before and just after the deletion of the Node.
        let deleted = process.deleted_after.map_or(0, |after| after.0);
        let range = all.first().copied().unwrap_or(0)..all.last().copied().unwrap_or(0);
        let around = [deleted.saturating_sub(OUTAGE_RESOLUTION_NS / 2), deleted + OUTAGE_RESOLUTION_NS / 2];
        let within: Vec<u64> = around.into_iter().filter(|at| range.contains(at)).collect();
        all.extend(within);
    }
    if effect.any_time {
        all.extend((0..6).map(|n| 20_000_000_000u64 << (n * 3)));
    }
    let processes = effect.processes.iter().filter_map(|p| faults.processes().nth(*p));
    if processes.clone().any(|p| p.repair_time.is_none() || p.comes_back < 1.0) {
        all.push(NEVER);
    }
    all.sort_unstable();
    all.dedup();
    all
}
