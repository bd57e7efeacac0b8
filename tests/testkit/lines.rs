//! Short run histories for tests, given as lines of time and record.

use sim_base::{Duration, JobSetId, SimTime, TextId};
use sim_engine::record::names::{JobName, JobSetName};
use sim_engine::record::{
    Body, Call, NO_CAUSE, NO_TICKET, RecordNames, RecordSink, SimulationRecord, TicketWait, WorkTicket,
};

pub type LineFilter = (u64, Body);

pub fn s(n: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(n)
}

/// Reason of the condition RestartingJobSet when all Jobs are ready again.
pub const JOBS_READY: TextId = TextId(1);

pub fn names() -> RecordNames {
    let mut names = RecordNames::default();
    names.jobsets = vec![JobSetName { namespace: "default".into(), name: "train".into() }];
    names.jobs = vec![JobName {
        jobset: JobSetId(0),
        name: "train-workers-0".into(),
        replicated_job: "workers".into(),
        job_index: 0,
        ..JobName::default()
    }];
    names.nodes = vec!["node-0".into(), "node-1".into()];
    assert_eq!((names.intern(""), names.intern("JobsReady")), (TextId(0), JOBS_READY));
    names
}

pub fn records(lines: &[LineFilter]) -> Vec<SimulationRecord> {
    let record = |(i, &(at, body)): (usize, &LineFilter)| SimulationRecord {
        seq: i as u32,
        cause: (i as u32).checked_sub(1).unwrap_or(NO_CAUSE),
        ticket: NO_TICKET,
        at: s(at),
        body,
    };
    lines.iter().enumerate().map(record).collect()
}

/// Passes the records to a sink, each with a ticket. Record i has ticket i, and each ticket waits for the preceding
/// one.
pub fn play(lines: &[LineFilter], names: &RecordNames, sink: &mut dyn RecordSink) {
    let mut before = SimTime::ZERO;
    for r in records(lines) {
        let waited = waited_for(&r.body);
        let answer = Duration::from_millis(100);
        let granted = match waited {
            TicketWait::Request(_) if r.at > before => SimTime(r.at.0 - answer.0),
            _ => before,
        };
        let ticket = WorkTicket {
            id: r.seq,
            parent: r.cause,
            from: before,
            granted,
            to: r.at,
            in_flight: 0,
            wait: waited,
            subject: r.body.head().subject,
        };
        sink.ticket(&ticket);
        let ticket = r.seq;
        sink.record(&SimulationRecord { ticket, ..r }, names);
        before = r.at;
    }
}

fn waited_for(body: &Body) -> TicketWait {
    match body {
        Body::ContainerExited { .. } => TicketWait::Running,
        Body::PodFinished { .. } => TicketWait::Pleg,
        Body::PodDeleting { .. } | Body::JobCondition { .. } => TicketWait::JobBatch,
        Body::PodGone { .. } => TicketWait::Grace,
        Body::PodCreated { .. } => TicketWait::Request(Call::JobPodCreate),
        Body::PodBound { .. } => TicketWait::Cycle,
        Body::PodReady { .. } => TicketWait::ContainerStart,
        _ => TicketWait::Watch,
    }
}
