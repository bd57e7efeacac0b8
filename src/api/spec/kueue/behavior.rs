//! Behavior of Kueue's main branch that changed after performance tests were published.

/// Changes of Kueue, by the pull request that made them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct KueueBehavior {
    /// Inadmissible Workloads are tried again once per second (9232). Before, each release of quota retried them at
    /// once.
    pub batches_retries: bool,
    /// A preemption that is not observed yet is not repeated (9437).
    pub expects_preemptions: bool,
    /// A change of the head during its cycle does not return it to the queue (9598).
    pub holds_head_in_cycle: bool,
    /// Workloads with the shape of one that failed are not tried (`SchedulingEquivalenceHashing`, added by 9698, off
    /// from 10001 to 11097).
    pub skips_equal_shapes: bool,
    /// A placement that no longer fits is computed again (`TASRecomputeAssignmentWithinSchedulingCycle`, 12419).
    pub recomputes_placements: bool,
    /// Preemption targets that another entry took are computed again
    /// (`RecomputeAssignmentUponPreemptionTargetsOverlap`, 13863).
    pub recomputes_targets: bool,
}

impl Default for KueueBehavior {
    fn default() -> KueueBehavior {
        KueueBehavior::on("9999-12-31")
    }
}

impl KueueBehavior {
    /// Returns the behavior of the main branch at the end of a day, such as `2026-02-24`.
    pub fn on(day: &str) -> KueueBehavior {
        let has = |merged: &str| day >= merged;
        KueueBehavior {
            batches_retries: has("2026-02-25"),
            expects_preemptions: has("2026-02-27"),
            holds_head_in_cycle: has("2026-03-02"),
            skips_equal_shapes: has("2026-03-06") && !has("2026-03-19") || has("2026-05-13"),
            recomputes_placements: has("2026-06-26"),
            recomputes_targets: has("2026-08-11"),
        }
    }
}
