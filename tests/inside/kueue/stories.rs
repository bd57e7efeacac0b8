//! Random small clusters of quotas against brute force.

use crate::amount::Amount;
use crate::cases::cases;
use crate::control::{JobView, Manager, Patch, reconcile_job, reconcile_workload};
use crate::driver::{
    self, CycleSummary, Driver, InstantPorts, Pace, Ports, Rest, Sent, TimedPorts, Timer, take_patches,
};
use crate::flavors::PreemptionPossibility;
use crate::flavors::assigner::PreemptionOracle;
use crate::preemption::Preemptor;
use crate::requests::{FlavorResource, Name};
use crate::snapshot::Snapshot;
use crate::topology::TopologySnapshot;
use crate::workload::{Info, PodSet, Workload, WorkloadStatus};
use proptest::prelude::*;
use sim_api::spec::kueue::{
    BorrowWithinCohort, ClusterQueue, ClusterQueuePreemption, Cohort, FairSharingStrategy, FlavorQuotas, KueueObjects,
    LocalQueue, NamespaceSelector, PreemptionPolicy, QueueingStrategy, RequeuingTimestamp, ResourceFlavor,
    ResourceGroup, ResourceQuota,
};
use sim_api::spec::{PodSpec, PodTemplate};
use sim_base::{Duration, SimTime};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

const TPU: &str = "google.com/tpu";

/// Nominal quota, borrowing limit and lending limit.
type QuotaShape = (u8, Option<u8>, Option<u8>);

/// A ClusterQueue: cohort, quotas of two flavors, preemption policies, strategy.
type QueueShape = (Option<u8>, [QuotaShape; 2], [u8; 3], bool);

/// An arrival: queue, requested units, priority. Or the end of an earlier one, by its number.
type EventShape = (u8, u8, u8, Option<u8>);

#[derive(Clone, Debug)]
struct Shape {
    /// Parent of each cohort, an earlier one, and its quotas.
    cohorts: Vec<(Option<u8>, [QuotaShape; 2])>,
    queues: Vec<QueueShape>,
    events: Vec<EventShape>,
    is_fair: bool,
}

fn group(quotas: &[QuotaShape; 2]) -> ResourceGroup {
    let units = |units: u8| i64::from(units) * 1000;
    let flavor = |(index, (nominal, borrowing, lending)): (usize, &QuotaShape)| FlavorQuotas {
        name: format!("f{index}"),
        resources: vec![ResourceQuota {
            name: TPU.to_owned(),
            nominal: units(*nominal),
            borrowing_limit: borrowing.map(units),
            lending_limit: lending.map(|limit| units(limit.min(*nominal))),
        }],
    };
    ResourceGroup { covered_resources: vec![TPU.to_owned()], flavors: quotas.iter().enumerate().map(flavor).collect() }
}

fn queue((index, (cohort, quotas, policies, is_strict)): (usize, &QueueShape), cohorts: usize) -> ClusterQueue {
    use PreemptionPolicy::{Any, LowerOrNewerEqualPriority, LowerPriority, Never};
    let cohort = cohort.filter(|_| cohorts > 0).map(|cohort| format!("c{}", usize::from(cohort) % cohorts));
    ClusterQueue {
        name: format!("q{index}"),
        resource_groups: vec![group(quotas)],
        cohort,
        queueing_strategy: if *is_strict { QueueingStrategy::StrictFifo } else { QueueingStrategy::BestEffortFifo },
        namespace_selector: Some(NamespaceSelector::default()),
        preemption: ClusterQueuePreemption {
            within_cluster_queue: [Never, LowerPriority, LowerOrNewerEqualPriority][usize::from(policies[0] % 3)],
            reclaim_within_cohort: [Never, LowerPriority, Any][usize::from(policies[1] % 3)],
            borrow_within_cohort: BorrowWithinCohort {
                lower_priority: policies[2] % 2 == 1 && policies[1] % 3 != 0,
                max_priority_threshold: (policies[2] % 3 == 1).then_some(1),
            },
        },
        ..ClusterQueue::default()
    }
}

