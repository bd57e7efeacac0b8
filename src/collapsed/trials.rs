//! Trials of what follows: late nodes, the last restart, the end of the work, and second faults.

use super::bench::Bench;
use super::choices::{AFTERWARDS, LOOKS, PLAYS, WAITS};
use super::curve::{Curve, NEVER, Point};
use super::effect::Effect;
use super::lab::{NotMeasured, Seen, Trial};
use super::pairs::{Pair, Search, Zone};
use crate::base::*;
use crate::faults::Strike;

impl Bench<'_> {
    /// How long after a node has come back the pods that waited for it are there.
    pub fn late(&self, curves: &[Curve]) -> Result<Vec<u64>, NotMeasured> {
        let takes_nodes = |e: &usize| self.effects[*e].takes_nodes(self.lab.faults);
        let Some(effect) = (0..self.effects.len()).find(takes_nodes) else {
            return Ok(vec![0]);
        };
        let ready = curves[effect].points().iter().flat_map(|p| &p.samples);
        let ready = ready.map(|s| s.ready).filter(|r| *r != NEVER);
        let away = ready.max().unwrap_or(0).max(AFTERWARDS.0) * 2;
        let late = self.plays_of(PLAYS, |nth| {
            let trial = self.trial(effect, (nth, away), false);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
            let sample = self.sample(&self.play(&trial)?, at);
            Ok((sample.ready != NEVER).then(|| sample.ready.saturating_sub(away)))
        })?;
        let mut late: Vec<u64> = late.into_iter().flatten().collect();
        late.sort_unstable();
        Ok(if late.is_empty() { vec![0] } else { late })
    }

    pub fn last(&self) -> Result<Vec<Vec<u64>>, NotMeasured> {
        let mut all = Vec::new();
        for effect in 0..self.effects.len() {
            let failed = self.plays_of(PLAYS, |nth| {
                let mut trial = self.trial(effect, (nth, NEVER), self.has_room);
                trial.last = true;
                let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
                Ok(self.play(&trial)?.failed.map(|t| t.since(at).0))
            })?;
            let mut failed: Vec<u64> = failed.into_iter().flatten().collect();
            failed.sort_unstable();
            all.push(failed);
        }
        Ok(all)
    }

    pub fn ending(&self) -> Result<Vec<u64>, NotMeasured> {
        let all = self.plays_of(PLAYS, |nth| {
            let seen = self.play(&Trial {
                nth,
                spares: true,
                until: self.at + AFTERWARDS,
                work: Some(Duration::from_secs(60)),
                ..Trial::default()
            })?;
            let both = seen.done.zip(seen.completed);
            Ok(both.map(|(done, end)| end.since(done).0))
        })?;
        let mut all: Vec<u64> = all.into_iter().flatten().collect();
        all.sort_unstable();
        Ok(all)
    }

    pub fn pairs(&self, curves: &[Curve]) -> Result<Vec<Vec<Pair>>, NotMeasured> {
        let n = curves.len();
        let all = self.plays_of((n * n) as u64, |at| {
            let at = at as usize;
            self.pair((at / n, at % n), curves)
        })?;
        Ok(all.chunks(n).map(<[Pair]>::to_vec).collect())
    }

    /// A fault of effect `a`, and while its restart is under way one of effect `b`.
    fn pair(&self, (a, b): (usize, usize), curves: &[Curve]) -> Result<Pair, NotMeasured> {
        let (first, other) = (curves[a].typical(), curves[a].shorter());
        let second = curves[b].typical();
        let sample = first.samples[first.samples.len() / 2];
        let alone = second.samples[second.samples.len() / 2];
        let least = WAITS.max(curves[a].spread() * 2);
        // The first one alone with the same numbers: what the second fault does not touch takes the same time in both.
        let away = |is_other: bool| other.filter(|_| is_other).unwrap_or(first).away;
        let only = self.plays_of(LOOKS * 2, |n| {
            let (look, away) = (n / 2, away(n % 2 == 1));
            let mut trial = self.trial(a, (look, away), self.has_room);
            trial.until = trial.until + self.horizon(b, second.away);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(a));
            let seen = self.play(&trial)?;
            Ok((self.mostly_bound(&seen, at), seen.restarts, seen.counts))
        })?;
        let play = |look: u64, offset: u64, is_other: bool| {
            let trial = self.both((a, away(is_other)), (b, second.away), (look, offset));
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(a));
            let both = self.play(&trial)?;
            let (bound, restarts, counts) = only[(look * 2) as usize + usize::from(is_other)];
            let waits = self.mostly_bound(&both, at) > bound + least;
            let more = |x: u32, y: u32| x as i32 - y as i32;
            let adds = (more(both.restarts, restarts), more(both.counts, counts));
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
