//! Traps of the failure policy: rules that never match, ineffective restart limits, and retries that hide a failure.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place};
use super::trap::{LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};
use sim_api::spec::{FailurePolicyAction, FailurePolicyRule, PodFailurePolicyAction, RestartStrategy};
use sim_inputs::text::node::{SourcePosition, YamlNode};
use sim_policy::failure::re2;

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "pattern-invalid",
        severity: TrapSeverity::Error,
        rules: &["C-6", "API-20"],
        title: "a message pattern is not a valid regular expression",
        consequence: "Admission does not compile the pattern. At the first failure the manager logs an error and the pattern does not match, so a later rule or the default action RestartJobSet applies.",
        fix: "Write the pattern in RE2 syntax (Go's regexp package), without look-around and back-references.",
        check: TrapCheck::JobSet(pattern_invalid),
    },
    LintTrap {
        name: "max-restarts-negative",
        severity: TrapSeverity::Warning,
        rules: &["API-14", "FP-7"],
        title: "maxRestarts is negative",
        consequence: "A negative value does not mean \"unlimited\". It acts like 0: the first counted failure fails the JobSet with ReachedMaxRestarts.",
        fix: "Set the number of restarts to allow. For unlimited restarts use an action that ends in IgnoreMaxRestarts.",
        check: TrapCheck::JobSet(max_restarts_negative),
    },
    LintTrap {
        name: "max-restarts-absent",
        severity: TrapSeverity::Warning,
        rules: &["C-1", "API-14", "FP-7"],
        title: "the failure policy does not set maxRestarts",
        consequence: "maxRestarts defaults to 0. The first counted failure fails the JobSet with ReachedMaxRestarts, regardless of the restart strategy and the restart rules.",
        fix: "Set failurePolicy.maxRestarts, even if 0 is intended.",
        check: TrapCheck::JobSet(max_restarts_absent),
    },
    LintTrap {
        name: "rule-shadowed",
        severity: TrapSeverity::Warning,
        rules: &["FP-3", "C-4"],
        title: "an earlier rule always takes precedence over this rule",
        consequence: "Rules are evaluated in order, and the first rule that matches the failure applies. An earlier rule matches every failure that this rule matches, so this rule never applies.",
        fix: "Put the narrower rule first.",
        check: TrapCheck::JobSet(rule_shadowed),
    },
    LintTrap {
        name: "rule-never-matches",
        severity: TrapSeverity::Warning,
        rules: &["FP-4", "FP-6"],
        title: "a rule names failure reasons that its Jobs cannot have",
        consequence: "PodFailurePolicy requires a FailJob rule in the Job's podFailurePolicy, DeadlineExceeded requires activeDeadlineSeconds, FailedIndexes requires backoffLimitPerIndex, and MaxFailedIndexesExceeded requires maxFailedIndexes. Without these fields the rule never applies.",
        fix: "Add the required field to the Job template, or change the reasons or targets of the rule.",
        check: TrapCheck::JobSet(rule_never_matches),
    },
    LintTrap {
        name: "restart-without-limit",
        severity: TrapSeverity::Warning,
        rules: &["FP-10", "FP-12"],
        title: "a program that always fails is restarted indefinitely",
        consequence: "The rule ignores maxRestarts and matches every crash of the program, not only disruptions. A bug in the program restarts the JobSet indefinitely.",
        fix: "Restrict the rule to onJobFailureReasons PodFailurePolicy, with a podFailurePolicy FailJob rule on the pod condition DisruptionTarget, or restrict it with message patterns.",
        check: TrapCheck::JobSet(restart_without_limit),
    },
    LintTrap {
        name: "rule-duplicate-entry",
        severity: TrapSeverity::Warning,
        rules: &["API-19", "API-20"],
        title: "a rule lists the same entry twice",
        consequence: "The duplicate is accepted and has no effect. It is probably a mistake for a different entry.",
        fix: "Remove or correct the second entry.",
        check: TrapCheck::JobSet(rule_duplicate_entry),
    },
    LintTrap {
        name: "blocking-restart-job",
        severity: TrapSeverity::Warning,
        rules: &["RS-2", "C-45"],
        title: "BlockingRecreate with restarts of single Jobs",
        consequence: "While one old Job still exists, no missing Job of any replicatedJob is created. The restart of one Job delays the restarts of the others.",
        fix: "Use the restart strategy Recreate with RestartJob rules.",
        check: TrapCheck::JobSet(blocking_restart_job),
    },
    LintTrap {
        name: "backoff-before-restart",
        severity: TrapSeverity::Warning,
        rules: &["FP-18", "FP-19"],
        title: "backoffLimit has its default value of 6",
        consequence: "The Job retries a failed pod up to six times, with delays of 10 s, 20 s, 40 s and so on, before the JobSet sees a failure. Meanwhile the other pods wait for the failed pod. These retries do not count toward maxRestarts.",
        fix: "Set backoffLimit to 0, so that one failure restarts the JobSet, or set the intended number of retries explicitly.",
        check: TrapCheck::JobSet(backoff_before_restart),
    },
    LintTrap {
        name: "grace-period-in-restart",
        severity: TrapSeverity::Warning,
        rules: &["FP-18", "DEL-2"],
        title: "the termination grace period delays every restart",
        consequence: "A Job is Failed only after its last pod has terminated, and its name is free only after all of its pods are gone. Containers that ignore SIGTERM therefore add terminationGracePeriodSeconds twice: once for the other pods of the failed Job, and once for the pods of all deleted Jobs.",
        fix: "Make the program exit on SIGTERM, or set a shorter terminationGracePeriodSeconds. To measure the delay, run the scenario with containers: [{stopAfter: ...}]; by default a run assumes that containers exit on SIGTERM.",
        check: TrapCheck::JobSet(grace_period),
    },
    LintTrap {
        name: "sidecar-grace-in-detection",
        severity: TrapSeverity::Warning,
        rules: &["FP-18"],
        title: "the failure of a pod is detected only after its sidecar has stopped",
        consequence: "When a container fails, the kubelet stops the sidecars (restartable init containers), and the pod becomes Failed only after they have exited. A sidecar that ignores SIGTERM delays the detection of each failure by terminationGracePeriodSeconds.",
        fix: "Make the sidecar exit on SIGTERM, or set a shorter terminationGracePeriodSeconds.",
        check: TrapCheck::JobSet(sidecar_grace),
    },
    LintTrap {
        name: "restart-policy-default",
        severity: TrapSeverity::Warning,
        rules: &["DEF-3", "FP-19"],
        title: "restartPolicy has JobSet's default value OnFailure",
        consequence: "One failure has two effects: the kubelet restarts the container immediately, and the Job controller counts that restart and fails the Job, so the JobSet restarts as well.",
        fix: "Set restartPolicy to Never. If the kubelet should restart containers first, set OnFailure and a backoffLimit explicitly.",
        check: TrapCheck::JobSet(restart_policy_default),
    },
    LintTrap {
        name: "exclusive-zero-restarts",
        severity: TrapSeverity::Warning,
        rules: &["API-14", "FP-7"],
        title: "exclusive placement with maxRestarts 0",
        consequence: "The first counted failure of any pod, including the loss of a node, fails the JobSet and releases all of its domains. When it is created again, it has to queue and be placed again.",
        fix: "Allow restarts, or add a rule with an IgnoreMaxRestarts action for lost nodes and maintenance.",
        check: TrapCheck::JobSet(exclusive_zero_restarts),
    },
];

