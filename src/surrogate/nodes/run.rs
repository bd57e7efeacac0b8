//! The simulation of one replication: an event loop over nodes, pods, Jobs and JobSets.

use super::accounts::NodesAccounts;
use super::event::NodesEvent;
use super::health::NodeHealth;
use super::model::NodesModel;
use super::outcome::{JobSetResult, NodesOutcome, RecoveryEnd};
use super::places::NodePlaces;
use super::profile::{JobDelays, RestartDelays, RunDelays};
use super::queue::NodesQueue;
use super::rows::{Interruption, JobRow, JobSetRow, PodRow};
use super::trainer::{FaultyProcess, NodesTrainer, SegmentOver, SegmentStart};
use sim_api::spec::StopWhen;
use sim_base::random::{DrawSequence, MixtureDistribution, StreamPurpose, UniformDraw};
use sim_base::{Duration, JobId, NodeId, SimTime};
use sim_engine::record::{EndReason, LedgerCategory};
use sim_policy::{ActionPlan, JobSetStatus};
use sim_reliability::faults::SPARE;
use sim_reliability::training::{SliceGroup, TrainingFabric};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Simulates replications one after another, reusing memory.
pub struct NodesSimulator<'m> {
    model: &'m NodesModel,
    draws: DrawSequence,
}

/// State of one replication.
pub(super) struct Replication<'m, 'd> {
    pub model: &'m NodesModel,
    pub draws: &'d mut DrawSequence,
    pub now: SimTime,
    /// The fault that is the cause of what happens now.
    pub cause: (u32, SimTime),
    pub places: NodePlaces<'m>,
    pub health: NodeHealth<'m>,
    pub accounts: NodesAccounts<'m>,
    pub pods: Vec<PodRow>,
    /// Pods on each node.
    pub on_node: Vec<Vec<usize>>,
    /// Pods on each node that terminate and have a replacement, each by its Job and whether it is a leader.
    pub replaced_on: Vec<Vec<(usize, bool)>>,
    pub jobs: Vec<JobRow>,
    pub jobsets: Vec<JobSetRow<'m>>,
    pub plan: ActionPlan,
    pub waits: u64,
    /// The Jobs with pods that wait for nodes, since when.
    pub waiting: BTreeSet<(u64, usize)>,
    /// Nodes may have become free for pods that wait.
    pub has_free_nodes: bool,
    pub fabric: TrainingFabric,
    /// Slowdown factors of machines that were slow, in billionths of the normal step time.
    pub slowdowns: BTreeMap<NodeId, u64>,
    /// Whether all pods of all JobSets have been ready.
    pub was_ready: bool,
    /// Nodes that scripted faults have named.
    pub aliases: BTreeMap<&'m str, NodeId>,
    /// Scripted faults without an effect.
    pub warnings: Vec<String>,
    /// JobSets with elastic jobs whose ready Jobs may have changed.
    pub unsettled: BTreeSet<usize>,
    /// Machines that fail now.
    pub lost_hosts: Vec<NodeId>,
    queue: NodesQueue<NodesEvent>,
}

