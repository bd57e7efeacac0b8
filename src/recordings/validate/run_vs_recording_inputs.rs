//! Compares the inputs of a recording with the inputs of a run, one property at a time.
//!
//! Results are not considered.

use super::recording::RecordedRun;
use super::result::RecordedDifference;
use super::scenario::{ScenarioOverrides, replay_scenario};
use super::simulate;
use serde_json::{Value, json};
use sim_api::spec::timing::KubeletTiming;
use sim_api::spec::{BY_SCRIPT, ClientRate, ContainerRule, FaultAction, FaultTime, KubeVersion, ScenarioSpec};

type InputFact = (String, String);

pub type ActionDescription<'w> = &'w dyn Fn(&FaultAction) -> String;

pub fn input_differences(
    recording: &RecordedRun, own: &ScenarioSpec, words: ActionDescription<'_>,
) -> Vec<RecordedDifference> {
    let mut result = Vec::new();
    let defaults = simulate::defaults();
    let recorded = defaults.map(|d| replay_scenario(recording, &d, &ScenarioOverrides::default()));
    match recorded {
        Ok(Ok(recorded)) => {
            add_fact_differences(&input_facts(&recorded, words), &input_facts(own, words), &mut result);
        }
        Ok(Err(unmodelled)) => {
            result.push(RecordedDifference::new("not simulated", unmodelled.to_string(), Value::Null));
        }
        Err(error) => result.push(RecordedDifference::new("presets", error.to_string(), Value::Null)),
    }
    result
}

fn add_fact_differences(recorded: &[InputFact], own: &[InputFact], result: &mut Vec<RecordedDifference>) {
    let value = |facts: &[InputFact], name: &str| {
        let fact = facts.iter().find(|(known, _)| known == name);
        fact.map(|(_, value)| value.clone())
    };
    let more = own.iter().filter(|(name, _)| value(recorded, name).is_none());
    for (name, _) in recorded.iter().chain(more) {
        let (r, s) = (value(recorded, name), value(own, name));
        if r != s {
            result.push(RecordedDifference::new(name, json!(r), json!(s)));
        }
    }
}

fn input_facts(scenario: &ScenarioSpec, words: ActionDescription<'_>) -> Vec<InputFact> {
    let plane = &scenario.control_plane;
    let rate = |rate: ClientRate| format!("{} requests/s, burst {}", rate.qps, rate.burst);
    let gates = plane.feature_gates;
    let named = [
        ("InPlaceRestart", gates.in_place_restart),
        ("RestartJob", gates.restart_job),
        ("ElasticJobSet", gates.elastic_jobset),
    ];
    let on: Vec<&str> = named.iter().filter(|(_, on)| *on).map(|(n, _)| *n).collect();
    let nodes = scenario.topology.nodes();
    let KubeVersion { major, minor } = plane.kubernetes;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut all = vec![
        fact("kubernetes", format!("{major}.{minor}")),
        fact("feature gates", on.join(", ")),
        fact("kube-controller-manager", rate(plane.kube_controller_manager)),
        fact("workers of the Job controller", plane.concurrent_job_syncs.to_string()),
        fact("kube-scheduler", rate(plane.kube_scheduler)),
        fact("JobSet manager", rate(plane.jobset_manager)),
        fact("node monitor grace period", format!("{} s", plane.node_monitor_grace_period_s)),
        fact("heartbeat", format!("{} s", plane.heartbeat_s)),
        fact("nodes", nodes.to_string()),
        fact("objects created before the JobSet", scenario.objects.len().to_string()),
        fact("kubelets", describe_kubelet_timing(&scenario.timing.kubelet)),
    ];
    // Rules without an effect are skipped, because they may be present or absent.
    let rules = scenario.containers.iter().map(describe_rule);
    let rules = rules.filter(|text| text != RUNS_INDEFINITELY).enumerate();
    all.extend(rules.map(|(i, text)| (format!("containers[{i}]"), text)));
    let start = scenario.jobsets.first().map(|j| j.submit_at);
    let start = start.filter(|at| *at != BY_SCRIPT).unwrap_or_default();
    let actions = scenario.faults.iter().enumerate();
    all.extend(actions.map(|(i, action)| {
        let at = match action.at {
            FaultTime::At(at) => format!("{} after creation", at - start),
            FaultTime::AfterReady(after) => format!("{after} after all pods were ready"),
            FaultTime::AtUsageAge { age, .. } => format!("at age {age}"),
            FaultTime::AfterFault { after, .. } => format!("{after} after the preceding fault"),
        };
        let what = words(&action.action);
        (format!("action {i}"), format!("{at}: {what}"))
    }));
    all
}

fn describe_kubelet_timing(kubelet: &KubeletTiming) -> String {
    match kubelet {
        KubeletTiming::Scripted { start, stop, stop_exit_code, restart, .. } => {
            format!("scripted: start {start}, stop {stop} with {stop_exit_code}, restart {restart}")
        }
        KubeletTiming::Real(_) => "modelled".to_owned(),
    }
}

const RUNS_INDEFINITELY: &str = "all containers run indefinitely";

/// Returns a description of a rule: the containers it matches and its effect.
fn describe_rule(rule: &ContainerRule) -> String {
    let mut parts = Vec::new();
    let texts = [("jobSet", &rule.jobset), ("replicatedJob", &rule.replicated_job), ("container", &rule.container)];
    for (name, value) in texts {
        parts.extend(value.as_ref().map(|v| format!("{name} {v}")));
    }
    let numbers = [
        ("jobIndex", rule.job_index),
        ("podIndex", rule.pod_index),
        ("restartAttempt", rule.restart_attempt),
        ("jobRestart", rule.job_restart),
        ("jobTry", rule.job_try),
        ("inPlaceAttempt", rule.in_place_attempt),
        ("containerRun", rule.container_run),
    ];
    for (name, value) in numbers {
        parts.extend(value.map(|v| format!("{name} {v}")));
    }
    let times = [
        ("runs for", rule.run_for),
        ("starts after", rule.start_after),
        ("stops after", rule.stop_after),
        ("waits at the barrier for", rule.at_barrier_for),
    ];
    for (name, value) in times {
        parts.extend(value.map(|v| format!("{name} {v}")));
    }
    if rule.exits() {
        parts.push(format!("exits with {}", rule.exit_code));
    }
    if rule.pod_fails {
        parts.push("its pod fails".to_owned());
    }
    if parts.is_empty() { RUNS_INDEFINITELY.to_owned() } else { parts.join(", ") }
}
