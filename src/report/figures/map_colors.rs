//! Colors of nodes on a map: by Job, by state, by failure domain, or by stranded capacity.

use crate::draw::colors::node_color;
use crate::draw::scene::{BACKGROUND_COLOR, GRID, PALETTE, Rgb, TEXT_COLOR};
use sim_analysis::format::{count, thousands};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::node_states::{NodeState, NodeStates};
use sim_analysis::metrics::occupancy::NodeOccupant;
use sim_base::{DomainId, SimTime};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use std::collections::BTreeSet;

/// What the color of a node shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapColoring {
    /// The Job whose pod is on the node.
    Job,
    /// The state of the node and its pods.
    State,
    /// Whether a free node is in an island that is free as a whole.
    Stranded,
    /// The value of this label of the node; paler without a pod.
    Domain(String),
}

/// The nodes at one time.
#[derive(Copy, Clone)]
pub enum MapNodes<'a> {
    Occupants(&'a [NodeOccupant]),
    States(&'a NodeStates, SimTime),
}

impl MapNodes<'_> {
    /// Returns the number of nodes.
    pub fn count(&self) -> usize {
        match self {
            MapNodes::Occupants(all) => all.len(),
            MapNodes::States(states, _) => states.nodes(),
        }
    }
}

/// Colors of free nodes, by whether their whole island is free.
pub(crate) const SPARE: Rgb = PALETTE[3];
pub(crate) const STRANDED_NODE: Rgb = PALETTE[1];
/// Color of a node without pods in an island where other nodes have pods.
pub(crate) const STRANDED: Rgb = PALETTE[0];
const EMPTY: Rgb = GRID;
const FAILED_NODE: Rgb = TEXT_COLOR;
/// Colors of groups of a topology, by number; the colors repeat.
pub(crate) const NUMBERED: [Rgb; 8] =
    [PALETTE[2], PALETTE[7], PALETTE[4], PALETTE[6], PALETTE[3], PALETTE[1], PALETTE[5], (51, 34, 136)];
/// Colors of Jobs and domains. With more of them, the colors form a ramp in the order of their numbers.
const DISTINCT: [Rgb; 12] = [
    PALETTE[2],
    PALETTE[7],
    PALETTE[4],
    PALETTE[6],
    PALETTE[3],
    PALETTE[1],
    PALETTE[5],
    (51, 34, 136),
    (136, 34, 85),
    (153, 153, 51),
    (148, 103, 75),
    (17, 119, 51),
];
/// Colors of the ramp, at equal distances, from dark to light (viridis).
const RAMP: [Rgb; 5] = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)];

/// The colors of the Jobs or domains of a map.
struct NumberColors {
    /// The numbers that occur, in ascending order.
    numbers: Vec<usize>,
}

impl NumberColors {
    fn new<'a>(classes: impl Iterator<Item = &'a NodeClass>) -> NumberColors {
        let number = |class: &NodeClass| match *class {
            NodeClass::Numbered { number, .. } => Some(number),
            _ => None,
        };
        let numbers: BTreeSet<usize> = classes.filter_map(number).collect();
        NumberColors { numbers: numbers.into_iter().collect() }
    }

    fn is_ramp(&self) -> bool {
        self.numbers.len() > DISTINCT.len()
    }

    fn color(&self, number: usize) -> Rgb {
        let rank = self.numbers.binary_search(&number).unwrap_or(0);
        if !self.is_ramp() {
            return DISTINCT[rank];
        }
        let place = rank * (RAMP.len() - 1) * 256 / (self.numbers.len() - 1);
        let (at, part) = ((place / 256).min(RAMP.len() - 2), place as i32);
        let part = part - at as i32 * 256;
        let mix = |a: u8, b: u8| (i32::from(a) + (i32::from(b) - i32::from(a)) * part / 256) as u8;
        let (a, b) = (RAMP[at], RAMP[at + 1]);
        (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }

    /// Returns the numbers in the legend: all of them, or those at the colors of the ramp.
    fn named(&self) -> Vec<usize> {
        if !self.is_ramp() {
            return self.numbers.clone();
        }
        let last = self.numbers.len() - 1;
        (0..RAMP.len()).map(|i| self.numbers[i * last / (RAMP.len() - 1)]).collect()
    }
}

/// The class of a node, which has a color, in the order of the legend.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeClass {
    Numbered { number: usize, is_free: bool },
    InUse,
    Spare,
    Stranded,
    State(NodeState),
    Empty,
    NotReady,
}

impl NodeClass {
    fn color(self, numbers: &NumberColors) -> Rgb {
        match self {
            NodeClass::Numbered { number, is_free } => {
                let color = numbers.color(number);
                if is_free { paler(color) } else { color }
            }
            NodeClass::InUse => PALETTE[2],
            NodeClass::Spare => SPARE,
            NodeClass::Stranded => STRANDED_NODE,
            NodeClass::State(state) => node_color(state),
            NodeClass::Empty => EMPTY,
            NodeClass::NotReady => FAILED_NODE,
        }
    }
}

fn paler((r, g, b): Rgb) -> Rgb {
    let pale = |v: u8| (u16::from(v) / 4 + 191) as u8;
    (pale(r), pale(g), pale(b))
}

/// The colors of all nodes on the sides of a map, and their legend.
pub(crate) struct MapColors {
    /// Per side and node.
    pub sides: Vec<Vec<Rgb>>,
    pub legend: Vec<(Rgb, String)>,
    /// Per side: the number of free nodes by kind; only for stranded capacity.
    pub counts: Vec<String>,
}