impl Shape {
    fn objects(&self) -> KueueObjects {
        let mut objects = KueueObjects::default();
        let flavor = |index: usize| ResourceFlavor { name: format!("f{index}"), ..ResourceFlavor::default() };
        objects.flavors = (0..2).map(flavor).collect();
        let cohort = |(index, (parent, quotas)): (usize, &(Option<u8>, [QuotaShape; 2]))| Cohort {
            name: format!("c{index}"),
            // A parent is an earlier cohort, so there is no cycle.
            parent: parent.filter(|_| index > 0).map(|parent| format!("c{}", usize::from(parent) % index)),
            resource_groups: vec![group(quotas)],
            ..Cohort::default()
        };
        objects.cohorts = self.cohorts.iter().enumerate().map(cohort).collect();
        let queues = self.queues.iter().enumerate();
        objects.cluster_queues = queues.map(|shape| queue(shape, self.cohorts.len())).collect();
        let local = |queue: &ClusterQueue| LocalQueue {
            name: queue.name.clone(),
            cluster_queue: queue.name.clone(),
            ..LocalQueue::default()
        };
        objects.local_queues = objects.cluster_queues.iter().map(local).collect();
        let strategies =
            vec![FairSharingStrategy::LessThanOrEqualToFinalShare, FairSharingStrategy::LessThanInitialShare];
        objects.configuration.fair_sharing = self.is_fair.then_some(strategies);
        objects
    }
}

fn workload(key: usize, queue: usize, units: u8, priority: u8) -> Workload {
    let resources = [(TPU.to_owned(), i64::from(units) * 1000)].into();
    let template = PodTemplate { spec: PodSpec { resources, ..PodSpec::default() }, ..PodTemplate::default() };
    let pod_set = PodSet { name: "w".to_owned(), count: 1, replicas: 1, template, topology: None, stored: None };
    Workload {
        namespace: String::new(),
        name: format!("w{key}"),
        uid: format!("{key:03}"),
        job_uid: String::new(),
        queue: format!("q{queue}"),
        priority: i32::from(priority),
        priority_class: None,
        created: SimTime::ZERO + Duration::from_secs(key as u64),
        active: true,
        admission_gates: String::new(),
        max_execution_s: None,
        pod_sets: [pod_set].into(),
        status: WorkloadStatus::default(),
    }
}

/// Runs the controllers until they rest. `check` sees the state after each scheduling cycle.
fn settle(manager: &mut Manager, jobs: &mut [JobView], now: SimTime, check: &dyn Fn(&Manager)) {
    for _ in 0..40 {
        while (0..jobs.len()).any(|key| reconcile(manager, jobs, key, now)) {}
        if !manager.has_heads() {
            let wakes = manager.take_wakes();
            if wakes.is_empty() {
                return;
            }
            wakes.into_iter().for_each(|root| manager.wake(root, now));
        }
        for patch in take_patches(manager, now) {
            let old = manager.workload(patch.key).cloned();
            if let Some(new) = old.and_then(|old| patch.apply(&old, now)) {
                manager.workload_changed(patch.key, Arc::new(new), now);
            }
        }
        check(manager);
    }
}

fn reconcile(manager: &mut Manager, jobs: &mut [JobView], key: usize, now: SimTime) -> bool {
    let Some(old) = manager.workload(key).cloned() else { return false };
    let plan = reconcile_job(&old, &jobs[key], true, now);
    if let Some(suspend) = plan.suspend {
        jobs[key].is_suspended = suspend;
    }
    let new = plan.workload.or_else(|| {
        let view = manager.view(key, &old);
        reconcile_workload(&old, &view, &manager.configuration, now).workload
    });
    let changed = new.as_ref().is_some_and(|new| *new != *old);
    if let Some(new) = new.filter(|_| changed) {
        manager.workload_changed(key, Arc::new(new), now);
    }
    changed || plan.suspend.is_some()
}

/// Plays all events. Returns the state after the last one.
fn play(shape: &Shape, check: &dyn Fn(&Manager)) -> Manager {
    let namespaces = [(String::new(), BTreeMap::new())].into();
    let mut manager = Manager::new(&shape.objects(), TopologySnapshot::default(), namespaces);
    let mut jobs: Vec<JobView> = Vec::new();
    for (at, (queue, units, priority, ends)) in shape.events.iter().enumerate() {
        let now = SimTime::ZERO + Duration::from_secs(10 * at as u64);
        if let Some(job) = ends.and_then(|ends| jobs.get_mut(usize::from(ends))) {
            job.finished = Some((true, "done".to_owned()));
        } else {
            let queue = usize::from(*queue) % shape.queues.len();
            let new = workload(jobs.len(), queue, *units, *priority);
            manager.workload_changed(jobs.len(), Arc::new(new), now);
            jobs.push(JobView { is_suspended: true, ..JobView::default() });
        }
        settle(&mut manager, &mut jobs, now, check);
    }
    manager
}

