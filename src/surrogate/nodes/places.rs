//! The nodes that pods hold, and the search for nodes: the same bit sets, window and choice as at level `pods`.

use super::model::NodesModel;
use sim_api::spec::SchedulerTies;
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{DomainId, NodeId};
use sim_policy::placement::{DomainPod, DomainUsage, NodeSearch, NodeSet, has_room};

/// Where a pod may be placed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PodRole {
    /// Any node; for a leader, any domain that exclusive placement leaves to its Job.
    First,
    /// The domain of the leader of its Job.
    Follower(DomainId),
}

/// A pod that is searched a node for.
#[derive(Copy, Clone, Debug)]
pub struct SearchedPod {
    pub job: usize,
    pub is_leader: bool,
    /// Attempt of the Job and number of the search: they name the random choice.
    pub attempt: u32,
    pub search: u32,
}

/// Free resources of nodes, and the domains with pods.
pub struct NodePlaces<'m> {
    model: &'m NodesModel,
    /// Free amounts in thousandths, node-major.
    free: Vec<i64>,
    /// Number of pods per node.
    pods: Vec<u32>,
    /// Nodes that exist, have no taints and are not cordoned.
    usable: Vec<bool>,
    /// Nodes without an object.
    is_gone: Vec<bool>,
    /// Per template: usable nodes with room for a pod.
    room: Vec<NodeSet>,
    domains: DomainUsage,
    /// Start of the next search.
    next_start: u32,
    candidates: NodeSet,
    tied: Vec<u32>,
}

