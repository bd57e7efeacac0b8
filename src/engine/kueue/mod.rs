//! Kueue's manager: Workloads of JobSets with a queue, admission by quota, preemption, and readiness.
//!
//! The decisions are those of `sim-kueue`. This component keeps the caches, sends the requests, and starts and stops
//! JobSets by `spec.suspend`. It must never read an object before its watch has delivered it.

mod checks;
mod cycle;
mod existing;
mod jobsets;
mod nodes;
mod placed_pods;
mod pod_sets;
mod rows;
mod ungater;
mod workloads;

use super::ctx::{EngineContext, StoreWatcher};
use super::event::{KueueReconciler, SimulationEvent};
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ChangeKind, JobSetChange};
use cycle::{Cycles, EnginePorts};
use existing::ExistingWorkloads;
pub use jobsets::{describe_error, workload_name};
use nodes::NodeCache;
pub use nodes::{placed_requests, reduce, topology_nodes, with_pod};
use placed_pods::PodCache;
pub use placed_pods::is_placed_by_topology;
pub use pod_sets::{PodSetConflict, started};
use rows::ManagedJobSet;
use serde_json::Value;
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_api::spec::kueue::KueueObjects;
use sim_api::spec::{ObjectKind, ScenarioSpec};
use sim_base::{JobSetId, SimTime, row_or_default};
use sim_kueue::amount::Amount;
use sim_kueue::control::Manager;
use sim_kueue::driver::{self, Driver, Pace};
use sim_kueue::verdict::behind_message;
use sim_kueue::workload::info::held_quota;
use sim_kueue::workload::{CheckStatus, ConditionType, Workload, WorkloadKey};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct KueueController {
    /// `None` if the cluster has no objects of Kueue.
    driver: Option<Driver>,
    rows: Vec<ManagedJobSet>,
    cycles: Cycles,
    nodes: NodeCache,
    pods: PodCache,
    /// Whether a flavor has a topology.
    has_topology: bool,
    /// Time of the pending sample of the usage of LocalQueues, and whether it or a later one will change their order.
    sample_due: Option<(SimTime, bool)>,
    existing: ExistingWorkloads,
}

