//! Traps of the failure policy: rules that never match, ineffective restart limits, and retries that hide a failure.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place};
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::{FailurePolicyAction, FailurePolicyRule, PodFailurePolicyAction, RestartStrategy};
use sim_inputs::text::node::{SourcePosition, YamlNode};
use sim_policy::failure::re2;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("pattern-invalid", TrapCheck::JobSet(pattern_invalid)),
    ("max-restarts-negative", TrapCheck::JobSet(max_restarts_negative)),
    ("max-restarts-absent", TrapCheck::JobSet(max_restarts_absent)),
    ("rule-shadowed", TrapCheck::JobSet(rule_shadowed)),
    ("rule-never-matches", TrapCheck::JobSet(rule_never_matches)),
    ("restart-without-limit", TrapCheck::JobSet(restart_without_limit)),
    ("rule-duplicate-entry", TrapCheck::JobSet(rule_duplicate_entry)),
    ("blocking-restart-job", TrapCheck::JobSet(blocking_restart_job)),
    ("backoff-before-restart", TrapCheck::JobSet(backoff_before_restart)),
    ("grace-period-in-restart", TrapCheck::JobSet(grace_period)),
    ("sidecar-grace-in-detection", TrapCheck::JobSet(sidecar_grace)),
    ("restart-policy-default", TrapCheck::JobSet(restart_policy_default)),
    ("exclusive-zero-restarts", TrapCheck::JobSet(exclusive_zero_restarts)),
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
