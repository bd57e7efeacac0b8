//! The accelerator-second ledger: each accelerator is in one category at each instant, so the sums close exactly.

use super::{Accounting, Gang};
use crate::base::*;
use crate::engine::ctx::Ctx;
use crate::record::{Ledger, LedgerCategory};
use crate::topology::Cluster;

const N: usize = LedgerCategory::COUNT;

#[derive(Default)]
pub struct LedgerBooks {
    /// Accelerators in each category now, and what they cost per hour (millionths).
    counts: [u64; N],
    rates: [u64; N],
    sums: [u128; N],
    costs: [u128; N],
    /// Until when each category is in its sum.
    until: [Time; N],
    accelerators: u64,
    /// Accelerators × time, whatever they were counted as.
    installed: u128,
    installed_until: Time,
}

impl LedgerBooks {
    pub fn reset(&mut self, cluster: &Cluster) {
        *self = LedgerBooks::default();
        let prices = &cluster.price_micros_per_hour;
        for (n, rate) in cluster.accelerators.iter().zip(prices) {
            self.counts[LedgerCategory::Idle as usize] += u64::from(*n);
            self.rates[LedgerCategory::Idle as usize] += u64::from(*n) * rate;
        }
        self.accelerators = self.counts[LedgerCategory::Idle as usize];
    }

    /// Brings the sums of a category up to now.
    fn settle(&mut self, now: Time, category: usize) {
        let dt = u128::from(now.since(self.until[category]).0);
        self.until[category] = now;
        self.sums[category] += u128::from(self.counts[category]) * dt;
        self.costs[category] += u128::from(self.rates[category]) * dt;
    }

    fn settle_installed(&mut self, now: Time) {
        let dt = u128::from(now.since(self.installed_until).0);
        self.installed_until = now;
        self.installed += u128::from(self.accelerators) * dt;
    }

    /// Moves accelerators of one price from category to category.
    pub fn transfer(
        &mut self,
        now: Time,
        n: u64,
        rate: u64,
        from: LedgerCategory,
        to: LedgerCategory,
    ) {
        if n == 0 || from == to {
            return;
        }
        let (from, to) = (from as usize, to as usize);
        self.settle(now, from);
        self.settle(now, to);
        assert!(
            self.counts[from] >= n && self.rates[from] >= rate,
            "ledger: more taken than was there"
        );
        self.counts[from] -= n;
        self.counts[to] += n;
        self.rates[from] -= rate;
        self.rates[to] += rate;
    }

    /// Accelerators that a node brings or takes with it; `sick`: they are counted as Unhealthy.
    pub fn install(&mut self, now: Time, n: u32, rate: u64, sick: bool, add: bool) {
        let category = if sick {
            LedgerCategory::Unhealthy
        } else {
            LedgerCategory::Idle
        } as usize;
        self.settle(now, category);
        self.settle_installed(now);
        let (n, rate) = (u64::from(n), u64::from(n) * rate);
        let change = |x: &mut u64, d: u64| *x = if add { *x + d } else { *x - d };
        change(&mut self.counts[category], n);
        change(&mut self.rates[category], rate);
        change(&mut self.accelerators, n);
    }

    /// What a stretch of training was found to be worth when it ended: time of these accelerators that was counted as
    /// Productive.
    pub fn book(&mut self, now: Time, gang: Gang, spent: &[(LedgerCategory, u64)]) {
        let productive = LedgerCategory::Productive as usize;
        self.settle(now, productive);
        for &(category, ns) in spent {
            let (time, cost) = (
                u128::from(gang.accelerators) * u128::from(ns),
                u128::from(gang.rate) * u128::from(ns),
            );
            for (sums, amount) in [(&mut self.sums, time), (&mut self.costs, cost)] {
                let left = sums[productive].checked_sub(amount);
                sums[productive] = left.expect("what is booked elsewhere was productive before");
                sums[category as usize] += amount;
            }
        }
    }

    pub fn counts(&self) -> [u64; N] {
        self.counts
    }

    pub fn close(&mut self, now: Time, currency: &str, training: bool) -> Ledger {
        (0..N).for_each(|category| self.settle(now, category));
        self.settle_installed(now);
        let total: u128 = self.sums.iter().sum();
        assert_eq!(total, self.installed, "the ledger closes");
        const HOUR_NS: u128 = 3_600_000_000_000;
        Ledger {
            accelerator_ns: self.sums,
            accelerators: self.accelerators,
            cost_micros: self.costs.map(|c| c / HOUR_NS),
            currency: currency.to_owned(),
            training,
        }
    }
}

impl Accounting {
    /// Which category the pod's accelerators are in (`None`: it holds none); ready ones count as `Waiting` or, with the
    /// whole JobSet ready, `Productive`.
    pub(super) fn set_category(&mut self, ctx: &Ctx<'_>, pod: PodId, to: Option<LedgerCategory>) {
        let from = std::mem::replace(&mut self.pod(pod).category, to);
        let node = ctx.store.pods.node[pod.ix()];
        if from.is_none() && to.is_some() {
            self.hold(ctx, pod, node);
        }
        let accelerators = u64::from(self.pod(pod).holds);
        if from.is_some() && to.is_none() && node.is_some() {
            self.nodes[node.ix()].held -= accelerators;
        }
        if node.is_some() && self.nodes[node.ix()].unhealthy {
            self.count_sick(ctx, pod, from, false);
            self.count_sick(ctx, pod, to, true);
        }
        if from == to || accelerators == 0 || !node.is_some() || self.nodes[node.ix()].unhealthy {
            return;
        }
        let rate = accelerators * self.nodes[node.ix()].rate;
        let jobset = ctx.store.jobset_of(pod);
        let (from, to) = (
            self.shown(jobset, from, (accelerators, rate), false),
            self.shown(jobset, to, (accelerators, rate), true),
        );
        self.ledger.transfer(ctx.now, accelerators, rate, from, to);
    }

