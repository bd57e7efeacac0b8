//! A running hash over all records. Not cryptographic: it distinguishes different histories, with the same value on
//! every machine.
//!
//! Includes every field of every kind. Texts are hashed by their characters, not by the order of their first use.

use super::fields::FieldValue;
pub use super::hash::START;
use super::hash::{mix, of_text};
use super::names::RecordNames;
use super::records::SimulationRecord;
use sim_base::TextId;

/// Returns the digest of a whole sequence of records, equal to the one that a run computes record by record.
pub fn records_digest(records: &[SimulationRecord], names: &RecordNames) -> u64 {
    records.iter().fold(START, |d, r| add(d, r, names))
}

pub fn add(digest: u64, r: &SimulationRecord, names: &RecordNames) -> u64 {
    let mut h = mix(digest, r.at.0);
    h = mix(h, u64::from(r.cause));
    // Hashed by name, so that a new kind does not change the digest of runs in which it does not occur.
    h = mix(h, r.body.kind_word());
    r.body.fields(&mut |_, value| h = mix(h, field_word(value, names)));
    h
}

/// A separate function, so that the common fields cost few instructions.
#[inline(never)]
fn text_digest(names: &RecordNames, text: TextId) -> u64 {
    of_text(names.text(text))
}

/// Ids of different kinds differ in the upper 32 bits.
#[inline(always)]
fn field_word(value: FieldValue, names: &RecordNames) -> u64 {
    let id = |kind: u64, id: u32| kind << 32 | u64::from(id);
    match value {
        FieldValue::JobSet(jobset) => id(1, jobset.0),
        FieldValue::Job(job) => id(2, job.0),
        FieldValue::Pod(pod) => id(3, pod.0),
        FieldValue::Node(node) => id(4, node.0),
        FieldValue::Text(text) => text_digest(names, text),
        FieldValue::Number(n) => u64::from(n),
        FieldValue::Signed(n) => u64::from(n as u32),
        FieldValue::Absent => 0,
        FieldValue::Nanoseconds(ns) => ns,
        FieldValue::Flag(flag) => u64::from(flag),
        FieldValue::Word(number, _) => u64::from(number),
    }
}
