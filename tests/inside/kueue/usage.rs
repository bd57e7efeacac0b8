//! Past usage of LocalQueues: amounts and times computed by hand from Kueue's formulas.

use super::{ResourceNanos, UsageLedger};
use crate::control::Manager;
use crate::driver::take_patches;
use crate::requests::Name;
use crate::topology::TopologySnapshot;
use crate::workload::{PodSet, Workload, WorkloadStatus};
use sim_api::spec::kueue::{
    AdmissionFairSharing, ClusterQueue, ClusterQueuePreemption, FairWeight, FlavorQuotas, KueueObjects, LocalQueue,
    NamespaceSelector, PreemptionPolicy, ResourceFlavor, ResourceGroup, ResourceQuota,
};
use sim_api::spec::{PodSpec, PodTemplate};
use sim_base::{Duration, SimTime};
use std::collections::BTreeMap;
use std::sync::Arc;

const GPU: &str = "example.com/gpu";
const MINUTE: u64 = 60;
/// One unit in 10⁻⁹.
const UNIT: i128 = 1_000_000_000;

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(seconds)
}

fn amount(resource: &str, nanos: i128) -> ResourceNanos {
    ResourceNanos::new(&[(resource.to_owned(), nanos)].into())
}

fn sharing(half_life_s: u64, interval_s: u64) -> AdmissionFairSharing {
    AdmissionFairSharing {
        usage_half_life: Duration::from_secs(half_life_s),
        usage_sampling_interval: Duration::from_secs(interval_s),
        resource_weights: BTreeMap::new(),
    }
}

fn local(name: &str, weight_nanos: u64, consumed: i128) -> LocalQueue {
    LocalQueue {
        name: name.to_owned(),
        cluster_queue: "q".to_owned(),
        fair_weight: FairWeight(weight_nanos),
        consumed: [(GPU.to_owned(), consumed)].into(),
        ..LocalQueue::default()
    }
}

/// A ledger of one LocalQueue whose usage was sampled at the time zero.
fn ledger(half_life_s: u64, consumed: i128) -> UsageLedger {
    let mut ledger = UsageLedger::new(&sharing(half_life_s, 5 * MINUTE), &[local("a", 1_000_000_000, consumed)]);
    assert!(!ledger.sample_until(0, at(0), ResourceNanos::default));
    ledger
}

#[test]
fn a_penalty_is_the_usage_of_one_sampling_interval() {
    // 1 − 0.5^(interval/half-life) of the requests, cut after nine places.
    let table: [(&str, i128, u64, i128); 6] = [
        ("half a half-life: 1 − 1/√2 of 4", 4 * UNIT, 10 * MINUTE, 1_171_572_875),
        ("one half-life", 2 * UNIT, 5 * MINUTE, UNIT),
        ("two half-lives", 2 * UNIT, 150, 1_500_000_000),
        ("a week: 0.000343763905… of 1", UNIT, 168 * 60 * MINUTE, 343_763),
        ("1,000 TiB of memory", 1000 * (1 << 40) * UNIT, 5 * MINUTE, 500 * (1 << 40) * UNIT),
        ("no half-life", 4 * UNIT, 0, 0),
    ];
    for (name, requested, half_life_s, expected) in table {
        let mut ledger = ledger(half_life_s, 0);
        ledger.push_penalty(0, 7, &amount(GPU, requested), at(0));
        let penalty = ledger.drop_penalty(0, 7).unwrap_or_else(|| panic!("{name}: no penalty"));
        assert_eq!(penalty.get(GPU), expected, "{name}");
        assert_eq!(ledger.usage(0), 0.0, "{name}: nothing remains");
    }
}

#[test]
fn past_usage_approaches_the_current_one_by_half_in_each_half_life() {
    let table: [(i128, i128, u64, i128); 6] = [
        (8, 0, 10, 4_000_000_000),
        (8, 4, 10, 6_000_000_000),
        (0, 2, 10, 1_000_000_000),
        (0, 2, 20, 1_500_000_000),
        (0, 2, 30, 1_750_000_000),
        (5, 9, 0, 5_000_000_000),
    ];
    for (old, current, elapsed_min, expected) in table {
        let elapsed = Duration::from_secs(elapsed_min * MINUTE);
        let half_life = Duration::from_secs(10 * MINUTE);
        let new = amount(GPU, old * UNIT).decayed(&amount(GPU, current * UNIT), elapsed, half_life);
        assert_eq!(new.get(GPU), expected, "{old} and {current} after {elapsed_min} min");
    }
}

