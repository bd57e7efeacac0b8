//! Reads `faults`: scripted actions with their time and target.

pub(crate) mod actions;
pub(crate) mod processes;
mod rolling;
pub(crate) mod targets;

use super::cross::CrossInputs;
use super::requests;
use crate::text::node::{MappingKey, SourcePosition, YamlNode};
use crate::topology::{node_names, taint};
use crate::{read, schema::definitions::faults::ACTIONS, text::diagnostic::DiagnosticReport};
use sim_api::spec::{
    FaultAction, FaultTime, GateChanges, ImagePullFailure, ManagerStop, NodeRef, ScriptedFault, SubmittedJobSet,
};

/// A fault and the position of its time in the text.
pub type PlacedFault = (ScriptedFault, SourcePosition);

/// Returns the faults, and the JobSets that some of them create.
pub fn read(
    scenario: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport,
) -> (Vec<PlacedFault>, Vec<SubmittedJobSet>) {
    let mut aliases: Vec<String> = Vec::new();
    let mut created = Vec::new();
    let mut faults = Vec::new();
    for (entry, node) in (0..).zip(read::list(scenario, "faults")) {
        let time = time(node);
        let of_label = of_label(node, inputs, report);
        let actions: Vec<FaultAction> = match of_label {
            Some(actions) => actions,
            None => action(node, inputs, (&mut aliases, &mut created), report).into_iter().collect(),
        };
        if let Some((at, place)) = time {
            let one = |action| ScriptedFault { at, action, random_cause: None, entry: Some(entry) };
            faults.extend(actions.into_iter().map(|action| (one(action), place)));
        }
    }
    (faults, created)
}

fn time(node: &YamlNode) -> Option<(FaultTime, SourcePosition)> {
    let of = |key: &str| Some((read::duration(node, key)?, node.get(key)?.at));
    let at = of("at").map(|(at, place)| (FaultTime::At(at), place));
    at.or_else(|| of("afterReady").map(|(after, place)| (FaultTime::AfterReady(after), place)))
}

fn action_of(fault: &YamlNode) -> Option<(&str, &YamlNode)> {
    let is_action = |(key, value): &&(MappingKey, YamlNode)| ACTIONS.contains(&key.name.as_str()) && !value.is_null();
    let (key, body) = fault.entries().iter().find(is_action)?;
    Some((key.name.as_str(), body))
}

fn action(
    node: &YamlNode, inputs: &CrossInputs, (aliases, created): (&mut Vec<String>, &mut Vec<SubmittedJobSet>),
    report: &mut DiagnosticReport,
) -> Option<FaultAction> {
    let (name, body) = action_of(node)?;
    match name {
        "containerExit" => Some(FaultAction::ContainerExit {
            pod: pod(body, inputs, report)?,
            exit_code: read::i32_of(body, "exitCode").unwrap_or(1),
        }),
        "deletePod" => Some(FaultAction::DeletePod {
            pod: pod(body, inputs, report)?,
            force: read::boolean(body, "force").unwrap_or(false),
        }),
        "evictPod" => Some(FaultAction::EvictPod { pod: pod(body, inputs, report)? }),
        "suspendJobSet" | "resumeJobSet" | "deleteJobSet" => {
            let jobset = inputs.jobset(body.get("name")?, report)?;
            Some(match name {
                "suspendJobSet" => FaultAction::SuspendJobSet(jobset),
                "resumeJobSet" => FaultAction::ResumeJobSet(jobset),
                _ => FaultAction::DeleteJobSet(jobset),
            })
        }
        "stopManager" => Some(FaultAction::StopManager(manager_stop(body, inputs, report)?)),
        "failImagePulls" => Some(FaultAction::FailImagePulls(ImagePullFailure {
            image: read::string(body, "image"),
            lasts: read::duration(body, "for"),
            cached: read::boolean(body, "cached").unwrap_or(true),
        })),
        name @ ("patch" | "create" | "delete" | "show" | "jobCondition") => {
            requests::action(name, body, inputs, created, report)
        }
        name => node_action(name, body, inputs, aliases, report),
    }
}

