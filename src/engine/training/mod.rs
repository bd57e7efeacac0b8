//! The training jobs that run in JobSets: they step while every pod is there, and each interruption takes back what no
//! checkpoint has saved.
//!
//! Nobody in the cluster sees a step. What a stretch of steps was worth is worked out when it ends (`stretch`), and
//! booked then: no event per step, one when the work is done. Must never act on an object; what ends the containers is
//! their kubelet.

mod books;
mod processes;
mod stretch;
#[cfg(test)]
mod tests;

use super::accounting::{Accounting, Gang};
use super::apiserver;
use super::ctx::Ctx;
use super::event::Event;
use crate::base::random::{Dist, Purpose};
use crate::base::*;
use crate::record::{About, Body, TrainingOutcome, Waited};
use crate::spec::TrainingJob;
use crate::store::{JobSetChange, PodChange, What};
use books::Books;
use processes::Pod;
use stretch::Plan;

#[derive(Default)]
pub struct Training {
    jobs: Vec<Job>,
    pods: Vec<Pod>,
}

/// The job of one JobSet.
struct Job {
    jobset: JobSetId,
    /// Pods whose processes have ended, of which the API server may not know yet.
    down: u32,
    /// Work that no interruption takes back.
    kept: u64,
    /// Which event of an end is the valid one.
    generation: u32,
    now: Option<Stretch>,
    starts: u32,
    /// When all pods were last there.
    last: Option<Time>,
    done: Option<Time>,
    books: Books,
}

/// What is under way.
struct Stretch {
    plan: Plan,
    since: Time,
    /// Who takes part; another gang is another stretch.
    gang: Gang,
    /// Its end is awaited.
    ends: bool,
}

