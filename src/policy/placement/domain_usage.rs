//! Pods of JobSets and leaders of exclusive placement per topology domain, and the nodes that they leave to others
//! (EXC-17, EXC-20).

use super::exclusive::domain_is_free;
use super::node_set::{NodeSet, set_bits};
use crate::topology::TopologyDomains;
use sim_base::{DomainId, NodeId};

#[derive(Clone, Default)]
pub struct DomainUsage {
    /// By topology key; keys that came into use after the last count are missing.
    keys: Vec<KeyUsage>,
    /// Per name of a Job with exclusive placement (the job-key): its pods per domain, including those left by an
    /// earlier Job with the name; usually one entry or none.
    pods_by_domain: Vec<Vec<(DomainId, u32)>>,
}

#[derive(Clone, Default)]
struct KeyUsage {
    domains: Vec<DomainPods>,
    /// By priority class: the nodes of the domains without pods of JobSets with this priority; 64 per word.
    without_pods: Vec<Vec<u64>>,
    /// By priority class: the nodes of the domains with a leader of this priority; 64 per word.
    with_leader: Vec<Vec<u64>>,
}

#[derive(Clone, Default)]
struct DomainPods {
    /// Number of pods per priority class.
    pods: Vec<u32>,
    /// Names of the Jobs of exclusive leaders, with their priority classes.
    leaders: Vec<(u32, u32)>,
}

/// A pod of a JobSet as domains count it. Pods without a JobSet have no job-key, so that no term selects them (EXC-7).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DomainPod {
    /// Number of the name of its Job; equal names have equal job-keys.
    pub place: u32,
    /// Number of its priority.
    pub class: u32,
    /// Number of the topology key of its exclusive placement by the webhook, if any.
    pub exclusive: Option<u32>,
    pub is_leader: bool,
}

impl DomainUsage {
    /// Forgets everything, and counts by this number of topology keys from now on.
    pub fn reset(&mut self, keys: usize) {
        self.keys.clear();
        self.keys.resize(keys, KeyUsage::default());
        self.pods_by_domain.clear();
    }

    /// Number of topology keys that are counted.
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// A pod came to the node or left it. `domains` has the domains of each topology key.
    pub fn update(&mut self, domains: &[TopologyDomains], pod: &DomainPod, node: NodeId, is_added: bool) {
        self.update_many(domains, pod, (node, 1), is_added);
    }

    /// As [`DomainUsage::update`] for this number of pods on nodes that are in the domains of this one.
    pub fn update_many(&mut self, domains: &[TopologyDomains], pod: &DomainPod, pods: (NodeId, u32), is_added: bool) {
        for (key, domains) in domains.iter().enumerate().take(self.keys.len()) {
            self.count(key, domains, pods, pod, is_added);
        }
    }

    fn count(
        &mut self, key: usize, domains: &TopologyDomains, (node, number): (NodeId, u32), pod: &DomainPod,
        is_added: bool,
    ) {
        let domain = domains.of[node.ix()];
        if !domain.is_some() {
            return;
        }
        let is_exclusive = pod.exclusive == Some(key as u32);
        let is_leader = is_exclusive && pod.is_leader;
        let (usage, class) = (&mut self.keys[key], pod.class as usize);
        let there = usage.domain_mut(domains, domain, class);
        let pods = &mut there.pods[class];
        *pods = if is_added { *pods + number } else { *pods - number };
        let is_first_or_last = *pods == if is_added { number } else { 0 };
        if is_leader {
            let leader = (pod.place, pod.class);
            match there.leaders.iter().position(|known| *known == leader) {
                Some(at) if !is_added => drop(there.leaders.swap_remove(at)),
                _ if is_added => there.leaders.push(leader),
                _ => {}
            }
        }
        let has_leader = there.leaders.iter().any(|(_, of)| *of == pod.class);
        let nodes = &domains.nodes[domain.ix()];
        if is_first_or_last {
            set_bits(&mut usage.without_pods[class], nodes, !is_added);
        }
        if is_leader {
            set_bits(&mut usage.with_leader[class], nodes, has_leader);
        }
        if is_exclusive {
            self.count_own(pod.place as usize, (domain, number), is_added);
        }
    }

    fn count_own(&mut self, place: usize, (domain, number): (DomainId, u32), is_added: bool) {
        if self.pods_by_domain.len() <= place {
            self.pods_by_domain.resize_with(place + 1, Vec::new);
        }
        let own = &mut self.pods_by_domain[place];
        match own.iter_mut().find(|(d, _)| *d == domain) {
            Some((_, n)) => *n = if is_added { *n + number } else { *n - number },
            None => own.push((domain, number)),
        }
        own.retain(|(_, n)| *n > 0);
    }

