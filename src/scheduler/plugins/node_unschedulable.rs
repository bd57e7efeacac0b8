//! NodeUnschedulable: cordoned nodes.

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};
use sim_api::spec::keys::UNSCHEDULABLE;
use sim_api::spec::{TaintEffect, TaintSpec};

const REASON: &str = "node(s) were unschedulable";

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let taint = || TaintSpec { key: UNSCHEDULABLE.to_owned(), value: String::new(), effect: TaintEffect::NoSchedule };
    if !cycle.cluster.nodes[node].is_unschedulable || cycle.pod.tolerates(&taint()) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::NodeUnschedulable, REASON))
}
