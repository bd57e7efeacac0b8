//! Traps of InPlaceRestart: barriers that never open, restart budgets that are smaller than expected, and missing
//! agents.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place, text};
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_api::spec::{
    AgentMode, ContainerRestartAction, DISABLE_IN_PLACE_RESTART, FailurePolicyAction, KubeVersion,
    PodFailurePolicyAction, RestartStrategy, StartupPolicyOrder,
};
use sim_inputs::text::node::{SourcePosition, YamlNode};

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("in-place-startup-order", TrapCheck::JobSet(startup_order)),
    ("in-place-no-agent", TrapCheck::JobSet(no_agent)),
    ("in-place-no-barrier", TrapCheck::JobSet(no_barrier)),
    ("in-place-slow-probe", TrapCheck::JobSet(slow_probe)),
    ("in-place-barrier-timeout", TrapCheck::JobSet(barrier_timeout)),
    ("in-place-zero-restarts", TrapCheck::JobSet(zero_restarts)),
    ("in-place-queued", TrapCheck::JobSet(queued)),
    ("in-place-budget-shared", TrapCheck::JobSet(budget_shared)),
    ("in-place-ignore-not-subtracted", TrapCheck::JobSet(ignore_not_subtracted)),
    ("in-place-pod-may-succeed", TrapCheck::JobSet(pod_may_succeed)),
    ("in-place-disabled", TrapCheck::JobSet(disabled)),
    ("container-rules-too-new", TrapCheck::JobSet(rules_too_new)),
];

/// Exit code 0. The restart rules of agents and workers in upstream's examples never match it.
const SUCCESS: i32 = 0;
const PROBE_PERIOD_S: i64 = 10;
const PROBE_FAILURES: i64 = 3;
/// Probe period above which the delay is noticeable in a restart of 10 s.
const SLOW_PERIOD_S: i64 = 5;
const SHORT_BARRIER_S: i64 = 120;

fn in_place(s: &LintSubject) -> bool {
    s.jobset.spec.strategy() == RestartStrategy::InPlaceRestart
}

fn bypassed(s: &LintSubject) -> bool {
    s.jobset.annotations.contains_key(DISABLE_IN_PLACE_RESTART)
}

fn strategy_at(s: &LintSubject) -> SourcePosition {
    s.at(&["failurePolicy", "restartStrategy"])
}

fn max_restarts(s: &LintSubject) -> i32 {
    let policy = s.jobset.spec.failure_policy.as_ref();
    policy.map_or(0, |p| p.max_restarts)
}

