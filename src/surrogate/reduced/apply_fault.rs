//! The effect of a fault or of a returning node on the JobSet.

use super::accuracy::{TIME_AFTER_RETURN, TIME_BEFORE_FAULT};
use super::chance_range::range;
use super::jobset_pods::{CLOSED, DOWN};
use super::measurement::curve::{CurveSample, CurveShift, NEVER};
use super::measurement::fault_pairs::PairMembership;
use super::outcome::OutcomeCounter;
use super::run::{ReplicationState, RestartInProgress};
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::max_detection_delay;
use sim_reliability::faults::{FaultOperation, FaultScope, InjectedFault};

/// First random-number lane of the draws that decide whether a pod is among those without a slot.
const LANE_OF_POD: u32 = 16;

impl<'m> ReplicationState<'_, 'm> {
    /// Applies simultaneous faults of one entity. They count as at most one boundary case.
    pub(super) fn apply_fault(&mut self, faults: &[InjectedFault], outage: u64) {
        let before = self.boundary_cases;
        let now = SimTime::ZERO + faults[0].at;
        self.accounts.unhealthy_until(now, self.pods.failed_accelerators);
        match faults[0].operation {
            FaultOperation::Return | FaultOperation::New | FaultOperation::Uncordon => {
                self.note_merged_outages(now, faults);
                self.comes_back(now, faults);
            }
            FaultOperation::Cordon => {
                // Some pods may have been bound to the node, while others wait for the end of an outage.
                let is_unplaced = self.restart.as_ref().is_some_and(|e| e.effect.is_some() && !e.placed);
                for (fault, node) in self.nodes_of(faults) {
                    let is_free =
                        !self.pods.has_flag(node, CLOSED | DOWN) && fault.cause != sim_reliability::faults::SPARE;
                    self.boundary_cases += u32::from(is_unplaced && is_free);
                    self.pods.set_flag(node, CLOSED, true);
                    if self.pods.uses(node) && fault.cause != sim_reliability::faults::SPARE {
                        self.trainer.notice(now);
                    }
                }
            }
            FaultOperation::Delete => self.note_merged_outages(now, faults),
            FaultOperation::Silent(_) => {}
            FaultOperation::Crash | FaultOperation::Partition | FaultOperation::Drain | FaultOperation::Exit(_) => {
                self.affected_nodes(now, faults, outage)
            }
        }
        self.boundary_cases = self.boundary_cases.min(before + 1);
    }

    /// Returns all nodes of these faults.
    fn nodes_of<'f>(
        &self, faults: &'f [InjectedFault],
    ) -> impl Iterator<Item = (&'f InjectedFault, NodeId)> + use<'f, 'm> {
        let all = &self.model.faults;
        faults.iter().flat_map(move |fault| {
            let nodes: &[NodeId] = match fault.target {
                FaultScope::Cell(cell) => all.cell_nodes(cell),
                _ => &[],
            };
            nodes.iter().map(move |node| (fault, *node))
        })
    }

    /// Counts a boundary case if another fault during the outage changes the time at which the Node is deleted, or
    /// whether the machine is replaced.
    fn note_merged_outages(&mut self, now: SimTime, faults: &[InjectedFault]) {
        let FaultScope::Cell(cell) = faults[0].target else { return };
        let operation = faults[0].operation;
        let is_back = operation != FaultOperation::Delete;
        let lost = if is_back { self.lost.remove(&cell) } else { self.lost.get(&cell).copied() };
        let Some((since, process)) = lost.filter(|_| operation != FaultOperation::Uncordon) else { return };
        let process = &self.model.scenario.fault_processes[process as usize];
        let deleted = process.deleted_after.map(|after| since + after);
        let is_as_measured = match operation {
            FaultOperation::Delete => deleted == Some(now),
            operation => (operation == FaultOperation::New) == (process.as_new || deleted.is_some_and(|at| at < now)),
        };
        let restarts = self.restart.is_some() || self.over.is_some_and(|over| over > now);
        self.boundary_cases += u32::from(!is_as_measured && restarts);
    }

    fn comes_back(&mut self, now: SimTime, faults: &[InjectedFault]) {
        for (fault, node) in self.nodes_of(faults) {
            if fault.operation != FaultOperation::Uncordon {
                self.pods.set_flag(node, DOWN, false);
            }
            if fault.operation != FaultOperation::Return {
                self.pods.set_flag(node, CLOSED, false);
            }
        }
        let is_down = |(_, node): (&InjectedFault, NodeId)| self.pods.has_flag(node, DOWN);
        if self.nodes_of(faults).any(is_down) && self.has_undetected_fault(now) {
            // A spare that failed while it replaced another node; pods may be bound to it.
            self.boundary_cases += 1;
        }
        let restart = self.restart.as_ref().filter(|e| !self.waits_for(e, &faults[0]));
        let bind = restart.and_then(|e| Some((e.bind, e.effect?)));
        self.boundary_cases += u32::from(self.is_near(now, bind) && self.pods.has_choice());
        if faults[0].operation == FaultOperation::Return {
            self.last_return = Some(now);
        }
    }

    /// Returns true if the restart binds its pods as soon as the node of this fault returns.
    fn waits_for(&self, restart: &RestartInProgress, back: &InjectedFault) -> bool {
        let own = (restart.process, restart.on) == (back.cause, Some(back.target));
        let curve = restart.effect.map(|effect| &self.model.curves[effect]);
        own && curve.is_none_or(|curve| curve.binds_with(restart.outage))
    }

    /// Returns true if `now` is so close to a binding of pods that their order is random.
    fn is_near(&self, now: SimTime, bind: Option<(SimTime, usize)>) -> bool {
        bind.is_some_and(|(bind, effect)| bind.max(now).since(bind.min(now)).0 <= self.model.curves[effect].binds())
    }

    /// Returns true if only some of the pods are running, or were until just now. Pods start one after another, and
    /// those of a Job without a slot do not start. It is unknown which pods a fault affects then.
    fn pods_come(&self, now: SimTime) -> bool {
        let Some(e) = &self.restart else {
            return self.last_over.is_some_and(|last| {
                let ready = self.model.curves[last.effect].spread();
                now.since(last.over.min(now)).0 <= ready.max(range(&self.model.late))
            });
        };
        let binds = e.effect.map_or(0, |effect| self.model.curves[effect].binds());
        let starts = e.moves != CurveShift::NoPods && e.bind <= now + Duration(binds);
        starts || e.waits()
    }

    /// Returns true if the fault is on a container that does not run, because its Job waits for a slot. Which Job
    /// waits is decided randomly.
    fn hits_no_pod(&mut self, on: FaultScope) -> bool {
        match on {
            FaultScope::Pod(pod) if self.restart.as_ref().is_some_and(RestartInProgress::waits) => {
                let share = self.pods.occupied_share();
                self.unit(LANE_OF_POD.saturating_add(pod)) >= share
            }
            _ => false,
        }
    }

    /// Returns true if the order of this fault and a binding of pods is random, and the fault is on a node that the
    /// binding uses.
    fn is_race(&self, now: SimTime, faults: &[InjectedFault]) -> bool {
        let ahead = self.restart.as_ref().filter(|e| !e.placed);
        let ahead = ahead.and_then(|e| Some((e.bind, e.effect?)));
        let mut nodes = self.nodes_of(faults);
        if self.is_near(now, ahead) {
            nodes.any(|(_, node)| self.pods.is_free(node))
        } else {
            self.is_near(now, self.last_bind) && nodes.any(|(_, node)| self.pods.is_new(node))
        }
    }

    /// Assigns usable slots to waiting pods after all faults of an instant. Runs last because a node that returns as
    /// a spare is cordoned before the scheduler can use it.
    pub(super) fn fill_slots(&mut self, now: SimTime) {
        let Some(restart) = self.restart.as_mut() else {
            return;
        };
        // The scheduler also binds pods of an attempt that ends, until they are deleted. Before the first attempt
        // there are none.
        let bind = restart.placed || restart.effect.is_some() && now < restart.counted;
        if bind {
            self.boundary_cases += u32::from(self.pods.fill_returned());
        }
        if restart.waits() && self.pods.complete() {
            restart.complete_at = Some(now);
        }
    }

    fn affected_nodes(&mut self, now: SimTime, faults: &[InjectedFault], outage: u64) {
        let effect = self.model.effect_of[faults[0].cause as usize];
        let belongs = self.belongs(now, effect);
        if belongs == PairMembership::Next && self.restart.as_ref().is_some_and(|e| !e.placed) {
            // The pods are bound before the control plane detects the failure.
            self.place_restart();
        }
        let of_pod = matches!(faults[0].target, FaultScope::Pod(_));
        let close = of_pod && self.pods_come(now) || self.is_race(now, faults);
        self.boundary_cases += u32::from(close);
        let hit = self.mark_failed(faults) && !self.hits_no_pod(faults[0].target);
        if matches!(faults[0].operation, FaultOperation::Crash | FaultOperation::Partition) {
            self.last_idle = if hit { self.last_idle } else { Some(now) };
            let is_open = (hit || self.restart.is_some()) && self.pods.stops_evictions();
            self.boundary_cases += u32::from(is_open);
        }
        if self.over.is_some() || !hit {
            // The end of the JobSet was measured without a further fault.
            self.boundary_cases += u32::from(hit && self.over.is_some_and(|over| over > now));
            return;
        }
        // Only pairs of faults were measured. With exclusive placement each fault takes another Job.
        let is_third = self.restart.as_ref().is_some_and(|e| e.faults > 1) && self.model.slots.width() == 1;
        self.boundary_cases += u32::from(is_third);
        match (belongs, self.restart.is_some()) {
            (PairMembership::Along(zone), true) => {
                self.apply_overlapping_fault(now, (effect, outage), faults[0].cause, zone);
            }
            _ => self.begins(now, effect, outage, faults),
        }
    }

    /// Marks the failed nodes. Returns true if the JobSet uses one of them, or if a pod is affected.
    fn mark_failed(&mut self, faults: &[InjectedFault]) -> bool {
        let mut hit = faults.iter().any(|fault| matches!(fault.target, FaultScope::Pod(_)));
        for (fault, node) in self.nodes_of(faults) {
            let what = if fault.operation == FaultOperation::Drain { CLOSED } else { DOWN };
            let dead = self.pods.has_flag(node, DOWN);
            hit |= self.pods.uses(node) && !dead;
            // Containers run on partitioned nodes until a crash ends them.
            let ends_containers = dead && fault.operation == FaultOperation::Crash && self.pods.uses(node);
            self.boundary_cases += u32::from(ends_containers);
            if let (FaultScope::Cell(cell), DOWN, false) = (fault.target, what, dead) {
                self.lost.insert(cell, (SimTime::ZERO + fault.at, fault.cause));
            }
            self.pods.set_flag(node, what, true);
        }
        hit
    }

    /// Returns the attempt that a fault at this time affects.
    fn belongs(&mut self, now: SimTime, effect: usize) -> PairMembership {
        let Some(restart) = &self.restart else {
            let just_over = self.last_over.is_some_and(|last| {
                let pair = &self.model.pairs[last.effect][effect];
                let bind = last.bind.since(last.since.min(last.bind)).0;
                let otherwise = || pair.ends_otherwise() || pair.membership(now.since(last.since).0, bind).1;
                now.since(last.over.min(now)).0 <= pair.margin && otherwise()
            });
            // All pods are ready, but the controllers may still work on the restart.
            self.boundary_cases += u32::from(just_over);
            return PairMembership::Next;
        };
        let Some(first) = restart.effect else {
            // The model has no measurements of faults during the first start.
            self.boundary_cases += 1;
            return PairMembership::Next;
        };
        let offset = now.since(restart.since).0;
        let bind = restart.bind.since(restart.since).0;
        let pair = &self.model.pairs[first][effect];
        let measured_until = SimTime(restart.floor.0.saturating_add(pair.margin));
        if restart.waits() && now > measured_until {
            // The restart is complete except for pods without a node, so the fault affects the new attempt. Second
            // faults were measured up to the readiness of a restart that does not wait.
            return PairMembership::Next;
        }
        let (mut belongs, mut close, open) = pair.membership(offset, bind);
        // Second faults of a restart that does not end were measured with a longer one, or up to this time.
        let is_finite = self.model.curves[first].typical_point().samples[0].ready != NEVER;
        close |= restart.floor == SimTime::NEVER && (is_finite || offset > TIME_AFTER_RETURN.0);
        // Before the restart, a second pod of the Job that fails has another effect than a pod of another Job.
        let jobs = self.model.scenario.jobsets[0].jobset.spec.replicated_jobs[0].replicas;
        close |= jobs > 1 && self.model.slots.width() == 1 && now < restart.counted;
        let over = restart.floor.max(now).since(now).0;
        close |= pair.ends_otherwise() && over <= pair.margin;
        // The pods of the first fault are deleted as without other faults. Whether the restart waits for the second
        // fault is therefore decided by the binding time of the first fault alone.
        let own = restart.own_bind.since(restart.since.min(restart.own_bind)).0;
        if let PairMembership::Along(zone) = &mut belongs {
            zone.waits = matches!(pair.membership(offset, own).0, PairMembership::Along(own) if own.waits);
        }
        self.boundary_cases += u32::from(close);
        if open {
            let ready = self.model.curves[effect].typical_point().samples[0].ready;
            self.error_bound += if ready == NEVER { 0 } else { ready };
        }
        belongs
    }

    pub(super) fn sample(&mut self, effect: usize, outage: u64) -> (CurveSample, bool) {
        self.restart_count += 1;
        let u = self.unit(2);
        self.model.curves[effect].at(outage, u)
    }

    /// Returns true if a machine returns when the control plane detects its loss, or when it evicts the pods: the order
    /// is random. The last renewal of the Lease may be one period older than the fault.
    fn is_detected_randomly(&self, operation: FaultOperation, outage: u64) -> bool {
        let latest = max_detection_delay(&self.model.scenario.control_plane).0;
        let earliest = Duration::from_secs(self.model.scenario.control_plane.node_monitor_grace_period_s).0;
        let random = earliest.saturating_sub(latest - earliest)..=latest;
        let is_loss = matches!(operation, FaultOperation::Crash | FaultOperation::Partition);
        is_loss
            && (random.contains(&outage)
                || outage.checked_sub(TIME_BEFORE_FAULT.0).is_some_and(|at| random.contains(&at)))
    }

    /// Starts a new attempt after a fault of the running or the next attempt.
    fn begins(&mut self, now: SimTime, effect: usize, outage: u64, faults: &[InjectedFault]) {
        let (sample, open) = self.sample(effect, outage);
        self.boundary_cases += u32::from(open || self.is_detected_randomly(faults[0].operation, outage));
        if sample.interrupt == NEVER {
            return;
        }
        let model = self.model;
        let stopped = now + Duration(sample.interrupt);
        let ran = self.trainer.runs();
        if let Some(ends) = self.trainer.completion_time().filter(|ends| *ends <= stopped) {
            self.advance_to(ends);
            return;
        }
        if stopped > SimTime::ZERO + model.scenario.stop.at {
            // The pods run until the end of the run.
            return;
        }
        if ran {
            let deviation = self.bounds.then(|| self.start_bound + model.curves[effect].stop_spread() * 2);
            self.trainer.interrupt(stopped, deviation);
            self.trainer.job.ledger.set_holds_all(stopped, false);
        }
        let before = self.restart.take();
        let before_effect = before.as_ref().is_some_and(|b| b.effect.is_some());
        let is_last = sample.counts > 0 && i64::from(self.counts) >= model.max_restarts;
        let failed = if is_last {
            // The pass that would count the restart fails the JobSet instead (FP-7), at the latest at that time. The
            // measured times are those of nodes that do not return.
            let measured = self.pick(3, |m| &m.last[effect]);
            let counted = (sample.counted != NEVER).then_some(sample.counted);
            [measured, counted].into_iter().flatten().min()
        } else {
            (sample.failed != NEVER).then_some(sample.failed)
        };
        // A restart after the end of the run is not counted.
        let (decided, limit) = (now.0.saturating_add(sample.counted), model.scenario.stop.at.0);
        let in_time = decided <= limit;
        let just_in_time = self.is_near(SimTime(limit), Some((SimTime(decided), effect)));
        self.boundary_cases += u32::from(just_in_time);
        if !is_last && in_time {
            self.restarts += sample.restarts;
            self.counts += sample.counts;
            self.counted.push(OutcomeCounter {
                at: now + Duration(sample.counted),
                times: sample.counts,
                uncounted: sample.restarts.saturating_sub(sample.counts),
                process: faults[0].cause,
            });
        }
        let floor = match (sample.ready, sample.moves) {
            (NEVER, CurveShift::NoPods) => SimTime::NEVER,
            // The pods wait for a slot that no node of the trial provides.
            (NEVER, _) => now + Duration(sample.bind + model.late[model.late.len() / 2]),
            (ready, _) => now + Duration(ready),
        };
        let keep = before.as_ref().map_or(SimTime::ZERO, |b| b.floor);
        self.restart = Some(RestartInProgress {
            process: faults[0].cause,
            on: Some(faults[0].target),
            effect: Some(effect),
            start: before.as_ref().map_or(now, |b| b.start),
            since: now,
            stopped: before.as_ref().map_or(stopped, |b| b.stopped),
            bind: now + Duration(sample.bind),
            own_bind: now + Duration(sample.bind),
            counted: SimTime(now.0.saturating_add(sample.counted)),
            placed: sample.moves == CurveShift::NoPods,
            moves: sample.moves,
            floor: floor.max(if keep == SimTime::NEVER { SimTime::ZERO } else { keep }),
            others: SimTime::ZERO,
            outage,
            complete_at: (sample.moves == CurveShift::NoPods && self.pods.complete()).then_some(now),
            faults: before.as_ref().map_or(0, |b| b.faults) + 1,
        });
        if let Some(failed) = failed {
            self.boundary_cases += u32::from(before_effect);
            let curve = &model.curves[effect];
            let ends = range(&model.last[effect]).max(curve.end_range());
            self.error_bound += (ends + curve.stop_spread() + model.cluster_offset) * 2;
            self.end(now + Duration(failed), "Failed");
        }
    }
}
