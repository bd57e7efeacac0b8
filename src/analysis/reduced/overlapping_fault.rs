//! Handling of a second fault during a restart that does not cause another restart: its effect on the restart in
//! progress, and which of both faults counts as the cause.

use super::measurement::curve::{CurveSample, NEVER};
use super::measurement::fault_pairs::PairZone;
use super::run::ReplicationState;
use sim_base::{Duration, SimTime};

impl ReplicationState<'_, '_> {
    /// Applies a second fault to the restart in progress. The fault affects pods of an attempt that ends anyway.
    pub(super) fn goes_along(&mut self, now: SimTime, (effect, away): (usize, u64), process: u32, zone: PairZone) {
        let (sample, open) = self.sample(effect, away);
        self.close_calls += u32::from(open);
        let waited = self.waiting_restart(effect, away).unwrap_or(sample);
        let Some(episode) = &mut self.episode else {
            return;
        };
        let add = |n: u32, by: i32| (i64::from(n) + i64::from(by)).max(0) as u32;
        self.restarts = add(self.restarts, zone.adds.0);
        self.counts = add(self.counts, zone.adds.1);
        if zone.waits && waited.ready != NEVER {
            episode.others = episode.others.max(now + Duration(waited.ready));
            episode.floor = episode.floor.max(episode.others);
            episode.bind = episode.bind.max(now + Duration(waited.bind));
        }
        // The restart is counted from the earliest failure of the Job, so the fault that is reported first is its
        // cause.
        let counted = now.0.saturating_add(sample.counted);
        if counted < episode.counted.0 {
            self.take_over_restart(now, (effect, away), &sample);
            if let Some(last) = self.counted.last_mut() {
                (last.at, last.process) = (SimTime(counted), process);
            }
        }
    }

    /// Makes the new fault the cause of the restart, because it is reported before the first fault. The restart then
    /// also waits for the nodes of the first fault, if it was measured to do so.
    fn take_over_restart(&mut self, now: SimTime, (effect, away): (usize, u64), sample: &CurveSample) {
        let first = self.episode.as_ref().map(|e| (e.effect, e.away, e.since));
        let Some((first, first_away, since)) = first else {
            return;
        };
        let waited = first.and_then(|first| self.waiting_restart(first, first_away));
        let Some(episode) = &mut self.episode else {
            return;
        };
        if let (Some(waited), true) = (waited, sample.ready != NEVER) {
            let at = |ns: u64| SimTime(since.0.saturating_add(ns));
            episode.others = episode.others.max(at(waited.ready));
            episode.floor = episode.others.max(now + Duration(sample.ready));
            episode.bind = at(waited.bind).max(now + Duration(sample.bind));
        }
        (episode.since, episode.effect, episode.away) = (now, Some(effect), away);
        episode.own_bind = now + Duration(sample.bind);
        episode.counted = SimTime(now.0.saturating_add(sample.counted));
    }

    /// Returns the times of a restart in progress that waits for the nodes of this fault; `None` if this was not
    /// measured.
    fn waiting_restart(&mut self, effect: usize, away: u64) -> Option<CurveSample> {
        let u = self.unit(2);
        let along = &self.model.along[effect];
        along.is_known().then(|| along.at(away, u).0)
    }
}
