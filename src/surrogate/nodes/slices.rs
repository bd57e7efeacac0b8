//! Elastic jobs: which Jobs are ready, and what the training job does when that changes. `sim_reliability::training`
//! decides which slices take part, as at level `pods`.

use super::event::NodesEvent;
use super::run::Replication;
use sim_base::{Duration, JobId, NodeId, SimTime};
use sim_engine::record::LedgerCategory;
use sim_reliability::training::{AvailableSlices, SliceGroup, SliceRegrowth, SliceStart};

impl Replication<'_, '_> {
    pub fn is_elastic(&self, jobset: usize) -> bool {
        self.model.jobsets[jobset].training.elastic.is_some()
    }

    /// Returns whether a Job takes part in the current segment of its training job.
    pub fn takes_part(&self, job: usize) -> bool {
        let jobset = self.model.jobs[job].jobset;
        let group = self.jobsets[jobset].trainer.group();
        group.is_some_and(|group| !self.is_elastic(jobset) || group.has(JobId(job as u32)))
    }

    /// The ready Jobs of an elastic job may have changed.
    pub fn note_change(&mut self, jobset: usize) {
        if self.is_elastic(jobset) {
            self.unsettled.insert(jobset);
        }
    }

    /// Some pod of a Job is no longer ready. Without slices, that interrupts the training of all Jobs.
    pub fn interrupt_job(&mut self, job: usize) {
        let jobset = self.model.jobs[job].jobset;
        if !self.is_elastic(jobset) {
            return self.interrupt(jobset);
        }
        self.unsettled.insert(jobset);
        self.jobs[job].slice.is_exiting = false;
        if std::mem::take(&mut self.jobsets[jobset].is_ready) {
            self.note_interruption(jobset);
        }
        if self.takes_part(job) {
            self.interrupt_segment(jobset);
        }
    }

    /// Delay from the binding of the last pod of a Job until its pods are ready.
    pub fn ready_delay(&self, job: usize) -> Duration {
        let jobset = self.model.jobs[job].jobset;
        let row = &self.jobs[job];
        if !self.is_elastic(jobset) {
            self.run_delays(jobset).ready
        } else if row.single.is_some() || row.slice.has_run {
            self.job_delays(job).ready
        } else {
            self.placement(job).ready
        }
    }

    /// A pod that was bound to a machine without contact starts now.
    pub fn await_late_pod(&mut self, job: usize) {
        if self.is_elastic(self.model.jobs[job].jobset) {
            let (after, epoch) = (self.ready_delay(job), self.jobs[job].epoch);
            self.jobs[job].slice.await_pods(self.now, after);
            self.schedule_after(after, NodesEvent::PodsRun { job, epoch });
        }
    }

    /// Returns whether a pod with a state of its own has the condition Ready, if it has run for long enough. The
    /// control plane considers a pod ready until it notices that its machine is silent.
    fn has_ready_condition(&self, pod: usize) -> bool {
        let row = &self.pods[pod];
        let runs = row.exists && row.node.is_some() && !row.is_deleting && !row.is_restarting && !row.starts_late;
        let is_unnoticed = || {
            let (_, silent_since) = self.health.rows[row.node.ix()].silent_by;
            let job = &self.jobs[self.model.job_of_pod[pod] as usize];
            row.not_ready_at == SimTime::NEVER && job.slice.ready_at <= silent_since
        };
        runs && (!row.is_lost || is_unnoticed())
    }

    /// Returns whether a pod with a state of its own is ready on a usable machine, if it has run for long enough.
    fn is_pod_ready(&self, pod: usize) -> bool {
        self.has_ready_condition(pod) && !self.accounts.is_unhealthy(self.pods[pod].node)
    }

    /// Returns whether all pods of a Job are ready.
    fn is_job_ready(&self, job: usize) -> bool {
        let row = &self.jobs[job];
        let exists = row.exists && !row.is_deleting && row.failure.is_none() && !row.slice.is_done;
        let is_ready = row.unplaced == 0 && row.slice.ready_at <= self.now;
        exists && is_ready && row.apart.iter().all(|pod| self.is_pod_ready(*pod))
    }

    /// The nodes of the pods of a Job that have the condition Ready.
    pub fn ready_nodes(&self, job: usize) -> Vec<NodeId> {
        let row = &self.jobs[job];
        let is_late = row.slice.ready_at > self.now;
        let is_earlier = |bound_at: SimTime| !is_late || bound_at < row.slice.placed_at;
        let crowd = row.crowd.nodes.iter().filter(|_| is_earlier(row.crowd.bound_at));
        let is_ready = |pod: &&usize| self.has_ready_condition(**pod) && is_earlier(self.pods[**pod].bound_at);
        let apart = row.apart.iter().filter(is_ready).map(|pod| self.pods[*pod].node);
        let exited = row.slice.exited.filter(|(_, noticed_at)| *noticed_at > self.now).map(|(node, _)| node);
        crowd.chain(apart).chain(exited).collect()
    }

    fn available_slices(&self, jobset: usize) -> AvailableSlices {
        let slice_job = self.model.jobsets[jobset].training.elastic.as_ref().map(|elastic| elastic.slice_job);
        let mut all = AvailableSlices { others_ready: true, ..AvailableSlices::default() };
        let mut others = Vec::new();
        for job in self.jobs_of(jobset).filter(|job| !self.jobs[*job].slice.is_done) {
            let (is_ready, id) = (self.is_job_ready(job), JobId(job as u32));
            let is_slice = Some(self.model.jobs[job].rj) == slice_job;
            all.total += u32::from(is_slice);
            match (is_ready, is_slice) {
                (true, true) => all.jobs.push(id),
                (true, false) => others.push(id),
                (false, true) => {}
                (false, false) => all.others_ready = false,
            }
        }
        all.slices = all.jobs.len() as u32;
        all.jobs.append(&mut others);
        all
    }