/// Reads `stopManager`. It refuses to switch off InPlaceRestart while a JobSet uses it: the in-place agents would
/// wait at their barriers for a manager that ignores them, which is not simulated.
fn manager_stop(body: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> Option<ManagerStop> {
    let gates = body.get("featureGates");
    let gate = |key: &str| gates.and_then(|gates| read::boolean(gates, key));
    let mut all = inputs.all_jobsets();
    let user = all.find(|s| s.jobset.restarts_in_place());
    if let (Some(false), Some(user)) = (gate("InPlaceRestart"), user) {
        let at = gates.and_then(|g| g.get("InPlaceRestart"));
        let name = &user.jobset.name;
        let text =
            format!("InPlaceRestart cannot be switched off: JobSet {name:?} uses it, and this case is not simulated");
        report.error(at.map_or(body.at, |g| g.at), text);
        return None;
    }
    Some(ManagerStop {
        down_for: read::duration(body, "for").unwrap_or_default(),
        gates: GateChanges {
            in_place_restart: gate("InPlaceRestart"),
            restart_job: gate("RestartJob"),
            elastic_jobset: gate("ElasticJobSet"),
        },
    })
}

/// Expands an action with a label selector to one action for each matching node. Returns `None` if the action has no
/// label.
fn of_label(fault: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> Option<Vec<FaultAction>> {
    let (name, body) = action_of(fault)?;
    let label = body.get("label")?;
    let text = label.as_str()?;
    let Some((key, value)) = text.split_once('=') else {
        let error = report.error(label.at, format!("{text:?} is not of the form KEY=VALUE"));
        error.suggest("label: example.com/rack=r7");
        return Some(Vec::new());
    };
    let mut names = node_names::nodes_labelled(&inputs.topology.pools, key, value);
    let others = inputs.others.nodes.iter();
    let others = others.filter(|node| node.labels.get(key).is_some_and(|v| v == value));
    names.extend(others.map(|node| node.name.clone()));
    if names.is_empty() {
        report.error(label.at, format!("no node has the label {text}"));
    }
    let one = |node: String| {
        let node = NodeRef { name: Some(node), of_pod: None, alias: None };
        on_node(name, body, node)
    };
    Some(names.into_iter().map(one).collect())
}

fn node_action(
    name: &str, body: &YamlNode, inputs: &CrossInputs, aliases: &mut Vec<String>, report: &mut DiagnosticReport,
) -> Option<FaultAction> {
    let node = node_ref(body, inputs, aliases, report)?;
    Some(on_node(name, body, node))
}

fn on_node(name: &str, body: &YamlNode, node: NodeRef) -> FaultAction {
    match name {
        "crashNode" => FaultAction::CrashNode(node),
        "partitionNode" => FaultAction::PartitionNode(node),
        "returnNode" => FaultAction::ReturnNode(node),
        "deleteNode" => FaultAction::DeleteNode(node),
        "cordonNode" => FaultAction::CordonNode(node),
        "uncordonNode" => FaultAction::UncordonNode(node),
        "drainNode" => FaultAction::DrainNode(node),
        "newNode" => FaultAction::NewNode(node),
        _ => FaultAction::TaintNode(node, taint::taint(body)),
    }
}

fn pod(body: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> Option<String> {
    inputs.pod(body.get("pod")?, report)
}

fn node_ref(
    body: &YamlNode, inputs: &CrossInputs, aliases: &mut Vec<String>, report: &mut DiagnosticReport,
) -> Option<NodeRef> {
    let alias = body.get("alias");
    let mut reference = NodeRef { name: read::string(body, "node"), of_pod: None, alias: read::string(body, "alias") };
    match (body.get("node"), body.get("ofPod")) {
        (Some(name), _) => inputs.node(name, report)?,
        (None, Some(pod)) => {
            reference.of_pod = Some(inputs.pod(pod, report)?);
        }
        (None, None) => return known_alias(body, reference, aliases, report),
    }
    if let Some(name) = alias.and_then(YamlNode::as_str) {
        aliases.push(name.to_owned());
    }
    Some(reference)
}

/// Resolves an alias without `node` or `ofPod`, which refers to the node of an earlier fault.
fn known_alias(
    body: &YamlNode, reference: NodeRef, aliases: &[String], report: &mut DiagnosticReport,
) -> Option<NodeRef> {
    let (node, alias) = (body.get("alias")?, reference.alias.as_ref()?);
    if aliases.contains(alias) {
        return Some(reference);
    }
    let error = report.error(node.at, format!("no earlier fault defines the alias {alias:?}"));
    error.nearest(alias, aliases.iter().map(String::as_str));
    error.legal(if aliases.is_empty() {
        "an alias defined with node or ofPod in an earlier fault".to_owned()
    } else {
        aliases.join(", ")
    });
    None
}
