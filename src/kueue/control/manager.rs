//! The queues and the cache, and how they follow the changes of Workloads and ClusterQueues.

use super::cache::Cache;
use super::local_usage::LocalUsage;
use super::patch::{Patch, PatchKind};
use super::second_pass::SecondPasses;
use super::workload::QueueView;
use crate::control::checks;
use crate::cycle::{AdmissibilityError, CycleConfig, CycleResult, Entry, Outcome, run};
use crate::preemption::Preemptor;
use crate::queue::{Head, PendingQueue};
use crate::quota::NodeId;
use crate::topology::TopologySnapshot;
use crate::workload::info::{QueueIndex, resources_error};
use crate::workload::{Admission, Info, Workload, WorkloadKey};
use sim_api::spec::kueue::{ClusterQueue, KueueConfiguration, KueueObjects, LocalQueue, StopPolicy};
use sim_base::random::StreamKey;
use sim_base::{Duration, SimTime};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Delay after which inadmissible Workloads are tried again when quota became free.
pub const REQUEUE_DELAY: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Manager {
    pub configuration: KueueConfiguration,
    pub cache: Cache,
    pub pending: Vec<PendingQueue>,
    pub(super) local_queues: Vec<LocalQueue>,
    /// Indices of the ClusterQueues by name, and of the LocalQueues by namespace and name.
    queue_index: BTreeMap<String, QueueIndex>,
    pub(super) local_index: LocalQueueNames,
    /// Labels of namespaces.
    namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Newest state of each Workload.
    workloads: BTreeMap<WorkloadKey, Arc<Workload>>,
    /// ClusterQueue in which a Workload last waited.
    waiting: BTreeMap<WorkloadKey, QueueIndex>,
    /// ClusterQueues with active Workloads.
    pub(super) with_active: BTreeSet<QueueIndex>,
    /// ClusterQueues with Workloads that were put aside without an attempt.
    with_bypassed: BTreeSet<QueueIndex>,
    /// Number of scheduling cycles so far.
    cycle: u64,
    /// Roots of the trees whose inadmissible Workloads are to be tried again.
    wakes: BTreeSet<NodeId>,
    second_passes: SecondPasses,
    /// Numbers of the second passes in the current cycle.
    passes_in_cycle: BTreeMap<WorkloadKey, u32>,
    /// Whether each cycle takes the heads of the ClusterQueues in another order. Kueue iterates over a map (`heads` in
    /// `pkg/cache/queue/manager.go`), so which of two equal heads is first changes from cycle to cycle.
    pub varies_order: bool,
    /// Past usage of the LocalQueues under admission fair sharing.
    pub(super) local_usage: Option<LocalUsage>,
}

/// Indices of LocalQueues by namespace and name.
type LocalQueueNames = BTreeMap<String, BTreeMap<String, usize>>;

/// Returns the index of the LocalQueue of a Workload.
pub(super) fn find_local_queue(names: &LocalQueueNames, workload: &Workload) -> Option<usize> {
    names.get(&workload.namespace)?.get(&workload.queue).copied()
}

impl Manager {
    pub fn new(
        objects: &KueueObjects, topology: TopologySnapshot, namespaces: BTreeMap<String, BTreeMap<String, String>>,
    ) -> Manager {
        let readiness = objects.configuration.wait_for_pods_ready.as_ref();
        let timestamp = readiness.map(|config| config.requeuing.timestamp).unwrap_or_default();
        let queue = |queue: &ClusterQueue| {
            let mut pending = PendingQueue::new(queue.queueing_strategy, timestamp);
            pending.behavior = objects.configuration.behavior;
            pending
        };
        let mut local_index = LocalQueueNames::new();
        for (index, local) in objects.local_queues.iter().enumerate() {
            local_index.entry(local.namespace.clone()).or_default().entry(local.name.clone()).or_insert(index);
        }
        let mut queue_index = BTreeMap::new();
        for (index, queue) in objects.cluster_queues.iter().enumerate() {
            queue_index.entry(queue.name.clone()).or_insert(index);
        }
        Manager {
            configuration: objects.configuration.clone(),
            cache: Cache::new(objects, topology),
            pending: objects.cluster_queues.iter().map(queue).collect(),
            local_queues: objects.local_queues.clone(),
            queue_index,
            local_index,
            namespaces,
            workloads: BTreeMap::new(),
            waiting: BTreeMap::new(),
            with_active: BTreeSet::new(),
            with_bypassed: BTreeSet::new(),
            cycle: 0,
            wakes: BTreeSet::new(),
            second_passes: SecondPasses::default(),
            passes_in_cycle: BTreeMap::new(),
            varies_order: false,
            local_usage: LocalUsage::new(objects),
        }
    }

