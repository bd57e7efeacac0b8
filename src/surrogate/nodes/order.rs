//! The order in which the Jobs of a JobSet get their delays in a start or restart.
//!
//! A measured restart began with the failure of one Job, and its Jobs followed each other in one of many orders. Which
//! Job is created and placed first decides which nodes each gets. Here the failed Job gets the delays of the one that
//! failed in the measurement; the others of its replicatedJob share the other delays in a drawn order, in which each
//! Job is as early or late as in one of the measurements.

use sim_base::Duration;
use std::ops::Range;

/// What is known of a measured start or restart, for the order of its Jobs.
#[derive(Copy, Clone)]
pub struct MeasuredOrder<'a> {
    /// Per Job, when its first pod was bound.
    pub first: &'a dyn Fn(usize) -> Duration,
    /// Position of the Job that failed; `None` for a start.
    pub failed: Option<usize>,
}

/// Returns, for each Job, the position of the Job in the chosen measurement whose delays it gets. `groups` are the
/// positions of the Jobs of each replicatedJob, and `failed` is the Job that has failed. `drawn` returns the
/// measurement that decides how early a Job is.
pub fn draw_order<'a>(
    groups: impl Iterator<Item = Range<usize>>, failed: Option<usize>, chosen: MeasuredOrder<'a>,
    mut drawn: impl FnMut(usize) -> MeasuredOrder<'a>,
) -> Vec<u32> {
    let mut order = Vec::new();
    for group in groups {
        let within = |position: Option<usize>| position.filter(|position| group.contains(position));
        // Both failed Jobs are of one replicatedJob, unless none of this one was measured.
        let pair = within(failed).zip(within(chosen.failed));
        let first = order.len();
        order.extend(group.clone().map(|job| job as u32));
        let mut jobs: Vec<(Duration, usize)> = Vec::new();
        for job in group.clone().filter(|job| pair.is_none_or(|(own, _)| *job != own)) {
            let of = drawn(job);
            // The Job that failed there was early for this reason; then another one of the group counts.
            let like = if of.failed == Some(job) { within(failed).unwrap_or(job) } else { job };
            jobs.push(((of.first)(like), job));
        }
        let mut measured: Vec<(Duration, usize)> = group
            .clone()
            .filter(|position| pair.is_none_or(|(_, measured)| *position != measured))
            .map(|position| ((chosen.first)(position), position))
            .collect();
        jobs.sort_unstable();
        measured.sort_unstable();
        for ((_, job), (_, position)) in jobs.into_iter().zip(measured) {
            order[first + job - group.start] = position as u32;
        }
        if let Some((own, measured)) = pair {
            order[first + own - group.start] = measured as u32;
        }
    }
    order
}
