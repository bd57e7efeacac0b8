//! The communication of training jobs: the step times follow from the nodes of their pods at the start of a segment.

use super::TrainingState;
use crate::ctx::EngineContext;
use crate::record::Body;
use crate::store::flag;
use sim_api::spec::LinkKind;
use sim_base::NodeId;
use sim_policy::fabric::{JobDemand, StepTime};
use sim_reliability::training::{PaceReason, UNIT_FACTOR};

impl TrainingState {
    /// A segment begins: finds the islands of the job's pods, and the time of its steps there.
    pub(super) fn place_job(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        if std::mem::take(&mut self.has_new_labels) {
            self.fabric.regroup_slices(&ctx.store.nodes.cluster);
        }
        if ctx.scenario.training[at].communication.is_none() {
            return;
        }
        let placed = self.fabric.place(self.ordered_nodes(ctx, at).into_iter());
        if let (Some(placed), Some(current)) = (placed, &mut self.jobs[at].segment) {
            current.placed = placed;
        }
        self.update_step_time(ctx, at);
    }

    /// A segment has ended: its links are free for others.
    pub(super) fn release_links(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        self.set_demand(ctx, at, None);
    }

    /// Changes what a job sends over the network, and the step times of the jobs that share links with it.
    fn set_demand(&mut self, ctx: &mut EngineContext<'_>, at: usize, demand: Option<JobDemand>) {
        for other in self.fabric.set_demand(at, demand) {
            if self.step_time(ctx, other).is_some_and(|time| self.set_step_time(ctx, other, &time)) {
                self.reschedule_end(ctx, other);
            }
        }
    }

    /// The links of a node or its island have a share of their normal rate.
    pub(super) fn degrade_links(&mut self, ctx: &mut EngineContext<'_>, (links, node): (LinkKind, NodeId), share: f64) {
        let changed = self.fabric.degrade(links, node, share);
        for at in (0..self.jobs.len()).filter(|_| changed) {
            if self.update_step_time(ctx, at) {
                self.reschedule_end(ctx, at);
            }
        }
    }

    /// Returns the nodes of the participating pods in the order of replicatedJobs, Jobs and completion indexes.
    fn ordered_nodes(&self, ctx: &EngineContext<'_>, at: usize) -> Vec<NodeId> {
        let jobs = &ctx.store.jobs;
        let mut own: Vec<_> = ctx.store.jobs_of(self.jobs[at].jobset).collect();
        own.sort_by_key(|job| (jobs[job.ix()].rj, jobs[job.ix()].index));
        let pods = &ctx.store.pods;
        let mut nodes = Vec::new();
        for job in own {
            let ready = jobs[job.ix()].pods.iter().filter(|pod| pods.has(*pod, flag::READY));
            let mut members: Vec<_> = ready.filter(|pod| self.participates(ctx, at, *pod)).collect();
            members.sort_by_key(|pod| pods.index[pod.ix()]);
            nodes.extend(members.into_iter().map(|pod| pods.node[pod.ix()]));
        }
        nodes
    }

    /// Evaluates the time of a step with the current rates. Records it and returns true if it has changed.
    pub(super) fn update_step_time(&mut self, ctx: &mut EngineContext<'_>, at: usize) -> bool {
        let Some(time) = self.step_time(ctx, at) else {
            return false;
        };
        let has_changed = self.set_step_time(ctx, at, &time);
        self.set_demand(ctx, at, Some(time.demand));
        has_changed
    }

    /// Returns the time of computation in a step, in seconds, with the slowest pod and the missing slices.
    fn compute_s(&self, ctx: &EngineContext<'_>, at: usize) -> Option<f64> {
        let (step, current) = (ctx.scenario.training[at].step?, self.jobs[at].segment.as_ref()?);
        let slower = current.slowdown as f64 / UNIT_FACTOR as f64 * current.slice_group.factor() as f64;
        Some(step.seconds() * slower / UNIT_FACTOR as f64)
    }

    /// Returns the time of a step with the current rates, if the job runs and communicates.
    fn step_time(&mut self, ctx: &EngineContext<'_>, at: usize) -> Option<StepTime> {
        let communication = ctx.scenario.training[at].communication.as_ref()?;
        let compute_s = self.compute_s(ctx, at)?;
        let placed = &self.jobs[at].segment.as_ref()?.placed;
        self.fabric.step_time(at, placed, communication, compute_s)
    }

    /// Records the time of a step and returns true if it has changed.
    fn set_step_time(&mut self, ctx: &mut EngineContext<'_>, at: usize, time: &StepTime) -> bool {
        let Some(communication) = &ctx.scenario.training[at].communication else {
            return false;
        };
        let (Some(compute_s), Some(current)) = (self.compute_s(ctx, at), &mut self.jobs[at].segment) else {
            return false;
        };
        let time = (time, compute_s);
        let Some(new) = self.fabric.change_step_time(ctx.now, &mut current.placed, communication, time) else {
            return false;
        };
        let done = current.run.done(ctx.now);
        current.run.plan.pace.set_factor(done, PaceReason::Communication, new.factor);
        let job = &mut self.jobs[at];
        let (step, exposed) = (new.outcome.step, new.outcome.exposed);
        ctx.emit(Body::TrainingStepTime { jobset: job.jobset, step, exposed });
        job.steps.push(new.outcome);
        true
    }
}
