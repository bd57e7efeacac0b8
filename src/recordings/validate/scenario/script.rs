//! Converts a recording's script to container rules and faults, one to one and in the same order.
//!
//! No key or action is dropped silently. Unsupported parts are errors: short phrases, identical for identical causes.

use super::script_requests::user_request;
use super::unmodelled::UnmodelledPart;
use crate::validate::recording::{PodRule, RecordedRun, ScriptAction};
use sim_api::spec::{ContainerRule, FaultAction, FaultTime, NodeRef, ScriptedFault, TaintEffect, TaintSpec};
use sim_base::Duration;
use std::collections::BTreeSet;

/// Converts a rule of the script. An unsupported key is an error.
pub fn container_rule(rule: &PodRule) -> Result<ContainerRule, UnmodelledPart> {
    if let Some(key) = rule.unknown.keys().next() {
        return Err(UnmodelledPart::PodRuleKey { key: key.clone() });
    }
    Ok(ContainerRule {
        jobset: rule.job_set.clone(),
        replicated_job: rule.replicated_job.clone(),
        job_index: rule.job_index,
        pod_index: rule.pod_index,
        restart_attempt: rule.restart_attempt,
        job_restart: rule.job_restart,
        job_try: rule.job_try,
        in_place_attempt: rule.in_place_attempt,
        container_run: rule.container_run,
        run_for: u64::try_from(rule.run_ms).ok().map(Duration::from_millis),
        exit_code: rule.exit,
        container: rule.container.clone(),
        pod_fails: rule.pod_fails == Some(true),
        at_barrier_for: rule.barrier_ms.map(Duration::from_millis),
        ready_after: None,
        start_after: rule.start_ms.map(Duration::from_millis),
        stop_after: rule.term_ms.map(Duration::from_millis),
        from_command: None,
    })
}

