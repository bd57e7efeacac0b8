//! Silent faults, of which no component is notified: hanging processes, slow machines and corrupt results.

use super::TrainingState;
use crate::record::{TicketSubject, TicketWait};
use crate::{accounting::TimeAccounting, apiserver, ctx::EngineContext, event::SimulationEvent, store::ObjectStore};
use sim_api::spec::{FaultAction, SilentFaults};
use sim_base::{Duration, JobSetId, NodeId, PodId, SimTime};
use sim_reliability::training::{ERROR_EXIT_CODE, PaceReason, SilentCorruption, UNIT_FACTOR};

/// A process that computes wrong results, which may have ended since.
#[derive(Copy, Clone, Debug)]
pub struct FaultyProcess {
    pod: PodId,
    /// Number of the process of its pod.
    nth: u32,
}

impl TrainingState {
    pub(super) fn apply_silent_fault(&mut self, ctx: &mut EngineContext<'_>, (fault, node, pod): (u32, NodeId, PodId)) {
        let FaultAction::Silent { fault: what, .. } = ctx.scenario.faults[fault as usize].action else {
            return;
        };
        let pods = if pod.is_some() { vec![pod] } else { ctx.store.nodes.pods[node.ix()].clone() };
        let at_work: Vec<PodId> = pods.into_iter().filter(|pod| self.is_process_running(ctx, *pod)).collect();
        match what {
            SilentFaults::Hang { detected_after, exit_code } => {
                for pod in at_work {
                    self.begin_hang(ctx, pod, (detected_after, exit_code.clamp(0, 255) as u8));
                }
            }
            SilentFaults::Slow { factor } => {
                self.slowdowns.insert(node, (factor * UNIT_FACTOR as f64) as u64);
                for at in 0..self.jobs.len() {
                    self.update_pace(ctx, at);
                }
            }
            SilentFaults::Degrade { links, factor } => self.degrade_links(ctx, (links, node), 1.0 / factor),
            SilentFaults::Corrupt { found_after } => {
                for at in 0..self.jobs.len() {
                    let own = |pod: &&PodId| self.participates(ctx, at, **pod);
                    if let Some(pod) = at_work.iter().find(own).copied() {
                        self.begin_corruption(ctx, at, (pod, found_after));
                    }
                }
            }
        }
    }

    fn begin_hang(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, (result, exit_code): (Option<Duration>, u8)) {
        let Some(at) = self.job_index(ctx.store.jobset_of(pod)) else {
            return;
        };
        let row = self.pod_mut(pod);
        let nth = row.nth;
        if !std::mem::replace(&mut row.hung, true) {
            let job = &mut self.jobs[at];
            job.hung += 1;
            if let Some(slices) = &mut job.slices {
                slices.row(ctx.store.pods.job[pod.ix()]).hung += 1;
            }
        }
        if let Some(result) = result {
            let found_out = SimulationEvent::HangDetected { pod, nth, exit_code };
            ctx.schedule_after(result, TicketWait::HangDetection, TicketSubject::Pod(pod), found_out);
        }
        self.stop_if_hung(ctx, at);
    }

    /// The job makes no further steps; no other component knows.
    pub(super) fn stop_if_hung(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        if !self.has_hung_participant(at) {
            return;
        }
        let job = &mut self.jobs[at];
        if let Some(current) = job.segment.as_mut().filter(|current| current.run.hang_start.is_none()) {
            current.run.hang_start = Some(ctx.now);
            self.reschedule_end(ctx, at);
        }
    }

    /// Time since which the training of a JobSet hangs; `None` if it does not hang, or has not started.
    pub fn hang_start(&self, jobset: JobSetId) -> Option<SimTime> {
        self.jobs[self.job_index(jobset)?].segment.as_ref()?.run.hang_start
    }

    /// A detector ends the hanging process, if it still exists.
    pub(super) fn hang_detected(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, (nth, code): (u32, u8)) {
        if self.is_hung(ctx.store, pod, nth) {
            apiserver::note_process_exit(ctx, pod, i32::from(code));
        }
    }

    pub(super) fn is_hung(&self, store: &ObjectStore, pod: PodId, nth: u32) -> bool {
        let row = self.pods.get(pod.ix());
        row.is_some_and(|row| row.nth == nth && row.hung) && store.pods.exists(pod)
    }

