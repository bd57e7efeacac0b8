//! Tests of `sim_analysis::metrics::occupancy`.

use sim_analysis::metrics::occupancy::*;
use sim_base::*;
use sim_engine::record::{Body, NO_CAUSE, RecordNames, RecordSink, SimulationRecord};
fn s(n: u64) -> SimTime {
    SimTime(n * 1_000_000_000)
}

fn play(occupancy: &mut NodeOccupancy, records: &[(u64, Body)]) {
    for (seq, (at, body)) in records.iter().enumerate() {
        let record = SimulationRecord { seq: seq as u32, cause: NO_CAUSE, ticket: NO_CAUSE, at: s(*at), body: *body };
        occupancy.record(&record, &RecordNames::default());
    }
    occupancy.finish();
}

#[test]
fn a_pod_is_in_one_state_at_each_instant_and_its_node_is_its_jobs_until_it_is_gone() {
    let (pod, job, node, incarnation) = (PodId(0), JobId(1), NodeId(2), 0);
    let mut all = NodeOccupancy::new((0..12).map(s).collect(), &[s(3), s(10)], 3);
    play(
        &mut all,
        &[
            (1, Body::PodCreated { pod, incarnation, job, index: 0, attempt: 0 }),
            (2, Body::PodBound { pod, incarnation, node }),
            (4, Body::PodReady { pod, incarnation }),
            (5, Body::ContainersRestarting { pod, incarnation, restarts: 1 }),
            (6, Body::PodReady { pod, incarnation }),
            (8, Body::PodDeleting { pod, incarnation, by: sim_engine::record::DeletionActor::User }),
            (9, Body::PodNotReady { pod, incarnation }),
            (10, Body::PodGone { pod, incarnation }),
        ],
    );
    let only = |state: OccupancyState| {
        let mut counts = [0; OccupancyState::COUNT];
        counts[state as usize] = 1;
        counts
    };
    let expected = [
        (1, only(OccupancyState::Pending)),
        (2, only(OccupancyState::Starting)),
        (4, only(OccupancyState::Ready)),
        (5, only(OccupancyState::Down)),
        (6, only(OccupancyState::Ready)),
        (8, only(OccupancyState::Ending)),
        (10, [0; OccupancyState::COUNT]),
    ];
    assert_eq!(all.job_counts(job), expected);
    let of = |at| all.at(s(at)).map(|nodes| nodes[2].job);
    assert_eq!((of(3), of(10), of(4)), (Some(job), Some(JobId::NONE), None));
}

#[test]
fn finished_pods_are_told_apart_and_deleted_ones_stay_terminating() {
    let (job, incarnation) = (JobId(0), 0);
    let by = sim_engine::record::DeletionActor::User;
    let created = |pod| Body::PodCreated { pod, incarnation, job, index: 0, attempt: 0 };
    let finished = |pod, succeeded: bool| {
        let exit_code = Some(i32::from(!succeeded));
        Body::PodFinished { pod, incarnation, succeeded, exit_code }
    };
    for (bodies, state) in [
        (vec![created(PodId(0)), finished(PodId(0), true)], OccupancyState::Succeeded),
        (vec![created(PodId(0)), finished(PodId(0), false)], OccupancyState::Failed),
        (
            vec![created(PodId(0)), finished(PodId(0), false), Body::PodReady { pod: PodId(0), incarnation }],
            OccupancyState::Failed,
        ),
        (
            vec![created(PodId(0)), Body::PodDeleting { pod: PodId(0), incarnation, by }, finished(PodId(0), false)],
            OccupancyState::Ending,
        ),
    ] {
        let mut all = NodeOccupancy::new((0..12).map(s).collect(), &[], 1);
        let timed: Vec<(u64, Body)> = (1..).zip(bodies).collect();
        play(&mut all, &timed);
        let (_, last) = all.job_counts(job).last().unwrap();
        assert_eq!(last[state as usize], 1, "{state:?}: {last:?}");
    }
}
