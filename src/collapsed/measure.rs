//! What faults do to this scenario, as the engine plays them: measured once, before any replication.

use super::curve::{Curve, Moves, NEVER, Point, Sample};
use super::effect::{Effect, effects};
use super::gang::Gang;
use super::lab::{Lab, Seen, Trial};
use super::pairs::{Pair, Search, Zone};
use super::seats::Seats;
use crate::base::random::Key;
use crate::base::*;
use crate::engine::CannotRun;
use crate::faults::{Faults, Strike};
use crate::record::LedgerCategory;
use crate::spec::{RandomAction, Scenario};
use std::sync::Arc;

/// Plays of each point of a curve.
const PLAYS: u64 = 5;
/// How long a play goes on after everything that was scripted: longer than any timer of the modelled controllers.
const AFTERWARDS: Duration = Duration::from_secs(3600);
/// A whole JobSet has started by then, or it is refused.
const STARTUP: Duration = Duration::from_secs(7200);
/// Between the first start and the fault that is tried.
const CALM: Duration = Duration::from_secs(300);

/// Everything that replications of a scenario are made from.
pub struct Measured {
    pub(super) scenario: Scenario,
    pub(super) faults: Faults,
    pub(super) seats: Arc<Seats>,
    pub(super) key: Key,
    pub(super) effects: Vec<Effect>,
    pub(super) effect_of: Vec<usize>,
    /// From the submission until every pod was there, in plays without a fault.
    pub(super) startup: Vec<u64>,
    pub(super) submitted: Time,
    pub(super) first_bind: u64,
    /// From the end of the work to that of the JobSet.
    pub(super) ending: Vec<u64>,
    /// By effect, while there is another place to go; and how long after a place has come the pods are there.
    pub(super) curves: Vec<Curve>,
    pub(super) late: Vec<u64>,
    /// A spare is there so long after a loss.
    pub(super) take_over: u64,
    /// By effect: from the fault to the failure of the JobSet, where no restart is left.
    pub(super) last: Vec<Vec<u64>>,
    /// By effect of the first, and of the second fault.
    pub(super) pairs: Vec<Vec<Pair>>,
    /// What its pods' accelerators did during a restart, by effect: shares of the time it took.
    pub(super) shares: Vec<[f64; LedgerCategory::COUNT]>,
    pub(super) max_restarts: i64,
    pub(super) gang_accelerators: u64,
    plays: u64,
}

/// Times away are told apart as finely as this: half a second.
const FINEST: u64 = 500_000_000;

/// Where chance decides for more than this share of a restart, the pair is not modelled.
const OPEN: f64 = 0.2;
/// And for longer than this, in seconds.
const OPEN_S: f64 = 120.0;
/// A restart that is later than this because of a second fault waits for it: ten seconds.
const WAITS: u64 = 10_000_000_000;

/// Plays, and when the fault came.
type Tried = Vec<(Seen, Time)>;

/// While measuring.
struct Bench<'a> {
    lab: Lab<'a>,
    effects: &'a [Effect],
    seats: &'a Arc<Seats>,
    /// When faults are tried.
    at: Duration,
    /// Nodes with a pod at that time, and those without.
    busy: Vec<NodeId>,
    idle: Vec<NodeId>,
    has_room: bool,
    plays: std::cell::Cell<u64>,
}

impl Measured {
    /// How many plays of the engine it took.
    pub fn plays(&self) -> u64 {
        self.plays
    }

    /// The widest spread of restart times of one kind, in seconds.
    pub fn spread_s(&self) -> f64 {
        self.curves.iter().map(Curve::spread).max().unwrap_or(0) as f64 / 1e9
    }

    /// Measures a scenario that nothing speaks against (`why_not`). What measuring finds that is not modelled is the
    /// inner error.
    pub fn of(scenario: &Scenario) -> Result<Result<Measured, String>, CannotRun> {
        let faults = Faults::of(scenario);
        let seats = Arc::new(Seats::of(scenario));
        let (effects, effect_of) = effects(&faults);
        let mut bench = Bench {
            lab: Lab {
                scenario,
                faults: &faults,
            },
            effects: &effects,
            seats: &seats,
            at: Duration::ZERO,
            busy: Vec::new(),
            idle: Vec::new(),
            has_room: false,
            plays: std::cell::Cell::new(0),
        };
        let calm = match bench.calm()? {
            Ok(calm) => calm,
            Err(why) => return Ok(Err(why)),
        };
        let spares = scenario.node_spares.as_ref();
        let submitted = calm[0].submitted;
        let startup = calm
            .iter()
            .map(|seen| seen.started[0].since(seen.submitted).0);
        let binds = calm[0].bound.iter().map(|(at, _)| at.since(submitted).0);
        let (curves, plays_of) = bench.curves()?;
        let shares = bench.shares(&calm, &plays_of);
        let late = bench.late(&curves)?;
        let pairs = bench.pairs(&curves)?;
        let last = bench.last()?;
        let ending = bench.ending()?;
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        let jobset = &scenario.jobsets[0].jobset;
        let measured = Measured {
            // As the store names the first JobSet of a name.
            key: Key::of(&jobset.name).and(0),
            startup: startup.collect(),
            first_bind: binds.max().unwrap_or(0),
            submitted,
            ending,
            curves,
            late,
            take_over: spares.map_or(0, |spares| spares.take_over.0),
            last,
            pairs,
            shares,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            gang_accelerators: bench.busy.iter().map(|n| seats.accelerators[n.ix()]).sum(),
            plays: bench.plays.get(),
            seats: Arc::clone(&seats),
            effect_of,
            scenario: scenario.clone(),
            effects: effects.clone(),
            faults: Faults::of(scenario),
        };
        Ok(match measured.doubts() {
            Some(why) => Err(why),
            None => Ok(measured),
        })
    }