    /// Lets elastic jobs continue with the slices that are ready now.
    pub fn settle(&mut self) {
        while let Some(jobset) = self.unsettled.pop_first() {
            if self.jobsets[jobset].ended.is_none() {
                self.update_slices(jobset);
            }
        }
        // The processes of a machine that fails end first: a job without a last call continues in between.
        for node in std::mem::take(&mut self.lost_hosts) {
            self.lose_host(node);
        }
    }

    fn update_slices(&mut self, jobset: usize) {
        let model = self.model;
        let Some(spec) = &model.jobsets[jobset].training.elastic else { return };
        let has_bound =
            |job: usize| self.jobs[job].slice.is_done || self.jobs[job].exists && self.jobs[job].unplaced == 0;
        let holds_all = self.jobs_of(jobset).all(has_bound);
        self.jobsets[jobset].trainer.job.ledger.set_holds_all(self.now, holds_all);
        let are_ready = |job: usize| self.jobs[job].slice.is_done || self.is_job_ready(job);
        if !self.jobsets[jobset].is_ready && self.jobs_of(jobset).all(are_ready) {
            self.jobsets[jobset].is_ready = true;
            self.note_readiness(jobset);
        }
        let slices = self.available_slices(jobset);
        if self.jobsets[jobset].trainer.is_done {
            return self.end_programs(jobset, &slices);
        }
        let trainer = &mut self.jobsets[jobset].trainer;
        match trainer.group().map(|group| (group.is_intact(&slices), group.can_grow(&slices))) {
            Some((true, true)) => match trainer.plan_regrow(self.now) {
                SliceRegrowth::Unchanged => return,
                SliceRegrowth::Planned => return self.schedule_end_of_work(jobset),
                SliceRegrowth::Immediate => return self.add_slices(jobset),
            },
            Some((true, false)) => {
                if trainer.cancel_regrow(self.now) {
                    self.schedule_end_of_work(jobset);
                }
                return;
            }
            Some((false, _)) => self.interrupt_segment(jobset),
            None => {}
        }
        match self.jobsets[jobset].trainer.last_call.update(spec, &slices) {
            SliceStart::Wait => {}
            SliceStart::Begin => self.begin_with(jobset, slices, false),
            SliceStart::LastCall(nth) => {
                self.schedule_after(spec.last_call, NodesEvent::LastCallExpired { jobset, nth });
            }
        }
    }

    pub fn last_call_expired(&mut self, jobset: usize) {
        self.jobsets[jobset].trainer.last_call.end();
        self.begin_if_enough(jobset, false);
    }

    fn begin_if_enough(&mut self, jobset: usize, is_regrown: bool) -> bool {
        let slices = self.available_slices(jobset);
        let spec = self.model.jobsets[jobset].training.elastic.as_ref();
        let begins = spec.is_some_and(|spec| slices.is_enough(spec));
        if begins {
            self.begin_with(jobset, slices, is_regrown);
        }
        begins
    }

    fn begin_with(&mut self, jobset: usize, slices: AvailableSlices, is_regrown: bool) {
        let model = self.model;
        let Some(spec) = &model.jobsets[jobset].training.elastic else { return };
        let mut group = SliceGroup::new(spec, slices, is_regrown);
        let mut has_old_processes = false;
        for job in group.members() {
            has_old_processes |= !std::mem::take(&mut self.jobs[job.ix()].slice.has_new_processes);
        }
        group.set_continued(spec, has_old_processes, self.jobsets[jobset].trainer.job.starts());
        self.begin_segment(jobset, group);
    }

    /// The segment ends, and the next one begins with all available slices.
    pub fn add_slices(&mut self, jobset: usize) {
        let members = self.jobsets[jobset].trainer.group().map(|group| self.members_of(jobset, group));
        let row = &mut self.jobsets[jobset];
        row.epoch += 1;
        let over = row.trainer.end_to_grow(self.now);
        self.book(jobset, over);
        for job in members.unwrap_or_default() {
            self.accounts.set_category(self.now, job, LedgerCategory::Waiting);
        }
        if !self.begin_if_enough(jobset, true) {
            let undone = self.jobsets[jobset].trainer.discard_live();
            self.accounts.mark_lost(self.now, jobset, undone);
        }
    }

    /// The work is complete: the programs of ready pods end. A slice that is ready later finds nothing to do.
    fn end_programs(&mut self, jobset: usize, slices: &AvailableSlices) {
        let profile = &self.model.jobsets[jobset].profile;
        let ending = profile.endings[self.jobsets[jobset].delays % profile.endings.len()];
        for job in slices.jobs.iter().map(|job| job.ix()) {
            if !std::mem::replace(&mut self.jobs[job].slice.is_exiting, true) {
                self.accounts.set_category(self.now, job, LedgerCategory::Terminating);
                let epoch = self.jobs[job].epoch;
                self.schedule_after(ending, NodesEvent::JobCompleted { job, epoch });
            }
        }
    }

    /// The Job is complete. The JobSet is complete with its last Job.
    pub fn complete_job(&mut self, job: usize) {
        let jobset = self.model.jobs[job].jobset;
        if !self.jobs[job].slice.is_exiting || self.jobsets[jobset].ended.is_some() {
            return;
        }
        let row = &mut self.jobs[job].slice;
        (row.is_exiting, row.is_done) = (false, true);
        self.release_job(job);
        if self.jobs_of(jobset).all(|job| self.jobs[job].slice.is_done) {
            self.complete(jobset);
        } else {
            self.note_change(jobset);
        }
    }
}
