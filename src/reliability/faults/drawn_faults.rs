//! The drawn faults: independent ones, and outages of nodes, which may overlap.

use super::entities::{EntityProcess, FaultEntity};
use super::fault::{FaultOperation, FaultScope, InjectedFault};
use super::outages::{self, NodeOutage, OutageKind};
use super::slow::{self, SlowNodes, SlowPart};
use sim_api::spec::{FaultsOn, RandomAction, SilentFaults};
use sim_base::random::{Distribution, DrawSequence, StreamPurpose, UniformDraw};
use sim_base::{CellId, Duration, NodeId};

/// A fault of an entity, and the end of its repair.
pub struct AffectedPods<'a> {
    /// Index of the process, and the process.
    pub cause: u32,
    pub process: &'a EntityProcess,
    pub entity: &'a FaultEntity,
    pub occurrence: u32,
    pub start: Duration,
    pub end: Option<Duration>,
}

impl AffectedPods<'_> {
    /// Draws the time until a detector reports the fault.
    fn draw_detection(&self, dist: &Distribution, draws: &mut DrawSequence) -> Duration {
        let draw = UniformDraw {
            purpose: StreamPurpose::FaultDetection,
            entity: self.entity.key,
            occurrence: self.occurrence,
            substream: 0,
        };
        draws.sample(draw, dist)
    }
}

#[derive(Default)]
pub struct LocatedPods {
    faults: Vec<InjectedFault>,
    /// With the cell, and true if it is only drained.
    outages: Vec<((CellId, bool), NodeOutage)>,
    slow: Vec<(NodeId, SlowNodes)>,
}

impl LocatedPods {
    pub fn add(&mut self, affected: &AffectedPods, draws: &mut DrawSequence) {
        let how = match &affected.process.spec.action {
            RandomAction::Crash => OutageKind::Crashed,
            RandomAction::Partition => OutageKind::OutOfReach,
            RandomAction::Drain => return self.add_drain(affected),
            RandomAction::Reclaim => return self.add_reclaim(affected),
            RandomAction::Exit(exit_code) => {
                let pod = affected.entity.pod.unwrap_or_default();
                return self.add_fault(affected, FaultScope::Pod(pod), FaultOperation::Exit(*exit_code));
            }
            RandomAction::Hang { detected_after, exit_code } => {
                let detected = detected_after.as_ref();
                let what = SilentFaults::Hang {
                    detected_after: detected.map(|dist| affected.draw_detection(dist, draws)),
                    exit_code: *exit_code,
                };
                return self.add_silent(affected, what);
            }
            RandomAction::Corrupt { found_after } => {
                let found_after = affected.draw_detection(found_after, draws);
                return self.add_silent(affected, SilentFaults::Corrupt { found_after });
            }
            RandomAction::Slow(factor) => return self.add_slow(affected, *factor, SlowPart::Machine),
            RandomAction::Degrade { links, factor } => {
                return self.add_slow(affected, *factor, SlowPart::Links(*links));
            }
        };
        let process = &affected.process.spec;
        let after = |after| affected.start + after;
        let (as_new, deleted) = (process.as_new, process.deleted_after.map(after));
        self.add_outage(affected, (how, affected.start, affected.end), (as_new, deleted));
    }

    fn add_slow(&mut self, affected: &AffectedPods, factor: f64, part: SlowPart) {
        let (start, end, cause) = (affected.start, affected.end, affected.cause);
        let period = SlowNodes { start, end, factor, cause, part };
        self.slow.extend(affected.entity.nodes.iter().map(|node| (*node, period.clone())));
    }

    /// All nodes of the entity are lost.
    fn add_outage(
        &mut self, affected: &AffectedPods, (how, start, end): (OutageKind, Duration, Option<Duration>),
        (as_new, deleted): (bool, Option<Duration>),
    ) {
        for cell in &*affected.entity.cells {
            let outage = NodeOutage { start, end, cause: affected.cause, kind: how, as_new, deleted };
            self.outages.push(((*cell, how <= OutageKind::Drained), outage));
        }
    }

    /// Maintenance: announced, then drained, then returned.
    fn add_drain(&mut self, affected: &AffectedPods) {
        let drained = affected.start + affected.process.spec.notice;
        if drained > affected.start {
            self.add_outage(affected, (OutageKind::Announced, affected.start, affected.end), (false, None));
        }
        self.add_outage(affected, (OutageKind::Drained, drained, affected.end), (false, None));
    }

    /// The provider reclaims the machine: cordoned from the notice on, drained after the grace period, removed at the
    /// end of the notice.
    fn add_reclaim(&mut self, affected: &AffectedPods) {
        let spec = &affected.process.spec;
        let (gone, drained) = (affected.start + spec.notice, affected.start + spec.grace);
        for (how, from, until) in
            [(OutageKind::Announced, affected.start, drained), (OutageKind::Drained, drained, gone)]
        {
            if from < until {
                self.add_outage(affected, (how, from, Some(gone)), (false, None));
            }
        }
        self.add_outage(affected, (OutageKind::Crashed, gone, affected.end), (true, Some(gone)));
    }

    fn add_fault(&mut self, affected: &AffectedPods, on: FaultScope, does: FaultOperation) {
        self.faults.push(InjectedFault { at: affected.start, target: on, operation: does, cause: affected.cause });
    }

    /// A silent fault in the processes of the pod, or on each node.
    fn add_silent(&mut self, affected: &AffectedPods, what: SilentFaults) {
        if affected.process.spec.on == FaultsOn::Pod {
            let pod = affected.entity.pod.unwrap_or_default();
            return self.add_fault(affected, FaultScope::Pod(pod), FaultOperation::Silent(what));
        }
        for node in &*affected.entity.nodes {
            self.add_fault(affected, FaultScope::Node(*node), FaultOperation::Silent(what));
        }
    }

    /// All actions in order of time, and true if a repair ends after `stop`.
    pub fn into_script(mut self, processes: &[EntityProcess], stop: Duration) -> (Vec<InjectedFault>, bool) {
        let mut faults = self.faults;
        let late = |(_, o): &(_, NodeOutage)| o.end.is_some_and(|end| end > stop);
        let repairs_later = self.outages.iter().any(late);
        // Stable sort: outages of one cell at one instant keep the order of the processes.
        self.outages.sort_by_key(|(cell, o)| (*cell, o.start));
        for of_cell in self.outages.chunk_by(|a, b| a.0 == b.0) {
            let all = of_cell.iter().map(|(_, outage)| outage);
            outages::outage_actions(of_cell[0].0.0, all, stop, &mut faults);
        }
        let part = |(node, slow): &(NodeId, SlowNodes)| (*node, slow.part);
        self.slow.sort_by_key(part);
        let name = |cause: u32| processes[cause as usize].spec.cause.as_str();
        for of_node in self.slow.chunk_by(|a, b| part(a) == part(b)) {
            let all: Vec<SlowNodes> = of_node.iter().map(|(_, slow)| slow.clone()).collect();
            faults.extend(slow::speed_changes(part(&of_node[0]), &all, stop, name));
        }
        // Stable sort: faults at one instant keep the order of processes, entities and cells.
        faults.sort_by_key(|fault| fault.at);
        (faults, repairs_later)
    }
}
