//! Traps of InPlaceRestart: barriers that never open, restart budgets that are smaller than expected, and missing
//! agents.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place, text};
use super::trap::{LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_api::spec::{
    AgentMode, ContainerRestartAction, DISABLE_IN_PLACE_RESTART, FailurePolicyAction, KubeVersion,
    PodFailurePolicyAction, RestartStrategy, StartupPolicyOrder,
};
use sim_inputs::text::node::{SourcePosition, YamlNode};

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "in-place-startup-order",
        severity: TrapSeverity::Error,
        rules: &["IPR-5", "IPR-6", "SU-2", "DEP-1"],
        title: "InPlaceRestart with InOrder or dependsOn",
        consequence: "The barrier waits for the pods of all replicatedJobs, but the later replicatedJobs are created only when the earlier one is ready, and it becomes ready only behind the barrier. No worker ever starts.",
        fix: "Use startup order AnyOrder without dependsOn, or use a different restart strategy.",
        check: TrapCheck::JobSet(startup_order),
    },
    LintTrap {
        name: "in-place-no-agent",
        severity: TrapSeverity::Warning,
        rules: &["AG-2", "IPR-6"],
        title: "InPlaceRestart without an agent in the pods",
        consequence: "Admission does not check for the agent. A pod without the agent never writes its attempt, so a failed container restarts alone, and pods that have an agent wait at the barrier forever.",
        fix: "Add the agent from JobSet's in-place-restart examples to every pod template, with JOBSET_NAME and POD_NAME in its environment.",
        check: TrapCheck::JobSet(no_agent),
    },
    LintTrap {
        name: "in-place-no-barrier",
        severity: TrapSeverity::Error,
        rules: &["AG-5"],
        title: "an agent sidecar has no startupProbe",
        consequence: "The startup probe is the barrier. Without it the workers start immediately and do not wait for each other.",
        fix: "Add a startupProbe to the agent: path /barrier-is-down, port 8081, periodSeconds 1 and failureThreshold 600.",
        check: TrapCheck::JobSet(no_barrier),
    },
    LintTrap {
        name: "in-place-slow-probe",
        severity: TrapSeverity::Warning,
        rules: &["AG-5"],
        title: "the startup probe of the barrier runs too rarely",
        consequence: "Workers start at the first startup probe after the barrier is lifted. Each start and each restart takes up to one probe period longer.",
        fix: "Set periodSeconds to 1 on the agent's startupProbe, and raise failureThreshold accordingly.",
        check: TrapCheck::JobSet(slow_probe),
    },
    LintTrap {
        name: "in-place-barrier-timeout",
        severity: TrapSeverity::Warning,
        rules: &["AG-7", "C-51", "IPR-2"],
        title: "the barrier times out within two minutes",
        consequence: "After failureThreshold failed startup probes the kubelet restarts the containers, which counts toward maxRestarts. A single pod that is a few minutes late can fail the JobSet.",
        fix: "Make failureThreshold x periodSeconds longer than the time needed to replace a lost node. JobSet's example uses 10 minutes.",
        check: TrapCheck::JobSet(barrier_timeout),
    },
    LintTrap {
        name: "in-place-zero-restarts",
        severity: TrapSeverity::Warning,
        rules: &["IPR-2", "IPR-4", "C-46", "SUS-7"],
        title: "InPlaceRestart with maxRestarts 0",
        consequence: "The first restart of any container fails the JobSet with ReachedMaxRestarts, and so does the first resume after a suspension.",
        fix: "Set failurePolicy.maxRestarts to the total number of restarts, suspensions and barrier timeouts to tolerate.",
        check: TrapCheck::JobSet(zero_restarts),
    },
    LintTrap {
        name: "in-place-queued",
        severity: TrapSeverity::Warning,
        rules: &["SUS-7", "C-46", "IPR-4"],
        title: "InPlaceRestart in a Kueue queue",
        consequence: "Each time Kueue suspends and resumes the JobSet, one unit of maxRestarts is used up, although nothing failed.",
        fix: "Raise maxRestarts by the number of preemptions to expect, or use Recreate.",
        check: TrapCheck::JobSet(queued),
    },
    LintTrap {
        name: "in-place-budget-shared",
        severity: TrapSeverity::Warning,
        rules: &["IPR-4", "FP-7", "IPR-10", "T-12"],
        title: "in-place and global restarts share one budget",
        consequence: "A failed Job causes a global restart, which is counted. Its new pods start at a higher attempt, and attempts are also compared with maxRestarts. In-place restarts, counted global restarts, suspensions and barrier timeouts therefore add up.",
        fix: "Set maxRestarts to the sum, or use the action RestartJobSetAndIgnoreMaxRestarts for such failures, whose restarts are subtracted.",
        check: TrapCheck::JobSet(budget_shared),
    },
    LintTrap {
        name: "in-place-ignore-not-subtracted",
        severity: TrapSeverity::Warning,
        rules: &["C-52", "IPR-4"],
        title: "RestartJobAndIgnoreMaxRestarts counts toward maxRestarts in place",
        consequence: "Only restarts by RestartJobSetAndIgnoreMaxRestarts are subtracted from the in-place attempts. After maxRestarts restarts of single Jobs the JobSet fails with ReachedMaxRestarts.",
        fix: "Use RestartJobSetAndIgnoreMaxRestarts, or raise maxRestarts.",
        check: TrapCheck::JobSet(ignore_not_subtracted),
    },
    LintTrap {
        name: "in-place-pod-may-succeed",
        severity: TrapSeverity::Warning,
        rules: &["C-47", "IPR-3", "IPR-6"],
        title: "a pod may exit with code 0 while other pods still run",
        consequence: "A pod that has succeeded keeps its old attempt and is still counted. After the next failure the attempts never become equal, so all other pods wait at the barrier forever.",
        fix: "Let all pods finish together (with a final barrier in the program), and add a podFailurePolicy FailJob rule or activeDeadlineSeconds to the Job so that it can fail.",
        check: TrapCheck::JobSet(pod_may_succeed),
    },
    LintTrap {
        name: "in-place-disabled",
        severity: TrapSeverity::Warning,
        rules: &["API-32", "AG-1", "C-55"],
        title: "in-place restart is disabled by an annotation",
        consequence: "The agents lift their barriers immediately and write no attempt. A failed container restarts alone, and the other pods keep running.",
        fix: "Remove the annotation jobset.sigs.k8s.io/disable-in-place-restart, or use another restart strategy.",
        check: TrapCheck::JobSet(disabled),
    },
    LintTrap {
        name: "container-rules-too-new",
        severity: TrapSeverity::Error,
        rules: &["AG-3"],
        title: "restartPolicyRules are not supported by this Kubernetes version",
        consequence: "Container restart rules require Kubernetes 1.34, and RestartAllContainers requires 1.35. Older versions reject the Job or drop the rule, and a failed container is not restarted as configured.",
        fix: "Upgrade the cluster, or remove the rules.",
        check: TrapCheck::JobSet(rules_too_new),
    },
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
