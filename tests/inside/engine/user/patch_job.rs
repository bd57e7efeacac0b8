//! Unit tests of `sim_engine::user::patch_job`.

use super::*;
use serde_json::json;

fn judged(mode: CompletionMode, patch: Value) -> Result<Option<JobSpec>, JobPatchError> {
    let own = JobSpec { parallelism: Some(3), completions: Some(3), completion_mode: mode, ..JobSpec::default() };
    patched_spec(&own, &patch)
}

#[test]
fn sizes_of_a_job_are_judged_as_batch_v1_judges_them() {
    use CompletionMode::*;
    let tandem = "spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism";
    for (mode, patch, refusal) in [
        (Indexed, json!({"completions": 5}), tandem),
        (Indexed, json!({"completions": 5, "parallelism": 4}), tandem),
        (
            NonIndexed,
            json!({"completions": 5, "parallelism": 5}),
            "spec.completions: Invalid value: 5: field is immutable",
        ),
        (Indexed, json!({"completions": null}), "spec.completions: Required value: when completion mode is Indexed"),
        (
            Indexed,
            json!({"parallelism": -1}),
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
        ),
        (Indexed, json!({"template": {}}), "spec.template of a Job has no effect in the simulation"),
    ] {
        assert_eq!(judged(mode, patch).unwrap_err().to_string(), refusal);
    }
}

#[test]
fn legal_sizes_and_limits_are_stored() {
    let new = judged(
        CompletionMode::Indexed,
        json!({"completions": 5, "parallelism": 5, "backoffLimit": 0, "activeDeadlineSeconds": 60}),
    );
    let new = new.unwrap().unwrap();
    assert_eq!((new.completions, new.parallelism), (Some(5), Some(5)));
    assert_eq!((new.backoff_limit, new.active_deadline_seconds), (Some(0), Some(60)));
    let same = judged(CompletionMode::NonIndexed, json!({"completions": 3}));
    assert_eq!(same.unwrap().unwrap().completions, Some(3));
    let suspended = judged(CompletionMode::Indexed, json!({"suspend": true}));
    assert!(suspended.unwrap().is_none());
}