/// Default grace period of Kubernetes. Only an explicit value of at least this length is reported.
const LONG_GRACE_S: u32 = 30;

fn rules<'a>(s: &LintSubject<'a>) -> Vec<(usize, &'a FailurePolicyRule, &'a YamlNode)> {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return Vec::new();
    };
    let nodes = s.at_path(&["failurePolicy"]).map_or(&[][..], |p| list(p, "rules"));
    let both = policy.rules.iter().zip(nodes).enumerate();
    both.map(|(i, (rule, node))| (i, rule, node)).collect()
}

fn max_restarts_at(s: &LintSubject) -> SourcePosition {
    s.at(&["failurePolicy", "maxRestarts"])
}

fn pattern_invalid(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        for pattern in list(node, "onJobFailureMessagePatterns") {
            let text = pattern.as_str().unwrap_or("");
            if re2::compile(text).is_none() {
                hits.push(hit(pattern.at, format!("{text:?} in rule {:?}", rule.name)));
            }
        }
    }
    hits
}

fn max_restarts_negative(s: &LintSubject) -> Vec<TrapHit> {
    match &s.jobset.spec.failure_policy {
        Some(policy) if policy.max_restarts < 0 => {
            let detail = format!("maxRestarts is {}", policy.max_restarts);
            vec![hit(max_restarts_at(s), detail)]
        }
        _ => Vec::new(),
    }
}

