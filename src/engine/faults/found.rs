//! The drawn faults: independent ones, and outages of nodes, which may overlap.

use super::entities::{Entity, Process};
use super::fault::{Does, Fault, On};
use super::outages::{self, How, Outage};
use super::slow::{self, Slowness};
use sim_api::spec::{FaultsOn, RandomAction, Silent};
use sim_base::random::{Dist, Draw, Draws, Purpose};
use sim_base::{CellId, Duration, NodeId};

/// A fault of an entity, and the end of its repair.
pub struct Struck<'a> {
    /// Index of the process, and the process.
    pub cause: u32,
    pub process: &'a Process,
    pub entity: &'a Entity,
    pub occurrence: u32,
    pub start: Duration,
    pub end: Option<Duration>,
}

impl Struck<'_> {
    /// Draws the time until a detector reports the fault.
    fn detection(&self, dist: &Dist, draws: &mut Draws) -> Duration {
        let draw = Draw {
            purpose: Purpose::FaultDetection,
            entity: self.entity.key,
            occurrence: self.occurrence,
            lane: 0,
        };
        draws.sample(draw, dist)
    }
}

#[derive(Default)]
pub struct Found {
    faults: Vec<Fault>,
    /// With the cell, and true if it is only drained.
    outages: Vec<((CellId, bool), Outage)>,
    slow: Vec<(NodeId, Slowness)>,
}

impl Found {
    pub fn add(&mut self, struck: &Struck, draws: &mut Draws) {
        let how = match &struck.process.spec.does {
            RandomAction::Crash => How::Crashed,
            RandomAction::Partition => How::OutOfReach,
            RandomAction::Drain => return self.drain(struck),
            RandomAction::Reclaim => return self.reclaim(struck),
            RandomAction::Exit(exit_code) => {
                let pod = struck.entity.pod.unwrap_or_default();
                return self.at(struck, On::Pod(pod), Does::Exit(*exit_code));
            }
            RandomAction::Hang {
                detected_after,
                exit_code,
            } => {
                let detected = detected_after.as_ref();
                let what = Silent::Hang {
                    detected_after: detected.map(|dist| struck.detection(dist, draws)),
                    exit_code: *exit_code,
                };
                return self.silent(struck, what);
            }
            RandomAction::Corrupt { found_after } => {
                let found_after = struck.detection(found_after, draws);
                return self.silent(struck, Silent::Corrupt { found_after });
            }
            RandomAction::Slow(factor) => {
                let slowness = Slowness {
                    start: struck.start,
                    end: struck.end,
                    factor: *factor,
                    cause: struck.cause,
                };
                for node in &*struck.entity.nodes {
                    self.slow.push((*node, slowness.clone()));
                }
                return;
            }
        };
        let process = &struck.process.spec;
        let after = |after| struck.start + after;
        let (as_new, deleted) = (process.as_new, process.deleted_after.map(after));
        self.lose(struck, (how, struck.start, struck.end), (as_new, deleted));
    }

    /// All nodes of the entity are lost.
    fn lose(
        &mut self,
        struck: &Struck,
        (how, start, end): (How, Duration, Option<Duration>),
        (as_new, deleted): (bool, Option<Duration>),
    ) {
        for cell in &*struck.entity.cells {
            let outage = Outage {
                start,
                end,
                cause: struck.cause,
                how,
                as_new,
                deleted,
            };
            self.outages.push(((*cell, how <= How::Drained), outage));
        }
    }

    /// Maintenance: announced, then drained, then returned.
    fn drain(&mut self, struck: &Struck) {
        let drained = struck.start + struck.process.spec.notice;
        if drained > struck.start {
            self.lose(
                struck,
                (How::Announced, struck.start, struck.end),
                (false, None),
            );
        }
        self.lose(struck, (How::Drained, drained, struck.end), (false, None));
    }

    /// The provider reclaims the machine: cordoned from the notice on, drained after the grace period, removed at the
    /// end of the notice.
    fn reclaim(&mut self, struck: &Struck) {
        let spec = &struck.process.spec;
        let (gone, drained) = (struck.start + spec.notice, struck.start + spec.grace);
        for (how, from, until) in [
            (How::Announced, struck.start, drained),
            (How::Drained, drained, gone),
        ] {
            if from < until {
                self.lose(struck, (how, from, Some(gone)), (false, None));
            }
        }
        self.lose(struck, (How::Crashed, gone, struck.end), (true, Some(gone)));
    }

    fn at(&mut self, struck: &Struck, on: On, does: Does) {
        self.faults.push(Fault {
            at: struck.start,
            on,
            does,
            cause: struck.cause,
        });
    }

    /// A silent fault in the processes of the pod, or on each node.
    fn silent(&mut self, struck: &Struck, what: Silent) {
        if struck.process.spec.on == FaultsOn::Pod {
            let pod = struck.entity.pod.unwrap_or_default();
            return self.at(struck, On::Pod(pod), Does::Silent(what));
        }
        for node in &*struck.entity.nodes {
            self.at(struck, On::Node(*node), Does::Silent(what));
        }
    }

    /// All actions in order of time, and true if a repair ends after `stop`.
    pub fn script(mut self, processes: &[Process], stop: Duration) -> (Vec<Fault>, bool) {
        let mut faults = self.faults;
        let late = |(_, o): &(_, Outage)| o.end.is_some_and(|end| end > stop);
        let repairs_later = self.outages.iter().any(late);
        // Stable sort: outages of one cell at one instant keep the order of the processes.
        self.outages.sort_by_key(|(cell, o)| (*cell, o.start));
        for of_cell in self.outages.chunk_by(|a, b| a.0 == b.0) {
            let all = of_cell.iter().map(|(_, outage)| outage);
            outages::script(of_cell[0].0.0, all, stop, &mut faults);
        }
        self.slow.sort_by_key(|(node, _)| *node);
        let name = |cause: u32| processes[cause as usize].spec.cause.as_str();
        for of_node in self.slow.chunk_by(|a, b| a.0 == b.0) {
            let all: Vec<Slowness> = of_node.iter().map(|(_, slow)| slow.clone()).collect();
            faults.extend(slow::script(of_node[0].0, &all, stop, name));
        }
        // Stable sort: faults at one instant keep the order of processes, entities and cells.
        faults.sort_by_key(|fault| fault.at);
        (faults, repairs_later)
    }
}
