//! The API server: the only place that writes to the store. Each function carries out one request at the instant of its
//! answer, tells watches what changed, and says how it was answered.
//!
//! Must never wait, draw a number or know who watches.

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

/// Tells watches; they see it when the event at hand has been handled.
fn note(ctx: &mut Ctx<'_>, what: What) {
    let change = Change {
        what,
        cause: ctx.cause,
        ticket: ctx.ticket,
    };
    ctx.store.write().changes.push(change);
}