impl KueueController {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        *self = KueueController::default();
        if let Some(objects) = &ctx.scenario.kueue {
            self.has_topology = objects.uses_topology();
            self.nodes = NodeCache::new(ctx, objects);
            let topology = self.nodes.topology(objects);
            let manager = Manager::new(objects, topology, namespaces(ctx.scenario, objects));
            self.driver = Some(Driver::new(manager, Pace::AtOnce));
            self.cycles = Cycles::new(objects);
            self.add_existing(ctx.scenario, objects);
            let now = self.time(ctx);
            self.manager().sample_usage(now);
        }
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::KueueObservedJobSet(jobset) => self.jobset_observed(ctx, jobset),
            SimulationEvent::KueueObservedWorkload(jobset) => self.workload_observed(ctx, jobset),
            SimulationEvent::KueueAnswered { jobset, reconciler: KueueReconciler::JobSets } => {
                self.jobset_answered(ctx, jobset);
            }
            SimulationEvent::KueueAnswered { jobset, reconciler: KueueReconciler::Workloads } => {
                self.workload_answered(ctx, jobset);
            }
            SimulationEvent::KueuePatched { nth } => self.patch_answered(ctx, nth),
            SimulationEvent::KueueWorkloadDue(jobset) => {
                self.row(jobset).due = None;
                self.reconcile_workload(ctx, jobset);
            }
            SimulationEvent::KueueCheckDue { jobset, check } => self.check_due(ctx, jobset, check),
            SimulationEvent::KueueRetry { root } => self.retry(ctx, root),
            SimulationEvent::KueueCycle => self.cycle_due(ctx),
            SimulationEvent::KueueSecondPass(jobset) => {
                self.manager().second_pass_due(jobset.ix());
                self.cycles.state_changed();
                driver::schedule_cycle(&mut EnginePorts { kueue: self, ctx });
            }
            SimulationEvent::KueueObservedNamespaces => {
                let labels = namespaces_now(ctx);
                self.manager().namespaces_changed(labels);
                self.queues_changed(ctx);
            }
            SimulationEvent::KueueUsageSample { .. } => self.sample_usage(ctx),
            SimulationEvent::KueueExistingEnd(index) => self.existing_ended(ctx, index as usize),
            SimulationEvent::KueueExistingDue(index) => self.existing_due(ctx, index as usize),
            other => self.handle_topology(ctx, other),
        }
    }

    /// Handles the events of topology-aware scheduling.
    fn handle_topology(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::KueueObservedPod { pod, incarnation } => self.pod_observed(ctx, pod, incarnation),
            SimulationEvent::KueueUngateDue(jobset) => self.ungating_due(ctx, jobset),
            SimulationEvent::KueueUngated { pod, incarnation } => self.ungating_answered(ctx, pod, incarnation),
            SimulationEvent::KueueObservedNode(node) => self.node_observed(ctx, node),
            SimulationEvent::KueueNodeDue(node) => self.node_due(ctx, node),
            SimulationEvent::KueueNodePatched { nth } => self.node_patch_answered(ctx, nth),
            SimulationEvent::KueuePodFailed { pod, incarnation } => self.pod_failed(ctx, pod, incarnation),
            SimulationEvent::KueueNodesChanged => self.nodes_changed(ctx),
            SimulationEvent::KueueCapacityReleased => self.retry_after_release(ctx),
            other => unreachable!("not an event of Kueue: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        if self.driver.is_none() {
            return;
        }
        match what {
            ChangeKind::JobSet(_, JobSetChange::Attempts) => {}
            ChangeKind::JobSet(jobset, _) => {
                let version = ctx.store.jobsets[jobset.ix()].resource_version;
                let event = SimulationEvent::KueueObservedJobSet(jobset);
                observe(ctx, StoreWatcher::Kueue, (jobset, version), event);
            }
            ChangeKind::Workload(jobset) => {
                let version = ctx.store.jobsets[jobset.ix()].workload_version;
                let event = SimulationEvent::KueueObservedWorkload(jobset);
                observe(ctx, StoreWatcher::KueueWorkloads, (jobset, version), event);
            }
            ChangeKind::Namespace => {
                let about = TicketSubject::Nothing;
                let lag = ctx.watch_lag(StoreWatcher::Kueue, about, 0);
                ctx.schedule_after(lag, TicketWait::Watch, about, SimulationEvent::KueueObservedNamespaces);
            }
            ChangeKind::Pod(pod, change) if self.has_topology => self.watch_pod(ctx, pod, change),
            ChangeKind::Node(node, change) if self.has_topology => self.watch_node(ctx, node, change),
            _ => {}
        }
    }

    /// Returns true if the timer was replaced by another one.
    pub fn is_stale(&self, at: SimTime, jobset: JobSetId) -> bool {
        self.rows.get(jobset.ix()).is_none_or(|row| row.due != Some(at))
    }

    /// Returns why a JobSet does not run, if that is Kueue's decision.
    pub fn blocked_reason(&self, ctx: &EngineContext<'_>, jobset: JobSetId) -> Option<String> {
        let driver = self.driver.as_ref()?;
        let stored = &ctx.store.jobsets[jobset.ix()];
        let objects = ctx.scenario.kueue.as_ref()?;
        if !stored.exists() || !stored.suspended() {
            return None;
        }
        if !objects.manages(&stored.spec) {
            return objects.ignored_reason(&stored.spec).or_else(|| {
                without_queue(stored.workload.as_deref().filter(|_| objects.has_integration(&stored.spec))?)
            });
        }
        let error = self.rows.get(jobset.ix()).and_then(|row| row.error.clone());
        let Some(workload) = &stored.workload else {
            return Some(error.unwrap_or_else(|| "Kueue has not created its Workload".to_owned()));
        };
        if error.is_some() {
            return error;
        }
        let behind = driver.manager.waits_behind(jobset.ix()).filter(|_| is_untried(workload));
        let head = behind.and_then(|head| self.describe_workload(ctx, head));
        let reason = pending_reason(workload, objects)?;
        Some(head.map_or_else(|| reason.clone(), |head| format!("{reason}: {}", behind_message(&head))))
    }

    /// Returns why the Workload of a JobSet gets no quota if no condition reports it.
    pub fn unreported_reason(&self, ctx: &EngineContext<'_>, jobset: JobSetId) -> Option<String> {
        let workload = ctx.store.jobsets[jobset.ix()].workload.as_deref().filter(|workload| is_untried(workload))?;
        let manager = &self.driver.as_ref()?.manager;
        let is_active = manager.cache.state.queues[manager.queue_of(workload)?].is_active;
        let entry = is_active.then(|| manager.nominate_alone(jobset.ix(), self.time(ctx)))?;
        entry?.unreported()
    }

    /// Returns the name of a Workload for messages, with that of its JobSet.
    fn describe_workload(&self, ctx: &EngineContext<'_>, key: WorkloadKey) -> Option<String> {
        if let Some(index) = existing::index_of(key) {
            return Some(format!("Workload {}", self.existing_text(index)));
        }
        let stored = ctx.store.jobsets.get(key)?;
        let workload = stored.workload.as_ref()?;
        Some(format!("Workload {}/{} of JobSet {}", workload.namespace, workload.name, stored.spec.name))
    }

    /// Returns whether pods and Nodes matter to Kueue.
    #[inline]
    pub fn has_topology(&self) -> bool {
        self.has_topology
    }

    fn row(&mut self, jobset: JobSetId) -> &mut ManagedJobSet {
        row_or_default(&mut self.rows, jobset.ix())
    }

    fn driver(&mut self) -> &mut Driver {
        self.driver.as_mut().expect("Kueue has no events without its objects")
    }

    fn manager(&mut self) -> &mut Manager {
        &mut self.driver().manager
    }

    /// Schedules the retries that changes of Workloads request, and the next cycle.
    fn queues_changed(&mut self, ctx: &mut EngineContext<'_>) {
        driver::schedule_retries(&mut EnginePorts { kueue: self, ctx });
        for (key, delay) in self.manager().take_second_passes() {
            let jobset = JobSetId(key as u32);
            let is_existing = existing::index_of(key).is_some();
            let about = if is_existing { TicketSubject::Nothing } else { TicketSubject::JobSet(jobset) };
            ctx.schedule_after(delay, TicketWait::ErrorBackoff, about, SimulationEvent::KueueSecondPass(jobset));
        }
        self.schedule_sample(ctx);
        driver::schedule_cycle(&mut EnginePorts { kueue: self, ctx });
    }

    /// Schedules the next sample of the usage that may change the order of the queues.
    fn schedule_sample(&mut self, ctx: &mut EngineContext<'_>) {
        let start = self.existing.start;
        let manager = self.manager();
        let on_run_clock = |at: SimTime| SimTime(at.0.saturating_sub(start.0)).max(ctx.now);
        let due = manager.next_sample().map(|at| (on_run_clock(at), manager.samples_reorder()));
        if due == self.sample_due {
            return;
        }
        self.sample_due = due;
        if let Some((due, reorders)) = due {
            let after = due.since(ctx.now);
            let sample = SimulationEvent::KueueUsageSample { reorders };
            ctx.schedule_after(after, TicketWait::UsageSample, TicketSubject::Nothing, sample);
        }
    }

    /// Returns true if the sample was replaced by another one.
    pub fn is_sample_stale(&self, at: SimTime, reorders: bool) -> bool {
        self.sample_due != Some((at, reorders))
    }

    fn sample_usage(&mut self, ctx: &mut EngineContext<'_>) {
        self.sample_due = None;
        let now = self.time(ctx);
        self.manager().sample_usage(now);
        self.cycles.state_changed();
        self.queues_changed(ctx);
    }

    fn retry(&mut self, ctx: &mut EngineContext<'_>, root: u32) {
        driver::retry_due(&mut EnginePorts { kueue: self, ctx }, root as usize);
        self.cycles.state_changed();
        self.queues_changed(ctx);
    }
}