impl<'m> NodesSimulator<'m> {
    /// Creates a simulator of a prepared scenario.
    pub fn new(model: &'m NodesModel) -> NodesSimulator<'m> {
        NodesSimulator { model, draws: DrawSequence::new(0, 0) }
    }

    /// Runs the replication with this seed and number. Returns `None` if `stops` returns true; it is called before each
    /// fault with the number of faults so far.
    pub fn run_until(
        &mut self, seed: u64, numbers: MixtureDistribution, stops: &dyn Fn(u64) -> bool,
    ) -> Option<NodesOutcome> {
        self.draws.reset_to(seed, numbers);
        let model = self.model;
        let (faults, repairs_later) = model.faults.draw(&mut self.draws);
        let faults = model.faults.expand_cells(&faults);
        let mut run = Replication::new(model, &mut self.draws);
        let limit = SimTime::ZERO + model.scenario.stop.at;
        for (nth, fault) in (0..).zip(&faults) {
            let at = SimTime::ZERO + fault.at;
            if stops(nth) {
                return None;
            }
            if at > limit {
                break;
            }
            if !run.advance(at) {
                return Some(run.close(repairs_later));
            }
            run.now = at;
            run.cause = (fault.cause, at);
            run.apply_fault(fault);
            run.settle();
        }
        run.advance(limit);
        Some(run.close(repairs_later))
    }
}

impl<'m, 'd> Replication<'m, 'd> {
    fn new(model: &'m NodesModel, draws: &'d mut DrawSequence) -> Replication<'m, 'd> {
        let mut run = Replication {
            health: NodeHealth::new(model, draws),
            draws,
            now: SimTime::ZERO,
            cause: (SPARE, SimTime::ZERO),
            places: NodePlaces::new(model),
            accounts: NodesAccounts::new(model),
            pods: vec![PodRow::new(); model.job_of_pod.len()],
            on_node: vec![Vec::new(); model.cluster.len()],
            replaced_on: vec![Vec::new(); model.cluster.len()],
            jobs: vec![JobRow::new(); model.jobs.len()],
            jobsets: Vec::new(),
            plan: ActionPlan::default(),
            waits: 0,
            waiting: BTreeSet::new(),
            has_free_nodes: false,
            fabric: model.fabric.clone(),
            slowdowns: BTreeMap::new(),
            was_ready: false,
            aliases: BTreeMap::new(),
            warnings: Vec::new(),
            unsettled: BTreeSet::new(),
            lost_hosts: Vec::new(),
            queue: NodesQueue::new(),
            model,
        };
        for (at, jobset) in model.jobsets.iter().enumerate() {
            run.jobsets.push(JobSetRow {
                status: JobSetStatus::default(),
                submitted: false,
                ended: None,
                epoch: 0,
                delays: 0,
                order: Vec::new(),
                chosen: 0,
                single: None,
                has_started: false,
                is_ready: false,
                ready_since: SimTime::ZERO,
                absent: jobset.jobs.len() as u32,
                deleting: 0,
                attempts: 0,
                barrier_from: None,
                counted: Vec::new(),
                trainer: NodesTrainer::new(&jobset.training, jobset.key),
                interruption: None,
                recoveries: Vec::new(),
                waits_to_complete: false,
            });
            run.schedule(SimTime::ZERO + jobset.submit_at, NodesEvent::Submitted { jobset: at });
        }
        run.schedule_script();
        run
    }

    pub fn schedule(&mut self, at: SimTime, event: NodesEvent) {
        self.queue.schedule(at, event);
    }

    pub fn schedule_after(&mut self, delay: Duration, event: NodesEvent) {
        self.schedule(self.now + delay, event);
    }

