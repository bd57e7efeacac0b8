//! Traps of the failure policy: rules that never match, ineffective restart limits, and retries that hide a failure.

use super::subject::{Rj, Subject, int, list, place};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_api::spec::{
    FailurePolicyAction, FailurePolicyRule, PodFailurePolicyAction, RestartStrategy,
};
use sim_inputs::text::node::{Node, Pos};
use sim_policy::failure::re2;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "pattern-invalid",
        severity: Severity::Error,
        rules: &["C-6", "API-20"],
        title: "a message pattern is not a regular expression",
        consequence: "Admission does not compile it. The manager logs an error at the first failure and the pattern never matches, so another rule or the default RestartJobSet decides.",
        fix: "Write the pattern in RE2 syntax, as Go's regexp reads it: no look-around, no back-references.",
        check: Check::JobSet(pattern_invalid),
    },
    Trap {
        name: "max-restarts-negative",
        severity: Severity::Warning,
        rules: &["API-14", "FP-7"],
        title: "maxRestarts is negative",
        consequence: "It does not mean without limit: it acts like 0, and the first counted failure ends the JobSet with ReachedMaxRestarts.",
        fix: "Give the number of restarts you allow. For restarts without limit use an action that ends in IgnoreMaxRestarts.",
        check: Check::JobSet(max_restarts_negative),
    },
    Trap {
        name: "max-restarts-absent",
        severity: Severity::Warning,
        rules: &["C-1", "API-14", "FP-7"],
        title: "a failure policy without maxRestarts",
        consequence: "maxRestarts is 0 by default: the first counted failure ends the JobSet with ReachedMaxRestarts, whatever the strategy and the rules say about restarts.",
        fix: "Set failurePolicy.maxRestarts; write 0 if that is meant.",
        check: Check::JobSet(max_restarts_absent),
    },
    Trap {
        name: "rule-shadowed",
        severity: Severity::Warning,
        rules: &["FP-3", "C-4"],
        title: "a rule that an earlier rule always wins over",
        consequence: "Rules are tried in order, whichever Job failed first. An earlier rule matches everything this one matches, so this one never decides.",
        fix: "Put the narrower rule first.",
        check: Check::JobSet(rule_shadowed),
    },
    Trap {
        name: "rule-never-matches",
        severity: Severity::Warning,
        rules: &["FP-4", "FP-6"],
        title: "a rule for reasons that these Jobs never fail with",
        consequence: "PodFailurePolicy needs a FailJob rule in the Job's podFailurePolicy, DeadlineExceeded needs activeDeadlineSeconds, FailedIndexes needs backoffLimitPerIndex, MaxFailedIndexesExceeded needs maxFailedIndexes. Without them the rule never decides.",
        fix: "Add what the reason needs to the Job template, or name other reasons or targets.",
        check: Check::JobSet(rule_never_matches),
    },
    Trap {
        name: "restart-without-limit",
        severity: Severity::Warning,
        rules: &["FP-10", "FP-12"],
        title: "a program that always fails is restarted for ever",
        consequence: "The rule ignores maxRestarts and takes every crash of the program, not only disruptions: a bug restarts the JobSet without end.",
        fix: "Limit the rule to onJobFailureReasons PodFailurePolicy, with a podFailurePolicy FailJob rule on the pod condition DisruptionTarget, or to message patterns.",
        check: Check::JobSet(restart_without_limit),
    },
    Trap {
        name: "rule-duplicate-entry",
        severity: Severity::Warning,
        rules: &["API-19", "API-20"],
        title: "an entry of a rule is given twice",
        consequence: "It is accepted and does nothing; most likely another one was meant.",
        fix: "Remove the second one.",
        check: Check::JobSet(rule_duplicate_entry),
    },
    Trap {
        name: "blocking-restart-job",
        severity: Severity::Warning,
        rules: &["RS-2", "C-45"],
        title: "BlockingRecreate with restarts of single Jobs",
        consequence: "While the old Job of one slot is still there, no missing Job of any replicatedJob is created: the restart of one Job holds up the others.",
        fix: "Use Recreate with RestartJob rules.",
        check: Check::JobSet(blocking_restart_job),
    },
    Trap {
        name: "backoff-before-restart",
        severity: Severity::Warning,
        rules: &["FP-18", "FP-19"],
        title: "backoffLimit is left at 6",
        consequence: "The Job retries a failed pod up to six times, 10 s, 20 s, 40 s ... apart, before the JobSet sees any failure; meanwhile the other pods wait for it, and maxRestarts counts nothing.",
        fix: "Set backoffLimit: 0, so that one failure restarts the JobSet, or write the number of retries that is meant.",
        check: Check::JobSet(backoff_before_restart),
    },
    Trap {
        name: "grace-period-in-restart",
        severity: Severity::Warning,
        rules: &["FP-18", "DEL-2"],
        title: "the grace period of all pods is part of every restart",
        consequence: "A Job is Failed only when its slowest pod has ended, and its name is free only when all pods are gone: containers that do not end at SIGTERM add terminationGracePeriodSeconds twice, first the siblings of the failed pod, then the pods of all Jobs that are deleted.",
        fix: "Let the program end at SIGTERM, or set a shorter terminationGracePeriodSeconds. What it costs: run with containers: [{stopAfter: ...}], as a run takes them to end at SIGTERM.",
        check: Check::JobSet(grace_period),
    },
    Trap {
        name: "sidecar-grace-in-detection",
        severity: Severity::Warning,
        rules: &["FP-18"],
        title: "a failed pod waits for its sidecar",
        consequence: "When a container has failed, the kubelet stops the sidecars (restartable init containers), and the pod is Failed only when they have ended: one that ignores SIGTERM delays the detection of each failure by terminationGracePeriodSeconds.",
        fix: "Let the sidecar end at SIGTERM, or set a shorter terminationGracePeriodSeconds.",
        check: Check::JobSet(sidecar_grace),
    },
    Trap {
        name: "restart-policy-default",
        severity: Severity::Warning,
        rules: &["DEF-3", "FP-19"],
        title: "restartPolicy is left at JobSet's default OnFailure",
        consequence: "One fault is answered twice: the kubelet restarts the container at once, and the Job controller counts that restart and fails the Job, so that the JobSet restarts as well.",
        fix: "Set restartPolicy: Never, or write OnFailure and a backoffLimit if the kubelet is to restart containers first.",
        check: Check::JobSet(restart_policy_default),
    },
    Trap {
        name: "exclusive-zero-restarts",
        severity: Severity::Warning,
        rules: &["API-14", "FP-7"],
        title: "exclusive placement, and maxRestarts is 0",
        consequence: "The first counted failure of any pod, also that of a lost node, ends the JobSet and gives all its domains back: whoever starts it again queues and is placed anew.",
        fix: "Allow restarts, or let a rule with an IgnoreMaxRestarts action answer lost nodes and maintenance.",
        check: Check::JobSet(exclusive_zero_restarts),
    },
];

