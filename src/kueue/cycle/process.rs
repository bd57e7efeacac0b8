//! Runs a cycle over all heads.

use super::config::CycleConfig;
use super::entry::{Entry, Outcome};
use super::iterator::{EntryTrees, FairOrder, compare_classical};
use super::nominate::{assign, nominate};
use crate::amount::Amount;
use crate::flavors::AssignmentMode;
use crate::preemption::Target;
use crate::queue::{Head, RequeueReason};
use crate::requests::FlavorAmounts;
use crate::snapshot::{FitsCheck, Snapshot, Usage};
use crate::workload::info::QueueIndex;
use crate::workload::{Admission, Info, WorkloadKey, reasons};
use sim_api::spec::kueue::PreemptionPolicy;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A Workload that is preempted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    pub target: WorkloadKey,
    pub preemptor: WorkloadKey,
    pub reason: &'static str,
    pub message: String,
}

#[derive(Debug, Default)]
pub struct CycleResult {
    pub entries: Vec<Entry>,
    pub preemptions: Vec<Preemption>,
}

/// Runs a cycle. The snapshot is as before afterwards.
pub fn run(heads: Vec<Head>, snapshot: &mut Snapshot, config: &CycleConfig) -> CycleResult {
    snapshot.topology.set_in_cycle(true);
    let all: Vec<Entry> = heads.into_iter().filter_map(|head| nominate(head, snapshot, config)).collect();
    let (mut entries, inadmissible): (Vec<Entry>, Vec<Entry>) =
        all.into_iter().partition(|entry| entry.assignment.is_some());
    let timestamp = config.preemptor.timestamp;
    let mut cycle = Cycle { config, preempted: BTreeMap::new(), preemptions: Vec::new(), reserved: Vec::new() };
    let mut order = Vec::new();
    if config.preemptor.fair_sharing.is_none() {
        entries.sort_by(|a, b| compare_classical(a, b, timestamp));
        entries.iter_mut().for_each(|entry| cycle.process_entry(entry, snapshot));
    } else {
        let mut trees = EntryTrees::new(&entries, snapshot);
        while let Some(tree) = trees.first() {
            let next = FairOrder { snapshot, timestamp }.next(&entries, tree);
            cycle.process_entry(&mut entries[next], snapshot);
            trees.remove(next);
            order.push(next);
        }
    }
    cycle.undo(snapshot);
    snapshot.topology.set_in_cycle(false);
    let mut entries = in_order(entries, &order);
    entries.extend(inadmissible);
    CycleResult { entries, preemptions: cycle.preemptions }
}

/// Brings the entries into the order in which they were processed; an empty order keeps them as they are.
fn in_order(entries: Vec<Entry>, order: &[usize]) -> Vec<Entry> {
    if order.is_empty() {
        return entries;
    }
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    order.iter().filter_map(|at| entries[*at].take()).collect()
}

struct Cycle<'a> {
    config: &'a CycleConfig<'a>,
    /// Workloads that this cycle preempts.
    preempted: BTreeMap<WorkloadKey, Arc<Info>>,
    preemptions: Vec<Preemption>,
    /// Usage that the cycle added.
    reserved: Vec<(QueueIndex, Usage)>,
}

impl Entry {
    /// Puts the entry aside. It is tried again in the next cycle.
    fn skip(&mut self, message: &str) {
        self.is_skipped = true;
        message.clone_into(&mut self.message);
        self.reason = reasons::WAITING_FOR_QUOTA;
    }
}

