//! Unit tests of `sim_recordings::validate::decisions::history`.

use super::*;
use sim_base::JobId;
use sim_engine::record::NO_CAUSE;
use sim_engine::record::NO_TICKET;

pub fn play(names: &RecordNames, records: &[(u64, Body)]) -> DecisionHistory {
    let mut history = DecisionHistory::default();
    for (seq, (ms, body)) in records.iter().enumerate() {
        let record = SimulationRecord {
            seq: seq as u32,
            cause: NO_CAUSE,
            ticket: NO_TICKET,
            at: SimTime(ms * 1_000_000),
            body: *body,
        };
        history.record(&record, names);
    }
    history
}

pub fn condition(kind: JobSetConditionType, status: bool, names: &mut RecordNames, reason: &str) -> Body {
    Body::JobSetCondition {
        jobset: JOBSET,
        kind,
        status,
        reason: names.intern(reason),
        message: names.intern("message"),
    }
}

pub fn counted(restarts: u32) -> Body {
    Body::RestartCounted { jobset: JOBSET, restarts, counted: restarts, failed_job: JobId(0) }
}

#[test]
fn records_of_one_instant_are_one_status_write() {
    let mut names = RecordNames::default();
    let restarting = JobSetConditionType::RestartingJobSet;
    let on = condition(restarting, true, &mut names, "DefaultFailurePolicy");
    let off = condition(restarting, false, &mut names, "JobsReady");
    let failed = condition(JobSetConditionType::Failed, true, &mut names, "ReachedMaxRestarts");
    let records = [(10, counted(1)), (10, on), (20, on), (30, off), (40, failed)];
    let states = play(&names, &records).states();
    let seen: Vec<(u32, usize, &str)> =
        states.iter().map(|(_, s)| (s.restarts, s.conditions.len(), s.terminal_state.as_str())).collect();
    assert_eq!(seen, [(0, 0, ""), (1, 1, ""), (1, 1, ""), (1, 2, "Failed")], "{states:?}");
    assert_eq!(states[2].1.conditions[0].1, "False");
}
