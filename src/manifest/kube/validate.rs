//! The rules of the CRD and the validating webhook that decide whether a JobSet can exist (VAL-3…VAL-26).

use super::{depends, volumes};
use crate::manifest::diagnostic::Report;
use crate::manifest::names;
use crate::manifest::node::{Node, Pos};
use crate::manifest::read;
use crate::spec::{CompletionMode, JobSet, PodReplacementPolicy, ReplicatedJob, RestartStrategy};

const INT32_MAX: u64 = i32::MAX as u64;
/// VAL-24.
const RESTART_JOB_REPLICAS_MAX: u32 = 1024;

pub fn validate(jobset: &JobSet, node: &Node, report: &mut Report) {
    let empty = Node::empty_map();
    let metadata = node.get("metadata").unwrap_or(&empty);
    let spec = node.get("spec").unwrap_or(&empty);
    identity(jobset, metadata, report);
    let subdomain = spec.at_path(&["network", "subdomain"]);
    written(
        names::dns1035_label,
        "spec.network.subdomain",
        subdomain,
        report,
    );
    let managed_by = spec.get("managedBy");
    written(
        names::domain_prefixed_path,
        "spec.managedBy",
        managed_by,
        report,
    );
    let nodes = read::list(spec, "replicatedJobs");
    for (i, (job, node)) in jobset.spec.replicated_jobs.iter().zip(nodes).enumerate() {
        let earlier = &jobset.spec.replicated_jobs[..i];
        replicated_job(jobset, job, earlier, node, report);
    }
    depends::validate(jobset, spec, report);
    volumes::validate(jobset, spec, report);
    targets(
        spec.at_path(&["successPolicy", "targetReplicatedJobs"]),
        jobset,
        report,
    );
    if let Some(policy) = spec.get("failurePolicy") {
        failure_policy(jobset, policy, report);
    }
    if let Some(node) = spec.get("coordinator") {
        coordinator(jobset, node, report);
    }
}

fn identity(jobset: &JobSet, metadata: &Node, report: &mut Report) {
    let node = metadata.get("name").or(metadata.get("generateName"));
    let at = node.map_or(metadata.at, |n| n.at);
    let text = &jobset.name;
    // An absent name has its own error.
    if !text.is_empty() {
        name(
            names::dns1123_subdomain(text),
            "metadata.name",
            text,
            at,
            report,
        );
    }
    let namespace = metadata.get("namespace");
    written(
        names::dns1123_label,
        "metadata.namespace",
        namespace,
        report,
    );
    for (key, value) in metadata.get("labels").map_or(&[][..], Node::entries) {
        let rule = names::label_key(&key.name);
        name(rule, "a label key", &key.name, key.at, report);
        let what = format!("the value of label {:?}", key.name);
        written(names::label_value, &what, Some(value), report);
    }
}

/// Checks a text that may be absent.
fn written(rule: Rule, path: &str, node: Option<&Node>, report: &mut Report) {
    if let Some(node) = node {
        let text = node.as_str().unwrap_or("");
        name(rule(text), path, text, node.at, report);
    }
}

type Rule = fn(&str) -> Result<(), String>;

/// Reports a text that breaks a rule for names.
pub fn name(result: Result<(), String>, path: &str, text: &str, at: Pos, report: &mut Report) {
    if let Err(problem) = result {
        report.error(at, format!("{path} is {text:?}: {problem}"));
    }
}

/// A replicatedJob that does not exist; says which do.
pub fn unknown_job(text: &str, at: Pos, jobset: &JobSet, report: &mut Report) {
    let known = || jobset.spec.replicated_jobs.iter().map(|j| j.name.as_str());
    let message = format!(
        "there is no replicatedJob {text:?} in JobSet {:?}",
        jobset.name
    );
    let error = report.error(at, message);
    error.nearest(text, known());
    error.legal(known().collect::<Vec<_>>().join(", "));
}

fn replicated_job(
    jobset: &JobSet,
    job: &ReplicatedJob,
    earlier: &[ReplicatedJob],
    node: &Node,
    report: &mut Report,
) {
    let at = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if earlier.iter().any(|other| other.name == job.name) {
        let message = format!("replicatedJob name {:?} is used twice", job.name);
        report.error(at("name"), message);
    }
    let group = names::dns1035_label(&job.group_name);
    name(group, "groupName", &job.group_name, at("groupName"), report);
    let product = u64::from(job.replicas) * u64::from(job.template.parallelism());
    if product > INT32_MAX {
        let message = format!(
            "replicas x parallelism of replicatedJob {:?} is {product} (VAL-5)",
            job.name
        );
        report
            .error(at("replicas"), message)
            .legal("at most 2147483647");
    }
    // VAL-7: the highest index makes the longest name; it is -1 without replicas.
    let longest = format!(
        "{}-{}-{}",
        jobset.name,
        job.name,
        i64::from(job.replicas) - 1
    );
    if !jobset.name.is_empty() {
        let before = report.found.len();
        name(
            names::dns1035_label(&longest),
            "the name of its Jobs",
            &longest,
            at("name"),
            report,
        );
        if report.found.len() == before {
            pod_names(job, &longest, at("name"), report);
        }
    }
}

/// VAL-8.
fn pod_names(job: &ReplicatedJob, longest_job: &str, at: Pos, report: &mut Report) {
    if job.template.completion_mode != CompletionMode::Indexed {
        return;
    }
    if let Some(completions) = job.template.completions() {
        let pod = format!("{longest_job}-{}-abcde", i64::from(completions) - 1);
        name(
            names::dns1035_label(&pod),
            "the name of its pods",
            &pod,
            at,
            report,
        );
    }
}

