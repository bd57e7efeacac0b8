//! Rate limit for NoExecute taints: one per 10 s and zone, less or none if most of the zone is silent (kubernetes.md
//! 4.1).

use super::monitor::unreachable;
use super::zones::Pace;
use super::{MONITOR_PERIOD, NodeLifecycle};
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Waited};
use sim_api::spec::TaintEffect;
use sim_base::*;

/// `--node-eviction-rate` 0.1 per second and `--secondary-node-eviction-rate` 0.01 (kubernetes.md 4.1).
const TAINT_INTERVAL: Duration = Duration::from_secs(10);
const SLOW_TAINT_INTERVAL: Duration = Duration::from_secs(100);

impl NodeLifecycle {
    pub(super) fn queue_no_execute(&mut self, ctx: &mut Ctx<'_>, node: NodeId) {
        self.see_zones(&ctx.store.nodes.cluster);
        let zone = ctx.store.nodes.cluster.zone[node.ix()];
        let limiter = &mut self.zones[zone.ix()];
        let at = limiter.next.max(ctx.now);
        limiter.next = at + TAINT_INTERVAL;
        self.limiter_busy.add(ctx.now, at);
        self.give_taint_at(ctx, node, at);
    }

    pub(super) fn leave_taint_queue(&mut self, node: NodeId) {
        self.node(node).taint_at = Time::NEVER;
        self.stopped.retain(|n| *n != node);
    }

    /// Registers a change in the number of silent nodes, which may restart stopped limiters when the monitor runs.
    pub(super) fn ask_stopped(&mut self, ctx: &mut Ctx<'_>) {
        let at = (ctx.now + Duration(1)).next_tick(self.monitor_phase, MONITOR_PERIOD);
        for node in std::mem::take(&mut self.stopped) {
            self.give_taint_at(ctx, node, at);
        }
    }

    fn give_taint_at(&mut self, ctx: &mut Ctx<'_>, node: NodeId, at: Time) {
        self.node(node).taint_at = at;
        let due = Event::TaintDue(node);
        ctx.at(at, Waited::TaintLimiter, About::Node(node), due);
    }

    pub(super) fn taint_due(&mut self, ctx: &mut Ctx<'_>, node: NodeId) {
        let row = ctx.store.nodes.rows[node.ix()];
        if !row.exists || !row.unknown || self.node(node).taint_at != ctx.now {
            return;
        }
        let zone = ctx.store.nodes.cluster.zone[node.ix()];
        let pace = self.pace(&ctx.store.nodes.cluster, zone);
        if pace == Pace::Stopped {
            self.leave_taint_queue(node);
            self.stopped.push(node);
            return;
        }
        let limiter = &mut self.zones[zone.ix()];
        if pace == Pace::Slow {
            limiter.next = limiter.next.max(ctx.now + SLOW_TAINT_INTERVAL);
        }
        self.leave_taint_queue(node);
        self.tainted += 1;
        apiserver::add_taint(ctx, node, unreachable(TaintEffect::NoExecute));
    }
}
