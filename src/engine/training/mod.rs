//! Training jobs in JobSets: they make steps while all pods are ready, and an interruption undoes all steps since the
//! last checkpoint.
//!
//! No component of the cluster observes steps. A segment of steps is evaluated when it ends, by
//! `sim_reliability::training`: there is no event per step, only one when the work is complete. Must never change an
//! object; the kubelet stops the containers.

mod communication;
mod interruptions;
mod processes;
mod silent;
mod slices;

use super::accounting::{ReadyPodGroup, TimeAccounting};
use super::apiserver;
use super::ctx::EngineContext;
use super::event::SimulationEvent;
use crate::record::{Body, StepOutcome, TicketSubject, TicketWait, TrainingOutcome};
use crate::store::{ChangeKind, JobSetChange, NodeChange, ObjectStore, PodChange, flag};
use processes::TrainingPod;
use silent::FaultyProcess;
use sim_api::spec::{LossSpec, TrainingJob};
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime};
use sim_reliability::training::{
    CompletedWork, PlacedJob, RunningSegment, SilentCorruption, SliceGroup, Trainer, TrainingFabric, TrainingHosts,
    UNIT_FACTOR,
};
use slices::TrainingSlices;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct TrainingState {
    jobs: Vec<TrainingJobState>,
    pods: Vec<TrainingPod>,
    /// Slowdown factors of slow machines, in billionths of the normal step time.
    slowdowns: BTreeMap<NodeId, u64>,
    fabric: TrainingFabric,
    /// Labels of nodes have changed since the islands of `fabric` were found.
    has_new_labels: bool,
}

#[derive(Clone)]
struct TrainingJobState {
    jobset: JobSetId,
    /// Number of pods whose processes have ended, which the API server may not know yet.
    down: u32,
    /// Number of pods whose processes hang.
    hung: u32,
    /// The corrupt state of the job, if any, and the number of corruptions so far.
    corruption: Option<SilentCorruption<FaultyProcess>>,
    corruptions: u32,
    trainer: Trainer<CompletedWork<ReadyPodGroup>>,
    /// Only for jobs with checkpoints that are lost with a host.
    hosts: Option<TrainingHosts>,
    /// Identifies the valid end event.
    generation: u32,
    segment: Option<TrainingSegment>,
    /// Last time at which all pods were ready.
    last_ready: Option<SimTime>,
    completed_at: Option<SimTime>,
    /// Changes of the step time of a job that communicates.
    steps: Vec<StepOutcome>,
    /// Only for an elastic job.
    slices: Option<TrainingSlices>,
}

#[derive(Clone)]
struct TrainingSegment {
    run: RunningSegment,
    /// The pods that take part; a change of them starts another segment.
    participants: ReadyPodGroup,
    end_scheduled: bool,
    /// Slowdown factor of its slowest machine.
    slowdown: u64,
    /// Nodes with announced maintenance.
    cordoned_nodes: Vec<NodeId>,
    /// Only for an elastic job.
    slice_group: SliceGroup,
    /// Only for a job that communicates.
    placed: PlacedJob,
}

