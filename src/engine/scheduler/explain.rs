//! Explains why pods found no node, at the end of a run.

use super::SchedulerState;
use crate::{ctx::EngineContext, record::PendingPods};
use sim_base::PodId;
use sim_scheduler::explain::explain;
use std::collections::BTreeMap;

impl SchedulerState {
    /// Explains all unschedulable pods. Pods of one template in one domain share the explanation of the first.
    pub fn explain_pending(&mut self, ctx: &EngineContext<'_>) -> Vec<PendingPods> {
        let store = &**ctx.store;
        let mut groups = BTreeMap::new();
        let waiting = (0..store.pods.len() as u32).map(PodId).filter(|pod| self.is_unschedulable(*pod));
        //  The first pod is that of the reason in `blocked`.
        let mut waiting: Vec<PodId> = waiting.collect();
        waiting.sort_by_key(|pod| (store.pods.job[pod.ix()], store.pods.index[pod.ix()]));
        for pod in waiting {
            let leads = store.template(pod).exclusive.is_some() && store.is_leader(pod);
            let key = (store.pods.template[pod.ix()], store.pods.domain[pod.ix()], leads);
            groups.entry(key).or_insert_with(Vec::new).push(pod);
        }
        let explained = groups.into_values().map(|pods| {
            let view = self.read_pod(ctx, pods[0]);
            let key = store.template(pods[0]).exclusive.map(|key| store.templates.domains[key as usize].key.as_str());
            let name = |pod: &PodId| store.names.pod_base_name(store.pods.job[pod.ix()], store.pods.index[pod.ix()]);
            PendingPods {
                jobset: store.jobs[store.pods.job[pods[0].ix()].ix()].jobset,
                pods: pods.iter().map(name).collect(),
                explanation: explain(&self.snapshot.cluster, &view, self.profile(store, pods[0]), key),
            }
        });
        explained.collect()
    }
}
