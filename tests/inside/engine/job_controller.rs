//! Table tests of the Job controller's state machines and counters.

use super::count::{Computed, EndedPod};
use super::entry::Entry;
use super::events::{EventBooks, Kind};
use super::free::lowest_free;
use super::rows::{PodMarks, merge};
use super::status::{start_time, suspended_changes};
use super::worker::Worker;
use crate::ctx::Mark;
use crate::record::{Call, JobConditionType, Waited};
use crate::store::{JobCondition, JobStatus, Store};
use Waited::{ErrorBackoff, JobBatch, PodFailureBackoff};
use proptest::prelude::*;
use sim_api::spec::Version;
use sim_base::*;

fn at(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000)
}

/// Returns a mark. In these tests marks differ only by their time.
fn mark(seconds: u64) -> Mark {
    let mut mark = Mark::default();
    mark.at = at(seconds);
    mark
}

#[test]
fn the_earliest_sync_comes_and_the_newest_change_goes_along() {
    for (asked, timers, due, newest, sentence) in [
        (&[(1, 2, JobBatch)][..], 1, 2, 1, "one change"),
        (
            &[(1, 9, JobBatch), (2, 3, JobBatch)],
            2,
            3,
            2,
            "one without delay overtakes",
        ),
        (
            &[(1, 3, JobBatch), (2, 3, JobBatch)],
            1,
            3,
            2,
            "a batch takes the second one along",
        ),
        (
            &[(1, 3, JobBatch), (2, 12, PodFailureBackoff)],
            1,
            3,
            1,
            "what is for later waits for nothing",
        ),
        (
            &[(1, 9, ErrorBackoff), (2, 3, JobBatch)],
            2,
            3,
            2,
            "a change cuts a back-off short",
        ),
    ] {
        let mut entry = Entry::default();
        let ask =
            |&(now, then, waited): &(u64, u64, Waited)| entry.ask(at(then), mark(now), waited);
        let set = asked.iter().map(ask).filter(|timer| *timer).count();
        assert_eq!(set, timers, "{sentence}");
        for second in (0..20).filter(|s| *s != due) {
            assert!(entry.ring(at(second)).is_none(), "{sentence}: {second}");
        }
        let rung = entry.ring(at(due)).map(|(mark, _)| mark.at);
        assert_eq!(rung, Some(at(newest)), "{sentence}");
        assert!(entry.ring(at(due)).is_none(), "{sentence}: it comes once");
    }
}

#[test]
fn a_key_is_in_the_queue_once_and_with_one_worker() {
    let mut entry = Entry::default();
    assert!(entry.ready(mark(1)));
    assert!(!entry.ready(mark(2)), "it is queued already");
    assert_eq!(entry.take().at, at(2), "the newest of what it is for");
    entry.begin();
    assert!(
        !entry.ready(mark(3)) && !entry.ready(mark(4)),
        "a worker has it"
    );
    assert_eq!(entry.end(false), None);
    let again = entry.again().map(|mark| mark.at);
    assert_eq!(again, Some(at(4)), "it was due meanwhile");
    assert!(entry.again().is_none(), "once");
    assert_eq!(entry.take().at, at(4));
}

#[test]
fn failed_syncs_back_off_to_a_minute() {
    let mut entry = Entry::default();
    let mut sync = |failed| {
        entry.ready(mark(0));
        entry.take();
        entry.begin();
        entry.end(failed).map(|delay| delay.0 / 1_000_000_000)
    };
    let delays: Vec<_> = (0..8).map(|_| sync(true)).collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60].map(Some));
    assert_eq!(sync(false), None);
    assert_eq!(sync(true), Some(1), "a good one forgets them");
}

