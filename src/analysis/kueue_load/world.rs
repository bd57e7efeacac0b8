//! The event loop: the API server, its watches, and the programs that use it.

use super::clients::{ApiServer, rate_limit};
use super::events::EventRecorder;
use super::generator::Generator;
use super::objects::{nodes, objects};
use super::queues::{QUEUE_KINDS, QueueKind, QueueReconciler};
use super::recorder::Recorder;
use super::runner::Runner;
use super::scheduler::WorkloadReconciler;
use super::start::{KUEUE_OBSERVES, KUEUE_RECONCILES, REQUESTS_PER_NODE, RUNNER_OBSERVES, RUNNER_RECONCILES};
use sim_api::spec::kueue::{KueueLoadTest, LoadRequestTimes};
use sim_base::{Duration, SimTime};
use sim_engine::token_bucket::TokenBucket;
use sim_kueue::control::{Manager, Patch};
use sim_kueue::driver::{self, Driver, Pace, Timer};
use sim_kueue::topology::TopologySnapshot;
use sim_kueue::workload::{Workload, WorkloadKey};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

/// What happens next. Events at one time happen in the order in which they were scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadEvent {
    /// A thread of the generator begins a request.
    CreationDue {
        thread: usize,
    },
    /// A request arrives at the API server, and is answered.
    Arrived {
        request: LoadRequest,
    },
    Answered {
        request: LoadRequest,
    },
    /// A watch delivers the oldest change that is under way.
    KueueObserves,
    RunnerObserves,
    /// A timer of Kueue's driver.
    Due(Timer),
    /// A reconciler looks at a queue; the watches deliver the status.
    QueueDue {
        kind: QueueKind,
        queue: usize,
    },
    QueueObserved {
        kind: QueueKind,
    },
    /// Kueue and the runner observe the new ClusterQueues.
    QueuesObserved,
    QueuesRecorded,
    /// The reconcilers of Kueue or of the runner begin to work.
    ReconcilersBegin,
    /// The runner looks at a Workload again.
    RunnerDue {
        key: WorkloadKey,
    },
    /// The runner's regular look at the end of the test.
    EndCheck,
}

/// A request to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadRequest {
    /// A thread of the generator creates a Workload.
    Creation { thread: usize },
    /// A change of a Workload, by its number.
    Change { id: usize },
    /// The status of a queue.
    Status { kind: QueueKind, queue: usize },
    /// An Event, for which nothing waits.
    Event,
}

impl LoadRequest {
    fn time(self, times: &LoadRequestTimes) -> Duration {
        match self {
            LoadRequest::Creation { .. } => times.creation,
            LoadRequest::Change { .. } => times.workload,
            LoadRequest::Status { kind: QueueKind::Cluster, .. } => times.cluster_queue,
            LoadRequest::Status { kind: QueueKind::Local, .. } => times.local_queue,
            LoadRequest::Event => times.event,
        }
    }
}

/// Who waits for the response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadClient {
    /// An admission, for which nothing waits.
    Admission,
    Scheduler,
    WorkloadReconciler,
    Runner,
}

pub struct PendingRequest {
    pub client: LoadClient,
    pub key: WorkloadKey,
    pub change: WorkloadChange,
    /// Time from which conditions are true.
    pub decided: SimTime,
}

#[derive(Clone)]
pub enum WorkloadChange {
    Patch(Patch),
    /// A new state and the state on which it is based.
    Update {
        new: Arc<Workload>,
        based_on: Arc<Workload>,
    },
}

pub struct World<'a> {
    pub test: &'a KueueLoadTest,
    pub now: SimTime,
    events: BinaryHeap<Reverse<(SimTime, u64, LoadEvent)>>,
    sequence: u64,
    pub driver: Driver,
    /// Workloads in the API server.
    pub store: Vec<Arc<Workload>>,
    server: ApiServer,
    requests: BTreeMap<usize, PendingRequest>,
    next_request: usize,
    /// Rate limit of Kueue's client for Workloads.
    pub workload_client: TokenBucket,
    pub event_recorder: EventRecorder,
    /// Changes under way to Kueue and to the runner.
    to_kueue: VecDeque<(WorkloadKey, Arc<Workload>)>,
    to_runner: VecDeque<(WorkloadKey, Arc<Workload>)>,
    pub generator: Generator<'a>,
    pub workloads: WorkloadReconciler,
    pub cluster_queues: QueueReconciler,
    pub local_queues: QueueReconciler,
    pub runner: Runner,
    pub recorder: Recorder,
    pub is_over: bool,
}

