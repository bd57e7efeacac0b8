//! Cases of the comparison of decisions: one change each to a run that equals its recording.

use super::history::{DecisionHistory, tests::*};
use super::{DecisionRun, compare};
use crate::validate::read::tests::example;
use crate::validate::recording::RecordedRun;
use crate::validate::run_steps::RunSteps;
use serde_json::{Value, json};
use sim_base::*;
use sim_engine::record::names::JobName;
use sim_engine::record::*;

const FAILED: &str = "Failed=True BackoffLimitExceeded: Pod ns/js-w-0-1-<rand> failed";

fn recording(edit: impl FnOnce(&mut Value)) -> RecordedRun {
    example(|j| {
        j["status"] = json!({"restarts": 1, "restartsCountTowardsMax": 1, "terminalState": "Failed",
            "conditions": [{"type": "Failed", "status": "True", "reason": "ReachedMaxRestarts", "message": "m"}],
            "replicatedJobsStatus": [{"name": "w", "ready": 0, "succeeded": 0, "failed": 1, "active": 0,
                "suspended": 0, "jobRestarts": [1]}]});
        j["jobs"] = json!([
            {"name": "js-w-0", "restartAttempt": "0", "exists": false, "suspended": false, "conditions": []},
            {"name": "js-w-0", "restartAttempt": "1", "exists": true, "suspended": false,
             "conditions": ["Suspended=False JobResumed: Job resumed", FAILED]}]);
        j["events"] = json!([
            {"object": "JobSet/js", "type": "Warning", "reason": "ReachedMaxRestarts", "message": "m"},
            {"object": "JobSet/js", "type": "Warning", "reason": "JobCreationFailed", "message": "jobs.batch \"js-w-0\" already exists"},
            {"object": "Job/js-w-0", "type": "Normal", "reason": "Completed", "message": "x"}]);
        j["log"] = json!([
            [1, "JobSet", "js", "status", null],
            [2, "JobSet", "js", "status", {"restarts": 0}],
            [3, "JobSet", "js", "status", {"restarts": 1, "restartsCountTowardsMax": 1}],
            [4, "JobSet", "js", "status", {"restarts": 1, "restartsCountTowardsMax": 1, "terminalState": "Failed",
                "conditions": [{"type": "Failed", "status": "True", "reason": "ReachedMaxRestarts", "message": "m"}]}]]);
        edit(j);
    })
}

fn names() -> RecordNames {
    RecordNames::for_jobs(vec![JobName {
        jobset: JobSetId(0),
        name: "js-w-0".into(),
        replicated_job: "w".into(),
        ..JobName::default()
    }])
}

fn condition_outcome(kind: &'static str, reason: &str, message: String) -> ConditionOutcome {
    ConditionOutcome { kind, status: true, reason: reason.into(), message, last_transition: SimTime::ZERO }
}

