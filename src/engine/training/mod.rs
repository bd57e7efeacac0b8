//! Training jobs in JobSets: they make steps while all pods are ready, and an interruption undoes all steps since the
//! last checkpoint.
//!
//! No component of the cluster observes steps. A segment of steps is evaluated when it ends, by the module
//! `training_model`: there is no event per step, only one when the work is complete. Must never change an object; the
//! kubelet stops the containers.

mod hosts;
mod processes;
mod silent;
mod slices;

use super::accounting::{Accounting, Gang};
use super::apiserver;
use super::ctx::Ctx;
use super::event::Event;
use crate::record::{About, Body, LedgerCategory, TrainingOutcome, Waited};
use crate::store::{JobSetChange, PodChange, Store, What};
use crate::training_model::{Books, End, Kept, ONE, Plan, Start, plan_of};
use hosts::Hosts;
use processes::Pod;
use silent::Wrong;
use sim_api::spec::{Loss, TrainingJob};
use sim_base::*;
use slices::{Slices, Team};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Training {
    jobs: Vec<Job>,
    pods: Vec<Pod>,
    /// Slowdown factors of slow machines, in billionths of the normal step time.
    slow: BTreeMap<NodeId, u64>,
}

/// The slices that did a piece of work.
#[derive(Copy, Clone, Debug)]
struct Done {
    gang: Gang,
    /// Productive accelerator time over productive job time, as a fraction; differs from 1 if slices are missing.
    held: (u64, u64),
}

/// The training job of one JobSet.
#[derive(Clone)]
struct Job {
    jobset: JobSetId,
    /// Number of pods whose processes have ended, which the API server may not know yet.
    down: u32,
    /// Number of pods whose processes hang.
    hung: u32,
    /// The corrupt state of the job, if any, and the number of corruptions so far.
    wrong: Option<Wrong>,
    findings: u32,
    /// Saved progress.
    kept: Kept<Done>,
    /// Only for jobs with checkpoints that are lost with a host.
    hosts: Option<Hosts>,
    /// The largest progress so far.
    reached: u64,
    /// Identifies the valid end event.
    generation: u32,
    now: Option<Stretch>,
    starts: u32,
    /// Last time at which all pods were ready.
    last: Option<Time>,
    done: Option<Time>,
    books: Books,
    /// Only for an elastic job.
    slices: Option<Slices>,
}

/// The current segment.
#[derive(Clone)]
struct Stretch {
    plan: Plan,
    since: Time,
    /// Progress at its start.
    from: u64,
    /// The pods that take part; a change of them starts another segment.
    gang: Gang,
    /// True if its end is scheduled.
    ends: bool,
    /// Slowdown factor of its slowest machine.
    slow: u64,
    /// Start of a hang.
    stopped: Option<Time>,
    /// Nodes with announced maintenance.
    noticed: Vec<NodeId>,
    /// Only for an elastic job.
    team: Team,
}

impl Stretch {
    /// Duration of the segment, not counting a hang.
    fn elapsed(&self, now: Time) -> u64 {
        self.stopped.unwrap_or(now).since(self.since).0
    }
}

