//! The repair pipeline of nodes: a diagnosis, which may miss the fault or blame another node, then stages with
//! limited crews, and retirement after too many failures. Calendar-based, independent of the run.

use super::drawn_faults::AffectedPods;
use super::entities::{EntityProcess, FaultEntity};
use super::lifetimes::HardwareLifetimes;
use crate::repair::{BlameHistory, Diagnosis, RepairCrews, StageResult, diagnose, stage_duration, stage_result};
use sim_api::spec::{ArrivalProcess, NodeRepair};
use sim_base::Duration;
use sim_base::random::{DrawSequence, StreamPurpose, UniformDraw};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// Failures for which the diagnosis blamed it, which is all that an operator knows.
    blamed: BlameHistory,
    repairs: u32,
    /// Number of the pending failure; failures of a node that is in repair meanwhile are skipped.
    generation: u32,
    /// Start of its outage.
    outage_start: Option<Duration>,
}

pub struct RepairPipeline<'a> {
    spec: &'a NodeRepair,
    stop: Duration,
    lines: Vec<RepairLine<'a>>,
    queue: BinaryHeap<Reverse<(u64, u64, RepairEvent)>>,
    sequence: u64,
    crews: RepairCrews,
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
            crews: RepairCrews::default(),
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
            blamed: BlameHistory::default(),
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
        row.generation += 1;
        let generation = row.generation;
        let spec = &row.process.spec;
        let (ends, lasts) = match &spec.arrivals {
            ArrivalProcess::Renewal(life) => {
                let ends = spec.until.map_or(self.stop, |until| until.min(self.stop));
                (ends, row.lifetimes.draw_next(life, draws))
            }
            ArrivalProcess::Trace(rows) => {
                row.lifetimes.skip();
                let is_first = row.failures == 0;
                let is_next = |at: Duration| at.0 > now || is_first && at.0 == now;
                let mut own = rows.iter().filter(|fault| *fault.entity == *row.entity.name);
                let Some(next) = own.find(|fault| is_next(fault.at)) else { return };
                (self.stop, next.at.0 - now)
            }
        };
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
        let name = row.lifetimes.draw_name(StreamPurpose::FaultDiagnosis);
        let blamed = match diagnose(&self.spec.diagnosis, name, true, draws) {
            Diagnosis::NoFault => None,
            Diagnosis::FailedNode => Some(line),
            Diagnosis::OtherNode(draw) => Some(self.draw_other_entity(line, |n| draws.below(draw, n))),
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
        row.blamed.add(failed_at, self.spec.retirement);
        if self.crews.take(blamed as u32, self.spec.repair.crews) {
            self.begin_stage(now, blamed, 0, draws);
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

    /// Name of the random numbers of the current repair.
    fn repair_draw(&self, line: usize) -> UniformDraw {
        let row = &self.lines[line];
        UniformDraw { occurrence: row.repairs, ..row.lifetimes.draw_name(StreamPurpose::FaultStage) }
    }

    fn begin_stage(&mut self, now: u64, line: usize, stage: u32, draws: &mut DrawSequence) {
        if let Some(takes) = stage_duration(&self.spec.repair, stage, self.repair_draw(line), draws) {
            self.schedule(now, takes.0, RepairEvent::StageCompleted { line, stage });
        }
    }

    fn finish_stage(&mut self, now: u64, line: usize, stage: u32, draws: &mut DrawSequence) {
        match stage_result(&self.spec.repair, stage, self.repair_draw(line), draws) {
            StageResult::Escalated => return self.begin_stage(now, line, stage + 1, draws),
            StageResult::Closed { healed: true } => self.lines[line].lifetimes.cure_lemon(),
            StageResult::Closed { healed: false } => {}
        }
        if let Some(next) = self.crews.release() {
            self.begin_stage(now, next as usize, 0, draws);
        }
        if self.lines[line].blamed.retires(now, self.spec.retirement) {
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