impl Cycle<'_> {
    fn process_entry(&mut self, entry: &mut Entry, snapshot: &mut Snapshot) {
        self.process(entry, snapshot);
        if entry.requeue == RequeueReason::Generic && entry.is_skipped {
            entry.requeue = RequeueReason::FailedAfterNomination;
        }
    }

    /// Keeps usage from the later entries.
    fn reserve(&mut self, queue: QueueIndex, usage: Usage, snapshot: &mut Snapshot) {
        snapshot.add_usage(queue, &usage);
        self.reserved.push((queue, usage));
    }

    fn undo(&mut self, snapshot: &mut Snapshot) {
        for (queue, usage) in self.reserved.drain(..).rev() {
            snapshot.remove_usage(queue, &usage);
        }
    }

    fn process(&mut self, entry: &mut Entry, snapshot: &mut Snapshot) {
        let queue = entry.info.queue;
        let (usage, fits) = self.refresh(entry, snapshot);
        let mode = entry.mode();
        if mode != AssignmentMode::Fit && entry.info.workload.has_lost_node() {
            let nodes = entry.info.workload.status.unhealthy_nodes.join(",");
            let message = format!("Workload was evicted as there was no replacement for unhealthy node(s): {nodes}");
            entry.outcome = Outcome::Evict { message };
            return;
        }
        match mode {
            AssignmentMode::NoFit => {
                entry.requeue = RequeueReason::NoFit;
                entry.reason = entry.assignment.as_ref().map_or("", |a| a.no_fit.as_str());
                return;
            }
            AssignmentMode::Preempt if entry.targets.is_empty() => {
                entry.requeue = RequeueReason::PreemptionNoCandidates;
                entry.reason = reasons::WAITING_FOR_QUOTA;
                // Without a guarantee to reclaim its quota, the Workload keeps what is free from others.
                let preemption = &snapshot.queues[queue].spec.preemption;
                if preemption.reclaim_within_cohort != PreemptionPolicy::Any {
                    let reserved = entry.net_usage(snapshot, quota_to_reserve(entry, snapshot));
                    self.reserve(queue, reserved, snapshot);
                }
                return;
            }
            AssignmentMode::DeferredFit => {
                "Workload has overlapping preemption targets with another workload, but will fit after these \
                 preemptions complete"
                    .clone_into(&mut entry.message);
                entry.reason = reasons::WAITING_FOR_PREEMPTED;
                entry.requeue = RequeueReason::PendingPreemption;
                entry.info.last_assignment = None;
                self.reserve(queue, usage, snapshot);
                return;
            }
            AssignmentMode::Preempt | AssignmentMode::Fit => {}
        }
        if self.preempts_any(&entry.targets) {
            entry.skip("Workload has overlapping preemption targets with another workload");
            return;
        }
        if !fits {
            entry.skip("Workload no longer fits after processing another workload");
            return;
        }
        self.preempted.extend(entry.targets.iter().map(|target| (target.info.key, target.info.clone())));
        self.reserve(queue, usage, snapshot);
        if mode == AssignmentMode::Preempt {
            self.preempt(entry, snapshot);
            return;
        }
        if self.config.blocks_admission && !entry.info.workload.needs_second_pass() {
            // Kueue then waits within the cycle; here the Workload is tried again in the next one.
            "waiting for all admitted workloads to be in PodsReady condition".clone_into(&mut entry.message);
            entry.reason = reasons::WAITING_FOR_PODS_READY;
            entry.requeue = RequeueReason::FailedAfterNomination;
            return;
        }
        let pod_sets = entry.assignment.iter().flat_map(|a| &a.pod_sets).map(|pod_set| pod_set.admission());
        let cluster_queue = snapshot.node(queue).name.clone();
        entry.outcome = Outcome::Admit(Admission { cluster_queue, pod_sets: pod_sets.collect() });
    }

    /// Assigns flavors again if the placement no longer fits or a target is preempted by another entry. Returns the
    /// usage and whether it fits.
    fn refresh(&self, entry: &mut Entry, snapshot: &mut Snapshot) -> (Usage, bool) {
        let usage = entry.usage(snapshot);
        let fits = self.fits(entry.info.queue, &usage, &entry.targets, snapshot);
        let behavior = &self.config.behavior;
        let overlaps = behavior.recomputes_targets && self.preempts_any(&entry.targets);
        let is_misplaced = behavior.recomputes_placements && fits == FitsCheck::NoTopology;
        if !overlaps && !is_misplaced {
            return (usage, fits == FitsCheck::Fits);
        }
        let nominated = entry.nominated_flavors();
        entry.info.last_assignment = None;
        let removed: Vec<Arc<Info>> = if overlaps { self.preempted.values().cloned().collect() } else { Vec::new() };
        removed.iter().for_each(|info| snapshot.remove_workload(info));
        let (mut assignment, targets) = assign(&mut entry.info, snapshot, self.config, Some(&nominated));
        removed.iter().for_each(|info| snapshot.add_workload(info));
        if overlaps && assignment.mode() == AssignmentMode::Fit {
            assignment.set_mode(AssignmentMode::DeferredFit);
        }
        entry.record(assignment, targets);
        let usage = entry.usage(snapshot);
        let fits = self.fits(entry.info.queue, &usage, &entry.targets, snapshot);
        (usage, fits == FitsCheck::Fits)
    }

    /// Returns whether the usage fits without the Workloads that are preempted.
    fn fits(&self, queue: QueueIndex, usage: &Usage, targets: &[Target], snapshot: &mut Snapshot) -> FitsCheck {
        if self.preempted.is_empty() && targets.is_empty() {
            return snapshot.fits(queue, usage);
        }
        let mut removed = self.preempted.clone();
        removed.extend(targets.iter().map(|target| (target.info.key, target.info.clone())));
        let removed: Vec<Arc<Info>> = removed.into_values().collect();
        snapshot.without_usage_of(&removed, |snapshot| snapshot.fits(queue, usage))
    }

    fn preempts_any(&self, targets: &[Target]) -> bool {
        targets.iter().any(|target| self.preempted.contains_key(&target.info.key))
    }

    /// Preempts the targets of an entry. Targets that are already evicted are only waited for.
    fn preempt(&mut self, entry: &mut Entry, snapshot: &Snapshot) {
        entry.reason = reasons::WAITING_FOR_PREEMPTED;
        entry.requeue = RequeueReason::PendingPreemption;
        entry.info.last_assignment = None;
        entry.message += &format!(". Pending the preemption of {} workload(s)", entry.targets.len());
        let new = entry.targets.iter().filter(|target| !target.info.workload.is_evicted());
        self.preemptions.extend(new.map(|target| Preemption {
            target: target.info.key,
            preemptor: entry.info.key,
            reason: target.reason,
            message: message(entry, target, snapshot),
        }));
    }
}