impl TrainingState {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.pods.clear();
        self.slowdowns.clear();
        let scenario = ctx.scenario;
        self.fabric = TrainingFabric::new(&scenario.topology, &ctx.store.nodes.cluster, &scenario.training);
        self.has_new_labels = false;
        let job = |t: &TrainingJob| TrainingJobState {
            jobset: JobSetId(t.jobset as u32),
            down: 0,
            hung: 0,
            corruption: None,
            corruptions: 0,
            trainer: Trainer::new(t),
            hosts: (t.checkpoints().iter()).any(|kind| kind.survives < LossSpec::All).then(TrainingHosts::default),
            generation: 0,
            segment: None,
            last_ready: None,
            completed_at: None,
            steps: Vec::new(),
            slices: t.elastic.is_some().then(TrainingSlices::default),
        };
        self.jobs = ctx.scenario.training.iter().map(job).collect();
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent, accounting: &mut TimeAccounting) {
        match event {
            SimulationEvent::WorkDone { jobset, generation } => {
                if let Some(at) = self.job_index(jobset).filter(|_| !self.is_interrupted(jobset, generation)) {
                    self.finish_segment(ctx, at, accounting);
                }
            }
            SimulationEvent::RendezvousTimedOut { pod, nth } => self.rendezvous_timed_out(ctx, pod, nth),
            SimulationEvent::HangDetected { pod, nth, exit_code } => self.hang_detected(ctx, pod, (nth, exit_code)),
            SimulationEvent::LastCallExpired { jobset, nth } => {
                self.last_call_expired(ctx, (jobset, nth), accounting);
            }
            SimulationEvent::CorruptionDetected { jobset, nth } => {
                self.corruption_detected(ctx, (jobset, nth), accounting)
            }
            other => unreachable!("not an event of training: {other:?}"),
        }
    }

    /// Returns true if any JobSet has a training job.
    #[inline]
    pub fn has_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Called after the accounting, which knows whether a JobSet is ready.
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind, accounting: &mut TimeAccounting) {
        let jobset = match what {
            ChangeKind::Pod(pod, change) => {
                // The Job may replace a pod that is deleted before it has ended: the training does not wait for it.
                let ends = [PodChange::Created, PodChange::Finished, PodChange::Gone, PodChange::Deleting];
                if ends.contains(&change) {
                    self.set_down(ctx, pod, change == PodChange::Finished && self.is_missed(ctx, pod));
                    self.end_process(ctx, pod);
                }
                ctx.store.jobset_of(pod)
            }
            ChangeKind::Process { pod, .. } if ctx.store.pods.has(pod, flag::DELETING) => ctx.store.jobset_of(pod),
            ChangeKind::Process { pod, up } => {
                self.set_down(ctx, pod, !up);
                if up {
                    self.start_process(ctx, pod)
                } else {
                    self.end_process(ctx, pod)
                }
                ctx.store.jobset_of(pod)
            }
            ChangeKind::Job(job, _) => ctx.store.jobs[job.ix()].jobset,
            ChangeKind::JobSet(jobset, change) => {
                self.jobset_changed(ctx, jobset, change);
                jobset
            }
            ChangeKind::Node(node, change) => {
                self.has_new_labels |= matches!(change, NodeChange::Spec | NodeChange::Created);
                let is_wiped =
                    matches!(change, NodeChange::Machine { dead: true } | NodeChange::Created | NodeChange::Gone);
                for at in 0..self.jobs.len() {
                    if let Some(hosts) = self.jobs[at].hosts.as_mut().filter(|_| is_wiped) {
                        hosts.lose(node);
                    }
                    self.handle_cordon(ctx, at, node);
                    self.update_job(ctx, at, accounting);
                }
                return;
            }
            ChangeKind::Service(_)
            | ChangeKind::OwnedCreated(..)
            | ChangeKind::OwnedGone(_)
            | ChangeKind::Claim { .. }
            | ChangeKind::Storage
            | ChangeKind::PodGroup
            | ChangeKind::Namespace
            | ChangeKind::Workload(_)
            | ChangeKind::ContainersStopped(_) => return,
            ChangeKind::WorkDone(_) | ChangeKind::ProcessExit(..) => return,
            ChangeKind::SilentFault { fault, node, pod } => {
                return self.apply_silent_fault(ctx, (fault, node, pod));
            }
        };
        if let Some(at) = self.job_index(jobset) {
            self.update_job(ctx, at, accounting);
        }
    }

    /// Returns true if an event is stale: the segment was interrupted, or the process was replaced.
    #[inline]
    pub fn is_stale(&self, store: &ObjectStore, event: SimulationEvent) -> bool {
        match event {
            SimulationEvent::WorkDone { jobset, generation } => self.is_interrupted(jobset, generation),
            SimulationEvent::RendezvousTimedOut { pod, nth } => self.has_connected(store, pod, nth),
            SimulationEvent::HangDetected { pod, nth, .. } => !self.is_hung(store, pod, nth),
            SimulationEvent::CorruptionDetected { jobset, nth } => !self.is_current_corruption(jobset, nth),
            SimulationEvent::LastCallExpired { jobset, nth } => !self.is_current_last_call(jobset, nth),
            _ => false,
        }
    }

    fn is_interrupted(&self, jobset: JobSetId, generation: u32) -> bool {
        let job = self.job_index(jobset).map(|at| &self.jobs[at]);
        job.is_none_or(|job| job.generation != generation)
    }

    fn job_index(&self, jobset: JobSetId) -> Option<usize> {
        self.jobs.iter().position(|job| job.jobset == jobset)
    }

    fn jobset_changed(&mut self, ctx: &EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
        let Some(at) = self.job_index(jobset) else {
            return;
        };
        let books = &mut self.jobs[at].trainer.ledger;
        let ended = ctx.store.jobsets[jobset.ix()].status.terminal_state.is_some();
        match change {
            JobSetChange::Created => {
                books.record_submission(ctx.now);
                books.set_suspended(ctx.now, ctx.store.jobsets[jobset.ix()].suspended());
            }
            JobSetChange::Spec => {
                books.set_suspended(ctx.now, ctx.store.jobsets[jobset.ix()].suspended());
            }
            JobSetChange::Gone => books.record_end(ctx.now),
            JobSetChange::Status if ended => books.record_end(ctx.now),
            _ => {}
        }
    }

    /// Starts or ends a segment after a change that may affect the job.
    fn update_job(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let job = &mut self.jobs[at];
        job.trainer.ledger.set_holds_all(ctx.now, accounting.holds_all(job.jobset));
        if job.slices.is_some() {
            return self.update_elastic_job(ctx, at, accounting);
        }
        let pods = accounting.ready_pod_group(job.jobset).filter(|_| job.down == 0);
        if job.segment.as_ref().map(|s| s.participants) == pods {
            return;
        }
        if job.segment.is_some() {
            self.interrupt(ctx, at, accounting);
        }
        let just_done = self.jobs[at].completed_at == Some(ctx.now);
        if let Some(pods) = pods.filter(|_| !just_done) {
            self.begin_segment(ctx, at, (pods, SliceGroup::default()), accounting);
        }
    }

    /// One of its machines was cordoned, for example before maintenance: the job saves after the current step.
    fn handle_cordon(&mut self, ctx: &mut EngineContext<'_>, at: usize, node: NodeId) {
        let spec = &ctx.scenario.training[at];
        let announced = spec.save_at_notice && ctx.store.nodes.rows[node.ix()].cordoned;
        let own = |pod: &PodId| self.participates(ctx, at, *pod);
        if !announced || !ctx.store.nodes.pods[node.ix()].iter().any(own) {
            return;
        }
        let job = &mut self.jobs[at];
        let Some(current) = job.segment.as_mut().filter(|s| !s.cordoned_nodes.contains(&node)) else {
            return;
        };
        current.cordoned_nodes.push(node);
        current.run.save_after_step(ctx.now, spec);
        self.reschedule_end(ctx, at);
    }

    fn begin_segment(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, (pods, team): (ReadyPodGroup, SliceGroup),
        accounting: &mut TimeAccounting,
    ) {
        let job = &mut self.jobs[at];
        if let Some(hosts) = &mut job.hosts {
            let loss = hosts.move_to(current_hosts(ctx.store, job.jobset));
            let lost = job.trainer.saved_progress.apply_host_loss(loss, &ctx.scenario.training[at]);
            self.undo_work(ctx, at, lost, accounting);
        }
        self.clear_past_corruption(at);
        let job = &self.jobs[at];
        let (key, _) = ctx.stream_key(TicketSubject::JobSet(job.jobset));
        let spec = &ctx.scenario.training[at];
        let start = team.plan_start(job.trainer.next_start());
        let job = &mut self.jobs[at];
        job.last_ready = Some(ctx.now);
        let run = job.trainer.begin(ctx.now, spec, &start, (key, &mut ctx.draws));
        job.segment = Some(TrainingSegment {
            run,
            participants: pods,
            end_scheduled: false,
            slowdown: UNIT_FACTOR,
            cordoned_nodes: Vec::new(),
            slice_group: team,
            placed: PlacedJob::default(),
        });
        if let Some(current) = &self.jobs[at].segment {
            let members = current.slice_group.members();
            self.set_productive(ctx, at, (members, true), accounting);
        }
        self.emit_started(ctx, at, Duration(start.start_progress));
        self.place_job(ctx, at);
        self.reschedule_end(ctx, at);
        self.update_pace(ctx, at);
        self.stop_if_hung(ctx, at);
    }

    /// Reschedules the completion of the work, or removes it.
    fn reschedule_end(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        let job = &mut self.jobs[at];
        job.generation += 1;
        let (jobset, generation) = (job.jobset, job.generation);
        let Some(current) = &mut job.segment else {
            return;
        };
        ctx.progress.awaited -= u32::from(std::mem::take(&mut current.end_scheduled));
        if let Some(ends) = current.run.ends_at() {
            current.end_scheduled = true;
            let done = SimulationEvent::WorkDone { jobset, generation };
            let left = ends.since(ctx.now);
            ctx.schedule_after(left, TicketWait::Running, TicketSubject::JobSet(jobset), done);
            ctx.progress.awaited += 1;
        }
    }

    /// Ends the current segment; with `loses`, unsaved progress is undone. Returns the progress reached.
    fn end_segment(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, loses: bool, accounting: &mut TimeAccounting,
    ) -> Option<u64> {
        let job = &mut self.jobs[at];
        let current = job.segment.take()?;
        ctx.progress.awaited -= u32::from(current.end_scheduled);
        job.generation += 1;
        let team = &current.slice_group;
        let ended = job.trainer.end(ctx.now, &current.run, &team.segment_end(loses));
        let booked = &ended.booked;
        let whose = (job.jobset, current.participants.held());
        accounting.ledger.reclassify(ctx.now, whose, &booked.other_categories);
        let live = team.live_progress(ended.reached, loses);
        let done = (booked.productive, CompletedWork::new(current.participants, booked));
        job.trainer.saved_progress.add_live((current.run.start_progress, live), &ended.saved, done);
        self.set_productive(ctx, at, (team.members(), false), accounting);
        self.release_links(ctx, at);
        Some(ended.reached)
    }

    /// The work is complete: the processes exit.
    fn finish(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let jobset = self.jobs[at].jobset;
        self.end_segment(ctx, at, false, accounting);
        self.jobs[at].completed_at = Some(ctx.now);
        self.jobs[at].trainer.ledger.mark_done();
        let work = Duration(self.jobs[at].trainer.saved_progress.durable());
        ctx.emit(Body::TrainingDone { jobset, work });
        apiserver::note_work_done(ctx, jobset);
    }

    /// The end of the run: the current segment is neither saved nor lost.
    pub fn close(&mut self, ctx: &mut EngineContext<'_>, accounting: &mut TimeAccounting) -> Vec<TrainingOutcome> {
        let mut all = Vec::new();
        self.fabric.end_all();
        for at in 0..self.jobs.len() {
            let reached = self.end_segment(ctx, at, false, accounting);
            let job = &self.jobs[at];
            let outcome = job.trainer.outcome(ctx.now, &ctx.scenario.training[at], (job.jobset, reached));
            all.push(TrainingOutcome { steps: job.steps.clone(), ..outcome });
        }
        all
    }
}

/// The nodes of the ready pods of a JobSet, each with its slice: the child Job.
fn current_hosts(store: &ObjectStore, jobset: JobSetId) -> impl Iterator<Item = (NodeId, JobId)> {
    store.jobs_of(jobset).flat_map(move |slice| {
        let pods = store.jobs[slice.ix()].pods.iter();
        let ready = pods.filter(move |pod| store.pods.has(*pod, flag::READY));
        ready.map(move |pod| (store.pods.node[pod.ix()], slice))
    })
}
