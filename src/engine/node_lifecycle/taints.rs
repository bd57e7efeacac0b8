//! Rate limit for NoExecute taints: one per 10 s and zone, less or none if most of the zone is silent (kubernetes.md
//! 4.1).

use super::monitor::unreachable_taint;
use super::zones::EvictionPace;
use super::{MONITOR_PERIOD, NodeLifecycle};
use crate::record::{TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::TaintEffect;
use sim_base::{Duration, NodeId, SimTime};

/// `--node-eviction-rate` 0.1 per second and `--secondary-node-eviction-rate` 0.01 (kubernetes.md 4.1).
pub const TAINT_INTERVAL: Duration = Duration::from_secs(10);
pub const SLOW_TAINT_INTERVAL: Duration = Duration::from_secs(100);

impl NodeLifecycle {
    pub(super) fn queue_no_execute(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        self.add_zones(&ctx.store.nodes.cluster);
        let zone = ctx.store.nodes.cluster.zone[node.ix()];
        let limiter = &mut self.zones[zone.ix()];
        let at = limiter.next_taint.max(ctx.now);
        limiter.next_taint = at + TAINT_INTERVAL;
        self.limiter_busy.add(ctx.now, at);
        self.schedule_taint(ctx, node, at);
    }

    pub(super) fn leave_taint_queue(&mut self, node: NodeId) {
        self.node(node).taint_at = SimTime::NEVER;
        self.stopped.retain(|n| *n != node);
    }

    /// Registers a change in the number of silent nodes, which may restart stopped limiters when the monitor runs.
    pub(super) fn recheck_stopped_zones(&mut self, ctx: &mut EngineContext<'_>) {
        let at = (ctx.now + Duration(1)).next_tick(self.monitor_phase, MONITOR_PERIOD);
        for node in std::mem::take(&mut self.stopped) {
            self.schedule_taint(ctx, node, at);
        }
    }

    fn schedule_taint(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, at: SimTime) {
        self.node(node).taint_at = at;
        let due = SimulationEvent::TaintDue(node);
        ctx.schedule_at(at, TicketWait::TaintLimiter, TicketSubject::Node(node), due);
    }

    pub(super) fn taint_due(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let row = ctx.store.nodes.rows[node.ix()];
        if !row.exists || !row.unknown || self.node(node).taint_at != ctx.now {
            return;
        }
        let zone = ctx.store.nodes.cluster.zone[node.ix()];
        let pace = self.pace(&ctx.store.nodes.cluster, zone);
        if pace == EvictionPace::Stopped {
            self.leave_taint_queue(node);
            self.stopped.push(node);
            return;
        }
        let limiter = &mut self.zones[zone.ix()];
        if pace == EvictionPace::Slow {
            limiter.next_taint = limiter.next_taint.max(ctx.now + SLOW_TAINT_INTERVAL);
        }
        self.leave_taint_queue(node);
        self.tainted += 1;
        apiserver::add_taint(ctx, node, unreachable_taint(TaintEffect::NoExecute));
    }
}
