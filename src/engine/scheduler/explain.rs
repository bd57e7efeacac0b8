//! Explains why pods found no node, at the end of a run.

use super::SchedulerState;
use crate::{ctx::EngineContext, record::PendingPods, store::flag};
use sim_base::PodId;
use sim_scheduler::explain::{PlacementExplanation, explain};
use std::collections::BTreeMap;

impl SchedulerState {
    /// Explains all pods without a node. Pods of one template in one domain share the explanation of the first.
    pub fn explain_pending(&mut self, ctx: &EngineContext<'_>) -> Vec<PendingPods> {
        let store = &**ctx.store;
        let mut groups = BTreeMap::new();
        let all = (0..store.pods.len() as u32).map(PodId);
        let waiting = all.filter_map(|pod| {
            let outside = self.explain_outside_of_queue(ctx, pod);
            (outside.is_some() || self.is_unschedulable(pod)).then_some((pod, outside))
        });
        //  The first pod is that of the reason in `blocked`.
        let mut waiting: Vec<(PodId, Option<PlacementExplanation>)> = waiting.collect();
        waiting.sort_by_key(|(pod, _)| (store.pods.job[pod.ix()], store.pods.index[pod.ix()]));
        for (pod, outside) in waiting {
            let job = &store.jobs[store.pods.job[pod.ix()].ix()];
            let leads = store.template(pod).exclusive.is_some() && store.is_leader(pod);
            let template = (store.pods.template[pod.ix()], store.pods.domain[pod.ix()], leads);
            let key = (template, job.jobset, job.rj, outside.is_some());
            groups.entry(key).or_insert_with(|| (outside, Vec::new())).1.push(pod);
        }
        let explained = groups.into_iter().map(|((_, jobset, replicated_job, _), (outside, pods))| {
            let name = |pod: &PodId| store.names.pod_base_name(store.pods.job[pod.ix()], store.pods.index[pod.ix()]);
            let explanation = outside.unwrap_or_else(|| self.explain_rejections(ctx, pods[0]));
            PendingPods { jobset, replicated_job, pods: pods.iter().map(name).collect(), explanation }
        });
        explained.collect()
    }

    fn explain_rejections(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> PlacementExplanation {
        let store = &**ctx.store;
        let view = self.read_pod(ctx, pod);
        let key = store.template(pod).exclusive.map(|key| store.templates.domains[key as usize].key.as_str());
        explain(&self.snapshot.cluster, &view, self.profile(store, pod), key)
    }

    /// Explains a pod that is not in the queue of a profile, and therefore is not tried on any node.
    fn explain_outside_of_queue(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<PlacementExplanation> {
        let store = &**ctx.store;
        let is_pending = store.pods.exists(pod) && !store.pods.is_terminal(pod);
        if !is_pending || store.pods.has(pod, flag::GATED | flag::BOUND | flag::DELETING) {
            return None;
        }
        let missing_node = store.pod_spec(pod).node_name.as_ref();
        let (message, step) = if let Some(name) = self.missing_profile(store, pod) {
            (
                format!("no profile of kube-scheduler has the schedulerName {name:?}"),
                Some(
                    "remove schedulerName from the pod, or define the profile in a KubeSchedulerConfiguration"
                        .to_owned(),
                ),
            )
        } else if let Some(name) = missing_node.filter(|name| store.nodes.find_by_name(name).is_none()) {
            (format!("node {name:?} of nodeName does not exist"), Some("remove nodeName from the pod".to_owned()))
        } else {
            (self.group_hold_reason(ctx, pod)?, None)
        };
        Some(PlacementExplanation::of_message(message, step))
    }
}
