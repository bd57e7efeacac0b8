//! The category of each accelerator in the ledger, from the states of its node and of its pod.

use super::TimeAccounting;
use crate::ctx::EngineContext;
use crate::record::LedgerCategory;
use sim_base::{JobId, JobSetId, NodeId, PodId, SimTime};

impl TimeAccounting {
    /// Sets the category of the pod's accelerators (`None` if it holds none); ready ones are `Waiting` or, if the
    /// whole JobSet is ready, `Productive`.
    pub(super) fn set_category(&mut self, ctx: &EngineContext<'_>, pod: PodId, to: Option<LedgerCategory>) {
        let from = std::mem::replace(&mut self.pod_mut(pod).category, to);
        let node = ctx.store.pods.node[pod.ix()];
        if from.is_none() && to.is_some() {
            self.reserve(ctx, pod, node);
        }
        if from == to || !node.is_some() {
            return;
        }
        let accelerators = u64::from(self.pods[pod.ix()].held_accelerators);
        let row = &mut self.nodes[node.ix()];
        let (rate, unhealthy) = (row.rate, row.unhealthy);
        if to.is_none() {
            row.held -= accelerators;
        }
        let job = ctx.store.pods.job[pod.ix()];
        let jobset = ctx.store.jobs[job.ix()].jobset;
        if from.is_none() != to.is_none()
            && ctx.store.is_owned(pod)
            && let Some(js) = self.jobset_mut(jobset)
        {
            js.bound = if to.is_some() { js.bound + 1 } else { js.bound - 1 };
        }
        let held = (accelerators, accelerators * rate);
        if unhealthy {
            self.count_unhealthy(ctx, pod, from, false);
            self.count_unhealthy(ctx, pod, to, true);
            let own = |c: Option<LedgerCategory>| match c {
                Some(_) => LedgerCategory::Unhealthy,
                None => LedgerCategory::Idle,
            };
            self.ledger.transfer_jobset(ctx.now, jobset, held, own(from), own(to));
            return;
        }
        if accelerators == 0 {
            return;
        }
        let from = self.ledger_category((jobset, job), from, held, false);
        let to = self.ledger_category((jobset, job), to, held, true);
        self.ledger.transfer(ctx.now, jobset, held, from, to);
    }

    /// Reserves the remaining accelerators of the node: a client may bind a pod to a node without enough capacity.
    fn reserve(&mut self, ctx: &EngineContext<'_>, pod: PodId, node: NodeId) {
        let wanted = ctx.store.template(pod).accelerators;
        let Some(row) = self.nodes.get_mut(node.ix()) else {
            return;
        };
        let left = u64::from(row.accelerators).saturating_sub(row.held);
        let holds = wanted.min(left as u32);
        row.held += u64::from(holds);
        let is_usable = !row.unhealthy;
        self.pod_mut(pod).held_accelerators = holds;
        if holds > 0 && is_usable {
            self.set_billed(ctx, node, true);
        }
    }

    /// Returns whether the machine costs money now.
    pub(super) fn is_billed(&self, ctx: &EngineContext<'_>, node: NodeId) -> bool {
        if !ctx.store.nodes.cluster.is_on_demand(node) {
            return true;
        }
        let row = &ctx.store.nodes.rows[node.ix()];
        let is_idle_spare = self.cold_spares && row.cordoned && self.nodes[node.ix()].held == 0;
        row.exists && !is_idle_spare
    }

    /// Starts or ends the billing of a machine whose accelerators are all idle or all unhealthy.
    pub(super) fn set_billed(&mut self, ctx: &EngineContext<'_>, node: NodeId, billed: bool) {
        let price = ctx.store.nodes.cluster.price_micros_per_hour[node.ix()];
        let row = &mut self.nodes[node.ix()];
        if row.not_billed == 0 && billed || row.accelerators == 0 || (row.not_billed > 0 && !billed) {
            return;
        }
        let n = u64::from(row.accelerators);
        let new = if billed { price } else { 0 };
        let old = std::mem::replace(&mut row.rate, new);
        let before = std::mem::replace(&mut row.not_billed, if billed { 0 } else { n });
        let (after, unhealthy) = (row.not_billed, row.unhealthy);
        let category = if unhealthy { LedgerCategory::Unhealthy } else { LedgerCategory::Idle };
        let held = self.pods_holding(ctx, node).filter(|_| unhealthy);
        let held: Vec<(JobSetId, u64)> = held.map(|(pod, n)| (ctx.store.jobset_of(pod), n)).collect();
        self.ledger.change_rate(ctx.now, (n, category), (old, new), &held);
        self.ledger.change_not_billed(before, after);
    }

