//! One replication: its faults one after another, and what each of them was measured to do.

use super::curve::{Moves, NEVER, Sample};
use super::gang::{CLOSED, DOWN, Gang};
use super::ledger::Accounts;
use super::measure::Measured;
use super::outcome::{CollapsedOutcome, Recovery};
use super::pairs::{Belongs, Zone};
use super::trainer::Trainer;
use crate::base::random::{Draw, Draws, Purpose};
use crate::base::*;
use crate::faults::{Does, Fault, On};
use crate::record::EndReason;
use crate::spec::{Loss, StopWhen};

/// Plays replications, in the memory of the one before.
pub struct CollapsedPlayer<'m> {
    model: &'m Measured,
    draws: Draws,
    gang: Gang,
    /// When each node is back, while the faults are read backwards.
    back: Vec<u64>,
    away: Vec<u64>,
}

/// A restart that is under way.
struct Episode {
    /// What it is called after: a process, or none for the start.
    process: u32,
    node: NodeId,
    /// Its effect; none: the start of the JobSet.
    effect: Option<usize>,
    /// When what began it came, what is last known to have begun it anew, and when the job stopped.
    start: Time,
    since: Time,
    stopped: Time,
    /// Pods are bound anew then, and were.
    bind: Time,
    /// When the restart is counted.
    counted: Time,
    placed: bool,
    moves: Moves,
    /// Every pod is there then, if there are places; and a place that comes later than this makes it later.
    floor: Time,
    in_time: Time,
    complete_at: Option<Time>,
}

/// One replication that is under way.
struct Game<'g, 'm> {
    model: &'m Measured,
    draws: &'g mut Draws,
    gang: &'g mut Gang,
    trainer: Trainer<'m>,
    accounts: Accounts,
    episode: Option<Episode>,
    recoveries: Vec<Recovery>,
    episodes: u32,
    restarts: u32,
    counts: u32,
    close_calls: u32,
    /// The last fault of nodes that nobody used.
    last_idle: Option<(Time, usize)>,
    terminal: &'static str,
    over: Option<Time>,
    doubt: u64,
}

impl<'m> CollapsedPlayer<'m> {
    /// Of a scenario that was measured.
    pub fn new(model: &'m Measured) -> CollapsedPlayer<'m> {
        CollapsedPlayer {
            model,
            draws: Draws::new(0, 0),
            gang: Gang::new(&model.seats),
            back: Vec::new(),
            away: Vec::new(),
        }
    }

    /// The replication of this seed and number.
    pub fn run(&mut self, seed: u64, replication: u64) -> CollapsedOutcome {
        let model = self.model;
        self.draws.reset(seed, replication);
        let (faults, repairs_later) = model.faults.draw(&mut self.draws);
        self.times_away(&faults);
        self.gang.reset();
        let mut game = Game {
            model,
            draws: &mut self.draws,
            gang: &mut self.gang,
            trainer: Trainer::new(&model.scenario.training[0], model.key),
            accounts: Accounts::default(),
            episode: None,
            recoveries: Vec::new(),
            episodes: 0,
            restarts: 0,
            counts: 0,
            close_calls: 0,
            last_idle: None,
            terminal: "",
            over: None,
            doubt: 0,
        };
        game.submit();
        let mut next = 0;
        while next < faults.len() {
            let first = &faults[next];
            let together =
                |f: &&Fault| f.at == first.at && f.cause == first.cause && f.does == first.does;
            let n = match first.on {
                On::Node(_) => faults[next..].iter().take_while(together).count(),
                On::Pod(_) => 1,
            };
            game.until(Time::ZERO + first.at);
            if game.ends_run() {
                break;
            }
            game.happens(&faults[next..next + n], self.away[next]);
            next += n;
        }
        game.close(repairs_later)
    }

    /// How long what each fault takes away is away.
    fn times_away(&mut self, faults: &[Fault]) {
        self.back.clear();
        self.back.resize(self.model.seats.of.len(), NEVER);
        self.away.clear();
        self.away.resize(faults.len(), NEVER);
        for (i, fault) in faults.iter().enumerate().rev() {
            let On::Node(node) = fault.on else { continue };
            match fault.does {
                Does::Return | Does::New | Does::Uncordon => self.back[node.ix()] = fault.at.0,
                _ => {
                    let back = self.back[node.ix()];
                    self.away[i] = if back == NEVER {
                        NEVER
                    } else {
                        back - fault.at.0
                    };
                }
            }
        }
    }
}

impl<'m> Game<'_, 'm> {
    fn unit(&mut self, what: u32) -> f64 {
        self.draws.uniform(Draw {
            purpose: Purpose::CollapsedRecovery,
            entity: self.model.key,
            occurrence: self.episodes,
            lane: what,
        })
    }

