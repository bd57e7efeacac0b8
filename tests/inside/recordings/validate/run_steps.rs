//! Unit tests of `sim_recordings::validate::run_steps`.

use super::super::read::tests::example;
use super::*;
use serde_json::json;
use sim_base::*;
use sim_engine::record::NO_CAUSE;
use sim_engine::record::NO_TICKET;
use sim_engine::record::names::JobName;

#[test]
fn records_become_steps_in_the_words_of_the_recording() {
    let recording = example(|j| {
        j["script"]["actions"] = json!([{"atMs": 5000, "do": "crashNode", "pod": "js-w-0-1", "name": "a"}]);
    });
    let mut names = RecordNames::for_jobs(vec![JobName {
        jobset: JobSetId(0),
        name: "js-w-0".into(),
        replicated_job: "w".into(),
        job_index: 0,
        ..JobName::default()
    }]);
    let taint = |effect, key| Body::NodeTaint { node: NodeId(3), key, effect, added: true };
    let state = |node, ready| Body::NodeState { node: NodeId(node), ready };
    let created = |incarnation| Body::PodCreated { pod: PodId(1), incarnation, job: JobId(0), index: 1, attempt: 0 };
    let key = names.intern("unreachable");
    let condition =
        Body::JobCondition { job: JobId(0), kind: JobConditionType::Failed, status: true, reason: key, message: key };
    let mut run = RunSteps::default();
    for (s, body) in [
        (0, created(0)),
        (0, state(3, NodeReady::True)),
        (5, Body::Fault { index: 0, node: NodeId(3), pod: PodId(1) }),
        (50, state(3, NodeReady::Unknown)),
        (50, state(4, NodeReady::Unknown)),
        (50, taint(TaintEffect::NoSchedule as u8, key)),
        (50, taint(TaintEffect::NoExecute as u8, key)),
        (60, created(1)),
        (61, condition),
    ] {
        let at = SimTime(s * 1_000_000_000);
        run.record(&SimulationRecord { seq: 0, cause: NO_CAUSE, ticket: NO_TICKET, at, body }, &names);
    }
    let steps = run.recorded_steps(&recording, &names);
    let seen: Vec<String> = steps.iter().map(|s| format!("{} {s}", s.at_s)).collect();
    assert_eq!(
        seen,
        [
            "0 pod js-w-0-1 attempt 0 try 0 created", "5 action 0 done", "50 node a Ready=Unknown",
            "50 node a tainted unreachable:NoExecute", "60 pod js-w-0-1 attempt 0 try 1 created",
            "61 Job js-w-0 Failed=True",
        ]
    );
}