/// Default grace period of Kubernetes. Only an explicit value of at least this length is reported.
const LONG_GRACE_S: u32 = 30;

fn rules<'a>(s: &Subject<'a>) -> Vec<(usize, &'a FailurePolicyRule, &'a Node)> {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return Vec::new();
    };
    let nodes = s
        .at_path(&["failurePolicy"])
        .map_or(&[][..], |p| list(p, "rules"));
    let both = policy.rules.iter().zip(nodes).enumerate();
    both.map(|(i, (rule, node))| (i, rule, node)).collect()
}

fn max_restarts_at(s: &Subject) -> Pos {
    s.at(&["failurePolicy", "maxRestarts"])
}

fn pattern_invalid(s: &Subject) -> Vec<Hit> {
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

fn max_restarts_negative(s: &Subject) -> Vec<Hit> {
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
    matches!(
        action,
        A::RestartJobSetAndIgnoreMaxRestarts | A::RestartJobAndIgnoreMaxRestarts
    )
}

fn max_restarts_absent(s: &Subject) -> Vec<Hit> {
    let (Some(policy), Some(node)) = (&s.jobset.spec.failure_policy, s.at_path(&["failurePolicy"]))
    else {
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
    match wants {
        true => vec![hit(s.at(&["failurePolicy"]), "maxRestarts is not given")],
        false => Vec::new(),
    }
}

/// Returns whether `wide` includes every value of `narrow`. An empty list matches everything.
fn covers(wide: &[String], narrow: &[String]) -> bool {
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|n| wide.contains(n)))
}