    /// Updates the step time to that of the job's slowest machine.
    pub(super) fn update_pace(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        let job = &self.jobs[at];
        let Some(current) = &job.segment else {
            return;
        };
        let mut factor = UNIT_FACTOR;
        for (node, slow) in &self.slowdowns {
            let mut pods = ctx.store.nodes.pods[node.ix()].iter();
            if pods.any(|pod| self.participates(ctx, at, *pod)) {
                factor = factor.max(*slow);
            }
        }
        if current.slowdown == factor {
            return;
        }
        if let Some(current) = &mut self.jobs[at].segment {
            let done = current.run.done(ctx.now);
            current.slowdown = factor;
            current.run.plan.pace.set_factor(done, PaceReason::Slow, factor);
        }
        self.update_step_time(ctx, at);
        self.reschedule_end(ctx, at);
    }

    fn begin_corruption(&mut self, ctx: &mut EngineContext<'_>, at: usize, (pod, found): (PodId, Duration)) {
        let process = FaultyProcess { pod, nth: self.pod_mut(pod).nth };
        let job = &mut self.jobs[at];
        let Some(current) = job.segment.as_ref().filter(|_| job.corruption.is_none()) else {
            return;
        };
        job.corruptions += 1;
        let (jobset, nth) = (job.jobset, job.corruptions);
        let saved = &job.trainer.saved_progress;
        job.corruption = Some(SilentCorruption::begin(ctx.now, nth, process, &current.run, saved));
        let found_out = SimulationEvent::CorruptionDetected { jobset, nth };
        ctx.schedule_after(found, TicketWait::CorruptionDetection, TicketSubject::JobSet(jobset), found_out);
    }

    /// A job that resumes from uncorrupted progress is correct again, unless the faulty process still computes.
    pub(super) fn clear_past_corruption(&mut self, at: usize) {
        let job = &self.jobs[at];
        let Some(wrong) = &job.corruption else { return };
        let row = self.pods.get(wrong.process.pod.ix());
        let same = row.is_some_and(|row| row.nth == wrong.process.nth && row.is_up());
        if wrong.is_undone(&job.trainer.saved_progress) && !same {
            self.jobs[at].corruption = None;
        }
    }

    /// Returns true if a detection is that of the current corruption of a job that has work left.
    pub(super) fn is_current_corruption(&self, jobset: JobSetId, nth: u32) -> bool {
        let job = self.job_index(jobset).map(|at| &self.jobs[at]);
        let wrong = job.filter(|job| job.completed_at.is_none());
        let wrong = wrong.and_then(|job| job.corruption.as_ref());
        wrong.is_some_and(|wrong| wrong.nth == nth)
    }

    /// A corruption is detected: all work and checkpoints since then are lost. The faulty process exits, or the first
    /// process of the job if that one has ended.
    pub(super) fn corruption_detected(
        &mut self, ctx: &mut EngineContext<'_>, (jobset, nth): (JobSetId, u32), accounting: &mut TimeAccounting,
    ) {
        let result = self.job_index(jobset).filter(|_| self.is_current_corruption(jobset, nth));
        let Some(at) = result else { return };
        let job = &mut self.jobs[at];
        let Some(wrong) = job.corruption.take() else {
            return;
        };
        let reached = self.end_segment(ctx, at, true, accounting);
        let kept = &mut self.jobs[at].trainer.saved_progress;
        let reached = reached.unwrap_or(kept.newest().0);
        let lost = wrong.undo(kept);
        self.undo_work(ctx, at, lost, accounting);
        self.emit_interrupted(ctx, at, reached);
        if let Some(pod) = self.faulty_pod(ctx, jobset, wrong.process) {
            apiserver::note_process_exit(ctx, pod, ERROR_EXIT_CODE);
        }
    }

    fn faulty_pod(&self, ctx: &EngineContext<'_>, jobset: JobSetId, wrong: FaultyProcess) -> Option<PodId> {
        let at_work = |pod: &PodId| self.is_process_running(ctx, *pod);
        let same = self.pods[wrong.pod.ix()].nth == wrong.nth;
        let guilty = Some(wrong.pod).filter(|pod| same && at_work(pod));
        let pods = ctx.store.jobs_of(jobset);
        let mut pods = pods.flat_map(|job| ctx.store.jobs[job.ix()].pods.iter());
        guilty.or_else(|| pods.find(at_work))
    }
}