/// Weights of resources, the weight of the LocalQueue in billionths, and the expected usage.
type WeightRow<'a> = (&'a [(&'a str, f64)], u64, f64);

#[test]
fn usage_is_weighted_by_resource_and_divided_by_the_weight_of_the_queue() {
    let table: [WeightRow<'_>; 6] = [
        (&[], 1_000_000_000, 3.5),
        (&[(GPU, 10.0)], 1_000_000_000, 12.5),
        (&[(GPU, 10.0), ("cpu", 0.0)], 1_000_000_000, 10.0),
        (&[(GPU, 10.0)], 2_000_000_000, 6.25),
        (&[], 500_000_000, 7.0),
        (&[], 0, f64::INFINITY),
    ];
    for (weights, queue_weight, expected) in table {
        let mut config = sharing(600, 300);
        config.resource_weights = weights.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        let mut queue = local("a", queue_weight, UNIT);
        queue.consumed.insert("cpu".to_owned(), 2_500_000_000);
        assert_eq!(UsageLedger::new(&config, &[queue]).usage(0), expected, "{weights:?} {queue_weight}");
    }
}

#[test]
fn an_admission_turns_the_penalty_into_past_usage_and_each_interval_adds_a_sample() {
    let mut ledger = ledger(5 * MINUTE, 0);
    let eight = amount(GPU, 8 * UNIT);
    ledger.push_penalty(0, 1, &eight, at(0));
    ledger.push_penalty(0, 1, &eight, at(0));
    assert_eq!((ledger.usage(0), ledger.consumed(0).get(GPU)), (4.0, 0), "a second penalty replaces the first");
    ledger.settle(0, 1, &eight, at(0));
    ledger.settle(0, 1, &eight, at(0));
    assert_eq!((ledger.usage(0), ledger.consumed(0).get(GPU)), (4.0, 4 * UNIT), "it is settled once");
    assert!(!ledger.sample_until(0, at(299), || eight.clone()));
    assert_eq!(ledger.next_sample(0), Some(at(300)));
    assert!(ledger.sample_until(0, at(300), || eight.clone()));
    assert_eq!(ledger.consumed(0).get(GPU), 6 * UNIT);
    assert!(ledger.sample_until(0, at(1000), || eight.clone()));
    assert_eq!(ledger.consumed(0).get(GPU), 7_500_000_000, "two samples, at 600 s and 900 s");
    assert_eq!(ledger.next_sample(0), Some(at(1200)));
    // The Workload ended at 1000 s. The next sample takes the whole interval as unused.
    assert!(ledger.sample_until(0, at(1200), ResourceNanos::default));
    assert_eq!(ledger.consumed(0).get(GPU), 3_750_000_000);
}

#[test]
fn a_pending_penalty_makes_the_samples_continuous_after_one_second() {
    let mut ledger = ledger(5 * MINUTE, 8 * UNIT);
    ledger.push_penalty(0, 1, &amount(GPU, 2 * UNIT), at(10));
    assert!(!ledger.sample_until(0, SimTime(10_500_000_000), ResourceNanos::default));
    assert!(ledger.sample_until(0, at(150), ResourceNanos::default));
    // 8 · 0.5^(150/300), and the penalty of 1.
    assert!((ledger.usage(0) - (8.0 * 0.5_f64.sqrt() + 1.0)).abs() < 1e-6, "{}", ledger.usage(0));
    assert!(ledger.sample_until(0, at(420), ResourceNanos::default));
    assert!((ledger.usage(0) - (8.0 * 0.378_929_141_6 + 1.0)).abs() < 1e-6, "{}", ledger.usage(0));
}

#[test]
fn without_a_half_life_a_sample_resets_the_past_usage() {
    let mut ledger = ledger(0, 8 * UNIT);
    assert!(ledger.sample_until(0, at(300), || amount(GPU, 4 * UNIT)));
    assert_eq!(ledger.usage(0), 0.0);
}

#[test]
fn many_samples_at_once_equal_one_long_decay() {
    let mut config = sharing(10 * MINUTE, 1);
    config.usage_sampling_interval = Duration::from_millis(1);
    let mut ledger = UsageLedger::new(&config, &[local("a", 1_000_000_000, 8 * UNIT)]);
    ledger.sample_until(0, at(0), ResourceNanos::default);
    ledger.sample_until(0, at(600), ResourceNanos::default);
    assert!((ledger.usage(0) - 4.0).abs() < 1e-6, "{}", ledger.usage(0));
}

/// A ClusterQueue with 8 GPUs and the LocalQueues a and b.
fn objects(is_usage_based: bool, consumed: [i128; 2]) -> KueueObjects {
    let quota = ResourceQuota { name: GPU.to_owned(), nominal: 8_000, ..ResourceQuota::default() };
    let flavors = vec![FlavorQuotas { name: "f".to_owned(), resources: vec![quota] }];
    let mut objects = KueueObjects {
        flavors: vec![ResourceFlavor { name: "f".to_owned(), ..ResourceFlavor::default() }],
        cluster_queues: vec![ClusterQueue {
            name: "q".to_owned(),
            namespace_selector: Some(NamespaceSelector::default()),
            resource_groups: vec![ResourceGroup { covered_resources: vec![GPU.to_owned()], flavors }],
            preemption: ClusterQueuePreemption {
                within_cluster_queue: PreemptionPolicy::LowerPriority,
                ..ClusterQueuePreemption::default()
            },
            usage_based_admission: is_usage_based,
            ..ClusterQueue::default()
        }],
        local_queues: vec![
            local("a", 1_000_000_000, consumed[0] * UNIT),
            local("b", 1_000_000_000, consumed[1] * UNIT),
        ],
        ..KueueObjects::default()
    };
    objects.configuration.admission_fair_sharing = Some(sharing(60 * MINUTE, 5 * MINUTE));
    objects
}

fn workload(key: usize, queue: &str, units: i64, priority: i32) -> Workload {
    let resources = [(GPU.to_owned(), units * 1000)].into();
    let template = PodTemplate { spec: PodSpec { resources, ..PodSpec::default() }, ..PodTemplate::default() };
    let pod_set = PodSet { name: "w".to_owned(), count: 1, replicas: 1, template, topology: None, stored: None };
    Workload {
        namespace: String::new(),
        name: format!("w{key}"),
        uid: format!("{key:03}"),
        job_uid: String::new(),
        queue: queue.to_owned(),
        priority,
        priority_class: None,
        created: at(key as u64),
        active: true,
        admission_gates: String::new(),
        max_execution_s: None,
        pod_sets: [pod_set].into(),
        status: WorkloadStatus::default(),
    }
}

/// Creates Workloads (LocalQueue, GPUs, priority), and runs cycles. Returns the admitted Workloads in order.
fn admitted(manager: &mut Manager, first: usize, shapes: &[(&str, i64, i32)]) -> Vec<usize> {
    for (k, (queue, units, priority)) in shapes.iter().enumerate() {
        let new = workload(first + k, queue, *units, *priority);
        manager.workload_changed(first + k, Arc::new(new), at(100));
    }
    let mut order = Vec::new();
    for _ in 0..20 {
        for patch in take_patches(manager, at(100)) {
            let Some(old) = manager.workload(patch.key).cloned() else { continue };
            let Some(new) = patch.apply(&old, at(100)) else { continue };
            if new.is_admitted() && !new.is_evicted() {
                order.push(patch.key);
            }
            manager.workload_changed(patch.key, Arc::new(new), at(100));
        }
    }
    order
}

fn manager(objects: &KueueObjects) -> Manager {
    let mut manager = Manager::new(objects, TopologySnapshot::default(), [(String::new(), BTreeMap::new())].into());
    manager.sample_usage(at(100));
    manager
}

#[test]
fn workloads_of_the_local_queue_with_less_usage_come_first_even_with_a_lower_priority() {
    let shapes = [("a", 2, 5), ("a", 2, 9), ("b", 2, 0), ("b", 2, 1), ("a", 8, 0)];
    let table = [
        // By priority, then by age.
        (false, [0, 0], vec![1, 0, 3, 2]),
        // The penalty of each admission changes the order: a and b alternate.
        (true, [0, 0], vec![1, 3, 0, 2]),
        (true, [5, 0], vec![3, 2, 1, 0]),
        (true, [0, 5], vec![1, 0, 3, 2]),
    ];
    for (is_usage_based, consumed, expected) in table {
        let mut manager = manager(&objects(is_usage_based, consumed));
        assert_eq!(admitted(&mut manager, 0, &shapes), expected, "{is_usage_based} {consumed:?}");
    }
}

#[test]
fn the_workload_of_the_local_queue_with_more_usage_is_preempted_first() {
    for (consumed, expected) in [([0, 5], 1), ([5, 0], 0)] {
        let mut manager = manager(&objects(true, consumed));
        let admitted_first = admitted(&mut manager, 0, &[("a", 4, 1), ("b", 4, 0)]);
        assert_eq!(admitted_first.len(), 2);
        admitted(&mut manager, 2, &[("a", 4, 9)]);
        let evicted: Vec<usize> =
            (0..3).filter(|key| manager.workload(*key).is_some_and(|workload| workload.is_evicted())).collect();
        assert_eq!(evicted, [expected], "{consumed:?}");
    }
}

#[test]
fn a_penalty_ends_with_its_workload_or_a_failed_admission() {
    let usage = |manager: &Manager| manager.local_queue_usage(0, &workload(0, "a", 1, 0)).unwrap_or(f64::NAN);
    let mut manager = manager(&objects(true, [0, 0]));
    for key in 0..2 {
        manager.workload_changed(key, Arc::new(workload(key, "a", 4, 0)), at(100));
        assert_eq!(take_patches(&mut manager, at(100)).len(), 1);
    }
    // 8 · (1 − 0.5^(5/60))
    assert!((usage(&manager) - 8.0 * (1.0 - libm::pow(0.5, 5.0 / 60.0))).abs() < 1e-6, "{}", usage(&manager));
    manager.admission_failed(0);
    assert!((usage(&manager) - 4.0 * (1.0 - libm::pow(0.5, 5.0 / 60.0))).abs() < 1e-6, "{}", usage(&manager));
    manager.workload_deleted(1, at(100));
    assert_eq!(usage(&manager), 0.0);
    assert_eq!(manager.consumed("", "a").map(|consumed| consumed.get(&Name::from(GPU))), Some(0));
}
