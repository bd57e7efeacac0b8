//! Conditions of a Workload.

use sim_base::SimTime;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionType {
    QuotaReserved,
    Admitted,
    Evicted,
    Preempted,
    Requeued,
    PodsReady,
    DeactivationTarget,
    Finished,
}

impl ConditionType {
    pub const ALL: [ConditionType; 8] = [
        ConditionType::QuotaReserved,
        ConditionType::Admitted,
        ConditionType::Evicted,
        ConditionType::Preempted,
        ConditionType::Requeued,
        ConditionType::PodsReady,
        ConditionType::DeactivationTarget,
        ConditionType::Finished,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ConditionType::QuotaReserved => "QuotaReserved",
            ConditionType::Admitted => "Admitted",
            ConditionType::Evicted => "Evicted",
            ConditionType::Preempted => "Preempted",
            ConditionType::Requeued => "Requeued",
            ConditionType::PodsReady => "PodsReady",
            ConditionType::DeactivationTarget => "DeactivationTarget",
            ConditionType::Finished => "Finished",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub kind: ConditionType,
    pub status: bool,
    pub reason: String,
    pub message: String,
    /// Time of the last change of the status.
    pub since: SimTime,
}