    fn pick(&mut self, what: u32, of: impl Fn(&Measured) -> &Vec<u64>) -> Option<u64> {
        let u = self.unit(what);
        let all = of(self.model);
        let at = ((u * all.len() as f64) as usize).min(all.len().saturating_sub(1));
        all.get(at).copied()
    }

    fn submit(&mut self) {
        let model = self.model;
        for node in model.faults.spare_nodes() {
            self.gang.mark(node, CLOSED, true);
        }
        let submitted = model.submitted;
        self.trainer.books.submitted(submitted);
        let ready = submitted + Duration(self.pick(0, |m| &m.startup).unwrap_or(0));
        self.episode = Some(Episode {
            process: u32::MAX,
            node: NodeId::NONE,
            effect: None,
            start: submitted,
            since: submitted,
            stopped: submitted,
            bind: submitted + Duration(model.first_bind),
            counted: Time::NEVER,
            placed: false,
            moves: Moves::All,
            floor: ready,
            in_time: ready,
            complete_at: None,
        });
    }

    /// Everything that comes by itself until then.
    fn until(&mut self, now: Time) {
        loop {
            if let Some(over) = self.over.filter(|over| *over <= now) {
                // Nothing of the JobSet happens behind its end.
                self.accounts
                    .sick_until(over.max(Time::ZERO), self.gang.sick);
                return;
            }
            if let Some(ends) = self.trainer.ends().filter(|ends| *ends <= now) {
                self.trainer.finish(ends);
                let ending = self.pick(1, |m| &m.ending).unwrap_or(0);
                self.end(ends + Duration(ending), "Completed");
                continue;
            }
            let Some(episode) = &self.episode else { return };
            if !episode.placed && episode.bind <= now {
                self.place();
                continue;
            }
            match self.ready().filter(|ready| *ready <= now) {
                Some(ready) => self.resume(ready),
                None => return,
            }
        }
    }

    /// The pods of the restart at hand find nodes.
    fn place(&mut self) {
        let Some(episode) = &mut self.episode else {
            return;
        };
        episode.placed = true;
        if let Some((at, effect)) = self.last_idle {
            // Nobody may know yet that it is lost.
            let unseen = self.model.pairs[effect][effect].unseen();
            let is_near = episode.bind.since(at.min(episode.bind)).0 < unseen;
            self.close_calls += u32::from(is_near && self.gang.has_choice());
        }
        self.gang.place(episode.moves);
        if self.gang.complete() {
            episode.complete_at = Some(episode.bind.min(episode.in_time));
        }
    }

    /// When every pod is there, as far as is known.
    fn ready(&self) -> Option<Time> {
        let episode = self.episode.as_ref()?;
        if !episode.placed || episode.floor == Time::NEVER {
            return None;
        }
        let complete = episode.complete_at?;
        Some(match complete <= episode.in_time {
            true => episode.floor,
            false => {
                let late = &self.model.late;
                episode.floor.max(complete + Duration(late[late.len() / 2]))
            }
        })
    }

    fn resume(&mut self, ready: Time) {
        let Some(episode) = self.episode.take() else {
            return;
        };
        self.trainer.books.holds(ready, true);
        self.trainer.begin(ready, Loss::Process, self.draws);
        if let Some(effect) = episode.effect {
            self.recovered(&episode, ready, true);
            let took = ready.since(episode.stopped.min(ready)).0;
            let model = self.model;
            let gang = self.gang_accelerators();
            self.accounts.restart(took, gang, &model.shares[effect]);
            self.doubt += model.curves[effect].spread() * 2;
        }
    }

    fn gang_accelerators(&self) -> u64 {
        self.model.gang_accelerators
    }

    fn recovered(&mut self, episode: &Episode, end: Time, is_over: bool) {
        self.recoveries.push(Recovery {
            process: episode.process,
            node: episode.node,
            start: episode.start,
            stopped: episode.stopped,
            end,
            is_over,
            in_place: episode.moves != Moves::All,
            attempt: self.restarts,
        });
    }

    /// The JobSet comes to its end.
    fn end(&mut self, at: Time, state: &'static str) {
        self.over = Some(at);
        self.terminal = state;
        self.trainer.books.ended(at);
        if let Some(episode) = self.episode.take().filter(|e| e.effect.is_some()) {
            self.recovered(&episode, at, false);
        }
    }

    fn ends_run(&self) -> bool {
        self.over.is_some() && self.model.scenario.stop.when != StopWhen::Time
    }

