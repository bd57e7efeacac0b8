//! Preemption without fair sharing.

use super::candidates::collect;
use super::search::{PreemptionRequest, Target, restore};
use crate::snapshot::Snapshot;

/// Removes candidates in order until the Workload fits, then adds back those that are not needed. The snapshot is
/// unchanged afterwards. Returns no target if the Workload does not fit.
pub fn targets(request: &PreemptionRequest, snapshot: &mut Snapshot) -> Vec<Target> {
    let candidates = collect(request, snapshot);
    let is_borrowing_forbidden =
        !snapshot.queues[request.info.queue].spec.preemption.borrow_within_cohort.lower_priority;
    // Without borrowing there are more candidates, but less quota.
    let attempts: &[bool] =
        if !candidates.has_other_queues || (is_borrowing_forbidden && !request.is_under_nominal(snapshot)) {
            &[true]
        } else if is_borrowing_forbidden && !candidates.has_hierarchical {
            &[false, true]
        } else {
            &[true, false]
        };
    for may_borrow in attempts {
        let mut targets = Vec::new();
        for candidate in &candidates.list {
            if !candidate.is_valid(request, snapshot, *may_borrow) {
                continue;
            }
            snapshot.remove_workload(&candidate.info);
            targets.push(Target { info: candidate.info.clone(), reason: candidate.variant.reason() });
            if request.fits(snapshot, *may_borrow) {
                request.fill_back(snapshot, &mut targets, *may_borrow);
                restore(snapshot, &targets);
                return targets;
            }
        }
        restore(snapshot, &targets);
    }
    Vec::new()
}
