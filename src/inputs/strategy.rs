//! Overrides of the restart strategy, together with the pod and Job fields that the strategy requires.
//!
//! Source: the examples of JobSet for in-place restart (`jobset-sidecar-container-mode.yaml`).

mod error;

pub use error::RestartStrategyError;

use serde_json::{Value, json};
use sim_api::spec::{FieldChange, RestartStrategy, SubmittedJobSet};

/// Path of the restart strategy in a JobSet.
const STRATEGY: &str = "spec.failurePolicy.restartStrategy";
/// Short paths accepted for the restart strategy.
const SHORT: [&str; 2] = ["strategy", "restartStrategy"];

/// Backoff limit of Jobs whose pods restart in place: failures are unlimited in practice.
const NO_LIMIT: i64 = i32::MAX as i64;

/// Returns the last restart strategy set by these overrides, without validation.
pub fn asked(sets: &[(String, String)]) -> Option<&str> {
    let names = |path: &str| path == STRATEGY || SHORT.contains(&path);
    let matching = sets.iter().rev().find(|(path, _)| names(path));
    matching.map(|(_, value)| value.trim_matches(['"', '\'', ' ']))
}

/// Adds the changes that a restart strategy requires before the overrides, so that explicit overrides take
/// precedence. `jobsets` are the JobSets without the overrides.
pub fn with_companions(
    sets: &[(String, String)], jobsets: &[SubmittedJobSet],
) -> Result<Vec<FieldChange>, RestartStrategyError> {
    let Some(written) = asked(sets) else {
        return Ok(sets.iter().map(as_written).collect());
    };
    let strategy = RestartStrategy::ALL.iter().find(|s| s.as_str() == written);
    let Some(strategy) = strategy else {
        let name = written.to_owned();
        return Err(RestartStrategyError::Unknown { name });
    };
    let mut all = Vec::new();
    for (i, submitted) in jobsets.iter().enumerate() {
        let object = submitted.jobset.object.as_deref();
        let changes = object.map_or(Vec::new(), |object| companions(object, *strategy));
        if i > 0 && changes != all {
            let strategy = *strategy;
            return Err(RestartStrategyError::DifferentChanges { strategy });
        }
        all = changes;
    }
    all.extend(sets.iter().map(as_written));
    Ok(all)
}

fn as_written((path, value): &(String, String)) -> FieldChange {
    let short = SHORT.contains(&path.as_str());
    FieldChange { path: if short { STRATEGY } else { path }.to_owned(), value: value.clone(), reason: String::new() }
}

/// Returns the other fields of a JobSet that must change for the strategy to take effect.
fn companions(jobset: &Value, strategy: RestartStrategy) -> Vec<FieldChange> {
    let rjs = jobset["spec"]["replicatedJobs"].as_array();
    let mut changes = Vec::new();
    for (i, rj) in rjs.into_iter().flatten().enumerate() {
        let at = format!("spec.replicatedJobs[{i}].template.spec");
        let job = &rj["template"]["spec"];
        let mut change = |path: &str, value: Value| {
            changes.push(FieldChange {
                path: format!("{at}.{path}"),
                value: value.to_string(),
                reason: strategy.as_str().to_owned(),
            });
        };
        match strategy {
            RestartStrategy::InPlaceRestart => brought(job, &mut change),
            _ => remove_in_place_setup(job, &mut change),
        }
    }
    changes
}

fn containers<'j>(job: &'j Value, key: &str) -> &'j [Value] {
    let list = job["template"]["spec"][key].as_array();
    list.map_or(&[], Vec::as_slice)
}

fn is_agent(container: &Value) -> bool {
    let env = container["env"].as_array();
    let has = |name: &str| env.is_some_and(|env| env.iter().any(|e| e["name"] == name));
    has("JOBSET_NAME") && has("POD_NAME")
}

fn restarts_all(container: &Value) -> bool {
    let rules = container["restartPolicyRules"].as_array();
    rules.is_some_and(|rules| rules.iter().any(|r| r["action"] == "RestartAllContainers"))
}

/// Adds the in-place restart agent with its barrier, the rules that restart all containers, and a backoff limit that
/// never fails the Job.
fn brought(job: &Value, change: &mut dyn FnMut(&str, Value)) {
    let init = containers(job, "initContainers");
    let main = containers(job, "containers");
    if main.iter().chain(init).any(is_agent) {
        return;
    }
    change("backoffLimit", json!(NO_LIMIT));
    change("podReplacementPolicy", json!("Failed"));
    let agent = format!("template.spec.initContainers[{}]", init.len());
    change(&agent, agent_container());
    for (i, _) in main.iter().enumerate() {
        let at = format!("template.spec.containers[{i}]");
        change(&format!("{at}.restartPolicy"), json!("Never"));
        change(&format!("{at}.restartPolicyRules"), restart_rules());
    }
}

fn restart_rules() -> Value {
    json!([{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}])
}

fn agent_container() -> Value {
    let field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    json!({
        "name": "in-place-restart-agent",
        "image": "in-place-restart-agent",
        "restartPolicy": "Always",
        "restartPolicyRules": restart_rules(),
        "startupProbe": {
            "httpGet": {"path": "/barrier-is-down", "port": 8081},
            "failureThreshold": 600,
            "periodSeconds": 1
        },
        "env": [
            field("JOBSET_NAME", "metadata.annotations['jobset.sigs.k8s.io/jobset-name']"),
            field("POD_NAME", "metadata.name")
        ]
    })
}

/// Removes the in-place restart setup, so that one failed pod fails its Job. The other strategies depend on that.
fn remove_in_place_setup(job: &Value, change: &mut dyn FnMut(&str, Value)) {
    let init = containers(job, "initContainers");
    if !init.iter().any(is_agent) {
        return;
    }
    if job["backoffLimit"] == NO_LIMIT {
        change("backoffLimit", json!(0));
    }
    if job["podReplacementPolicy"] == "Failed" {
        change("podReplacementPolicy", Value::Null);
    }
    let others: Vec<&Value> = init.iter().filter(|c| !is_agent(c)).collect();
    change("template.spec.initContainers", json!(others));
    for (i, container) in containers(job, "containers").iter().enumerate() {
        if restarts_all(container) {
            let at = format!("template.spec.containers[{i}]");
            change(&format!("{at}.restartPolicy"), Value::Null);
            change(&format!("{at}.restartPolicyRules"), json!([]));
        }
    }
}

#[cfg(test)]
#[path = "../../tests/inside/inputs/strategy.rs"]
mod tests;