fn startup_order(s: &LintSubject) -> Vec<TrapHit> {
    if !in_place(s) || bypassed(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    let running: Vec<&ReplicatedJobText> = rjs.iter().filter(|rj| rj.pods() > 0).collect();
    if s.jobset.spec.startup_order == StartupPolicyOrder::InOrder {
        return match running.as_slice() {
            [first, second, ..] => {
                let detail = format!("{:?} waits for {:?}", second.name(), first.name());
                vec![hit(s.at(&["startupPolicy", "startupPolicyOrder"]), detail)]
            }
            _ => Vec::new(),
        };
    }
    let mut hits = Vec::new();
    for rj in &running {
        let waits = |name: &str| running.iter().any(|o| o.name() == name && o.index != rj.index);
        if let Some(entry) = rj.spec.depends_on.iter().find(|d| waits(&d.name)) {
            let detail = format!("{:?} waits for {:?}", rj.name(), entry.name);
            hits.push(hit(rj.at("dependsOn"), detail));
        }
    }
    hits
}

fn no_agent(s: &LintSubject) -> Vec<TrapHit> {
    if !in_place(s) || bypassed(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.pods() > 0 && rj.pod_spec().agent_mode() == AgentMode::Absent {
            hits.push(hit(rj.at("name"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

/// Returns the agents in sidecar mode: restartable init containers with JOBSET_NAME and POD_NAME in their environment.
fn agents<'a>(s: &LintSubject<'a>) -> Vec<(ReplicatedJobText<'a>, &'a YamlNode)> {
    if !in_place(s) {
        return Vec::new();
    }
    let knows = |c: &YamlNode, name: &str| list(c, "env").iter().any(|e| text(e, "name") == Some(name));
    let mut result = Vec::new();
    for rj in s.rjs() {
        let agent = list(rj.pod, "initContainers")
            .iter()
            .find(|c| text(c, "restartPolicy") == Some("Always") && knows(c, "JOBSET_NAME") && knows(c, "POD_NAME"));
        result.extend(agent.map(|a| (rj, a)));
    }
    result
}

fn no_barrier(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if agent.get("startupProbe").is_none() {
            hits.push(hit(agent.at, format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

/// Returns the position, period and longest wait of an agent's startup probe.
fn probe(agent: &YamlNode) -> Option<(SourcePosition, i64, i64)> {
    let probe = agent.get("startupProbe")?;
    let period = int(probe, "periodSeconds").filter(|p| *p > 0).unwrap_or(PROBE_PERIOD_S);
    let failures = int(probe, "failureThreshold").filter(|f| *f > 0).unwrap_or(PROBE_FAILURES);
    let delay = int(probe, "initialDelaySeconds").unwrap_or(0);
    Some((place(agent, "startupProbe"), period, delay.saturating_add(period.saturating_mul(failures))))
}

fn slow_probe(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if let Some((at, period, _)) = probe(agent).filter(|p| p.1 > SLOW_PERIOD_S) {
            hits.push(hit(at, format!("period {period} s in replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn barrier_timeout(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if let Some((at, _, wait)) = probe(agent).filter(|p| p.2 < SHORT_BARRIER_S) {
            hits.push(hit(at, format!("timeout {wait} s in replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn zero_restarts(s: &LintSubject) -> Vec<TrapHit> {
    if in_place(s) && max_restarts(s) <= 0 {
        let detail = format!("maxRestarts is {}", max_restarts(s));
        return vec![hit(s.at(&["failurePolicy", "maxRestarts"]), detail)];
    }
    Vec::new()
}

fn queued(s: &LintSubject) -> Vec<TrapHit> {
    match s.label(KUEUE_QUEUE) {
        Some(queue) if in_place(s) => {
            vec![hit(strategy_at(s), format!("queue {queue:?}"))]
        }
        _ => Vec::new(),
    }
}

/// Returns whether a Job can fail although its backoffLimit is unlimited (IPR-10).
fn job_can_fail(rj: &ReplicatedJobText) -> bool {
    let fails = |r: &sim_api::spec::PodFailurePolicyRule| r.action == PodFailurePolicyAction::FailJob;
    let rules = rj.template().pod_failure_policy.as_deref().unwrap_or(&[]);
    rules.iter().any(fails) || rj.template().active_deadline_seconds.is_some()
}

fn budget_shared(s: &LintSubject) -> Vec<TrapHit> {
    let Some(policy) = s.jobset.spec.failure_policy.as_ref().filter(|_| in_place(s)) else {
        return Vec::new();
    };
    let Some(rj) = s.rjs().into_iter().find(|rj| rj.pods() > 0 && job_can_fail(rj)) else {
        return Vec::new();
    };
    // The rule that applies to every failure of this replicatedJob, whatever its reason.
    let decides = policy.rules.iter().find(|r| {
        let targeted = r.target_replicated_jobs.is_empty() || r.target_replicated_jobs.contains(&rj.spec.name);
        let any = r.on_job_failure_reasons.is_empty() && r.on_job_failure_message_patterns.is_empty();
        targeted && any
    });
    let counted = decides
        .is_none_or(|r| matches!(r.action, FailurePolicyAction::RestartJobSet | FailurePolicyAction::RestartJob));
    let explained = policy.rules.iter().any(|r| {
        r.action == FailurePolicyAction::RestartJobSetAndIgnoreMaxRestarts
            || r.action == FailurePolicyAction::FailJobSet
    });
    if !counted || explained || max_restarts(s) <= 0 {
        return Vec::new();
    }
    let detail = format!("Jobs of replicatedJob {:?} can fail, and maxRestarts is {}", rj.name(), max_restarts(s));
    vec![hit(s.at(&["failurePolicy", "maxRestarts"]), detail)]
}

fn ignore_not_subtracted(s: &LintSubject) -> Vec<TrapHit> {
    let Some(policy) = s.jobset.spec.failure_policy.as_ref().filter(|_| in_place(s)) else {
        return Vec::new();
    };
    let nodes = list(s.at_path(&["failurePolicy"]).unwrap_or(s.node), "rules");
    let mut hits = Vec::new();
    for (rule, node) in policy.rules.iter().zip(nodes) {
        if rule.action == FailurePolicyAction::RestartJobAndIgnoreMaxRestarts {
            hits.push(hit(place(node, "action"), format!("rule {:?}", rule.name)));
        }
    }
    hits
}

fn pod_may_succeed(s: &LintSubject) -> Vec<TrapHit> {
    if !in_place(s) || bypassed(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    if rjs.iter().map(ReplicatedJobText::pods).sum::<u64>() < 2 {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in rjs.iter().filter(|rj| rj.pods() > 0) {
        let again = |c: &sim_api::spec::ContainerSpec| c.matching_rule(SUCCESS).is_some();
        let continues = rj.pod_spec().containers.iter().any(again);
        let absent = rj.pod_spec().agent_mode() == AgentMode::Absent;
        if !continues && !absent && !job_can_fail(rj) {
            hits.push(hit(rj.at("name"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn disabled(s: &LintSubject) -> Vec<TrapHit> {
    if in_place(s) && bypassed(s) {
        vec![hit(s.annotation_at(DISABLE_IN_PLACE_RESTART), "on this JobSet")]
    } else {
        Vec::new()
    }
}

fn rules_too_new(s: &LintSubject) -> Vec<TrapHit> {
    let version = s.target.kubernetes;
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj.pod_spec();
        let all = pod.init_containers.iter().chain(&pod.containers);
        for (container, node) in all.zip(rj.containers()) {
            let everything =
                |r: &sim_api::spec::ContainerRestartRule| r.action == ContainerRestartAction::RestartAllContainers;
            let rules = &container.restart_policy_rules;
            let needs = if rules.iter().any(everything) { 35 } else { 34 };
            if !rules.is_empty() && version < KubeVersion::new(needs) {
                let detail = format!(
                    "container {:?} requires Kubernetes 1.{needs}, but the target version is 1.{}",
                    container.name, version.minor
                );
                hits.push(hit(place(node, "restartPolicyRules"), detail));
            }
        }
    }
    hits
}
