//! NoExecute taints of silent nodes, at the rate of the limiter of their zone (kubernetes.md 4.1).

use super::NodeLifecycle;
use super::monitor::unreachable_taint;
use crate::record::{TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::TaintEffect;
use sim_api::spec::keys::{NOT_READY, UNREACHABLE};
use sim_base::{NodeId, SimTime, ZoneId};

impl NodeLifecycle {
    /// Updates the counts of the zones after a node became silent or ready, was removed or created, or changed its
    /// zone.
    pub(super) fn count_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let nodes = &ctx.store.nodes;
        let (row, zone) = (nodes.rows[node.ix()], nodes.cluster.zone[node.ix()]);
        self.limiters.resize(nodes.cluster.zone_sizes.len());
        let of = |counts: bool| if counts { zone } else { ZoneId::NONE };
        let (silent, gone) = (of(row.exists && row.unknown), of(!row.exists));
        let marks = self.node(node);
        let was_silent = std::mem::replace(&mut marks.silent_zone, silent);
        let was_gone = std::mem::replace(&mut marks.removed_zone, gone);
        self.limiters.count(was_silent, -1, 0);
        self.limiters.count(silent, 1, 0);
        self.limiters.count(was_gone, 0, -1);
        self.limiters.count(gone, 0, 1);
        if (was_silent, was_gone) != (silent, gone) && !self.limiters.is_idle() {
            self.has_changed_zones = true;
            self.arm_monitor(ctx);
        }
    }

    pub(super) fn queue_no_execute(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        if !self.limiters.is_waiting() {
            self.waiting_since = ctx.now;
        }
        self.limiters.push(ctx.store.nodes.cluster.zone[node.ix()], node);
        self.node(node).queued = Some(ctx.mark());
    }

    pub(super) fn leave_taint_queue(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        if self.node(node).queued.take().is_some() {
            self.limiters.remove(node);
            self.add_busy(ctx.now);
        }
    }

    /// Adds the time since which nodes wait.
    fn add_busy(&mut self, now: SimTime) {
        self.limiter_busy.add(self.waiting_since, now);
        self.waiting_since = now;
    }

    /// Adapts the rates at the end of a run of the monitor.
    pub(super) fn adapt_limiters(&mut self, ctx: &mut EngineContext<'_>) {
        if std::mem::take(&mut self.has_changed_zones)
            && self.limiters.adapt(ctx.now, &ctx.store.nodes.cluster.zone_sizes)
        {
            self.stop_evictions(ctx);
        }
        self.schedule_taints(ctx);
    }

    /// No node is ready: evictions end until one is.
    fn stop_evictions(&mut self, ctx: &mut EngineContext<'_>) {
        for node in (0..ctx.store.nodes.rows.len() as u32).map(NodeId) {
            let row = ctx.store.nodes.rows[node.ix()];
            if !row.exists {
                continue;
            }
            for key in [UNREACHABLE, NOT_READY] {
                apiserver::remove_taint(ctx, node, key, Some(TaintEffect::NoExecute));
            }
            self.node(node).queued = None;
            if row.unknown {
                self.queue_no_execute(ctx, node);
            }
        }
    }

    fn schedule_taints(&mut self, ctx: &mut EngineContext<'_>) {
        for (zone, at) in self.limiters.due(ctx.now) {
            ctx.schedule_at(at, TicketWait::NodeMonitor, TicketSubject::Nothing, SimulationEvent::TaintDue(zone));
        }
    }

    pub(super) fn taint_due(&mut self, ctx: &mut EngineContext<'_>, zone: ZoneId) {
        let node = self.limiters.take(ctx.now, zone);
        self.schedule_taints(ctx);
        let Some(node) = node else { return };
        self.add_busy(ctx.now);
        self.tainted += 1;
        if let Some(since) = self.node(node).queued.take() {
            ctx.resume(since, TicketWait::TaintLimiter, TicketSubject::Node(node));
        }
        apiserver::add_taint(ctx, node, unreachable_taint(TaintEffect::NoExecute));
    }
}
