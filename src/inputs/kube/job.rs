//! Reads Job templates.

use super::pod;
use crate::{read, text::node::YamlNode};
use sim_api::spec::{
    CompletionMode, JobSpec, JobSuccessRule, OnExitCodes, PodConditionPattern, PodFailurePolicyAction,
    PodFailurePolicyRule, PodReplacementPolicy,
};

pub fn spec(node: &YamlNode) -> JobSpec {
    JobSpec {
        parallelism: read::u32_of(node, "parallelism"),
        completions: read::u32_of(node, "completions"),
        // Default of the JobSet webhook (DEF-3).
        completion_mode: match node.get("completionMode").and_then(YamlNode::as_str) {
            Some("NonIndexed") => CompletionMode::NonIndexed,
            _ => CompletionMode::Indexed,
        },
        backoff_limit: read::i32_of(node, "backoffLimit"),
        backoff_limit_per_index: read::i32_of(node, "backoffLimitPerIndex"),
        max_failed_indexes: read::i32_of(node, "maxFailedIndexes"),
        active_deadline_seconds: read::integer(node, "activeDeadlineSeconds"),
        pod_failure_policy: node
            .get("podFailurePolicy")
            .map(|p| read::list(p, "rules").iter().filter_map(rule).collect()),
        pod_replacement_policy: match node.get("podReplacementPolicy").and_then(YamlNode::as_str) {
            Some("Failed") => Some(PodReplacementPolicy::Failed),
            Some(_) => Some(PodReplacementPolicy::TerminatingOrFailed),
            None => None,
        },
        success_policy: node.get("successPolicy").map(|p| read::list(p, "rules").iter().map(success_rule).collect()),
        ttl_seconds_after_finished: read::u32_of(node, "ttlSecondsAfterFinished"),
        managed_by: read::string(node, "managedBy"),
        template: node.get("template").map(pod::template).unwrap_or_default(),
    }
}

fn success_rule(node: &YamlNode) -> JobSuccessRule {
    JobSuccessRule {
        succeeded_indexes: read::string(node, "succeededIndexes"),
        succeeded_count: read::u32_of(node, "succeededCount"),
    }
}

fn rule(node: &YamlNode) -> Option<PodFailurePolicyRule> {
    Some(PodFailurePolicyRule {
        action: match node.get("action")?.as_str()? {
            "FailJob" => PodFailurePolicyAction::FailJob,
            "FailIndex" => PodFailurePolicyAction::FailIndex,
            "Ignore" => PodFailurePolicyAction::Ignore,
            _ => PodFailurePolicyAction::Count,
        },
        on_exit_codes: node.get("onExitCodes").map(|codes| OnExitCodes {
            container_name: read::string(codes, "containerName"),
            operator_in: codes.get("operator").and_then(YamlNode::as_str) == Some("In"),
            values: read::i32s(codes, "values"),
        }),
        on_pod_conditions: read::list(node, "onPodConditions")
            .iter()
            .map(|pattern| PodConditionPattern {
                condition: read::string(pattern, "type").unwrap_or_default(),
                // Stored JobSets contain an empty string here; the Job's own defaulting replaces it with `True`.
                status: read::string(pattern, "status")
                    .filter(|status| !status.is_empty())
                    .unwrap_or_else(|| "True".to_owned()),
            })
            .collect(),
    })
}