fn observe(
    ctx: &mut EngineContext<'_>, watcher: StoreWatcher, (jobset, version): (JobSetId, u32), event: SimulationEvent,
) {
    let about = TicketSubject::JobSet(jobset);
    let lag = ctx.watch_lag(watcher, about, version);
    ctx.schedule_after(lag, TicketWait::Watch, about, event);
}

/// Returns why a suspended JobSet without a queue does not run, if Kueue has suspended it: it has a Workload from the
/// time when it had a queue.
fn without_queue(workload: &Workload) -> Option<String> {
    let mut held: BTreeMap<_, Amount> = BTreeMap::new();
    for (fr, amount) in held_quota(workload) {
        let sum = held.entry(fr.resource).or_default();
        *sum += amount;
    }
    let held: Vec<String> = held.iter().map(|(name, amount)| format!("{} {name}", amount.text(name))).collect();
    let state = match held.as_slice() {
        [] => format!("waits in LocalQueue {}", workload.queue),
        held => format!("holds {}", held.join(", ")),
    };
    Some(format!("Kueue ignores it: it has no queue (label {KUEUE_QUEUE}); its Workload {state}"))
}

/// Returns why a Workload is not admitted, in the words of its conditions.
fn pending_reason(workload: &Workload, objects: &KueueObjects) -> Option<String> {
    if let Some(end) = workload.condition(ConditionType::Finished).filter(|c| c.status) {
        return Some(format!("its Workload has ended ({}): {}", end.reason, end.message));
    }
    if workload.is_admitted() {
        return None;
    }
    if workload.has_reservation()
        && let Some(check) = workload.status.checks.iter().find(|check| check.status == CheckStatus::Pending)
    {
        return Some(pending_check(&workload.queue, &check.name, objects));
    }
    let kind = if workload.active { ConditionType::QuotaReserved } else { ConditionType::Evicted };
    let state = if workload.active { "waits for admission" } else { "is deactivated" };
    let words = workload.condition(kind).map_or(String::new(), |c| format!(" ({}): {}", c.reason, c.message));
    let missing = inactive_reason(workload, objects).map_or(String::new(), |missing| format!("; {missing}"));
    let queue = local_queue_text(&workload.queue, " in LocalQueue ");
    Some(format!("its Workload {state}{queue}{words}{missing}"))
}

