//! The API server: the only code that writes to the store. Each function executes one request at the instant of its
//! response, records the changes for the watches, and returns the response.
//!
//! Must never wait, draw a random number, or know the watchers.

mod child_job_error;
mod evictions;
mod jobs;
mod jobsets;
mod nodes;
mod others;
mod owners;
mod pod_admission;
mod pods;
pub(crate) mod stored;
mod volumes;
mod workloads;

pub use child_job_error::ChildJobError;
pub use evictions::{disruption_budgets, evict_pod};
pub use jobs::*;
pub use jobsets::*;
pub use nodes::*;
pub use others::*;
pub use owners::{ObjectOwner, has_owner_references, keep_bare_pod, owner_of};
pub use pod_admission::{job_object, known_classes, pod_rejection, post_rejection};
pub use pods::*;
pub use stored::StoredObject;
pub use volumes::{bind_claim_on_node, storage_objects};
pub use workloads::{QuotaChange, delete_workload, quota_changes, set_workload};

use super::ctx::EngineContext;
use crate::store::{ChangeKind, StoreChange};

/// Records a change for the watches; they receive it after the current event was handled.
fn record_change(ctx: &mut EngineContext<'_>, what: ChangeKind) {
    let change = StoreChange { kind: what, cause: ctx.cause, ticket: ctx.ticket };
    let store = ctx.store.get_mut();
    store.changes.push(change);
    if let ChangeKind::Node(node, _) = what {
        store.nodes.count_change(node);
    }
}