impl MapColors {
    /// `islands` are the first nodes of the islands and the nodes after their last ones.
    pub(crate) fn new(
        run: &RunView<'_>, coloring: &MapColoring, sides: &[MapNodes<'_>], islands: &[(usize, usize)],
    ) -> MapColors {
        let domains = match coloring {
            MapColoring::Domain(key) => {
                let cluster = ClusterBuilder::build(&run.scenario.topology, &["pods".to_owned()]);
                Some(TopologyDomains::build(&cluster, key))
            }
            _ => None,
        };
        let classes = |nodes: &MapNodes<'_>| match *nodes {
            MapNodes::States(states, at) => {
                (0..states.nodes()).map(|node| NodeClass::State(states.at(node, at))).collect()
            }
            MapNodes::Occupants(all) => match (coloring, &domains) {
                (_, Some(domains)) => by_domain(all, domains),
                (MapColoring::Stranded, _) => by_stranding(all, islands),
                _ => all.iter().map(by_job).collect(),
            },
        };
        let sides: Vec<Vec<NodeClass>> = sides.iter().map(classes).collect();
        let counts = match coloring {
            MapColoring::Stranded => sides.iter().map(|side| count_free(side)).collect(),
            _ => vec![String::new(); sides.len()],
        };
        let name = |number: usize| match &domains {
            Some(domains) => domains.values.get(number).cloned().unwrap_or_default(),
            None => run.names.job(sim_base::JobId(number as u32)).to_owned(),
        };
        let numbers = NumberColors::new(sides.iter().flatten());
        let side_colors = |side: Vec<NodeClass>| side.into_iter().map(|class| class.color(&numbers)).collect();
        MapColors {
            legend: legend(sides.iter().flatten(), &numbers, name, domains.is_some()),
            counts,
            sides: sides.into_iter().map(side_colors).collect(),
        }
    }
}

fn by_job(node: &NodeOccupant) -> NodeClass {
    match (node.ready, node.job.is_some()) {
        (false, _) => NodeClass::NotReady,
        (true, true) => NodeClass::Numbered { number: node.job.ix(), is_free: false },
        (true, false) => NodeClass::Empty,
    }
}

fn by_domain(all: &[NodeOccupant], domains: &TopologyDomains) -> Vec<NodeClass> {
    let class = |(node, occupant): (usize, &NodeOccupant)| {
        let domain = domains.of.get(node).copied().unwrap_or(DomainId::NONE);
        match (occupant.ready, domain.is_some()) {
            (false, _) => NodeClass::NotReady,
            (true, true) => NodeClass::Numbered { number: domain.ix(), is_free: !occupant.job.is_some() },
            (true, false) => NodeClass::Empty,
        }
    };
    all.iter().enumerate().map(class).collect()
}

/// A free node is spare if no node of its island has a pod or is broken.
fn by_stranding(all: &[NodeOccupant], islands: &[(usize, usize)]) -> Vec<NodeClass> {
    let is_free = |node: &NodeOccupant| node.ready && !node.job.is_some();
    let class = |is_spare: bool, node: &NodeOccupant| match (node.ready, is_free(node)) {
        (false, _) => NodeClass::NotReady,
        (true, false) => NodeClass::InUse,
        (true, true) if is_spare => NodeClass::Spare,
        (true, true) => NodeClass::Stranded,
    };
    let island = |(from, to): &(usize, usize)| {
        let nodes = &all[*from..*to];
        let is_spare = nodes.iter().all(is_free);
        nodes.iter().map(move |node| class(is_spare, node)).collect::<Vec<_>>()
    };
    islands.iter().flat_map(island).collect()
}

fn count_free(side: &[NodeClass]) -> String {
    let count = |class: NodeClass| side.iter().filter(|own| **own == class).count() as u64;
    let (spare, stranded) = (count(NodeClass::Spare), count(NodeClass::Stranded));
    format!(": {} spare, {} stranded", thousands(spare), thousands(stranded))
}

fn legend<'a>(
    all: impl Iterator<Item = &'a NodeClass>, numbers: &NumberColors, name: impl Fn(usize) -> String, is_domain: bool,
) -> Vec<(Rgb, String)> {
    let (mut others, mut has_paler) = (BTreeSet::new(), false);
    for class in all {
        match *class {
            NodeClass::Numbered { is_free, .. } => has_paler |= is_free,
            other => {
                others.insert(other);
            }
        }
    }
    let mut entries: Vec<(Rgb, String)> = numbers.named().into_iter().map(|n| (numbers.color(n), name(n))).collect();
    if numbers.is_ramp() {
        let what = if is_domain { "domain" } else { "Job" };
        let text = format!("colors of {} in their order", count(numbers.numbers.len() as u64, what));
        entries.push((BACKGROUND_COLOR, text));
    }
    if has_paler {
        entries.push((BACKGROUND_COLOR, "paler: no pod of a Job".to_owned()));
    }
    entries.extend(others.into_iter().map(|class| {
        let text = match class {
            NodeClass::InUse => "in use",
            NodeClass::Spare => "spare (whole island free)",
            NodeClass::Stranded => "stranded (free, rest of the island in use or not ready)",
            NodeClass::State(state) => state.as_str(),
            NodeClass::Empty if is_domain => "no such label",
            NodeClass::Empty | NodeClass::Numbered { .. } => "no pod of a Job",
            NodeClass::NotReady => "node not ready",
        };
        (class.color(numbers), text.to_owned())
    }));
    entries
}