/// Returns the limits that the usage of the leaves exceeds, computed without the tree's own sums.
fn exceeded(state: &Snapshot) -> Vec<String> {
    let mut found = Vec::new();
    for flavor in ["f0", "f1"] {
        let fr = FlavorResource { flavor: Name::from(flavor), resource: Name::from(TPU) };
        for (at, node) in state.tree.nodes.iter().enumerate() {
            let (used, quota) = brute_force(state, at, &fr);
            if used != node.usage(&fr) || quota != node.subtree_quota(&fr) {
                found.push(format!("{} {flavor}: {used:?} of {quota:?} but {node:?}", node.name));
            }
            let limit = if node.parent.is_some() { node.quota(&fr).borrowing_limit } else { Some(Amount::ZERO) };
            if limit.is_some_and(|limit| used > quota + limit) {
                found.push(format!("{} {flavor}: {used:?} > {quota:?} + {limit:?}", node.name));
            }
        }
    }
    found
}

/// Returns the usage and the quota of a node from the Workloads and the specified quotas.
fn brute_force(state: &Snapshot, at: usize, fr: &FlavorResource) -> (Amount, Amount) {
    let node = &state.tree.nodes[at];
    let mut quota = node.quota(fr).nominal;
    if let Some(queue) = state.queues.get(at) {
        let used = queue.workloads.values().filter_map(|info| info.usage().get(fr).copied());
        return (used.fold(Amount::ZERO, |sum, amount| sum + amount), quota);
    }
    let mut used = Amount::ZERO;
    let children = (0..state.tree.nodes.len()).filter(|child| state.tree.nodes[*child].parent == Some(at));
    for child in children {
        let (child_used, child_quota) = brute_force(state, child, fr);
        let lent = state.tree.nodes[child].quota(fr).lending_limit.map_or(child_quota, |limit| limit.min(child_quota));
        quota += lent;
        used += (child_used - (child_quota - lent)).max(Amount::ZERO);
    }
    (used, quota)
}

fn quota_shape() -> impl Strategy<Value = QuotaShape> {
    (0u8..6, proptest::option::weighted(0.4, 0u8..5), proptest::option::weighted(0.4, 0u8..5))
}

fn shape(is_fair: bool) -> impl Strategy<Value = Shape> {
    let quotas = || [quota_shape(), quota_shape()];
    let cohorts = prop::collection::vec((proptest::option::weighted(0.7, 0u8..4), quotas()), 0..4);
    let policies = [0u8..6, 0u8..6, 0u8..6];
    let queues =
        prop::collection::vec((proptest::option::weighted(0.8, 0u8..4), quotas(), policies, any::<bool>()), 1..4);
    let events = prop::collection::vec((0u8..4, 1u8..7, 0u8..4, proptest::option::weighted(0.25, 0u8..8)), 1..10);
    (cohorts, queues, events).prop_map(move |(cohorts, queues, events)| Shape { cohorts, queues, events, is_fair })
}

fn preemptor(is_fair: bool) -> Preemptor {
    let strategies = vec![FairSharingStrategy::LessThanOrEqualToFinalShare, FairSharingStrategy::LessThanInitialShare];
    Preemptor {
        fair_sharing: is_fair.then_some(strategies),
        has_admission_fair_sharing: false,
        timestamp: RequeuingTimestamp::Eviction,
        now: SimTime::ZERO + Duration::from_secs(1000),
    }
}

/// Returns all usage that is not zero.
fn used(state: &Snapshot) -> Vec<(String, Amount)> {
    let of_node = |node: &crate::quota::QuotaNode| {
        let used = node.usage.iter().filter(|(_, amount)| **amount != Amount::ZERO);
        used.map(|(fr, amount)| (format!("{} {}", node.name, fr.flavor), *amount)).collect::<Vec<_>>()
    };
    state.tree.nodes.iter().flat_map(of_node).collect()
}

