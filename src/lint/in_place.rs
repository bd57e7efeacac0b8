//! Traps of InPlaceRestart: barriers that never open, restart budgets that are smaller than expected, and missing
//! agents.

use super::subject::{Rj, Subject, int, list, place, text};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_api::spec::{
    AgentMode, ContainerRestartAction, DISABLE_IN_PLACE_RESTART, FailurePolicyAction,
    PodFailurePolicyAction, RestartStrategy, StartupPolicyOrder, Version,
};
use sim_inputs::text::node::{Node, Pos};

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "in-place-startup-order",
        severity: Severity::Error,
        rules: &["IPR-5", "IPR-6", "SU-2", "DEP-1"],
        title: "InPlaceRestart with InOrder or dependsOn",
        consequence: "The barrier waits for the pods of all replicatedJobs, and the later ones are created only when the first is ready, behind the barrier: nothing ever starts.",
        fix: "Use AnyOrder without dependsOn, or another restart strategy.",
        check: Check::JobSet(startup_order),
    },
    Trap {
        name: "in-place-no-agent",
        severity: Severity::Warning,
        rules: &["AG-2", "IPR-6"],
        title: "InPlaceRestart without an agent in the pods",
        consequence: "Admission does not look for the agent. Pods without it never write their attempt, so a failed container restarts alone, and pods that have an agent wait at the barrier for ever.",
        fix: "Add the agent of JobSet's in-place-restart examples, with JOBSET_NAME and POD_NAME in its env, to every pod template.",
        check: Check::JobSet(no_agent),
    },
    Trap {
        name: "in-place-no-barrier",
        severity: Severity::Error,
        rules: &["AG-5"],
        title: "an agent sidecar without startupProbe",
        consequence: "The startup probe is the barrier. Without it the workers start at once and do not wait for each other.",
        fix: "Give the agent a startupProbe on /barrier-is-down, port 8081, with periodSeconds 1 and failureThreshold 600.",
        check: Check::JobSet(no_barrier),
    },
    Trap {
        name: "in-place-slow-probe",
        severity: Severity::Warning,
        rules: &["AG-5"],
        title: "the barrier is asked too seldom",
        consequence: "Workers start at the next startup probe after the barrier is lifted: each start and each restart takes up to one period longer.",
        fix: "Set periodSeconds: 1 on the agent's startupProbe, and raise failureThreshold with it.",
        check: Check::JobSet(slow_probe),
    },
    Trap {
        name: "in-place-barrier-timeout",
        severity: Severity::Warning,
        rules: &["AG-7", "C-51", "IPR-2"],
        title: "the barrier gives up within two minutes",
        consequence: "When the startup probe has failed failureThreshold times, the kubelet restarts the containers, and that counts towards maxRestarts: a pod that is late for a few minutes fails the JobSet.",
        fix: "Let failureThreshold x periodSeconds be longer than the replacement of a lost node takes, 10 minutes in JobSet's example.",
        check: Check::JobSet(barrier_timeout),
    },
    Trap {
        name: "in-place-zero-restarts",
        severity: Severity::Warning,
        rules: &["IPR-2", "IPR-4", "C-46", "SUS-7"],
        title: "InPlaceRestart with maxRestarts 0",
        consequence: "The first restart of any container fails the JobSet with ReachedMaxRestarts, and so does the first resume after a suspension.",
        fix: "Set failurePolicy.maxRestarts to the number of restarts, suspensions and barrier time-outs you allow together.",
        check: Check::JobSet(zero_restarts),
    },
    Trap {
        name: "in-place-queued",
        severity: Severity::Warning,
        rules: &["SUS-7", "C-46", "IPR-4"],
        title: "InPlaceRestart in a Kueue queue",
        consequence: "Each time the queue suspends and resumes the JobSet, one unit of maxRestarts is used up, without any failure.",
        fix: "Raise maxRestarts by the number of preemptions you expect, or use Recreate.",
        check: Check::JobSet(queued),
    },
    Trap {
        name: "in-place-budget-shared",
        severity: Severity::Warning,
        rules: &["IPR-4", "FP-7", "IPR-10", "T-12"],
        title: "in-place and global restarts use one budget",
        consequence: "A Job that fails is restarted globally and counted; its pods start at a higher attempt, and the attempts are held against maxRestarts as well. In-place restarts, counted global ones, suspensions and barrier time-outs add up.",
        fix: "Set maxRestarts to the sum, or let the rule for such failures be RestartJobSetAndIgnoreMaxRestarts, which is subtracted.",
        check: Check::JobSet(budget_shared),
    },
    Trap {
        name: "in-place-ignore-not-subtracted",
        severity: Severity::Warning,
        rules: &["C-52", "IPR-4"],
        title: "RestartJobAndIgnoreMaxRestarts is counted all the same",
        consequence: "Only RestartJobSetAndIgnoreMaxRestarts is subtracted from the in-place attempts. After maxRestarts such restarts of single Jobs the JobSet fails with ReachedMaxRestarts.",
        fix: "Use RestartJobSetAndIgnoreMaxRestarts, or raise maxRestarts.",
        check: Check::JobSet(ignore_not_subtracted),
    },
    Trap {
        name: "in-place-pod-may-succeed",
        severity: Severity::Warning,
        rules: &["C-47", "IPR-3", "IPR-6"],
        title: "pods may end with 0 while others go on",
        consequence: "A pod that Succeeded keeps its old attempt and is still counted. After the next failure the attempts never become equal: all other pods wait at the barrier for ever.",
        fix: "Let all pods end together (a last barrier in the program), and give the Job a podFailurePolicy FailJob rule or activeDeadlineSeconds as a way out.",
        check: Check::JobSet(pod_may_succeed),
    },
    Trap {
        name: "in-place-disabled",
        severity: Severity::Warning,
        rules: &["API-32", "AG-1", "C-55"],
        title: "in-place restart is disabled by annotation",
        consequence: "The agents lift their barriers at once and write no attempt: a failed container restarts alone, the others are not told.",
        fix: "Remove the annotation jobset.sigs.k8s.io/disable-in-place-restart, or use another restart strategy.",
        check: Check::JobSet(disabled),
    },
    Trap {
        name: "container-rules-too-new",
        severity: Severity::Error,
        rules: &["AG-3"],
        title: "restartPolicyRules on a Kubernetes that does not know them",
        consequence: "Container restart rules came with Kubernetes 1.34, RestartAllContainers with 1.35. Before, the Job is refused or the rule is dropped, and a failed container is not restarted as written.",
        fix: "Upgrade the cluster, or remove the rules.",
        check: Check::JobSet(rules_too_new),
    },
];

