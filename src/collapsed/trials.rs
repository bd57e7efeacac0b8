//! Trials of what follows: late nodes, the last restart, the end of the work, and second faults.

use super::bench::{AFTERWARDS, Bench, PLAYS};
use super::curve::{Curve, NEVER, Point};
use super::effect::Effect;
use super::lab::{Seen, Trial};
use super::pairs::{Pair, Search, Zone};
use crate::base::*;
use crate::engine::CannotRun;
use crate::faults::Strike;

/// A restart that is later than this because of a second fault waits for it: ten seconds.
const WAITS: u64 = 10_000_000_000;

impl Bench<'_> {
    /// How long after a node has come back the pods that waited for it are there.
    pub fn late(&self, curves: &[Curve]) -> Result<Vec<u64>, CannotRun> {
        let takes_nodes = |e: &usize| self.effects[*e].takes_nodes(self.lab.faults);
        let Some(effect) = (0..self.effects.len()).find(takes_nodes) else {
            return Ok(vec![0]);
        };
        let ready = curves[effect].points().iter().flat_map(|p| &p.samples);
        let ready = ready.map(|s| s.ready).filter(|r| *r != NEVER);
        let away = ready.max().unwrap_or(0).max(AFTERWARDS.0) * 2;
        let mut late = Vec::new();
        for nth in 0..PLAYS {
            let trial = self.trial(effect, (nth, away), false);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
            let sample = self.sample(&self.play(&trial)?, at);
            late.extend((sample.ready != NEVER).then(|| sample.ready.saturating_sub(away)));
        }
        late.sort_unstable();
        Ok(if late.is_empty() { vec![0] } else { late })
    }

    pub fn last(&self) -> Result<Vec<Vec<u64>>, CannotRun> {
        let mut all = Vec::new();
        for effect in 0..self.effects.len() {
            let mut failed = Vec::new();
            for nth in 0..PLAYS {
                let mut trial = self.trial(effect, (nth, NEVER), self.has_room);
                trial.last = true;
                let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
                let seen = self.play(&trial)?;
                failed.extend(seen.failed.map(|t| t.since(at).0));
            }
            failed.sort_unstable();
            all.push(failed);
        }
        Ok(all)
    }

    pub fn ending(&self) -> Result<Vec<u64>, CannotRun> {
        let mut all = Vec::new();
        if self.lab.scenario.training[0].work.is_none() {
            return Ok(all);
        }
        for nth in 0..PLAYS {
            let seen = self.play(&Trial {
                nth,
                spares: true,
                until: self.at + AFTERWARDS,
                work: Some(Duration::from_secs(60)),
                ..Trial::default()
            })?;
            all.extend(
                seen.done
                    .zip(seen.completed)
                    .map(|(done, end)| end.since(done).0),
            );
        }
        all.sort_unstable();
        Ok(all)
    }

    pub fn pairs(&self, curves: &[Curve]) -> Result<Vec<Vec<Pair>>, CannotRun> {
        let n = curves.len();
        let row = |a: usize| (0..n).map(|b| self.pair((a, b), curves)).collect();
        (0..n).map(row).collect()
    }

    /// A fault of effect `a`, and while its restart is under way one of effect `b`.
    fn pair(&self, (a, b): (usize, usize), curves: &[Curve]) -> Result<Pair, CannotRun> {
        let (first, other) = (curves[a].typical(), curves[a].shorter());
        let second = curves[b].typical();
        let sample = first.samples[first.samples.len() / 2];
        let alone = second.samples[second.samples.len() / 2];
        let least = WAITS.max(curves[a].spread() * 2);
        let play = |look: u64, offset: u64, is_other: bool| {
            let away = other.filter(|_| is_other).unwrap_or(first).away;
            let trial = self.both((a, away), (b, second.away), (look, offset));
            let mut only = trial.clone();
            only.strikes.truncate(1);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(a));
            // Equal numbers: what the second fault did not touch takes the same time in both.
            let (both, only) = (self.play(&trial)?, self.play(&only)?);
            let waits = self.mostly_bound(&both, at) > self.mostly_bound(&only, at) + least;
            let more = |x: u32, y: u32| x as i32 - y as i32;
            let adds = (
                more(both.restarts, only.restarts),
                more(both.counts, only.counts),
            );
            Ok(Zone {
                adds,
                waits: waits && adds != (alone.restarts as i32, alone.counts as i32),
            })
        };
        let middle = |point: &Point| point.samples[point.samples.len() / 2].bind;
        let search = Search {
            play: &play,
            alone: (alone.restarts as i32, alone.counts as i32),
            ready: if sample.ready == NEVER {
                AFTERWARDS.0
            } else {
                sample.ready
            },
            bind: sample.bind,
            seen_after: least * 2,
            other_bind: other.map(middle),
        };
        search.find()
    }

    /// When all pods but those for which there may be no place were bound anew, since the fault.
    fn mostly_bound(&self, seen: &Seen, at: Time) -> u64 {
        let entity = |e: &Effect| self.lab.faults.nodes_of(e.processes[0], 0).len();
        let lost = 2 * self.effects.iter().map(entity).max().unwrap_or(0);
        let bound: Vec<Time> = seen
            .bound
            .iter()
            .map(|(t, _)| *t)
            .filter(|t| *t > at)
            .collect();
        let most = self.seats.pods.saturating_sub(lost).max(1);
        bound
            .get(most.min(bound.len()).saturating_sub(1))
            .map_or(0, |t| t.since(at).0)
    }

    fn both(
        &self,
        (a, away): (usize, u64),
        (b, again): (usize, u64),
        (look, offset): (u64, u64),
    ) -> Trial {
        let mut trial = self.trial(a, (look, away), self.has_room);
        let first = trial.strikes[0];
        let at = (first.at.0 + self.lead(a) + offset).saturating_sub(self.lead(b));
        let own = self.lab.faults.nodes_of(first.process, first.entity);
        let elsewhere = |s: &Strike| {
            let nodes = self.lab.faults.nodes_of(s.process, s.entity);
            (s.process, s.entity) != (first.process, first.entity)
                && !nodes.iter().any(|node| own.contains(node))
        };
        let mut tries = (1..64).map(|n| self.strike(b, look * 64 + n, Duration(at), again));
        trial.strikes.extend(tries.find(elsewhere));
        trial.until = trial.until.max(Duration(at) + self.horizon(b, again));
        trial
    }
}
