//! Equal inputs give equal records: on a new or a reused `Simulation`, on one thread or two, in debug and release
//! builds.

use crate::support;
use rayon::prelude::*;
use sim_base::*;
use sim_engine::event::SimulationEvent;
use sim_engine::queue::EventQueue;
use sim_engine::record::digest::records_digest as digest_of;
use sim_engine::record::*;

const SMALL: [&str; 4] = ["first-steps", "in-place-main-container", "node-partition-return", "regime-image-bound"];

#[test]
fn a_simulation_that_was_used_before_gives_the_same_run_as_a_new_one() {
    for name in support::scenario_names() {
        let scenario = support::scenario(&name, &[]);
        if !support::is_tried(&scenario) {
            continue;
        }
        let mut used = support::simulation(&scenario);
        // A run with another seed and replication in between must not affect the next run.
        let first = used.run(7, 0, &mut DiscardSink).digest;
        used.run(8, 3, &mut DiscardSink);
        let again = used.run(7, 0, &mut DiscardSink).digest;
        let new = support::simulation(&scenario).run(7, 0, &mut DiscardSink).digest;
        assert_eq!((first, again), (new, new), "{name}");
    }
}

/// A run that reaches its time limit leaves unfinished work in every component. The next run must not be affected by
/// it.
#[test]
fn a_run_that_was_cut_off_leaves_nothing_behind() {
    for at in ["300ms", "1s", "2500ms", "7s", "20s", "50s"] {
        // With two requests per second, controllers always have unfinished work.
        let rate = "{qps: 2, burst: 1}";
        let sets = [
            ("stop.at", at),
            ("faults", "[]"),
            ("controlPlane.kubeControllerManager", rate),
            ("timing.apiWrite", "400ms"),
        ];
        let cut = support::scenario("first-steps", &sets);
        let mut simulation = support::simulation(&cut);
        let digests: Vec<u64> = (0..3).map(|_| simulation.run(1, 0, &mut DiscardSink).digest).collect();
        assert_eq!(digests[0], digests[1], "cut off at {at}");
        assert_eq!(digests[0], digests[2], "cut off at {at}");
    }
}

#[test]
fn replications_do_not_depend_on_the_number_of_threads() {
    let keys: Vec<(u64, u64)> = (1..4).flat_map(|s| (0..8).map(move |r| (s, r))).collect();
    for name in SMALL {
        let scenario = support::scenario(name, &[]);
        let digests = |threads: usize| -> Vec<u64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| {
                let new = || support::simulation(&scenario);
                keys.par_iter().map_init(new, |s, &(seed, rep)| s.run(seed, rep, &mut DiscardSink).digest).collect()
            })
        };
        let (one, two) = (digests(1), digests(2));
        assert_eq!(one, two, "{name}");
        let mut distinct = one.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), one.len(), "{name}: two keys give the same run");
    }
}

#[test]
fn digest_changes_if_two_simultaneous_records_are_swapped() {
    let scenario = support::scenario("first-steps", &[]);
    let mut simulation = support::simulation(&scenario);
    let mut kept = KeepSink::default();
    let digest = simulation.run(scenario.seed, 0, &mut kept).digest;
    let names = simulation.names();
    assert_eq!(digest_of(&kept.0, names), digest);
    let kind = |r: &SimulationRecord| std::mem::discriminant(&r.body);
    let mut swapped = 0;
    for k in 1..kept.0.len() {
        let (a, b) = (kept.0[k - 1], kept.0[k]);
        if a.at != b.at || kind(&a) == kind(&b) {
            continue;
        }
        let mut broken = kept.0.clone();
        // Only the bodies of the two records change places.
        (broken[k - 1].body, broken[k].body) = (b.body, a.body);
        assert_ne!(digest_of(&broken, names), digest, "{a:?} {b:?}");
        swapped += 1;
    }
    assert!(swapped > 10, "only {swapped} pairs to swap");
}

/// The queue is ordered by time, class and sequence. A queue that ignores the class gives another order.
#[test]
fn queue_without_class_order_is_detected() {
    let job = |k: u32| SimulationEvent::JobDue(JobId(k));
    let pod = |k: u32| SimulationEvent::ContainersStarted { pod: PodId(k), epoch: 0 };
    let pushed = [job(0), pod(0), SimulationEvent::Fault(0), pod(1), job(1)];
    let mut queue = EventQueue::default();
    for event in pushed {
        queue.push(SimTime(5), event, 0);
    }
    let order: Vec<SimulationEvent> = std::iter::from_fn(|| queue.pop()).map(|p| p.1).collect();
    assert_eq!(order, [SimulationEvent::Fault(0), pod(0), pod(1), job(0), job(1)]);
    assert_ne!(order, pushed, "ordered by sequence alone");
}