fn targets(list: Option<&Node>, jobset: &JobSet, report: &mut Report) {
    for target in list.map_or(&[][..], Node::items) {
        let text = target.as_str().unwrap_or("");
        if !jobset.spec.replicated_jobs.iter().any(|j| j.name == text) {
            unknown_job(text, target.at, jobset, report);
        }
    }
}

fn failure_policy(jobset: &JobSet, node: &Node, report: &mut Report) {
    let mut seen: Vec<String> = Vec::new();
    for (i, rule) in read::list(node, "rules").iter().enumerate() {
        targets(rule.get("targetReplicatedJobs"), jobset, report);
        let text = read::string(rule, "name").filter(|n| !n.is_empty());
        let text = text.unwrap_or_else(|| format!("failurePolicyRule{i}"));
        let at = rule.get("name").map_or(rule.at, |n| n.at);
        name(
            names::rule_name(&text),
            &format!("the name of rule {i}"),
            &text,
            at,
            report,
        );
        if seen.contains(&text) {
            report.error(at, format!("rule name {text:?} is used twice (VAL-25)"));
        }
        seen.push(text);
        restart_job(jobset, rule, report);
    }
    let strategy = jobset.spec.strategy();
    if strategy == RestartStrategy::InPlaceRestart {
        let at = node.get("restartStrategy").map_or(node.at, |n| n.at);
        in_place(jobset, at, report);
    }
}

/// VAL-24: it counts for every replicatedJob, targeted or not.
fn restart_job(jobset: &JobSet, rule: &Node, report: &mut Report) {
    let Some(action) = rule.get("action") else {
        return;
    };
    if !matches!(
        action.as_str(),
        Some("RestartJob" | "RestartJobAndIgnoreMaxRestarts")
    ) {
        return;
    }
    let large = |j: &&ReplicatedJob| j.replicas > RESTART_JOB_REPLICAS_MAX;
    if let Some(job) = jobset.spec.replicated_jobs.iter().find(large) {
        let message = format!(
            "RestartJob cannot be used: replicatedJob {:?} has {} replicas (VAL-24)",
            job.name, job.replicas
        );
        report.error(action.at, message).legal("at most 1024");
    }
}

/// VAL-11, VAL-12, VAL-13.
fn in_place(jobset: &JobSet, at: Pos, report: &mut Report) {
    for job in &jobset.spec.replicated_jobs {
        let template = &job.template;
        let mut missing = Vec::new();
        if template.backoff_limit() != i32::MAX {
            missing.push("backoffLimit: 2147483647 (VAL-11)");
        }
        if template.pod_replacement_policy != Some(PodReplacementPolicy::Failed) {
            missing.push("podReplacementPolicy: Failed (VAL-12)");
        }
        if template.completions.is_none() || template.completions != template.parallelism {
            missing.push("completions and parallelism, set and equal (VAL-13)");
        }
        if !missing.is_empty() {
            let message = format!(
                "InPlaceRestart needs in replicatedJob {:?}: {}",
                job.name,
                missing.join("; ")
            );
            report.error(at, message);
        }
    }
}

/// VAL-9: only the first violation is reported.
fn coordinator(jobset: &JobSet, node: &Node, report: &mut Report) {
    let at = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    let text = read::string(node, "replicatedJob").unwrap_or_default();
    let index = |key: &str| read::integer(node, key).unwrap_or(0);
    let Some(job) = jobset.spec.replicated_jobs.iter().find(|j| j.name == text) else {
        return unknown_job(&text, at("replicatedJob"), jobset, report);
    };
    let legal = |count: u32| format!("0 to {}", i64::from(count) - 1);
    if !(0..i64::from(job.replicas)).contains(&index("jobIndex")) {
        let message = format!("spec.coordinator.jobIndex is {}", index("jobIndex"));
        report
            .error(at("jobIndex"), message)
            .legal(legal(job.replicas));
        return;
    }
    let completions = job.template.completions;
    let (CompletionMode::Indexed, Some(completions)) = (job.template.completion_mode, completions)
    else {
        let message = format!(
            "the coordinator's replicatedJob {text:?} must be Indexed with completions set (VAL-9)"
        );
        report.error(at("replicatedJob"), message);
        return;
    };
    if !(0..i64::from(completions)).contains(&index("podIndex")) {
        let message = format!("spec.coordinator.podIndex is {}", index("podIndex"));
        report
            .error(at("podIndex"), message)
            .legal(legal(completions));
        return;
    }
    coordinator_label(jobset, node, report);
}

/// VAL-10: the endpoint becomes a label value.
fn coordinator_label(jobset: &JobSet, node: &Node, report: &mut Report) {
    let Some(coordinator) = &jobset.spec.coordinator else {
        return;
    };
    let subdomain = match jobset.spec.network.subdomain.as_str() {
        "" => &jobset.name,
        subdomain => subdomain,
    };
    let endpoint = format!(
        "{}-{}-{}-{}.{subdomain}",
        jobset.name, coordinator.replicated_job, coordinator.job_index, coordinator.pod_index
    );
    let what = "the coordinator label";
    name(
        names::label_value(&endpoint),
        what,
        &endpoint,
        node.at,
        report,
    );
}