/// Exit code 0. The restart rules of agents and workers in upstream's examples never match it.
const SUCCESS: i32 = 0;
const PROBE_PERIOD_S: i64 = 10;
const PROBE_FAILURES: i64 = 3;
/// Probe period above which the delay is noticeable in a restart of 10 s.
const SLOW_PERIOD_S: i64 = 5;
const SHORT_BARRIER_S: i64 = 120;

fn in_place(s: &Subject) -> bool {
    s.jobset.spec.strategy() == RestartStrategy::InPlaceRestart
}

fn bypassed(s: &Subject) -> bool {
    s.jobset.annotations.contains_key(DISABLE_IN_PLACE_RESTART)
}

fn strategy_at(s: &Subject) -> Pos {
    s.at(&["failurePolicy", "restartStrategy"])
}

fn max_restarts(s: &Subject) -> i32 {
    let policy = s.jobset.spec.failure_policy.as_ref();
    policy.map_or(0, |p| p.max_restarts)
}

fn startup_order(s: &Subject) -> Vec<Hit> {
    if !in_place(s) || bypassed(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    let running: Vec<&Rj> = rjs.iter().filter(|rj| rj.pods() > 0).collect();
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
        let waits = |name: &str| {
            running
                .iter()
                .any(|o| o.name() == name && o.index != rj.index)
        };
        if let Some(entry) = rj.spec.depends_on.iter().find(|d| waits(&d.name)) {
            let detail = format!("{:?} waits for {:?}", rj.name(), entry.name);
            hits.push(hit(rj.at("dependsOn"), detail));
        }
    }
    hits
}

fn no_agent(s: &Subject) -> Vec<Hit> {
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

/// Returns the agents in sidecar mode: restartable init containers with JOBSET_NAME and POD_NAME in their
/// environment.
fn agents<'a>(s: &Subject<'a>) -> Vec<(Rj<'a>, &'a Node)> {
    if !in_place(s) {
        return Vec::new();
    }
    let knows = |c: &Node, name: &str| list(c, "env").iter().any(|e| text(e, "name") == Some(name));
    let mut found = Vec::new();
    for rj in s.rjs() {
        let agent = list(rj.pod, "initContainers").iter().find(|c| {
            text(c, "restartPolicy") == Some("Always")
                && knows(c, "JOBSET_NAME")
                && knows(c, "POD_NAME")
        });
        found.extend(agent.map(|a| (rj, a)));
    }
    found
}

