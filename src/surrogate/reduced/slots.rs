//! Slots for the JobSet's pods: a slot is a node or, with exclusive placement, a domain that holds one Job.

use sim_api::spec::ScenarioSpec;
use sim_base::NodeId;
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;

/// Slots of a cluster and the requirements of the JobSet.
#[derive(Clone, Debug, Default)]
pub struct SlotTable {
    /// Nodes of each slot, in order.
    pub nodes: Vec<Vec<NodeId>>,
    /// Index of the slot of each node.
    pub of: Vec<usize>,
    /// Number of slots that the JobSet requires.
    pub needed: usize,
    /// Number of pods of the JobSet.
    pub pods: usize,
    /// Number of accelerators per node that a pod holds.
    pub accelerators: Vec<u64>,
    /// Price of an accelerator per hour, in millionths of the currency, per node.
    pub rates: Vec<u64>,
    /// Currency of the prices.
    pub currency: String,
}

impl SlotTable {
    /// Creates the slots for the only JobSet of a scenario.
    pub fn new(scenario: &ScenarioSpec) -> SlotTable {
        let cluster = ClusterBuilder::build(&scenario.topology, &["pods".to_owned()]);
        let jobset = &scenario.jobsets[0].jobset;
        let mut slots = SlotTable {
            accelerators: cluster.accelerators.iter().map(|n| u64::from(*n)).collect(),
            rates: cluster.price_micros_per_hour.clone(),
            currency: cluster.currency.clone(),
            pods: jobset.spec.pods() as usize,
            ..SlotTable::default()
        };
        let rjs = &jobset.spec.replicated_jobs;
        let key = rjs.first().and_then(|rj| jobset.exclusive_key(rj));
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        for i in 0..cluster.len() {
            let node = NodeId(i as u32);
            let label = key.and_then(|key| cluster.label(node, key));
            let name = label.unwrap_or_else(|| cluster.names[i].clone());
            let at = *named.entry(name).or_insert(slots.nodes.len());
            if at == slots.nodes.len() {
                slots.nodes.push(Vec::new());
            }
            slots.nodes[at].push(node);
            slots.of.push(at);
        }
        slots.needed = match key {
            Some(_) => rjs.iter().map(|rj| rj.replicas as usize).sum(),
            None => slots.pods,
        };
        slots
    }

    /// Returns the number of nodes per slot. All slots of a supported scenario have the same number.
    pub fn width(&self) -> usize {
        self.nodes.first().map_or(1, Vec::len)
    }
}