    /// What was measured and does not fit the form of the model.
    fn doubts(&self) -> Option<String> {
        let names: Vec<&str> = self
            .scenario
            .fault_processes
            .iter()
            .map(|p| p.cause.as_str())
            .collect();
        let name = |effect: usize| names[self.effects[effect].processes[0]];
        for (a, row) in self.pairs.iter().enumerate() {
            for (b, pair) in row.iter().enumerate() {
                if pair.open > OPEN && pair.open_s > OPEN_S {
                    return Some(format!(
                        "faults {:?} during a restart after {:?}: chance decides what they add to the counters",
                        name(b),
                        name(a)
                    ));
                }
            }
        }
        for (effect, curve) in self.curves.iter().enumerate() {
            let point = curve.typical();
            if point
                .samples
                .iter()
                .any(|s| s.kind() != point.samples[0].kind())
            {
                let why = format!(
                    "faults {:?} do not always do the same: chance decides what is counted",
                    name(effect)
                );
                return Some(why);
            }
        }
        None
    }
}

impl<'a> Bench<'a> {
    fn play(&self, trial: &Trial) -> Result<Seen, CannotRun> {
        self.plays.set(self.plays.get() + 1);
        self.lab.play(trial)
    }

    /// Plays without a fault: how long a start takes, and where the pods are then.
    fn calm(&mut self) -> Result<Result<Vec<Seen>, String>, CannotRun> {
        let trial = Trial {
            spares: true,
            until: STARTUP,
            ..Trial::default()
        };
        let plays: Result<Vec<Seen>, CannotRun> = (0..PLAYS)
            .map(|nth| {
                self.play(&Trial {
                    nth,
                    ..trial.clone()
                })
            })
            .collect();
        let plays = plays?;
        if plays.iter().any(|seen| seen.started.len() != 1) {
            let why = format!("the JobSet was not ready and left alone within {STARTUP}");
            return Ok(Err(why));
        }
        let latest = plays.iter().map(|seen| seen.started[0]).max();
        self.at = latest.unwrap_or(Time::ZERO).since(Time::ZERO) + CALM;
        let mut busy: Vec<NodeId> = plays[0].bound.iter().map(|(_, node)| *node).collect();
        busy.sort_unstable();
        busy.dedup();
        let mut gang = Gang::new(self.seats);
        let spare = self.lab.faults.spare_nodes();
        spare
            .iter()
            .for_each(|node| gang.mark(*node, super::gang::CLOSED, true));
        gang.place(Moves::All);
        let all = (0..self.seats.of.len() as u32).map(NodeId);
        let (own, others): (Vec<NodeId>, Vec<NodeId>) = all.partition(|node| gang.uses(*node));
        if own != busy {
            let why = "pods are not where one pod a node, and round robin, would put them";
            return Ok(Err(why.to_owned()));
        }
        self.busy = busy;
        self.idle = others
            .into_iter()
            .filter(|node| !spare.contains(node))
            .collect();
        self.has_room = !self.idle.is_empty() || !spare.is_empty();
        Ok(Ok(plays))
    }

    /// A fault of that effect on some node in use; `nth` chooses it.
    fn strike(&self, effect: usize, nth: u64, at: Duration, away: u64) -> Strike {
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
    fn lead(&self, effect: usize) -> u64 {
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
    fn horizon(&self, effect: usize, away: u64) -> Duration {
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

    fn trial(&self, effect: usize, (nth, away): (u64, u64), room: bool) -> Trial {
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
    fn curves(&self) -> Result<(Vec<Curve>, Vec<Tried>), CannotRun> {
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

    fn point(&self, effect: usize, away: u64, all: &mut Tried) -> Result<Point, CannotRun> {
        let mut samples = Vec::new();
        for nth in 0..PLAYS {
            let trial = self.trial(effect, (nth, away), self.has_room);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(effect));
            let seen = self.play(&trial)?;
            samples.push(self.sample(&seen, at));
            all.push((seen, at));
        }
        samples.sort_by_key(|s| (s.ready, s.interrupt));
        Ok(Point { away, samples })
    }

    /// A point between two others, and more of them as long as it is not where a straight line would have it.
    fn refine(
        &self,
        effect: usize,
        [low, high]: [&Point; 2],
        (points, all): (&mut Vec<Point>, &mut Tried),
    ) -> Result<(), CannotRun> {
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

    fn sample(&self, seen: &Seen, at: Time) -> Sample {
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
    fn shares(&self, calm: &[Seen], plays: &[Tried]) -> Vec<[f64; LedgerCategory::COUNT]> {
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

    /// How long after a node has come back the pods that waited for it are there.
    fn late(&self, curves: &[Curve]) -> Result<Vec<u64>, CannotRun> {
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

    fn last(&self) -> Result<Vec<Vec<u64>>, CannotRun> {
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

    fn ending(&self) -> Result<Vec<u64>, CannotRun> {
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

    fn pairs(&self, curves: &[Curve]) -> Result<Vec<Vec<Pair>>, CannotRun> {
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
        let play = |look: u64, offset: u64, is_other: bool| {
            let away = other.filter(|_| is_other).unwrap_or(first).away;
            let trial = self.both((a, away), (b, second.away), (look, offset));
            let mut only = trial.clone();
            only.strikes.truncate(1);
            let at = Time::ZERO + trial.strikes[0].at + Duration(self.lead(a));
            // Equal numbers: what the second fault did not touch takes the same time in both.
            let (both, only) = (self.play(&trial)?, self.play(&only)?);
            let waits = self.mostly_bound(&both, at)
                > self.mostly_bound(&only, at) + WAITS.max(curves[a].spread() * 2);
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