fn rule_shadowed(s: &Subject) -> Vec<Hit> {
    let all = rules(s);
    let mut hits = Vec::new();
    for (i, rule, node) in &all {
        let earlier = all[..*i].iter().find(|(_, e, _)| {
            covers(&e.on_job_failure_reasons, &rule.on_job_failure_reasons)
                && covers(&e.target_replicated_jobs, &rule.target_replicated_jobs)
                && covers(
                    &e.on_job_failure_message_patterns,
                    &rule.on_job_failure_message_patterns,
                )
                && e.on_job_failure_message_patterns
                    .iter()
                    .all(|p| re2::compile(p).is_some())
        });
        if let Some((_, winner, _)) = earlier {
            let detail = format!(
                "rule {:?} matches all that {:?} matches",
                winner.name, rule.name
            );
            hits.push(hit(node.at, detail));
        }
    }
    hits
}

/// Returns whether Jobs of this replicatedJob can fail with this reason.
fn possible(rj: &Rj, reason: &str) -> bool {
    let template = rj.template();
    match reason {
        "PodFailurePolicy" => template
            .pod_failure_policy
            .iter()
            .flatten()
            .any(|r| r.action == PodFailurePolicyAction::FailJob),
        "DeadlineExceeded" => template.active_deadline_seconds.is_some(),
        "FailedIndexes" => template.backoff_limit_per_index.is_some(),
        "MaxFailedIndexesExceeded" => template.max_failed_indexes.is_some(),
        "BackoffLimitExceeded" => template.backoff_limit() != i32::MAX,
        _ => true,
    }
}

fn rule_never_matches(s: &Subject) -> Vec<Hit> {
    let rjs = s.rjs();
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        let reasons = &rule.on_job_failure_reasons;
        let targets = &rule.target_replicated_jobs;
        let targeted = |rj: &&Rj| targets.is_empty() || targets.contains(&rj.spec.name);
        let can = rjs
            .iter()
            .filter(targeted)
            .any(|rj| reasons.iter().any(|reason| possible(rj, reason)));
        if !reasons.is_empty() && !rjs.is_empty() && !can {
            let detail = format!("rule {:?}: {}", rule.name, reasons.join(", "));
            hits.push(hit(place(node, "onJobFailureReasons"), detail));
        }
    }
    hits
}

fn restart_without_limit(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        let reasons = &rule.on_job_failure_reasons;
        let crash = |r: &String| {
            matches!(
                r.as_str(),
                "BackoffLimitExceeded" | "FailedIndexes" | "MaxFailedIndexesExceeded"
            )
        };
        let any_crash = reasons.is_empty() || reasons.iter().any(crash);
        let unfiltered = rule.on_job_failure_message_patterns.is_empty();
        if ignores_limit(rule.action) && any_crash && unfiltered {
            let detail = format!("rule {:?} with {}", rule.name, rule.action.as_str());
            hits.push(hit(place(node, "action"), detail));
        }
    }
    hits
}