#[test]
fn the_lowest_free_indexes_are_found_without_counting_to_completions() {
    const MANY: u32 = i32::MAX as u32;
    for (taken, succeeded, failed, limit, count, want, sentence) in [
        (
            &[][..],
            &[][..],
            &[][..],
            4,
            9,
            &[0, 1, 2, 3][..],
            "all of a new Job",
        ),
        (&[], &[], &[], MANY, 2, &[0, 1], "as many as are wanted"),
        (&[0, 2, 2, 3], &[1], &[5], 8, 9, &[4, 6, 7], "nobody's"),
        (
            &[9],
            &[0],
            &[1, 7],
            MANY,
            3,
            &[2, 3, 4],
            "beyond what is wanted nobody looks",
        ),
        (&[0, 1], &[], &[], 2, 1, &[], "none is left"),
        (&[0, 1], &[], &[], 1, 1, &[], "an index that was taken away"),
        (&[], &[], &[], u32::MAX, 0, &[], "nobody wants any"),
    ] {
        let mut found = vec![77];
        let decided = [succeeded, failed];
        lowest_free(taken.iter().copied(), decided, limit, count, &mut found);
        assert_eq!(found, want, "{sentence}");
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
        merge(&mut merged, more.iter().copied());
        let all: std::collections::BTreeSet<u32> = list.into_iter().chain(more).collect();
        prop_assert_eq!(merged, all.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn client_go_combines_similar_events_and_drops_floods() {
    let mut books = EventBooks::default();
    let mut one = EventBooks::default();
    let mut of_one = (0..11).filter_map(|_| one.correlate(Kind::Created, at(1)));
    let first = of_one.position(|(_, combined)| combined);
    assert_eq!(first, Some(9), "from the tenth of one object on");
    let mut send = |kind, seconds| books.correlate(kind, at(seconds)).map(|(call, _)| call);
    assert_eq!(send(Kind::CreateFailed, 1), Some(Call::JobEventCreate));
    assert_eq!(
        send(Kind::CreateFailed, 1),
        Some(Call::JobEventPatch),
        "the same message"
    );
    let created: Vec<_> = (0..12).map(|_| send(Kind::Created, 1)).collect();
    assert!(
        created[..10]
            .iter()
            .all(|c| *c == Some(Call::JobEventCreate))
    );
    assert_eq!(
        created[10],
        Some(Call::JobEventPatch),
        "different ones are combined"
    );
    let left = (0..99).filter(|_| send(Kind::Other, 1).is_some()).count();
    assert_eq!(left, 25 - 14, "25 per object");
    assert_eq!(send(Kind::Other, 299), None);
    assert_eq!(
        send(Kind::Other, 300),
        Some(Call::JobEventCreate),
        "then one per 300 s"
    );
    assert_eq!(send(Kind::Other, 300), None);
    assert_eq!(send(Kind::Deleted, 900), Some(Call::JobEventCreate));
    assert_eq!(send(Kind::Deleted, 900), Some(Call::JobEventCreate));
    assert_eq!(send(Kind::Deleted, 900), None);
}

#[test]
fn a_job_starts_when_its_first_sync_runs_it_and_anew_when_it_is_resumed() {
    let (old, new) = (Version::new(35), Version::new(36));
    let (first, began) = (Some(at(3)), at(7));
    for (stored, suspended, version, runs, want, sentence) in [
        (None, None, new, true, Some(began), "the first sync"),
        (first, None, new, true, first, "a later one"),
        (None, None, new, false, None, "created suspended"),
        (
            first,
            Some(true),
            old,
            false,
            first,
            "suspended, it keeps its startTime",
        ),
        (first, Some(true), new, false, None, "until 1.36"),
        (None, Some(false), new, true, Some(began), "resumed"),
        (
            first,
            Some(false),
            old,
            true,
            Some(began),
            "resumed, it starts anew",
        ),
    ] {
        assert_eq!(
            start_time(stored, suspended, version, (began, runs)),
            want,
            "{sentence}"
        );
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
        assert_eq!(
            suspended_changes(&status(stored), to),
            written,
            "{stored:?} to {to:?}"
        );
    }
}

#[test]
fn a_sync_knows_what_it_saw_by_index_and_pod() {
    let ended = |index, pod| EndedPod {
        pod: PodId(pod),
        incarnation: 1,
        index,
        succeeded: false,
        counts: true,
    };
    let mut c = Computed {
        ended: vec![ended(0, 7), ended(2, 3), ended(2, 1), ended(5, 2)],
        delayed: vec![(2, PodId(1)), (5, PodId(2))],
        active: 1,
        ready: 1,
        ..Computed::default()
    };
    assert_eq!(c.seen(PodId(1), 2).map(|e| e.pod), Some(PodId(1)));
    assert!(c.seen(PodId(1), 5).is_none(), "another object in the row");
    assert!(c.seen(PodId(9), 2).is_none());
    assert_eq!(c.replaced(5), Some(PodId(2)));
    assert_eq!(c.replaced(3), None);
    c.deleted(true);
    c.deleted(true);
    assert_eq!(
        (c.active, c.ready, c.terminating),
        (0, 0, 2),
        "somebody else was faster"
    );
}

#[test]
fn the_last_answer_of_a_parallel_set_goes_on() {
    let mut worker = Worker::default();
    worker.begin(JobId(0), (1, 1));
    worker.outstanding = 2;
    assert!(!worker.one_less());
    assert!(worker.one_less());
}

#[test]
fn a_mark_is_of_one_pod_object() {
    let (mut store, mut marks) = (Store::default(), PodMarks::default());
    let pod = store.pods.allocate();
    assert!(!marks.counted(&store, pod), "nothing is known yet");
    marks.of(&store, pod).counted = true;
    assert!(marks.counted(&store, pod));
    store.pods.release(pod);
    assert_eq!(store.pods.allocate(), pod);
    assert!(!marks.counted(&store, pod), "the next object in the row");
    marks.of(&store, pod).deletes += 1;
    assert_eq!(marks.of(&store, pod).deletes, 1);
}