impl<'a> World<'a> {
    pub fn new(test: &'a KueueLoadTest) -> World<'a> {
        let (objects, sets) = objects(test);
        let topology = TopologySnapshot::new(&objects, &nodes(test));
        let namespace = |name: &str| (name.to_owned(), BTreeMap::new());
        let namespaces = objects.local_queues.iter().map(|queue| namespace(&queue.namespace)).collect();
        let mut manager = Manager::new(&objects, topology, namespaces);
        manager.varies_order = true;
        let generator = Generator::new(test, &objects, &sets);
        let recorder = Recorder::new(&objects, &sets);
        World {
            test,
            now: SimTime::ZERO,
            events: BinaryHeap::new(),
            sequence: 0,
            driver: Driver::new(manager, Pace::EntryByEntry { per_head: test.manager.cycle_per_head }),
            store: Vec::new(),
            server: ApiServer::new(test.manager.at_once),
            requests: BTreeMap::new(),
            next_request: 0,
            workload_client: rate_limit(test.manager.client),
            event_recorder: EventRecorder::new(test),
            to_kueue: VecDeque::new(),
            to_runner: VecDeque::new(),
            generator,
            workloads: WorkloadReconciler::default(),
            cluster_queues: QueueReconciler::new(test, objects.cluster_queues.len()),
            local_queues: QueueReconciler::new(test, objects.cluster_queues.len()),
            runner: Runner::new(test),
            recorder,
            is_over: false,
        }
    }

    /// Runs the test to its end.
    pub fn run(&mut self) {
        self.begin();
        while !self.is_over {
            let Some(Reverse((at, _, event))) = self.events.pop() else { break };
            self.now = at;
            self.handle(event);
        }
    }
}

impl World<'_> {
    /// Sends a request, which waits for the requests that arrived before.
    pub fn ask(&mut self, sent: SimTime, request: LoadRequest) {
        self.schedule(sent, LoadEvent::Arrived { request });
    }

    pub fn schedule(&mut self, at: SimTime, event: LoadEvent) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    /// The generator creates the nodes one after the other, the Topology and the flavor. Then it creates each
    /// ClusterQueue, its namespace and its LocalQueue, all queues simultaneously.
    fn begin(&mut self) {
        let nodes = self.test.topology.as_ref().map_or(0, |topology| REQUESTS_PER_NODE * topology.nodes() + 1);
        let requests = |number: u64| self.test.manager.requests.other.saturating_mul(number);
        let created = self.now + requests(nodes + 2);
        let observed = created + self.test.manager.watch;
        self.schedule(observed.max(KUEUE_OBSERVES), LoadEvent::QueuesObserved);
        self.schedule(observed.max(RUNNER_OBSERVES), LoadEvent::QueuesRecorded);
        self.schedule(RUNNER_RECONCILES, LoadEvent::ReconcilersBegin);
        self.schedule(KUEUE_RECONCILES, LoadEvent::ReconcilersBegin);
        self.begin_generator(created + requests(2));
        self.begin_end_checks();
    }

    /// Kueue tries the inadmissible Workloads of a new queue's tree again, which begins the first batch.
    fn queues_observed(&mut self) {
        self.begin_queues();
        self.driver.manager.request_wake_of_all();
        self.queues_changed();
    }

