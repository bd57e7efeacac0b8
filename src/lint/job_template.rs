//! Traps of Job templates, which admission does not validate until a Job is created.

use super::lint_subject::{LintSubject, ReplicatedJobText, int, list, place, text};
use super::trap::{TrapCheck, TrapHit, hit};
use super::{placement, rejected, surroundings};
use sim_api::admission::FieldError;
use sim_api::spec::{CompletionMode, ConditionOperator, RestartPolicy, keys};
use sim_inputs::text::locate::locate;
use sim_inputs::text::node::YamlNode;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("parallelism-without-completions", TrapCheck::JobSet(parallelism_without_completions)),
    ("pod-failure-policy-restart-policy", TrapCheck::JobSet(pod_failure_policy_restart_policy)),
    ("job-refused", TrapCheck::JobSet(job_refused)),
    ("pods-refused", TrapCheck::JobSet(pods_refused)),
    ("job-ttl", TrapCheck::JobSet(job_ttl)),
    ("job-managed-by", TrapCheck::JobSet(job_managed_by)),
    ("job-suspend-ignored", TrapCheck::JobSet(job_suspend_ignored)),
    ("job-metadata-ignored", TrapCheck::JobSet(job_metadata_ignored)),
    ("reserved-metadata", TrapCheck::JobSet(reserved_metadata)),
    ("job-deadline-zero", TrapCheck::JobSet(job_deadline_zero)),
    ("image-spaces", TrapCheck::JobSet(image_spaces)),
    ("scheduling-group-dropped", TrapCheck::JobSet(scheduling_group_dropped)),
    ("too-many-jobs", TrapCheck::JobSet(too_many_jobs)),
];

/// Limit on the number of Jobs. 1.25 million Jobs took about 10 GB of the manager, whose default limit is 4 GiB.
const JOBS_MAX: u64 = 100_000;

fn name_text(rj: &ReplicatedJobText) -> String {
    format!("replicatedJob {:?}", rj.name())
}

/// Appends the API server's error message for the Jobs of this replicatedJob to a detail.
fn with_sentence(s: &LintSubject, rj: &ReplicatedJobText, detail: String) -> String {
    match &s.refused[rj.index] {
        Some(refused) => format!("{detail}; message of the API server: {}", refused.message),
        None => detail,
    }
}

fn parallelism_without_completions(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let indexed = template.completion_mode == CompletionMode::Indexed;
        let set = int(rj.job, "parallelism").is_some();
        let unset = rj.job.get("completions").is_none();
        if indexed && set && unset && rj.spec.replicas > 0 {
            let detail = with_sentence(s, &rj, name_text(&rj));
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn pod_failure_policy_restart_policy(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let never = rj.pod_spec().restart_policy == RestartPolicy::Never;
        let policy = rj.job.get("podFailurePolicy").is_some();
        // restartPolicy Always is rejected for every Job with a different message.
        let always = rj.pod_spec().restart_policy == RestartPolicy::Always;
        if policy && !never && !always && rj.spec.replicas > 0 {
            let detail = with_sentence(s, &rj, name_text(&rj));
            hits.push(hit(rj.job_at("podFailurePolicy"), detail));
        }
    }
    hits
}

/// Returns whether a more specific trap already reports the error at this path.
fn explained(s: &LintSubject, rj: &ReplicatedJobText, path: &str) -> bool {
    let has = |hits: Vec<TrapHit>| hits.iter().any(|h| h.detail.starts_with(&name_text(rj)));
    match path {
        "spec.completions" => has(parallelism_without_completions(s)),
        "spec.template.spec.restartPolicy" => has(pod_failure_policy_restart_policy(s)),
        // Whether privileged containers are allowed depends on the cluster, not on the manifest.
        _ if path.ends_with("securityContext.privileged") => true,
        "spec.template.spec.nodeSelector" => has(placement::selector_value_long(s)),
        _ => false,
    }
}

fn job_refused(s: &LintSubject) -> Vec<TrapHit> {
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
        let place = first.and_then(|e| locate(template, e.object_path()));
        let at = place.map_or(rj.at("template"), |p| p.key);
        hits.push(hit(at, format!("{}: {}", name_text(&rj), refused.message)));
    }
    hits
}

/// Returns whether a more specific trap reports the refusal of the pods at this path.
fn is_explained(s: &LintSubject, path: &str) -> bool {
    match path {
        path if path.ends_with(".image") => !image_spaces(s).is_empty(),
        path if path.ends_with(".topologyKey") => !placement::key_malformed(s).is_empty(),
        path if path.starts_with("metadata.labels") => !surroundings::priority_negative(s).is_empty(),
        _ => false,
    }
}

