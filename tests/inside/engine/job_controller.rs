//! Table tests of the Job controller's state machines and counters.

use super::count::{ComputedStatus, EndedPod};
use super::events::{EventBooks, JobEventKind};
use super::missing_indexes::lowest_free;
use super::queue_entry::JobQueueEntry;
use super::rows::{PodMarks, merge_sorted};
use super::status::{new_suspended_status, start_time};
use super::worker::JobWorker;
use crate::ctx::ContextMark;
use crate::record::{Call, JobConditionType, TicketWait};
use crate::store::{JobCondition, JobStatus, ObjectStore};
use TicketWait::{ErrorBackoff, JobBatch, PodFailureBackoff};
use proptest::prelude::*;
use sim_api::spec::KubeVersion;
use sim_base::*;

fn at(seconds: u64) -> SimTime {
    SimTime(seconds * 1_000_000_000)
}

/// Returns a mark. In these tests marks differ only by their time.
fn mark(seconds: u64) -> ContextMark {
    let mut mark = ContextMark::default();
    mark.at = at(seconds);
    mark
}

#[test]
fn the_earliest_sync_comes_and_the_newest_change_goes_along() {
    for (request, timers, due, newest, sentence) in [
        (&[(1, 2, JobBatch)][..], 1, 2, 1, "one change"),
        (&[(1, 9, JobBatch), (2, 3, JobBatch)], 2, 3, 2, "a sync with a shorter delay runs first"),
        (&[(1, 3, JobBatch), (2, 3, JobBatch)], 1, 3, 2, "a batch includes the second change"),
        (&[(1, 3, JobBatch), (2, 12, PodFailureBackoff)], 1, 3, 1, "a later sync does not delay an earlier one"),
        (&[(1, 9, ErrorBackoff), (2, 3, JobBatch)], 2, 3, 2, "a change ends a back-off early"),
    ] {
        let mut entry = JobQueueEntry::default();
        let ask = |&(now, then, waited): &(u64, u64, TicketWait)| entry.request_sync(at(then), mark(now), waited);
        let set = request.iter().map(ask).filter(|timer| *timer).count();
        assert_eq!(set, timers, "{sentence}");
        for second in (0..20).filter(|s| *s != due) {
            assert!(entry.fire_timer(at(second)).is_none(), "{sentence}: {second}");
        }
        let rung = entry.fire_timer(at(due)).map(|(mark, _)| mark.at);
        assert_eq!(rung, Some(at(newest)), "{sentence}");
        assert!(entry.fire_timer(at(due)).is_none(), "{sentence}: fires once");
    }
}

#[test]
fn an_immediate_sync_leaves_the_delayed_one_due() {
    let mut entry = JobQueueEntry::default();
    assert!(entry.request_sync(at(3), mark(1), JobBatch));
    assert!(entry.request_sync_now(mark(2), JobBatch));
    assert!(!entry.request_sync_now(mark(2), JobBatch), "its event is scheduled once");
    for (second, expected) in [(2, Some(2)), (2, None), (3, Some(1)), (3, None)] {
        let fired = entry.fire_timer(at(second)).map(|(mark, _)| mark.at);
        assert_eq!(fired, expected.map(at), "{second} s");
    }
}

#[test]
fn a_key_is_in_the_queue_once_and_with_one_worker() {
    let mut entry = JobQueueEntry::default();
    assert!(entry.mark_due(mark(1)));
    assert!(!entry.mark_due(mark(2)), "already queued");
    assert_eq!(entry.dequeue().at, at(2), "the newest change");
    entry.begin();
    assert!(!entry.mark_due(mark(3)) && !entry.mark_due(mark(4)), "a worker is processing it");
    assert_eq!(entry.end(false), None);
    let again = entry.take_requeue().map(|mark| mark.at);
    assert_eq!(again, Some(at(4)), "it became due during processing");
    assert!(entry.take_requeue().is_none(), "once");
    assert_eq!(entry.dequeue().at, at(4));
}

#[test]
fn failed_syncs_back_off_to_a_minute() {
    let mut entry = JobQueueEntry::default();
    let mut sync = |failed| {
        entry.mark_due(mark(0));
        entry.dequeue();
        entry.begin();
        entry.end(failed).map(|delay| delay.0 / 1_000_000_000)
    };
    let delays: Vec<_> = (0..8).map(|_| sync(true)).collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60].map(Some));
    assert_eq!(sync(false), None);
    assert_eq!(sync(true), Some(1), "a successful sync resets the back-off");
}

#[test]
fn the_lowest_free_indexes_are_found_without_counting_to_completions() {
    const MANY: u32 = i32::MAX as u32;
    for (taken, succeeded, failed, limit, count, want, sentence) in [
        (&[][..], &[][..], &[][..], 4, 9, &[0, 1, 2, 3][..], "all indexes of a new Job"),
        (&[], &[], &[], MANY, 2, &[0, 1], "as many as requested"),
        (&[0, 2, 2, 3], &[1], &[5], 8, 9, &[4, 6, 7], "nobody's"),
        (&[9], &[0], &[1, 7], MANY, 3, &[2, 3, 4], "stops at the requested number"),
        (&[0, 1], &[], &[], 2, 1, &[], "no free index"),
        (&[0, 1], &[], &[], 1, 1, &[], "an index beyond the limit"),
        (&[], &[], &[], u32::MAX, 0, &[], "none requested"),
    ] {
        let mut result = vec![77];
        let decided = [succeeded, failed];
        lowest_free(taken.iter().copied(), decided, limit, count, &mut result);
        assert_eq!(result, want, "{sentence}");
    }
}

