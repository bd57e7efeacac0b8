//! The order in which the Jobs of a JobSet get their delays in a start or restart.
//!
//! A measured restart began with the failure of one Job, and its Jobs followed each other in one of many orders. Which
//! Job is created and placed first decides which nodes each gets. Here the failed Job gets the delays of the one that
//! failed in the measurement; the others of its replicatedJob share the other delays in a drawn order, in which each
//! Job is as early or late as in one of the measurements.

use super::run::Replication;
use sim_base::Duration;
use sim_base::random::{StreamPurpose, UniformDraw};
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

impl Replication<'_, '_> {
    /// Draws which Job has which of the delays of the chosen restart, or of the start before the first one.
    pub fn draw_order(&mut self, jobset: usize, failed: Option<usize>) {
        let (of, row) = (&self.model.jobsets[jobset], &self.jobsets[jobset]);
        let profile = &of.profile;
        let is_start = !row.has_started;
        let starts: Vec<_> = profile.starts.iter().map(|start| move |at: usize| start.placed[at].first).collect();
        let restarts: Vec<_> = profile.restarts.iter().map(|restart| move |at: usize| restart.jobs[at].first).collect();
        let measured = |nth: usize| {
            if is_start {
                return MeasuredOrder { first: &starts[nth], failed: None };
            }
            MeasuredOrder { first: &restarts[nth], failed: Some(profile.restarts[nth].failed_job) }
        };
        let number = if is_start { starts.len() } else { restarts.len() };
        let sizes = of.spec.spec.replicated_jobs.iter().map(|rj| rj.replicas as usize);
        let groups = sizes.scan(0, |end, size| {
            *end += size;
            Some(*end - size..*end)
        });
        let (entity, occurrence, draws) = (of.key, row.chosen, &mut *self.draws);
        let drawn = |job: usize| {
            let purpose = StreamPurpose::MeasuredDelay;
            let draw = UniformDraw { purpose, entity, occurrence, substream: 1 + job as u32 };
            measured(draws.below(draw, number as u32) as usize)
        };
        let order = draw_order(groups, failed.map(|job| job - of.jobs.start), measured(row.delays % number), drawn);
        self.jobsets[jobset].order = order;
    }

    /// Position of a Job among the measured ones in the current start or restart.
    pub fn position_of(&self, job: usize) -> usize {
        let of = self.model.jobs[job].jobset;
        let nth = job - self.jobs_of(of).start;
        self.jobsets[of].order.get(nth).map_or(nth, |position| *position as usize)
    }
}
