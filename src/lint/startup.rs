//! Traps of startup and completion: unsatisfied dependencies, Jobs that never complete, and Jobs that complete too
//! early.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place, text};
use super::trap::{LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};
use sim_api::spec::{CompletionMode, ConditionOperator, DependsOnStatus, StartupPolicyOrder, SuccessPolicy};

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "depends-on-itself",
        severity: TrapSeverity::Error,
        rules: &["C-21", "VAL-21"],
        title: "a replicatedJob depends on itself",
        consequence: "Its Jobs are never created. No event or condition reports this; the JobSet runs without them.",
        fix: "Name a different replicatedJob, one that comes earlier in the list.",
        check: TrapCheck::JobSet(depends_on_itself),
    },
    LintTrap {
        name: "depends-on-nothing",
        severity: TrapSeverity::Warning,
        rules: &["C-22", "DEP-1"],
        title: "a dependency is satisfied before any pod runs",
        consequence: "A dependency without Jobs, or whose Jobs need no pod, counts as ready immediately. The dependent replicatedJob starts without waiting.",
        fix: "Set replicas and parallelism of the dependency to 1 or more, or remove dependsOn.",
        check: TrapCheck::JobSet(depends_on_nothing),
    },
    LintTrap {
        name: "depends-on-never-complete",
        severity: TrapSeverity::Error,
        rules: &["C-12", "DEP-1"],
        title: "a dependency can never complete",
        consequence: "A Job with parallelism 0 starts no pod, so it never completes, and the dependent replicatedJob is never created.",
        fix: "Set parallelism of the dependency to 1 or more.",
        check: TrapCheck::JobSet(depends_on_never_complete),
    },
    LintTrap {
        name: "in-order-readiness-probe",
        severity: TrapSeverity::Warning,
        rules: &["SU-5", "C-23"],
        title: "startup order InOrder with a readiness probe",
        consequence: "Each time an earlier replicatedJob becomes unready, StartupPolicyInProgress becomes True again, and missing Jobs of later replicatedJobs are not created until it is ready again.",
        fix: "Use a startupProbe instead of a readinessProbe, or use dependsOn with status Ready, which is evaluated only when a Job is created.",
        check: TrapCheck::JobSet(in_order_readiness_probe),
    },
    LintTrap {
        name: "nothing-to-run",
        severity: TrapSeverity::Error,
        rules: &["C-10", "SP-1"],
        title: "the JobSet has no Jobs",
        consequence: "The success policy is evaluated only when a Job completes, so the JobSet never completes. Without any replicatedJob it does not even get a status.",
        fix: "Add at least one replicatedJob with replicas of 1 or more.",
        check: TrapCheck::JobSet(nothing_to_run),
    },
    LintTrap {
        name: "parallelism-zero",
        severity: TrapSeverity::Error,
        rules: &["C-12", "SP-2"],
        title: "a Job that must complete runs no pod",
        consequence: "With parallelism 0 the Job counts as ready but never completes, so the JobSet never completes either.",
        fix: "Set parallelism to 1 or more, or remove this replicatedJob from the targets of the success policy.",
        check: TrapCheck::JobSet(parallelism_zero),
    },
    LintTrap {
        name: "completions-zero",
        severity: TrapSeverity::Warning,
        rules: &["C-12"],
        title: "completions is 0",
        consequence: "The Job completes as soon as it is created, without running a pod. If it is the only Job, the JobSet completes within a second.",
        fix: "Set completions to 1 or more, or set replicas to 0 to omit the Jobs.",
        check: TrapCheck::JobSet(completions_zero),
    },
    LintTrap {
        name: "success-of-nothing",
        severity: TrapSeverity::Error,
        rules: &["C-11", "SP-2"],
        title: "the success policy targets only replicatedJobs without Jobs",
        consequence: "With zero target Jobs the condition \"all complete\" always holds. As soon as any Job of any replicatedJob completes, the JobSet is Completed and all other Jobs are stopped.",
        fix: "Target replicatedJobs that have replicas.",
        check: TrapCheck::JobSet(success_of_nothing),
    },
    LintTrap {
        name: "any-counts-initializer",
        severity: TrapSeverity::Error,
        rules: &["SP-2", "DEP-1"],
        title: "the first complete Job completes the JobSet, and a dependency must complete first",
        consequence: "With operator Any the JobSet becomes Completed when the dependency completes. The replicatedJob that depends on it never runs.",
        fix: "List only the replicatedJobs that do the work in targetReplicatedJobs.",
        check: TrapCheck::JobSet(any_counts_initializer),
    },
    LintTrap {
        name: "ttl-zero",
        severity: TrapSeverity::Warning,
        rules: &["TTL-3", "C-36"],
        title: "the JobSet is deleted as soon as it finishes",
        consequence: "With ttlSecondsAfterFinished 0 the JobSet, its Jobs, pods and logs are deleted in the first reconciliation after it finishes. The result can no longer be read.",
        fix: "Set a ttlSecondsAfterFinished that leaves time to read the result.",
        check: TrapCheck::JobSet(ttl_zero),
    },
    LintTrap {
        name: "managed-by-other",
        severity: TrapSeverity::Warning,
        rules: &["MB-1", "C-37"],
        title: "another controller manages the JobSet",
        consequence: "The JobSet controller ignores this JobSet. There are no Jobs, no Service and no status until the named controller creates them.",
        fix: "Remove spec.managedBy, unless that controller runs in the cluster.",
        check: TrapCheck::JobSet(managed_by_other),
    },
    LintTrap {
        name: "scheduling-gates",
        severity: TrapSeverity::Warning,
        rules: &["SUS-5"],
        title: "pods have scheduling gates",
        consequence: "kube-scheduler ignores a pod until all of its scheduling gates are removed, and the pods of every restart have the gates again. Until they are removed the JobSet is not ready.",
        fix: "Remove schedulingGates, unless a controller of the cluster removes them. In a scenario, remove them with an action: patch with merge {spec: {schedulingGates: null}}.",
        check: TrapCheck::JobSet(scheduling_gates),
    },
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
