//! Nodes affected by several overlapping random faults at the same time. With usage-based aging, overlaps are only
//! known during the run: a node returns when the last of these faults ends.

use crate::ctx::EngineContext;
use sim_api::spec::{FaultAction, FaultTime, ScenarioSpec};
use sim_base::NodeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub struct UserHolds(BTreeMap<NodeId, HeldResource>);

/// The source of the outage: an aging clock, or 0 for calendar-based faults, which were already merged.
#[derive(Clone, Default)]
struct HeldResource {
    lost: BTreeSet<u32>,
    crashed: bool,
    cordoned: BTreeSet<u32>,
    drained: bool,
}

impl UserHolds {
    /// The effect of the script action with this index on a node, if any.
    pub fn effective_action<'a>(
        &mut self, ctx: &EngineContext<'a>, index: u32, node: NodeId,
    ) -> Option<Cow<'a, FaultAction>> {
        use FaultAction::*;
        let scenario: &'a ScenarioSpec = ctx.scenario;
        let fault = &scenario.faults[index as usize];
        let as_written = Some(Cow::Borrowed(&fault.action));
        if scenario.clocks.is_empty() || fault.random_cause.is_none() {
            return as_written;
        }
        let by = outage_source(scenario, fault.at);
        let held = self.0.entry(node).or_default();
        match &fault.action {
            action @ (CrashNode(_) | PartitionNode(_)) => {
                let crash = matches!(action, CrashNode(_));
                let more = held.lost.is_empty() || crash && !held.crashed;
                held.crashed |= crash;
                held.lost.insert(by);
                as_written.filter(|_| more)
            }
            ReturnNode(name) | NewNode(name) => {
                held.lost.remove(&by);
                if !held.lost.is_empty() {
                    return None;
                }
                held.crashed = false;
                if ctx.store.nodes.exists(node) { as_written } else { Some(Cow::Owned(NewNode(name.clone()))) }
            }
            action @ (CordonNode(_) | DrainNode(_)) => {
                let drain = matches!(action, DrainNode(_));
                let more = held.cordoned.is_empty() || drain && !held.drained;
                held.drained |= drain;
                held.cordoned.insert(by);
                as_written.filter(|_| more)
            }
            UncordonNode(_) => {
                held.cordoned.remove(&by);
                if !held.cordoned.is_empty() {
                    return None;
                }
                held.drained = false;
                as_written
            }
            _ => as_written,
        }
    }
}

fn outage_source(scenario: &ScenarioSpec, at: FaultTime) -> u32 {
    match at {
        FaultTime::AtUsageAge { clock, .. } => clock + 1,
        FaultTime::AfterFault { fault, .. } => outage_source(scenario, scenario.faults[fault as usize].at),
        FaultTime::At(_) | FaultTime::AfterReady(_) => 0,
    }
}
