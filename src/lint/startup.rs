//! Traps of startup and completion: unsatisfied dependencies, Jobs that never complete, and Jobs that complete too
//! early.

use super::subject::{Rj, Subject, int, list, place, text};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_api::spec::{CompletionMode, DependsOnStatus, Operator, StartupPolicyOrder, SuccessPolicy};

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "depends-on-itself",
        severity: Severity::Error,
        rules: &["C-21", "VAL-21"],
        title: "a replicatedJob depends on itself",
        consequence: "It is never created. There is no event and no condition; the JobSet runs on without it.",
        fix: "Name another replicatedJob, one that comes earlier in the list.",
        check: Check::JobSet(depends_on_itself),
    },
    Trap {
        name: "depends-on-nothing",
        severity: Severity::Warning,
        rules: &["C-22", "DEP-1"],
        title: "a dependency is satisfied before anything ran",
        consequence: "Jobs that do not exist, or need no pod, count as ready at once; the dependent starts without waiting.",
        fix: "Give the dependency replicas and parallelism of 1 or more, or remove dependsOn.",
        check: Check::JobSet(depends_on_nothing),
    },
    Trap {
        name: "depends-on-never-complete",
        severity: Severity::Error,
        rules: &["C-12", "DEP-1"],
        title: "a dependency can never be complete",
        consequence: "A Job with parallelism 0 starts no pod, so it never completes, and the dependent is never created.",
        fix: "Give the dependency a parallelism of 1 or more.",
        check: Check::JobSet(depends_on_never_complete),
    },
    Trap {
        name: "in-order-readiness-probe",
        severity: Severity::Warning,
        rules: &["SU-5", "C-23"],
        title: "InOrder behind a readiness probe",
        consequence: "Each time an earlier replicatedJob loses readiness, StartupPolicyInProgress becomes True again, and missing Jobs of later replicatedJobs are not created until it is ready again.",
        fix: "Use a startupProbe instead of a readinessProbe, or dependsOn with status Ready, which is asked only when a Job is created.",
        check: Check::JobSet(in_order_readiness_probe),
    },
    Trap {
        name: "nothing-to-run",
        severity: Severity::Error,
        rules: &["C-10", "SP-1"],
        title: "the JobSet has no Job",
        consequence: "The success policy is asked only when a Job is complete, so the JobSet never completes; without replicatedJobs it never even gets a status.",
        fix: "Give at least one replicatedJob with replicas of 1 or more.",
        check: Check::JobSet(nothing_to_run),
    },
    Trap {
        name: "parallelism-zero",
        severity: Severity::Error,
        rules: &["C-12", "SP-2"],
        title: "a Job that has to complete runs no pod",
        consequence: "With parallelism 0 the Job counts as ready and never completes, and neither does the JobSet.",
        fix: "Give parallelism of 1 or more, or leave this replicatedJob out of the success policy's targets.",
        check: Check::JobSet(parallelism_zero),
    },
    Trap {
        name: "completions-zero",
        severity: Severity::Warning,
        rules: &["C-12"],
        title: "completions is 0",
        consequence: "The Job is complete as soon as it exists, without a pod; alone it completes the JobSet within a second.",
        fix: "Give completions of 1 or more, or replicas: 0 to leave the Jobs out.",
        check: Check::JobSet(completions_zero),
    },
    Trap {
        name: "success-of-nothing",
        severity: Severity::Error,
        rules: &["C-11", "SP-2"],
        title: "the success policy waits for replicatedJobs without Jobs",
        consequence: "All of zero Jobs is already reached: the JobSet completes, and stops everything else, as soon as any Job of any replicatedJob completes.",
        fix: "Target replicatedJobs that have replicas.",
        check: Check::JobSet(success_of_nothing),
    },
    Trap {
        name: "any-counts-initializer",
        severity: Severity::Error,
        rules: &["SP-2", "DEP-1"],
        title: "one complete Job ends the JobSet, and an initializer has to complete first",
        consequence: "With operator Any the JobSet is Completed when the dependency completes; what depends on it never runs.",
        fix: "Target the replicatedJobs that do the work in targetReplicatedJobs.",
        check: Check::JobSet(any_counts_initializer),
    },
    Trap {
        name: "ttl-zero",
        severity: Severity::Warning,
        rules: &["TTL-3", "C-36"],
        title: "the JobSet is deleted as soon as it ends",
        consequence: "With ttlSecondsAfterFinished 0 the JobSet, its Jobs, pods and logs go in the pass after the last one; whoever asks for the result finds nothing.",
        fix: "Give a ttlSecondsAfterFinished that leaves time to read the result.",
        check: Check::JobSet(ttl_zero),
    },
    Trap {
        name: "managed-by-other",
        severity: Severity::Warning,
        rules: &["MB-1", "C-37"],
        title: "another controller is in charge",
        consequence: "The JobSet controller leaves this JobSet alone: no Job, no Service, no status, until the named controller acts.",
        fix: "Remove spec.managedBy, unless that controller runs in the cluster.",
        check: Check::JobSet(managed_by_other),
    },
    Trap {
        name: "scheduling-gates",
        severity: Severity::Warning,
        rules: &["SUS-5"],
        title: "pods with scheduling gates",
        consequence: "kube-scheduler leaves them alone until somebody has taken off every gate of each pod, after each restart anew; until then the JobSet is not ready.",
        fix: "Remove schedulingGates, unless a controller of the cluster takes them off; in a scenario an action does: patch with merge {spec: {schedulingGates: null}}.",
        check: Check::JobSet(scheduling_gates),
    },
];