/// Returns the name of a LocalQueue after some words, or that there is none.
pub fn local_queue_text(queue: &str, before: &str) -> String {
    if queue.is_empty() { " without a LocalQueue".to_owned() } else { format!("{before}{queue}") }
}

/// Returns which objects make the ClusterQueue of a Workload inactive: those that do not exist, or a cycle of Cohorts.
fn inactive_reason(workload: &Workload, objects: &KueueObjects) -> Option<String> {
    let mut locals = objects.local_queues.iter();
    let local = locals.find(|queue| queue.namespace == workload.namespace && queue.name == workload.queue)?;
    let queue = objects.cluster_queues.iter().find(|queue| queue.name == local.cluster_queue)?;
    let checks = queue.admission_checks.iter().map(|rule| &*rule.name);
    let checks = checks.filter(|name| !objects.admission_checks.iter().any(|check| check.name == *name));
    let flavors = queue.resource_groups.iter().flat_map(|group| &group.flavors).map(|flavor| &*flavor.name);
    let missing_of_flavor = |name: &str| match objects.flavors.iter().find(|flavor| flavor.name == name) {
        None => Some(format!("ResourceFlavor {name}")),
        Some(flavor) => {
            let topology = flavor.topology.as_ref()?;
            let is_missing = !objects.topologies.iter().any(|known| known.name == *topology);
            is_missing.then(|| format!("Topology {topology} (of ResourceFlavor {name})"))
        }
    };
    let missing: Vec<String> =
        checks.map(|name| format!("AdmissionCheck {name}")).chain(flavors.filter_map(missing_of_flavor)).collect();
    if missing.is_empty() {
        let cycle = cycle_of_cohorts(queue.cohort.as_deref()?, objects)?;
        return Some(format!("the parents of its Cohorts form a cycle: {}", cycle.join(", ")));
    }
    Some(format!("it refers to {}, which the inputs do not contain", missing.join(", ")))
}

