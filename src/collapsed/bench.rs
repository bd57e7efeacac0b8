//! Trials of single faults: how long what they begin takes, by the time that their nodes are away.

use super::choices::{AFTERWARDS, CALM, FINEST, PLAYS, STARTUP};
use super::curve::{Curve, Moves, NEVER, Point, Sample};
use super::effect::Effect;
use super::gang::{CLOSED, Gang};
use super::lab::{Lab, NotMeasured, Seen, Trial};
use super::seats::Seats;
use crate::base::*;
use crate::faults::{Faults, Strike};
use crate::record::LedgerCategory;
use crate::spec::RandomAction;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Plays, and when the fault came.
pub type Tried = Vec<(Seen, Time)>;

/// While measuring.
pub struct Bench<'a> {
    pub lab: Lab<'a>,
    pub effects: &'a [Effect],
    pub seats: &'a Arc<Seats>,
    /// When faults are tried.
    pub at: Duration,
    /// Nodes with a pod at that time, and those without.
    pub busy: Vec<NodeId>,
    pub idle: Vec<NodeId>,
    pub has_room: bool,
    pub plays: AtomicU64,
}

impl Bench<'_> {
    pub fn play(&self, trial: &Trial) -> Result<Seen, NotMeasured> {
        self.plays.fetch_add(1, Ordering::Relaxed);
        self.lab.play(trial)
    }

    /// So many plays of one kind, on all cores, in their order.
    pub fn plays_of<T: Send>(
        &self,
        n: u64,
        play: impl Fn(u64) -> Result<T, NotMeasured> + Sync,
    ) -> Result<Vec<T>, NotMeasured> {
        (0..n).into_par_iter().map(&play).collect()
    }

    /// Plays without a fault: how long a start takes, and where the pods are then.
    pub fn calm(&mut self) -> Result<Vec<Seen>, NotMeasured> {
        let trial = Trial {
            spares: true,
            until: STARTUP,
            ..Trial::default()
        };
        let plays = self.plays_of(PLAYS, |nth| {
            self.play(&Trial {
                nth,
                ..trial.clone()
            })
        })?;
        if plays.iter().any(|seen| seen.started.len() != 1) {
            let why = format!("the JobSet was not ready and left alone within {STARTUP}");
            return Err(NotMeasured::Refused(why));
        }
        let latest = plays.iter().map(|seen| seen.started[0]).max();
        self.at = latest.unwrap_or(Time::ZERO).since(Time::ZERO) + CALM;
        let mut busy: Vec<NodeId> = plays[0].bound.iter().map(|(_, node)| *node).collect();
        busy.sort_unstable();
        busy.dedup();
        let mut gang = Gang::new(self.seats);
        let spare = self.lab.faults.spare_nodes();
        spare.iter().for_each(|node| gang.mark(*node, CLOSED, true));
        gang.place(Moves::All);
        let all = (0..self.seats.of.len() as u32).map(NodeId);
        let (own, others): (Vec<NodeId>, Vec<NodeId>) = all.partition(|node| gang.uses(*node));
        if own != busy {
            let why = "pods are not where one pod a node, and round robin, would put them";
            return Err(NotMeasured::Refused(why.to_owned()));
        }
        self.busy = busy;
        self.idle = others
            .into_iter()
            .filter(|node| !spare.contains(node))
            .collect();
        self.has_room = !self.idle.is_empty() || !spare.is_empty();
        Ok(plays)
    }

    /// A fault of that effect on some node in use; `nth` chooses it.
    pub fn strike(&self, effect: usize, nth: u64, at: Duration, away: u64) -> Strike {
        let process = self.effects[effect].processes[0];
        let faults = self.lab.faults;
        let in_use = |entity: &usize| {
            let nodes = faults.nodes_of(process, *entity);
            nodes
                .iter()
                .all(|node| self.busy.binary_search(node).is_ok())
        };
        let all: Vec<usize> = (0..faults.entities(process)).filter(in_use).collect();
        // Spread over all of them, whatever their number is.
        let chosen = (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % all.len().max(1);
        let end = at.0.saturating_add(self.lead(effect)).checked_add(away);
        Strike {
            process,
            entity: all.get(chosen).copied().unwrap_or(0),
            at,
            end: end.filter(|_| away != NEVER).map(Duration),
        }
    }

    /// From the drawn fault to what is felt of it: notice.
    pub fn lead(&self, effect: usize) -> u64 {
        let process = self
            .lab
            .faults
            .processes()
            .nth(self.effects[effect].processes[0]);
        process.map_or(0, |p| match p.does {
            RandomAction::Drain => p.notice.0,
            _ => 0,
        })
    }

    /// Long enough for what becomes of a node that is away so long.
    pub fn horizon(&self, effect: usize, away: u64) -> Duration {
        let process = self
            .lab
            .faults
            .processes()
            .nth(self.effects[effect].processes[0]);
        let deleted = process.and_then(|p| p.deleted_after).map_or(0, |d| d.0);
        let notice = process.map_or(0, |p| p.notice.0);
        let away = if away == NEVER { 0 } else { away };
        Duration(notice + away.max(deleted)) + AFTERWARDS
    }

    /// At another phase of everything periodic in each play.
    fn moment(&self, nth: u64) -> Duration {
        let phase = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        Duration(self.at.0 + phase % 60_000_000_000)
    }

    pub fn trial(&self, effect: usize, (nth, away): (u64, u64), room: bool) -> Trial {
        let at = self.moment(nth);
        Trial {
            strikes: vec![self.strike(effect, nth, at, away)],
            spares: room,
            closed: if room { Vec::new() } else { self.idle.clone() },
            nth,
            until: at + self.horizon(effect, away),
            ..Trial::default()
        }
    }

    /// What each effect does by the time that its nodes are away: points until straight lines between them are right.
    pub fn curves(&self) -> Result<(Vec<Curve>, Vec<Tried>), NotMeasured> {
        let mut curves = Vec::new();
        let mut tried = Vec::new();
        for effect in 0..self.effects.len() {
            let mut all = Tried::default();
            let times = times_away(&self.effects[effect], self.lab.faults);
            let mut points = Vec::new();
            for away in times {
                points.push(self.point(effect, away, &mut all)?);
            }
            let finite: Vec<Point> = points.iter().filter(|p| p.away != NEVER).cloned().collect();
            for pair in finite.windows(2) {
                self.refine(effect, [&pair[0], &pair[1]], (&mut points, &mut all))?;
            }
            let middle = self.effects[effect].back.first();
            let typical = middle.map_or(NEVER, |back| back.quantile(0.5).0);
            curves.push(Curve::new(points, typical));
            tried.push(all);
        }
        Ok((curves, tried))
    }

    fn point(&self, effect: usize, away: u64, all: &mut Tried) -> Result<Point, NotMeasured> {
        let plays = self.plays_of(PLAYS, |nth| {
            let trial = self.trial(effect, (nth, away), self.has_room);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
            Ok((self.play(&trial)?, at))
        })?;
        let sample = |(seen, at): &(Seen, Time)| self.sample(seen, *at);
        let mut samples: Vec<Sample> = plays.iter().map(sample).collect();
        all.extend(plays);
        samples.sort_by_key(|s| (s.ready, s.interrupt));
        Ok(Point { away, samples })
    }

    /// A point between two others, and more of them as long as it is not where a straight line would have it.
    fn refine(
        &self,
        effect: usize,
        [low, high]: [&Point; 2],
        (points, all): (&mut Vec<Point>, &mut Tried),
    ) -> Result<(), NotMeasured> {
        if high.away - low.away < FINEST {
            return Ok(());
        }
        let middle = self.point(effect, low.away + (high.away - low.away) / 2, all)?;
        points.push(middle.clone());
        if middle.is_between(low, high) {
            return Ok(());
        }
        self.refine(effect, [low, &middle], (points, all))?;
        self.refine(effect, [&middle, high], (points, all))
    }

    pub fn sample(&self, seen: &Seen, at: Time) -> Sample {
        let since = |t: Option<Time>| t.map_or(NEVER, |t| t.since(at).0);
        let interrupt = seen.interrupted.iter().copied().find(|t| *t >= at);
        let ready = seen
            .started
            .last()
            .copied()
            .filter(|t| Some(*t) > interrupt);
        let bound: Vec<Time> = seen
            .bound
            .iter()
            .map(|(t, _)| *t)
            .filter(|t| *t > at)
            .collect();
        Sample {
            interrupt: since(interrupt),
            ready: since(ready.filter(|_| interrupt.is_some())),
            bind: bound.last().map_or(0, |t| t.since(at).0),
            counted: since(seen.counted.first().map(|(t, ..)| *t)),
            restarts: seen.restarts,
            counts: seen.counts,
            moves: match bound.len() {
                0 => Moves::Nobody,
                n if n >= self.seats.pods => Moves::All,
                _ => Moves::Lost,
            },
            failed: since(seen.failed),
        }
    }

    /// What the accelerators of the gang did while it was being restarted, as shares of that time.
    pub fn shares(&self, calm: &[Seen], plays: &[Tried]) -> Vec<[f64; LedgerCategory::COUNT]> {
        let before = &calm[0].held;
        let of = |plays: &Tried| {
            let mut shares = [0.0; LedgerCategory::COUNT];
            let mut whole = 0.0;
            for (seen, at) in plays {
                let sample = self.sample(seen, *at);
                if sample.ready == NEVER || sample.interrupt == NEVER {
                    continue;
                }
                let accelerators: u64 = self
                    .busy
                    .iter()
                    .map(|n| self.seats.accelerators[n.ix()])
                    .sum();
                whole += (sample.ready - sample.interrupt) as f64 * accelerators as f64;
                for category in [
                    LedgerCategory::Starting,
                    LedgerCategory::Waiting,
                    LedgerCategory::Terminating,
                ] {
                    let (now, then) = (
                        seen.held.get(category as usize),
                        before.get(category as usize),
                    );
                    let more = now.copied().unwrap_or(0) as f64 - then.copied().unwrap_or(0) as f64;
                    shares[category as usize] += more.max(0.0);
                }
            }
            shares.map(|ns| {
                if whole > 0.0 {
                    (ns / whole).min(1.0)
                } else {
                    0.0
                }
            })
        };
        plays.iter().map(of).collect()
    }
}

