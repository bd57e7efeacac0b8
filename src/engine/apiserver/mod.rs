//! The API server: the only code that writes to the store. Each function executes one request at the instant of its
//! response, records the changes for the watches, and returns the response.
//!
//! Must never wait, draw a random number, or know the watchers.

mod jobs;
mod jobsets;
mod nodes;
mod others;
mod pod_admission;
mod pods;
pub(crate) mod stored;

pub use jobs::*;
pub use jobsets::*;
pub use nodes::*;
pub use others::*;
pub use pod_admission::{classes, job_object, pod_refusal, post_refusal};
pub use pods::*;
pub use stored::Stored;

use super::ctx::Ctx;
use crate::store::{Change, What};

/// Records a change for the watches; they receive it after the current event was handled.
fn note(ctx: &mut Ctx<'_>, what: What) {
    let change = Change {
        what,
        cause: ctx.cause,
        ticket: ctx.ticket,
    };
    ctx.store.write().changes.push(change);
}
