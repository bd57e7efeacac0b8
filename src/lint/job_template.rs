//! Traps of Job templates, which admission does not validate until a Job is created.

use super::placement;
use super::subject::{Rj, Subject, int, list, place, text};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_api::admission::FieldError;
use sim_api::spec::{CompletionMode, Operator, RestartPolicy, keys};
use sim_inputs::text::locate::locate;
use sim_inputs::text::node::Node;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "parallelism-without-completions",
        severity: Severity::Error,
        rules: &["C-16", "DEF-3", "JOB-1"],
        title: "parallelism is set and completions is not",
        consequence: "JobSet makes the Job Indexed, and an Indexed Job needs completions: it is refused for ever (JobCreationFailed), and so is every Job of a later replicatedJob.",
        fix: "Set completions, usually to the value of parallelism, or completionMode: NonIndexed.",
        check: Check::JobSet(parallelism_without_completions),
    },
    Trap {
        name: "pod-failure-policy-restart-policy",
        severity: Severity::Error,
        rules: &["C-16", "DEF-3"],
        title: "podFailurePolicy without restartPolicy Never",
        consequence: "JobSet sets restartPolicy OnFailure where none is written, and a podFailurePolicy needs Never: the Job is refused for ever (JobCreationFailed).",
        fix: "Write restartPolicy: Never in the pod template.",
        check: Check::JobSet(pod_failure_policy_restart_policy),
    },
    Trap {
        name: "job-refused",
        severity: Severity::Error,
        rules: &["C-16", "CRE-4", "JOB-1", "D-3"],
        title: "the API server refuses the Job",
        consequence: "The JobSet is accepted, its Job is not: JobCreationFailed with a growing back-off, no status. Jobs of later replicatedJobs are not created; those of earlier ones run and may use up all restarts.",
        fix: "Correct the field in the Job template.",
        check: Check::JobSet(job_refused),
    },
    Trap {
        name: "job-ttl",
        severity: Severity::Warning,
        rules: &["C-14", "CRE-8"],
        title: "ttlSecondsAfterFinished in a Job template",
        consequence: "A Job that is deleted after it finished is created and run again, and its success is forgotten. The JobSet completes only if all Jobs happen to be complete at the same moment.",
        fix: "Remove it, and set spec.ttlSecondsAfterFinished of the JobSet.",
        check: Check::JobSet(job_ttl),
    },
    Trap {
        name: "job-managed-by",
        severity: Severity::Error,
        rules: &["MB-1", "JOB-1"],
        title: "managedBy in a Job template",
        consequence: "Kubernetes' Job controller leaves the Job alone: it never gets a pod, and nothing says why.",
        fix: "Remove managedBy from the Job template.",
        check: Check::JobSet(job_managed_by),
    },
    Trap {
        name: "job-suspend-ignored",
        severity: Severity::Warning,
        rules: &["JOB-1"],
        title: "suspend in a Job template",
        consequence: "It is overwritten with spec.suspend of the JobSet: the Job starts.",
        fix: "Set spec.suspend of the JobSet.",
        check: Check::JobSet(job_suspend_ignored),
    },
    Trap {
        name: "job-metadata-ignored",
        severity: Severity::Warning,
        rules: &["LAB-3", "JOB-1"],
        title: "metadata of a Job template other than labels and annotations",
        consequence: "It is dropped without a word: Jobs are named <jobset>-<replicatedJob>-<index>, live in the JobSet's namespace and have no finalizers of yours.",
        fix: "Remove these fields.",
        check: Check::JobSet(job_metadata_ignored),
    },
    Trap {
        name: "reserved-metadata",
        severity: Severity::Warning,
        rules: &["LAB-1", "LAB-3"],
        title: "labels or annotations with keys of JobSet",
        consequence: "JobSet writes these keys itself; the value given here is overwritten.",
        fix: "Use a key with a prefix of your own.",
        check: Check::JobSet(reserved_metadata),
    },
    Trap {
        name: "job-deadline-zero",
        severity: Severity::Error,
        rules: &["FP-18"],
        title: "activeDeadlineSeconds is 0",
        consequence: "The Job fails with DeadlineExceeded as soon as it starts.",
        fix: "Remove it, or give the time the Job may take.",
        check: Check::JobSet(job_deadline_zero),
    },
    Trap {
        name: "image-spaces",
        severity: Severity::Error,
        rules: &["C-16"],
        title: "an image name begins or ends with a space",
        consequence: "The Job is created, each of its pods is refused (event FailedCreate on the Job); the JobSet shows nothing.",
        fix: "Remove the space.",
        check: Check::JobSet(image_spaces),
    },
    Trap {
        name: "scheduling-group-dropped",
        severity: Severity::Warning,
        rules: &["17.1"],
        title: "schedulingGroup needs a feature gate of Kubernetes",
        consequence: "JobSet keeps the field; where the gate GenericWorkload is off the Job API drops it without a word, and the pods run without the gang.",
        fix: "Switch GenericWorkload and GangScheduling on in the cluster, and apply the PodGroup together with the JobSet.",
        check: Check::JobSet(scheduling_group_dropped),
    },
    Trap {
        name: "too-many-jobs",
        severity: Severity::Error,
        rules: &["API-4", "VAL-5"],
        title: "more Jobs than a manager can hold",
        consequence: "Nothing bounds replicas but the product with parallelism. The manager builds every Job in memory: millions take gigabytes and bring it down, for every JobSet of the cluster.",
        fix: "Give fewer replicas, with more pods in each Job.",
        check: Check::JobSet(too_many_jobs),
    },
];