fn no_barrier(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if agent.get("startupProbe").is_none() {
            hits.push(hit(agent.at, format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

/// Returns the position, period and longest wait of an agent's startup probe.
fn probe(agent: &Node) -> Option<(Pos, i64, i64)> {
    let probe = agent.get("startupProbe")?;
    let period = int(probe, "periodSeconds")
        .filter(|p| *p > 0)
        .unwrap_or(PROBE_PERIOD_S);
    let failures = int(probe, "failureThreshold")
        .filter(|f| *f > 0)
        .unwrap_or(PROBE_FAILURES);
    let delay = int(probe, "initialDelaySeconds").unwrap_or(0);
    Some((
        place(agent, "startupProbe"),
        period,
        delay.saturating_add(period.saturating_mul(failures)),
    ))
}

fn slow_probe(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if let Some((at, period, _)) = probe(agent).filter(|p| p.1 > SLOW_PERIOD_S) {
            hits.push(hit(
                at,
                format!("every {period} s in replicatedJob {:?}", rj.name()),
            ));
        }
    }
    hits
}

fn barrier_timeout(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, agent) in agents(s) {
        if let Some((at, _, wait)) = probe(agent).filter(|p| p.2 < SHORT_BARRIER_S) {
            hits.push(hit(
                at,
                format!("after {wait} s in replicatedJob {:?}", rj.name()),
            ));
        }
    }
    hits
}

fn zero_restarts(s: &Subject) -> Vec<Hit> {
    if in_place(s) && max_restarts(s) <= 0 {
        let detail = format!("maxRestarts is {}", max_restarts(s));
        return vec![hit(s.at(&["failurePolicy", "maxRestarts"]), detail)];
    }
    Vec::new()
}

fn queued(s: &Subject) -> Vec<Hit> {
    match s.label(KUEUE_QUEUE) {
        Some(queue) if in_place(s) => {
            vec![hit(strategy_at(s), format!("queue {queue:?}"))]
        }
        _ => Vec::new(),
    }
}

/// Returns whether a Job can fail although its backoffLimit is unlimited (IPR-10).
fn job_can_fail(rj: &Rj) -> bool {
    let fails =
        |r: &sim_api::spec::PodFailurePolicyRule| r.action == PodFailurePolicyAction::FailJob;
    let rules = rj.template().pod_failure_policy.as_deref().unwrap_or(&[]);
    rules.iter().any(fails) || rj.template().active_deadline_seconds.is_some()
}

fn budget_shared(s: &Subject) -> Vec<Hit> {
    let Some(policy) = s
        .jobset
        .spec
        .failure_policy
        .as_ref()
        .filter(|_| in_place(s))
    else {
        return Vec::new();
    };
    let Some(rj) = s
        .rjs()
        .into_iter()
        .find(|rj| rj.pods() > 0 && job_can_fail(rj))
    else {
        return Vec::new();
    };
    // The rule that applies to every failure of this replicatedJob, whatever its reason.
    let decides = policy.rules.iter().find(|r| {
        let targeted =
            r.target_replicated_jobs.is_empty() || r.target_replicated_jobs.contains(&rj.spec.name);
        let any =
            r.on_job_failure_reasons.is_empty() && r.on_job_failure_message_patterns.is_empty();
        targeted && any
    });
    let counted = decides.is_none_or(|r| {
        matches!(
            r.action,
            FailurePolicyAction::RestartJobSet | FailurePolicyAction::RestartJob
        )
    });
    let explained = policy.rules.iter().any(|r| {
        r.action == FailurePolicyAction::RestartJobSetAndIgnoreMaxRestarts
            || r.action == FailurePolicyAction::FailJobSet
    });
    if !counted || explained || max_restarts(s) <= 0 {
        return Vec::new();
    }
    let detail = format!(
        "Jobs of {:?} can fail, and maxRestarts is {}",
        rj.name(),
        max_restarts(s)
    );
    vec![hit(s.at(&["failurePolicy", "maxRestarts"]), detail)]
}

fn ignore_not_subtracted(s: &Subject) -> Vec<Hit> {
    let Some(policy) = s
        .jobset
        .spec
        .failure_policy
        .as_ref()
        .filter(|_| in_place(s))
    else {
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

fn pod_may_succeed(s: &Subject) -> Vec<Hit> {
    if !in_place(s) || bypassed(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    if rjs.iter().map(Rj::pods).sum::<u64>() < 2 {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in rjs.iter().filter(|rj| rj.pods() > 0) {
        let again = |c: &sim_api::spec::Container| c.matching_rule(SUCCESS).is_some();
        let goes_on = rj.pod_spec().containers.iter().any(again);
        let absent = rj.pod_spec().agent_mode() == AgentMode::Absent;
        if !goes_on && !absent && !job_can_fail(rj) {
            hits.push(hit(rj.at("name"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn disabled(s: &Subject) -> Vec<Hit> {
    match in_place(s) && bypassed(s) {
        true => vec![hit(
            s.annotation_at(DISABLE_IN_PLACE_RESTART),
            "on this JobSet",
        )],
        false => Vec::new(),
    }
}

fn rules_too_new(s: &Subject) -> Vec<Hit> {
    let version = s.target.kubernetes;
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj.pod_spec();
        let all = pod.init_containers.iter().chain(&pod.containers);
        for (container, node) in all.zip(rj.containers()) {
            let everything = |r: &sim_api::spec::ContainerRestartRule| {
                r.action == ContainerRestartAction::RestartAllContainers
            };
            let rules = &container.restart_policy_rules;
            let needs = if rules.iter().any(everything) { 35 } else { 34 };
            if !rules.is_empty() && version < Version::new(needs) {
                let detail = format!(
                    "container {:?} needs Kubernetes 1.{needs}, this is 1.{}",
                    container.name, version.minor
                );
                hits.push(hit(place(node, "restartPolicyRules"), detail));
            }
        }
    }
    hits
}