    /// Faults of one entity at one instant.
    fn happens(&mut self, faults: &[Fault], away: u64) {
        let now = Time::ZERO + faults[0].at;
        self.accounts.sick_until(now, self.gang.sick);
        match faults[0].does {
            Does::Return | Does::New | Does::Uncordon => self.comes_back(now, faults),
            Does::Cordon => {
                for fault in faults {
                    let On::Node(node) = fault.on else { continue };
                    self.gang.mark(node, CLOSED, true);
                    if self.gang.uses(node) && fault.cause != crate::faults::SPARE {
                        self.trainer.notice(now);
                    }
                }
            }
            Does::Delete | Does::Silent(_) => {}
            Does::Crash | Does::Partition | Does::Drain | Does::Exit(_) => {
                self.strikes(now, faults, away)
            }
        }
    }

    fn comes_back(&mut self, now: Time, faults: &[Fault]) {
        for fault in faults {
            let On::Node(node) = fault.on else { continue };
            if fault.does != Does::Uncordon {
                self.gang.mark(node, DOWN, false);
            }
            if fault.does != Does::Return {
                self.gang.mark(node, CLOSED, false);
            }
        }
        let others = |e: &&Episode| (e.process, e.node) != (faults[0].cause, first_node(faults));
        let restart = self.episode.as_ref().filter(others);
        if let Some((effect, bind)) = restart.and_then(|e| Some((e.effect?, e.bind))) {
            // Just before the pods are bound, or just behind it.
            let near = bind.max(now).since(bind.min(now)).0 <= self.model.curves[effect].spread();
            self.close_calls += u32::from(near && self.gang.has_choice());
        }
        if let Some(episode) = self.episode.as_mut().filter(|e| e.placed) {
            self.gang.fill();
            if episode.complete_at.is_none() && self.gang.complete() {
                episode.complete_at = Some(now);
            }
        }
    }

    fn strikes(&mut self, now: Time, faults: &[Fault], away: u64) {
        let effect = self.model.effect_of[faults[0].cause as usize];
        let belongs = self.belongs(now, effect);
        if belongs == Belongs::Next && self.episode.as_ref().is_some_and(|e| !e.placed) {
            // They are bound before anybody knows.
            self.place();
        }
        let hit = self.mark(faults);
        if !hit {
            self.last_idle = Some((now, effect));
        }
        if self.over.is_some() || !hit {
            return;
        }
        match (belongs, self.episode.is_some()) {
            (Belongs::Along(zone), true) => self.goes_along(now, (effect, away), zone),
            _ => self.begins(now, effect, away, faults),
        }
    }

    /// What is taken away; whether the gang feels it.
    fn mark(&mut self, faults: &[Fault]) -> bool {
        let mut hit = false;
        for fault in faults {
            let On::Node(node) = fault.on else {
                hit = true;
                continue;
            };
            let what = if fault.does == Does::Drain {
                CLOSED
            } else {
                DOWN
            };
            let dead = self.gang.is(node, DOWN);
            hit |= self.gang.uses(node) && !dead;
            self.gang.mark(node, what, true);
        }
        hit
    }

    /// Which attempt a fault that comes now belongs to.
    fn belongs(&mut self, now: Time, effect: usize) -> Belongs {
        let Some(episode) = &self.episode else {
            return Belongs::Next;
        };
        let Some(first) = episode.effect else {
            // While it starts for the first time nobody has measured it.
            self.close_calls += 1;
            return Belongs::Next;
        };
        let offset = now.since(episode.since).0;
        let bind = episode.bind.since(episode.since).0;
        let (belongs, close, open) = self.model.pairs[first][effect].of(offset, bind);
        self.close_calls += u32::from(close);
        if open {
            let ready = self.model.curves[effect].typical().samples[0].ready;
            self.doubt += if ready == NEVER { 0 } else { ready };
        }
        belongs
    }

    /// It belongs to an attempt that ends anyway.
    fn goes_along(&mut self, now: Time, (effect, away): (usize, u64), zone: Zone) {
        let (sample, open) = self.sample(effect, away);
        self.close_calls += u32::from(open);
        let Some(episode) = &mut self.episode else {
            return;
        };
        let add = |n: u32, by: i32| (i64::from(n) + i64::from(by)).max(0) as u32;
        self.restarts = add(self.restarts, zone.adds.0);
        self.counts = add(self.counts, zone.adds.1);
        if zone.waits && sample.ready != NEVER {
            episode.floor = episode.floor.max(now + Duration(sample.ready));
            episode.bind = episode.bind.max(now + Duration(sample.bind));
        }
        let in_time = now + Duration(self.model.take_over);
        episode.in_time = episode.in_time.max(in_time);
        // Whichever fails the Job first is what the restart counts from.
        let counted = now.0.saturating_add(sample.counted);
        if counted < episode.counted.0 {
            (episode.since, episode.effect, episode.counted) = (now, Some(effect), Time(counted));
        }
    }

