//! The repair pipeline of nodes: a diagnosis, which may miss the fault or blame another node, then stages with
//! limited crews, and retirement after too many failures. Calendar-based, independent of the run.

use super::entities::{Entity, Process};
use super::found::Struck;
use super::lives::Lives;
use sim_api::spec::{Arrivals, NodeRepair};
use sim_base::Duration;
use sim_base::random::{Draw, Draws, Purpose};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A pending event of an entity.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Fails { line: usize, generation: u32 },
    LookedAt { line: usize },
    StageOver { line: usize, stage: u32 },
}

/// One entity in one process.
struct Line<'a> {
    cause: u32,
    process: &'a Process,
    entity: &'a Entity,
    lives: Lives,
    failures: u32,
    failed_at: VecDeque<u64>,
    repairs: u32,
    /// Number of the pending failure; failures of a node that is in repair meanwhile are skipped.
    generation: u32,
    /// Start of its outage.
    away: Option<Duration>,
}

/// Sub-streams of the random numbers of one diagnosis, and of one stage.
const FINDS: u32 = 0;
const BLAMES: u32 = 1;
const WHOM: u32 = 2;
const TAKES: u32 = 0;
const ESCALATES: u32 = 1;
const FAILS: u32 = 2;

pub struct Shop<'a> {
    spec: &'a NodeRepair,
    stop: Duration,
    lines: Vec<Line<'a>>,
    queue: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sent: u64,
    /// Entities waiting for a crew, first in, first out.
    waiting: VecDeque<usize>,
    busy: u32,
    over: Vec<Struck<'a>>,
}

impl<'a> Shop<'a> {
    pub fn new(spec: &'a NodeRepair, stop: Duration) -> Shop<'a> {
        Shop {
            spec,
            stop,
            lines: Vec::new(),
            queue: BinaryHeap::new(),
            sent: 0,
            waiting: VecDeque::new(),
            busy: 0,
            over: Vec::new(),
        }
    }

    pub fn add(&mut self, (cause, process, entity): (u32, &'a Process, &'a Entity), draws: &Draws) {
        let mut lives = Lives::new(&process.spec, entity, draws);
        let fails = process.may_fail(entity.key, draws);
        if !fails {
            lives.skip();
        }
        self.lines.push(Line {
            cause,
            process,
            entity,
            lives,
            failures: 0,
            failed_at: VecDeque::new(),
            repairs: 0,
            generation: u32::from(!fails),
            away: None,
        });
        if fails {
            self.renew(process.spec.from.0, self.lines.len() - 1, draws);
        }
    }

    /// Simulates the pipeline and returns all outages.
    pub fn play(mut self, draws: &mut Draws) -> Vec<Struck<'a>> {
        while let Some(Reverse((now, _, event))) = self.queue.pop() {
            match event {
                Event::Fails { line, generation } => self.fails(now, line, generation, draws),
                Event::LookedAt { line } => self.looked_at(now, line, draws),
                Event::StageOver { line, stage } => self.stage_over(now, line, stage, draws),
            }
        }
        for line in 0..self.lines.len() {
            self.back(line, None);
        }
        self.over
    }

    fn after(&mut self, now: u64, ns: u64, event: Event) {
        self.sent += 1;
        let at = now.saturating_add(ns);
        self.queue.push(Reverse((at, self.sent, event)));
    }

    /// Schedules the next failure of an entity, if it is before the end.
    fn renew(&mut self, now: u64, line: usize, draws: &Draws) {
        let row = &mut self.lines[line];
        let Arrivals::Renewal(life) = &row.process.spec.arrivals else {
            return;
        };
        row.generation += 1;
        let generation = row.generation;
        let ends = row
            .process
            .spec
            .until
            .map_or(self.stop, |until| until.min(self.stop));
        let lasts = row.lives.next(life, draws);
        if now.saturating_add(lasts) <= ends.0 {
            self.after(now, lasts, Event::Fails { line, generation });
        }
    }

