//! Trials of the remaining effects: nodes that return late, the last restart, the end of the work, and second faults.

use super::curve::{CurvePoint, CurveSample, CurveShift, LossCurve, NEVER};
use super::effect_measurement::TrialBench;
use super::fault_pairs::{FaultPair, PairZone};
use super::search::CurveSearch;
use super::trial_result::SimulatedTrial;
use super::trial_runner::{NotMeasured, TrialSpec};
use crate::reduced::accuracy::{EDGE_SEARCHES, RUNS_PER_OUTAGE, TIME_AFTER_RETURN, WAIT_DELAY_MIN_NS};
use crate::reduced::chance_range::range;
use sim_api::spec::RandomAction;
use sim_base::{Duration, NodeId, SimTime};
use sim_reliability::faults::ChosenFault;

impl TrialBench<'_> {
    /// Measures the delays from the return of a node until the pods that waited for it are ready.
    pub fn measure_return_delays(&self, curves: &[LossCurve]) -> Result<Vec<u64>, NotMeasured> {
        let takes_nodes = |e: &usize| self.effects[*e].takes_nodes(self.runner.faults);
        let Some(effect) = (0..self.effects.len()).find(takes_nodes) else {
            return Ok(vec![0]);
        };
        let ready = curves[effect].points().iter().flat_map(|p| &p.samples);
        let ready = ready.map(|s| s.ready).filter(|r| *r != NEVER);
        let outage = ready.max().unwrap_or(0).max(TIME_AFTER_RETURN.0) * 2;
        let late = self.run_all(RUNS_PER_OUTAGE, |nth| {
            let trial = self.trial(effect, (nth, outage), false);
            let at = SimTime::ZERO + trial.faults[0].at + Duration(self.notice_period_ns(effect));
            let sample = self.sample(&self.run_trials(&trial)?, at);
            Ok((sample.ready != NEVER).then(|| sample.ready.saturating_sub(outage)))
        })?;
        let mut late: Vec<u64> = late.into_iter().flatten().collect();
        late.sort_unstable();
        Ok(if late.is_empty() { vec![0] } else { late })
    }

    /// Measures the times from a fault to the failure of the JobSet if no restart is left, per effect.
    pub fn measure_final_failures(&self, trials: &[Vec<SimulatedTrial>]) -> Result<Vec<Vec<u64>>, NotMeasured> {
        let play = |effect: usize, nth: u64| {
            let mut trial = self.trial(effect, (nth, NEVER), self.has_room);
            trial.last = true;
            let at = SimTime::ZERO + trial.faults[0].at + Duration(self.notice_period_ns(effect));
            Ok(self.run_trials(&trial)?.failed.map(|t| t.since(at).0))
        };
        let all = self.run_all(self.effects.len() as u64, |effect| {
            let effect = effect as usize;
            let longest = trials[effect].last();
            let counted: Vec<u64> = longest
                .filter(|longest| longest.last_change().is_some())
                .map_or(Vec::new(), |longest| longest.point().samples)
                .iter()
                .map(|sample| sample.counted)
                .collect();
            let first = play(effect, 0)?;
            let mut failed: Vec<u64> = if first.is_some() && first == counted.first().copied() {
                counted
            } else {
                let others = self.run_all(RUNS_PER_OUTAGE - 1, |nth| play(effect, nth + 1))?;
                first.into_iter().chain(others.into_iter().flatten()).collect()
            };
            failed.sort_unstable();
            Ok(failed)
        })?;
        Ok(all)
    }

    /// Returns the first effect after which a Job replaces failed pods, or the kubelet restarts containers, without a
    /// restart of the JobSet.
    pub fn retrying_effect(&self, curves: &[LossCurve]) -> Option<usize> {
        let retries = |effect: &usize| {
            let process = self.runner.faults.processes().nth(self.effects[*effect].processes[0]);
            let ends_containers = process.is_some_and(|p| p.action != RandomAction::Partition || p.as_new);
            let retried = |s: &CurveSample| {
                let replaced = ends_containers && s.ready != NEVER || s.moves != CurveShift::NoPods;
                s.interrupt != NEVER && (s.restarts, s.counts, s.failed) == (0, 0, NEVER) && replaced
            };
            curves[*effect].points().iter().flat_map(|point| &point.samples).any(retried)
        };
        (0..curves.len()).find(retries)
    }

    pub fn time_to_failure(&self) -> Result<Vec<u64>, NotMeasured> {
        let all = self.run_all(RUNS_PER_OUTAGE, |nth| {
            let seen = self.run_trials(&TrialSpec {
                nth,
                spares: true,
                until: self.at + TIME_AFTER_RETURN,
                work: Some(Duration::from_secs(60)),
                ..TrialSpec::default()
            })?;
            let both = seen.done.zip(seen.completed);
            Ok(both.map(|(done, end)| end.since(done).0))
        })?;
        let mut all: Vec<u64> = all.into_iter().flatten().collect();
        all.sort_unstable();
        Ok(all)
    }

    pub fn pairs(
        &self, curves: &[LossCurve], replication: &[Vec<SimulatedTrial>],
    ) -> Result<Vec<Vec<FaultPair>>, NotMeasured> {
        let n = curves.len();
        let all = self.run_all((n * n) as u64, |at| {
            let at = at as usize;
            self.pair((at / n, at % n), (curves, replication))
        })?;
        Ok(all.chunks(n).map(<[FaultPair]>::to_vec).collect())
    }

    /// Measures a second fault of effect `b` during the restart after a fault of effect `a`.
    fn pair(
        &self, (a, b): (usize, usize), (curves, trials): (&[LossCurve], &[Vec<SimulatedTrial>]),
    ) -> Result<FaultPair, NotMeasured> {
        let (first, other) = (curves[a].typical_point(), curves[a].shorter());
        let second = curves[b].typical_point();
        let alone = second.samples[second.samples.len() / 2];
        let least = WAIT_DELAY_MIN_NS.max(curves[a].spread() * 2);
        // Results of the first fault alone with the same random numbers. Activities that the second fault does not
        // affect take equally long.
        let alone_of = |point: &CurvePoint| trials[a].iter().find(|trials| trials.outage == point.outage);
        let only = [alone_of(first), other.and_then(alone_of)];
        let of_look = |look: u64, is_other: bool| {
            let trials = only[usize::from(is_other)].or(only[0]);
            trials.map(|trials| &trials.trials[look as usize])
        };
        let play = |look: u64, offset: u64, is_other: bool| {
            let outage = other.filter(|_| is_other).unwrap_or(first).outage;
            let Some(only) = of_look(look, is_other) else {
                return Ok(PairZone::NOTHING);
            };
            let mut trial = self.both((a, outage), (b, second.outage), (look, offset));
            // Ends the trial early once the restart of the second fault is counted separately.
            let counted = (only.sample.restarts + alone.restarts, only.sample.counts + alone.counts);
            trial.enough = (alone.restarts > 0).then_some(counted);
            let at = SimTime::ZERO + trial.faults[0].at + Duration(self.notice_period_ns(a));
            let both = self.run_trials(&trial)?;
            let waits = self.mostly_bound(&both, at) > only.mostly + least;
            let more = |x: u32, y: u32| x as i32 - y as i32;
            let adds = (more(both.restarts, only.sample.restarts), more(both.counts, only.sample.counts));
            Ok(PairZone { adds, waits: waits && adds != (alone.restarts as i32, alone.counts as i32) })
        };
        let bound = |is_other: bool| {
            let of = |look| of_look(look, is_other).map_or(0, |trial| trial.sample.bind);
            (0..EDGE_SEARCHES).map(of).collect::<Vec<u64>>()
        };
        let ready = |look: u64| {
            let of = of_look(look, false).map(|trial| trial.sample.ready);
            of.filter(|ready| *ready != NEVER).unwrap_or(TIME_AFTER_RETURN.0)
        };
        let binds = first.samples.iter().map(|sample| sample.bind);
        let search = CurveSearch {
            play: &play,
            alone: (alone.restarts as i32, alone.counts as i32),
            ready: (0..EDGE_SEARCHES).map(ready).collect(),
            bind: bound(false),
            spread: range(&binds.collect::<Vec<u64>>()),
            seen_after: least * 2,
            other_bind: other.map(|_| bound(true)),
        };
        search.find()
    }

    /// Measures the times of a restart that waits for the nodes of a second fault, by effect of the second fault.
    /// The Jobs of these nodes were deleted, and their pods are created again when the nodes return or are given up.
    /// The curve of an effect is empty if no restart waits for it.
    pub fn overlapping_curves(
        &self, curves: &[LossCurve], pairs: &[Vec<FaultPair>],
    ) -> Result<Vec<LossCurve>, NotMeasured> {
        let all = self.run_all(curves.len() as u64, |b| {
            let b = b as usize;
            let waits = |a: usize| Some((a, pairs[a][b].waits_at(curves[a].typical_point())?));
            let soonest = |(a, _): &(usize, u64)| curves[*a].typical_point().samples[0].ready;
            // A shorter restart hides less of the wait.
            let Some((a, offset)) = (0..curves.len()).filter_map(waits).min_by_key(soonest) else {
                return Ok(LossCurve::default());
            };
            let first = curves[a].typical_point().outage;
            let attempt = |(nth, outage): (u64, u64)| {
                let trial = self.both((a, first), (b, outage), (nth, offset));
                let second = trial.faults.last().map_or(Duration::ZERO, |strike| strike.at);
                let at = SimTime::ZERO + second + Duration(self.notice_period_ns(b));
                Ok(self.try_overlapping(&self.run_trials(&trial)?, at))
            };
            Ok(self.curve(b, &self.points(b, &attempt)?))
        })?;
        Ok(all)
    }

    /// Returns the most extensive trial: two faults, the second during the restart after the first, on nodes if any
    /// fault affects nodes. Also returns the nodes that fail.
    pub fn sample_trial(&self, curves: &[LossCurve]) -> (TrialSpec, Vec<Vec<NodeId>>) {
        let takes_nodes = |e: &usize| self.effects[*e].takes_nodes(self.runner.faults);
        let effect = (0..self.effects.len()).find(takes_nodes).unwrap_or(0);
        let typical = curves[effect].typical_point();
        let (outage, bind) = (typical.outage, typical.samples[0].bind);
        let trial = self.both((effect, outage), (effect, outage), (0, bind / 2));
        let nodes = |s: &ChosenFault| self.runner.faults.entity_nodes(s.process, s.entity).to_vec();
        let taken = trial.faults.iter().map(nodes).collect();
        (trial, taken)
    }

    fn both(&self, (a, outage): (usize, u64), (b, again): (usize, u64), (look, offset): (u64, u64)) -> TrialSpec {
        let mut trial = self.trial(a, (look, outage), self.has_room);
        let first = trial.faults[0];
        let at = (first.at.0 + self.notice_period_ns(a) + offset).saturating_sub(self.notice_period_ns(b));
        let own = self.runner.faults.entity_nodes(first.process, first.entity);
        let elsewhere = |s: &ChosenFault| {
            let nodes = self.runner.faults.entity_nodes(s.process, s.entity);
            (s.process, s.entity) != (first.process, first.entity) && !nodes.iter().any(|node| own.contains(node))
        };
        let mut tries = (1..64).map(|n| self.sample_fault(b, look * 64 + n, Duration(at), again));
        trial.faults.extend(tries.find(elsewhere));
        trial.until = trial.until.max(Duration(at) + self.horizon(b, again));
        trial
    }
}
