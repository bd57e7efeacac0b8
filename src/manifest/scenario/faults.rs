//! Reads `faults`: what happens when, to which object.

use super::cross::Inputs;
use super::requests;
use crate::manifest::diagnostic::Report;
use crate::manifest::node::{Node, Pos};
use crate::manifest::shapes::ACTIONS;
use crate::manifest::{read, topology};
use crate::spec::{
    FaultAction, FaultTime, GateChanges, ManagerStop, NodeRef, ScriptedFault, SubmittedJobSet,
};

/// A fault and where its time was written.
pub type Placed = (ScriptedFault, Pos);

/// The faults, and the JobSets that some of them create.
pub fn read(
    scenario: &Node,
    inputs: &Inputs,
    report: &mut Report,
) -> (Vec<Placed>, Vec<SubmittedJobSet>) {
    let mut aliases: Vec<String> = Vec::new();
    let mut created = Vec::new();
    let mut faults = Vec::new();
    for node in read::list(scenario, "faults") {
        let time = time(node);
        let action = action(node, inputs, (&mut aliases, &mut created), report);
        if let (Some((at, place)), Some(action)) = (time, action) {
            faults.push((
                ScriptedFault {
                    at,
                    action,
                    drawn_as: None,
                },
                place,
            ));
        }
    }
    (faults, created)
}

fn time(node: &Node) -> Option<(FaultTime, Pos)> {
    let of = |key: &str| Some((read::duration(node, key)?, node.get(key)?.at));
    let at = of("at").map(|(at, place)| (FaultTime::At(at), place));
    at.or_else(|| of("afterReady").map(|(after, place)| (FaultTime::AfterReady(after), place)))
}

fn action(
    node: &Node,
    inputs: &Inputs,
    (aliases, created): (&mut Vec<String>, &mut Vec<SubmittedJobSet>),
    report: &mut Report,
) -> Option<FaultAction> {
    let mut entries = node.entries().iter();
    let (key, body) = entries.find(|(k, v)| ACTIONS.contains(&k.name.as_str()) && !v.is_null())?;
    match key.name.as_str() {
        "containerExit" => Some(FaultAction::ContainerExit {
            pod: pod(body, inputs, report)?,
            exit_code: read::i32_of(body, "exitCode").unwrap_or(1),
        }),
        "deletePod" => Some(FaultAction::DeletePod {
            pod: pod(body, inputs, report)?,
            force: read::boolean(body, "force").unwrap_or(false),
        }),
        "evictPod" => Some(FaultAction::EvictPod {
            pod: pod(body, inputs, report)?,
        }),
        "suspendJobSet" | "resumeJobSet" | "deleteJobSet" => {
            let name = inputs.jobset(body.get("name")?, report)?;
            Some(match key.name.as_str() {
                "suspendJobSet" => FaultAction::SuspendJobSet(name),
                "resumeJobSet" => FaultAction::ResumeJobSet(name),
                _ => FaultAction::DeleteJobSet(name),
            })
        }
        "stopManager" => Some(FaultAction::StopManager(manager_stop(
            body, inputs, report,
        )?)),
        name @ ("patch" | "create" | "delete" | "show" | "jobCondition") => {
            requests::action(name, body, inputs, created, report)
        }
        name => node_action(name, body, inputs, aliases, report),
    }
}

/// Agents would wait at their barriers for a manager that no longer looks at them; that is not played.
fn manager_stop(body: &Node, inputs: &Inputs, report: &mut Report) -> Option<ManagerStop> {
    let gates = body.get("featureGates");
    let gate = |key: &str| gates.and_then(|gates| read::boolean(gates, key));
    let mut all = inputs.all_jobsets();
    let user = all.find(|s| s.jobset.restarts_in_place());
    if let (Some(false), Some(user)) = (gate("InPlaceRestart"), user) {
        let at = gates.and_then(|g| g.get("InPlaceRestart"));
        let name = &user.jobset.name;
        let text = format!(
            "InPlaceRestart stays on: JobSet {name:?} uses it, and what becomes of it is not simulated"
        );
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

fn node_action(
    name: &str,
    body: &Node,
    inputs: &Inputs,
    aliases: &mut Vec<String>,
    report: &mut Report,
) -> Option<FaultAction> {
    let node = node_ref(body, inputs, aliases, report)?;
    Some(match name {
        "crashNode" => FaultAction::CrashNode(node),
        "partitionNode" => FaultAction::PartitionNode(node),
        "returnNode" => FaultAction::ReturnNode(node),
        "deleteNode" => FaultAction::DeleteNode(node),
        "cordonNode" => FaultAction::CordonNode(node),
        "uncordonNode" => FaultAction::UncordonNode(node),
        "drainNode" => FaultAction::DrainNode(node),
        "newNode" => FaultAction::NewNode(node),
        _ => FaultAction::TaintNode(node, topology::taint(body)),
    })
}

fn pod(body: &Node, inputs: &Inputs, report: &mut Report) -> Option<String> {
    inputs.pod(body.get("pod")?, report)
}

fn node_ref(
    body: &Node,
    inputs: &Inputs,
    aliases: &mut Vec<String>,
    report: &mut Report,
) -> Option<NodeRef> {
    let alias = body.get("alias");
    let mut reference = NodeRef {
        name: read::string(body, "node"),
        of_pod: None,
        alias: read::string(body, "alias"),
    };
    match (body.get("node"), body.get("ofPod")) {
        (Some(name), _) => inputs.node(name, report)?,
        (None, Some(pod)) => {
            reference.of_pod = Some(inputs.pod(pod, report)?);
        }
        (None, None) => return known_alias(body, reference, aliases, report),
    }
    if let Some(name) = alias.and_then(Node::as_str) {
        aliases.push(name.to_owned());
    }
    Some(reference)
}

/// An alias alone stands for a node that an earlier fault named.
fn known_alias(
    body: &Node,
    reference: NodeRef,
    aliases: &[String],
    report: &mut Report,
) -> Option<NodeRef> {
    let (node, alias) = (body.get("alias")?, reference.alias.as_ref()?);
    if aliases.contains(alias) {
        return Some(reference);
    }
    let error = report.error(
        node.at,
        format!("no earlier fault gives the alias {alias:?}"),
    );
    error.nearest(alias, aliases.iter().map(String::as_str));
    error.legal(match aliases.is_empty() {
        true => "an alias that stands beside node or ofPod in an earlier fault".to_owned(),
        false => aliases.join(", "),
    });
    None
}