/// Checks the targets of a preemption for a new Workload: they suffice, none of them can stay, the policies permit
/// them, and the snapshot is as before.
fn check_preemption(
    state: &Snapshot, queue: usize, units: u8, priority: u8, is_fair: bool,
) -> Result<(), TestCaseError> {
    let fr = FlavorResource { flavor: Name::from("f0"), resource: Name::from(TPU) };
    let new = Arc::new(workload(500, queue, units, priority));
    let info = Info::new(500, new, queue, &sim_api::spec::kueue::KueueResources::default());
    let amount = Amount(i64::from(units));
    if state.available(queue, &fr) >= amount {
        // Kueue does not look for targets.
        return Ok(());
    }
    let mut snapshot = state.clone();
    let targets = preemptor(is_fair).targets_for(&mut snapshot, &info, &fr, amount);
    prop_assert_eq!(used(&snapshot), used(state));
    let (possibility, _) = preemptor(is_fair).simulate(&mut snapshot, &info, &fr, amount);
    prop_assert_eq!(possibility == PreemptionPossibility::NoCandidates, targets.is_empty());
    if targets.is_empty() {
        return Ok(());
    }
    let policy = state.queues[queue].spec.preemption;
    for target in &targets {
        let lower = target.info.priority() < i32::from(priority);
        let permitted =
            match if target.info.queue == queue { policy.within_cluster_queue } else { policy.reclaim_within_cohort } {
                PreemptionPolicy::Never => false,
                PreemptionPolicy::Any => true,
                // The new Workload is the newest.
                PreemptionPolicy::LowerPriority | PreemptionPolicy::LowerOrNewerEqualPriority => lower,
            };
        prop_assert!(permitted, "{:?} must not be preempted", target.info.workload.name);
    }
    targets.iter().for_each(|target| snapshot.remove_workload(&target.info));
    prop_assert!(snapshot.available(queue, &fr) >= amount, "the targets do not suffice");
    if is_fair {
        return Ok(());
    }
    // Kueue searches with and without borrowing. The targets are minimal for the search that found them.
    let fits = |snapshot: &Snapshot, may_borrow: bool| {
        let node = snapshot.node(queue);
        let borrows = node.quota(&fr).nominal < node.usage(&fr) + amount;
        snapshot.available(queue, &fr) >= amount && (may_borrow || !borrows)
    };
    let is_minimal = |may_borrow: bool| {
        fits(&snapshot, may_borrow)
            && targets.iter().all(|target| {
                let mut kept = snapshot.clone();
                kept.add_workload(&target.info);
                !fits(&kept, may_borrow)
            })
    };
    prop_assert!(is_minimal(true) || is_minimal(false), "a target is preempted in vain");
    Ok(())
}

/// An adapter whose requests the test answers.
struct Client {
    driver: Driver,
    now: SimTime,
    sent: Vec<Patch>,
    timers: Vec<Timer>,
    ended: usize,
    rest: Rest,
    rests: usize,
}

impl Client {
    fn new(manager: Manager, pace: Pace, rest: Rest) -> Client {
        let driver = Driver::new(manager, pace);
        Client {
            driver,
            now: SimTime::ZERO + Duration::from_secs(1_000),
            sent: Vec::new(),
            timers: Vec::new(),
            ended: 0,
            rest,
            rests: 0,
        }
    }
}

impl Ports for Client {
    fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    fn now(&self) -> SimTime {
        self.now
    }

    fn send(&mut self, patch: Patch) -> Sent {
        self.sent.push(patch);
        Sent::Pending
    }
}

impl TimedPorts for Client {
    fn wake_after(&mut self, delay: Duration, timer: Timer) {
        self.now += delay;
        self.timers.push(timer);
    }

    fn delays_cycle(&self) -> bool {
        false
    }

    fn cycle_ended(&mut self, _summary: CycleSummary) {
        self.ended += 1;
    }
}

impl InstantPorts for Client {
    fn advance(&mut self, delay: Duration) {
        self.now += delay;
    }

    fn cycles_begin(&mut self) {}

    fn cycle_ended(&mut self, _summary: CycleSummary) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn rested(&mut self) -> Rest {
        self.rests += 1;
        self.rest
    }
}

