//! The summary of a test, as the runner writes it.

use super::world::World;
use serde::Serialize;
use sim_api::spec::kueue::KueueLoadTest;
use std::collections::BTreeMap;

/// Times and usage of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadOutcome {
    /// Time from the start of the manager to the end of the test.
    pub wall_s: f64,
    pub cycles: u64,
    pub queue_classes: BTreeMap<String, QueueClassOutcome>,
    pub workload_classes: BTreeMap<String, WorkloadClassOutcome>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueClassOutcome {
    pub queues: u32,
    /// Share of the nominal quota that was in use, in percent, from the statuses of the ClusterQueues.
    pub usage_percent: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkloadClassOutcome {
    pub count: u32,
    pub evictions: u32,
    /// Mean time from the creation to the admission in the conditions of the Workload.
    pub mean_time_to_admission_s: f64,
    /// The same, as a watch shows it: the admission counts when it is stored. Kueue's published values of 2026 are
    /// measured in this way.
    pub mean_time_to_observed_admission_s: f64,
    pub mean_time_to_finish_s: f64,
}

/// Runs the test to its end.
pub fn run_load_test(test: &KueueLoadTest) -> LoadOutcome {
    let mut world = World::new(test);
    world.run();
    world.outcome()
}

/// Sums over the queues of a class.
#[derive(Default)]
struct QueueSums {
    queues: u32,
    nominal: i64,
    used: i64,
    first: u64,
    last: u64,
}

impl World<'_> {
    fn outcome(&self) -> LoadOutcome {
        let mut sums: BTreeMap<&str, QueueSums> = BTreeMap::new();
        for queue in self.recorder.queues.iter().flatten() {
            let sum = sums.entry(&queue.class).or_insert(QueueSums { first: u64::MAX, ..QueueSums::default() });
            sum.queues += 1;
            sum.nominal += queue.nominal;
            sum.used += queue.used;
            sum.first = sum.first.min(queue.first.0);
            sum.last = sum.last.max(queue.last.0);
        }
        let class = |(name, sum): (&str, QueueSums)| {
            let elapsed_ms = sum.last.saturating_sub(sum.first) / 1_000_000;
            let capacity = sum.nominal as f64 * elapsed_ms as f64;
            let usage_percent = if capacity > 0.0 { sum.used as f64 * 100.0 / capacity } else { 0.0 };
            (name.to_owned(), QueueClassOutcome { queues: sum.queues, usage_percent })
        };
        LoadOutcome {
            wall_s: self.now.0 as f64 / 1e9,
            cycles: self.driver.cycles(),
            queue_classes: sums.into_iter().map(class).collect(),
            workload_classes: self.workload_classes(),
        }
    }

    fn workload_classes(&self) -> BTreeMap<String, WorkloadClassOutcome> {
        let mut classes: BTreeMap<String, WorkloadClassOutcome> = BTreeMap::new();
        for workload in &self.recorder.workloads {
            let class = classes.entry(workload.class.clone()).or_default();
            class.count += 1;
            class.evictions += workload.evictions;
            class.mean_time_to_admission_s += workload.admitted_ms as f64 / 1000.0;
            class.mean_time_to_observed_admission_s += workload.seen_admitted_ms as f64 / 1000.0;
            class.mean_time_to_finish_s += workload.finished_ms as f64 / 1000.0;
        }
        for class in classes.values_mut() {
            class.mean_time_to_admission_s /= f64::from(class.count.max(1));
            class.mean_time_to_observed_admission_s /= f64::from(class.count.max(1));
            class.mean_time_to_finish_s /= f64::from(class.count.max(1));
        }
        classes
    }
}
