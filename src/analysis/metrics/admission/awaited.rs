//! What a suspended JobSet waits for, as text.

use super::history::{AdmissionWait, WaitCause};
use crate::metrics::view::RunView;
use sim_base::{JobSetId, SimTime};
use sim_engine::local_queue_text;

/// Describes what a suspended JobSet waited for between two instants: the longest wait of its Workload, or a user.
pub fn awaited(run: &RunView<'_>, jobset: JobSetId, from: SimTime, to: SimTime) -> String {
    let Some(own) = run.admission_of(jobset) else {
        return "spec.suspend to be set to false".to_owned();
    };
    let within = |wait: &AdmissionWait| wait.until.unwrap_or(to).min(to).0.saturating_sub(wait.from.max(from).0);
    let longest = own.waits.iter().filter(|wait| within(wait) > 0).max_by_key(|wait| within(wait));
    let Some(wait) = longest else {
        return "the JobSet to be resumed".to_owned();
    };
    if wait.cause == WaitCause::AdmissionChecks {
        return format!("AdmissionCheck {}", wait.message);
    }
    let next = own.reservations.iter().find(|reservation| Some(reservation.from) == wait.until);
    let queue = match next.or(own.reservations.last()) {
        Some(reservation) => format!(" of ClusterQueue {}", reservation.cluster_queue),
        None => local_queue_text(&own.local_queue, " of LocalQueue "),
    };
    let wanted = if wait.message.contains("topology \"") { "a topology assignment" } else { "quota" };
    format!("{wanted}{queue}")
}
