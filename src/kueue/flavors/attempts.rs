//! The flavors that were tried, and the reason that is reported if none of them fits.

use super::mode::{AssignmentMode, PreemptionPossibility};
use crate::requests::Name;
use crate::workload::reasons;
use sim_api::spec::kueue::ResourceGroup;
use std::collections::BTreeMap;

/// Reasons of the condition QuotaReserved by severity.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoFitReason {
    #[default]
    None,
    TopologyPlacementFailed,
    WaitingForQuota,
    ExceedsMaxQuota,
    NoMatchingFlavor,
}

impl NoFitReason {
    pub fn as_str(self) -> &'static str {
        match self {
            NoFitReason::None => "",
            NoFitReason::TopologyPlacementFailed => reasons::TOPOLOGY_PLACEMENT_FAILED,
            NoFitReason::WaitingForQuota => reasons::WAITING_FOR_QUOTA,
            NoFitReason::ExceedsMaxQuota => reasons::EXCEEDS_MAX_QUOTA,
            NoFitReason::NoMatchingFlavor => reasons::NO_MATCHING_FLAVOR,
        }
    }
}

/// Result of one flavor for all resources of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub mode: AssignmentMode,
    pub borrowing: usize,
    pub possibility: Option<PreemptionPossibility>,
    pub reasons: Vec<String>,
    pub no_fit: NoFitReason,
}

/// Attempts by flavor.
pub type Attempts = BTreeMap<Name, Attempt>;

/// Adds the attempts for a further resource. For each flavor the worst result counts.
pub fn merge(all: &mut Attempts, new: Attempts, group: Option<&ResourceGroup>, resource: &str) {
    if let Some(group) = group.filter(|_| !new.is_empty()) {
        let in_group = |name: &str| group.flavors.iter().any(|flavor| flavor.name == name);
        for (flavor, attempt) in all.iter_mut().filter(|(name, _)| in_group(name) && !new.contains_key(*name)) {
            attempt.mode = AssignmentMode::NoFit;
            attempt.reasons.push(format!("flavor {flavor} does not provide resource {resource}"));
            attempt.reasons.sort();
            attempt.reasons.dedup();
            attempt.no_fit = NoFitReason::NoMatchingFlavor;
        }
    }
    for (flavor, attempt) in new {
        match all.get_mut(&flavor) {
            None => drop(all.insert(flavor, attempt)),
            Some(old) => {
                old.mode = old.mode.min(attempt.mode);
                old.borrowing = old.borrowing.max(attempt.borrowing);
                old.possibility = [old.possibility, attempt.possibility].into_iter().flatten().min();
                old.reasons.extend(attempt.reasons);
                old.reasons.sort();
                old.reasons.dedup();
                old.no_fit = old.no_fit.max(attempt.no_fit);
            }
        }
    }
}

/// Returns the reason for which a pod set fits into no flavor: the least severe one in each resource group, and the
/// most severe one of all groups.
pub fn no_fit_reason(attempts: &Attempts, groups: &[ResourceGroup]) -> NoFitReason {
    let mut least: BTreeMap<isize, NoFitReason> = BTreeMap::new();
    let failed = attempts.iter().filter(|(_, attempt)| attempt.mode == AssignmentMode::NoFit);
    for (k, (flavor, attempt)) in failed.enumerate() {
        let with_flavor = |(_, group): &(usize, &ResourceGroup)| group.flavors.iter().any(|f| *f.name == **flavor);
        let mut indices: Vec<isize> =
            groups.iter().enumerate().filter(with_flavor).map(|(index, _)| index as isize).collect();
        if indices.is_empty() {
            indices.push(-1 - k as isize);
        }
        for index in indices {
            let reason = least.entry(index).or_insert(attempt.no_fit);
            *reason = attempt.no_fit.min(*reason);
        }
    }
    least.into_values().max().unwrap_or_default()
}
