//! A running hash over all records. Not cryptographic: it tells equal histories from different ones, on every
//! machine.

use crate::record::{Body, ObjectRef, Record, Texts};

pub const START: u64 = 0xcbf2_9ce4_8422_2325;

fn mix(digest: u64, word: u64) -> u64 {
    let x = (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ x >> 32
}

/// The digest of a whole sequence, as a run computes it record by record.
pub fn of_records(records: &[Record], texts: &Texts) -> u64 {
    records.iter().fold(START, |d, r| add(d, r, texts))
}

/// The hash of the strings a record refers to, so that the order of interning does not matter alone.
fn texts_of(body: &Body, texts: &Texts) -> u64 {
    match *body {
        Body::JobSetCondition {
            reason, message, ..
        }
        | Body::JobCondition {
            reason, message, ..
        }
        | Body::KubeEvent {
            reason, message, ..
        } => of_text(texts.get(reason)) ^ of_text(texts.get(message)).rotate_left(1),
        Body::Answered { answer, .. } => of_text(texts.get(answer)),
        _ => 0,
    }
}

pub fn add(digest: u64, r: &Record, texts: &Texts) -> u64 {
    let (tag, a, b, c, d) = words(&r.body);
    let mut h = mix(digest, r.at.0);
    h = mix(h, u64::from(r.cause) << 8 | tag);
    h = mix(h, u64::from(a) << 32 | u64::from(b));
    h = mix(h, u64::from(c) << 32 | u64::from(d));
    mix(h, texts_of(&r.body, texts))
}

fn of_text(text: &str) -> u64 {
    text.bytes().fold(START, |h, b| mix(h, u64::from(b)))
}

/// A record's kind and its fields as plain words.
fn words(body: &Body) -> (u64, u32, u32, u32, u32) {
    use Body::*;
    let object = |o: &ObjectRef| match o {
        ObjectRef::JobSet(i) => i.0,
        ObjectRef::Job(i) => i.0 | 1 << 30,
        ObjectRef::Pod(i) => i.0 | 1 << 31,
    };
    match *body {
        JobSetCreated { jobset } => (1, jobset.0, 0, 0, 0),
        RestartCounted {
            jobset,
            restarts,
            counted,
            failed_job,
        } => (2, jobset.0, restarts, counted, failed_job.0),
        JobRestartCounted {
            jobset,
            job,
            restarts,
        } => (3, jobset.0, job.0, restarts, 0),
        PreviousAttempt { jobset, attempt } => (4, jobset.0, attempt, 0, 0),
        CurrentAttempt { jobset, attempt } => (5, jobset.0, attempt, 0, 0),
        JobSetCondition {
            jobset,
            kind,
            status,
            ..
        } => (6, jobset.0, kind as u32, u32::from(status), 0),
        AllReady { jobset, ready } => (7, jobset.0, u32::from(ready), 0, 0),
        ReplicatedJobsStatus {
            jobset,
            ready,
            succeeded,
            failed,
            active,
            suspended,
        } => (
            8,
            jobset.0,
            ready << 16 ^ succeeded,
            failed << 16 ^ active,
            suspended,
        ),
        JobSetDeleted { jobset } => (9, jobset.0, 0, 0, 0),
        JobCreated { job, attempt } => (10, job.0, attempt, 0, 0),
        JobCondition {
            job, kind, status, ..
        } => (11, job.0, kind as u32, u32::from(!status), 0),
        JobDeleting { job } => (12, job.0, 0, 0, 0),
        JobGone { job } => (13, job.0, 0, 0, 0),
        PodCreated {
            pod,
            incarnation,
            index,
            attempt,
            ..
        } => (14, pod.0, incarnation, index, attempt),
        PodCreateRejected { job, index, .. } => (15, job.0, index, 0, 0),
        PodUnschedulable { pod, .. } => (16, pod.0, 0, 0, 0),
        PodBound {
            pod,
            incarnation,
            node,
        } => (17, pod.0, incarnation, node.0, 0),
        PodRunning { pod, incarnation } => (18, pod.0, incarnation, 0, 0),
        PodReady { pod, incarnation } => (19, pod.0, incarnation, 0, 0),
        PodNotReady { pod, incarnation } => (20, pod.0, incarnation, 0, 0),
        ContainerExited {
            pod,
            incarnation,
            exit_code,
        } => (21, pod.0, incarnation, exit_code as u32, 0),
        ContainersRestarting {
            pod,
            incarnation,
            restarts,
        } => (22, pod.0, incarnation, restarts, 0),
        AttemptWritten {
            pod,
            incarnation,
            attempt,
        } => (23, pod.0, incarnation, attempt, 0),
        BarrierLifted {
            pod,
            incarnation,
            attempt,
        } => (24, pod.0, incarnation, attempt, 0),
        PodFinished {
            pod,
            incarnation,
            succeeded,
            exit_code,
        } => (
            25,
            pod.0,
            incarnation,
            u32::from(succeeded),
            exit_code as u32,
        ),
        PodDeleting {
            pod,
            incarnation,
            by,
        } => (26, pod.0, incarnation, by as u32, 0),
        PodGone { pod, incarnation } => (27, pod.0, incarnation, 0, 0),
        NodeState { node, ready } => (28, node.0, ready as u32, 0, 0),
        NodeTaint {
            node,
            effect,
            added,
            ..
        } => (29, node.0, u32::from(effect), u32::from(added), 0),
        NodeGone { node } => (30, node.0, 0, 0, 0),
        Fault { index, node, pod } => (31, index, node.0, pod.0, 0),
        Answered { index, .. } => (34, index, 0, 0, 0),
        KubeEvent {
            object: o, warning, ..
        } => (32, object(&o), u32::from(warning), 0, 0),
        End { reason } => (33, reason as u32, 0, 0, 0),
    }
}