    fn sample(&mut self, effect: usize, away: u64) -> (Sample, bool) {
        self.episodes += 1;
        let u = self.unit(2);
        self.model.curves[effect].at(away, u)
    }

    /// A fault of the attempt that runs, or is to run next.
    fn begins(&mut self, now: Time, effect: usize, away: u64, faults: &[Fault]) {
        let (sample, open) = self.sample(effect, away);
        self.close_calls += u32::from(open);
        if sample.interrupt == NEVER {
            return;
        }
        let model = self.model;
        let stopped = now + Duration(sample.interrupt);
        let ran = self.trainer.runs();
        if let Some(ends) = self.trainer.ends().filter(|ends| *ends <= stopped) {
            self.until(ends);
            return;
        }
        if ran {
            let widest = model.curves.iter().map(|c| c.spread()).max();
            let either_way = widest.unwrap_or(0) * 2;
            self.trainer.interrupt(stopped, either_way);
            self.trainer.books.holds(stopped, false);
        }
        let node = first_node(faults);
        let before = self.episode.take();
        let is_last = sample.counts > 0 && i64::from(self.counts) >= model.max_restarts;
        let failed = match is_last {
            true => self.pick(3, |m| &m.last[effect]),
            false => (sample.failed != NEVER).then_some(sample.failed),
        };
        // What would be counted after the end of the run is not.
        let in_time = now.0.saturating_add(sample.counted) <= model.scenario.stop.at.0;
        if !is_last && in_time {
            self.restarts += sample.restarts;
            self.counts += sample.counts;
        }
        let floor = match sample.ready {
            NEVER => Time::NEVER,
            ready => now + Duration(ready),
        };
        let keep = before.as_ref().map_or(Time::ZERO, |b| b.floor);
        self.episode = Some(Episode {
            process: faults[0].cause,
            node,
            effect: Some(effect),
            start: before.as_ref().map_or(now, |b| b.start),
            since: now,
            stopped: before.as_ref().map_or(stopped, |b| b.stopped),
            bind: now + Duration(sample.bind),
            counted: Time(now.0.saturating_add(sample.counted)),
            placed: sample.moves == Moves::Nobody,
            moves: sample.moves,
            floor: floor.max(if keep == Time::NEVER {
                Time::ZERO
            } else {
                keep
            }),
            in_time: now + Duration(model.take_over),
            complete_at: (sample.moves == Moves::Nobody && self.gang.complete()).then_some(now),
        });
        if let Some(failed) = failed {
            self.end(now + Duration(failed), "Failed");
        }
    }

    fn close(mut self, repairs_later: bool) -> CollapsedOutcome {
        let model = self.model;
        let limit = Time::ZERO + model.scenario.stop.at;
        self.until(limit);
        let to_its_time = model.scenario.stop.when == StopWhen::Time;
        let (end, reason) = match self.over {
            Some(over) if over <= limit && !to_its_time => (over, EndReason::AllJobSetsFinished),
            Some(_) => (limit, EndReason::TimeLimit),
            None if self.trainer.runs() || to_its_time || repairs_later => {
                (limit, EndReason::TimeLimit)
            }
            None if self.ready().is_some() => (limit, EndReason::TimeLimit),
            None => (limit, EndReason::Stuck),
        };
        self.accounts.sick_until(end, self.gang.sick);
        if self.over.is_some_and(|over| over > limit) {
            self.terminal = "";
        }
        let training = self.trainer.close(end, JobSetId(0));
        if let Some(episode) = self.episode.take().filter(|e| e.effect.is_some()) {
            self.recovered(&episode, end, false);
        }
        let wall = training.end.since(training.submitted).0.max(1);
        CollapsedOutcome {
            end,
            end_reason: reason,
            terminal_state: self.terminal,
            restarts: self.restarts,
            restarts_count_towards_max: self.counts,
            ledger: self.accounts.close(
                end,
                &self.trainer.times,
                (&model.seats, self.gang_accelerators()),
            ),
            training,
            recoveries: self.recoveries,
            close_calls: self.close_calls,
            bound: (self.doubt + self.trainer.doubt) as f64 / wall as f64,
        }
    }
}

fn first_node(faults: &[Fault]) -> NodeId {
    match faults[0].on {
        On::Node(node) => node,
        On::Pod(_) => NodeId::NONE,
    }
}