impl Training {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        self.pods.clear();
        self.slow.clear();
        let job = |t: &TrainingJob| Job {
            jobset: JobSetId(t.jobset as u32),
            down: 0,
            hung: 0,
            wrong: None,
            findings: 0,
            kept: Kept::of(t),
            hosts: (t.checkpoints().iter())
                .any(|kind| kind.survives < Loss::All)
                .then(Hosts::default),
            reached: 0,
            generation: 0,
            now: None,
            starts: 0,
            last: None,
            done: None,
            books: Books::default(),
            slices: t.elastic.is_some().then(Slices::default),
        };
        self.jobs = ctx.scenario.training.iter().map(job).collect();
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event, accounting: &mut Accounting) {
        match event {
            Event::WorkDone { jobset, generation } => {
                if let Some(at) = self
                    .of(jobset)
                    .filter(|_| !self.is_interrupted(jobset, generation))
                {
                    self.stretch_over(ctx, at, accounting);
                }
            }
            Event::RendezvousOver { pod, nth } => self.rendezvous_over(ctx, pod, nth),
            Event::HangFound {
                pod,
                nth,
                exit_code,
            } => self.hang_found(ctx, pod, (nth, exit_code)),
            Event::LastCallOver { jobset, nth } => {
                self.last_call_over(ctx, (jobset, nth), accounting);
            }
            Event::WrongFound { jobset, nth } => self.wrong_found(ctx, (jobset, nth), accounting),
            other => unreachable!("not an event of training: {other:?}"),
        }
    }

    /// Returns true if any JobSet has a training job.
    #[inline]
    pub fn any(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Called after the accounting, which knows whether a JobSet is ready.
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What, accounting: &mut Accounting) {
        let jobset = match what {
            What::Pod(pod, change) => {
                if matches!(
                    change,
                    PodChange::Created | PodChange::Finished | PodChange::Gone
                ) {
                    self.set_down(ctx, pod, false);
                    self.process_ends(ctx, pod);
                }
                ctx.store.jobset_of(pod)
            }
            What::Process { pod, up } => {
                self.set_down(ctx, pod, !up);
                match up {
                    true => self.process_starts(ctx, pod),
                    false => self.process_ends(ctx, pod),
                }
                ctx.store.jobset_of(pod)
            }
            What::Job(job, _) => ctx.store.jobs[job.ix()].jobset,
            What::JobSet(jobset, change) => {
                self.jobset_changed(ctx, jobset, change);
                jobset
            }
            What::Node(node, change) => {
                for at in 0..self.jobs.len() {
                    if let Some(hosts) = &mut self.jobs[at].hosts {
                        hosts.node_changed(node, change);
                    }
                    self.notices(ctx, at, node);
                    self.look(ctx, at, accounting);
                }
                return;
            }
            What::Service(_) | What::Owned(..) | What::Claim | What::Stopped(_) => return,
            What::WorkDone(_) | What::GivesUp(..) => return,
            What::Silent { fault, node, pod } => return self.silent(ctx, (fault, node, pod)),
        };
        if let Some(at) = self.of(jobset) {
            self.look(ctx, at, accounting);
        }
    }

    /// Returns true if an event is stale: the segment was interrupted, or the process was replaced.
    #[inline]
    pub fn is_void(&self, store: &Store, event: Event) -> bool {
        match event {
            Event::WorkDone { jobset, generation } => self.is_interrupted(jobset, generation),
            Event::RendezvousOver { pod, nth } => self.has_met(store, pod, nth),
            Event::HangFound { pod, nth, .. } => !self.still_hangs(store, pod, nth),
            Event::WrongFound { jobset, nth } => !self.is_wrong(jobset, nth),
            Event::LastCallOver { jobset, nth } => !self.calls(jobset, nth),
            _ => false,
        }
    }

    fn is_interrupted(&self, jobset: JobSetId, generation: u32) -> bool {
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

    /// Starts or ends a segment after a change that may affect the job.
    fn look(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let job = &mut self.jobs[at];
        job.books.holds(ctx.now, accounting.holds_all(job.jobset));
        if job.slices.is_some() {
            return self.look_at_slices(ctx, at, accounting);
        }
        let gang = accounting.gang(job.jobset).filter(|_| job.down == 0);
        if job.now.as_ref().map(|s| s.gang) == gang {
            return;
        }
        if job.now.is_some() {
            self.interrupt(ctx, at, accounting);
        }
        let just_done = self.jobs[at].done == Some(ctx.now);
        if let Some(gang) = gang.filter(|_| !just_done) {
            self.begin(ctx, at, (gang, Team::default()), accounting);
        }
    }

    /// One of its machines was cordoned, for example before maintenance: the job saves after the current step.
    fn notices(&mut self, ctx: &mut Ctx<'_>, at: usize, node: NodeId) {
        let spec = &ctx.scenario.training[at];
        let announced = spec.save_at_notice && ctx.store.nodes.rows[node.ix()].cordoned;
        let own = |pod: &PodId| self.takes_part(ctx, at, *pod);
        if !announced || !ctx.store.nodes.pods[node.ix()].iter().any(own) {
            return;
        }
        let job = &mut self.jobs[at];
        let Some(stretch) = job.now.as_mut().filter(|s| !s.noticed.contains(&node)) else {
            return;
        };
        stretch.noticed.push(node);
        let done = stretch.plan.at(stretch.elapsed(ctx.now)).done;
        stretch.plan.saves_after(spec.in_steps(Duration(done)).0);
        self.awaits_end(ctx, at);
    }

    fn begin(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        (gang, team): (Gang, Team),
        accounting: &mut Accounting,
    ) {
        let job = &mut self.jobs[at];
        if let Some(hosts) = &mut job.hosts {
            let loss = hosts.move_to_now(ctx, job.jobset);
            let lost = job.kept.loses(loss, &ctx.scenario.training[at]);
            self.take_back(ctx, at, lost, accounting);
        }
        self.may_be_right(at);
        let job = &self.jobs[at];
        let from = job.kept.from();
        let (key, _) = ctx.key_of(About::JobSet(job.jobset));
        let spec = &ctx.scenario.training[at];
        let start = Start {
            from,
            reinitializes: team.reinitializes,
            factor: team.factor,
            ..Start::of(job.starts, job.kept.newest())
        };
        let plan = plan_of(spec, &start, (key, &mut ctx.draws));
        let job = &mut self.jobs[at];
        job.starts += 1;
        job.last = Some(ctx.now);
        job.books.begins(ctx.now);
        job.now = Some(Stretch {
            plan,
            since: ctx.now,
            from,
            gang,
            ends: false,
            slow: ONE,
            stopped: None,
            noticed: Vec::new(),
            team,
        });
        if let Some(stretch) = &self.jobs[at].now {
            let members = &stretch.team.members;
            self.set_runs(ctx, at, (members, true), accounting);
        }
        self.tell_started(ctx, at, Duration(from));
        self.awaits_end(ctx, at);
        self.paces(ctx, at);
        self.stops(ctx, at);
    }

    /// Reschedules the completion of the work, or removes it.
    fn awaits_end(&mut self, ctx: &mut Ctx<'_>, at: usize) {
        let job = &mut self.jobs[at];
        job.generation += 1;
        let (jobset, generation) = (job.jobset, job.generation);
        let Some(stretch) = &mut job.now else { return };
        ctx.progress.awaited -= u32::from(std::mem::take(&mut stretch.ends));
        let goes_on = stretch.stopped.is_none();
        let takes = stretch.plan.takes().filter(|_| goes_on);
        let ends = takes.and_then(|takes| stretch.since.0.checked_add(takes));
        if let Some(ends) = ends {
            stretch.ends = true;
            let done = Event::WorkDone { jobset, generation };
            let left = Time(ends).since(ctx.now);
            ctx.after(left, Waited::Running, About::JobSet(jobset), done);
            ctx.progress.awaited += 1;
        }
    }

    /// Ends the current segment; with `loses`, unsaved progress is undone. Returns the progress reached.
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
        let spent = stretch.plan.at(stretch.elapsed(ctx.now));
        let hang = stretch.stopped.map_or(0, |since| ctx.now.since(since).0);
        let again = job.reached.saturating_sub(stretch.from).min(spent.done);
        let again = stretch.plan.stepped(again).min(spent.stepping);
        let reached = stretch.from + spent.done;
        job.reached = job.reached.max(reached);
        let team = &stretch.team;
        let end = End {
            loses,
            again,
            hang,
            reinitialized: team.reinitializes,
            unused: team.unused(),
        };
        let booked = job.books.ends(ctx.now, &spent, &end);
        let whose = (job.jobset, stretch.gang);
        accounting.ledger.book(ctx.now, whose, &booked.elsewhere);
        let live = match team.goes_on && !loses {
            true => reached,
            false => 0,
        };
        let done = Done {
            gang: stretch.gang,
            held: (booked.productive_held, booked.productive.max(1)),
        };
        let done = (booked.productive, done);
        job.kept.add_live((stretch.from, live), &spent.saved, done);
        let members = &team.members;
        self.set_runs(ctx, at, (members, false), accounting);
        Some(reached)
    }

    /// Undoes productive work and returns who did it and how long it took.
    fn take_back(
        &mut self,
        ctx: &Ctx<'_>,
        at: usize,
        lost: Vec<(Done, u64)>,
        accounting: &mut Accounting,
    ) {
        let job = &mut self.jobs[at];
        for (done, ns) in lost {
            job.books.take_back(ns);
            let whose = (job.jobset, done.gang);
            let (held, of) = done.held;
            let held = u128::from(ns) * u128::from(held) / u128::from(of);
            let lost = [(LedgerCategory::Lost, held as u64)];
            accounting.ledger.book(ctx.now, whose, &lost);
        }
    }

    fn interrupt(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        if let Some(reached) = self.end_stretch(ctx, at, true, accounting) {
            let lost = self.jobs[at].kept.forget_live();
            self.take_back(ctx, at, lost, accounting);
            self.tell_interrupted(ctx, at, reached);
        }
    }

    fn tell_interrupted(&self, ctx: &mut Ctx<'_>, at: usize, reached: u64) {
        let job = &self.jobs[at];
        ctx.emit(Body::TrainingInterrupted {
            jobset: job.jobset,
            reached: Duration(reached),
            kept: Duration(job.kept.newest().0),
        });
    }

    /// The work is complete: the processes exit.
    fn finish(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let jobset = self.jobs[at].jobset;
        self.end_stretch(ctx, at, false, accounting);
        self.jobs[at].done = Some(ctx.now);
        self.jobs[at].books.done();
        let work = Duration(self.jobs[at].kept.durable());
        ctx.emit(Body::TrainingDone { jobset, work });
        apiserver::note_work_done(ctx, jobset);
    }

    /// The end of the run: the current segment is neither saved nor lost.
    pub fn close(
        &mut self,
        ctx: &mut Ctx<'_>,
        accounting: &mut Accounting,
    ) -> Vec<TrainingOutcome> {
        let mut all = Vec::new();
        for at in 0..self.jobs.len() {
            let reached = self.end_stretch(ctx, at, false, accounting);
            let job = &self.jobs[at];
            let kept = Duration(job.kept.durable());
            let newest = Duration(job.kept.newest().0);
            let reached = reached.map_or(newest, Duration);
            let spec = &ctx.scenario.training[at];
            all.push(
                job.books
                    .outcome(ctx.now, spec, (job.jobset, reached, kept)),
            );
        }
        all
    }
}
