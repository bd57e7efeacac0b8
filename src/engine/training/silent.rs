//! Silent faults, of which no component is notified: hanging processes, slow machines and corrupt results.

use super::Training;
use super::processes::GAVE_UP_EXIT_CODE;
use crate::accounting::Accounting;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Waited};
use crate::store::Store;
use crate::training_model::{ONE, Reason};
use sim_api::spec::{FaultAction, Silent};
use sim_base::*;

/// Corrupt state of a job.
#[derive(Clone)]
pub struct Wrong {
    /// Number of the detection that it waits for.
    pub nth: u32,
    /// The pod whose process computes wrong results, while that process exists.
    pod: PodId,
    process: u32,
    /// Per kind of checkpoint, the last one that began before the corruption.
    sound: Vec<u64>,
}

impl Training {
    pub(super) fn silent(&mut self, ctx: &mut Ctx<'_>, (fault, node, pod): (u32, NodeId, PodId)) {
        let FaultAction::Silent { what, .. } = ctx.scenario.faults[fault as usize].action else {
            return;
        };
        let pods = match pod.is_some() {
            true => vec![pod],
            false => ctx.store.nodes.pods[node.ix()].clone(),
        };
        let at_work: Vec<PodId> = pods
            .into_iter()
            .filter(|pod| self.is_at_work(ctx, *pod))
            .collect();
        match what {
            Silent::Hang {
                detected_after,
                exit_code,
            } => {
                for pod in at_work {
                    self.hangs(ctx, pod, (detected_after, exit_code.clamp(0, 255) as u8));
                }
            }
            Silent::Slow { factor } => {
                self.slow.insert(node, (factor * ONE as f64) as u64);
                for at in 0..self.jobs.len() {
                    self.paces(ctx, at);
                }
            }
            Silent::Corrupt { found_after } => {
                for at in 0..self.jobs.len() {
                    let own = |pod: &&PodId| self.takes_part(ctx, at, **pod);
                    if let Some(pod) = at_work.iter().find(own).copied() {
                        self.goes_wrong(ctx, at, (pod, found_after));
                    }
                }
            }
        }
    }

    fn hangs(&mut self, ctx: &mut Ctx<'_>, pod: PodId, (found, exit_code): (Option<Duration>, u8)) {
        let Some(at) = self.of(ctx.store.jobset_of(pod)) else {
            return;
        };
        let row = self.pod(pod);
        let nth = row.nth;
        if !std::mem::replace(&mut row.hangs, true) {
            let job = &mut self.jobs[at];
            job.hung += 1;
            if let Some(slices) = &mut job.slices {
                slices.row(ctx.store.pods.job[pod.ix()]).hung += 1;
            }
        }
        if let Some(found) = found {
            let found_out = Event::HangFound {
                pod,
                nth,
                exit_code,
            };
            ctx.after(found, Waited::Deadline, About::Pod(pod), found_out);
        }
        self.stops(ctx, at);
    }

    /// The job makes no further steps; no other component knows.
    pub(super) fn stops(&mut self, ctx: &mut Ctx<'_>, at: usize) {
        if !self.hangs_now(at) {
            return;
        }
        let job = &mut self.jobs[at];
        if let Some(stretch) = job.now.as_mut().filter(|stretch| stretch.stopped.is_none()) {
            stretch.stopped = Some(ctx.now);
            self.awaits_end(ctx, at);
        }
    }

    /// A detector ends the hanging process, if it still exists.
    pub(super) fn hang_found(&mut self, ctx: &mut Ctx<'_>, pod: PodId, (nth, code): (u32, u8)) {
        if self.still_hangs(ctx.store, pod, nth) {
            apiserver::note_gives_up(ctx, pod, i32::from(code));
        }
    }

    pub(super) fn still_hangs(&self, store: &Store, pod: PodId, nth: u32) -> bool {
        let row = self.pods.get(pod.ix());
        row.is_some_and(|row| row.nth == nth && row.hangs) && store.pods.exists(pod)
    }