    fn fails(&mut self, now: u64, line: usize, generation: u32, draws: &mut Draws) {
        let row = &mut self.lines[line];
        if row.generation != generation {
            return;
        }
        row.away = Some(Duration(now));
        row.failures += 1;
        row.failed_at.push_back(now);
        let draw = row.lives.named(Purpose::FaultDetection);
        let looked = draws.sample(draw, &self.spec.detected_after).0;
        self.after(now, looked, Event::LookedAt { line });
    }

    fn looked_at(&mut self, now: u64, line: usize, draws: &mut Draws) {
        let row = &self.lines[line];
        let draw = |lane| Draw {
            lane,
            ..row.lives.named(Purpose::FaultDiagnosis)
        };
        let spec = &self.spec.diagnosis;
        let finds = spec.finds >= 1.0 || draws.uniform(draw(FINDS)) < spec.finds;
        let blames = spec.blames_another > 0.0 && draws.uniform(draw(BLAMES)) < spec.blames_another;
        let blamed = match (finds, blames) {
            (false, _) => None,
            (true, false) => Some(line),
            (true, true) => {
                let word = draw(WHOM);
                Some(self.another(line, |n| draws.below(word, n)))
            }
        };
        if blamed != Some(line) {
            // It restarts and continues to run.
            self.back(line, Some(now));
            self.renew(now, line, draws);
        }
        let Some(blamed) = blamed else { return };
        let row = &mut self.lines[blamed];
        if blamed != line {
            row.away = Some(Duration(now));
            row.generation += 1;
        }
        row.repairs += 1;
        if self.spec.repair.crews.is_none_or(|crews| self.busy < crews) {
            self.busy += 1;
            self.begin_stage(now, blamed, 0, draws);
        } else {
            self.waiting.push_back(blamed);
        }
    }

    /// Draws another entity with the same faults that is not in repair; without one, returns the entity itself.
    fn another(&self, line: usize, below: impl FnOnce(u32) -> u32) -> usize {
        let cause = &self.lines[line].process.spec.cause;
        let is = |(other, row): &(usize, &Line)| {
            *other != line && row.away.is_none() && row.process.spec.cause == *cause
        };
        let others: Vec<usize> = self
            .lines
            .iter()
            .enumerate()
            .filter(is)
            .map(|(i, _)| i)
            .collect();
        match others.len() as u32 {
            0 => line,
            n => others[below(n) as usize],
        }
    }

    fn stage_draw(&self, line: usize, stage: u32, lane: u32) -> Draw {
        let row = &self.lines[line];
        Draw {
            occurrence: row.repairs,
            lane: stage * 3 + lane,
            ..row.lives.named(Purpose::FaultStage)
        }
    }

    fn begin_stage(&mut self, now: u64, line: usize, stage: u32, draws: &mut Draws) {
        let Some(spec) = self.spec.repair.stages.get(stage as usize) else {
            return;
        };
        let takes = draws.sample(self.stage_draw(line, stage, TAKES), &spec.takes);
        self.after(now, takes.0, Event::StageOver { line, stage });
    }

    fn stage_over(&mut self, now: u64, line: usize, stage: u32, draws: &mut Draws) {
        let stages = &self.spec.repair.stages;
        let spec = &stages[stage as usize];
        let last = stage as usize + 1 == stages.len();
        if !last && draws.uniform(self.stage_draw(line, stage, ESCALATES)) < spec.escalates {
            return self.begin_stage(now, line, stage + 1, draws);
        }
        if draws.uniform(self.stage_draw(line, stage, FAILS)) >= spec.fails {
            self.lines[line].lives.heal();
        }
        self.busy -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.busy += 1;
            self.begin_stage(now, next, 0, draws);
        }
        let row = &mut self.lines[line];
        let rule = self.spec.retirement;
        if rule.retires(row.failures, &mut row.failed_at, now) {
            return self.back(line, None);
        }
        self.back(line, Some(now));
        self.renew(now, line, draws);
    }

    /// Ends an outage; `None` means never.
    fn back(&mut self, line: usize, end: Option<u64>) {
        let row = &mut self.lines[line];
        let Some(start) = row.away.take() else { return };
        self.over.push(Struck {
            cause: row.cause,
            process: row.process,
            entity: row.entity,
            occurrence: row.failures,
            start,
            end: end.map(Duration),
        });
    }
}
