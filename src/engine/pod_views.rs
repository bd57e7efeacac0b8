//! Pods and nodes as `sim_scheduler` sees them, with all fields and labels of their objects.

use crate::{ctx::EngineContext, record::DeletionActor, script::object_json, store::flag};
use sim_api::spec::keys::JOB_COMPLETION_INDEX;
use sim_base::{DomainId, JobId, NodeId, PodId};
use sim_scheduler::resources::ResourceColumns;
use sim_scheduler::{NodeView, PodView};
use std::collections::BTreeMap;

/// A Job object, whether the pod is its leader, and the domain that the pod webhook wrote: pods with equal keys differ
/// in their names and indexes only.
type ViewKey = (JobId, u32, bool, DomainId);

/// Reads pods. Those with equal keys are read once.
#[derive(Clone, Default)]
pub struct PodViews(BTreeMap<ViewKey, PodView>);

impl PodViews {
    pub fn view(&mut self, ctx: &EngineContext<'_>, pod: PodId, columns: &mut ResourceColumns) -> PodView {
        let store = &**ctx.store;
        let (i, job) = (pod.ix(), store.pods.job[pod.ix()]);
        let key = (job, store.jobs[job.ix()].incarnation, store.is_leader(pod), store.pods.domain[i]);
        let read = || PodView {
            tolerations: store.facts(pod).tolerations.clone(),
            claims: store.pod_spec(pod).claims.clone(),
            ..PodView::read(&object_json::pod_object(ctx, pod), columns)
        };
        let mut view = self.0.entry(key).or_insert_with(read).clone();
        view.name = store.names.pod(job, store.pods.index[i], pod, store.pods.incarnation[i]);
        if let Some(index) = view.labels.get_mut(JOB_COMPLETION_INDEX) {
            *index = store.pods.index[i].to_string();
        }
        view.node_name.clear();
        view.priority = store.facts(pod).priority.into();
        view.is_terminating = store.pods.has(pod, flag::DELETING);
        view.is_preempted = store.pods.disrupted_by.get(&pod) == Some(&DeletionActor::Preemption);
        view
    }
}

/// Reads a node.
pub fn node_view(ctx: &EngineContext<'_>, node: NodeId, columns: &mut ResourceColumns) -> NodeView {
    let nodes = &ctx.store.nodes;
    let mut view = NodeView::of_topology(&nodes.cluster, node, columns);
    view.taints.extend_from_slice(&nodes.taints[node.ix()]);
    view.is_unschedulable = nodes.rows[node.ix()].cordoned;
    view
}
