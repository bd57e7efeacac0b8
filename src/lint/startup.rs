//! Traps of startup and completion: unsatisfied dependencies, Jobs that never complete, and Jobs that complete too
//! early.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place, text};
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::{CompletionMode, ConditionOperator, DependsOnStatus, StartupPolicyOrder, SuccessPolicy};

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("depends-on-itself", TrapCheck::JobSet(depends_on_itself)),
    ("depends-on-nothing", TrapCheck::JobSet(depends_on_nothing)),
    ("depends-on-never-complete", TrapCheck::JobSet(depends_on_never_complete)),
    ("in-order-readiness-probe", TrapCheck::JobSet(in_order_readiness_probe)),
    ("nothing-to-run", TrapCheck::JobSet(nothing_to_run)),
    ("parallelism-zero", TrapCheck::JobSet(parallelism_zero)),
    ("completions-zero", TrapCheck::JobSet(completions_zero)),
    ("success-of-nothing", TrapCheck::JobSet(success_of_nothing)),
    ("any-counts-initializer", TrapCheck::JobSet(any_counts_initializer)),
    ("ttl-zero", TrapCheck::JobSet(ttl_zero)),
    ("managed-by-other", TrapCheck::JobSet(managed_by_other)),
    ("scheduling-gates", TrapCheck::JobSet(scheduling_gates)),
];

fn scheduling_gates(s: &LintSubject) -> Vec<TrapHit> {
    let rjs = s.rjs().into_iter();
    let gated = rjs.filter(|rj| rj.pods() > 0 && rj.pod_spec().scheduling_gates > 0);
    let result = |rj: ReplicatedJobText| {
        let detail = format!("replicatedJob {:?}", rj.name());
        hit(rj.pod_at("schedulingGates"), detail)
    };
    gated.map(result).collect()
}

/// Returns whether the manifest sets `parallelism: 0`, which means that no pod runs.
fn runs_no_pod(rj: &ReplicatedJobText) -> bool {
    int(rj.job, "parallelism") == Some(0)
}

fn completes_at_once(rj: &ReplicatedJobText) -> bool {
    rj.template().completions == Some(0)
}

/// Returns each (dependent, dependency, status, position of the name).
fn dependencies<'a>(
    s: &LintSubject<'a>,
) -> Vec<(ReplicatedJobText<'a>, ReplicatedJobText<'a>, DependsOnStatus, sim_inputs::text::node::SourcePosition)> {
    let mut result = Vec::new();
    for rj in s.rjs() {
        let nodes = list(rj.node, "dependsOn");
        for (entry, node) in rj.spec.depends_on.iter().zip(nodes) {
            if let Some(other) = s.rj(&entry.name) {
                result.push((rj, other, entry.status, place(node, "name")));
            }
        }
    }
    result
}

