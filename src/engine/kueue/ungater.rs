//! Kueue's topology ungater: releases the pods of an admitted Workload for the domains of its topology assignment.

use super::KueueController;
use super::rows::DomainLabels;
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Call, TicketSubject};
use crate::requests::RequestEntry;
use sim_api::spec::CompletionMode;
use sim_base::{Duration, JobSetId, PodId};
use sim_kueue::tas::TopologyAssignment;
use sim_kueue::tas::ungating::{GatedPod, RankRule, released_pods};
use sim_kueue::workload::{PodSetAdmission, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of pods that one pass releases at the same time (`pkg/util/parallelize`).
const PARALLELISM: usize = 8;

impl KueueController {
    pub(super) fn ungating_due(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        if self.row(jobset).ungating.due == Some(ctx.now) {
            self.row(jobset).ungating.due = None;
            self.ungate(ctx, jobset);
        }
    }

    /// Runs one pass, unless the cache does not show the effects of the last one yet.
    fn ungate(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let row = &self.rows[jobset.ix()];
        if !row.ungating.queue.is_empty() || row.ungating.in_flight > 0 || !row.ungating.unobserved.is_empty() {
            // The observation of the last pod causes the next pass.
            return;
        }
        let Some(workload) = row.workload.clone() else { return };
        let mut released = Vec::new();
        for (pod_set, assignment) in workload.placed_pod_sets() {
            released.extend(self.released(ctx, jobset, &workload, (pod_set, assignment)));
        }
        let row = &mut self.rows[jobset.ix()];
        row.ungating.unobserved.extend(released.iter().map(|(pod, ..)| *pod));
        row.ungating.queue.extend(released);
        self.send_ungating(ctx, jobset);
    }

    /// Returns the pods of a pod set to release, with the labels of their domains.
    fn released(
        &self, ctx: &EngineContext<'_>, jobset: JobSetId, workload: &Workload,
        (pod_set, assignment): (&PodSetAdmission, &TopologyAssignment),
    ) -> Vec<(PodId, u32, DomainLabels)> {
        let store = &**ctx.store;
        let rjs = &store.jobsets[jobset.ix()].spec.spec.replicated_jobs;
        let Some(rj) = rjs.iter().position(|rj| rj.name == pod_set.name) else { return Vec::new() };
        let is_indexed = rjs[rj].template.completion_mode == CompletionMode::Indexed;
        let of_pod_set = |pod: &&PodId| {
            let job = &store.jobs[store.pods.job[pod.ix()].ix()];
            job.rj as usize == rj && !self.pods.pod(**pod).is_terminal
        };
        let pods: Vec<PodId> = self.rows[jobset.ix()].pods.iter().filter(of_pod_set).copied().collect();
        let gated = |pod: &PodId| {
            let selector = &store.pod_spec(*pod).node_selector;
            let values = assignment.levels.iter().map(|key| selector.get(key).cloned().unwrap_or_default());
            GatedPod {
                index: is_indexed.then(|| store.pods.index[pod.ix()]),
                group_index: Some(store.jobs[store.pods.job[pod.ix()].ix()].index),
                domain: (!self.pods.pod(*pod).is_gated).then(|| values.collect()),
            }
        };
        let views: Vec<GatedPod> = pods.iter().map(gated).collect();
        let rule = rank_rule(workload, pod_set, rjs[rj].replicas);
        let found = released_pods(assignment, &views, Some(rule), &workload.status.unhealthy_nodes);
        let labels = |domain: usize| {
            let values = assignment.domains[domain].values.iter().cloned();
            Arc::new(assignment.levels.iter().cloned().zip(values).collect::<BTreeMap<String, String>>())
        };
        let released = found.into_iter().map(|released| {
            let pod = pods[released.pod];
            (pod, self.pods.pod(pod).incarnation, labels(released.domain))
        });
        released.collect()
    }

    fn send_ungating(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let ungating = &mut self.rows[jobset.ix()].ungating;
        while ungating.in_flight < PARALLELISM {
            let Some((pod, incarnation, labels)) = ungating.queue.pop_front() else { return };
            ungating.in_flight += 1;
            self.pods.releases.insert((pod, incarnation), (jobset, labels));
            let request = RequestEntry::new(Call::KueuePodPatch, TicketSubject::Pod(pod), incarnation);
            ctx.request(request, SimulationEvent::KueueUngated { pod, incarnation });
        }
    }

    pub(super) fn ungating_answered(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let Some((jobset, labels)) = self.pods.releases.remove(&(pod, incarnation)) else { return };
        self.row(jobset).ungating.in_flight -= 1;
        if !apiserver::ungate_pod(ctx, pod, incarnation, &labels).is_success() {
            self.row(jobset).ungating.unobserved.remove(&pod);
        }
        self.send_ungating(ctx, jobset);
    }

    /// The Workload changed: the ungater looks at its pods at once.
    pub(super) fn ungate_for_workload(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let is_placed = |workload: &Arc<Workload>| workload.placed_pod_sets().next().is_some();
        if self.rows[jobset.ix()].workload.as_ref().is_some_and(is_placed) {
            self.schedule_ungating(ctx, jobset, Duration::ZERO);
        }
    }
}

/// Returns how the ranks of the pods follow from their indexes. The larger pod set of a group follows the smaller one.
fn rank_rule(workload: &Workload, pod_set: &PodSetAdmission, replicas: u32) -> RankRule {
    let group = |name: &str| {
        let found = workload.pod_sets.iter().find(|pod_set| pod_set.name == name);
        found.and_then(|pod_set| pod_set.topology.as_ref()?.group.clone())
    };
    let own = group(&pod_set.name);
    let mut others = workload.placed_pod_sets().map(|(other, _)| other).filter(|other| other.name != pod_set.name);
    let partner = own.and_then(|own| others.find(|other| group(&other.name).as_ref() == Some(&own)));
    let offset = partner.map_or(0, |partner| partner.count).min(pod_set.count);
    let is_larger = partner.is_some_and(|partner| partner.count < pod_set.count);
    RankRule { count: pod_set.count, groups: Some(replicas), offset: if is_larger { offset } else { 0 } }
}
