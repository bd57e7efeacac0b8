//! The generator: one thread for each set of Workloads of each queue. A thread pauses, creates a Workload, and waits
//! for the response. The threads are goroutines (`concurrent` in `runner/generator/generator.go`), so those whose
//! pauses end at the same time continue in any order; here a hash of their names decides.

use super::clients::rate_limit;
use super::objects::{GeneratedQueue, pod_sets};
use super::world::{LoadEvent, LoadRequest, World};
use sim_api::spec::kueue::{KueueLoadTest, KueueObjects, LoadTemplate, LoadWorkloads};
use sim_base::random::StreamKey;
use sim_base::{Duration, SimTime};
use sim_engine::token_bucket::TokenBucket;
use sim_kueue::workload::{PodSet, Workload, WorkloadStatus};
use std::sync::Arc;

/// Unit of creation times.
const SECOND: u64 = 1_000_000_000;

struct GeneratorThread<'a> {
    queue: String,
    set: &'a LoadWorkloads,
    set_index: usize,
    pod_sets: Vec<Arc<[PodSet]>>,
    created: usize,
}

pub struct Generator<'a> {
    client: TokenBucket,
    threads: Vec<GeneratorThread<'a>>,
    /// Threads that are not done.
    pub active: usize,
    /// Templates of the created Workloads.
    pub templates: Vec<&'a LoadTemplate>,
}

impl<'a> Generator<'a> {
    pub fn new(test: &KueueLoadTest, objects: &KueueObjects, sets: &[GeneratedQueue<'a>]) -> Generator<'a> {
        let mut threads = Vec::new();
        for (queue, generated) in objects.cluster_queues.iter().zip(sets) {
            for (set_index, set) in generated.set.workloads.iter().enumerate() {
                let pod_sets = set.templates.iter().map(pod_sets).collect();
                threads.push(GeneratorThread { queue: queue.name.clone(), set, set_index, pod_sets, created: 0 });
            }
        }
        let active = threads.len();
        Generator { client: rate_limit(test.runner), threads, active, templates: Vec::new() }
    }
}

impl GeneratorThread<'_> {
    fn total(&self) -> usize {
        self.set.count as usize * self.set.templates.len()
    }
}

impl World<'_> {
    pub fn begin_generator(&mut self, begin: SimTime) {
        let threads = self.generator.threads.iter().enumerate();
        let key = |own: &GeneratorThread<'_>| StreamKey::from_text(&own.queue).part(own.set_index as u64);
        let mut threads: Vec<(StreamKey, usize)> = threads.map(|(thread, own)| (key(own), thread)).collect();
        threads.sort_by_key(|(key, thread)| (key.0, *thread));
        for (_, thread) in threads {
            self.continue_thread(thread, begin);
        }
    }

    fn continue_thread(&mut self, thread: usize, begin: SimTime) {
        let own = &self.generator.threads[thread];
        if own.created == own.total() {
            self.generator.active -= 1;
            return;
        }
        let at = begin + own.set.interval;
        self.schedule(at, LoadEvent::CreationDue { thread });
    }

    pub fn creation_due(&mut self, thread: usize) {
        let sent = self.generator.client.reserve(self.now);
        self.ask(sent, LoadRequest::Creation { thread });
    }

    /// Stores the Workload of a thread, and begins its next pause.
    pub fn created(&mut self, thread: usize) {
        let key = self.store.len();
        let own = &mut self.generator.threads[thread];
        let nth = own.created % own.set.templates.len();
        let template = &own.set.templates[nth];
        let round = own.created / own.set.templates.len();
        own.created += 1;
        let name = format!("{}-{}-{round}-{nth}", template.class, own.set_index);
        let workload = new_workload(&own.queue, name, key, template.priority, &own.pod_sets[nth], self.now);
        self.generator.templates.push(template);
        self.store.push(Arc::new(workload));
        self.notify(key);
        self.continue_thread(thread, self.now);
    }
}

fn new_workload(
    queue: &str, name: String, key: usize, priority: i32, pod_sets: &Arc<[PodSet]>, now: SimTime,
) -> Workload {
    Workload {
        namespace: queue.to_owned(),
        name,
        uid: format!("{key:08}"),
        job_uid: String::new(),
        queue: queue.to_owned(),
        priority,
        priority_class: None,
        created: SimTime::ZERO + Duration(now.0 / SECOND * SECOND),
        active: true,
        admission_gates: String::new(),
        max_execution_s: None,
        pod_sets: pod_sets.clone(),
        status: WorkloadStatus::default(),
    }
}
