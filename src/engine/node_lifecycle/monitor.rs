//! The node monitor: a node with an expired Lease becomes Unknown, and ready again when its kubelet returns.

use super::{MONITOR_PERIOD, NOT_READY, NodeLifecycle, UNREACHABLE};
use crate::ctx::{ContextMark, EngineContext};
use crate::record::{TicketSubject, TicketWait};
use crate::{apiserver, event::SimulationEvent};
use sim_api::spec::{TaintEffect, TaintSpec};
use sim_base::{Duration, NodeId, SimTime};

impl NodeLifecycle {
    /// Registers a node whose Lease renewals stopped or resumed.
    pub(super) fn watch_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let since = ctx.mark();
        match self.watched.iter_mut().find(|(n, _)| *n == node) {
            Some((_, mark)) => *mark = since,
            None => self.watched.push((node, since)),
        }
        self.arm_monitor(ctx);
    }

    pub(super) fn arm_monitor(&mut self, ctx: &mut EngineContext<'_>) {
        if self.monitor_armed || (self.watched.is_empty() && !self.has_changed_zones) {
            return;
        }
        self.monitor_armed = true;
        let at = (ctx.now + Duration(1)).next_tick(self.monitor_phase, MONITOR_PERIOD);
        ctx.schedule_at(at, TicketWait::NodeMonitor, TicketSubject::Nothing, SimulationEvent::MonitorTick);
    }

    pub(super) fn monitor_tick(&mut self, ctx: &mut EngineContext<'_>) {
        self.monitor_armed = false;
        let before = ctx.mark();
        let mut watched = std::mem::take(&mut self.watched);
        watched.retain(|(node, since)| {
            let stays = self.check_node(ctx, *node, *since);
            ctx.restore_mark(before);
            stays
        });
        self.watched = watched;
        self.adapt_limiters(ctx);
        ctx.restore_mark(before);
        self.arm_monitor(ctx);
    }

    /// Checks a node. Returns true if it has to be checked again.
    fn check_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, since: ContextMark) -> bool {
        let row = ctx.store.nodes.rows[node.ix()];
        if !row.exists {
            return false;
        }
        let grace = Duration::from_secs(ctx.scenario.control_plane.node_monitor_grace_period_s);
        let silent = row.lease != SimTime::NEVER;
        // Counted from the run of the monitor that observed the last renewal.
        let seen = |lease: SimTime| lease.next_tick(self.monitor_phase, MONITOR_PERIOD);
        let becomes_unknown = silent && !row.unknown && ctx.now >= seen(row.lease) + grace;
        let recovers = !silent && has_lifecycle_taint(ctx, node);
        if becomes_unknown || recovers {
            ctx.resume(since, TicketWait::NodeMonitor, TicketSubject::Node(node));
        }
        if becomes_unknown {
            self.node_becomes_unknown(ctx, node);
        } else if recovers {
            self.leave_taint_queue(ctx, node);
            apiserver::remove_taint(ctx, node, UNREACHABLE, None);
            apiserver::remove_taint(ctx, node, NOT_READY, None);
        }
        let settled = silent && ctx.store.nodes.rows[node.ix()].unknown;
        !settled && (silent || has_lifecycle_taint(ctx, node))
    }

    /// Sets Ready=Unknown, the NoSchedule taint and the pods to not ready, and queues the node for NoExecute.
    fn node_becomes_unknown(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        apiserver::set_node_ready(ctx, node, false);
        apiserver::add_taint(ctx, node, unreachable_taint(TaintEffect::NoSchedule));
        for pod in ctx.store.nodes.pods[node.ix()].clone() {
            apiserver::set_ready(ctx, pod, false);
        }
        // The rates are adapted in the same run.
        self.count_node(ctx, node);
        self.queue_no_execute(ctx, node);
    }

    /// Sets Ready=True: the taint controller removes NoSchedule immediately, the monitor removes NoExecute in its
    /// next run.
    pub(super) fn node_becomes_ready(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let row = ctx.store.nodes.rows[node.ix()];
        if !row.exists || row.unknown {
            return;
        }
        self.leave_taint_queue(ctx, node);
        for key in [UNREACHABLE, NOT_READY] {
            apiserver::remove_taint(ctx, node, key, Some(TaintEffect::NoSchedule));
        }
    }
}

fn has_lifecycle_taint(ctx: &EngineContext<'_>, node: NodeId) -> bool {
    let mut taints = ctx.store.nodes.taints[node.ix()].iter();
    taints.any(|t| t.key == UNREACHABLE || t.key == NOT_READY)
}

pub(super) fn unreachable_taint(effect: TaintEffect) -> TaintSpec {
    TaintSpec { key: UNREACHABLE.to_owned(), value: String::new(), effect }
}
