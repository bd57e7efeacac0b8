//! Reads `containers`: rules for the run time and exit code of containers.

use super::cross::CrossInputs;
use super::pod_names;
use crate::{read, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::{CompletionMode, ContainerRule, ContainerSpec, ReplicatedJob};
use std::collections::BTreeSet;

pub fn read(scenario: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> Vec<ContainerRule> {
    read::list(scenario, "containers").iter().map(|node| rule(node, inputs, report)).collect()
}

fn rule(node: &YamlNode, inputs: &CrossInputs, report: &mut DiagnosticReport) -> ContainerRule {
    let rule = ContainerRule {
        jobset: read::string(node, "jobSet"),
        replicated_job: read::string(node, "replicatedJob"),
        job_index: read::u32_of(node, "jobIndex"),
        pod_index: read::u32_of(node, "podIndex"),
        restart_attempt: read::u32_of(node, "restartAttempt"),
        job_restart: read::u32_of(node, "jobRestart"),
        job_try: read::u32_of(node, "jobTry"),
        in_place_attempt: read::u32_of(node, "inPlaceAttempt"),
        container_run: read::u32_of(node, "containerRun"),
        run_for: read::duration(node, "runFor"),
        exit_code: read::i32_of(node, "exitCode").unwrap_or(0),
        container: read::string(node, "container"),
        pod_fails: read::boolean(node, "podFails").unwrap_or(false),
        at_barrier_for: read::duration(node, "atBarrierFor"),
        ready_after: read::duration(node, "readyAfter"),
        start_after: read::duration(node, "startAfter"),
        stop_after: read::duration(node, "stopAfter"),
        from_command: None,
    };
    if let Some(at) = node.get("jobSet") {
        inputs.jobset(at, report);
    }
    let jobs = selected(&rule, inputs);
    let Some(chosen) = replicated_jobs(node, &rule, &jobs, report) else {
        return rule;
    };
    container(node, &rule, &chosen, inputs, report);
    ready_after(node, &rule, &chosen, report);
    // All pods of a NonIndexed Job count as index 0.
    let indexes = |j: &ReplicatedJob| match j.template.completion_mode {
        CompletionMode::Indexed => pod_names::places(&j.template),
        CompletionMode::NonIndexed => 1,
    };
    let most = |count: fn(&ReplicatedJob) -> u32| chosen.iter().map(|j| count(j)).max();
    for (key, index, count) in
        [("jobIndex", rule.job_index, most(|j| j.replicas)), ("podIndex", rule.pod_index, most(indexes))]
    {
        if let (Some(at), Some(index), Some(count)) = (node.get(key), index, count)
            && index >= count
        {
            let error = report.error(at.at, format!("{key} {index} is out of range"));
            error.legal(format!("0 to {}", i64::from(count) - 1));
        }
    }
    rule
}

/// Checks that the container of a rule exists in a selected pod. The check is skipped if the scenario has pods
/// without a JobSet.
fn container(
    node: &YamlNode, rule: &ContainerRule, chosen: &[&ReplicatedJob], inputs: &CrossInputs,
    report: &mut DiagnosticReport,
) {
    let (Some(at), Some(name)) = (node.get("container"), &rule.container) else {
        return;
    };
    let pods = chosen.iter().map(|j| &j.template.template.spec);
    let all = pods.flat_map(|p| p.init_containers.iter().chain(&p.containers));
    let known: BTreeSet<&str> = all.map(|c| c.name.as_str()).collect();
    if known.contains(name.as_str()) || inputs.others.has_pods() {
        return;
    }
    let error = report.error(at.at, format!("container {name:?} does not exist"));
    error.nearest(name, known.iter().copied());
    let known: Vec<&str> = known.into_iter().take(20).collect();
    error.legal(known.join(", "));
}

/// Checks that `readyAfter` has an effect: a selected container has a probe.
fn ready_after(node: &YamlNode, rule: &ContainerRule, chosen: &[&ReplicatedJob], report: &mut DiagnosticReport) {
    let Some(at) = node.get("readyAfter") else {
        return;
    };
    let pods = chosen.iter().map(|j| &j.template.template.spec);
    let mut all = pods.flat_map(|p| p.init_containers.iter().chain(&p.containers));
    let named = |c: &ContainerSpec| rule.container.as_ref().is_none_or(|name| *name == c.name);
    let probed = |c: &ContainerSpec| c.startup_probe.is_some() || c.readiness_probe.is_some();
    if !chosen.is_empty() && !all.any(|c| named(c) && probed(c)) {
        let message = "readyAfter has no effect: no selected container has a readinessProbe or startupProbe";
        report.error(at.at, message.to_owned());
    }
}

/// Returns the replicatedJobs of the JobSets that the rule applies to.
fn selected<'a>(rule: &ContainerRule, inputs: &CrossInputs<'a>) -> Vec<&'a ReplicatedJob> {
    let wanted = |name: &str| rule.jobset.as_deref().is_none_or(|wanted| wanted == name);
    inputs.all_jobsets().filter(|s| wanted(&s.jobset.name)).flat_map(|s| &s.jobset.spec.replicated_jobs).collect()
}

/// Returns the replicatedJobs that the rule selects; `None` if it names one that does not exist.
fn replicated_jobs<'a>(
    node: &YamlNode, rule: &ContainerRule, jobs: &[&'a ReplicatedJob], report: &mut DiagnosticReport,
) -> Option<Vec<&'a ReplicatedJob>> {
    let (Some(at), Some(name)) = (node.get("replicatedJob"), &rule.replicated_job) else {
        return Some(jobs.to_vec());
    };
    let chosen: Vec<&ReplicatedJob> = jobs.iter().copied().filter(|j| j.name == *name).collect();
    if !chosen.is_empty() || jobs.is_empty() {
        return Some(chosen);
    }
    let mut known: Vec<&str> = jobs.iter().map(|j| j.name.as_str()).collect();
    known.dedup();
    let error = report.error(at.at, format!("replicatedJob {name:?} does not exist"));
    error.nearest(name, known.iter().copied());
    error.legal(known.join(", "));
    None
}