/// Returns a queue with room for `number` Workloads of one unit, all of which are admitted.
fn full_queue(number: u8) -> Manager {
    let quotas = [(number, None, None), (0, None, None)];
    let events = (0..number).map(|_| (0, 1, 0, None)).collect();
    let shape = Shape { cohorts: Vec::new(), queues: vec![(None, quotas, [1, 0, 0], false)], events, is_fair: false };
    play(&shape, &|_| {})
}

#[test]
fn a_cycle_waits_for_its_preemptions_of_which_eight_are_in_flight_unless_all_are_sent_at_once() {
    const TARGETS: usize = 12;
    let stepwise = Pace::EntryByEntry { per_head: Duration::from_millis(10) };
    for (pace, sent_first) in [(stepwise, 8), (Pace::AtOnce, TARGETS + 1)] {
        let mut manager = full_queue(TARGETS as u8);
        manager.workload_changed(TARGETS, Arc::new(workload(TARGETS, 0, TARGETS as u8, 5)), SimTime::ZERO);
        let mut client = Client::new(manager, pace, Rest::Done);
        driver::schedule_cycle(&mut client);
        while client.sent.is_empty() {
            assert_eq!(client.timers.pop(), Some(Timer::Cycle), "{pace:?}");
            driver::cycle_due(&mut client);
        }
        assert_eq!(client.sent.len(), sent_first, "{pace:?}");
        for answered in 1..=TARGETS {
            driver::answered(&mut client);
            // The condition of the preemptor follows the last preemption.
            let in_flight = if answered == TARGETS { TARGETS + 1 } else { (sent_first + answered).min(TARGETS) };
            assert_eq!(client.sent.len(), in_flight.max(sent_first), "{pace:?} {answered}");
            driver::schedule_cycle(&mut client);
            assert!(client.timers.is_empty(), "{pace:?} {answered}");
        }
        driver::answered(&mut client);
        assert_eq!((client.ended, client.sent.last().map(|patch| patch.key)), (1, Some(TARGETS)), "{pace:?}");
    }
}

#[test]
fn queues_that_never_rest_are_reported() {
    for (rest, has_settled, rests) in [(Rest::Unchanged, true, 1), (Rest::Changed, false, driver::RESTS_MAX)] {
        let mut client = Client::new(full_queue(1), Pace::AtOnce, rest);
        client.driver.manager.take_wakes();
        assert_eq!((driver::settle(&mut client), client.rests), (has_settled, rests), "{rest:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(100, 300) as u32, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_quota_is_exceeded_anywhere_in_the_tree(shape in shape(false)) {
        let check = |manager: &Manager| {
            let found = exceeded(&manager.cache.state);
            assert!(found.is_empty(), "{found:?}");
        };
        play(&shape, &check);
    }

    #[test]
    fn no_quota_is_exceeded_under_fair_sharing(shape in shape(true)) {
        let check = |manager: &Manager| {
            let found = exceeded(&manager.cache.state);
            assert!(found.is_empty(), "{found:?}");
        };
        play(&shape, &check);
    }

    #[test]
    fn preemption_suffices_and_is_minimal(
        shape in shape(false), queue in 0usize..4, units in 1u8..8, priority in 0u8..6, is_fair in any::<bool>(),
    ) {
        let manager = play(&shape, &|_| {});
        check_preemption(&manager.cache.state, queue % shape.queues.len(), units, priority, is_fair)?;
    }

    #[test]
    fn heads_are_taken_by_priority_and_age(jobs in prop::collection::vec((1u8..4, 0u8..4), 1..12)) {
        let mut pending = crate::queue::PendingQueue::new(QueueingStrategy::StrictFifo, RequeuingTimestamp::Eviction);
        let resources = sim_api::spec::kueue::KueueResources::default();
        for (key, (units, priority)) in jobs.iter().enumerate() {
            let info = Info::new(key, Arc::new(workload(key, 0, *units, *priority)), 0, &resources);
            pending.push_or_update(info, SimTime::ZERO);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| pending.pop()).map(|head| head.info.key).collect();
        let mut expected: Vec<usize> = (0..jobs.len()).collect();
        expected.sort_by_key(|key| (std::cmp::Reverse(jobs[*key].1), *key));
        prop_assert_eq!(taken, expected);
    }
}
