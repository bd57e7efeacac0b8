//! Admission checks of a Workload.

use crate::workload::{CheckState, CheckStatus, Workload};
use sim_api::spec::kueue::{AdmissionCheckRule, ClusterQueue};
use std::collections::BTreeSet;

/// Returns the names of the checks that a Workload needs: those of its flavors or, without an admission, those of all
/// flavors of the ClusterQueue.
pub fn required<'a>(workload: &Workload, queue: &'a ClusterQueue) -> BTreeSet<&'a str> {
    let all = || queue.resource_groups.iter().flat_map(|group| &group.flavors).map(|flavor| &*flavor.name);
    let admission = workload.status.admission.as_ref();
    let assigned: BTreeSet<&str> =
        admission.iter().flat_map(|a| &a.pod_sets).flat_map(|p| p.flavors.values().map(|flavor| &**flavor)).collect();
    let applies = |rule: &&AdmissionCheckRule| {
        let covers = |flavor: &str| rule.on_flavors.is_empty() || rule.on_flavors.iter().any(|own| own == flavor);
        if admission.is_some() { assigned.iter().any(|flavor| covers(flavor)) } else { all().all(covers) }
    };
    queue.admission_checks.iter().filter(applies).map(|rule| &*rule.name).collect()
}

/// Adds checks that are missing, and removes those that are not needed. Returns whether anything changed.
pub fn sync(workload: &mut Workload, queue: &ClusterQueue) -> bool {
    let required = required(workload, queue);
    let before = workload.status.checks.clone();
    let checks = &mut workload.status.checks;
    checks.retain(|check| required.contains(&*check.name));
    for name in required {
        if !checks.iter().any(|check| check.name == name) {
            let (name, message) = (name.to_owned(), String::new());
            checks.push(CheckState { name, status: CheckStatus::Pending, message });
        }
    }
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    workload.status.checks != before
}

/// Returns the message about the checks in one state.
pub fn message(checks: &[CheckState], status: CheckStatus) -> String {
    let mut listed: Vec<&CheckState> = checks.iter().filter(|check| check.status == status).collect();
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    let part = |check: &&CheckState| match &*check.message {
        "" => format!("{:?}", check.name),
        message => format!("{:?} ({message})", check.name),
    };
    let parts: Vec<String> = listed.iter().map(part).collect();
    let noun = if parts.len() > 1 { "AdmissionChecks" } else { "AdmissionCheck" };
    format!("{noun} in {} state: {}", status.as_str(), parts.join("; "))
}