fn pods_refused(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    let rjs = s.rjs();
    for (index, refused) in rejected::pod_refusals(s) {
        let rj = &rjs[index];
        let first = refused.errors.iter().find(|error| !is_explained(s, &error.path));
        if first.is_none() && !refused.errors.is_empty() {
            continue;
        }
        let template = rj.job.get("template").unwrap_or(rj.job);
        let place = first.and_then(|error| locate(template, error.object_path()));
        // The admission plugin Priority names no field.
        let fields = ["priority", "preemptionPolicy"].into_iter().find(|field| rj.pod.get(field).is_some());
        let at = place.map_or_else(|| fields.map_or(rj.job_at("template"), |field| rj.pod_at(field)), |p| p.key);
        hits.push(hit(at, format!("{}: {}", name_text(rj), refused.message)));
    }
    hits
}

fn job_ttl(s: &LintSubject) -> Vec<TrapHit> {
    let jobs: u64 = s.rjs().iter().map(|rj| u64::from(rj.spec.replicas)).sum();
    let policy = super::startup::success_policy(s);
    let any = policy.operator == ConditionOperator::Any;
    let untargeted = policy.target_replicated_jobs.is_empty();
    // With a single Job, or if any Job suffices, the JobSet completes before the TTL of a Job expires.
    if jobs < 2 || (any && untargeted) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if let Some(ttl) = int(rj.job, "ttlSecondsAfterFinished") {
            let at = rj.job_at("ttlSecondsAfterFinished");
            hits.push(hit(at, format!("{ttl} s in {}", name_text(&rj))));
        }
    }
    hits
}

fn job_managed_by(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let manager = text(rj.job, "managedBy").filter(|m| *m != "kubernetes.io/job-controller");
        if let Some(manager) = manager {
            let detail = format!("{manager:?} in {}", name_text(&rj));
            hits.push(hit(rj.job_at("managedBy"), detail));
        }
    }
    hits
}

fn job_suspend_ignored(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let written = rj.job.get("suspend").and_then(YamlNode::as_bool);
        if written == Some(true) && !s.jobset.spec.suspend {
            hits.push(hit(rj.job_at("suspend"), name_text(&rj)));
        }
    }
    hits
}

fn job_metadata_ignored(s: &LintSubject) -> Vec<TrapHit> {
    const IGNORED: [&str; 5] = ["name", "generateName", "namespace", "finalizers", "ownerReferences"];
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let Some(metadata) = rj.node.at_path(&["template", "metadata"]) else {
            continue;
        };
        for key in IGNORED {
            let same_namespace = key == "namespace" && text(metadata, key) == Some(s.jobset.namespace.as_str());
            let written = metadata.get(key).is_some_and(|v| !v.is_empty() && v.as_str() != Some(""));
            if written && !same_namespace {
                hits.push(hit(place(metadata, key), format!("{key} in {}", name_text(&rj))));
            }
        }
    }
    hits
}

fn reserved_metadata(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj.job.get("template");
        for object in rj.node.get("template").into_iter().chain(pod) {
            for map in ["labels", "annotations"] {
                let entries = object.at_path(&["metadata", map]).map_or(&[][..], YamlNode::entries);
                for (key, _) in entries.iter().filter(|(k, _)| k.name.starts_with(keys::JOBSET_PREFIX)) {
                    hits.push(hit(key.at, format!("{} in {map} of {}", key.name, name_text(&rj))));
                }
            }
        }
    }
    hits
}

fn job_deadline_zero(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.template().active_deadline_seconds == Some(0) {
            hits.push(hit(rj.job_at("activeDeadlineSeconds"), name_text(&rj)));
        }
    }
    hits
}

fn image_spaces(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        for container in rj.containers() {
            let image = text(container, "image").unwrap_or("");
            if image.trim() != image {
                let detail = format!("{image:?} in {}", name_text(&rj));
                hits.push(hit(place(container, "image"), detail));
            }
        }
    }
    hits
}

fn scheduling_group_dropped(s: &LintSubject) -> Vec<TrapHit> {
    // If a PodGroup is applied as well, a cluster without the feature gate rejects the PodGroup with an error.
    if s.objects.iter().any(|o| o.kind == "PodGroup" || o.kind == "Workload") {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.pod.get("schedulingGroup").is_some() {
            hits.push(hit(rj.pod_at("schedulingGroup"), name_text(&rj)));
        }
    }
    hits
}

fn too_many_jobs(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if u64::from(rj.spec.replicas) > JOBS_MAX {
            let detail = format!("{} replicas of {}", rj.spec.replicas, name_text(&rj));
            hits.push(hit(rj.at("replicas"), detail));
        }
    }
    hits
}

/// Returns the names of all claims that the volumes of a pod template refer to.
pub fn claims<'a>(rj: &ReplicatedJobText<'a>) -> Vec<&'a str> {
    let claim = |v: &'a YamlNode| v.at_path(&["persistentVolumeClaim", "claimName"]);
    let volumes = list(rj.pod, "volumes");
    volumes.iter().filter_map(|v| claim(v)?.as_str()).collect()
}
