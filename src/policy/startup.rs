//! startupPolicy InOrder: the replicatedJob to start next (SU-1, SU-2).
//!
//! Must never delay anything while the JobSet is suspended (CRE-7).

use super::{JobSetView, RjStatus};
use sim_api::spec::StartupPolicyOrder;

pub fn in_order(view: &JobSetView<'_>) -> bool {
    view.jobset.spec.startup_order == StartupPolicyOrder::InOrder
}

/// SU-1: a replicatedJob with 0 replicas has always started.
pub fn started(replicas: u32, status: &RjStatus) -> bool {
    status.failed + status.ready + status.succeeded == replicas
}
