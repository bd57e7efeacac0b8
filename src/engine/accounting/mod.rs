//! Accounting that no component reads: the accelerator-time ledger, the readiness of JobSets, and the history of all
//! Job objects.
//!
//! Receives all watch events; changes only its own data and emits the records AllReady.

mod history;
mod ledger;
mod readiness;
mod slices;
#[cfg(test)]
#[path = "../../../tests/inside/engine/accounting.rs"]
mod tests;

use super::ctx::EngineContext;
use crate::record::LedgerCategory;
use crate::store::{ChangeKind, JobChange, JobSetChange, NodeChange, PodChange, flag};
use history::UsageHistory;
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId};
use sim_reliability::ledger::Ledger;

#[derive(Clone, Default)]
pub struct TimeAccounting {
    pub ledger: Ledger,
    pods: Vec<PodTime>,
    jobs: Vec<JobTime>,
    jobsets: Vec<JobSetTime>,
    nodes: Vec<NodeTime>,
    first_ready: bool,
    /// True if an idle spare node is a machine that does not exist yet.
    cold_spares: bool,
}

/// The pods of a JobSet that run together.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadyPodGroup {
    pods: u32,
    pub accelerators: u64,
    /// Their total price per hour.
    pub rate: u64,
}

impl ReadyPodGroup {
    /// The accelerators of the pods, with their price per hour.
    pub fn held(&self) -> (u64, u64) {
        (self.accelerators, self.rate)
    }
}

#[derive(Copy, Clone, Default)]
struct PodTime {
    category: Option<LedgerCategory>,
    /// Number of its node's accelerators counted in that category.
    held_accelerators: u32,
    ready: bool,
    /// Succeeded while the Job tracked it: the JobSet requires one ready pod less.
    success: bool,
}

#[derive(Copy, Clone, Default)]
struct JobTime {
    /// Number of succeeded pods of this Job object.
    successes: u32,
    /// Number of ready pods that the JobSet currently requires of it.
    required: u32,
    /// Index of the row's newest Job in the history of its JobSet.
    entry: usize,
    ready_pods: slices::HeldSlices,
}

#[derive(Clone, Default)]
struct JobSetTime {
    /// Number of pods that the stored spec requires, including those of Jobs that do not exist.
    required: u64,
    ready: u32,
    all_ready: bool,
    ever_ready: bool,
    /// True for a training job: its accelerators are productive while it makes steps, not whenever all pods are ready.
    trains: bool,
    /// True if its ready accelerators count as Productive; for an elastic job, those of the participating Jobs.
    is_productive: bool,
    elastic: bool,
    ready_accelerators: u64,
    ready_rate: u64,
    /// Number of ready pods on unusable nodes.
    unhealthy: u32,
    /// Number of its Jobs' pods that are bound and have not ended.
    bound: u64,
    history: UsageHistory,
}

#[derive(Copy, Clone, Default)]
struct NodeTime {
    dead: bool,
    unhealthy: bool,
    /// Number of accelerators in the ledger, and their price.
    accelerators: u32,
    rate: u64,
    /// Number of these that pods hold.
    held: u64,
    /// Number of these that are not billed, because the machine does not exist.
    not_billed: u64,
}

impl TimeAccounting {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        let cluster = &ctx.store.nodes.cluster;
        let own = if ctx.scenario.training.is_empty() { 0 } else { ctx.store.jobsets.len() };
        self.ledger.reset(cluster, own);
        self.pods.clear();
        self.jobs.clear();
        self.jobsets.clear();
        self.jobsets.resize_with(ctx.store.jobsets.len(), JobSetTime::default);
        self.nodes.clear();
        let prices = cluster.price_micros_per_hour.iter();
        let nodes = cluster.accelerators.iter().zip(prices);
        self.nodes.extend(nodes.map(|(&accelerators, &rate)| NodeTime { accelerators, rate, ..NodeTime::default() }));
        self.first_ready = false;
        let spares = ctx.scenario.node_spares.as_ref();
        self.cold_spares = spares.is_some_and(|spares| spares.take_over > Duration::ZERO);
        for training in &ctx.scenario.training {
            let js = &mut self.jobsets[training.jobset];
            (js.trains, js.elastic) = (true, training.elastic.is_some());
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        use PodChange::{Metadata, Restarted, Running, Untracked};
        match what {
            ChangeKind::Pod(_, Metadata | Restarted | Running | Untracked) => {}
            ChangeKind::Pod(pod, change) => self.pod_changed(ctx, pod, change),
            ChangeKind::Job(job, change) => self.job_changed(ctx, job, change),
            ChangeKind::JobSet(jobset, change) => self.jobset_changed(ctx, jobset, change),
            ChangeKind::Node(node, change) => self.node_changed(ctx, node, change),
            _ => {}
        }
    }

    fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
        use LedgerCategory::*;
        match change {
            PodChange::Created => self.new_pod(pod),
            PodChange::Bound => self.set_category(ctx, pod, Some(Starting)),
            PodChange::Ready => self.ready_changed(ctx, pod, true),
            PodChange::NotReady => self.ready_changed(ctx, pod, false),
            PodChange::Deleting => {
                let ran = ctx.store.pods.phase[pod.ix()] != crate::store::PodPhase::Pending;
                self.stop_counting(ctx, pod);
                if ran && !ctx.store.pods.is_terminal(pod) && self.category(pod).is_some() {
                    self.set_category(ctx, pod, Some(Terminating));
                }
            }
            PodChange::Finished => {
                self.pod_finished(ctx, pod);
                self.set_category(ctx, pod, None);
                self.release_spare(ctx, pod);
            }
            PodChange::Gone => {
                self.stop_counting(ctx, pod);
                self.set_category(ctx, pod, None);
                self.release_spare(ctx, pod);
            }
            _ => {}
        }
    }

    /// A spare that pods no longer use ends with the last of them.
    fn release_spare(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        let node = ctx.store.pods.node[pod.ix()];
        if self.cold_spares && node.is_some() && !self.is_billed(ctx, node) {
            self.set_billed(ctx, node, false);
        }
    }

    fn job_changed(&mut self, ctx: &mut EngineContext<'_>, job: JobId, change: JobChange) {
        match change {
            JobChange::Created => {
                // Pods of an earlier Job with the name may remain.
                let held = self.job_mut(job).ready_pods;
                *self.job_mut(job) = JobTime { ready_pods: held, ..JobTime::default() };
                self.add_job_entry(ctx, job);
                self.require_new_job(ctx, job);
            }
            JobChange::Gone => {
                self.write_history(ctx, job, false);
                self.forget_job(ctx, job);
            }
            JobChange::Status | JobChange::Spec => self.recount_required(ctx, job),
            JobChange::Metadata | JobChange::Deleting => {}
        }
        if change != JobChange::Gone {
            self.write_history(ctx, job, true);
        }
    }

    fn jobset_changed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
        match change {
            JobSetChange::Created | JobSetChange::Spec => self.update_required_pods(ctx, jobset, change),
            JobSetChange::Status => self.jobset_ended(ctx, jobset),
            _ => {}
        }
    }

    fn node_changed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Created | NodeChange::Spec => self.update_accelerators(ctx, node),
            NodeChange::Machine { dead } => self.nodes[node.ix()].dead = dead,
            NodeChange::Condition | NodeChange::Gone => {}
            NodeChange::Taints | NodeChange::Uncordoned if self.cold_spares => {}
            NodeChange::Taints | NodeChange::Uncordoned | NodeChange::Lease => return,
        }
        // The price of a lost machine changes while all of its accelerators are in one category.
        let billed = self.is_billed(ctx, node);
        if billed {
            self.set_billed(ctx, node, true);
        }
        self.update_node_health(ctx, node);
        if !billed {
            self.set_billed(ctx, node, false);
        }
    }

    fn pod_mut(&mut self, pod: PodId) -> &mut PodTime {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, PodTime::default());
        }
        &mut self.pods[pod.ix()]
    }

    fn job_mut(&mut self, job: JobId) -> &mut JobTime {
        if self.jobs.len() <= job.ix() {
            self.jobs.resize(job.ix() + 1, JobTime::default());
        }
        &mut self.jobs[job.ix()]
    }

    fn jobset_mut(&mut self, jobset: JobSetId) -> Option<&mut JobSetTime> {
        if jobset.is_some() && self.jobsets.len() <= jobset.ix() {
            self.jobsets.resize_with(jobset.ix() + 1, JobSetTime::default);
        }
        self.jobsets.get_mut(jobset.ix())
    }

    fn new_pod(&mut self, pod: PodId) {
        let row = self.pod_mut(pod);
        assert!(row.category.is_none() && !row.ready, "the row was free");
        *row = PodTime::default();
    }

    fn category(&self, pod: PodId) -> Option<LedgerCategory> {
        self.pods.get(pod.ix()).and_then(|p| p.category)
    }

    /// Returns whether every pod that the JobSet requires is ready, and whether this was ever the case.
    pub fn readiness(&self, jobset: JobSetId) -> (bool, bool) {
        let js = self.jobsets.get(jobset.ix());
        js.map_or((false, false), |js| (js.all_ready, js.ever_ready))
    }

    pub fn required_pods(&self, jobset: JobSetId) -> u64 {
        self.jobsets.get(jobset.ix()).map_or(0, |js| js.required)
    }

    /// Returns true if pods of the Job have succeeded.
    pub fn has_successes(&self, job: JobId) -> bool {
        self.jobs.get(job.ix()).is_some_and(|j| j.successes > 0)
    }

    /// Returns true once: when every JobSet has been ready at least once.
    pub fn take_first_ready(&mut self) -> bool {
        std::mem::take(&mut self.first_ready)
    }

    pub fn take_history(&mut self, jobset: JobSetId) -> UsageHistory {
        let js = self.jobset_mut(jobset);
        js.map_or(UsageHistory::default(), |js| std::mem::take(&mut js.history))
    }

    /// Returns true if the pods of a JobSet hold all required nodes.
    pub fn holds_all(&self, jobset: JobSetId) -> bool {
        let js = self.jobsets.get(jobset.ix());
        js.is_some_and(|js| js.required > 0 && js.bound >= js.required)
    }

    /// The ready pods of a JobSet, if all required pods are ready on usable nodes.
    pub fn ready_pod_group(&self, jobset: JobSetId) -> Option<ReadyPodGroup> {
        let js = self.jobsets.get(jobset.ix())?;
        let complete = js.all_ready && js.unhealthy == 0 && js.ready > 0;
        complete.then_some(ReadyPodGroup { pods: js.ready, accelerators: js.ready_accelerators, rate: js.ready_rate })
    }

    /// Recomputes all accounting (`--paranoid`, tests).
    pub fn check(&self, ctx: &EngineContext<'_>) {
        for (i, js) in self.jobsets.iter().enumerate() {
            let own = |p: &PodId| {
                ctx.store.pods.exists(*p)
                    && ctx.store.jobset_of(*p) == JobSetId(i as u32)
                    && ctx.store.is_owned(*p)
                    && (ctx.store.pods.has(*p, flag::READY) || ctx.store.pods.is_succeeding(*p))
                    && ctx.store.pods.is_active(*p)
            };
            let rows = (0..ctx.store.pods.len() as u32).map(PodId);
            let ready = rows.filter(own).count();
            assert_eq!(js.ready as usize, ready, "ready pods of JobSet {i} at {}", ctx.now);
            let jobs = ctx.store.jobs_of(JobSetId(i as u32));
            let held = jobs.filter_map(|job| self.jobs.get(job.ix()));
            let sums = held.fold([0; 3], |sums, job| {
                let held = &job.ready_pods;
                [sums[0] + u64::from(held.ready), sums[1] + u64::from(held.unhealthy), sums[2] + held.accelerators]
            });
            let complete = [u64::from(js.ready), u64::from(js.unhealthy), js.ready_accelerators];
            assert_eq!(sums, complete, "Jobs of JobSet {i}, the JobSet");
        }
        let installed: u64 = self.nodes.iter().map(|n| u64::from(n.accelerators)).sum();
        let in_ledger: u64 = self.ledger.counts().iter().sum();
        assert_eq!(in_ledger, installed, "accelerators in categories, installed");
    }
}
