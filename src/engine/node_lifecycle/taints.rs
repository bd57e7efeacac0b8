//! One NoExecute taint per 10 s and zone, slower or never when most of the zone is silent (kubernetes.md 4.1).

use super::monitor::unreachable;
use super::zones::Pace;
use super::{MONITOR_PERIOD, NodeLifecycle};
use crate::base::*;
use crate::engine::apiserver;
use crate::engine::ctx::Ctx;
use crate::engine::event::Event;
use crate::record::{About, Waited};
use crate::spec::TaintEffect;

const TAINT_INTERVAL: Duration = Duration::from_secs(10);
const SLOW_TAINT_INTERVAL: Duration = Duration::from_secs(100);
/// Evictions that have stopped are asked for again so long after the last news.
const PATIENCE: Duration = Duration::from_secs(900);

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
            // Asked again when the monitor runs.
            if ctx.now.since(ctx.progress.last) < PATIENCE {
                self.give_taint_at(ctx, node, ctx.now + MONITOR_PERIOD);
            }
            return;
        }
        let limiter = &mut self.zones[zone.ix()];
        if pace == Pace::Slow {
            limiter.next = limiter.next.max(ctx.now + SLOW_TAINT_INTERVAL);
        }
        self.node(node).taint_at = Time::NEVER;
        self.tainted += 1;
        apiserver::add_taint(ctx, node, unreachable(TaintEffect::NoExecute));
    }
}
