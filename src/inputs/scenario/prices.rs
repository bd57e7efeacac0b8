//! Reads `prices`, which override the prices of the topology.

use crate::{read, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::{AcceleratorPrice, TopologySpec};

pub fn apply(scenario: &YamlNode, topology: &mut TopologySpec, report: &mut DiagnosticReport) {
    let Some(prices) = scenario.get("prices") else {
        return;
    };
    if let Some(currency) = read::string(prices, "currency") {
        topology.currency = currency;
    }
    if let Some(price) = read::number(prices, "perAcceleratorHour") {
        let price = AcceleratorPrice::PerAccelerator(AcceleratorPrice::micros(price));
        topology.pools.iter_mut().for_each(|p| p.price = price);
    }
    let pools = prices.get("pools").map_or(&[][..], YamlNode::entries);
    for (key, value) in pools {
        let known: Vec<String> = topology.pools.iter().map(|p| p.name.clone()).collect();
        let pool = topology.pools.iter_mut().find(|p| p.name == key.name);
        match (pool, value.as_f64()) {
            (Some(pool), Some(price)) => pool.price = AcceleratorPrice::PerAccelerator(AcceleratorPrice::micros(price)),
            (Some(_), None) => {}
            (None, _) => {
                let error = report.error(key.at, format!("pool {:?} does not exist", key.name));
                error.nearest(&key.name, known.iter().map(String::as_str));
                error.legal(known.join(", "));
            }
        }
    }
}
