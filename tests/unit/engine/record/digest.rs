//! Tests of `sim_engine::record::digest`.

use sim_base::{TextId, *};
use sim_engine::record::digest::*;
use sim_engine::record::names::RecordNames;
use sim_engine::record::records::SimulationRecord;
use sim_engine::record::{Body, NO_CAUSE, NO_TICKET};
fn record(body: Body) -> SimulationRecord {
    SimulationRecord { seq: 0, cause: NO_CAUSE, ticket: NO_TICKET, at: SimTime(5), body }
}

#[test]
fn a_text_counts_by_its_letters_in_every_kind_that_has_one() {
    let (mut one, mut two) = (RecordNames::default(), RecordNames::default());
    two.intern("something else first");
    let (a, b) = (one.intern("Insufficient cpu"), two.intern("Insufficient cpu"));
    let other = one.intern("Insufficient cpv");
    assert_ne!(a, b);
    let pod = PodId(1);
    let kinds: [fn(TextId) -> Body; 3] = [
        |reason| Body::PodUnschedulable { pod: PodId(1), reason },
        |reason| Body::PodCreateRejected { job: JobId(0), index: 2, reason },
        |key| Body::NodeTaint { node: NodeId(0), key, effect: 0, added: true },
    ];
    for kind in kinds {
        let digest = |text, names| records_digest(&[record(kind(text))], names);
        assert_eq!(digest(a, &one), digest(b, &two));
        assert_ne!(digest(a, &one), digest(other, &one));
    }
    let ready = records_digest(&[record(Body::PodReady { pod, incarnation: 1 })], &one);
    let running = records_digest(&[record(Body::PodRunning { pod, incarnation: 1 })], &one);
    assert_ne!(ready, running);
}

#[test]
fn a_ticket_does_not_count() {
    let plain = record(Body::JobSetCreated { jobset: JobSetId(0) });
    let watched = SimulationRecord { ticket: 7, ..plain };
    let names = RecordNames::default();
    assert_eq!(records_digest(&[plain], &names), records_digest(&[watched], &names));
}