fn depends_on_itself(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, other, _, at) in dependencies(s) {
        if rj.index == other.index && rj.spec.replicas > 0 {
            hits.push(hit(at, format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn depends_on_nothing(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, other, status, at) in dependencies(s) {
        let why = if other.spec.replicas == 0 {
            "replicas 0"
        } else if completes_at_once(&other) {
            "completions 0"
        } else if runs_no_pod(&other) && status == DependsOnStatus::Ready {
            "parallelism 0"
        } else {
            continue;
        };
        if rj.index != other.index {
            let detail = format!("{:?} waits for {:?}, which has {why}", rj.name(), other.name());
            hits.push(hit(at, detail));
        }
    }
    hits
}

fn depends_on_never_complete(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (rj, other, status, at) in dependencies(s) {
        let waits = status == DependsOnStatus::Complete && other.spec.replicas > 0;
        if waits && runs_no_pod(&other) && !completes_at_once(&other) {
            let detail = format!("{:?} waits for {:?}", rj.name(), other.name());
            hits.push(hit(at, detail));
        }
    }
    hits
}

fn in_order_readiness_probe(s: &LintSubject) -> Vec<TrapHit> {
    let rjs = s.rjs();
    if s.jobset.spec.startup_order != StartupPolicyOrder::InOrder {
        return Vec::new();
    }
    let Some(last) = rjs.iter().rposition(|rj| rj.pods() > 0) else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    for rj in rjs[..last].iter().filter(|rj| rj.pods() > 0) {
        let probe = rj.containers().find(|c| c.get("readinessProbe").is_some());
        if let Some(container) = probe {
            let detail = format!("replicatedJob {:?}", rj.name());
            hits.push(hit(place(container, "readinessProbe"), detail));
        }
    }
    hits
}

fn nothing_to_run(s: &LintSubject) -> Vec<TrapHit> {
    if s.jobset.spec.replicated_jobs.iter().any(|rj| rj.replicas > 0) {
        return Vec::new();
    }
    let detail = if s.jobset.spec.replicated_jobs.is_empty() {
        "replicatedJobs is empty"
    } else {
        "every replicatedJob has replicas 0"
    };
    vec![hit(s.at(&["replicatedJobs"]), detail)]
}

fn parallelism_zero(s: &LintSubject) -> Vec<TrapHit> {
    let policy = success_policy(s);
    if policy.operator == ConditionOperator::Any {
        return Vec::new();
    }
    let targets = &policy.target_replicated_jobs;
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let needed = targets.is_empty() || targets.contains(&rj.spec.name);
        let stuck = runs_no_pod(&rj) && !completes_at_once(&rj) && rj.spec.replicas > 0;
        // Indexed Jobs without completions are rejected, which is a separate trap.
        let exists = rj.template().completions.is_some() || rj.template().completion_mode == CompletionMode::NonIndexed;
        if needed && stuck && exists {
            let detail = format!("replicatedJob {:?}", rj.name());
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn completions_zero(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if completes_at_once(&rj) && rj.spec.replicas > 0 {
            let detail = format!("replicatedJob {:?}", rj.name());
            hits.push(hit(rj.job_at("completions"), detail));
        }
    }
    hits
}

fn success_of_nothing(s: &LintSubject) -> Vec<TrapHit> {
    let policy = success_policy(s);
    let targets = &policy.target_replicated_jobs;
    let rjs = s.rjs();
    let targeted = |rj: &&ReplicatedJobText| targets.contains(&rj.spec.name);
    let empty = rjs.iter().filter(targeted).all(|rj| rj.spec.replicas == 0);
    let others = rjs.iter().any(|rj| rj.spec.replicas > 0);
    if policy.operator != ConditionOperator::All || targets.is_empty() || !empty || !others {
        return Vec::new();
    }
    let detail = format!("targets {}", targets.join(", "));
    vec![hit(s.at(&["successPolicy", "targetReplicatedJobs"]), detail)]
}

fn any_counts_initializer(s: &LintSubject) -> Vec<TrapHit> {
    let policy = success_policy(s);
    if policy.operator != ConditionOperator::Any {
        return Vec::new();
    }
    let targets = &policy.target_replicated_jobs;
    for (rj, other, status, _) in dependencies(s) {
        let counted = targets.is_empty() || targets.contains(&other.spec.name);
        let works = rj.spec.replicas > 0 && other.spec.replicas > 0 && rj.index != other.index;
        if status == DependsOnStatus::Complete && counted && works {
            let detail = format!("{:?} completes before {:?} starts", other.name(), rj.name());
            return vec![hit(s.at(&["successPolicy", "operator"]), detail)];
        }
    }
    Vec::new()
}

fn ttl_zero(s: &LintSubject) -> Vec<TrapHit> {
    match s.jobset.spec.ttl_seconds_after_finished {
        Some(0) => vec![hit(s.at(&["ttlSecondsAfterFinished"]), "ttlSecondsAfterFinished is 0")],
        _ => Vec::new(),
    }
}

fn managed_by_other(s: &LintSubject) -> Vec<TrapHit> {
    match text(s.spec_node(), "managedBy") {
        Some(name) if name != sim_api::spec::JOBSET_CONTROLLER => {
            vec![hit(s.at(&["managedBy"]), format!("managedBy is {name:?}"))]
        }
        _ => Vec::new(),
    }
}

/// Returns the success policy, or the default (all Jobs of all replicatedJobs) if none is set (DEF-1).
pub fn success_policy(s: &LintSubject) -> SuccessPolicy {
    s.jobset.spec.success_policy.clone().unwrap_or_default()
}
