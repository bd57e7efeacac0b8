//! Finds the explained restart in the run of changed inputs, by its cause.
//!
//! A change can add, remove and postpone other restarts, so the number of a restart identifies it in one run only.

use crate::metrics::restarts::restart::CauseKind;
use crate::metrics::{RestartMetrics, RestartOutcome};
use sim_api::spec::{FaultAction, NodeRef, ScenarioSpec, SilentFaults, SilentTarget};
use sim_base::{JobSetId, SimTime};
use sim_engine::record::RecordNames;
use std::collections::BTreeMap;

/// What led to a restart, in terms that are the same in the runs of changed inputs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RestartOrigin {
    /// An entry of `faults` in the scenario file.
    Entry { entry: u32 },
    /// A fault of a process: its cause, its action on an object, and the number of earlier ones.
    Random { cause: String, action: String, earlier: u32 },
    /// A fault from the command line: the number of earlier ones.
    Added { earlier: u32 },
    /// Something that is not a fault, in words.
    Event { what: String },
}

/// Returns the origin of each fault of a scenario with drawn faults.
pub fn origins(scenario: &ScenarioSpec) -> Vec<RestartOrigin> {
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut next = |key: (String, String)| {
        let count = counts.entry(key).or_default();
        *count += 1;
        *count - 1
    };
    let origin = |fault: &sim_api::spec::ScriptedFault| match (&fault.random_cause, fault.entry) {
        (Some(cause), _) => {
            let (cause, action) = (cause.to_string(), action_of(&fault.action));
            let earlier = next((cause.clone(), action.clone()));
            RestartOrigin::Random { cause, action, earlier }
        }
        (None, Some(entry)) => RestartOrigin::Entry { entry },
        (None, None) => RestartOrigin::Added { earlier: next((String::new(), String::new())) },
    };
    scenario.faults.iter().map(origin).collect()
}

/// Returns whether an action ends or blocks processes that run.
pub(super) fn breaks_pods(action: &FaultAction) -> bool {
    use FaultAction::*;
    matches!(
        action,
        ContainerExit { .. }
            | DeletePod { .. }
            | EvictPod { .. }
            | CrashNode(_)
            | PartitionNode(_)
            | Silent { fault: SilentFaults::Hang { .. } | SilentFaults::Corrupt { .. }, .. }
    )
}

/// Names a drawn action and its object, without values that a change can set.
fn action_of(action: &FaultAction) -> String {
    let node = |n: &NodeRef| n.name.clone().unwrap_or_default();
    match action {
        FaultAction::Silent { on: SilentTarget::Node(n), .. } => format!("silent {}", node(n)),
        FaultAction::Silent { on: SilentTarget::Pod(pod), .. } => format!("silent {pod}"),
        FaultAction::ContainerExit { pod, .. } => format!("exit {pod}"),
        FaultAction::CrashNode(n) => format!("crash {}", node(n)),
        FaultAction::PartitionNode(n) => format!("partition {}", node(n)),
        FaultAction::ReturnNode(n) => format!("return {}", node(n)),
        FaultAction::NewNode(n) => format!("new {}", node(n)),
        FaultAction::DeleteNode(n) => format!("delete {}", node(n)),
        FaultAction::CordonNode(n) => format!("cordon {}", node(n)),
        FaultAction::UncordonNode(n) => format!("uncordon {}", node(n)),
        FaultAction::DrainNode(n) => format!("drain {}", node(n)),
        other => format!("{other:?}"),
    }
}

/// A restart of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartOfRun {
    pub origin: RestartOrigin,
    pub start: SimTime,
    pub end: SimTime,
    pub ending: RestartOutcome,
}

impl RestartOfRun {
    pub fn new(restart: &RestartMetrics, origins: &[RestartOrigin], names: &RecordNames) -> RestartOfRun {
        let event = |what: String| RestartOrigin::Event { what };
        let origin = match restart.cause.kind {
            CauseKind::Fault { index } => {
                let known = origins.get(index as usize).cloned();
                known.unwrap_or_else(|| event(format!("fault {index}")))
            }
            CauseKind::Evicted { reason } => event(format!("evicted {}", names.text(reason))),
            CauseKind::PodRefused { reason } => event(format!("refused {}", names.text(reason))),
            other => event(format!("{other:?}")),
        };
        RestartOfRun { origin, start: restart.start, end: restart.end, ending: restart.ending }
    }

    /// Returns whether it begins before another one that it contains or delays.
    fn overlaps(&self, (from, to): (SimTime, SimTime)) -> bool {
        self.start < to.max(SimTime(from.0 + 1)) && self.end > from
    }
}