/// Limit on the number of Jobs. 1.25 million Jobs took about 10 GB of the manager, whose default limit is 4 GiB.
const JOBS_MAX: u64 = 100_000;

fn of(rj: &Rj) -> String {
    format!("replicatedJob {:?}", rj.name())
}

/// Appends the API server's error message for the Jobs of this replicatedJob to a detail.
fn with_sentence(s: &Subject, rj: &Rj, detail: String) -> String {
    match &s.refused[rj.index] {
        Some(refused) => format!("{detail}; the API server says: {}", refused.message),
        None => detail,
    }
}

fn parallelism_without_completions(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let indexed = template.completion_mode == CompletionMode::Indexed;
        let set = int(rj.job, "parallelism").is_some();
        let unset = rj.job.get("completions").is_none();
        if indexed && set && unset && rj.spec.replicas > 0 {
            let detail = with_sentence(s, &rj, of(&rj));
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn pod_failure_policy_restart_policy(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let never = rj.pod_spec().restart_policy == RestartPolicy::Never;
        let policy = rj.job.get("podFailurePolicy").is_some();
        // restartPolicy Always is rejected for every Job with a different message.
        let always = rj.pod_spec().restart_policy == RestartPolicy::Always;
        if policy && !never && !always && rj.spec.replicas > 0 {
            let detail = with_sentence(s, &rj, of(&rj));
            hits.push(hit(rj.job_at("podFailurePolicy"), detail));
        }
    }
    hits
}

/// Returns whether a more specific trap already reports the error at this path.
fn explained(s: &Subject, rj: &Rj, path: &str) -> bool {
    let has = |hits: Vec<Hit>| hits.iter().any(|h| h.detail.starts_with(&of(rj)));
    match path {
        "spec.completions" => has(parallelism_without_completions(s)),
        "spec.template.spec.restartPolicy" => has(pod_failure_policy_restart_policy(s)),
        // Whether privileged containers are allowed depends on the cluster, not on the manifest.
        _ if path.ends_with("securityContext.privileged") => true,
        "spec.template.spec.nodeSelector" => has(placement::selector_value_long(s)),
        _ => false,
    }
}

fn job_refused(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let Some(refused) = &s.refused[rj.index] else {
            continue;
        };
        let open = |e: &&FieldError| !explained(s, &rj, &e.path);
        let first = refused.errors.iter().find(open);
        if first.is_none() && !refused.errors.is_empty() {
            continue;
        }
        let template = rj.node.get("template").unwrap_or(rj.node);
        let place = first.and_then(|e| locate(template, e.place()));
        let at = place.map_or(rj.at("template"), |p| p.key);
        hits.push(hit(at, format!("{}: {}", of(&rj), refused.message)));
    }
    hits
}