proptest! {
    #[test]
    fn a_merged_list_is_ascending_and_has_everything(
        mut list in prop::collection::vec(0u32..40, 0..30),
        more in prop::collection::vec(0u32..40, 0..30),
    ) {
        list.sort();
        list.dedup();
        let mut merged = list.clone();
        merge_sorted(&mut merged, more.iter().copied());
        let all: std::collections::BTreeSet<u32> = list.into_iter().chain(more).collect();
        prop_assert_eq!(merged, all.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn client_go_combines_similar_events_and_drops_floods() {
    let mut books = EventBooks::default();
    let mut one = EventBooks::default();
    let mut of_one = (0..11).filter_map(|_| one.correlate(JobEventKind::Created, at(1)));
    let first = of_one.position(|(_, combined)| combined);
    assert_eq!(first, Some(9), "combined from the tenth Event of an object on");
    let mut send = |kind, seconds| books.correlate(kind, at(seconds)).map(|(call, _)| call);
    assert_eq!(send(JobEventKind::CreateFailed, 1), Some(Call::JobEventCreate));
    assert_eq!(send(JobEventKind::CreateFailed, 1), Some(Call::JobEventPatch), "the same message");
    let created: Vec<_> = (0..12).map(|_| send(JobEventKind::Created, 1)).collect();
    assert!(created[..10].iter().all(|c| *c == Some(Call::JobEventCreate)));
    assert_eq!(created[10], Some(Call::JobEventPatch), "similar Events are combined");
    let left = (0..99).filter(|_| send(JobEventKind::Other, 1).is_some()).count();
    assert_eq!(left, 25 - 14, "25 per object");
    assert_eq!(send(JobEventKind::Other, 299), None);
    assert_eq!(send(JobEventKind::Other, 300), Some(Call::JobEventCreate), "then one per 300 s");
    assert_eq!(send(JobEventKind::Other, 300), None);
    assert_eq!(send(JobEventKind::Deleted, 900), Some(Call::JobEventCreate));
    assert_eq!(send(JobEventKind::Deleted, 900), Some(Call::JobEventCreate));
    assert_eq!(send(JobEventKind::Deleted, 900), None);
}

#[test]
fn a_job_starts_when_its_first_sync_runs_it_and_again_when_it_is_resumed() {
    let (old, new) = (KubeVersion::new(35), KubeVersion::new(36));
    let (first, began) = (Some(at(3)), at(7));
    for (stored, suspended, version, runs, want, sentence) in [
        (None, None, new, true, Some(began), "the first sync"),
        (first, None, new, true, first, "a later sync"),
        (None, None, new, false, None, "created suspended"),
        (first, Some(true), old, false, first, "suspended: keeps startTime until 1.35"),
        (first, Some(true), new, false, None, "suspended: clears startTime from 1.36 on"),
        (None, Some(false), new, true, Some(began), "resumed"),
        (first, Some(false), old, true, Some(began), "resumed: new startTime"),
    ] {
        assert_eq!(start_time(stored, suspended, version, (began, runs)), want, "{sentence}");
    }
}

#[test]
fn suspended_is_written_false_only_where_it_is_true() {
    let status = |suspended: Option<bool>| JobStatus {
        conditions: Vec::from_iter(suspended.map(|status| JobCondition {
            kind: JobConditionType::Suspended,
            status,
            reason: "JobSuspended".into(),
            message: String::new(),
            at: at(0),
        })),
        ..JobStatus::default()
    };
    for (stored, to, written) in [
        (None, Some(false), None),
        (None, Some(true), Some(true)),
        (Some(true), Some(true), None),
        (Some(true), Some(false), Some(false)),
        (Some(false), Some(true), Some(true)),
        (Some(true), None, None),
    ] {
        assert_eq!(new_suspended_status(&status(stored), to), written, "{stored:?} to {to:?}");
    }
}

#[test]
fn a_sync_knows_what_it_saw_by_index_and_pod() {
    let ended = |index, pod| EndedPod { pod: PodId(pod), incarnation: 1, index, succeeded: false, is_countable: true };
    let mut c = ComputedStatus {
        ended: vec![ended(0, 7), ended(2, 3), ended(2, 1), ended(5, 2)],
        delayed: vec![(2, PodId(1)), (5, PodId(2))],
        active: 1,
        ready: 1,
        ..ComputedStatus::default()
    };
    assert_eq!(c.observed_pod(PodId(1), 2).map(|e| e.pod), Some(PodId(1)));
    assert!(c.observed_pod(PodId(1), 5).is_none(), "another pod object in the same slot");
    assert!(c.observed_pod(PodId(9), 2).is_none());
    assert_eq!(c.replaced_pod(5), Some(PodId(2)));
    assert_eq!(c.replaced_pod(3), None);
    c.record_deletion(true);
    c.record_deletion(true);
    assert_eq!((c.active, c.ready, c.terminating), (0, 0, 2), "already deleted by another component");
}

#[test]
fn the_last_answer_of_a_parallel_set_continues() {
    let mut worker = JobWorker::default();
    worker.begin(JobId(0), (1, 1));
    worker.outstanding = 2;
    assert!(!worker.count_response());
    assert!(worker.count_response());
}

#[test]
fn a_mark_is_of_one_pod_object() {
    let (mut store, mut marks) = (ObjectStore::default(), PodMarks::default());
    let pod = store.pods.allocate();
    assert!(!marks.is_counted(&store, pod), "initially unmarked");
    marks.mark_mut(&store, pod).counted = true;
    assert!(marks.is_counted(&store, pod));
    store.pods.release(pod);
    assert_eq!(store.pods.allocate(), pod);
    assert!(!marks.is_counted(&store, pod), "the next object in the same slot");
    marks.mark_mut(&store, pod).deletes += 1;
    assert_eq!(marks.mark_mut(&store, pod).deletes, 1);
}