    /// Updates the step time to that of the job's slowest machine.
    pub(super) fn paces(&mut self, ctx: &mut Ctx<'_>, at: usize) {
        let job = &self.jobs[at];
        let Some(stretch) = &job.now else {
            return;
        };
        let mut factor = ONE;
        for (node, slow) in &self.slow {
            let mut pods = ctx.store.nodes.pods[node.ix()].iter();
            if pods.any(|pod| self.takes_part(ctx, at, *pod)) {
                factor = factor.max(*slow);
            }
        }
        if stretch.slow == factor {
            return;
        }
        if let Some(stretch) = &mut self.jobs[at].now {
            let done = stretch.plan.at(stretch.elapsed(ctx.now)).done;
            stretch.slow = factor;
            stretch.plan.pace.changes(done, Reason::Slow, factor);
        }
        self.awaits_end(ctx, at);
    }

    fn goes_wrong(&mut self, ctx: &mut Ctx<'_>, at: usize, (pod, found): (PodId, Duration)) {
        let process = self.pod(pod).nth;
        let job = &mut self.jobs[at];
        let Some(stretch) = job.now.as_ref().filter(|_| job.wrong.is_none()) else {
            return;
        };
        let done = stretch.plan.at(stretch.elapsed(ctx.now)).done;
        let begun = stretch.plan.begun(done);
        job.findings += 1;
        job.wrong = Some(Wrong {
            nth: job.findings,
            pod,
            process,
            sound: job.kept.with(stretch.from, &begun),
        });
        let (jobset, nth) = (job.jobset, job.findings);
        let found_out = Event::WrongFound { jobset, nth };
        ctx.after(found, Waited::Deadline, About::JobSet(jobset), found_out);
    }

    /// A job that resumes from uncorrupted progress is correct again, unless the faulty process still computes.
    pub(super) fn may_be_right(&mut self, at: usize) {
        let job = &self.jobs[at];
        let Some(wrong) = &job.wrong else { return };
        let sound = wrong.sound.iter().copied().max().unwrap_or(0);
        let row = self.pods.get(wrong.pod.ix());
        let same = row.is_some_and(|row| row.nth == wrong.process && row.is_up());
        if job.kept.from() <= sound && !same {
            self.jobs[at].wrong = None;
        }
    }

    /// A corruption is detected: all work and checkpoints since then are lost. The faulty process exits, or the first
    /// process of the job if that one has ended.
    pub(super) fn is_wrong(&self, jobset: JobSetId, nth: u32) -> bool {
        let job = self.of(jobset).map(|at| &self.jobs[at]);
        let wrong = job.filter(|job| job.done.is_none());
        let wrong = wrong.and_then(|job| job.wrong.as_ref());
        wrong.is_some_and(|wrong| wrong.nth == nth)
    }

    pub(super) fn wrong_found(
        &mut self,
        ctx: &mut Ctx<'_>,
        (jobset, nth): (JobSetId, u32),
        accounting: &mut Accounting,
    ) {
        let found = self.of(jobset).filter(|_| self.is_wrong(jobset, nth));
        let Some(at) = found else { return };
        let job = &mut self.jobs[at];
        let Some(wrong) = job.wrong.take() else {
            return;
        };
        let reached = self.end_stretch(ctx, at, true, accounting);
        let kept = &mut self.jobs[at].kept;
        let reached = reached.unwrap_or(kept.newest().0);
        let lost = kept.only(&wrong.sound);
        self.take_back(ctx, at, lost, accounting);
        self.tell_interrupted(ctx, at, reached);
        if let Some(pod) = self.who_ends(ctx, jobset, &wrong) {
            apiserver::note_gives_up(ctx, pod, GAVE_UP_EXIT_CODE);
        }
    }

    fn who_ends(&self, ctx: &Ctx<'_>, jobset: JobSetId, wrong: &Wrong) -> Option<PodId> {
        let at_work = |pod: &PodId| self.is_at_work(ctx, *pod);
        let same = self.pods[wrong.pod.ix()].nth == wrong.process;
        let guilty = Some(wrong.pod).filter(|pod| same && at_work(pod));
        let pods = ctx.store.jobs_of(jobset);
        let mut pods = pods.flat_map(|job| ctx.store.jobs[job.ix()].pods.iter());
        guilty.or_else(|| pods.find(at_work))
    }
}