impl<'m> NodePlaces<'m> {
    pub fn new(model: &'m NodesModel) -> NodePlaces<'m> {
        let mut places = NodePlaces {
            model,
            free: Vec::new(),
            pods: Vec::new(),
            usable: Vec::new(),
            is_gone: Vec::new(),
            room: Vec::new(),
            domains: DomainUsage::default(),
            next_start: 0,
            candidates: NodeSet::default(),
            tied: Vec::new(),
        };
        places.reset();
        places
    }

    /// Makes all nodes usable and empty.
    pub fn reset(&mut self) {
        let nodes = self.model.cluster.len();
        self.free.clone_from(&self.model.cluster.allocatable);
        self.pods.clear();
        self.pods.resize(nodes, 0);
        self.usable.clear();
        self.usable.resize(nodes, true);
        self.is_gone.clear();
        self.is_gone.resize(nodes, false);
        self.domains.reset(self.model.domains.len());
        self.next_start = 0;
        self.room.clear();
        for template in 0..self.model.templates.len() {
            let mut words = vec![0_u64; nodes.div_ceil(64)];
            for node in (0..nodes).filter(|node| self.is_feasible(template, NodeId(*node as u32))) {
                words[node / 64] |= 1 << (node % 64);
            }
            let mut set = NodeSet::default();
            set.read(&words);
            self.room.push(set);
        }
    }

    fn is_feasible(&self, template: usize, node: NodeId) -> bool {
        let (facts, columns) = (&self.model.templates[template].facts, self.model.cluster.resources.len());
        self.usable[node.ix()] && facts.allows(node) && has_room(facts, &self.free, columns, node)
    }

    fn update_node(&mut self, node: NodeId) {
        for template in 0..self.room.len() {
            let is_feasible = self.is_feasible(template, node);
            self.room[template].set(node, is_feasible);
        }
    }

    /// Sets whether the scheduler may use a node.
    pub fn set_usable(&mut self, node: NodeId, is_usable: bool) {
        if self.usable[node.ix()] != is_usable {
            self.usable[node.ix()] = is_usable;
            self.update_node(node);
        }
    }

    /// The Node object is created or deleted. Pods on a Node that is gone repel no leader (EXC-7). `pods` are the Jobs
    /// of the pods on it, and whether each is a leader.
    pub fn set_object(&mut self, node: NodeId, exists: bool, pods: &[(usize, bool)]) {
        if std::mem::replace(&mut self.is_gone[node.ix()], !exists) != exists {
            return;
        }
        for (job, is_leader) in pods {
            let counted = self.counted(*job, *is_leader);
            self.domains.update(&self.model.domains, &counted, node, exists);
        }
    }

    /// A pod of a Job comes to a node or leaves it.
    pub fn move_pod(&mut self, job: usize, is_leader: bool, node: NodeId, is_added: bool) {
        let template = self.model.template_of(job);
        let columns = self.model.cluster.resources.len();
        for (column, milli) in &template.facts.requests {
            let free = &mut self.free[node.ix() * columns + *column as usize];
            *free += if is_added { -*milli } else { *milli };
        }
        let pods = &mut self.pods[node.ix()];
        *pods = if is_added { *pods + 1 } else { *pods - 1 };
        self.update_node(node);
        if !self.is_gone[node.ix()] {
            self.domains.update(&self.model.domains, &self.counted(job, is_leader), node, is_added);
        }
    }

    fn counted(&self, job: usize, is_leader: bool) -> DomainPod {
        DomainPod { place: job as u32, class: 0, exclusive: self.model.template_of(job).exclusive, is_leader }
    }

    /// Returns the node that the scheduler chooses for a pod; `None` if none fits.
    pub fn find(&mut self, pod: SearchedPod, role: PodRole, draws: &mut DrawSequence) -> Option<NodeId> {
        let template = self.model.template_of(pod.job);
        let mut candidates = std::mem::take(&mut self.candidates);
        let room = &self.room[self.model.jobs[pod.job].template];
        let within = match role {
            PodRole::Follower(domain) => {
                let key = template.exclusive.expect("a follower has exclusive placement") as usize;
                let own = &self.model.domains[key].nodes[domain.ix()][..];
                let first = own.first().map_or(0, |node| node.ix() / 64);
                candidates.copy(first..own.last().map_or(0, |node| node.ix() / 64 + 1), room);
                candidates.keep_nodes(own);
                Some((key, domain))
            }
            PodRole::First => {
                candidates.copy(room.range(), room);
                None
            }
        };
        let counted = self.counted(pod.job, pod.is_leader);
        if let (Some(key), PodRole::First, true) = (template.exclusive, role, pod.is_leader) {
            self.domains.keep_free_domains(&self.model.domains, &counted, key as usize, &mut candidates);
        }
        self.domains.remove_repelling(&self.model.domains, &counted, within, &mut candidates);
        let found = self.choose(pod, within.is_some(), &candidates, draws);
        self.candidates = candidates;
        found
    }

    /// Examines candidates until enough are feasible, and selects one of the best.
    fn choose(
        &mut self, pod: SearchedPod, is_follower: bool, candidates: &NodeSet, draws: &mut DrawSequence,
    ) -> Option<NodeId> {
        let count = self.model.cluster.len() as u32;
        let ties = self.model.scenario.control_plane.ties;
        let holds_several = self.model.template_of(pod.job).pods_per_node > 1;
        let wanted = match ties {
            SchedulerTies::InOrder if !holds_several => 1,
            _ => self.model.nodes_to_find,
        };
        let start = match ties {
            SchedulerTies::InOrder if is_follower => 0,
            _ => self.next_start.checked_rem(count).unwrap_or(0),
        };
        let search = NodeSearch { count, start, wanted, words: candidates.range() };
        let window = search.examine(candidates);
        self.tied.clear();
        if holds_several && window.feasible > 1 {
            // LeastAllocated prefers the nodes with the fewest pods.
            search.collect(window, candidates, &mut self.tied);
            let fewest = self.tied.iter().map(|node| self.pods[*node as usize]).min();
            let pods = &self.pods;
            self.tied.retain(|node| Some(pods[*node as usize]) == fewest);
        }
        let equal = if self.tied.is_empty() { window.feasible } else { self.tied.len() as u32 };
        let nth = match ties {
            SchedulerTies::Draw if equal > 1 => draws.below(self.draw_name(pod), equal),
            _ => 0,
        };
        let chosen = match self.tied.get(nth as usize) {
            Some(node) => Some(*node),
            None => search.nth(nth, candidates),
        };
        match (ties, chosen) {
            (SchedulerTies::Draw, _) => self.next_start = (self.next_start + window.examined) % count.max(1),
            (SchedulerTies::InOrder, Some(at)) if !is_follower => self.next_start = (at + 1) % count,
            _ => {}
        }
        chosen.map(NodeId)
    }

    /// Name of the random choice of a pod: its Job, the attempt of the Job, and the number of the search.
    fn draw_name(&self, pod: SearchedPod) -> UniformDraw {
        let entity: StreamKey = self.model.jobs[pod.job].key;
        UniformDraw { purpose: StreamPurpose::NodeChoice, entity, occurrence: pod.attempt, substream: pod.search }
    }
}
