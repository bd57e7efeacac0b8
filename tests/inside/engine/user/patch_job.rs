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

#[test]
fn conditions_of_a_job_do_not_contradict_each_other_and_final_ones_stay() {
    use JobConditionType::*;
    let conditions = |all: &[(JobConditionType, bool)]| -> Vec<JobCondition> {
        let at = SimTime::ZERO;
        let new = |(kind, status): &(JobConditionType, bool)| JobCondition {
            kind: *kind,
            status: *status,
            reason: "".into(),
            message: String::new(),
            at,
        };
        all.iter().map(new).collect()
    };
    type Conditions<'a> = &'a [(JobConditionType, bool)];
    let cases: [(Conditions, Conditions, &str); 7] = [
        (&[], &[(Complete, true)], ""),
        (&[(FailureTarget, true)], &[(Failed, true)], ""),
        (&[(Suspended, true)], &[(Suspended, false)], ""),
        (
            &[(FailureTarget, true)],
            &[(SuccessCriteriaMet, true)],
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
        (&[(Failed, true)], &[(Complete, true)], "cannot set Complete=True and Failed=true conditions"),
        (&[(Complete, true)], &[(Complete, false)], "cannot disable the terminal Complete=True condition"),
        (
            &[(SuccessCriteriaMet, true)],
            &[(SuccessCriteriaMet, false)],
            "cannot disable the SuccessCriteriaMet=True condition",
        ),
    ];
    for (stored, written, refusal) in cases {
        let mut errors = ErrorList::default();
        check_conditions(&conditions(stored), &conditions(written), &mut errors);
        let answer = errors.into_rejection("Job.batch", "j").map_err(|r| r.message);
        let prefix = "Job.batch \"j\" is invalid: status.conditions: Invalid value: ";
        let expected = if refusal.is_empty() { Ok(()) } else { Err(format!("{prefix}{refusal}")) };
        assert_eq!(answer, expected, "{written:?}");
    }
}
