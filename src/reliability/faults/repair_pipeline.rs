//! The repair pipeline of nodes: a diagnosis, which may miss the fault or blame another node, then stages with
//! limited crews, and retirement after too many failures. Calendar-based, independent of the run.

use super::drawn_faults::AffectedPods;
use super::entities::{EntityProcess, FaultEntity};
use super::lifetimes::HardwareLifetimes;
use sim_api::spec::{ArrivalProcess, NodeRepair};
use sim_base::Duration;
use sim_base::random::{DrawSequence, StreamPurpose, UniformDraw};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A pending event of an entity.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RepairEvent {
    Failed { line: usize, generation: u32 },
    Diagnosed { line: usize },
    StageCompleted { line: usize, stage: u32 },
}

/// One entity in one process.
struct RepairLine<'a> {
    cause: u32,
    process: &'a EntityProcess,
    entity: &'a FaultEntity,
    lifetimes: HardwareLifetimes,
    failures: u32,
    blame_times: VecDeque<u64>,
    repairs: u32,
    /// Number of the pending failure; failures of a node that is in repair meanwhile are skipped.
    generation: u32,
    /// Start of its outage.
    outage_start: Option<Duration>,
}

/// Sub-streams of the random numbers of one diagnosis, and of one stage.
const REPAIR_DRAW: u32 = 0;
const MISDIAGNOSIS_DRAW: u32 = 1;
const BLAMED_ENTITY_DRAW: u32 = 2;
const DURATION_DRAW: u32 = 0;
const ESCALATION_DRAW: u32 = 1;
const FAILED_REPAIR_DRAW: u32 = 2;

pub struct RepairPipeline<'a> {
    spec: &'a NodeRepair,
    stop: Duration,
    lines: Vec<RepairLine<'a>>,
    queue: BinaryHeap<Reverse<(u64, u64, RepairEvent)>>,
    sequence: u64,
    /// Entities waiting for a crew, first in, first out.
    waiting: VecDeque<usize>,
    busy_crews: u32,
    outages: Vec<AffectedPods<'a>>,
}

impl<'a> RepairPipeline<'a> {
    pub fn new(spec: &'a NodeRepair, stop: Duration) -> RepairPipeline<'a> {
        RepairPipeline {
            spec,
            stop,
            lines: Vec::new(),
            queue: BinaryHeap::new(),
            sequence: 0,
            waiting: VecDeque::new(),
            busy_crews: 0,
            outages: Vec::new(),
        }
    }

    pub fn add(&mut self, (cause, process, entity): (u32, &'a EntityProcess, &'a FaultEntity), draws: &DrawSequence) {
        let mut lives = HardwareLifetimes::new(&process.spec, entity, draws);
        let fails = process.may_fail(entity.key, draws);
        if !fails {
            lives.skip();
        }
        self.lines.push(RepairLine {
            cause,
            process,
            entity,
            lifetimes: lives,
            failures: 0,
            blame_times: VecDeque::new(),
            repairs: 0,
            generation: u32::from(!fails),
            outage_start: None,
        });
        if fails {
            self.schedule_failure(process.spec.from.0, self.lines.len() - 1, draws);
        }
    }

    /// Simulates the pipeline and returns all outages.
    pub fn simulate(mut self, draws: &mut DrawSequence) -> Vec<AffectedPods<'a>> {
        while let Some(Reverse((now, _, event))) = self.queue.pop() {
            match event {
                RepairEvent::Failed { line, generation } => self.begin_failure(now, line, generation, draws),
                RepairEvent::Diagnosed { line } => self.diagnose(now, line, draws),
                RepairEvent::StageCompleted { line, stage } => self.finish_stage(now, line, stage, draws),
            }
        }
        for line in 0..self.lines.len() {
            self.end_outage(line, None);
        }
        self.outages
    }

    fn schedule(&mut self, now: u64, ns: u64, event: RepairEvent) {
        self.sequence += 1;
        let at = now.saturating_add(ns);
        self.queue.push(Reverse((at, self.sequence, event)));
    }

    /// Schedules the next failure of an entity, if it is before the end.
    fn schedule_failure(&mut self, now: u64, line: usize, draws: &DrawSequence) {
        let row = &mut self.lines[line];
        let ArrivalProcess::Renewal(life) = &row.process.spec.arrivals else {
            return;
        };
        row.generation += 1;
        let generation = row.generation;
        let ends = row.process.spec.until.map_or(self.stop, |until| until.min(self.stop));
        let lasts = row.lifetimes.draw_next(life, draws);
        if now.saturating_add(lasts) <= ends.0 {
            self.schedule(now, lasts, RepairEvent::Failed { line, generation });
        }
    }

