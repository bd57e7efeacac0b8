//! The communication of training jobs over the links of the nodes on which their pods are.

use super::run::Replication;
use sim_api::spec::LinkKind;
use sim_base::NodeId;
use sim_policy::fabric::{JobDemand, StepTime};

impl Replication<'_, '_> {
    /// A segment begins: finds the islands of the job's pods, and the time of its steps there.
    pub fn place_on_links(&mut self, jobset: usize) {
        if self.model.jobsets[jobset].training.communication.is_none() {
            return;
        }
        let nodes: Vec<NodeId> = self.jobs_of(jobset).flat_map(|job| self.nodes_of(job)).collect();
        if let Some(placed) = self.fabric.place(nodes.into_iter()) {
            self.jobsets[jobset].trainer.placed = placed;
        }
        self.update_step_time(jobset);
    }

    /// A segment has ended: its links are free for others.
    pub fn release_links(&mut self, jobset: usize) {
        if self.model.jobsets[jobset].training.communication.is_some() {
            self.set_demand(jobset, None);
        }
    }

    /// Changes what a job sends over the network, and the step times of the jobs that share links with it.
    fn set_demand(&mut self, jobset: usize, demand: Option<JobDemand>) {
        for other in self.fabric.set_demand(jobset, demand) {
            if self.step_time(other).is_some_and(|time| self.change_step_time(other, &time)) {
                self.schedule_end_of_work(other);
            }
        }
    }

    /// The links of a node or its island have a share of their normal rate.
    pub fn degrade_links(&mut self, links: LinkKind, node: NodeId, share: f64) {
        let has_changed = self.fabric.degrade(links, node, share);
        for jobset in (0..self.jobsets.len()).filter(|_| has_changed) {
            if self.update_step_time(jobset) {
                self.schedule_end_of_work(jobset);
            }
        }
    }

    /// Evaluates the time of a step with the current rates. Returns whether it has changed.
    pub fn update_step_time(&mut self, jobset: usize) -> bool {
        let Some(time) = self.step_time(jobset) else { return false };
        let has_changed = self.change_step_time(jobset, &time);
        self.set_demand(jobset, Some(time.demand));
        has_changed
    }

    /// The time of a step with the current rates, if the job runs and communicates.
    fn step_time(&mut self, jobset: usize) -> Option<StepTime> {
        let communication = self.model.jobsets[jobset].training.communication.as_ref()?;
        let trainer = &self.jobsets[jobset].trainer;
        self.fabric.step_time(jobset, &trainer.placed, communication, trainer.compute_s()?)
    }

    fn change_step_time(&mut self, jobset: usize, time: &StepTime) -> bool {
        let Some(communication) = &self.model.jobsets[jobset].training.communication else { return false };
        let trainer = &mut self.jobsets[jobset].trainer;
        let Some(compute_s) = trainer.compute_s() else { return false };
        let placed = &mut trainer.placed;
        match self.fabric.change_step_time(self.now, placed, communication, (time, compute_s)) {
            Some(new) => trainer.change_step_time(self.now, new),
            None => false,
        }
    }
}
