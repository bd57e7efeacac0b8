//! Handling of a second fault during a restart that does not cause another restart: its effect on the restart in
//! progress, and which of both faults counts as the cause.

use super::measurement::curve::{CurveSample, NEVER};
use super::measurement::fault_pairs::PairZone;
use super::run::ReplicationState;
use sim_base::{Duration, SimTime};
use sim_engine::max_detection_delay;

impl ReplicationState<'_, '_> {
    /// Applies a second fault to the restart in progress. The fault affects pods of an attempt that ends anyway.
    pub(super) fn apply_overlapping_fault(
        &mut self, now: SimTime, (effect, outage): (usize, u64), process: u32, zone: PairZone,
    ) {
        let (sample, open) = self.sample(effect, outage);
        self.boundary_cases += u32::from(open);
        let waited = self.waiting_restart(effect, outage).unwrap_or(sample);
        // The wait was measured with a first fault that is already detected.
        let detected = max_detection_delay(&self.model.scenario.control_plane);
        let is_early = self.restart.as_ref().is_some_and(|e| now.since(e.since) <= detected);
        self.boundary_cases += u32::from(zone.waits && is_early);
        let Some(restart) = &mut self.restart else {
            return;
        };
        restart.faults += 1;
        let add = |n: u32, by: i32| (i64::from(n) + i64::from(by)).max(0) as u32;
        self.restarts = add(self.restarts, zone.adds.0);
        self.counts = add(self.counts, zone.adds.1);
        if zone.waits && waited.ready != NEVER {
            restart.others = restart.others.max(now + Duration(waited.ready));
            restart.floor = restart.floor.max(restart.others);
            restart.bind = restart.bind.max(now + Duration(waited.bind));
        }
        // The restart is counted from the earliest failure of the Job, so the fault that is reported first is its
        // cause.
        let counted = now.0.saturating_add(sample.counted);
        if counted < restart.counted.0 {
            self.take_over_restart(now, (effect, outage), &sample);
            if let Some(last) = self.counted.last_mut() {
                (last.at, last.process) = (SimTime(counted), process);
            }
        }
    }

    /// Makes the new fault the cause of the restart, because it is reported before the first fault. The restart then
    /// also waits for the nodes of the first fault, if it was measured to do so.
    fn take_over_restart(&mut self, now: SimTime, (effect, outage): (usize, u64), sample: &CurveSample) {
        let first = self.restart.as_ref().map(|e| (e.effect, e.outage, e.since));
        let Some((first, first_away, since)) = first else {
            return;
        };
        let waited = first.and_then(|first| self.waiting_restart(first, first_away));
        let Some(restart) = &mut self.restart else {
            return;
        };
        if let (Some(waited), true) = (waited, sample.ready != NEVER) {
            let at = |ns: u64| SimTime(since.0.saturating_add(ns));
            restart.others = restart.others.max(at(waited.ready));
            restart.floor = restart.others.max(now + Duration(sample.ready));
            restart.bind = at(waited.bind).max(now + Duration(sample.bind));
        }
        (restart.since, restart.effect, restart.outage) = (now, Some(effect), outage);
        restart.own_bind = now + Duration(sample.bind);
        restart.counted = SimTime(now.0.saturating_add(sample.counted));
    }

    /// Returns the times of a restart in progress that waits for the nodes of this fault; `None` if this was not
    /// measured.
    fn waiting_restart(&mut self, effect: usize, outage: u64) -> Option<CurveSample> {
        let u = self.unit(2);
        let overlapping_curves = &self.model.overlapping_curves[effect];
        let (sample, open) = overlapping_curves.is_known().then(|| overlapping_curves.at(outage, u))?;
        self.boundary_cases += u32::from(open);
        Some(sample)
    }
}