/// Returns the message of the conditions Preempted and Evicted.
fn message(entry: &Entry, target: &Target, snapshot: &Snapshot) -> String {
    let due_to = match target.reason {
        reasons::IN_CLUSTER_QUEUE => "prioritization in the ClusterQueue",
        reasons::IN_COHORT_RECLAMATION => "reclamation within the cohort",
        reasons::IN_COHORT_FAIR_SHARING => "Fair Sharing within the cohort",
        reasons::IN_COHORT_RECLAIM_WHILE_BORROWING => "reclamation within the cohort while borrowing",
        _ => "UNKNOWN",
    };
    let or_unknown = |uid: &str| if uid.is_empty() { "UNKNOWN".to_owned() } else { uid.to_owned() };
    format!(
        "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to {due_to}; preemptor path: {}; preemptee \
         path: {}",
        or_unknown(&entry.info.workload.uid),
        or_unknown(&entry.info.workload.job_uid),
        snapshot.tree.path(entry.info.queue),
        snapshot.tree.path(target.info.queue),
    )
}

/// Returns the quota that a Workload without preemption targets keeps from others.
fn quota_to_reserve(entry: &Entry, snapshot: &Snapshot) -> FlavorAmounts {
    let Some(assignment) = &entry.assignment else {
        return FlavorAmounts::new();
    };
    let node = snapshot.node(entry.info.queue);
    let reserve = |(fr, amount): (&crate::requests::FlavorResource, &Amount)| {
        let quota = node.quota(fr);
        let reserved = match (assignment.borrowing > 0, quota.borrowing_limit) {
            (true, None) => *amount,
            (true, Some(limit)) => (*amount).min(quota.nominal + limit - node.usage(fr)),
            (false, _) => (*amount).min(quota.nominal - node.usage(fr)).max(Amount::ZERO),
        };
        (fr.clone(), reserved)
    };
    assignment.usage.quota.iter().map(reserve).collect()
}
