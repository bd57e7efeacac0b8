//! Reads `experiment`: names and overrides. Whether a path exists is found out when the variant is read.

use crate::manifest::diagnostic::Report;
use crate::manifest::node::{Key, Node};
use crate::manifest::read;
use crate::spec::{BASELINE, Experiment, VariantSpec};

pub fn read(node: &Node, report: &mut Report) -> Experiment {
    let Some(node) = node.get("experiment") else {
        return Experiment::default();
    };
    let mut variants: Vec<VariantSpec> = Vec::new();
    for entry in read::list(node, "variants") {
        let name = read::string(entry, "name").unwrap_or_default();
        let at = entry.get("name").map_or(entry.at, |n| n.at);
        if name.is_empty() || name == BASELINE {
            let message = format!("{name:?} is no name for a variant: it is the scenario itself");
            report.error(at, message);
        }
        if variants.iter().any(|known| known.name == name) {
            report.error(at, format!("there are two variants {name:?}"));
        }
        let set = entry.get("set");
        let fields = set.map_or(&[][..], Node::entries);
        if fields.is_empty() {
            let at = set.map_or(entry.at, |s| s.at);
            report.error(at, format!("variant {name:?} sets nothing"));
        }
        let written = |(key, value): &(Key, Node)| (key.name.clone(), value.to_json().to_string());
        let sets = fields.iter().map(written).collect();
        variants.push(VariantSpec { name, sets });
    }
    let replications = read::integer(node, "replications");
    Experiment {
        variants,
        replications: replications.and_then(|n| u64::try_from(n).ok()),
    }
}