fn counted(action: FailurePolicyAction) -> bool {
    use FailurePolicyAction as A;
    matches!(action, A::RestartJobSet | A::RestartJob)
}

fn ignores_limit(action: FailurePolicyAction) -> bool {
    use FailurePolicyAction as A;
    matches!(action, A::RestartJobSetAndIgnoreMaxRestarts | A::RestartJobAndIgnoreMaxRestarts)
}

fn max_restarts_absent(s: &LintSubject) -> Vec<TrapHit> {
    let (Some(policy), Some(node)) = (&s.jobset.spec.failure_policy, s.at_path(&["failurePolicy"])) else {
        return Vec::new();
    };
    // InPlaceRestart has a separate trap.
    let in_place = policy.restart_strategy == RestartStrategy::InPlaceRestart;
    if in_place || node.get("maxRestarts").is_some() {
        return Vec::new();
    }
    let wants = policy.rules.is_empty()
        || node.get("restartStrategy").is_some()
        || policy.rules.iter().any(|r| counted(r.action));
    if wants { vec![hit(s.at(&["failurePolicy"]), "maxRestarts is not set")] } else { Vec::new() }
}

/// Returns whether `wide` includes every value of `narrow`. An empty list matches everything.
fn covers(wide: &[String], narrow: &[String]) -> bool {
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|n| wide.contains(n)))
}

fn rule_shadowed(s: &LintSubject) -> Vec<TrapHit> {
    let all = rules(s);
    let mut hits = Vec::new();
    for (i, rule, node) in &all {
        let earlier = all[..*i].iter().find(|(_, e, _)| {
            covers(&e.on_job_failure_reasons, &rule.on_job_failure_reasons)
                && covers(&e.target_replicated_jobs, &rule.target_replicated_jobs)
                && covers(&e.on_job_failure_message_patterns, &rule.on_job_failure_message_patterns)
                && e.on_job_failure_message_patterns.iter().all(|p| re2::compile(p).is_some())
        });
        if let Some((_, winner, _)) = earlier {
            let detail = format!("rule {:?} matches every failure that rule {:?} matches", winner.name, rule.name);
            hits.push(hit(node.at, detail));
        }
    }
    hits
}

/// Returns whether Jobs of this replicatedJob can fail with this reason.
fn possible(rj: &ReplicatedJobText, reason: &str) -> bool {
    let template = rj.template();
    match reason {
        "PodFailurePolicy" => {
            template.pod_failure_policy.iter().flatten().any(|r| r.action == PodFailurePolicyAction::FailJob)
        }
        "DeadlineExceeded" => template.active_deadline_seconds.is_some(),
        "FailedIndexes" => template.backoff_limit_per_index.is_some(),
        "MaxFailedIndexesExceeded" => template.max_failed_indexes.is_some(),
        "BackoffLimitExceeded" => template.backoff_limit() != i32::MAX,
        _ => true,
    }
}

fn rule_never_matches(s: &LintSubject) -> Vec<TrapHit> {
    let rjs = s.rjs();
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        let reasons = &rule.on_job_failure_reasons;
        let targets = &rule.target_replicated_jobs;
        let targeted = |rj: &&ReplicatedJobText| targets.is_empty() || targets.contains(&rj.spec.name);
        let can = rjs.iter().filter(targeted).any(|rj| reasons.iter().any(|reason| possible(rj, reason)));
        if !reasons.is_empty() && !rjs.is_empty() && !can {
            let detail = format!("rule {:?}: {}", rule.name, reasons.join(", "));
            hits.push(hit(place(node, "onJobFailureReasons"), detail));
        }
    }
    hits
}

fn restart_without_limit(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        let reasons = &rule.on_job_failure_reasons;
        let crash =
            |r: &String| matches!(r.as_str(), "BackoffLimitExceeded" | "FailedIndexes" | "MaxFailedIndexesExceeded");
        let any_crash = reasons.is_empty() || reasons.iter().any(crash);
        let unfiltered = rule.on_job_failure_message_patterns.is_empty();
        if ignores_limit(rule.action) && any_crash && unfiltered {
            let detail = format!("rule {:?} with {}", rule.name, rule.action.as_str());
            hits.push(hit(place(node, "action"), detail));
        }
    }
    hits
}