/// Converts the actions to faults, or returns all reasons why they are not supported.
pub fn faults(recording: &RecordedRun) -> Result<Vec<ScriptedFault>, Vec<UnmodelledPart>> {
    let mut reader = ScriptReader { recording, jobsets: 0, aliases: BTreeSet::new() };
    let (mut faults, mut reasons) = (Vec::new(), Vec::new());
    for action in &recording.script.actions {
        match reader.fault(action) {
            Ok(action_of) => faults.push(ScriptedFault {
                at: FaultTime::At(Duration::from_millis(action.at_ms)),
                action: action_of,
                random_cause: None,
                entry: None,
            }),
            Err(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() { Ok(faults) } else { Err(reasons) }
}

/// Keys that each action accepts besides `atMs` and `do`.
const ACTION_KEYS: [(&str, &[&str]); 19] = [
    ("suspend", &[]),
    ("resume", &[]),
    ("deleteJobSet", &[]),
    ("deletePod", &["pod", "graceSeconds"]),
    ("forceDeletePod", &["pod", "name"]),
    ("evictPod", &["pod"]),
    ("crashNode", NODE_KEYS),
    ("partitionNode", NODE_KEYS),
    ("returnNode", NODE_KEYS),
    ("deleteNode", NODE_KEYS),
    ("cordonNode", NODE_KEYS),
    ("drainNode", NODE_KEYS),
    ("newNode", &["name"]),
    ("taintNode", &["pod", "name", "body"]),
    ("patch", &["body", "patchType"]),
    ("patchObject", &["pod", "resource", "name", "body", "patchType", "subresource"]),
    ("create", &["resource", "name", "body"]),
    ("deleteObject", &["pod", "resource", "name", "propagation", "graceSeconds"]),
    ("show", &["pod", "resource", "name", "fields"]),
];
const NODE_KEYS: &[&str] = &["pod", "name"];

fn written_keys(action: &ScriptAction) -> Vec<&str> {
    let keys = [
        ("pod", action.pod.is_some()),
        ("name", action.name.is_some()),
        ("body", action.body.is_some()),
        ("graceSeconds", action.grace_seconds.is_some()),
        ("resource", action.resource.is_some()),
        ("subresource", action.subresource.is_some()),
        ("patchType", action.patch_type.is_some()),
        ("propagation", action.propagation.is_some()),
        ("fields", !action.fields.is_empty()),
    ];
    let present = keys.into_iter().filter(|k| k.1).map(|k| k.0);
    present.chain(action.unknown.keys().map(String::as_str)).collect()
}

struct ScriptReader<'r> {
    recording: &'r RecordedRun,
    /// Number of JobSets created by actions so far.
    jobsets: u32,
    /// Node aliases defined by actions so far.
    aliases: BTreeSet<&'r str>,
}

impl<'r> ScriptReader<'r> {
    fn fault(&mut self, action: &'r ScriptAction) -> Result<FaultAction, UnmodelledPart> {
        let what = action.what.as_str();
        let name = || action.what.clone();
        let Some((_, keys)) = ACTION_KEYS.iter().find(|k| k.0 == what) else {
            return Err(UnmodelledPart::Action { action: name() });
        };
        if let Some(key) = written_keys(action).into_iter().find(|key| !keys.contains(key)) {
            return Err(UnmodelledPart::ActionKey { action: name(), key: key.to_owned() });
        }
        let jobset = || self.recording.jobset_name().to_owned();
        let pod = || {
            let missing = || UnmodelledPart::ActionWithoutPod { action: name() };
            action.pod.clone().ok_or_else(missing)
        };
        Ok(match what {
            "suspend" => FaultAction::SuspendJobSet(jobset()),
            "resume" => FaultAction::ResumeJobSet(jobset()),
            "deleteJobSet" => FaultAction::DeleteJobSet(jobset()),
            "deletePod" => FaultAction::DeletePod {
                pod: pod()?,
                force: match action.grace_seconds {
                    None => false,
                    Some(0) => true,
                    Some(_) => {
                        return Err(UnmodelledPart::ActionKey { action: name(), key: "graceSeconds".to_owned() });
                    }
                },
            },
            "forceDeletePod" => {
                let alias = action.name.as_deref();
                if alias.is_some_and(|alias| !self.aliases.contains(alias)) {
                    return Err(UnmodelledPart::UndefinedNodeAlias { action: name() });
                }
                FaultAction::DeletePod { pod: pod()?, force: true }
            }
            "evictPod" => FaultAction::EvictPod { pod: pod()? },
            "patch" | "patchObject" | "create" | "deleteObject" | "show" => {
                FaultAction::Request(user_request(action, self.recording, &mut self.jobsets)?)
            }
            _ => self.node_action(action)?,
        })
    }

    fn node_action(&mut self, action: &'r ScriptAction) -> Result<FaultAction, UnmodelledPart> {
        let node = NodeRef { name: None, of_pod: action.pod.clone(), alias: action.name.clone() };
        let name = || action.what.clone();
        match (&action.pod, &action.name) {
            (None, None) => return Err(UnmodelledPart::ActionWithoutNode { action: name() }),
            (None, Some(alias)) if !self.aliases.contains(alias.as_str()) => {
                return Err(UnmodelledPart::UndefinedNodeAlias { action: name() });
            }
            _ => self.aliases.extend(action.name.as_deref()),
        }
        Ok(match action.what.as_str() {
            "crashNode" => FaultAction::CrashNode(node),
            "partitionNode" => FaultAction::PartitionNode(node),
            "returnNode" => FaultAction::ReturnNode(node),
            "deleteNode" => FaultAction::DeleteNode(node),
            "cordonNode" => FaultAction::CordonNode(node),
            "drainNode" => FaultAction::DrainNode(node),
            "newNode" => FaultAction::NewNode(node),
            _ => FaultAction::TaintNode(node, taint(action)?),
        })
    }
}

fn taint(action: &ScriptAction) -> Result<TaintSpec, UnmodelledPart> {
    #[derive(serde::Deserialize)]
    struct ScriptBody {
        key: String,
        #[serde(default)]
        value: String,
        effect: String,
    }
    let body = action.body.as_deref().unwrap_or("");
    let body: ScriptBody = serde_json::from_str(body)
        .map_err(|e| UnmodelledPart::ActionBody { action: action.what.clone(), reason: e.to_string() })?;
    let effects = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    let effect = effects.into_iter().find(|e| e.as_str() == body.effect);
    Ok(TaintSpec {
        key: body.key,
        value: body.value,
        effect: effect.ok_or(UnmodelledPart::TaintEffect { effect: body.effect })?,
    })
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scenario/script.rs"]
mod tests;