fn outcome() -> RunOutcome {
    let job = |restart_attempt: u32, exists, conditions| JobOutcome {
        job: JobId(0),
        restart_attempt: restart_attempt.to_string(),
        conditions,
        active: 0,
        ready: 0,
        terminating: 0,
        succeeded: 0,
        failed: 0,
        suspended: false,
        exists,
    };
    let pod = names().pod(JobId(0), 1, PodId(1), 1);
    let failed = condition_outcome("Failed", "BackoffLimitExceeded", format!("Pod ns/{pod} failed"));
    RunOutcome {
        end: SimTime::ZERO,
        end_reason: EndReason::TimeLimit,
        digest: 0,
        records: 0,
        events: 0,
        jobsets: vec![JobSetOutcome {
            terminal_state: "Failed",
            restarts: 1,
            restarts_count_towards_max: 1,
            conditions: vec![condition_outcome("Failed", "ReachedMaxRestarts", "m".into())],
            replicated_jobs_status: vec![ReplicatedJobStatus {
                name: "w".into(),
                failed: 1,
                job_restarts: vec![1],
                ..ReplicatedJobStatus::default()
            }],
            // The order differs from the recording, because the comparison uses multisets.
            jobs: vec![job(1, true, vec![failed]), job(0, false, Vec::new())],
            ..JobSetOutcome::default()
        }],
        training: Vec::new(),
        ledger: TimeLedger::default(),
        resources: Vec::new(),
        requests: Vec::new(),
        blocked: Vec::new(),
        pending: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Response of the API server for a JobSet that was deleted.
const NOT_FOUND: &str = "jobsets.jobset.x-k8s.io \"js\" not found";

fn history(more: &[(u64, Body)]) -> DecisionHistory {
    let mut names = names();
    let failed = condition(JobSetConditionType::Failed, true, &mut names, "ReachedMaxRestarts");
    let event = Body::KubeEvent {
        object: ObjectRef::JobSet(JobSetId(0)),
        warning: true,
        reason: names.intern("ReachedMaxRestarts"),
        message: names.intern("m"),
    };
    let mut records = vec![(3, counted(1)), (4, failed), (5, event), (6, event)];
    names.intern(NOT_FOUND);
    records.extend_from_slice(more);
    let mut history = play(&names, &records);
    history.event(&StoredEvent {
        object: "Job/js-w-0".into(),
        warning: false,
        reason: "Completed".into(),
        message: "x".into(),
    });
    history
}

fn paths(recording: &RecordedRun, outcome: &RunOutcome, history: &DecisionHistory) -> Vec<String> {
    let names = names();
    let run = DecisionRun {
        outcome,
        history,
        steps: &RunSteps::default(),
        pods: &[],
        admissions: &Default::default(),
        names: &names,
    };
    let (differences, _) = compare(recording, &run);
    differences.into_iter().map(|d| d.path).collect()
}

#[test]
fn an_equal_run_has_no_difference() {
    assert_eq!(paths(&recording(|_| {}), &outcome(), &history(&[])), [""; 0]);
}

/// Both sides are masked: which of equal victims fails first is a draw.
#[test]
fn conditions_of_a_cluster_are_compared_without_the_indexes_of_jobs() {
    let recording = recording(|j| {
        j["kind"] = json!("cluster");
        j["status"]["conditions"][0]["message"] = json!("max (first failed job: js-w-0)");
    });
    let conditions = |message: &str| {
        let mut outcome = outcome();
        outcome.jobsets[0].conditions[0].message = message.to_owned();
        paths(&recording, &outcome, &history(&[])).into_iter().filter(|path| path.contains("conditions")).count()
    };
    assert_eq!(["max (first failed job: js-w-0)", "min (first failed job: js-w-0)"].map(conditions), [0, 1]);
}

#[test]
fn each_change_of_the_outcome_is_found_under_its_own_path() {
    type Edit = fn(&mut JobSetOutcome);
    let cases: [(Edit, &str); 15] = [
        (|j| j.terminal_state = "Completed", "status.terminalState"),
        (|j| j.restarts = 2, "status.restarts"),
        (|j| j.restarts_count_towards_max = 0, "status.restartsCountTowardsMax"),
        (|j| j.current_in_place_restart_attempt = Some(0), "status.currentInPlaceRestartAttempt"),
        (|j| j.previous_in_place_restart_attempt = Some(0), "status.previousInPlaceRestartAttempt"),
        (|j| j.deleted = true, "deleted"),
        (|j| j.conditions[0].message = "n".into(), "status.conditions[0]"),
        (|j| j.replicated_jobs_status[0].job_restarts.clear(), "status.replicatedJobsStatus[0]"),
        (
            |j| {
                let more = j.replicated_jobs_status[0].clone();
                j.replicated_jobs_status.insert(0, more);
            },
            "status.replicatedJobsStatus[1]",
        ),
        (|j| j.jobs[0].active = 1, "jobs"),
        (|j| j.jobs[0].ready = 1, "jobs"),
        (|j| j.jobs[0].failed = 1, "jobs"),
        (|j| j.jobs[1].exists = true, "jobs"),
        (|j| j.jobs[0].suspended = true, "jobs"),
        (|j| j.jobs[1].restart_attempt = "1".into(), "jobs"),
    ];
    for (edit, path) in cases {
        let mut outcome = outcome();
        edit(&mut outcome.jobsets[0]);
        let result = paths(&recording(|_| {}), &outcome, &history(&[]));
        assert_eq!(result, [path]);
    }
}

#[test]
fn each_change_of_the_recording_is_found_under_its_own_path() {
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 5] = [
        (|j| j["events"][2]["reason"] = "Suspended".into(), "events"),
        (|j| j["events"][1]["message"] = "no match for kind".into(), "events"),
        (|j| j["events"][0]["type"] = "Normal".into(), "events"),
        (|j| j["log"][2][4]["restarts"] = 0.into(), "sequence[1]"),
        (|j| j["jobs"][1]["conditions"][1] = "x".into(), "jobs"),
    ];
    for (edit, path) in cases {
        let result = paths(&recording(edit), &outcome(), &history(&[]));
        assert_eq!(result, [path]);
    }
}

#[test]
fn answers_to_user_actions_are_compared() {
    let delete = |answer: &'static str| {
        recording(move |j| {
            j["script"]["actions"] = json!([{"atMs": 6500, "do": "deletePod", "pod": "js-w-0-0"},
                {"atMs": 7000, "do": "resume"}]);
            let entries = j["log"].as_array_mut().unwrap();
            entries.push(json!([6501, "User", "js-w-0-0", "deletePod", answer]));
            entries.push(json!([7001, "User", "", "resume"]));
        })
    };
    let fault = |pod| Body::Fault { index: 0, node: NodeId::NONE, pod };
    // The last text that `history` interns.
    let gone = Body::Answered { index: 1, answer: TextId(3) };
    for (answer, records, expected) in [
        ("", vec![(6500, fault(PodId(0)))], vec![]),
        ("no such pod", vec![(6500, fault(PodId::NONE))], vec![]),
        ("no such pod", vec![], vec![]),
        ("", vec![], vec!["actions[0] deletePod"]),
        ("no such pod", vec![(6500, fault(PodId(0))), (6900, gone)], vec!["actions[0] deletePod", "actions[1] resume"]),
    ] {
        let actual = paths(&delete(answer), &outcome(), &history(&records));
        assert_eq!(actual, expected, "{answer:?} {records:?}");
    }
}