    /// Handles a ready pod on a node that became unusable or usable.
    fn count_unhealthy(&mut self, ctx: &EngineContext<'_>, pod: PodId, category: Option<LedgerCategory>, enters: bool) {
        if category != Some(LedgerCategory::Waiting) {
            return;
        }
        let change = |n: &mut u32| *n = if enters { *n + 1 } else { *n - 1 };
        change(&mut self.job_mut(ctx.store.pods.job[pod.ix()]).ready_pods.unhealthy);
        if let Some(js) = self.jobset_mut(ctx.store.jobset_of(pod)) {
            change(&mut js.unhealthy);
        }
    }

    /// Returns the pod's category in the ledger; updates the counts of ready accelerators of the JobSet and its Job.
    fn ledger_category(
        &mut self, (jobset, job): (JobSetId, JobId), category: Option<LedgerCategory>, (n, rate): (u64, u64),
        enters: bool,
    ) -> LedgerCategory {
        let category = category.unwrap_or(LedgerCategory::Idle);
        if category != LedgerCategory::Waiting {
            return category;
        }
        let change = |x: &mut u64, d: u64| *x = if enters { *x + d } else { *x - d };
        let held = &mut self.job_mut(job).ready_pods;
        change(&mut held.accelerators, n);
        change(&mut held.rate, rate);
        let takes_part = held.is_productive;
        let Some(js) = self.jobset_mut(jobset) else {
            return category;
        };
        change(&mut js.ready_accelerators, n);
        change(&mut js.ready_rate, rate);
        if js.is_productive && (takes_part || !js.elastic) { LedgerCategory::Productive } else { category }
    }

    /// A node was added, or its number of accelerators changed.
    pub(super) fn update_accelerators(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        if self.nodes.len() <= node.ix() {
            self.nodes.resize(node.ix() + 1, super::NodeTime::default());
        }
        let cluster = &ctx.store.nodes.cluster;
        let row = &mut self.nodes[node.ix()];
        let (n, rate) = (cluster.accelerators[node.ix()], cluster.price_micros_per_hour[node.ix()]);
        let (old, unhealthy) = (row.accelerators, row.unhealthy);
        let rate = if row.not_billed > 0 { row.rate } else { rate };
        (row.accelerators, row.rate) = (n, rate);
        if n > old {
            self.ledger.change_installed(ctx.now, n - old, rate, unhealthy, true);
        } else if n < old {
            self.remove_accelerators(ctx.now, node, old - n);
        }
    }

    /// A node reports fewer accelerators: its pods keep theirs until they end.
    fn remove_accelerators(&mut self, now: SimTime, node: NodeId, n: u32) {
        let row = &mut self.nodes[node.ix()];
        let before = u64::from(row.accelerators) + u64::from(n);
        let gone = n.min(before.saturating_sub(row.held) as u32);
        row.accelerators += n - gone;
        let (rate, unhealthy) = (row.rate, row.unhealthy);
        self.ledger.change_installed(now, gone, rate, unhealthy, false);
    }

    /// Pods that hold accelerators of a node.
    fn pods_holding<'a>(&'a self, ctx: &'a EngineContext<'_>, node: NodeId) -> impl Iterator<Item = (PodId, u64)> + 'a {
        let pods = ctx.store.nodes.pods[node.ix()].iter().copied();
        let held = pods.filter(|p| self.category(*p).is_some());
        held.map(|p| (p, u64::from(self.pods[p.ix()].held_accelerators)))
    }

    /// Marks the accelerators of a machine as unusable if it failed, is silent, or has no Node object.
    pub(super) fn update_node_health(&mut self, ctx: &EngineContext<'_>, node: NodeId) {
        let row = &ctx.store.nodes.rows[node.ix()];
        let unhealthy = self.nodes[node.ix()].dead || !row.exists || row.unknown;
        if unhealthy == self.nodes[node.ix()].unhealthy {
            return;
        }
        self.nodes[node.ix()].unhealthy = unhealthy;
        let rate = self.nodes[node.ix()].rate;
        let held: Vec<(PodId, u64)> = self.pods_holding(ctx, node).collect();
        let mut left = u64::from(self.nodes[node.ix()].accelerators);
        for (pod, n) in held {
            left = left.saturating_sub(n);
            let (jobset, category) = (ctx.store.jobset_of(pod), self.category(pod));
            self.count_unhealthy(ctx, pod, category, unhealthy);
            let whose = (jobset, ctx.store.pods.job[pod.ix()]);
            let category = self.ledger_category(whose, category, (n, n * rate), !unhealthy);
            self.transfer_health(ctx.now, jobset, (n, n * rate), category, unhealthy);
        }
        let free = (left, left * rate);
        self.transfer_health(ctx.now, JobSetId::NONE, free, LedgerCategory::Idle, unhealthy);
    }

    fn transfer_health(
        &mut self, now: SimTime, jobset: JobSetId, held: (u64, u64), category: LedgerCategory, unhealthy: bool,
    ) {
        let (from, to) =
            if unhealthy { (category, LedgerCategory::Unhealthy) } else { (LedgerCategory::Unhealthy, category) };
        self.ledger.transfer(now, jobset, held, from, to);
    }
}