    fn handle(&mut self, event: LoadEvent) {
        match event {
            LoadEvent::CreationDue { thread } => self.creation_due(thread),
            LoadEvent::Arrived { request } => {
                let times = &self.test.manager.requests;
                let answered = self.server.handle(self.now, request.time(times));
                self.schedule(answered, LoadEvent::Answered { request });
            }
            LoadEvent::Answered { request: LoadRequest::Creation { thread } } => self.created(thread),
            LoadEvent::Answered { request: LoadRequest::Change { id } } => self.answered(id),
            LoadEvent::Answered { request: LoadRequest::Status { kind, queue } } => self.queue_answered(kind, queue),
            LoadEvent::Answered { request: LoadRequest::Event } => {}
            LoadEvent::KueueObserves => self.kueue_observes(),
            LoadEvent::RunnerObserves => {
                if let Some((key, workload)) = self.to_runner.pop_front() {
                    self.runner_observes(key, &workload);
                }
            }
            LoadEvent::Due(Timer::Retry { root }) => {
                driver::retry_due(self, root);
                self.queues_changed();
            }
            LoadEvent::Due(Timer::Cycle) => driver::cycle_due(self),
            LoadEvent::QueueDue { kind, queue } => self.queue_due(kind, queue),
            LoadEvent::QueueObserved { kind } => self.queue_observed(kind),
            LoadEvent::QueuesObserved => self.queues_observed(),
            LoadEvent::QueuesRecorded => self.record_queues(),
            LoadEvent::ReconcilersBegin => {
                self.run_runner_workers();
                self.run_workers();
                QUEUE_KINDS.into_iter().for_each(|kind| self.run_queue_worker(kind));
            }
            LoadEvent::RunnerDue { key } => self.runner_due(key),
            LoadEvent::EndCheck => self.end_check(),
        }
    }

    /// Sends a request about a Workload when the client has a token.
    pub fn send_request(&mut self, sent: SimTime, request: PendingRequest) {
        let id = self.next_request;
        self.next_request += 1;
        self.requests.insert(id, request);
        self.ask(sent, LoadRequest::Change { id });
    }

    fn answered(&mut self, id: usize) {
        let Some(request) = self.requests.remove(&id) else { return };
        let stored = &self.store[request.key];
        let new = match &request.change {
            WorkloadChange::Patch(_) if stored.is_finished() => None,
            WorkloadChange::Patch(patch) => patch.apply(stored, request.decided).map(Arc::new),
            // A conflict: the state is no longer that on which the change is based.
            WorkloadChange::Update { new, based_on } => (**based_on == **stored).then(|| new.clone()),
        };
        let is_stored = new.is_some();
        if let Some(new) = new {
            self.set_workload(request.key, new);
        }
        let is_admission = request.client == LoadClient::Admission;
        if let WorkloadChange::Patch(patch) = &request.change
            && (is_stored || !is_admission)
        {
            self.record_events(patch);
        }
        match request.client {
            LoadClient::Admission => {}
            LoadClient::Scheduler => driver::answered(self),
            LoadClient::WorkloadReconciler => self.reconciler_answered(request.key, is_stored),
            LoadClient::Runner => self.runner_answered(request.key, is_stored),
        }
    }

    pub fn set_workload(&mut self, key: WorkloadKey, new: Arc<Workload>) {
        self.store[key] = new;
        self.notify(key);
    }

    /// Notifies the watches of Kueue and of the runner of a change.
    pub fn notify(&mut self, key: WorkloadKey) {
        let at = self.now + self.test.manager.watch;
        self.to_kueue.push_back((key, self.store[key].clone()));
        self.to_runner.push_back((key, self.store[key].clone()));
        self.schedule(at.max(KUEUE_OBSERVES), LoadEvent::KueueObserves);
        self.schedule(at.max(RUNNER_OBSERVES), LoadEvent::RunnerObserves);
    }

    fn kueue_observes(&mut self) {
        let Some((key, new)) = self.to_kueue.pop_front() else { return };
        let queue = self.driver.manager.queue_of(&new);
        self.driver.observe(key, Some(new), self.now);
        self.reconcile_workload(key);
        queue.into_iter().for_each(|queue| self.queue_changed(queue));
        self.queues_changed();
    }

    /// Schedules the retries that changes request, and the next cycle.
    pub fn queues_changed(&mut self) {
        driver::schedule_retries(self);
        driver::schedule_cycle(self);
    }

    pub fn after(&self, pause: Duration) -> SimTime {
        self.now + pause
    }
}