/// Each change corresponds to a wrong rule: one restart too many (FP-7), All satisfied by any Job (SP-2), all Jobs
/// created at once (SU-2), and Jobs that fail before their pods have ended (kubernetes.md 1.4).
#[test]
fn a_changed_input_makes_recordings_different() {
    use crate::validate::read::{read, tests::shared};
    use crate::validate::result::ValidationVerdict;
    use crate::validate::scenario::ScenarioOverrides;
    use crate::validate::simulate;
    use serde_json::{Value, json};
    let defaults = simulate::defaults().unwrap();
    let texts: Vec<(String, String)> =
        ["decisions", "corner"].into_iter().flat_map(shared).step_by(crate::cases::cases(2, 1) as usize).collect();
    let equal = |change: &dyn Fn(&mut Value)| {
        let is_equal = |(file, text): &&(String, String)| {
            let mut json: Value = serde_json::from_str(text).unwrap();
            change(&mut json);
            let recording = read(file, &json.to_string()).unwrap();
            let result = simulate::validate(file, &recording, &defaults, &ScenarioOverrides::default());
            result.verdict() == Some(ValidationVerdict::Equal)
        };
        texts.iter().filter(is_equal).count()
    };
    let replace = |json: &mut Value, pointer: &str, from: &str, to: &str| {
        if let Some(value) = json.pointer_mut(pointer).filter(|v| **v == json!(from)) {
            *value = json!(to);
        }
    };
    let unchanged = equal(&|_| {});
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Value));
    let changes: [Change<'_>; 4] = [
        ("one more restart", &|json| {
            if let Some(max) = json.pointer_mut("/jobSet/spec/failurePolicy/maxRestarts") {
                *max = json!(max.as_i64().unwrap() + 1);
            }
        }),
        ("Any instead of All", &|json| {
            replace(json, "/jobSet/spec/successPolicy/operator", "All", "Any");
        }),
        ("AnyOrder instead of InOrder", &|json| {
            let order = "/jobSet/spec/startupPolicy/startupPolicyOrder";
            replace(json, order, "InOrder", "AnyOrder");
        }),
        ("Jobs fail immediately", &|json| {
            json["controlPlane"]["kubernetes"] = json!("1.30.0");
        }),
    ];
    for (name, change) in changes {
        let left = equal(change);
        assert!(left < unchanged, "{name}: {left} of {unchanged} equal");
    }
}