fn rule_duplicate_entry(s: &LintSubject) -> Vec<TrapHit> {
    const LISTS: [&str; 3] = ["onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs"];
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        for key in LISTS {
            let items = list(node, key);
            for (i, item) in items.iter().enumerate() {
                if items[..i].iter().any(|other| other.value == item.value) {
                    let what = item.as_str().unwrap_or("");
                    hits.push(hit(item.at, format!("{what:?} in {key} of rule {:?}", rule.name)));
                }
            }
        }
    }
    hits
}

fn blocking_restart_job(s: &LintSubject) -> Vec<TrapHit> {
    use FailurePolicyAction as A;
    if s.jobset.spec.strategy() != RestartStrategy::BlockingRecreate {
        return Vec::new();
    }
    let single = |a| matches!(a, A::RestartJob | A::RestartJobAndIgnoreMaxRestarts);
    let jobs: u64 = s.rjs().iter().map(|rj| u64::from(rj.spec.replicas)).sum();
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        if single(rule.action) && jobs > 1 {
            hits.push(hit(place(node, "action"), format!("rule {:?}", rule.name)));
        }
    }
    hits
}

/// Returns whether a failure causes a restart that recreates Jobs.
fn is_recreating(s: &LintSubject) -> bool {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return false;
    };
    let allowed = policy.max_restarts > 0 || policy.rules.iter().any(|r| ignores_limit(r.action));
    allowed && policy.restart_strategy != RestartStrategy::InPlaceRestart
}

fn backoff_before_restart(s: &LintSubject) -> Vec<TrapHit> {
    if !is_recreating(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let implicit = int(rj.job, "backoffLimit").is_none()
            && template.backoff_limit_per_index.is_none()
            && template.pod_failure_policy.is_none();
        if implicit && rj.spec.replicas > 0 && template.pods() > 1 {
            let detail = format!("replicatedJob {:?} with {} pods per Job", rj.name(), template.pods());
            hits.push(hit(rj.at("template"), detail));
        }
    }
    hits
}

fn grace_period(s: &LintSubject) -> Vec<TrapHit> {
    if !is_recreating(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let grace = rj.pod_spec().termination_grace_period_s;
        let written = int(rj.pod, "terminationGracePeriodSeconds").is_some();
        if written && grace >= LONG_GRACE_S && rj.pods() > 0 {
            let at = rj.pod_at("terminationGracePeriodSeconds");
            hits.push(hit(at, format!("{grace} s in replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn sidecar_grace(s: &LintSubject) -> Vec<TrapHit> {
    if !is_recreating(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
        let pod = rj.pod_spec();
        let grace = pod.termination_grace_period_s;
        let sidecar = pod.init_containers.iter().find(|c| c.is_sidecar());
        if let Some(sidecar) = sidecar.filter(|_| grace > 0) {
            let detail = format!("up to {grace} s for sidecar {:?} in replicatedJob {:?}", sidecar.name, rj.name());
            hits.push(hit(rj.pod_at("initContainers"), detail));
        }
    }
    hits
}

fn restart_policy_default(s: &LintSubject) -> Vec<TrapHit> {
    if !is_recreating(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    let left = rjs.iter().filter(|rj| rj.pods() > 0 && rj.pod.get("restartPolicy").is_none());
    left.map(|rj| {
        let detail = format!("replicatedJob {:?}", rj.name());
        hit(rj.pod_at("containers"), detail)
    })
    .collect()
}

fn exclusive_zero_restarts(s: &LintSubject) -> Vec<TrapHit> {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return Vec::new();
    };
    let node = s.at_path(&["failurePolicy"]);
    let zero = node.and_then(|n| int(n, "maxRestarts")) == Some(0);
    let saved = policy.rules.iter().any(|r| ignores_limit(r.action));
    let exclusive = |rj: &ReplicatedJobText| rj.pods() > 0 && s.jobset.exclusive_key(rj.spec).is_some();
    match s.rjs().iter().find(|rj| exclusive(rj)) {
        Some(rj) if zero && !saved => {
            vec![hit(max_restarts_at(s), format!("replicatedJob {:?}", rj.name()))]
        }
        _ => Vec::new(),
    }
}
