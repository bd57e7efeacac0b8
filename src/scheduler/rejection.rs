//! Reasons against nodes, and the message of an unschedulable pod (`FitError` in `framework/types.go`).

use crate::{plugin::Plugin, plugins::claims::ClaimProblem};
use std::collections::BTreeMap;
use std::fmt;

/// One reason of a plugin against a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    Fixed(&'static str),
    /// The node has too little of the resource with this name.
    Insufficient(String),
    Claim(ClaimProblem),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Fixed(text) => f.write_str(text),
            Reason::Insufficient(resource) => write!(f, "Insufficient {resource}"),
            Reason::Claim(problem) => problem.fmt(f),
        }
    }
}

/// The result of the first plugin that rejects a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub plugin: Plugin,
    /// Whether the removal of pods might help (Unschedulable rather than UnschedulableAndUnresolvable).
    pub is_resolvable: bool,
    pub reasons: Vec<Reason>,
}

impl Rejection {
    /// Returns the rejection of all nodes by PreFilter because of a claim.
    pub fn by_claim(problem: ClaimProblem) -> Rejection {
        let plugin = match &problem {
            ClaimProblem::Unbound | ClaimProblem::Missing(_) | ClaimProblem::Deleted(_) | ClaimProblem::Lost { .. } => {
                Plugin::VolumeBinding
            }
            ClaimProblem::VolumeMissing(_) => Plugin::VolumeZone,
            ClaimProblem::ResourceClaimMissing(_) | ClaimProblem::ResourceClaimNotCreated(_) => {
                Plugin::DynamicResources
            }
        };
        Rejection { plugin, is_resolvable: false, reasons: vec![Reason::Claim(problem)] }
    }

    pub fn resolvable(plugin: Plugin, text: &'static str) -> Rejection {
        Rejection { plugin, is_resolvable: true, reasons: vec![Reason::Fixed(text)] }
    }

    pub fn unresolvable(plugin: Plugin, text: &'static str) -> Rejection {
        Rejection { is_resolvable: false, ..Rejection::resolvable(plugin, text) }
    }
}

/// Number of nodes by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasonCounts(BTreeMap<Reason, usize>);

impl ReasonCounts {
    pub fn add(&mut self, reason: &Reason, nodes: usize) {
        match self.0.get_mut(reason) {
            Some(count) => *count += nodes,
            None => drop(self.0.insert(reason.clone(), nodes)),
        }
    }

    pub fn add_rejection(&mut self, rejection: &Rejection) {
        rejection.reasons.iter().for_each(|reason| self.add(reason, 1));
    }

    /// Returns the sentence of kube-scheduler. The parts are sorted as texts, including their counts.
    pub fn message(&self, nodes: usize) -> String {
        let mut parts: Vec<String> = self.0.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        parts.sort();
        let end = if parts.is_empty() { String::new() } else { format!(" {}.", parts.join(", ")) };
        format!("0/{nodes} nodes are available:{end}")
    }
}
