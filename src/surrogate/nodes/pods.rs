//! Pods in the crowd of their Job and pods apart: how they become one or the other, and the placement of whole crowds.

use super::crowd::Crowd;
use super::places::{CrowdSearch, PodRole};
use super::rows::PodRow;
use super::run::Replication;
use sim_base::NodeId;

impl Replication<'_, '_> {
    /// Returns the pods on a node, which are apart from now on.
    pub fn pods_on(&mut self, node: NodeId) -> Vec<usize> {
        if self.places.is_crowded(node) {
            let job = self.jobs.iter().position(|row| row.crowd.nodes.has(node)).expect("the node is of a crowd");
            self.leave_crowd(job, node);
        }
        self.on_node[node.ix()].clone()
    }

    /// The node of a pod, if it has or had one.
    pub fn node_of(&self, pod: usize) -> Option<NodeId> {
        let job = self.model.job_of_pod[pod] as usize;
        let number = (pod - self.model.jobs[job].pods.start) as u32;
        if self.pods[pod].is_apart {
            let row = &self.pods[pod];
            return Some(if row.exists { row.node } else { row.last_node }).filter(|node| node.is_some());
        }
        self.jobs[job].crowd.node_of(number, self.model.cluster.len())
    }

    /// The pod is apart from now on.
    pub fn set_apart(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        if !self.pods[pod].is_apart {
            let node = self.node_of(pod);
            self.leave_crowd(job, node.expect("the pod runs"));
        }
    }

    pub fn leave_crowd(&mut self, job: usize, node: NodeId) {
        self.take_from_crowd(job, node);
        self.accounts.leave_crowd(job, node);
    }

    /// Gives the pod of a crowd on a node a state of its own, and returns it.
    pub fn take_from_crowd(&mut self, job: usize, node: NodeId) -> usize {
        let crowd = &mut self.jobs[job].crowd;
        let pod = self.model.jobs[job].pods.start + crowd.number_of(node) as usize;
        crowd.nodes.set(node, false);
        let bound_at = crowd.bound_at;
        self.places.leave_crowd(job, node);
        self.on_node[node.ix()].push(pod);
        self.add_apart(pod);
        let row = &mut self.pods[pod];
        (row.node, row.bound_at) = (node, bound_at);
        pod
    }

    /// A pod that exists gets a state of its own.
    pub fn add_apart(&mut self, pod: usize) {
        self.jobs[self.model.job_of_pod[pod] as usize].apart.push(pod);
        let epoch = self.pods[pod].epoch + 1;
        self.pods[pod] = PodRow { is_apart: true, exists: true, epoch, ..PodRow::new() };
    }

    /// The pods of a crowd end, and their nodes are free.
    pub fn end_crowd(&mut self, job: usize) {
        let crowd = std::mem::replace(&mut self.jobs[job].crowd, Crowd::empty());
        if !crowd.nodes.is_empty() {
            self.accounts.move_crowd(self.now, job, &crowd.nodes, false);
            self.places.move_crowd(job, crowd.leader, &crowd.nodes, false);
            if self.model.has_on_demand && self.model.has_cold_spares {
                crowd.nodes.iter().for_each(|node| self.update_billing(node, false));
            }
        }
    }

    /// The nodes of the pods of a Job, in the order of the pods.
    pub fn nodes_of(&self, job: usize) -> Vec<NodeId> {
        let row = &self.jobs[job];
        let number = |pod: usize| (pod - self.model.jobs[job].pods.start) as u32;
        let crowd = row.crowd.nodes.iter().map(|node| (row.crowd.number_of(node), node));
        let apart = row.apart.iter().map(|pod| (number(*pod), self.pods[*pod].node));
        let mut all: Vec<(u32, NodeId)> = crowd.chain(apart).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, node)| node).collect()
    }

    /// Number of pods that exist and are deleted, or are not.
    pub fn count_pods(&self, job: usize, is_deleting: bool) -> u32 {
        let row = &self.jobs[job];
        let apart = row.apart.iter().map(|pod| &self.pods[*pod]);
        let apart = apart.filter(|pod| pod.exists && pod.is_deleting == is_deleting).count() as u32;
        // Without a crowd, pods that are not apart wait together.
        let waits = self.waits_as_one(job);
        let others = if waits { self.model.jobs[job].pods.len() as u32 } else { row.crowd.nodes.len() };
        if is_deleting { apart } else { apart + others }
    }

    /// Whether all pods of a Job wait for nodes, and none has a state of its own.
    pub fn waits_as_one(&self, job: usize) -> bool {
        let row = &self.jobs[job];
        row.exists && row.apart.is_empty() && row.unplaced as usize == self.model.jobs[job].pods.len()
    }

    /// Places all pods of a Job. Those without a node are apart, unless all wait. Returns the number of placed
    /// pods.
    pub fn place_crowd(&mut self, job: usize) -> u32 {
        let pods = self.model.jobs[job].pods.clone();
        let mut leader = NodeId::NONE;
        let mut role = PodRole::First;
        if let Some(key) = self.model.template_of(job).exclusive {
            let wanted = self.next_search(job, true, 1);
            // The webhook refuses followers until the leader has a node (EXC-10).
            let Some(node) = self.places.find(wanted, PodRole::First, self.draws) else { return 0 };
            leader = node;
            role = PodRole::Follower(self.model.domains[key as usize].of[node.ix()]);
        }
        let number = pods.len() as u32 - u32::from(leader.is_some());
        let wanted = self.next_search(job, false, number);
        let placed = self.places.find_crowd(wanted, CrowdSearch { role, leader, number }, self.draws);
        let row = &mut self.jobs[job];
        row.crowd.place(self.now, leader, placed);
        let crowd = row.crowd.nodes.clone();
        if crowd.is_empty() {
            return 0;
        }
        row.unplaced -= crowd.len();
        self.places.move_crowd(job, leader, &crowd, true);
        let unreachable: Vec<NodeId> = self.health.silent.iter().copied().filter(|node| crowd.has(*node)).collect();
        // Accounts know crowds on healthy nodes only.
        let mut healthy = crowd;
        unreachable.iter().for_each(|node| healthy.set(*node, false));
        self.accounts.move_crowd(self.now, job, &healthy, true);
        for node in unreachable {
            self.bind_to_silent(job, node);
        }
        let bound = pods.len() - self.jobs[job].unplaced as usize;
        for pod in pods.skip(bound) {
            self.add_apart(pod);
            if let PodRole::Follower(domain) = role {
                self.pods[pod].domain = domain;
            }
        }
        bound as u32
    }

    /// A pod of a crowd is placed on a machine that does not reach the control plane, which the scheduler does not know
    /// yet: the pod does not start.
    pub fn bind_to_silent(&mut self, job: usize, node: NodeId) {
        let pod = self.take_from_crowd(job, node);
        self.accounts.bind(self.now, job, node);
        let row = &mut self.pods[pod];
        (row.is_lost, row.starts_late) = (true, true);
        self.jobs[job].lost += 1;
    }
}
