//! Elastic jobs: which slices take part in a segment, the conditions to start with fewer slices, and the return of
//! slices. The caller knows which slices are available, and starts and ends segments.
//!
//! Follows MaxText on Pathways (src/maxtext/utils/elastic_utils.py: the loss of a slice interrupts the job, which
//! resumes from a checkpoint with the remaining slices; new slices are added after a checkpoint is complete;
//! train.py: or resharded from memory) and TorchElastic (a rendezvous completes with the minimum number of nodes
//! after a last call).

use super::pace::UNIT_FACTOR;
use super::plan::PlanStart;
use super::trainer::RunningSegment;
use super::work_ledger::{BookedSegment, SegmentEnd};
use sim_api::spec::{ElasticTraining, RegrowPolicy, TrainingJob};
use sim_base::{Duration, JobId, SimTime};

/// The slices that take part in the steps of a job, out of all that it may have.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ElasticShare {
    pub slices: u32,
    pub total: u32,
}

impl ElasticShare {
    /// Returns true if a job may start with these slices.
    pub fn is_enough(self, spec: &ElasticTraining) -> bool {
        self.slices > 0 && self.slices >= spec.min_slices.min(self.total)
    }

    /// Step time in billionths of the normal one.
    pub fn factor(self, spec: &ElasticTraining) -> u64 {
        let share = UNIT_FACTOR * u64::from(self.total) / u64::from(self.slices.max(1));
        let given = spec.factor.map(|factor| UNIT_FACTOR * UNIT_FACTOR / factor.max(1));
        if self.slices == self.total { UNIT_FACTOR } else { given.unwrap_or(share) }
    }

    /// The fraction of the additional step time that is caused by underused slices and not by missing ones, for steps
    /// that take `factor` billionths of the normal time.
    pub fn unused_fraction(self, factor: u64) -> (u64, u64) {
        let (own, all) = (u64::from(self.slices), u64::from(self.total));
        let less = (factor * own).saturating_sub(all * UNIT_FACTOR);
        (less, ((factor - UNIT_FACTOR) * own).max(1))
    }
}

/// The Jobs of an elastic JobSet that could make steps now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AvailableSlices {
    /// Complete slices, followed by the Jobs that are not slices, each in the order of ids.
    pub jobs: Vec<JobId>,
    /// Number of complete slices.
    pub slices: u32,
    /// Number of unfinished slices.
    pub total: u32,
    /// True if every Job that is not a slice is ready.
    pub others_ready: bool,
}

impl AvailableSlices {
    fn share(&self) -> ElasticShare {
        ElasticShare { slices: self.slices, total: self.total }
    }

    /// Returns true if a job may start with these slices.
    pub fn is_enough(&self, spec: &ElasticTraining) -> bool {
        self.others_ready && self.share().is_enough(spec)
    }
}

/// The wait of a job that could start, for more slices.
#[derive(Clone, Debug, Default)]
pub struct LastCall {
    /// The current last call, and the number of last calls.
    current: Option<u32>,
    count: u32,
}

/// What a job without a segment does with the available slices.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SliceStart {
    /// The job waits: for enough slices, or for the end of the current last call.
    Wait,
    /// The last call with this number begins.
    LastCall(u32),
    /// The job starts.
    Begin,
}

impl LastCall {
    /// Decides after a change of the slices: a job starts immediately with all slices, with fewer after a last call.
    pub fn update(&mut self, spec: &ElasticTraining, slices: &AvailableSlices) -> SliceStart {
        let waits = spec.last_call > Duration::ZERO && slices.slices < slices.total;
        if !slices.is_enough(spec) || !waits {
            self.current = None;
        }
        match self.current {
            _ if !slices.is_enough(spec) => SliceStart::Wait,
            _ if !waits => SliceStart::Begin,
            Some(_) => SliceStart::Wait,
            None => {
                self.count += 1;
                self.current = Some(self.count);
                SliceStart::LastCall(self.count)
            }
        }
    }

    /// Returns true if the last call with this number is not over.
    pub fn is_current(&self, nth: u32) -> bool {
        self.current == Some(nth)
    }

    /// The current last call is over.
    pub fn end(&mut self) {
        self.current = None;
    }
}

/// How a segment changes because more slices are available than take part.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SliceRegrowth {
    /// The segment continues as planned.
    Unchanged,
    /// The segment ends earlier.
    Planned,
    /// The segment has made no steps, and ends now.
    Immediate,
}

/// The slices that take part in a segment of an elastic job; the default value describes other jobs.
#[derive(Clone, Debug)]
pub struct SliceGroup {
    /// Jobs that take part: slices, followed by the Jobs that are not slices, each in the order of ids.
    members: Vec<JobId>,
    share: ElasticShare,
    /// Step time in billionths of the normal one.
    factor: u64,
    /// Processes have continued from an earlier segment.
    reinitializes: bool,
    /// Slices were added without an interruption.
    regrown: bool,
    /// The segment ends in order to add slices; contains the previously planned work.
    work_before_regrow: Option<Option<u64>>,
    /// Its processes then resume from memory.
    resumes_from_memory: bool,
}

impl Default for SliceGroup {
    fn default() -> SliceGroup {
        SliceGroup {
            members: Vec::new(),
            share: ElasticShare::default(),
            factor: UNIT_FACTOR,
            reinitializes: false,
            regrown: false,
            work_before_regrow: None,
            resumes_from_memory: false,
        }
    }
}