    /// Returns the newest state of a Workload.
    pub fn workload(&self, key: WorkloadKey) -> Option<&Arc<Workload>> {
        self.workloads.get(&key)
    }

    fn local_queue(&self, workload: &Workload) -> Option<&LocalQueue> {
        Some(&self.local_queues[find_local_queue(&self.local_index, workload)?])
    }

    pub(super) fn find_queue(&self, name: &str) -> Option<QueueIndex> {
        self.queue_index.get(name).copied()
    }

    /// Returns the ClusterQueue in which a Workload waits or has its reservation.
    pub fn queue_of(&self, workload: &Workload) -> Option<QueueIndex> {
        let reserved = workload.status.admission.as_ref().map(|admission| admission.cluster_queue.clone());
        let local = || Some(self.local_queue(workload)?.cluster_queue.as_str().into());
        self.find_queue(&reserved.or_else(local)?)
    }

    /// Returns what the reconciler of Workloads sees of the queues.
    pub fn view(&self, key: WorkloadKey, workload: &Workload) -> QueueView<'_> {
        let local = self.local_queue(workload);
        let cluster_queue = local.map_or("", |lq| &*lq.cluster_queue);
        let index = self.find_queue(cluster_queue);
        let queue = index.map(|index| &self.cache.state.queues[index]);
        QueueView {
            local: local.map(|lq| lq.stop_policy),
            cluster_queue,
            queue: queue.map(|queue| (&*queue.spec, queue.is_active)),
            inadmissible: queue
                .and_then(|queue| Some(admissibility_error(&self.namespaces, workload, &queue.spec)?.to_string())),
            bypass_reason: index.and_then(|index| self.pending[index].bypass_reason(key)),
        }
    }

    fn info(&self, key: WorkloadKey, workload: &Arc<Workload>) -> Option<Info> {
        let queue = self.queue_of(workload)?;
        let mut info = Info::new(key, workload.clone(), queue, &self.configuration.resources);
        info.local_queue_usage = self.local_queue_usage(queue, workload);
        Some(info)
    }

    /// Adds a Workload to the queue of its LocalQueue, if it may wait there.
    fn enqueue(&mut self, key: WorkloadKey, workload: &Arc<Workload>, now: SimTime) {
        let is_running = self.local_queue(workload).is_some_and(|lq| lq.stop_policy == StopPolicy::None);
        if !workload.is_admissible() || !is_running {
            return;
        }
        let info = self.info(key, workload);
        if info.is_none() {
            // Its queue has changed to one that does not exist.
            self.dequeue(key);
        }
        if let Some(info) = info {
            let queue = info.queue;
            if self.waiting.insert(key, queue).is_some_and(|old| old != queue) {
                self.dequeue(key);
                self.waiting.insert(key, queue);
            }
            self.pending[queue].push_or_update(info, now);
            self.pending_changed(queue);
        }
    }

    fn dequeue(&mut self, key: WorkloadKey) {
        if let Some(queue) = self.waiting.remove(&key) {
            self.pending[queue].remove(key);
            self.pending_changed(queue);
        }
    }

    fn pending_changed(&mut self, queue: QueueIndex) {
        if self.pending[queue].has_active() {
            self.with_active.insert(queue);
        } else {
            self.with_active.remove(&queue);
        }
        if self.pending[queue].has_bypassed() {
            self.with_bypassed.insert(queue);
        }
    }

    /// Requests that the Workloads in the tree of the Workload's LocalQueue are tried again.
    fn request_wake(&mut self, workload: &Workload) {
        let local = self.local_queue(workload).map(|lq| lq.cluster_queue.clone());
        if let Some(queue) = local.and_then(|name| self.find_queue(&name)) {
            self.wakes.insert(self.cache.state.tree.root(queue));
        }
    }

    /// Requests that all Workloads are tried again, as a change of the nodes of any topology does.
    pub fn request_wake_of_all(&mut self) {
        let tree = &self.cache.state.tree;
        self.wakes.extend((0..self.cache.state.queues.len()).map(|index| tree.root(index)));
    }

    fn cache_workload(&mut self, key: WorkloadKey, workload: &Arc<Workload>) {
        match self.info(key, workload).filter(|_| workload.status.admission.is_some()) {
            Some(info) => self.cache.add_or_update(info),
            None => drop(self.cache.remove(key)),
        }
    }

    /// Follows the creation or a change of a Workload.
    pub fn workload_changed(&mut self, key: WorkloadKey, new: Arc<Workload>, now: SimTime) {
        self.sample_usage(now);
        let old = self.workloads.insert(key, new.clone());
        let had_reservation = old.as_ref().is_some_and(|old| old.has_reservation() || old.is_admitted());
        if new.is_finished() || !new.active {
            self.dequeue(key);
            self.request_wake(&new);
            self.cache.remove(key);
        } else if new.has_reservation() || new.is_admitted() {
            if !had_reservation {
                self.dequeue(key);
            }
            let frees_quota = old
                .as_ref()
                .is_some_and(|old| old.status.reclaimable != new.status.reclaimable || old.priority != new.priority);
            if frees_quota {
                self.request_wake(&new);
            }
            self.cache_workload(key, &new);
        } else if had_reservation {
            self.request_wake(&new);
            self.cache.remove(key);
            self.second_passes.forget(key);
            if new.status.requeue.and_then(|requeue| requeue.at).is_none_or(|at| at <= now) {
                self.enqueue(key, &new, now);
            }
        } else {
            self.enqueue(key, &new, now);
        }
        self.settle_penalty(key, old.as_deref(), &new, now);
        self.second_passes.request(key, &new, 0);
    }

    /// Takes the Workloads whose second pass is delayed from now on, each with its delay.
    pub fn take_second_passes(&mut self) -> Vec<(WorkloadKey, Duration)> {
        self.second_passes.take_timers()
    }

    /// The delay of a second pass has ended.
    pub fn second_pass_due(&mut self, key: WorkloadKey) {
        let is_needed = self.workloads.get(&key).is_some_and(|workload| workload.needs_second_pass());
        self.second_passes.delay_ended(key, is_needed);
    }

    /// Follows the deletion of a Workload.
    pub fn workload_deleted(&mut self, key: WorkloadKey, now: SimTime) {
        self.sample_usage(now);
        if let Some(old) = self.workloads.remove(&key) {
            self.request_wake(&old);
            self.cache.remove(key);
            self.dequeue(key);
            self.second_passes.forget(key);
            self.drop_penalty(key, &old);
        }
    }

    /// Follows an admission that the API server did not store.
    pub fn admission_failed(&mut self, key: WorkloadKey) {
        self.cache.remove(key);
        if let Some(workload) = self.workloads.get(&key).cloned() {
            self.drop_penalty(key, &workload);
        }
    }

    /// Follows a change of a ClusterQueue.
    pub fn queue_changed(&mut self, spec: ClusterQueue) {
        let Some(index) = self.find_queue(&spec.name) else {
            return;
        };
        if *self.cache.state.queues[index].spec == spec {
            return;
        }
        self.pending[index].strategy = spec.queueing_strategy;
        self.cache.update_queue(index, spec);
        self.wakes.insert(self.cache.state.tree.root(index));
    }

    /// Follows a change of Namespaces: the Workloads of ClusterQueues that select another one now are tried again
    /// (`cqNamespaceHandler`, `pkg/controller/core/clusterqueue_controller.go`).
    pub fn namespaces_changed(&mut self, namespaces: NamespaceLabels) {
        let before = std::mem::replace(&mut self.namespaces, namespaces);
        for (index, queue) in self.cache.state.queues.iter().enumerate() {
            let selects = |labels: &NamespaceLabels, name: &str| !is_mismatch(labels, name, &queue.spec);
            let mut names = self.namespaces.keys();
            if names.any(|name| selects(&self.namespaces, name) && !selects(&before, name)) {
                self.wakes.insert(self.cache.state.tree.root(index));
            }
        }
    }

    /// Follows a change of a LocalQueue's stop policy.
    pub fn local_queue_changed(&mut self, changed: LocalQueue, now: SimTime) {
        let is_same = |lq: &&mut LocalQueue| lq.namespace == changed.namespace && lq.name == changed.name;
        let Some(own) = self.local_queues.iter_mut().find(is_same) else {
            return;
        };
        *own = changed.clone();
        let of_queue =
            |(_, w): &(&WorkloadKey, &Arc<Workload>)| w.namespace == changed.namespace && w.queue == changed.name;
        let members: Vec<(WorkloadKey, Arc<Workload>)> =
            self.workloads.iter().filter(of_queue).map(|(key, w)| (*key, w.clone())).collect();
        for (key, workload) in members {
            if changed.stop_policy == StopPolicy::None {
                self.enqueue(key, &workload, now);
            } else {
                self.dequeue(key);
            }
        }
    }

    /// Takes the trees that are to be tried again after `REQUEUE_DELAY`.
    pub fn take_wakes(&mut self) -> BTreeSet<NodeId> {
        std::mem::take(&mut self.wakes)
    }

    /// Makes the inadmissible Workloads of a tree active.
    pub fn wake(&mut self, root: NodeId, now: SimTime) {
        let is_queue = root < self.pending.len();
        let queues = if is_queue { vec![root] } else { self.cache.state.tree.queues_below(root) };
        for index in queues {
            let spec = &self.cache.state.queues[index].spec;
            self.pending[index].wake(now, |info| !is_mismatch(&self.namespaces, &info.workload.namespace, spec));
            self.pending_changed(index);
        }
    }

    /// Returns whether a cycle has anything to do.
    pub fn has_heads(&self) -> bool {
        let mut queues = self.with_active.iter().map(|index| &self.cache.state.queues[*index]);
        self.second_passes.has_ready() || queues.any(|queue| queue.is_active)
    }

    /// Returns the number of Workloads that wait for a cycle.
    pub fn active_len(&self) -> usize {
        self.with_active.iter().map(|index| self.pending[*index].active_len()).sum()
    }

    /// Returns the head of a StrictFIFO ClusterQueue behind which a Workload waits.
    pub fn waits_behind(&self, key: WorkloadKey) -> Option<WorkloadKey> {
        let queue = *self.waiting.get(&key)?;
        self.pending[queue].head_before(key)
    }

    /// Takes the Workloads for a cycle.
    fn take_heads(&mut self) -> Vec<Head> {
        self.passes_in_cycle = self.second_passes.take_ready();
        let second = self.passes_in_cycle.keys().filter_map(|key| {
            let info = self.info(*key, self.workloads.get(key)?)?;
            Some(Head { info, is_preemptor: false })
        });
        let mut heads: Vec<Head> = second.collect();
        let queues = self.with_active.iter().copied().filter(|index| self.cache.state.queues[*index].is_active);
        let mut queues: Vec<QueueIndex> = queues.collect();
        if self.varies_order {
            let cycle = StreamKey::from_text("order of the ClusterQueues").part(self.cycle);
            queues.sort_by_key(|index| cycle.part(*index as u64).0);
        }
        for index in queues {
            heads.extend(self.pending[index].pop());
            self.pending_changed(index);
        }
        heads
    }

    /// Returns whether Workloads that are not ready keep all others from admission.
    fn blocks_admission(&self) -> bool {
        let readiness = self.configuration.wait_for_pods_ready.as_ref();
        readiness.is_some_and(|config| config.block_admission) && !self.cache.all_ready()
    }

    fn cycle_config<'a>(
        configuration: &'a KueueConfiguration, cycle: u64, blocks_admission: bool,
        validate: &'a dyn Fn(&Info, &ClusterQueue) -> Option<AdmissibilityError>, now: SimTime,
    ) -> CycleConfig<'a> {
        let readiness = configuration.wait_for_pods_ready.as_ref();
        CycleConfig {
            cycle,
            preemptor: Preemptor {
                fair_sharing: configuration.fair_sharing.clone(),
                has_admission_fair_sharing: configuration.admission_fair_sharing.is_some(),
                timestamp: readiness.map(|config| config.requeuing.timestamp).unwrap_or_default(),
                now,
            },
            ignores_undeclared: configuration.resources.ignore_undeclared,
            behavior: configuration.behavior,
            blocks_admission,
            validate,
        }
    }

    /// Returns the result of a cycle in which a pending Workload is the only head. Nothing changes.
    pub fn nominate_alone(&self, key: WorkloadKey, now: SimTime) -> Option<Entry> {
        let info = self.info(key, self.workloads.get(&key)?)?;
        let validate = |info: &Info, queue: &ClusterQueue| admissibility_error(&self.namespaces, &info.workload, queue);
        let heads = vec![Head { info, is_preemptor: false }];
        let blocks = self.blocks_admission();
        let config = Self::cycle_config(&self.configuration, self.cycle, blocks, &validate, now);
        run(heads, &mut self.cache.state.clone(), &config).entries.into_iter().next()
    }

    /// Decides about the heads of all queues. The driver then admits and requeues the entries.
    pub(crate) fn decide(&mut self, now: SimTime) -> CycleResult {
        self.sample_usage(now);
        self.refresh_usages();
        let heads = self.take_heads();
        self.cycle += 1;
        let (blocks, namespaces) = (self.blocks_admission(), &self.namespaces);
        let validate = |info: &Info, queue: &ClusterQueue| admissibility_error(namespaces, &info.workload, queue);
        let config = Self::cycle_config(&self.configuration, self.cycle, blocks, &validate, now);
        run(heads, &mut self.cache.state, &config)
    }

    /// Admits or requeues an entry of a cycle. An admitted Workload counts in the cache at once. Returns the change of
    /// its Workload.
    pub(crate) fn conclude(&mut self, entry: Entry, now: SimTime) -> Option<Patch> {
        let key = entry.info.key;
        let kind = match entry.outcome {
            Outcome::Admit(admission) => self.assume(&entry.info, admission, now),
            Outcome::Evict { message } => PatchKind::Evict { message },
            Outcome::Requeue => {
                if self.repeat_second_pass(key) {
                    return None;
                }
                self.requeue(entry.info, entry.requeue, entry.reason, now);
                // A condition without a reason is refused by the API server.
                if entry.reason.is_empty() {
                    return None;
                }
                PatchKind::Pending { reason: entry.reason, message: entry.message }
            }
        };
        Some(Patch { key, kind })
    }

    /// Requests another second pass if the one of this cycle found no placement. Returns false if the cycle had none
    /// for the Workload, or if the Workload no longer needs one.
    fn repeat_second_pass(&mut self, key: WorkloadKey) -> bool {
        let (Some(passes), Some(workload)) = (self.passes_in_cycle.remove(&key), self.workloads.get(&key)) else {
            return false;
        };
        self.second_passes.request(key, workload, passes)
    }

    /// Counts an admitted Workload in the cache.
    fn assume(&mut self, info: &Info, admission: Admission, now: SimTime) -> PatchKind {
        let spec = self.cache.state.queues[info.queue].spec.clone();
        let mut workload = (*info.workload).clone();
        workload.status.admission = Some(admission.clone());
        let required = checks::required(&workload, &spec);
        let is_admitted = required.iter().all(|name| workload.status.checks.iter().any(|check| check.name == *name));
        workload.reserve_quota(admission.clone(), now);
        if is_admitted {
            workload.sync_admitted(now);
        }
        let mut assumed = Info::new(info.key, Arc::new(workload), info.queue, &self.configuration.resources);
        assumed.local_queue_usage = info.local_queue_usage;
        self.cache.add_or_update(assumed);
        self.push_penalty(info, now);
        PatchKind::Admit { admission, is_admitted }
    }

    fn requeue(
        &mut self, mut info: Info, reason: crate::queue::RequeueReason, quota_reason: &'static str, now: SimTime,
    ) {
        let Some(newest) = self.workloads.get(&info.key).filter(|w| w.is_admissible()) else {
            return;
        };
        info.workload = newest.clone();
        let queue = info.queue;
        info.local_queue_usage = self.local_queue_usage(queue, &info.workload);
        self.waiting.insert(info.key, queue);
        self.pending[queue].requeue(info, reason, quota_reason, now);
        self.pending_changed(queue);
    }

    /// Takes the Workloads that were put aside without an attempt since the last call, by ClusterQueue.
    pub fn take_bypassed(&mut self) -> Vec<WorkloadKey> {
        let mut bypassed = Vec::new();
        for index in std::mem::take(&mut self.with_bypassed) {
            let taken = self.pending[index].take_bypassed();
            bypassed.extend(taken.into_iter().filter(|key| self.pending[index].bypass_reason(*key).is_some()));
        }
        bypassed
    }
}

/// Labels by namespace.
type NamespaceLabels = BTreeMap<String, BTreeMap<String, String>>;

/// Returns why a Workload may not use a ClusterQueue at all (`ValidateAdmissibility`).
fn admissibility_error(
    namespaces: &NamespaceLabels, workload: &Workload, queue: &ClusterQueue,
) -> Option<AdmissibilityError> {
    if is_mismatch(namespaces, &workload.namespace, queue) {
        return Some(AdmissibilityError::NamespaceMismatch);
    }
    resources_error(workload).map(AdmissibilityError::Resources)
}

fn is_mismatch(namespaces: &NamespaceLabels, namespace: &str, queue: &ClusterQueue) -> bool {
    let empty = BTreeMap::new();
    let labels = namespaces.get(namespace).unwrap_or(&empty);
    queue.namespace_selector.as_ref().is_none_or(|selector| !selector.matches(labels))
}