/// The explained restart, among the restarts of its JobSet in the unchanged run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedRestart {
    pub jobset: JobSetId,
    pub all: Vec<RestartOfRun>,
    /// Index of the explained one.
    pub at: usize,
    /// Faults on pods and nodes that occurred during it, with their times.
    pub later_faults: Vec<(RestartOrigin, SimTime)>,
    /// Whether its JobSet fails or is blocked after it in the unchanged run.
    pub is_lost_later: bool,
}

/// The counterpart of the explained restart in a changed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundRestart<'r> {
    Same(&'r RestartOfRun),
    /// The restarts in its time that the unchanged run does not have, or that began earlier; none if the list is
    /// empty.
    Instead(Vec<&'r RestartOfRun>),
}

impl ExplainedRestart {
    pub fn explained(&self) -> &RestartOfRun {
        &self.all[self.at]
    }

    /// Returns whether a restart of a changed run is the explained one, whatever follows it.
    pub fn is_certainly(&self, other: &RestartOfRun) -> bool {
        let own = self.explained();
        let is_only = || self.all.iter().filter(|restart| restart.origin == own.origin).count() == 1;
        // Of equal events, the nearest one is the same.
        let is_nearest = || !matches!(own.origin, RestartOrigin::Event { .. }) || other.start >= own.start;
        other.origin == own.origin && (other.start == own.start || is_only() && is_nearest())
    }

    /// Finds the explained restart in the restarts of its JobSet in a changed run.
    pub fn find<'r>(&self, changed: &'r [RestartOfRun]) -> FoundRestart<'r> {
        let pairs = self.pairs(changed);
        if let Some((_, other)) = pairs.iter().find(|(own, _)| *own == self.at) {
            return FoundRestart::Same(&changed[*other]);
        }
        let own = self.explained();
        let is_paired = |at: usize| pairs.iter().any(|(_, other)| *other == at);
        let instead = changed
            .iter()
            .enumerate()
            .filter(|(at, other)| other.overlaps((own.start, own.end)) && (other.start < own.start || !is_paired(*at)));
        FoundRestart::Instead(instead.map(|(_, other)| other).collect())
    }

    /// Returns the indices of equal restarts in the unchanged and in the changed run.
    fn pairs(&self, changed: &[RestartOfRun]) -> Vec<(usize, usize)> {
        let mut groups: BTreeMap<&RestartOrigin, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (at, restart) in self.all.iter().enumerate() {
            groups.entry(&restart.origin).or_default().0.push(at);
        }
        for (at, restart) in changed.iter().enumerate() {
            groups.entry(&restart.origin).or_default().1.push(at);
        }
        let mut all = Vec::new();
        for (own, others) in groups.into_values() {
            let times = |of: &[RestartOfRun], at: &[usize]| at.iter().map(|at| of[*at].start.0).collect::<Vec<_>>();
            let pairs = nearest_pairs(&times(&self.all, &own), &times(changed, &others));
            all.extend(pairs.into_iter().map(|(a, b)| (own[a], others[b])));
        }
        all
    }
}

/// Maximum number of steps of an exact search.
const STEPS_MAX: usize = 1_000_000;

/// Pairs all elements of the shorter of two ascending lists with elements of the other one, in order, so that the sum
/// of the differences is smallest.
fn nearest_pairs(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    if a.len() > b.len() {
        return nearest_pairs(b, a).into_iter().map(|(of_b, of_a)| (of_a, of_b)).collect();
    }
    if a.len() == b.len() || a.len().saturating_mul(b.len()) > STEPS_MAX {
        return (0..a.len()).map(|at| (at, at)).collect();
    }
    // Smallest sum for the first elements of both lists.
    let columns = b.len() + 1;
    let mut sums = vec![u128::MAX; (a.len() + 1) * columns];
    sums[..columns].fill(0);
    for i in 1..=a.len() {
        for k in i..=b.len() {
            let skips = sums[i * columns + k - 1];
            let takes = sums[(i - 1) * columns + k - 1].saturating_add(u128::from(a[i - 1].abs_diff(b[k - 1])));
            sums[i * columns + k] = skips.min(takes);
        }
    }
    let (mut pairs, mut k) = (Vec::new(), b.len());
    for i in (1..=a.len()).rev() {
        while k > i && sums[i * columns + k - 1] <= sums[i * columns + k] {
            k -= 1;
        }
        pairs.push((i - 1, k - 1));
        k -= 1;
    }
    pairs.reverse();
    pairs
}
