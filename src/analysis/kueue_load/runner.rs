//! The test runner: completes evictions, and ends Workloads when they have been admitted for their runtime.

use super::clients::rate_limit;
use super::start::RUNNER_RECONCILES;
use super::world::{LoadClient, LoadEvent, PendingRequest, WorkloadChange, World};
use sim_api::spec::kueue::KueueLoadTest;
use sim_base::{Duration, SimTime};
use sim_engine::token_bucket::TokenBucket;
use sim_kueue::workload::{ConditionType, Workload, WorkloadKey};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Workers (`GroupKindConcurrency` of the runner).
const WORKERS: usize = 5;
/// Interval of the regular look at the end.
const END_CHECK: Duration = Duration::from_secs(5);

pub struct Runner {
    client: TokenBucket,
    /// Newest observed states of admitted Workloads, and since when they are admitted.
    admitted: BTreeMap<WorkloadKey, (Arc<Workload>, SimTime)>,
    queue: VecDeque<WorkloadKey>,
    queued: BTreeSet<WorkloadKey>,
    busy: BTreeSet<WorkloadKey>,
}

impl Runner {
    pub fn new(test: &KueueLoadTest) -> Runner {
        Runner {
            client: rate_limit(test.runner),
            admitted: BTreeMap::new(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            busy: BTreeSet::new(),
        }
    }
}

impl World<'_> {
    pub fn runner_observes(&mut self, key: WorkloadKey, workload: &Arc<Workload>) {
        self.recorder.workload_observed(key, workload, self.generator.templates[key], self.now);
        if !workload.is_admitted() || workload.is_finished() {
            self.runner.admitted.remove(&key);
            return;
        }
        let since = self.runner.admitted.get(&key).map_or(self.now, |(_, since)| *since);
        self.runner.admitted.insert(key, (workload.clone(), since));
        self.runner_due(key);
    }

    pub fn runner_due(&mut self, key: WorkloadKey) {
        if self.runner.queued.insert(key) && !self.runner.busy.contains(&key) {
            self.runner.queue.push_back(key);
        }
        self.run_runner_workers();
    }

    pub fn run_runner_workers(&mut self) {
        if self.now < RUNNER_RECONCILES {
            return;
        }
        while self.runner.busy.len() < WORKERS {
            let Some(key) = self.runner.queue.pop_front() else { return };
            self.runner.queued.remove(&key);
            let Some((workload, since)) = self.runner.admitted.get(&key).cloned() else { continue };
            let mut new = (*workload).clone();
            if workload.is_evicted() {
                new.unset_reservation("Pending", "Evicted by the test runner", self.now);
            } else {
                let end = since + self.generator.templates[key].runtime;
                if end > self.now {
                    self.schedule(end, LoadEvent::RunnerDue { key });
                    continue;
                }
                new.status.set(ConditionType::Finished, true, "ByTest", "By test runner", self.now);
            }
            self.runner.busy.insert(key);
            let sent = self.runner.client.reserve(self.now);
            let change = WorkloadChange::Update { new: Arc::new(new), based_on: workload };
            self.send_request(sent, PendingRequest { client: LoadClient::Runner, key, change, decided: self.now });
        }
    }

    pub fn runner_answered(&mut self, key: WorkloadKey, is_stored: bool) {
        self.runner.busy.remove(&key);
        if self.runner.queued.contains(&key) {
            self.runner.queue.push_back(key);
        } else if !is_stored {
            self.runner_due(key);
        }
        self.run_runner_workers();
    }

    pub fn begin_end_checks(&mut self) {
        let at = self.after(END_CHECK);
        self.schedule(at, LoadEvent::EndCheck);
    }

    pub fn end_check(&mut self) {
        self.check_end();
        self.begin_end_checks();
    }

    /// Ends the test when all Workloads are created and no queue has any.
    pub fn check_end(&mut self) {
        self.is_over = self.generator.active == 0 && !self.recorder.expects_more();
    }
}
