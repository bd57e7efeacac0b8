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

/// A crowd that is searched nodes for, beside its leader.
#[derive(Copy, Clone, Debug)]
pub struct CrowdSearch {
    pub role: PodRole,
    /// Node of the leader, if there is one.
    pub leader: NodeId,
    /// Number of pods.
    pub number: u32,
}

/// Nodes for the pods of a crowd.
#[derive(Clone, Default)]
pub struct PlacedCrowd {
    pub nodes: NodeSet,
    /// The pods have the nodes in their order from this one on.
    pub start: u32,
}

/// Free resources of nodes, and the domains with pods.
pub struct NodePlaces<'m> {
    model: &'m NodesModel,
    /// Free amounts in thousandths, node-major.
    free: Vec<i64>,
    /// Number of pods per node, without those of crowds.
    pods: Vec<u32>,
    /// Nodes that exist, have no taints and are not cordoned; 64 per word.
    usable: Vec<u64>,
    /// Nodes without an object.
    is_gone: Vec<bool>,
    /// Per template: usable nodes with room for a pod.
    room: Vec<NodeSet>,
    /// Nodes with a pod of a crowd, which leaves no room for others.
    crowded: NodeSet,
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
            crowded: NodeSet::default(),
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
        self.usable.resize(nodes.div_ceil(64), u64::MAX);
        self.is_gone.clear();
        self.is_gone.resize(nodes, false);
        self.domains.reset(self.model.domains.len());
        self.next_start = 0;
        self.crowded.read(&vec![0; nodes.div_ceil(64)]);
        self.room.clear();
        for template in &self.model.templates {
            let mut set = NodeSet::default();
            set.read(&template.fits);
            self.room.push(set);
        }
    }

    fn is_usable(&self, node: NodeId) -> bool {
        self.usable[node.ix() / 64] >> (node.ix() % 64) & 1 == 1
    }

    /// Returns whether a pod fits on a node without a pod of a crowd.
    fn is_feasible(&self, template: usize, node: NodeId) -> bool {
        let (facts, columns) = (&self.model.templates[template].facts, self.model.cluster.resources.len());
        self.is_usable(node) && facts.allows(node) && has_room(facts, &self.free, columns, node)
    }

    fn update_node(&mut self, node: NodeId) {
        for template in 0..self.room.len() {
            let is_feasible = !self.crowded.has(node) && self.is_feasible(template, node);
            self.room[template].set(node, is_feasible);
        }
    }

    /// Sets whether the scheduler may use a node.
    pub fn set_usable(&mut self, node: NodeId, is_usable: bool) {
        if self.is_usable(node) != is_usable {
            self.usable[node.ix() / 64] ^= 1 << (node.ix() % 64);
            self.update_node(node);
        }
    }

    /// Returns whether a pod of a crowd is on a node.
    pub fn is_crowded(&self, node: NodeId) -> bool {
        self.crowded.has(node)
    }

    /// A crowd of pods of a Job, of which the first is on `leader`, comes to its nodes or leaves them.
    pub fn move_crowd(&mut self, job: usize, leader: NodeId, nodes: &NodeSet, is_added: bool) {
        if is_added {
            self.crowded.add_set(nodes, |_| u64::MAX);
            self.room.iter_mut().for_each(|room| room.remove_set(nodes));
        } else {
            self.crowded.remove_set(nodes);
            for (room, template) in self.room.iter_mut().zip(&self.model.templates) {
                room.add_set(nodes, |word| template.fits[word] & self.usable[word]);
            }
        }
        let is_here = leader.is_some() && nodes.has(leader);
        if is_here {
            self.domains.update(&self.model.domains, &self.counted(job, true), leader, is_added);
        }
        let counted = self.counted(job, false);
        // Exclusive placement keeps all of them in one domain.
        if let ([_], true) = (&self.model.domains[..], counted.exclusive.is_some()) {
            let others = nodes.len() - u32::from(is_here);
            if let Some(node) = nodes.iter().next().filter(|_| others > 0) {
                self.domains.update_many(&self.model.domains, &counted, (node, others), is_added);
            }
        } else if !self.model.domains.is_empty() {
            for node in nodes.iter().filter(|node| *node != leader) {
                self.domains.update(&self.model.domains, &counted, node, is_added);
            }
        }
    }

    /// A pod of a crowd is a single one from now on.
    pub fn leave_crowd(&mut self, job: usize, node: NodeId) {
        self.crowded.set(node, false);
        self.count_pod(job, node, true);
    }

    /// Returns nodes for the pods of a crowd, or fewer if there are not as many. `pod` names the first of the searches.
    pub fn find_crowd(&mut self, pod: SearchedPod, crowd: CrowdSearch, draws: &mut DrawSequence) -> PlacedCrowd {
        let CrowdSearch { role, leader, number } = crowd;
        let mut candidates = std::mem::take(&mut self.candidates);
        let within = self.read_candidates(pod, role, &mut candidates);
        if candidates.has(leader) {
            candidates.set(leader, false);
        }
        let mut placed = PlacedCrowd { nodes: NodeSet::default(), start: self.start_of(within.is_some()) };
        let found = candidates.len();
        let count = self.model.cluster.len() as u32;
        placed.nodes.clone_from(&candidates);
        if found > number {
            self.choose_crowd(pod, number, &mut placed, draws);
        }
        match (self.model.scenario.control_plane.ties, within) {
            (SchedulerTies::InOrder, None) => {
                let search = NodeSearch { count, start: placed.start, wanted: 1, words: placed.nodes.range() };
                if let Some(last) = number.min(found).checked_sub(1).and_then(|n| search.nth(n, &placed.nodes)) {
                    self.next_start = (last + 1) % count;
                }
            }
            (SchedulerTies::Draw, _) => {
                // A search examines a part of the nodes if more are feasible than it wants: on average, this many.
                let wanted = self.model.nodes_to_find;
                let searches = u64::from(number.min(found.saturating_sub(wanted)));
                let feasible = u64::from(found) - searches / 2;
                let examined = searches * u64::from(wanted) * u64::from(count) / feasible.max(1);
                self.next_start = ((u64::from(self.next_start) + examined) % u64::from(count.max(1))) as u32;
            }
            (SchedulerTies::InOrder, Some(_)) => {}
        }
        self.candidates = candidates;
        // Its leader is in the same domain, maybe in a word without others.
        if !leader.is_some() {
            placed.nodes.trim();
        }
        placed
    }

    /// Keeps `number` of the nodes: the first ones, or any with the same probability.
    fn choose_crowd(&self, pod: SearchedPod, number: u32, placed: &mut PlacedCrowd, draws: &mut DrawSequence) {
        let count = self.model.cluster.len() as u32;
        let is_drawn = self.model.scenario.control_plane.ties == SchedulerTies::Draw;
        if is_drawn && !self.model.has_equal_nodes {
            return self.draw_nodes(pod, number, &mut placed.nodes, draws);
        }
        let candidates = &placed.nodes;
        // Among equal nodes, which ones are neighbors does not matter: a random one is the first.
        if is_drawn {
            let search = NodeSearch { count, start: 0, wanted: 1, words: candidates.range() };
            let nth = draws.below(self.draw_name(pod), candidates.len());
            placed.start = search.nth(nth, candidates).unwrap_or(0);
        }
        let search = NodeSearch { count, start: placed.start, wanted: 1, words: candidates.range() };
        let (first, last) = (search.nth(0, candidates), number.checked_sub(1).and_then(|n| search.nth(n, candidates)));
        match first.zip(last) {
            Some((first, last)) => placed.nodes.keep_between(NodeId(first), NodeId(last)),
            None => placed.nodes.keep(&[]),
        }
    }

    /// Keeps `number` of the nodes, drawn one by one: the fewer ones, those that are kept or the others.
    fn draw_nodes(&self, pod: SearchedPod, number: u32, nodes: &mut NodeSet, draws: &mut DrawSequence) {
        let found = nodes.len();
        let (count, omits) = (self.model.cluster.len() as u32, found - number < number);
        let mut kept = nodes.clone();
        kept.keep(&[]);
        for nth in 0..if omits { found - number } else { number } {
            let search = NodeSearch { count, start: 0, wanted: 1, words: nodes.range() };
            let name = self.draw_name(SearchedPod { search: pod.search + nth, ..pod });
            let Some(node) = search.nth(draws.below(name, found - nth), nodes).map(NodeId) else { break };
            nodes.set(node, false);
            kept.set(node, true);
        }
        if !omits {
            *nodes = kept;
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
        self.count_pod(job, node, is_added);
        if !self.is_gone[node.ix()] {
            self.domains.update(&self.model.domains, &self.counted(job, is_leader), node, is_added);
        }
    }

    fn count_pod(&mut self, job: usize, node: NodeId, is_added: bool) {
        let template = self.model.template_of(job);
        let columns = self.model.cluster.resources.len();
        for (column, milli) in &template.facts.requests {
            let free = &mut self.free[node.ix() * columns + *column as usize];
            *free += if is_added { -*milli } else { *milli };
        }
        let pods = &mut self.pods[node.ix()];
        *pods = if is_added { *pods + 1 } else { *pods - 1 };
        self.update_node(node);
    }

    fn counted(&self, job: usize, is_leader: bool) -> DomainPod {
        DomainPod { place: job as u32, class: 0, exclusive: self.model.template_of(job).exclusive, is_leader }
    }

    /// Returns the node that the scheduler chooses for a pod; `None` if none fits.
    pub fn find(&mut self, pod: SearchedPod, role: PodRole, draws: &mut DrawSequence) -> Option<NodeId> {
        let mut candidates = std::mem::take(&mut self.candidates);
        let within = self.read_candidates(pod, role, &mut candidates);
        let found = self.choose(pod, within.is_some(), &candidates, draws);
        self.candidates = candidates;
        found
    }

    /// Reads the nodes on which a pod fits. Returns the key and the domain of all of them, if they have one.
    fn read_candidates(&self, pod: SearchedPod, role: PodRole, candidates: &mut NodeSet) -> Option<(usize, DomainId)> {
        let template = self.model.template_of(pod.job);
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
            self.domains.keep_free_domains(&self.model.domains, &counted, key as usize, candidates);
        }
        self.domains.remove_repelling(&self.model.domains, &counted, within, candidates);
        within
    }

    /// The first node that a search examines.
    fn start_of(&self, is_follower: bool) -> u32 {
        match self.model.scenario.control_plane.ties {
            SchedulerTies::InOrder if is_follower => 0,
            _ => self.next_start.checked_rem(self.model.cluster.len() as u32).unwrap_or(0),
        }
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
        let start = self.start_of(is_follower);
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