fn job_ttl(s: &Subject) -> Vec<Hit> {
    let jobs: u64 = s.rjs().iter().map(|rj| u64::from(rj.spec.replicas)).sum();
    let policy = super::startup::success_policy(s);
    let any = policy.operator == Operator::Any;
    let untargeted = policy.target_replicated_jobs.is_empty();
    // With a single Job, or if any Job suffices, the JobSet completes before the TTL of a Job expires.
    if jobs < 2 || (any && untargeted) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if let Some(ttl) = int(rj.job, "ttlSecondsAfterFinished") {
            let at = rj.job_at("ttlSecondsAfterFinished");
            hits.push(hit(at, format!("{ttl} s in {}", of(&rj))));
        }
    }
    hits
}

fn job_managed_by(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let manager = text(rj.job, "managedBy").filter(|m| *m != "kubernetes.io/job-controller");
        if let Some(manager) = manager {
            let detail = format!("{manager:?} in {}", of(&rj));
            hits.push(hit(rj.job_at("managedBy"), detail));
        }
    }
    hits
}

fn job_suspend_ignored(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let written = rj.job.get("suspend").and_then(Node::as_bool);
        if written == Some(true) && !s.jobset.spec.suspend {
            hits.push(hit(rj.job_at("suspend"), of(&rj)));
        }
    }
    hits
}

fn job_metadata_ignored(s: &Subject) -> Vec<Hit> {
    const IGNORED: [&str; 5] = [
        "name",
        "generateName",
        "namespace",
        "finalizers",
        "ownerReferences",
    ];
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let Some(metadata) = rj.node.at_path(&["template", "metadata"]) else {
            continue;
        };
        for key in IGNORED {
            let same_namespace =
                key == "namespace" && text(metadata, key) == Some(s.jobset.namespace.as_str());
            let written = metadata
                .get(key)
                .is_some_and(|v| !v.is_empty() && v.as_str() != Some(""));
            if written && !same_namespace {
                hits.push(hit(place(metadata, key), format!("{key} in {}", of(&rj))));
            }
        }
    }
    hits
}

fn reserved_metadata(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj.job.get("template");
        for object in rj.node.get("template").into_iter().chain(pod) {
            for map in ["labels", "annotations"] {
                let entries = object
                    .at_path(&["metadata", map])
                    .map_or(&[][..], Node::entries);
                for (key, _) in entries
                    .iter()
                    .filter(|(k, _)| k.name.starts_with(keys::JOBSET_PREFIX))
                {
                    hits.push(hit(key.at, format!("{} in {map} of {}", key.name, of(&rj))));
                }
            }
        }
    }
    hits
}

fn job_deadline_zero(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.template().active_deadline_seconds == Some(0) {
            hits.push(hit(rj.job_at("activeDeadlineSeconds"), of(&rj)));
        }
    }
    hits
}

fn image_spaces(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        for container in rj.containers() {
            let image = text(container, "image").unwrap_or("");
            if image.trim() != image {
                let detail = format!("{image:?} in {}", of(&rj));
                hits.push(hit(place(container, "image"), detail));
            }
        }
    }
    hits
}

fn scheduling_group_dropped(s: &Subject) -> Vec<Hit> {
    // If a PodGroup is applied as well, a cluster without the feature gate rejects the PodGroup with an error.
    if s.objects
        .iter()
        .any(|o| o.kind == "PodGroup" || o.kind == "Workload")
    {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.pod.get("schedulingGroup").is_some() {
            hits.push(hit(rj.pod_at("schedulingGroup"), of(&rj)));
        }
    }
    hits
}

fn too_many_jobs(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if u64::from(rj.spec.replicas) > JOBS_MAX {
            let detail = format!("{} replicas of {}", rj.spec.replicas, of(&rj));
            hits.push(hit(rj.at("replicas"), detail));
        }
    }
    hits
}

/// Returns the names of all claims that the volumes of a pod template refer to.
pub fn claims<'a>(rj: &Rj<'a>) -> Vec<&'a str> {
    let claim = |v: &'a Node| v.at_path(&["persistentVolumeClaim", "claimName"]);
    let volumes = list(rj.pod, "volumes");
    volumes.iter().filter_map(|v| claim(v)?.as_str()).collect()
}