    /// A node was added to its domains.
    pub fn add_node(&mut self, domains: &[TopologyDomains], node: NodeId) {
        for (usage, domains) in self.keys.iter_mut().zip(domains) {
            let domain = domains.of[node.ix()];
            for class in 0..usage.without_pods.len() {
                let is_empty = domain.is_some() && usage.pods_in(domain, class) == 0;
                let leaders = usage.domains.get(domain.ix()).map_or(&[][..], |there| &there.leaders);
                let has_leader = leaders.iter().any(|(_, of)| *of as usize == class);
                set_bits(&mut usage.without_pods[class], &[node], is_empty);
                set_bits(&mut usage.with_leader[class], &[node], has_leader);
            }
        }
    }

    /// Number of pods with the job-key per domain of its key.
    fn job_domains(&self, place: u32) -> &[(DomainId, u32)] {
        self.pods_by_domain.get(place as usize).map_or(&[], Vec::as_slice)
    }

    /// Keeps the nodes of the domains that a leader with the topology key of this number may enter.
    pub fn keep_free_domains(&self, domains: &[TopologyDomains], pod: &DomainPod, key: usize, nodes: &mut NodeSet) {
        let (domains, class) = (&domains[key], pod.class as usize);
        let own = self.job_domains(pod.place);
        let usage = self.keys.get(key);
        if own.is_empty() {
            match usage.and_then(|usage| usage.without_pods.get(class)) {
                Some(free) => nodes.keep(free),
                None => nodes.keep(&labelled(domains)),
            }
            return;
        }
        let pods = |domain: DomainId| usage.map_or(0, |usage| usage.pods_in(domain, class));
        let free = own.iter().filter(|(domain, _)| domain_is_free(pods(*domain), own, *domain));
        let mut words = Vec::new();
        free.for_each(|(domain, _)| set_bits(&mut words, &domains.nodes[domain.ix()], true));
        nodes.keep(&words);
    }

    /// Removes the nodes whose domains have an exclusive leader of another Job with the same priority: required
    /// anti-affinity is symmetric (EXC-17). `within` is the key and the domain of all these nodes, if they have one.
    pub fn remove_repelling(
        &self, domains: &[TopologyDomains], pod: &DomainPod, within: Option<(usize, DomainId)>, nodes: &mut NodeSet,
    ) {
        let is_other = |(p, c): &(u32, u32)| *p != pod.place && *c == pod.class;
        let own = self.job_domains(pod.place);
        for (key, usage) in self.keys.iter().enumerate() {
            let Some(led) = usage.with_leader.get(pod.class as usize) else { continue };
            match within {
                Some((own_key, domain)) if own_key == key => {
                    if usage.domains.get(domain.ix()).is_some_and(|there| there.leaders.iter().any(is_other)) {
                        nodes.keep(&[]);
                    }
                }
                _ => {
                    // The Job's own leader does not repel the pod.
                    let is_spared = |(domain, _): &&(DomainId, u32)| {
                        let there = usage.domains.get(domain.ix());
                        there.is_some_and(|there| !there.leaders.iter().any(is_other))
                    };
                    let spared = own.iter().filter(is_spared);
                    let nodes_of = |(domain, _): &(DomainId, u32)| &domains[key].nodes[domain.ix()];
                    let spared: Vec<NodeId> = spared.flat_map(nodes_of).copied().filter(|n| nodes.has(*n)).collect();
                    nodes.remove(led);
                    spared.iter().for_each(|node| nodes.set(*node, true));
                }
            }
        }
    }
}

/// Returns the nodes that belong to a domain; 64 per word.
fn labelled(domains: &TopologyDomains) -> Vec<u64> {
    let mut words = Vec::new();
    domains.nodes.iter().for_each(|nodes| set_bits(&mut words, nodes, true));
    words
}

impl KeyUsage {
    fn pods_in(&self, domain: DomainId, class: usize) -> u32 {
        let pods = self.domains.get(domain.ix()).and_then(|there| there.pods.get(class));
        pods.copied().unwrap_or(0)
    }

    /// Returns the row of a domain, with a number for this priority class.
    fn domain_mut(&mut self, domains: &TopologyDomains, domain: DomainId, class: usize) -> &mut DomainPods {
        if self.domains.len() < domains.nodes.len() {
            self.domains.resize(domains.nodes.len(), DomainPods::default());
        }
        while self.without_pods.len() <= class {
            self.without_pods.push(labelled(domains));
            self.with_leader.push(Vec::new());
        }
        let there = &mut self.domains[domain.ix()];
        if there.pods.len() <= class {
            there.pods.resize(class + 1, 0);
        }
        there
    }
}
