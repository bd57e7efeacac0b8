//! Pods and nodes as `sim_scheduler` sees them, with all fields and labels of their objects.

use crate::{ctx::EngineContext, record::DeletionActor, script::object_json, store::ObjectStore, store::flag};
use sim_api::spec::ObjectKind;
use sim_api::spec::keys::JOB_COMPLETION_INDEX;
use sim_base::{DomainId, JobId, NodeId, PodId, TemplateId};
use sim_scheduler::resources::ResourceColumns;
use sim_scheduler::{NodeView, PodGroup, PodView};
use std::collections::BTreeMap;

/// A Job object, the pod's template, to which Kueue adds a node selector when it releases the pod, whether the pod is
/// the leader, the domain that the pod webhook wrote, and the priority, which depends on the PriorityClasses at the
/// creation: pods with equal keys differ in their names and indexes only.
pub type ViewKey = (JobId, u32, TemplateId, bool, DomainId, i32);

pub fn view_key(store: &ObjectStore, pod: PodId) -> ViewKey {
    let (i, job) = (pod.ix(), store.pods.job[pod.ix()]);
    let incarnation = store.jobs[job.ix()].incarnation;
    let (template, domain) = (store.pods.template[i], store.pods.domain[i]);
    (job, incarnation, template, store.is_leader(pod), domain, store.facts(pod).priority)
}

/// Reads pods. Those with equal keys are read once.
#[derive(Clone, Default)]
pub struct PodViews {
    known: BTreeMap<ViewKey, PodView>,
    /// Rows of the PodGroups, by namespace and name.
    pub groups: BTreeMap<(String, String), usize>,
}

impl PodViews {
    /// Reads the PodGroups. Their rows never change.
    pub fn read_groups(&mut self, store: &ObjectStore, groups: &mut Vec<PodGroup>) {
        for (namespace, name, stored) in store.others.objects_of_kind(ObjectKind::PodGroup) {
            let class = stored.object["spec"]["priorityClassName"].as_str().unwrap_or_default();
            let class = store.others.get(ObjectKind::PriorityClass, "", class);
            let priority = class.and_then(|class| class.object["value"].as_i64()).unwrap_or(0);
            let group = PodGroup::read(&stored.object, priority);
            let row = *self.groups.entry((namespace.to_owned(), name.to_owned())).or_insert(groups.len());
            groups.resize(groups.len().max(row + 1), PodGroup::default());
            groups[row] = group;
        }
    }

    pub fn view(&mut self, ctx: &EngineContext<'_>, pod: PodId, columns: &mut ResourceColumns) -> PodView {
        let store = &**ctx.store;
        let (i, job) = (pod.ix(), store.pods.job[pod.ix()]);
        let read = || PodView {
            tolerations: store.facts(pod).tolerations.clone(),
            claims: store.pod_spec(pod).claims.clone(),
            ..PodView::read(&object_json::pod_object(ctx, pod), columns)
        };
        let mut view = self.known.entry(view_key(store, pod)).or_insert_with(read).clone();
        view.name = store.names.pod(job, store.pods.index[i], pod, store.pods.incarnation[i]);
        if let Some(index) = view.labels.get_mut(JOB_COMPLETION_INDEX) {
            *index = store.pods.index[i].to_string();
        }
        view.node_name.clear();
        if let Some(group) = store.pod_spec(pod).scheduling_group.as_ref().filter(|_| !self.groups.is_empty()) {
            view.group = self.groups.get(&(store.names.namespace_of(job).to_owned(), group.clone())).copied();
        }
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