    /// What is left of the node's accelerators: somebody may bind a pod to a node that has no room for it.
    fn hold(&mut self, ctx: &Ctx<'_>, pod: PodId, node: NodeId) {
        let wanted = ctx.store.template(pod).accelerators;
        let Some(row) = self.nodes.get_mut(node.ix()) else {
            return;
        };
        let left = u64::from(row.accelerators).saturating_sub(row.held);
        let holds = wanted.min(left as u32);
        row.held += u64::from(holds);
        self.pod(pod).holds = holds;
    }

    /// A ready pod is on a node that nobody can use, or no longer is.
    fn count_sick(
        &mut self,
        ctx: &Ctx<'_>,
        pod: PodId,
        category: Option<LedgerCategory>,
        enters: bool,
    ) {
        let ready = category == Some(LedgerCategory::Waiting);
        if let Some(js) = self.jobset(ctx.store.jobset_of(pod)).filter(|_| ready) {
            js.sick = if enters { js.sick + 1 } else { js.sick - 1 };
        }
    }

    /// The category as the ledger has it; keeps the sums of the JobSet's ready accelerators.
    fn shown(
        &mut self,
        jobset: JobSetId,
        category: Option<LedgerCategory>,
        (n, rate): (u64, u64),
        enters: bool,
    ) -> LedgerCategory {
        let category = category.unwrap_or(LedgerCategory::Idle);
        let Some(js) = self
            .jobset(jobset)
            .filter(|_| category == LedgerCategory::Waiting)
        else {
            return category;
        };
        let change = |x: &mut u64, d: u64| *x = if enters { *x + d } else { *x - d };
        change(&mut js.ready_accelerators, n);
        change(&mut js.ready_rate, rate);
        match js.runs {
            true => LedgerCategory::Productive,
            false => category,
        }
    }

    /// A node is new, or has another number of accelerators.
    pub(super) fn node_counts(&mut self, ctx: &Ctx<'_>, node: NodeId) {
        if self.nodes.len() <= node.ix() {
            self.nodes.resize(node.ix() + 1, super::Node::default());
        }
        let cluster = &ctx.store.nodes.cluster;
        let row = &mut self.nodes[node.ix()];
        let (n, rate) = (
            cluster.accelerators[node.ix()],
            cluster.price_micros_per_hour[node.ix()],
        );
        let (old, sick) = (row.accelerators, row.unhealthy);
        (row.accelerators, row.rate) = (n, rate);
        if n > old {
            self.ledger.install(ctx.now, n - old, rate, sick, true);
        } else if n < old {
            self.take_away(ctx.now, node, old - n);
        }
    }

    /// A node reports fewer accelerators: what its pods hold stays theirs until they end.
    fn take_away(&mut self, now: Time, node: NodeId, n: u32) {
        let row = &mut self.nodes[node.ix()];
        let before = u64::from(row.accelerators) + u64::from(n);
        let gone = n.min(before.saturating_sub(row.held) as u32);
        row.accelerators += n - gone;
        let (rate, sick) = (row.rate, row.unhealthy);
        self.ledger.install(now, gone, rate, sick, false);
    }

    /// Pods that hold accelerators of a node.
    fn held_on<'a>(
        &'a self,
        ctx: &'a Ctx<'_>,
        node: NodeId,
    ) -> impl Iterator<Item = (PodId, u64)> + 'a {
        let pods = ctx.store.nodes.pods[node.ix()].iter().copied();
        let held = pods.filter(|p| self.category(*p).is_some());
        held.map(|p| (p, u64::from(self.pods[p.ix()].holds)))
    }

    /// Nobody can use the accelerators of a machine that is dead, silent to the control plane, or without its object.
    pub(super) fn judge_node(&mut self, ctx: &Ctx<'_>, node: NodeId) {
        let row = &ctx.store.nodes.rows[node.ix()];
        let sick = self.nodes[node.ix()].dead || !row.exists || row.unknown;
        if sick == self.nodes[node.ix()].unhealthy {
            return;
        }
        self.nodes[node.ix()].unhealthy = sick;
        let rate = self.nodes[node.ix()].rate;
        let held: Vec<(PodId, u64)> = self.held_on(ctx, node).collect();
        let mut left = u64::from(self.nodes[node.ix()].accelerators);
        for (pod, n) in held {
            left = left.saturating_sub(n);
            let (jobset, category) = (ctx.store.jobset_of(pod), self.category(pod));
            self.count_sick(ctx, pod, category, sick);
            let category = self.shown(jobset, category, (n, n * rate), !sick);
            self.move_health(ctx.now, (n, rate), category, sick);
        }
        self.move_health(ctx.now, (left, rate), LedgerCategory::Idle, sick);
    }

    fn move_health(
        &mut self,
        now: Time,
        (n, rate): (u64, u64),
        category: LedgerCategory,
        sick: bool,
    ) {
        let (from, to) = if sick {
            (category, LedgerCategory::Unhealthy)
        } else {
            (LedgerCategory::Unhealthy, category)
        };
        self.ledger.transfer(now, n, n * rate, from, to);
    }
}
