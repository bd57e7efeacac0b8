//! Short run histories for tests, given as lines of time and record.

use sim_base::*;
use sim_engine::record::names::{JobName, JobSetName};
use sim_engine::record::*;

pub type Line = (u64, Body);

pub fn s(n: u64) -> Time {
    Time::ZERO + Duration::from_secs(n)
}

pub fn names() -> Names {
    let mut names = Names::default();
    names.jobsets = vec![JobSetName {
        namespace: "default".into(),
        name: "train".into(),
    }];
    names.jobs = vec![JobName {
        jobset: JobSetId(0),
        name: "train-workers-0".into(),
        replicated_job: "workers".into(),
        job_index: 0,
        ..JobName::default()
    }];
    names.nodes = vec!["node-0".into(), "node-1".into()];
    names
}

pub fn records(lines: &[Line]) -> Vec<Record> {
    let record = |(i, &(at, body)): (usize, &Line)| Record {
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
pub fn play(lines: &[Line], names: &Names, sink: &mut dyn Sink) {
    let mut before = Time::ZERO;
    for r in records(lines) {
        let waited = waited_for(&r.body);
        let answer = Duration::from_millis(100);
        let granted = match waited {
            Waited::Request(_) if r.at > before => Time(r.at.0 - answer.0),
            _ => before,
        };
        let ticket = Ticket {
            id: r.seq,
            parent: r.cause,
            from: before,
            granted,
            to: r.at,
            waited,
            about: r.body.head().about,
        };
        sink.ticket(&ticket);
        let ticket = r.seq;
        sink.record(&Record { ticket, ..r }, names);
        before = r.at;
    }
}

fn waited_for(body: &Body) -> Waited {
    match body {
        Body::ContainerExited { .. } => Waited::Running,
        Body::PodFinished { .. } => Waited::Pleg,
        Body::PodDeleting { .. } | Body::JobCondition { .. } => Waited::JobBatch,
        Body::PodGone { .. } => Waited::Grace,
        Body::PodCreated { .. } => Waited::Request(Call::JobPodCreate),
        Body::PodBound { .. } => Waited::Cycle,
        Body::PodReady { .. } => Waited::ContainerStart,
        _ => Waited::Watch,
    }
}
