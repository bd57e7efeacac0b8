//! A running hash over all records. Not cryptographic: it tells equal histories from different ones, on every
//! machine.
//!
//! Every field of every kind counts, texts by their letters and not by the order in which they were first used.

use super::fields::Value;
pub use super::hash::START;
use super::hash::{mix, of_text};
use super::names::Names;
use super::records::Record;
use sim_base::TextId;

/// The digest of a whole sequence, as a run computes it record by record.
pub fn of_records(records: &[Record], names: &Names) -> u64 {
    records.iter().fold(START, |d, r| add(d, r, names))
}

pub fn add(digest: u64, r: &Record, names: &Names) -> u64 {
    let mut h = mix(digest, r.at.0);
    h = mix(h, u64::from(r.cause));
    // By name, so that a new kind changes no digest of a run in which it does not occur.
    h = mix(h, r.body.kind_word());
    r.body
        .fields(&mut |_, value| h = mix(h, word(value, names)));
    h
}

/// Apart, so that the fields that most records have cost a few instructions.
#[inline(never)]
fn of_known_text(names: &Names, text: TextId) -> u64 {
    of_text(names.text(text))
}

/// Ids of different kinds differ in their upper half.
#[inline(always)]
fn word(value: Value, names: &Names) -> u64 {
    let id = |kind: u64, id: u32| kind << 32 | u64::from(id);
    match value {
        Value::JobSet(jobset) => id(1, jobset.0),
        Value::Job(job) => id(2, job.0),
        Value::Pod(pod) => id(3, pod.0),
        Value::Node(node) => id(4, node.0),
        Value::Text(text) => of_known_text(names, text),
        Value::Number(n) => u64::from(n),
        Value::Signed(n) => u64::from(n as u32),
        Value::Nanoseconds(ns) => ns,
        Value::Flag(flag) => u64::from(flag),
        Value::Word(number, _) => u64::from(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Body, NO_CAUSE, NO_TICKET};
    use sim_base::*;

    fn record(body: Body) -> Record {
        Record {
            seq: 0,
            cause: NO_CAUSE,
            ticket: NO_TICKET,
            at: Time(5),
            body,
        }
    }

    #[test]
    fn a_text_counts_by_its_letters_in_every_kind_that_has_one() {
        let (mut one, mut two) = (Names::default(), Names::default());
        two.intern("something else first");
        let (a, b) = (
            one.intern("Insufficient cpu"),
            two.intern("Insufficient cpu"),
        );
        let other = one.intern("Insufficient cpv");
        assert_ne!(a, b);
        let pod = PodId(1);
        let kinds: [fn(TextId) -> Body; 3] = [
            |reason| Body::PodUnschedulable {
                pod: PodId(1),
                reason,
            },
            |reason| Body::PodCreateRejected {
                job: JobId(0),
                index: 2,
                reason,
            },
            |key| Body::NodeTaint {
                node: NodeId(0),
                key,
                effect: 0,
                added: true,
            },
        ];
        for kind in kinds {
            let digest = |text, names| of_records(&[record(kind(text))], names);
            assert_eq!(digest(a, &one), digest(b, &two));
            assert_ne!(digest(a, &one), digest(other, &one));
        }
        let ready = of_records(
            &[record(Body::PodReady {
                pod,
                incarnation: 1,
            })],
            &one,
        );
        let running = of_records(
            &[record(Body::PodRunning {
                pod,
                incarnation: 1,
            })],
            &one,
        );
        assert_ne!(ready, running);
    }

    #[test]
    fn a_ticket_does_not_count() {
        let plain = record(Body::JobSetCreated {
            jobset: JobSetId(0),
        });
        let watched = Record { ticket: 7, ..plain };
        let names = Names::default();
        assert_eq!(of_records(&[plain], &names), of_records(&[watched], &names));
    }
}
