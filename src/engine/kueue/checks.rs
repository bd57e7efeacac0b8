//! The controllers of admission checks, which report states after a delay.

use super::KueueController;
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_base::{JobSetId, SimTime};
use sim_kueue::workload::CheckStatus;

impl KueueController {
    /// Lets the controllers begin with the checks of a Workload that has quota. Without quota, they stop.
    pub(super) fn begin_checks(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(objects) = &ctx.scenario.kueue else { return };
        let row = &mut self.rows[jobset.ix()];
        let Some(workload) = row.workload.as_ref().filter(|workload| workload.has_reservation()) else {
            row.check_reports.clear();
            return;
        };
        let pending = workload.status.checks.iter().filter(|check| check.status == CheckStatus::Pending);
        for check in pending {
            let position = objects.admission_checks.iter().position(|known| known.name == check.name);
            let Some(position) = position.filter(|at| !row.check_reports.contains_key(&(*at as u32))) else { continue };
            let Some(outcome) = &objects.admission_checks[position].outcome else { continue };
            let (check, about) = (position as u32, TicketSubject::JobSet(jobset));
            let occurrence = row.check_reported.get(&check).copied().unwrap_or(0);
            // By name, because other checks may be added to the inputs.
            let entity = StreamKey::from_text(&format!(
                "{}/{} {}",
                workload.namespace, workload.name, objects.admission_checks[position].name
            ));
            let purpose = StreamPurpose::AdmissionCheck;
            let draw = UniformDraw { purpose, entity, occurrence, substream: 0 };
            let after = ctx.draws.sample_once(draw, &outcome.after);
            row.check_reports.insert(check, ctx.now + after);
            let due = SimulationEvent::KueueCheckDue { jobset, check };
            ctx.schedule_after(after, TicketWait::AdmissionCheck, about, due);
        }
    }

    /// Returns true if the Workload has lost its quota since the controller began.
    pub fn is_check_stale(&self, at: SimTime, jobset: JobSetId, check: u32) -> bool {
        self.rows.get(jobset.ix()).is_none_or(|row| row.check_reports.get(&check) != Some(&at))
    }

    /// The controller writes the state of the check.
    pub(super) fn check_due(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, check: u32) {
        let now = ctx.now;
        let row = &mut self.rows[jobset.ix()];
        if row.check_reports.get(&check) != Some(&now) {
            return;
        }
        row.check_reports.remove(&check);
        let reported = row.check_reported.entry(check).or_default();
        *reported += 1;
        let reported = *reported;
        let rule = ctx.scenario.kueue.as_ref().map(|objects| &objects.admission_checks[check as usize]);
        let Some((name, outcome)) = rule.and_then(|rule| Some((&rule.name, rule.outcome.as_ref()?))) else { return };
        let Some(stored) = ctx.store.jobsets[jobset.ix()].workload.clone() else { return };
        if !stored.has_reservation() {
            return;
        }
        let mut workload = (*stored).clone();
        let state = workload.status.checks.iter_mut().find(|state| state.name == *name);
        let Some(state) = state.filter(|state| state.status == CheckStatus::Pending) else { return };
        state.status = if reported <= outcome.retries {
            CheckStatus::Retry
        } else if outcome.is_ready {
            CheckStatus::Ready
        } else {
            CheckStatus::Rejected
        };
        state.message.clone_from(&outcome.message);
        apiserver::set_workload(ctx, jobset, workload);
    }
}