impl Training {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        self.pods.clear();
        let job = |t: &TrainingJob| Job {
            jobset: JobSetId(t.jobset as u32),
            down: 0,
            kept: 0,
            generation: 0,
            now: None,
            starts: 0,
            last: None,
            done: None,
            books: Books::default(),
        };
        self.jobs = ctx.scenario.training.iter().map(job).collect();
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event, accounting: &mut Accounting) {
        match event {
            Event::WorkDone { jobset, .. } if !self.is_void(event) => {
                if let Some(at) = self.of(jobset) {
                    self.finish(ctx, at, accounting);
                }
            }
            Event::WorkDone { .. } => {}
            Event::RendezvousOver { pod, nth } => self.rendezvous_over(ctx, pod, nth),
            other => unreachable!("not an event of training: {other:?}"),
        }
    }

    /// Whether any JobSet trains.
    #[inline]
    pub fn any(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// After the books, which know whether a JobSet is ready.
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What, accounting: &mut Accounting) {
        let jobset = match what {
            What::Pod(pod, change) => {
                if matches!(
                    change,
                    PodChange::Created | PodChange::Finished | PodChange::Gone
                ) {
                    self.set_down(ctx, pod, false);
                }
                ctx.store.jobset_of(pod)
            }
            What::Process { pod, up } => {
                self.set_down(ctx, pod, !up);
                if up {
                    self.process_starts(ctx, pod);
                }
                ctx.store.jobset_of(pod)
            }
            What::Job(job, _) => ctx.store.jobs[job.ix()].jobset,
            What::JobSet(jobset, change) => {
                self.jobset_changed(ctx, jobset, change);
                jobset
            }
            What::Node(..) => {
                for at in 0..self.jobs.len() {
                    self.look(ctx, at, accounting);
                }
                return;
            }
            What::Service(_) | What::Claim | What::WorkDone(_) | What::GivesUp(_) => return,
            // Refused where a scenario is read, until it has an effect here.
            What::Silent { .. } => return,
        };
        if let Some(at) = self.of(jobset) {
            self.look(ctx, at, accounting);
        }
    }

    /// Whether an end that was scheduled no longer is one: the stretch was interrupted.
    #[inline]
    pub fn is_void(&self, event: Event) -> bool {
        let Event::WorkDone { jobset, generation } = event else {
            return false;
        };
        let job = self.of(jobset).map(|at| &self.jobs[at]);
        job.is_none_or(|job| job.generation != generation)
    }

    fn of(&self, jobset: JobSetId) -> Option<usize> {
        self.jobs.iter().position(|job| job.jobset == jobset)
    }

    fn jobset_changed(&mut self, ctx: &Ctx<'_>, jobset: JobSetId, change: JobSetChange) {
        let Some(at) = self.of(jobset) else { return };
        let books = &mut self.jobs[at].books;
        let ended = ctx.store.jobsets[jobset.ix()]
            .status
            .terminal_state
            .is_some();
        match change {
            JobSetChange::Created => {
                books.submitted(ctx.now);
                books.suspended(ctx.now, ctx.store.jobsets[jobset.ix()].suspended());
            }
            JobSetChange::Spec => {
                books.suspended(ctx.now, ctx.store.jobsets[jobset.ix()].suspended());
            }
            JobSetChange::Gone => books.ended(ctx.now),
            JobSetChange::Status if ended => books.ended(ctx.now),
            _ => {}
        }
    }

    /// Whether the job can step, now that something has changed.
    fn look(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let job = &mut self.jobs[at];
        job.books.holds(ctx.now, accounting.holds_all(job.jobset));
        let gang = accounting.gang(job.jobset).filter(|_| job.down == 0);
        if job.now.as_ref().map(|s| s.gang) == gang {
            return;
        }
        if job.now.is_some() {
            self.interrupt(ctx, at, accounting);
        }
        let just_done = self.jobs[at].done == Some(ctx.now);
        if let Some(gang) = gang.filter(|_| !just_done) {
            self.begin(ctx, at, gang, accounting);
        }
    }

    fn begin(&mut self, ctx: &mut Ctx<'_>, at: usize, gang: Gang, accounting: &mut Accounting) {
        let job = &mut self.jobs[at];
        let (jobset, spec) = (job.jobset, &ctx.scenario.training[at]);
        let nth = job.starts;
        let mut takes =
            |purpose, dist: &Dist| ctx.draw(purpose, About::JobSet(jobset), nth, dist).0;
        let restores = job.kept > 0;
        let before = [
            takes(Purpose::TrainingInitialization, &spec.initialization),
            takes(Purpose::TrainingCompile, &spec.compile),
            if restores {
                takes(Purpose::TrainingRestore, &spec.restore)
            } else {
                0
            },
        ];
        let work = spec.work.map(|work| spec.in_steps(work).0 - job.kept);
        let plan = Plan {
            before,
            work,
            progress: spec.progress_in_steps(),
            commit_delay: spec.commit_delay,
        };
        job.starts += 1;
        job.last = Some(ctx.now);
        job.generation += 1;
        job.books.begins(ctx.now);
        let takes = plan
            .takes()
            .filter(|takes| ctx.now.0.checked_add(*takes).is_some());
        job.now = Some(Stretch {
            plan,
            since: ctx.now,
            gang,
            ends: takes.is_some(),
        });
        let (from, generation) = (Duration(job.kept), job.generation);
        accounting.set_runs(ctx, jobset, true);
        ctx.emit(Body::TrainingStarted { jobset, from });
        if let Some(takes) = takes {
            let done = Event::WorkDone { jobset, generation };
            ctx.after(
                Duration(takes),
                Waited::Running,
                About::JobSet(jobset),
                done,
            );
            ctx.progress.awaited += 1;
        }
    }

    /// The stretch at hand ends here; `loses`: what no checkpoint has saved is taken back.
    fn end_stretch(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        loses: bool,
        accounting: &mut Accounting,
    ) -> Option<u64> {
        let job = &mut self.jobs[at];
        let stretch = job.now.take()?;
        ctx.progress.awaited -= u32::from(stretch.ends);
        job.generation += 1;
        let spent = stretch.plan.at(ctx.now.since(stretch.since).0);
        let reached = job.kept + spent.stepping;
        let booked = job.books.ends(ctx.now, &spent, loses);
        accounting.set_runs(ctx, job.jobset, false);
        let whose = (job.jobset, stretch.gang);
        accounting.ledger.book(ctx.now, whose, &booked);
        job.kept += spent.kept;
        Some(reached)
    }

    fn interrupt(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let jobset = self.jobs[at].jobset;
        if let Some(reached) = self.end_stretch(ctx, at, true, accounting) {
            let kept = Duration(self.jobs[at].kept);
            let reached = Duration(reached);
            ctx.emit(Body::TrainingInterrupted {
                jobset,
                reached,
                kept,
            });
        }
    }

    /// The work is done: the processes end.
    fn finish(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let jobset = self.jobs[at].jobset;
        self.end_stretch(ctx, at, false, accounting);
        self.jobs[at].done = Some(ctx.now);
        self.jobs[at].books.done();
        let work = Duration(self.jobs[at].kept);
        ctx.emit(Body::TrainingDone { jobset, work });
        apiserver::note_work_done(ctx, jobset);
    }

    /// The end of the run: what is under way is neither kept nor lost.
    pub fn close(
        &mut self,
        ctx: &mut Ctx<'_>,
        accounting: &mut Accounting,
    ) -> Vec<TrainingOutcome> {
        let mut all = Vec::new();
        for at in 0..self.jobs.len() {
            let reached = self.end_stretch(ctx, at, false, accounting);
            let job = &self.jobs[at];
            let kept = Duration(job.kept);
            let reached = reached.map_or(kept, Duration);
            let spec = &ctx.scenario.training[at];
            all.push(
                job.books
                    .outcome(ctx.now, spec, (job.jobset, reached, kept)),
            );
        }
        all
    }
}