impl SliceGroup {
    /// All available slices take part.
    pub fn new(spec: &ElasticTraining, slices: AvailableSlices, regrown: bool) -> SliceGroup {
        let share = slices.share();
        SliceGroup { members: slices.jobs, share, factor: share.factor(spec), regrown, ..SliceGroup::default() }
    }

    /// The Jobs that take part.
    pub fn members(&self) -> &[JobId] {
        &self.members
    }

    /// The number of slices that take part, and of all slices.
    pub fn share(&self) -> ElasticShare {
        self.share
    }

    /// Step time in billionths of the normal one.
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// Returns true if slices were added without an interruption.
    pub fn is_regrown(&self) -> bool {
        self.regrown
    }

    /// Returns true if a Job takes part.
    pub fn has(&self, job: JobId) -> bool {
        self.members.contains(&job)
    }

    /// Returns true if all Jobs that take part are still available.
    pub fn is_intact(&self, slices: &AvailableSlices) -> bool {
        slices.others_ready && self.members.iter().all(|job| slices.jobs.contains(job))
    }

    /// Returns true if more slices are available than take part.
    pub fn can_grow(&self, slices: &AvailableSlices) -> bool {
        slices.slices > self.share.slices
    }

    /// Determines whether processes continue from an earlier segment, given whether some of them are not new.
    pub fn set_continued(&mut self, spec: &ElasticTraining, has_old_processes: bool, starts: u32) {
        self.reinitializes = has_old_processes && starts > 0 && spec.reinitialization.is_some();
    }

    /// The start of a segment with these slices.
    pub fn plan_start(&self, start: PlanStart) -> PlanStart {
        PlanStart { reinitializes: self.reinitializes, factor: self.factor, ..start }
    }

    /// More slices are available than take part: plans the end of the segment.
    pub fn plan_regrow(&mut self, now: SimTime, spec: &TrainingJob, segment: &mut RunningSegment) -> SliceRegrowth {
        let Some(elastic) = &spec.elastic else {
            return SliceRegrowth::Unchanged;
        };
        if self.work_before_regrow.is_some() || segment.hang_start.is_some() {
            return SliceRegrowth::Unchanged;
        }
        let (elapsed, complete) = (segment.elapsed(now), segment.plan.work);
        let in_steps = |work| spec.round_up_to_steps(Duration(work)).0;
        match elastic.regrow {
            RegrowPolicy::Never => return SliceRegrowth::Unchanged,
            RegrowPolicy::NextCheckpoint => segment.plan.end_at_next_checkpoint(elapsed, in_steps),
            RegrowPolicy::AtOnce => {
                let spent = segment.plan.state_at(elapsed);
                if spent.stepping + spent.saving == 0 {
                    self.resumes_from_memory = true;
                    return SliceRegrowth::Immediate;
                }
                segment.plan.end_after(in_steps(spent.done));
                self.resumes_from_memory = segment.plan.skip_final_checkpoint;
            }
        }
        if segment.plan.work == complete {
            return SliceRegrowth::Unchanged;
        }
        self.work_before_regrow = Some(complete);
        SliceRegrowth::Planned
    }

    /// The additional slices are no longer available. Returns true if the end of the segment changes.
    pub fn cancel_regrow(&mut self, now: SimTime, segment: &mut RunningSegment) -> bool {
        if segment.plan.work == Some(segment.done(now)) {
            return false;
        }
        let Some(complete) = self.work_before_regrow.take() else {
            return false;
        };
        (segment.plan.work, segment.plan.skip_final_checkpoint) = (complete, false);
        self.resumes_from_memory = false;
        true
    }

    /// Returns true if the segment ends in order to add slices, and not with the work of the job.
    pub fn ends_to_grow(&self) -> bool {
        self.work_before_regrow.is_some()
    }

    /// The end of the segment; with `interrupted`, unsaved work is undone.
    pub fn segment_end(&self, interrupted: bool) -> SegmentEnd {
        let unused_fraction = self.share.unused_fraction(self.factor);
        SegmentEnd { interrupted, reinitialized: self.reinitializes, unused_fraction }
    }

    /// The progress in memory from which processes resume after the segment; zero if there is none.
    pub fn live_progress(&self, reached: u64, interrupted: bool) -> u64 {
        if self.resumes_from_memory && !interrupted { reached } else { 0 }
    }
}

/// The participants of a piece of work, and the time of their accelerators.
#[derive(Copy, Clone, Debug)]
pub struct CompletedWork<P> {
    pub participants: P,
    /// Productive accelerator time over productive job time, as a fraction; differs from 1 if slices are missing.
    held: (u64, u64),
}

impl<P> CompletedWork<P> {
    /// The work of a segment.
    pub fn new(participants: P, booked: &BookedSegment) -> CompletedWork<P> {
        CompletedWork { participants, held: (booked.productive_held, booked.productive.max(1)) }
    }

    /// The productive time of each accelerator in `ns` of productive time of the job.
    pub fn held_time(&self, ns: u64) -> u64 {
        let (held, of) = self.held;
        (u128::from(ns) * u128::from(held) / u128::from(of)) as u64
    }
}
