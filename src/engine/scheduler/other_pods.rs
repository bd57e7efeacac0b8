//! What pods on nodes mean for other pods besides resources: ports of the node that they use, and pods that their
//! affinity terms select.

use crate::pod_views::{PodViews, ViewKey, view_key};
use crate::{ctx::EngineContext, store::ObjectStore};
use sim_api::spec::PodTerms;
use sim_api::spec::keys::{JOB_COMPLETION_INDEX, JOB_KEY};
use sim_base::{JobId, NodeId, PodId, TemplateId};
use sim_scheduler::host_port::HostPort;
use sim_scheduler::pod_terms::PodTerm;
use sim_scheduler::resources::ResourceColumns;
use std::collections::{BTreeMap, BTreeSet};

/// Ports of nodes in use, as NodePorts compares them.
#[derive(Clone, Default)]
pub struct UsedPorts {
    /// Distinct lists of ports that the pods of a template use.
    lists: Vec<Vec<HostPort>>,
    /// Per list: those that conflict with it.
    conflicts: Vec<Vec<usize>>,
    /// The list of each template whose pods use ports.
    of_template: BTreeMap<TemplateId, usize>,
    /// Number of pods per node and list; absent if none.
    counts: BTreeMap<(NodeId, usize), u32>,
}

impl UsedPorts {
    /// Reads the ports of the pod's template.
    pub fn learn_template(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        let template = ctx.store.pods.template[pod.ix()];
        if ctx.store.pod_spec(pod).terms.host_ports == 0 || self.of_template.contains_key(&template) {
            return;
        }
        let ports = PodViews::default().view(ctx, pod, &mut ResourceColumns::default()).host_ports;
        let list = self.lists.iter().position(|known| *known == ports).unwrap_or_else(|| self.add_list(ports));
        self.of_template.insert(template, list);
    }

    fn add_list(&mut self, ports: Vec<HostPort>) -> usize {
        let list = self.lists.len();
        self.lists.push(ports);
        let conflict = |other: &Vec<HostPort>| {
            self.lists[list].iter().any(|port| other.iter().any(|used| used.conflicts_with(port)))
        };
        let conflicting: Vec<usize> = (0..=list).filter(|other| conflict(&self.lists[*other])).collect();
        conflicting.iter().filter(|other| **other < list).for_each(|other| self.conflicts[*other].push(list));
        self.conflicts.push(conflicting);
        list
    }

    /// A pod of the template uses ports of the node from now on, or no longer.
    pub fn move_pod(&mut self, template: TemplateId, node: NodeId, take: bool) {
        let Some(list) = self.of_template.get(&template) else { return };
        let count = self.counts.entry((node, *list)).or_default();
        *count = if take { *count + 1 } else { *count - 1 };
        if *count == 0 {
            self.counts.remove(&(node, *list));
        }
    }

    /// Returns the ports that the pods of a template need.
    pub fn needed_by(&self, template: TemplateId) -> TemplatePorts<'_> {
        let conflicts = self.of_template.get(&template).map_or(&[][..], |list| &self.conflicts[*list]);
        TemplatePorts { conflicts, counts: &self.counts }
    }

    /// Forgets the pods of one node, which are counted again.
    pub fn forget_node(&mut self, node: NodeId) {
        self.counts.retain(|(of, _), _| *of != node);
    }

    /// Forgets the pods of all nodes, which are counted again.
    pub fn forget_pods(&mut self) {
        self.counts.clear();
    }
}

/// The ports that the pods of a template need.
pub struct TemplatePorts<'a> {
    conflicts: &'a [usize],
    counts: &'a BTreeMap<(NodeId, usize), u32>,
}

impl TemplatePorts<'_> {
    /// Returns whether no pod on the node uses one of them.
    pub fn are_free(&self, node: NodeId) -> bool {
        self.conflicts.iter().all(|list| !self.counts.contains_key(&(node, *list)))
    }
}

/// Affinity and anti-affinity terms of pods that have held a node. They stay when the pods are gone: a pod that they
/// select is then placed by the plugins, with the same result.
#[derive(Clone, Default)]
pub struct PlacedTerms {
    /// Pods with terms that took a node since the last look.
    new: Vec<PodId>,
    /// Jobs and templates whose terms are known.
    read: BTreeSet<(JobId, u32, TemplateId)>,
    terms: Vec<PodTerm>,
    /// Whether a term selects pods by their index, which [`ViewKey`] does not have.
    selects_indexes: bool,
    /// Whether a term may select pods with this key.
    selected: BTreeMap<ViewKey, bool>,
    /// Whether a pod without a JobSet has the label of Jobs of JobSets, which the terms of exclusive leaders select.
    has_foreign_job_key: bool,
}

impl PlacedTerms {
    pub fn note_pod(&mut self, terms: &PodTerms, pod: PodId) {
        if terms.required_affinity + terms.required_anti_affinity + terms.preferred > 0 {
            self.new.push(pod);
        }
    }

    /// Notes whether a pod that took a node has the label that the terms of exclusive leaders select, and no JobSet by
    /// which domains count it.
    pub fn note_job_key(&mut self, store: &ObjectStore, pod: PodId) {
        let job = store.pods.job[pod.ix()];
        self.has_foreign_job_key |=
            !store.jobs[job.ix()].jobset.is_some() && store.template(pod).pod.labels.contains_key(JOB_KEY);
    }

    pub fn has_foreign_job_key(&self) -> bool {
        self.has_foreign_job_key
    }

    /// Returns whether a term may select the pod: namespaces that are selected by labels are not examined.
    pub fn may_select(&mut self, ctx: &EngineContext<'_>, holds: impl Fn(PodId) -> bool, pod: PodId) -> bool {
        for new in std::mem::take(&mut self.new).into_iter().filter(|new| holds(*new)) {
            self.read_terms(ctx, new);
        }
        if self.terms.is_empty() || self.selects_indexes {
            return self.selects_indexes;
        }
        let terms = &self.terms;
        let examine = || {
            let view = PodViews::default().view(ctx, pod, &mut ResourceColumns::default());
            terms.iter().any(|term| term.may_select(&view.namespace, &view.labels))
        };
        *self.selected.entry(view_key(ctx.store, pod)).or_insert_with(examine)
    }

    fn read_terms(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        let (job, template) = (ctx.store.pods.job[pod.ix()], ctx.store.pods.template[pod.ix()]);
        if !self.read.insert((job, ctx.store.jobs[job.ix()].incarnation, template)) {
            return;
        }
        let view = PodViews::default().view(ctx, pod, &mut ResourceColumns::default());
        for terms in [view.affinity, view.anti_affinity] {
            let preferred = terms.preferred.into_iter().map(|(_, term)| term);
            for term in terms.required.into_iter().chain(preferred) {
                if !self.terms.contains(&term) {
                    self.selects_indexes |= term.names_label(JOB_COMPLETION_INDEX);
                    self.terms.push(term);
                    self.selected.clear();
                }
            }
        }
    }
}

/// Returns whether the pod itself has terms that the search over columns does not know.
pub fn has_own_terms(store: &ObjectStore, pod: PodId) -> bool {
    let terms = store.pod_spec(pod).terms;
    !PodTerms { host_ports: 0, ..terms }.is_empty()
}
