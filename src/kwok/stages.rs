//! The stages that stand for kubelets: a node that is alive, a pod that starts, exits, ends.
//!
//! A stage fires for objects that its selector matches, after its delay. A node, or a pod, with the annotation `SILENT`
//! is left alone by all of them: nobody is there who would write.

use super::measured::Times;
use crate::base::Duration;
use crate::spec::{ContainerRule, Scenario, keys};
use serde_json::{Value, json};

/// Of nodes whose kubelet is gone, and of the pods on them.
pub const SILENT: &str = "jobset-sim/silent";
/// Of pods that are to end with this exit code.
pub const EXIT: &str = "jobset-sim/exit-code";
/// kubelets write the status of their node at least so often (nodeStatusReportFrequency is 5m; leases every 10 s).
const HEARTBEAT: Duration = Duration::from_secs(10);

/// All of them.
pub fn all(scenario: &Scenario, times: &Times) -> Vec<Value> {
    let mut all = vec![
        stage(
            "node-ready",
            "Node",
            vec![ready("NotIn")],
            Duration::ZERO,
            json!({"statusTemplate": NODE}),
        ),
        stage(
            "node-heartbeat",
            "Node",
            vec![ready("In")],
            HEARTBEAT,
            json!({"statusTemplate": NODE}),
        ),
        stage(
            "pod-start",
            "Pod",
            alive("Pending"),
            times.start,
            json!({"statusTemplate": status("Running", "running")}),
        ),
        stage(
            "pod-exit",
            "Pod",
            [alive("Running"), vec![annotated(EXIT, "Exists")]].concat(),
            Duration::ZERO,
            json!({"statusTemplate": status("Failed", "terminated")}),
        ),
        stage(
            "pod-delete",
            "Pod",
            vec![expression(".metadata.deletionTimestamp", "Exists", &[])],
            times.stop,
            json!({"delete": true}),
        ),
    ];
    let rules = scenario.containers.iter().enumerate();
    all.extend(rules.filter_map(|(i, rule)| ends(i, rule)));
    all
}

/// Containers that end by themselves.
fn ends(i: usize, rule: &ContainerRule) -> Option<Value> {
    let after = rule.run_for?;
    if !expressed(rule) {
        return None;
    }
    let mut selects = alive("Running");
    let label = |key: &str| format!(".metadata.labels[{key:?}]");
    for (key, value) in [
        (keys::JOBSET_NAME, rule.jobset.clone()),
        (keys::REPLICATED_JOB_NAME, rule.replicated_job.clone()),
        (keys::JOB_INDEX, rule.job_index.map(|i| i.to_string())),
        (
            keys::RESTART_ATTEMPT,
            rule.restart_attempt.map(|i| i.to_string()),
        ),
    ] {
        if let Some(value) = value {
            selects.push(expression(&label(key), "In", &[&value]));
        }
    }
    let phase = if rule.exit_code == 0 {
        "Succeeded"
    } else {
        "Failed"
    };
    let template = status(phase, "terminated").replace(CODE, &rule.exit_code.to_string());
    Some(stage(
        &format!("pod-ends-{i}"),
        "Pod",
        selects,
        after,
        json!({"statusTemplate": template}),
    ))
}

/// Whether labels can say which containers a rule is for.
pub fn expressed(rule: &ContainerRule) -> bool {
    let finer = [
        rule.pod_index,
        rule.job_restart,
        rule.job_try,
        rule.in_place_attempt,
        rule.container_run,
    ];
    finer.iter().all(Option::is_none) && rule.container.is_none()
}

fn stage(name: &str, kind: &str, mut selects: Vec<Value>, delay: Duration, next: Value) -> Value {
    selects.push(annotated(SILENT, "DoesNotExist"));
    let mut spec = json!({"resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": selects}, "next": next});
    if delay > Duration::ZERO {
        spec["delay"] = json!({"durationMilliseconds": delay.0 / 1_000_000});
    }
    if name == "node-heartbeat" {
        // It fires again and again.
        spec["immediateNextStage"] = json!(true);
    }
    json!({"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec})
}

fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
    match values {
        [] => json!({"key": key, "operator": operator}),
        _ => json!({"key": key, "operator": operator, "values": values}),
    }
}

fn annotated(key: &str, operator: &str) -> Value {
    expression(&format!(".metadata.annotations[{key:?}]"), operator, &[])
}

fn ready(operator: &str) -> Value {
    let key = ".status.conditions.[] | select( .type == \"Ready\" ) | .status";
    expression(key, operator, &["True"])
}

/// A pod in this phase that nobody has deleted.
fn alive(phase: &str) -> Vec<Value> {
    vec![
        expression(".metadata.deletionTimestamp", "DoesNotExist", &[]),
        expression(".spec.nodeName", "Exists", &[]),
        expression(".status.phase", "In", &[phase]),
    ]
}

const NODE: &str = "{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
conditions:
- {type: Ready, status: \"True\", reason: KubeletReady, message: a stage, lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $since | Quote }}}
phase: Running
";

/// The exit code in a template: what the pod's annotation says.
const CODE: &str = "{{ index .metadata.annotations \"jobset-sim/exit-code\" }}";

/// A pod's status with all containers alike.
fn status(phase: &str, state: &str) -> String {
    let runs = state == "running";
    let detail = match runs {
        true => "{startedAt: {{ $now | Quote }}}".to_owned(),
        false => format!(
            "{{exitCode: {CODE}, startedAt: {{{{ $now | Quote }}}}, finishedAt: {{{{ $now | Quote }}}}}}"
        ),
    };
    let ready = if runs { "True" } else { "False" };
    format!(
        "{{{{ $now := Now }}}}
{{{{ $root := . }}}}
conditions:
- {{type: Initialized, status: \"True\", lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: Ready, status: \"{ready}\", lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: ContainersReady, status: \"{ready}\", lastTransitionTime: {{{{ $now | Quote }}}}}}
containerStatuses:
{{{{ range .spec.containers }}}}
- name: {{{{ .name | Quote }}}}
  image: {{{{ .image | Quote }}}}
  ready: {runs}
  restartCount: 0
  state:
    {state}: {detail}
{{{{ end }}}}
phase: {phase}
startTime: {{{{ $now | Quote }}}}
"
    )
    .replace(CODE, &CODE.replace("index .", "index $root."))
}