    /// Handles all events before `until`. Returns false if the run has ended.
    fn advance(&mut self, until: SimTime) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let next = self.queue.next_before(until);
            // The scheduler acts after everything that happens at an instant: a node that returns may be cordoned at
            // once.
            let then = next.unwrap_or(until);
            if then > self.now && std::mem::take(&mut self.has_free_nodes) {
                self.place_waiting();
                continue;
            }
            let Some(event) = next.and_then(|_| self.queue.pop()) else { return true };
            self.now = then;
            self.handle(event);
            self.settle();
        }
    }

    fn is_over(&self) -> bool {
        self.model.scenario.stop.when != StopWhen::Time && self.jobsets.iter().all(|jobset| jobset.ended.is_some())
    }

    fn handle(&mut self, event: NodesEvent) {
        match event {
            _ if self.is_stale(event) => {}
            NodesEvent::Submitted { jobset } => self.submit(jobset),
            NodesEvent::NodeUnknown { node, .. } => self.node_unknown(node),
            NodesEvent::LimitersAdapted => self.adapt_limiters(),
            NodesEvent::TaintDue { zone } => self.taint_due(zone),
            NodesEvent::TaintsRemoved { node, .. } => self.taints_removed(node),
            NodesEvent::OrphansRemoved { node, .. } => self.remove_orphans(node),
            NodesEvent::TolerationExpired { pod, .. } => self.evict(pod),
            NodesEvent::SiblingsEnded { job, .. } => self.siblings_ended(job),
            NodesEvent::JobFailed { job, .. } => self.job_failed(job),
            NodesEvent::Reconciled { jobset } => self.reconcile(jobset),
            NodesEvent::JobReleased { job, .. } => self.release_job(job),
            NodesEvent::JobGone { job, .. } => self.job_gone_due(job),
            NodesEvent::JobPlaced { job, .. } => self.create_job(job),
            NodesEvent::ReplacementsPlaced { job, .. } => self.replace_pods(job),
            NodesEvent::PodsRun { job, .. } => self.pods_run(job),
            NodesEvent::PodTerminated { pod, .. } => self.end_disrupted(pod, self.now),
            NodesEvent::Ready { jobset, .. } => self.start_training(jobset),
            NodesEvent::LastCallExpired { jobset, .. } => self.last_call_expired(jobset),
            NodesEvent::JobCompleted { job, .. } => self.complete_job(job),
            NodesEvent::WorkDone { jobset, .. } => self.work_done(jobset),
            NodesEvent::LimitExceeded { jobset } => self.fail_jobset(jobset),
            NodesEvent::Completed { jobset } => self.complete(jobset),
            NodesEvent::HangDetected { pod, exit_code, .. } => self.hang_detected(pod, exit_code),
            NodesEvent::CorruptionDetected { jobset, .. } => self.corruption_detected(jobset),
            NodesEvent::ContainerRestarted { pod, .. } => self.container_restarted(pod),
            NodesEvent::RestartsCounted { job, .. } => self.count_restarts(job),
            NodesEvent::Scripted { nth } => self.apply_scripted(nth),
        }
    }

    /// Returns whether what an event is about has changed since the event was scheduled.
    fn is_stale(&self, event: NodesEvent) -> bool {
        use NodesEvent as E;
        let (known, current) = match event {
            E::Submitted { .. } | E::Reconciled { .. } | E::LimitExceeded { .. } | E::Completed { .. } => return false,
            E::LimitersAdapted | E::TaintDue { .. } | E::Scripted { .. } => return false,
            E::NodeUnknown { node, epoch } | E::TaintsRemoved { node, epoch } => {
                (epoch, self.health.rows[node.ix()].epoch)
            }
            E::OrphansRemoved { node, epoch } => (epoch, self.health.rows[node.ix()].object_epoch),
            E::CorruptionDetected { jobset, nth } => {
                let row = &self.jobsets[jobset];
                return row.ended.is_some() || row.trainer.current_corruption() != Some(nth);
            }
            E::LastCallExpired { jobset, nth } => {
                let row = &self.jobsets[jobset];
                return row.ended.is_some() || !row.trainer.last_call.is_current(nth);
            }
            E::TolerationExpired { pod, epoch }
            | E::PodTerminated { pod, epoch }
            | E::HangDetected { pod, epoch, .. }
            | E::ContainerRestarted { pod, epoch } => (epoch, self.pods[pod].epoch),
            E::SiblingsEnded { job, epoch }
            | E::JobFailed { job, epoch }
            | E::JobReleased { job, epoch }
            | E::JobGone { job, epoch }
            | E::JobPlaced { job, epoch }
            | E::ReplacementsPlaced { job, epoch }
            | E::PodsRun { job, epoch }
            | E::JobCompleted { job, epoch }
            | E::RestartsCounted { job, epoch } => (epoch, self.jobs[job].epoch),
            E::Ready { jobset, epoch } | E::WorkDone { jobset, epoch } => (epoch, self.jobsets[jobset].epoch),
        };
        known != current
    }

    /// The JobSet is stored: a measured start determines when its pods are bound.
    fn submit(&mut self, jobset: usize) {
        let profile = std::sync::Arc::clone(&self.model.jobsets[jobset].profile);
        let chosen = self.choose_delays(jobset, profile.starts.len());
        let row = &mut self.jobsets[jobset];
        row.submitted = true;
        row.delays = chosen;
        row.trainer.job.ledger.record_submission(self.now);
        self.draw_order(jobset, None);
        for job in self.jobs_of(jobset) {
            self.jobs[job].is_awaited = true;
            let (epoch, after) = (self.jobs[job].epoch, self.placement(job).first);
            self.schedule_after(after, NodesEvent::JobPlaced { job, epoch });
        }
    }

    /// Chooses one of `of` measured restarts or starts.
    pub fn choose_delays(&mut self, jobset: usize, of: usize) -> usize {
        let row = &mut self.jobsets[jobset];
        let draw = UniformDraw {
            purpose: StreamPurpose::MeasuredDelay,
            entity: self.model.jobsets[jobset].key,
            occurrence: row.chosen,
            substream: 0,
        };
        row.chosen += 1;
        self.draws.below(draw, of.max(1) as u32) as usize
    }

    /// Delays of the current restart of a JobSet; before the first one, those of any measured restart.
    pub fn restart_delays(&self, jobset: usize) -> &'m RestartDelays {
        let (profile, row) = (&self.model.jobsets[jobset].profile, &self.jobsets[jobset]);
        row.single
            .map_or_else(|| &profile.restarts[row.delays % profile.restarts.len()], |nth| &profile.single_jobs[nth])
    }

    /// Delays of a Job in the current restart of its JobSet, or of this Job alone.
    pub fn job_delays(&self, job: usize) -> JobDelays {
        let of = self.model.jobs[job].jobset;
        let (profile, row) = (&self.model.jobsets[of].profile, &self.jobsets[of]);
        let nth = self.position_of(job);
        match self.jobs[job].single {
            Some(single) => profile.single_jobs[single].jobs[nth],
            None => profile.restarts[row.delays % profile.restarts.len()].jobs[nth],
        }
    }

    /// Delays from the binding of the last pod until all pods run and are ready.
    pub fn run_delays(&self, jobset: usize) -> RunDelays {
        let profile = &self.model.jobsets[jobset].profile;
        if self.jobsets[jobset].has_started {
            self.restart_delays(jobset).pods
        } else {
            profile.starts[self.jobsets[jobset].delays % profile.starts.len()].pods
        }
    }

    pub fn jobs_of(&self, jobset: usize) -> Range<usize> {
        self.model.jobsets[jobset].jobs.clone()
    }

    /// All pods are ready.
    fn start_training(&mut self, jobset: usize) {
        if !self.is_complete(jobset) {
            return;
        }
        self.note_readiness(jobset);
        self.jobsets[jobset].trainer.job.ledger.set_holds_all(self.now, true);
        self.begin_segment(jobset, SliceGroup::default());
    }

    /// All pods are ready: an interruption is over.
    pub fn note_readiness(&mut self, jobset: usize) {
        let row = &mut self.jobsets[jobset];
        (row.has_started, row.ready_since, row.barrier_from) = (true, self.now, None);
        if let Some(ended) = row.interruption.take() {
            let ending = if ended.has_losses { RecoveryEnd::Ready } else { RecoveryEnd::Interruption };
            row.recoveries.push(ended.recovery(self.now, ending));
        }
    }

    /// The Jobs that take part in a segment: those of the group, or all Jobs of a JobSet without slices.
    pub fn members_of(&self, jobset: usize, group: &SliceGroup) -> Vec<usize> {
        if self.is_elastic(jobset) {
            group.members().iter().map(|job| job.ix()).collect()
        } else {
            self.jobs_of(jobset).collect()
        }
    }

    /// All pods that take part are ready.
    pub fn begin_segment(&mut self, jobset: usize, group: SliceGroup) {
        let members = self.members_of(jobset, &group);
        for job in &members {
            self.accounts.set_category(self.now, *job, LedgerCategory::Productive);
        }
        let held = self.accounts.held_by(&members);
        let needs_hosts = self.jobsets[jobset].trainer.needs_hosts();
        let jobs = self.jobs_of(jobset).filter(|_| needs_hosts);
        let of = |job: usize| if self.is_elastic(jobset) { self.ready_nodes(job) } else { self.nodes_of(job) };
        let nodes: Vec<(NodeId, JobId)> =
            jobs.flat_map(|job| of(job).into_iter().map(move |node| (node, JobId(job as u32)))).collect();
        let (pods, row) = (&self.pods, &mut self.jobsets[jobset]);
        let at_work = |process: FaultyProcess| pods[process.pod].has(process);
        let undone = row.trainer.begin(self.now, SegmentStart { held, group, nodes }, at_work, self.draws);
        self.accounts.mark_lost(self.now, jobset, undone);
        let is_hung = |job: &usize| self.jobs[*job].apart.iter().any(|pod| self.pods[*pod].hang.is_some());
        if members.iter().any(is_hung) {
            self.jobsets[jobset].trainer.hang(self.now);
        }
        self.place_on_links(jobset);
        self.update_pace(jobset);
        self.schedule_end_of_work(jobset);
        self.schedule_after_ready();
    }

    /// Schedules the completion of the work, or removes it.
    pub fn schedule_end_of_work(&mut self, jobset: usize) {
        let row = &mut self.jobsets[jobset];
        row.epoch += 1;
        let epoch = row.epoch;
        if let Some(at) = row.trainer.ends_at() {
            // A segment that ends at once to add slices omits a checkpoint that has begun.
            self.schedule(at.max(self.now), NodesEvent::WorkDone { jobset, epoch });
        }
    }

    pub fn book(&mut self, jobset: usize, over: Option<SegmentOver>) {
        let Some(over) = over else { return };
        self.accounts.book(self.now, jobset, over.held, &over.booked);
        self.accounts.mark_lost(self.now, jobset, over.undone);
    }

    /// Some pod of each Job of the JobSet is no longer ready.
    pub fn interrupt(&mut self, jobset: usize) {
        let is_elastic = self.is_elastic(jobset);
        let was_ready = if is_elastic {
            self.unsettled.insert(jobset);
            std::mem::take(&mut self.jobsets[jobset].is_ready)
        } else {
            self.jobsets[jobset].trainer.is_running()
        };
        if was_ready {
            self.note_interruption(jobset);
        }
        self.jobsets[jobset].epoch += 1;
        if self.jobsets[jobset].trainer.is_running() {
            self.interrupt_segment(jobset);
        }
    }

    /// Not all pods of the JobSet are ready any more.
    pub fn note_interruption(&mut self, jobset: usize) {
        let row = &mut self.jobsets[jobset];
        let (cause, fault_at) = self.cause;
        // A fault before all pods were ready has its effect in the attempt that began then.
        let fault_at = fault_at.max(row.ready_since);
        let stopped = self.now;
        let new = Interruption { cause, fault_at, stopped, has_losses: false, is_ordered: false };
        row.interruption.get_or_insert(new);
    }

    /// The current segment of the training job is interrupted.
    pub fn interrupt_segment(&mut self, jobset: usize) {
        let members = self.jobsets[jobset].trainer.group().map(|group| self.members_of(jobset, group));
        let row = &mut self.jobsets[jobset];
        row.epoch += 1;
        let over = row.trainer.interrupt(self.now);
        row.trainer.job.ledger.set_holds_all(self.now, false);
        self.book(jobset, over);
        self.release_links(jobset);
        for job in members.unwrap_or_default() {
            self.accounts.set_category(self.now, job, LedgerCategory::Waiting);
        }
    }

    /// Pods of a Job end, or their containers restart.
    pub fn lose_pods_of(&mut self, job: usize) {
        self.interrupt_job(job);
        self.note_losses(self.model.jobs[job].jobset);
    }

    /// Pods of all Jobs of the JobSet end, or their containers restart.
    pub fn lose_pods(&mut self, jobset: usize) {
        self.interrupt(jobset);
        self.note_losses(jobset);
    }

    fn note_losses(&mut self, jobset: usize) {
        if let Some(open) = &mut self.jobsets[jobset].interruption {
            open.has_losses = true;
        }
    }

    /// A restart of the JobSet, or of one of its Jobs, is counted.
    pub fn order_restart(&mut self, jobset: usize, job: Option<usize>) {
        match job {
            Some(job) => self.lose_pods_of(job),
            None => self.lose_pods(jobset),
        }
        if let Some(open) = &mut self.jobsets[jobset].interruption {
            open.is_ordered = true;
        }
    }

    fn work_done(&mut self, jobset: usize) {
        let group = self.jobsets[jobset].trainer.group();
        if group.is_some_and(SliceGroup::ends_to_grow) {
            return self.add_slices(jobset);
        }
        let members = group.map(|group| self.members_of(jobset, group)).unwrap_or_default();
        let over = self.jobsets[jobset].trainer.finish(self.now);
        self.book(jobset, over);
        self.release_links(jobset);
        let is_elastic = self.is_elastic(jobset);
        let category = if is_elastic { LedgerCategory::Waiting } else { LedgerCategory::Terminating };
        for job in members {
            self.accounts.set_category(self.now, job, category);
        }
        if is_elastic {
            self.unsettled.insert(jobset);
            return;
        }
        let profile = &self.model.jobsets[jobset].profile;
        let ending = profile.endings[self.jobsets[jobset].delays % profile.endings.len()];
        self.schedule_after(ending, NodesEvent::Completed { jobset });
    }

    /// The JobSet is complete, unless a pod that was replaced still terminates on a lost machine (kubernetes.md 1.4).
    pub fn complete(&mut self, jobset: usize) {
        let waits_for_lost = self.model.scenario.control_plane.kubernetes.delays_terminal_condition();
        let has_lost = self.jobs_of(jobset).any(|job| self.jobs[job].replaced > 0);
        self.jobsets[jobset].waits_to_complete = waits_for_lost && has_lost;
        if self.jobsets[jobset].waits_to_complete {
            return;
        }
        self.end_jobset(jobset, "Completed");
        for job in self.jobs_of(jobset) {
            self.release_job(job);
        }
    }

    /// The JobSet gets a terminal condition.
    pub fn end_jobset(&mut self, jobset: usize, state: &'static str) {
        let row = &mut self.jobsets[jobset];
        row.ended = Some((self.now, state));
        row.epoch += 1;
        row.trainer.job.ledger.record_end(self.now);
        if let Some(open) = row.interruption.take() {
            let ending = if open.is_ordered { RecoveryEnd::JobSetEnded } else { RecoveryEnd::Fatal };
            row.recoveries.push(open.recovery(self.now, ending));
        }
    }

    /// Returns whether a JobSet trains. An elastic job without all slices must have an end of its work, as at level
    /// `pods`.
    fn makes_progress(&self, jobset: usize) -> bool {
        let row = &self.jobsets[jobset];
        let may_last = !self.is_elastic(jobset) || row.is_ready || row.trainer.ends_at().is_some();
        row.trainer.makes_progress() && may_last
    }

    fn close(mut self, repairs_later: bool) -> NodesOutcome {
        let limit = SimTime::ZERO + self.model.scenario.stop.at;
        let is_over = self.jobsets.iter().all(|jobset| jobset.ended.is_some());
        let ends = self.jobsets.iter().filter_map(|jobset| jobset.ended).map(|(at, _)| at);
        let may_continue = repairs_later
            || self.queue.from(limit).any(|event| !self.is_stale(event))
            || (0..self.jobsets.len()).any(|jobset| self.makes_progress(jobset))
            || self.jobsets.iter().all(|jobset| jobset.ended.is_some());
        let end_reason = match (is_over, may_continue) {
            (true, _) => EndReason::AllJobSetsFinished,
            (false, true) => EndReason::TimeLimit,
            (false, false) => EndReason::Stuck,
        };
        let end = match end_reason {
            EndReason::AllJobSetsFinished if self.is_over() => ends.max().unwrap_or(limit),
            // Nothing happens any more after the last event.
            EndReason::Stuck if self.model.scenario.stop.when != StopWhen::Time => self.now,
            _ => limit,
        };
        self.now = end;
        let mut results = Vec::new();
        for jobset in 0..self.jobsets.len() {
            let (training, over) = self.jobsets[jobset].trainer.close(end, jobset);
            self.book(jobset, over);
            let row = &mut self.jobsets[jobset];
            if let Some(open) = row.interruption.take() {
                row.recoveries.push(open.recovery(end, RecoveryEnd::Unfinished));
            }
            results.push(JobSetResult {
                terminal_state: row.ended.map_or("", |(_, state)| state),
                restarts: row.status.restarts,
                restarts_count_towards_max: row.status.restarts_count_towards_max,
                budget_used: row.status.budget_used().max(0) as u32 + row.attempts,
                counted: std::mem::take(&mut row.counted),
                job_restarts: row.status.replicated_jobs.iter().flat_map(|rj| &rj.job_restarts).sum(),
                training,
                recoveries: std::mem::take(&mut row.recoveries),
            });
        }
        NodesOutcome { end, end_reason, jobsets: results, ledger: self.accounts.close(end), warnings: self.warnings }
    }
}
