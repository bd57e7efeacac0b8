//! The script of a recording → container rules and faults, one to one and in the same order.
//!
//! Must never leave out a key or an action in silence: it is `NotSimulated`.

use super::recording::{Action, PodRule};
use super::scenario::NotSimulated;
use crate::base::Duration;
use crate::spec::*;
use serde_json::Value;

/// A rule of the script; a key the model has no word for stops it.
pub fn container_rule(rule: &PodRule) -> Result<ContainerRule, NotSimulated> {
    if let Some(key) = rule.unknown.keys().next() {
        return Err(NotSimulated(format!("pod rule {key}")));
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
        pod_fails: rule.pod_fails.is_some(),
        at_barrier_for: rule.barrier_ms.map(Duration::from_millis),
        start_after: rule.start_ms.map(Duration::from_millis),
        stop_after: rule.term_ms.map(Duration::from_millis),
    })
}

/// A user action or a node fault; `created` counts the JobSets that actions have created so far.
pub fn fault(
    action: &Action,
    jobset: &str,
    created: &mut u32,
) -> Result<ScriptedFault, NotSimulated> {
    let what = &action.what;
    let fault = action_of(action, jobset, created)?;
    if let Some(key) = action.unknown.keys().next() {
        return Err(NotSimulated(format!("action {what} with {key}")));
    }
    Ok(ScriptedFault {
        at: FaultTime::At(Duration::from_millis(action.at_ms)),
        action: fault,
    })
}

fn action_of(
    action: &Action,
    jobset: &str,
    created: &mut u32,
) -> Result<FaultAction, NotSimulated> {
    let what = &action.what;
    let pod = || {
        let missing = || NotSimulated(format!("action {what} without a pod"));
        action.pod.clone().ok_or_else(missing)
    };
    let node = || NodeRef {
        name: None,
        of_pod: action.pod.clone(),
        alias: action.name.clone(),
    };
    Ok(match what.as_str() {
        "suspend" => FaultAction::SuspendJobSet(jobset.to_owned()),
        "resume" => FaultAction::ResumeJobSet(jobset.to_owned()),
        "deleteJobSet" => FaultAction::DeleteJobSet(jobset.to_owned()),
        "deletePod" => FaultAction::DeletePod {
            pod: pod()?,
            force: match action.grace_seconds {
                None => false,
                Some(0) => true,
                Some(_) => return Err(NotSimulated("action deletePod with graceSeconds".into())),
            },
        },
        "evictPod" => FaultAction::EvictPod { pod: pod()? },
        "crashNode" => FaultAction::CrashNode(node()),
        "partitionNode" => FaultAction::PartitionNode(node()),
        "returnNode" => FaultAction::ReturnNode(node()),
        "deleteNode" => FaultAction::DeleteNode(node()),
        "cordonNode" => FaultAction::CordonNode(node()),
        "drainNode" => FaultAction::DrainNode(node()),
        "taintNode" => FaultAction::TaintNode(node(), taint(action)?),
        "patch" | "patchObject" | "create" | "deleteObject" | "show" => {
            FaultAction::Request(request(action, jobset, created)?)
        }
        other => return Err(NotSimulated(format!("action {other}"))),
    })
}

/// An action on an object of the API.
fn request(action: &Action, jobset: &str, created: &mut u32) -> Result<UserRequest, NotSimulated> {
    let body = || {
        let text = action.body.as_deref().unwrap_or("");
        serde_json::from_str::<Value>(text)
            .map_err(|e| NotSimulated(format!("action {}: body: {e}", action.what)))
    };
    let verb = match action.what.as_str() {
        "patch" | "patchObject" => {
            if action.patch_type.as_deref().is_some_and(|t| t != "merge") {
                return Err(NotSimulated(format!(
                    "patch type {}",
                    action.patch_type.as_deref().unwrap_or("")
                )));
            }
            Verb::Patch {
                body: body()?,
                status: action.subresource.as_deref() == Some("status"),
            }
        }
        "create" => {
            let object = body()?;
            let is_jobset = object["kind"] == "JobSet";
            *created += u32::from(is_jobset);
            let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
            return Ok(UserRequest {
                object: ObjectName {
                    kind: kind_of_object(&object),
                    name,
                },
                verb: Verb::Create {
                    jobset: is_jobset.then_some(*created),
                },
            });
        }
        "deleteObject" => Verb::Delete {
            propagation: match action.propagation.as_deref() {
                None | Some("Background") => Propagation::Background,
                Some("Foreground") => Propagation::Foreground,
                Some("Orphan") => Propagation::Orphan,
                Some(other) => return Err(NotSimulated(format!("propagation {other}"))),
            },
            grace_s: action.grace_seconds,
        },
        _ => Verb::Show {
            fields: action.fields.clone(),
        },
    };
    let object = match (&action.pod, &action.resource) {
        (Some(pod), _) => ObjectName {
            kind: ObjectKind::Pod,
            name: pod.clone(),
        },
        (None, Some(resource)) => ObjectName {
            kind: kind_of_resource(resource),
            name: action.name.clone().unwrap_or_default(),
        },
        (None, None) => ObjectName {
            kind: ObjectKind::JobSet,
            name: jobset.to_owned(),
        },
    };
    Ok(UserRequest { object, verb })
}

