//! What a suspended JobSet waits for, as text and by parts.

use super::history::{AdmissionWait, DEACTIVATED, JobSetAdmission, WaitCause};
use crate::metrics::restarts::restart::RestartMetrics;
use crate::metrics::view::RunView;
use sim_base::{JobSetId, SimTime};
use sim_engine::local_queue_text;

/// Describes what a suspended JobSet waited for between two instants: the longest of its waits with a cause; without a
/// cause a user, or its own pods.
pub fn awaited(
    run: &RunView<'_>, jobset: JobSetId, (from, to): (SimTime, SimTime), cause: Option<WaitCause>,
) -> String {
    let Some(own) = run.admission_of(jobset) else {
        return "spec.suspend to be set to false".to_owned();
    };
    let within = |wait: &AdmissionWait| wait.until.unwrap_or(to).min(to).0.saturating_sub(wait.from.max(from).0);
    let caused = own.waits.iter().filter(|wait| Some(wait.cause) == cause && within(wait) > 0);
    let Some(wait) = caused.max_by_key(|wait| within(wait)) else {
        // A JobSet that lost its queue is resumed neither by Kueue nor by a user.
        let blocked = run.outcome.blocked_reason(run.names.jobset(jobset));
        if let Some(reason) = blocked.filter(|_| to >= run.outcome.end) {
            return reason.to_owned();
        }
        let mut held = own.reservations.iter().filter(|held| held.evicted.is_some_and(|at| at < to));
        let releases = held.any(|held| held.until.is_none_or(|until| until > from && until <= to));
        let text = if releases { "its pods to end and release the quota" } else { "the JobSet to be resumed" };
        return text.to_owned();
    };
    let evictions = own.evictions.iter().rev();
    let mut before = evictions.filter(|eviction| eviction.at <= wait.from);
    match wait.cause {
        WaitCause::AdmissionChecks => format!("AdmissionCheck {}", wait.message),
        WaitCause::BackOff => match before.next() {
            Some(eviction) => format!("back-off after {}", eviction.reason),
            None => "back-off".to_owned(),
        },
        WaitCause::Deactivated => {
            let eviction = before.find(|eviction| eviction.reason.starts_with(DEACTIVATED));
            let why = eviction.and_then(|eviction| eviction.message.split_once(" due to "));
            match why {
                Some((_, why)) => format!("deactivated: {why}"),
                None => "deactivated".to_owned(),
            }
        }
        WaitCause::Quota => {
            let next = own.reservations.iter().find(|reservation| Some(reservation.from) == wait.until);
            let queue = match next.or(own.reservations.last()) {
                Some(reservation) => format!(" of ClusterQueue {}", reservation.cluster_queue),
                None => local_queue_text(&own.local_queue, " of LocalQueue "),
            };
            let wanted = if wait.message.contains("topology \"") { "a topology assignment" } else { "quota" };
            format!("{wanted}{queue}")
        }
    }
}

/// Divides the times in which JobSets were suspended during restarts, and the same parts of their paths, where the
/// waits of their Workloads begin and end.
pub(crate) fn divide_queues(restarts: &mut [RestartMetrics], job_sets: &[JobSetAdmission]) {
    for restart in restarts.iter_mut().filter(|restart| !restart.queue.is_empty()) {
        let Some(own) = job_sets.iter().find(|own| own.jobset == restart.jobset) else {
            continue;
        };
        let all = std::mem::take(&mut restart.queue);
        for (from, to, cause) in all.into_iter().flat_map(|(from, to)| parts(own, from, to)) {
            restart.path.wait_for_admission(from, to, (restart.jobset, cause));
            restart.queue.push((from, to));
        }
    }
}

/// Returns the parts of a time by the cause of the wait of a Workload, in order and without gaps.
fn parts(own: &JobSetAdmission, from: SimTime, to: SimTime) -> Vec<(SimTime, SimTime, Option<WaitCause>)> {
    let mut parts: Vec<(SimTime, SimTime, Option<WaitCause>)> = Vec::new();
    let mut add = |from: SimTime, to: SimTime, cause| match parts.last_mut() {
        _ if from >= to => {}
        Some(last) if last.2 == cause => last.1 = to,
        _ => parts.push((from, to, cause)),
    };
    let mut cursor = from;
    for wait in &own.waits {
        let until = wait.until.or(own.finished).unwrap_or(SimTime::NEVER).min(to);
        let begins = wait.from.max(cursor).min(to);
        if begins < until {
            add(cursor, begins, None);
            add(begins, until, Some(wait.cause));
            cursor = until;
        }
    }
    add(cursor, to, None);
    parts
}
