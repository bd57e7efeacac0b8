//! Cases of `policy::job::sync` as data.

use super::notation::seconds;
use serde::Deserialize;
use sim_api::spec::*;
use sim_policy::job::backoff::BackoffRecord;
use sim_policy::{JobPlan, JobSyncView, job};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Parallelism and completions, as `2x4`; `-` means unset.
    size: String,
    #[serde(default)]
    active: u32,
    #[serde(default)]
    terminating: u32,
    #[serde(default)]
    succeeded: u32,
    #[serde(default)]
    failed: u32,
    #[serde(default)]
    container_restarts: u32,
    #[serde(default)]
    failed_indexes: u32,
    #[serde(default)]
    failed_and_succeeded: u32,
    backoff_limit: Option<i32>,
    per_index: Option<i32>,
    max_failed_indexes: Option<i32>,
    deadline: Option<i64>,
    start: Option<f64>,
    #[serde(default)]
    on_failure: bool,
    #[serde(default)]
    has_pod_failure_policy: bool,
    #[serde(default)]
    replacement_failed: bool,
    #[serde(default)]
    suspended: bool,
    #[serde(default)]
    deleting: bool,
    #[serde(default)]
    open_expectations: bool,
    #[serde(default)]
    success_criteria_met: bool,
    /// succeededIndexes and succeededCount of each rule of the Job's successPolicy, such as `0-2 2` or `- 3`.
    #[serde(default)]
    success_policy: Vec<String>,
    #[serde(default)]
    succeeded_indexes: Vec<u32>,
    #[serde(default)]
    misplaced: u32,
    /// Kubernetes minor version.
    version: Option<u16>,
    failure_target: Option<String>,
    /// Reason of FailureTarget, DeadlineExceeded by default.
    failure_target_reason: Option<String>,
    fail_job_message: Option<String>,
    #[serde(default)]
    backoff_failures: u32,
    last_failure: Option<f64>,
    now: Option<f64>,
    plan: String,
}

fn spec(case: &Case) -> JobSpec {
    let (parallelism, completions) = case.size.split_once('x').unwrap();
    let mut spec = JobSpec {
        parallelism: parallelism.parse().ok(),
        completions: completions.parse().ok(),
        backoff_limit: case.backoff_limit,
        backoff_limit_per_index: case.per_index,
        max_failed_indexes: case.max_failed_indexes,
        active_deadline_seconds: case.deadline,
        pod_failure_policy: case.has_pod_failure_policy.then(Vec::new),
        pod_replacement_policy: case.replacement_failed.then_some(PodReplacementPolicy::Failed),
        success_policy: (!case.success_policy.is_empty())
            .then(|| case.success_policy.iter().map(|r| success_rule(r)).collect()),
        ..JobSpec::default()
    };
    if spec.completions.is_none() {
        spec.completion_mode = CompletionMode::NonIndexed;
    }
    spec.template.spec.restart_policy = if case.on_failure { RestartPolicy::OnFailure } else { RestartPolicy::Never };
    spec
}

fn success_rule(line: &str) -> JobSuccessRule {
    let (indexes, count) = line.split_once(' ').unwrap_or((line, "-"));
    JobSuccessRule {
        succeeded_indexes: (indexes != "-").then(|| indexes.to_owned()),
        succeeded_count: count.parse().ok(),
    }
}

fn sync(case: &Case) -> JobPlan {
    let spec = spec(case);
    let target_reason = case.failure_target_reason.clone();
    let target_reason = target_reason.unwrap_or_else(|| "DeadlineExceeded".to_owned());
    job::sync(&JobSyncView {
        spec: &spec,
        version: KubeVersion::new(case.version.unwrap_or(36)),
        now: seconds(case.now.unwrap_or(100.0)),
        deleting: case.deleting,
        suspended: case.suspended,
        start_time: case.start.map(seconds),
        failure_target: case.failure_target.as_deref().map(|m| (target_reason.into(), m)),
        success_criteria_met: case
            .success_criteria_met
            .then_some((job::COMPLETIONS_REACHED.0.into(), job::COMPLETIONS_REACHED.1)),
        active: case.active,
        misplaced: case.misplaced,
        terminating: case.terminating,
        succeeded: case.succeeded,
        succeeded_indexes: &case.succeeded_indexes,
        failed: case.failed,
        container_restarts: case.container_restarts,
        failed_indexes: case.failed_indexes,
        failed_and_succeeded: case.failed_and_succeeded,
        fail_job_message: case.fail_job_message.as_deref(),
        expectations_satisfied: !case.open_expectations,
        backoff: BackoffRecord { failures: case.backoff_failures, last_failure: case.last_failure.map(seconds) },
    })
}

fn render(plan: &JobPlan) -> String {
    let mut out = Vec::new();
    if let Some((reason, message)) = &plan.fail {
        out.push(format!("fail {reason}: {message}"));
    }
    match &plan.complete {
        Some((reason, _)) if reason == "CompletionsReached" => out.push("complete".to_string()),
        Some((reason, message)) => out.push(format!("complete {reason}: {message}")),
        None => {}
    }
    let delete = if plan.untracked { "delete untracked" } else { "delete" };
    for (word, n) in [("create", plan.create), (delete, plan.delete_active)] {
        if n > 0 {
            out.push(format!("{word} {n}"));
        }
    }
    if let Some(after) = plan.requeue_after {
        out.push(format!("requeue {after}"));
    }
    match plan.suspended_condition {
        Some(true) => out.push("suspended True".to_string()),
        Some(false) => out.push("suspended False".to_string()),
        None => {}
    }
    out.join("; ")
}

#[test]
fn every_job_case_gives_its_plan() {
    let cases: Vec<Case> = serde_yaml::from_str(include_str!("jobs.yaml")).unwrap();
    for case in &cases {
        assert_eq!(render(&sync(case)), case.plan, "{}", case.name);
    }
}