fn scheduling_gates(s: &Subject) -> Vec<Hit> {
    let rjs = s.rjs().into_iter();
    let gated = rjs.filter(|rj| rj.pods() > 0 && rj.pod_spec().scheduling_gates > 0);
    let found = |rj: Rj| {
        let detail = format!("replicatedJob {:?}", rj.name());
        hit(rj.pod_at("schedulingGates"), detail)
    };
    gated.map(found).collect()
}

/// Returns whether the manifest sets `parallelism: 0`, which means that no pod runs.
fn runs_no_pod(rj: &Rj) -> bool {
    int(rj.job, "parallelism") == Some(0)
}

fn completes_at_once(rj: &Rj) -> bool {
    rj.template().completions == Some(0)
}

/// Returns each (dependent, dependency, status, position of the name).
fn dependencies<'a>(
    s: &Subject<'a>,
) -> Vec<(Rj<'a>, Rj<'a>, DependsOnStatus, sim_inputs::text::node::Pos)> {
    let mut found = Vec::new();
    for rj in s.rjs() {
        let nodes = list(rj.node, "dependsOn");
        for (entry, node) in rj.spec.depends_on.iter().zip(nodes) {
            if let Some(other) = s.rj(&entry.name) {
                found.push((rj, other, entry.status, place(node, "name")));
            }
        }
    }
    found
}

fn depends_on_itself(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, other, _, at) in dependencies(s) {
        if rj.index == other.index && rj.spec.replicas > 0 {
            hits.push(hit(at, format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn depends_on_nothing(s: &Subject) -> Vec<Hit> {
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
            let detail = format!(
                "{:?} waits for {:?}, which has {why}",
                rj.name(),
                other.name()
            );
            hits.push(hit(at, detail));
        }
    }
    hits
}

fn depends_on_never_complete(s: &Subject) -> Vec<Hit> {
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

fn in_order_readiness_probe(s: &Subject) -> Vec<Hit> {
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

fn nothing_to_run(s: &Subject) -> Vec<Hit> {
    if s.jobset
        .spec
        .replicated_jobs
        .iter()
        .any(|rj| rj.replicas > 0)
    {
        return Vec::new();
    }
    let detail = match s.jobset.spec.replicated_jobs.is_empty() {
        true => "replicatedJobs is empty",
        false => "every replicatedJob has replicas 0",
    };
    vec![hit(s.at(&["replicatedJobs"]), detail)]
}

fn parallelism_zero(s: &Subject) -> Vec<Hit> {
    let policy = success_policy(s);
    if policy.operator == Operator::Any {
        return Vec::new();
    }
    let targets = &policy.target_replicated_jobs;
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let needed = targets.is_empty() || targets.contains(&rj.spec.name);
        let stuck = runs_no_pod(&rj) && !completes_at_once(&rj) && rj.spec.replicas > 0;
        // Indexed Jobs without completions are rejected, which is a separate trap.
        let exists = rj.template().completions.is_some()
            || rj.template().completion_mode == CompletionMode::NonIndexed;
        if needed && stuck && exists {
            let detail = format!("replicatedJob {:?}", rj.name());
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn completions_zero(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if completes_at_once(&rj) && rj.spec.replicas > 0 {
            let detail = format!("replicatedJob {:?}", rj.name());
            hits.push(hit(rj.job_at("completions"), detail));
        }
    }
    hits
}

fn success_of_nothing(s: &Subject) -> Vec<Hit> {
    let policy = success_policy(s);
    let targets = &policy.target_replicated_jobs;
    let rjs = s.rjs();
    let targeted = |rj: &&Rj| targets.contains(&rj.spec.name);
    let empty = rjs.iter().filter(targeted).all(|rj| rj.spec.replicas == 0);
    let others = rjs.iter().any(|rj| rj.spec.replicas > 0);
    if policy.operator != Operator::All || targets.is_empty() || !empty || !others {
        return Vec::new();
    }
    let detail = format!("targets {}", targets.join(", "));
    vec![hit(
        s.at(&["successPolicy", "targetReplicatedJobs"]),
        detail,
    )]
}

fn any_counts_initializer(s: &Subject) -> Vec<Hit> {
    let policy = success_policy(s);
    if policy.operator != Operator::Any {
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

fn ttl_zero(s: &Subject) -> Vec<Hit> {
    match s.jobset.spec.ttl_seconds_after_finished {
        Some(0) => vec![hit(
            s.at(&["ttlSecondsAfterFinished"]),
            "ttlSecondsAfterFinished is 0",
        )],
        _ => Vec::new(),
    }
}

fn managed_by_other(s: &Subject) -> Vec<Hit> {
    match text(s.spec_node(), "managedBy") {
        Some(name) if name != sim_api::spec::JOBSET_CONTROLLER => {
            vec![hit(s.at(&["managedBy"]), format!("managedBy is {name:?}"))]
        }
        _ => Vec::new(),
    }
}

/// Returns the success policy, or the default (all Jobs of all replicatedJobs) if none is set (DEF-1).
pub fn success_policy(s: &Subject) -> SuccessPolicy {
    s.jobset.spec.success_policy.clone().unwrap_or_default()
}