fn rule_duplicate_entry(s: &Subject) -> Vec<Hit> {
    const LISTS: [&str; 3] = [
        "onJobFailureReasons",
        "onJobFailureMessagePatterns",
        "targetReplicatedJobs",
    ];
    let mut hits = Vec::new();
    for (_, rule, node) in rules(s) {
        for key in LISTS {
            let items = list(node, key);
            for (i, item) in items.iter().enumerate() {
                if items[..i].iter().any(|other| other.value == item.value) {
                    let what = item.as_str().unwrap_or("");
                    hits.push(hit(
                        item.at,
                        format!("{what:?} in {key} of rule {:?}", rule.name),
                    ));
                }
            }
        }
    }
    hits
}

fn blocking_restart_job(s: &Subject) -> Vec<Hit> {
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
fn recreates(s: &Subject) -> bool {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return false;
    };
    let allowed = policy.max_restarts > 0 || policy.rules.iter().any(|r| ignores_limit(r.action));
    allowed && policy.restart_strategy != RestartStrategy::InPlaceRestart
}

fn backoff_before_restart(s: &Subject) -> Vec<Hit> {
    if !recreates(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let implicit = int(rj.job, "backoffLimit").is_none()
            && template.backoff_limit_per_index.is_none()
            && template.pod_failure_policy.is_none();
        if implicit && rj.spec.replicas > 0 && template.pods() > 1 {
            let detail = format!(
                "replicatedJob {:?} with {} pods a Job",
                rj.name(),
                template.pods()
            );
            hits.push(hit(rj.at("template"), detail));
        }
    }
    hits
}

fn grace_period(s: &Subject) -> Vec<Hit> {
    if !recreates(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let grace = rj.pod_spec().termination_grace_period_s;
        let written = int(rj.pod, "terminationGracePeriodSeconds").is_some();
        if written && grace >= LONG_GRACE_S && rj.pods() > 0 {
            let at = rj.pod_at("terminationGracePeriodSeconds");
            hits.push(hit(
                at,
                format!("{grace} s in replicatedJob {:?}", rj.name()),
            ));
        }
    }
    hits
}

fn sidecar_grace(s: &Subject) -> Vec<Hit> {
    if !recreates(s) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
        let pod = rj.pod_spec();
        let grace = pod.termination_grace_period_s;
        let sidecar = pod.init_containers.iter().find(|c| c.is_sidecar());
        if let Some(sidecar) = sidecar.filter(|_| grace > 0) {
            let detail = format!(
                "up to {grace} s for {:?} in replicatedJob {:?}",
                sidecar.name,
                rj.name()
            );
            hits.push(hit(rj.pod_at("initContainers"), detail));
        }
    }
    hits
}

fn restart_policy_default(s: &Subject) -> Vec<Hit> {
    if !recreates(s) {
        return Vec::new();
    }
    let rjs = s.rjs();
    let left = rjs
        .iter()
        .filter(|rj| rj.pods() > 0 && rj.pod.get("restartPolicy").is_none());
    left.map(|rj| {
        let detail = format!("replicatedJob {:?}", rj.name());
        hit(rj.pod_at("containers"), detail)
    })
    .collect()
}

fn exclusive_zero_restarts(s: &Subject) -> Vec<Hit> {
    let Some(policy) = &s.jobset.spec.failure_policy else {
        return Vec::new();
    };
    let node = s.at_path(&["failurePolicy"]);
    let zero = node.and_then(|n| int(n, "maxRestarts")) == Some(0);
    let saved = policy.rules.iter().any(|r| ignores_limit(r.action));
    let exclusive = |rj: &Rj| rj.pods() > 0 && s.jobset.exclusive_key(rj.spec).is_some();
    match s.rjs().iter().find(|rj| exclusive(rj)) {
        Some(rj) if zero && !saved => {
            vec![hit(
                max_restarts_at(s),
                format!("replicatedJob {:?}", rj.name()),
            )]
        }
        _ => Vec::new(),
    }
}