/// Which times away are tried: quantiles of what may be drawn.
fn times_away(effect: &Effect, faults: &Faults) -> Vec<u64> {
    if !effect.takes_nodes(faults) {
        return vec![NEVER];
    }
    const AT: [f64; 7] = [0.0005, 0.02, 0.1, 0.5, 0.9, 0.98, 0.9995];
    let mut all: Vec<u64> = Vec::new();
    for back in &effect.back {
        all.extend(AT.iter().map(|u| back.quantile(*u).0));
    }
    for process in effect
        .processes
        .iter()
        .filter_map(|p| faults.processes().nth(*p))
    {
        // Just before its Node is deleted, and behind it.
        let deleted = process.deleted_after.map_or(0, |after| after.0);
        let range = all.first().copied().unwrap_or(0)..all.last().copied().unwrap_or(0);
        let around = [deleted.saturating_sub(FINEST / 2), deleted + FINEST / 2];
        let within: Vec<u64> = around.into_iter().filter(|at| range.contains(at)).collect();
        all.extend(within);
    }
    if effect.any_time {
        all.extend((0..6).map(|n| 20_000_000_000u64 << (n * 3)));
    }
    let processes = effect
        .processes
        .iter()
        .filter_map(|p| faults.processes().nth(*p));
    if processes
        .clone()
        .any(|p| p.back.is_none() || p.comes_back < 1.0)
    {
        all.push(NEVER);
    }
    all.sort_unstable();
    all.dedup();
    all
}