    fn begin_failure(&mut self, now: u64, line: usize, generation: u32, draws: &mut DrawSequence) {
        let row = &mut self.lines[line];
        if row.generation != generation {
            return;
        }
        row.outage_start = Some(Duration(now));
        row.failures += 1;
        let draw = row.lifetimes.draw_name(StreamPurpose::FaultDetection);
        let looked = draws.sample(draw, &self.spec.detected_after).0;
        self.schedule(now, looked, RepairEvent::Diagnosed { line });
    }

    fn diagnose(&mut self, now: u64, line: usize, draws: &mut DrawSequence) {
        let row = &self.lines[line];
        let failed_at = row.outage_start.map_or(now, |start| start.0);
        let draw = |substream_index| UniformDraw {
            substream: substream_index,
            ..row.lifetimes.draw_name(StreamPurpose::FaultDiagnosis)
        };
        let spec = &self.spec.diagnosis;
        let finds = spec.repair_probability >= 1.0 || draws.uniform(draw(REPAIR_DRAW)) < spec.repair_probability;
        let blames = spec.misdiagnosis_probability > 0.0
            && draws.uniform(draw(MISDIAGNOSIS_DRAW)) < spec.misdiagnosis_probability;
        let blamed = match (finds, blames) {
            (false, _) => None,
            (true, false) => Some(line),
            (true, true) => {
                let word = draw(BLAMED_ENTITY_DRAW);
                Some(self.draw_other_entity(line, |n| draws.below(word, n)))
            }
        };
        if blamed != Some(line) {
            // It restarts and continues to run.
            self.end_outage(line, Some(now));
            self.schedule_failure(now, line, draws);
        }
        let Some(blamed) = blamed else { return };
        let row = &mut self.lines[blamed];
        if blamed != line {
            row.outage_start = Some(Duration(now));
            row.generation += 1;
        }
        row.repairs += 1;
        // Retirement counts what the diagnosis found, which is all that an operator knows.
        row.blame_times.push_back(failed_at);
        if self.spec.repair.crews.is_none_or(|crews| self.busy_crews < crews) {
            self.busy_crews += 1;
            self.begin_stage(now, blamed, 0, draws);
        } else {
            self.waiting.push_back(blamed);
        }
    }

    /// Draws another entity with the same faults that is not in repair; without one, returns the entity itself.
    fn draw_other_entity(&self, line: usize, below: impl FnOnce(u32) -> u32) -> usize {
        let cause = &self.lines[line].process.spec.cause;
        let is = |(other, row): &(usize, &RepairLine)| {
            *other != line && row.outage_start.is_none() && row.process.spec.cause == *cause
        };
        let others: Vec<usize> = self.lines.iter().enumerate().filter(is).map(|(i, _)| i).collect();
        match others.len() as u32 {
            0 => line,
            n => others[below(n) as usize],
        }
    }

    fn stage_draw(&self, line: usize, stage: u32, substream_index: u32) -> UniformDraw {
        let row = &self.lines[line];
        UniformDraw {
            occurrence: row.repairs,
            substream: stage * 3 + substream_index,
            ..row.lifetimes.draw_name(StreamPurpose::FaultStage)
        }
    }

    fn begin_stage(&mut self, now: u64, line: usize, stage: u32, draws: &mut DrawSequence) {
        let Some(spec) = self.spec.repair.stages.get(stage as usize) else {
            return;
        };
        let takes = draws.sample(self.stage_draw(line, stage, DURATION_DRAW), &spec.duration);
        self.schedule(now, takes.0, RepairEvent::StageCompleted { line, stage });
    }

    fn finish_stage(&mut self, now: u64, line: usize, stage: u32, draws: &mut DrawSequence) {
        let stages = &self.spec.repair.stages;
        let spec = &stages[stage as usize];
        let last = stage as usize + 1 == stages.len();
        if !last && draws.uniform(self.stage_draw(line, stage, ESCALATION_DRAW)) < spec.escalates {
            return self.begin_stage(now, line, stage + 1, draws);
        }
        if draws.uniform(self.stage_draw(line, stage, FAILED_REPAIR_DRAW)) >= spec.fails {
            self.lines[line].lifetimes.cure_lemon();
        }
        self.busy_crews -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.busy_crews += 1;
            self.begin_stage(now, next, 0, draws);
        }
        let row = &mut self.lines[line];
        let rule = self.spec.retirement;
        if rule.retires(row.repairs, &mut row.blame_times, now) {
            return self.end_outage(line, None);
        }
        self.end_outage(line, Some(now));
        self.schedule_failure(now, line, draws);
    }

    /// Ends an outage; `None` means never.
    fn end_outage(&mut self, line: usize, end: Option<u64>) {
        let row = &mut self.lines[line];
        let Some(start) = row.outage_start.take() else {
            return;
        };
        self.outages.push(AffectedPods {
            cause: row.cause,
            process: row.process,
            entity: row.entity,
            occurrence: row.failures,
            start,
            end: end.map(Duration),
        });
    }
}
