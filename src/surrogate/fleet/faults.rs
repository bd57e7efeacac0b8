//! Effects of a failure: the diagnosis, the choice of the node to repair, and the return of a repaired node.

use super::world::{EventCode, FleetEvent, FleetWorld};
use sim_api::spec::{ExposureSpec, HostSelection};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::pool::NodePlace;
use sim_reliability::repair::{Diagnosis, diagnose};

impl FleetWorld<'_> {
    /// Moves a node to another place, and starts or stops its aging accordingly.
    pub(super) fn move_node(&mut self, node: u32, place: NodePlace) {
        let old = self.pool.rows[node as usize].place;
        self.pool.move_node(node, place);
        let fleet = self.fleet;
        for (process, spec) in fleet.faults.iter().enumerate() {
            let ages = |place: NodePlace| match spec.exposure {
                ExposureSpec::Running | ExposureSpec::Assigned => place == NodePlace::Active,
                ExposureSpec::Always => !matches!(place, NodePlace::Repair | NodePlace::Retired),
            };
            match (ages(old), ages(place)) {
                (false, true) => self.lifetimes.begin((node, process), spec.exposure, self.clocks),
                (true, false) => self.lifetimes.end((node, process), spec.exposure, self.clocks),
                _ => {}
            }
        }
    }

    fn renew(&mut self, node: u32, process: usize) {
        let spec = &self.fleet.faults[process];
        let is_affected = !spec.only_lemons || self.pool.rows[node as usize].lemon;
        self.lifetimes.renew(&mut self.draws, (node, process), is_affected.then_some(&spec.life));
    }

    /// Draws new lifetimes in all fault processes, for a node that is not aging.
    pub(super) fn renew_all(&mut self, node: u32) {
        for process in 0..self.fleet.faults.len() {
            self.renew(node, process);
        }
    }

    /// Draws a new lifetime in a fault process that has just failed the node, and resumes aging if the node is in use.
    fn renew_rung(&mut self, node: u32, process: usize) {
        let exposure = self.fleet.faults[process].exposure;
        self.lifetimes.end((node, process), exposure, self.clocks);
        self.renew(node, process);
        let place = self.pool.rows[node as usize].place;
        let in_use = place == NodePlace::Active || exposure == ExposureSpec::Always;
        if in_use && !matches!(place, NodePlace::Repair | NodePlace::Retired) {
            self.lifetimes.begin((node, process), exposure, self.clocks);
        }
    }

    /// Applies a fault of a trace. A fault of a node that is under repair or retired is ignored.
    pub(super) fn traced(&mut self, process: u32, nth: u32) {
        let spec = &self.fleet.faults[process as usize];
        let Some(fault) = spec.trace.as_ref().map(|trace| trace[nth as usize]) else {
            return;
        };
        let place = self.pool.rows[fault.node as usize].place;
        if matches!(place, NodePlace::Repair | NodePlace::Retired) {
            return;
        }
        let Some(lasts) = fault.outage else {
            return self.fail(fault.node, process as usize);
        };
        // The recorded duration of the outage already includes diagnosis and repair.
        self.failed(fault.node, process as usize);
        self.blame(fault.node);
        self.move_node(fault.node, NodePlace::Repair);
        self.schedule_after(lasts.0, FleetEvent::Back { node: fault.node });
        if place == NodePlace::Active {
            self.interrupt(process as usize);
        }
    }

    /// Records the failure in the digest and the counts.
    fn failed(&mut self, node: u32, process: usize) {
        self.digest_event(EventCode::Failed, node);
        self.counts.failures[process] += 1;
        self.pool.rows[node as usize].failures += 1;
    }

    /// Counts a failure for the retirement of the node that the diagnosis blames, which is all that an operator knows.
    fn blame(&mut self, node: u32) {
        self.pool.rows[node as usize].blamed.add(self.clocks.now, self.fleet.retirement);
    }

    /// Fails a node: the diagnosis selects the node to repair, and the job is interrupted if the failed node was
    /// active.
    pub(super) fn fail(&mut self, node: u32, process: usize) {
        self.failed(node, process);
        let fleet = self.fleet;
        let was_active = self.pool.rows[node as usize].place == NodePlace::Active;
        if !fleet.faults[process].needs_repair {
            self.blame(node);
            self.renew_rung(node, process);
            if was_active {
                self.interrupt(process);
            }
            return;
        }
        let result = self.diagnosed(node, was_active);
        match result {
            Some(blamed) => {
                if blamed != node {
                    // The failed node stays in use and moves to the end of the pool order.
                    self.renew_rung(node, process);
                    self.pool.move_last(node);
                }
                self.blame(blamed);
                self.move_node(blamed, NodePlace::Repair);
                self.begin_repair(blamed);
            }
            None => {
                self.renew_rung(node, process);
                if was_active {
                    self.move_node(node, NodePlace::Idle);
                    self.pool.move_last(node);
                    self.fill_standby(node);
                }
            }
        }
        if was_active {
            self.interrupt(process);
        }
    }

    /// Returns the node that the diagnosis sends to repair; `None` if it finds no faulty node.
    fn diagnosed(&mut self, node: u32, was_active: bool) -> Option<u32> {
        let name = UniformDraw {
            purpose: StreamPurpose::FleetDiagnosis,
            entity: StreamKey(u64::from(node)),
            occurrence: self.pool.rows[node as usize].failures,
            substream: 0,
        };
        let active = self.pool.active.len() as u32;
        match diagnose(&self.fleet.diagnosis, name, was_active && active > 1, &mut self.draws) {
            Diagnosis::NoFault => None,
            Diagnosis::FailedNode => Some(node),
            Diagnosis::OtherNode(draw) => {
                // Draws one of the other nodes: the last one replaces `node` itself in the draw.
                let at = self.draws.below(draw, active - 1) as usize;
                let other = self.pool.active[at];
                let last = self.pool.active[active as usize - 1];
                Some(if other == node { last } else { other })
            }
        }
    }

    /// Makes an idle node a standby of the job if the job has too few.
    fn fill_standby(&mut self, node: u32) {
        if self.pool.count(NodePlace::Standby) < self.fleet.job.standbys {
            self.move_node(node, NodePlace::Standby);
        }
    }

    /// Ends a repair: the node is retired, or returns with new lifetimes.
    pub(super) fn repaired(&mut self, node: u32, healed: bool) {
        self.digest_event(EventCode::Repaired, node);
        if healed {
            self.pool.rows[node as usize].lemon = false;
        }
        if self.retires(node) {
            self.counts.retirements += 1;
            self.move_node(node, NodePlace::Retired);
        } else {
            self.renew_all(node);
            self.move_node(node, NodePlace::Idle);
            // A job that waits for nodes takes the node immediately, but does not start to run because of it.
            if self.is_short() && self.pool.count(NodePlace::Active) < self.fleet.job.nodes {
                self.move_node(node, NodePlace::Active)
            } else {
                self.fill_standby(node)
            }
        }
        self.recheck_stall();
    }

    fn retires(&mut self, node: u32) -> bool {
        self.pool.rows[node as usize].blamed.retires(self.clocks.now, self.fleet.retirement)
    }

    /// Turns a share of the good nodes into lemons, at the interval of the scenario.
    pub(super) fn regenerate(&mut self) {
        let Some((every, part)) = self.fleet.lemons.regeneration else {
            return;
        };
        self.counts.regenerations += 1;
        let rows = &self.pool.rows;
        let good = |(_, r): &(usize, &sim_reliability::pool::PooledNode)| !r.lemon && r.place != NodePlace::Retired;
        let mut good: Vec<u32> = rows.iter().enumerate().filter(good).map(|(i, _)| i as u32).collect();
        let n = (good.len() as f64 * self.fleet.lemons.share * part) as usize;
        self.draws.shuffle(StreamPurpose::FleetLemons, StreamKey(0), self.counts.regenerations, &mut good);
        for node in good.iter().take(n.max(1)).copied() {
            self.pool.rows[node as usize].lemon = true;
            for process in 0..self.fleet.faults.len() {
                if self.fleet.faults[process].only_lemons {
                    self.renew_rung(node, process);
                }
            }
        }
        self.schedule_after(every.0, FleetEvent::Regenerate);
    }

    /// Returns true if host selection prefers the nodes with the fewest failures.
    pub(super) fn by_failures(&self) -> bool {
        self.fleet.job.selection == HostSelection::FewestFailures
    }
}
