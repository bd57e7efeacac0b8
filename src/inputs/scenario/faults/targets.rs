//! Reads the targets of random faults: `on` and `takesAlong` of `faultProcesses`, and the labels that they use.

use crate::topology::label_keys;
use crate::{scenario::cross::CrossInputs, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::FaultsOn;
use sim_api::spec::keys::HOSTNAME;

pub(crate) fn on(node: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> FaultsOn {
    let Some(on) = node.get("on") else {
        return FaultsOn::Node;
    };
    let result = match on.as_str() {
        Some("Pod") => FaultsOn::Pod,
        Some("Island") => FaultsOn::Island,
        Some("Accelerator") => {
            if inputs.topology.pools.iter().all(|p| p.accelerator.is_empty()) {
                report.error(on.at, "no pool of the topology sets the field accelerator");
            }
            FaultsOn::Accelerator
        }
        _ => label(on, inputs, report).map_or(FaultsOn::Node, FaultsOn::Label),
    };
    let by_name = matches!(result, FaultsOn::Node | FaultsOn::Pod);
    if !by_name && node.get("trace").is_some() {
        let message = "a trace names nodes or pods; use takesAlong to extend a fault to a domain";
        report.error(on.at, message);
    }
    result
}

pub(crate) fn takes_along(
    node: &YamlNode, on: &FaultsOn, inputs: &CrossInputs, report: &mut DiagnosticReport,
) -> Option<String> {
    let domain = node.get("takesAlong")?;
    if matches!(on, FaultsOn::Label(_) | FaultsOn::Island) {
        report.error(domain.at, "takesAlong has no effect: the fault already affects a whole domain");
    }
    label(domain, inputs, report)
}

/// Reads the label key of `{label: KEY}` and checks that some node has the label.
pub(crate) fn label(domain: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> Option<String> {
    let (place, key) = domain.get("label").and_then(|l| Some((l, l.as_str()?)))?;
    let known = label_keys(inputs.topology);
    if key != HOSTNAME && !known.iter().any(|own| own == key) {
        let error = report.error(place.at, format!("no node has the label {key:?}"));
        error.nearest(key, known.iter().map(String::as_str));
        error.legal(known.join(", "));
    }
    Some(key.to_owned())
}