fn kind_of_resource(resource: &str) -> ObjectKind {
    match resource {
        "jobset.x-k8s.io/v1alpha2/jobsets" => ObjectKind::JobSet,
        "batch/v1/jobs" => ObjectKind::Job,
        "v1/pods" => ObjectKind::Pod,
        "v1/nodes" => ObjectKind::Node,
        "v1/services" => ObjectKind::Service,
        "v1/persistentvolumeclaims" => ObjectKind::PersistentVolumeClaim,
        _ => ObjectKind::Other,
    }
}

fn kind_of_object(object: &Value) -> ObjectKind {
    match object["kind"].as_str().unwrap_or("") {
        "JobSet" => ObjectKind::JobSet,
        "Job" => ObjectKind::Job,
        "Pod" => ObjectKind::Pod,
        "Node" => ObjectKind::Node,
        "Service" => ObjectKind::Service,
        "PersistentVolumeClaim" => ObjectKind::PersistentVolumeClaim,
        _ => ObjectKind::Other,
    }
}

fn taint(action: &Action) -> Result<Taint, NotSimulated> {
    #[derive(serde::Deserialize)]
    struct Body {
        key: String,
        #[serde(default)]
        value: String,
        effect: String,
    }
    let bad = |e: String| NotSimulated(format!("action taintNode: {e}"));
    let body = action.body.as_deref().unwrap_or("");
    let body: Body = serde_json::from_str(body).map_err(|e| bad(format!("body: {e}")))?;
    let effects = [
        TaintEffect::NoSchedule,
        TaintEffect::PreferNoSchedule,
        TaintEffect::NoExecute,
    ];
    let effect = effects.into_iter().find(|e| e.as_str() == body.effect);
    Ok(Taint {
        key: body.key,
        value: body.value,
        effect: effect.ok_or_else(|| bad(format!("effect {}", body.effect)))?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::tests::example;
    use super::super::scenario::{Overrides, tests::plain};
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_no_word_in_the_model_is_not_simulated() {
        for (pods, actions, expected) in [
            (
                json!([]),
                json!([{"atMs": 1, "do": "patch", "body": "{}", "patchType": "strategic"}]),
                "patch type strategic",
            ),
            (
                json!([{"runMs": 1, "exit": 1, "podHopes": true}]),
                json!([]),
                "pod rule podHopes",
            ),
            (
                json!([]),
                json!([{"atMs": 1, "do": "scale", "fields": ["spec"]}]),
                "action scale",
            ),
            (
                json!([]),
                json!([{"atMs": 1, "do": "suspend", "twice": true}]),
                "action suspend with twice",
            ),
            (
                json!([]),
                json!([{"atMs": 1, "do": "deletePod"}]),
                "action deletePod without a pod",
            ),
            (
                json!([]),
                json!([{"atMs": 1, "do": "deletePod", "pod": "p", "graceSeconds": 3}]),
                "action deletePod with graceSeconds",
            ),
        ] {
            let r = example(|j| {
                j["script"]["pods"] = pods;
                j["script"]["actions"] = actions;
            });
            let error = plain(&r, Overrides::default()).unwrap_err();
            assert_eq!(error, NotSimulated(expected.to_owned()));
        }
    }

    #[test]
    fn actions_become_faults_in_the_order_of_the_script() {
        let r = example(|j| {
            j["script"]["actions"] = json!([
                {"atMs": 5000, "do": "crashNode", "pod": "js-w-0-1", "name": "a"},
                {"atMs": 9000, "do": "taintNode", "name": "a",
                 "body": "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}"}]);
        });
        let s = plain(&r, Overrides::default()).unwrap();
        let FaultAction::CrashNode(node) = &s.faults[0].action else {
            panic!("{:?}", s.faults[0]);
        };
        assert_eq!(
            (node.of_pod.as_deref(), node.alias.as_deref()),
            (Some("js-w-0-1"), Some("a"))
        );
        let FaultAction::TaintNode(_, taint) = &s.faults[1].action else {
            panic!("{:?}", s.faults[1]);
        };
        assert_eq!(
            (taint.value.as_str(), taint.effect),
            ("v", TaintEffect::NoExecute)
        );
    }
}
