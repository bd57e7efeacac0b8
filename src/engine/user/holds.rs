//! Nodes that several drawn faults hold lost at once, where those come with age and so could not be put together when
//! they were drawn: a node is back when nobody holds it any more.

use crate::ctx::Ctx;
use sim_api::spec::{FaultAction, FaultTime, Scenario};
use sim_base::NodeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub struct Holds(BTreeMap<NodeId, Held>);

/// Who holds it: a clock of use, or 0 for the calendar, whose faults are one already.
#[derive(Clone, Default)]
struct Held {
    lost: BTreeSet<u32>,
    crashed: bool,
    closed: BTreeSet<u32>,
    drained: bool,
}

impl Holds {
    /// What the nth action of the script does to a node, if anything.
    pub fn act<'a>(
        &mut self,
        ctx: &Ctx<'a>,
        index: u32,
        node: NodeId,
    ) -> Option<Cow<'a, FaultAction>> {
        use FaultAction::*;
        let scenario: &'a Scenario = ctx.scenario;
        let fault = &scenario.faults[index as usize];
        let as_written = Some(Cow::Borrowed(&fault.action));
        if scenario.clocks.is_empty() || fault.drawn_as.is_none() {
            return as_written;
        }
        let by = holder(scenario, fault.at);
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
                match ctx.store.nodes.exists(node) {
                    true => as_written,
                    false => Some(Cow::Owned(NewNode(name.clone()))),
                }
            }
            action @ (CordonNode(_) | DrainNode(_)) => {
                let drain = matches!(action, DrainNode(_));
                let more = held.closed.is_empty() || drain && !held.drained;
                held.drained |= drain;
                held.closed.insert(by);
                as_written.filter(|_| more)
            }
            UncordonNode(_) => {
                held.closed.remove(&by);
                if !held.closed.is_empty() {
                    return None;
                }
                held.drained = false;
                as_written
            }
            _ => as_written,
        }
    }
}

fn holder(scenario: &Scenario, at: FaultTime) -> u32 {
    match at {
        FaultTime::Worn { clock, .. } => clock + 1,
        FaultTime::Follows { fault, .. } => holder(scenario, scenario.faults[fault as usize].at),
        FaultTime::At(_) | FaultTime::AfterReady(_) => 0,
    }
}