/// Returns the Cohorts from a first one up to the one whose parent is among them, if there is such a one.
fn cycle_of_cohorts<'o>(first: &'o str, objects: &'o KueueObjects) -> Option<Vec<&'o str>> {
    let mut path = vec![first];
    loop {
        let last = path[path.len() - 1];
        let parent = objects.cohorts.iter().find(|cohort| cohort.name == last)?.parent.as_deref()?;
        if path.contains(&parent) {
            return Some(path);
        }
        path.push(parent);
    }
}

/// Returns for which AdmissionCheck a Workload with quota waits.
fn pending_check(queue: &str, name: &str, objects: &KueueObjects) -> String {
    let check = objects.admission_checks.iter().find(|check| check.name == name);
    let controller = check.map_or("", |check| &*check.controller_name);
    let who = if check.is_some_and(|check| check.outcome.is_some()) {
        format!("controller {controller} has not reported yet")
    } else {
        format!(
            "its controller {controller} is not simulated; `admissionChecks: [{{name: {name}, after: 30s}}]` in the \
             scenario makes it report"
        )
    };
    format!("its Workload has quota in LocalQueue {queue} and waits for AdmissionCheck {name}: {who}")
}

/// Returns whether no scheduling cycle has tried a Workload.
fn is_untried(workload: &Workload) -> bool {
    workload.active && workload.condition(ConditionType::QuotaReserved).is_none()
}

/// Returns the labels of all namespaces with JobSets or LocalQueues at the start.
pub fn namespaces(scenario: &ScenarioSpec, objects: &KueueObjects) -> BTreeMap<String, BTreeMap<String, String>> {
    let stored = scenario.objects.iter().filter(|object| object["kind"] == "Namespace");
    namespaces_of((scenario, objects), stored)
}

/// Returns the labels of all namespaces with JobSets or LocalQueues, as they are now.
fn namespaces_now(ctx: &EngineContext<'_>) -> BTreeMap<String, BTreeMap<String, String>> {
    let stored = ctx.store.others.objects_of_kind(ObjectKind::Namespace).map(|(_, _, other)| &other.object);
    let objects = ctx.scenario.kueue.as_ref().expect("Kueue runs");
    namespaces_of((ctx.scenario, objects), stored)
}

fn namespaces_of<'o>(
    (scenario, objects): (&ScenarioSpec, &KueueObjects), stored: impl Iterator<Item = &'o Value>,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let of_jobsets = scenario.jobsets.iter().map(|submitted| submitted.jobset.namespace.as_str());
    let names = of_jobsets.chain(objects.local_queues.iter().map(|queue| queue.namespace.as_str()));
    let named = |name: &str| BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), name.to_owned())]);
    let mut all: BTreeMap<String, BTreeMap<String, String>> =
        names.map(|name| (name.to_owned(), named(name))).collect();
    for object in stored {
        let name = object["metadata"]["name"].as_str().unwrap_or("");
        let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
        let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        all.entry(name.to_owned()).or_insert_with(|| named(name)).extend(labels);
    }
    all
}
