//! Silent corruption: a process computes wrong results, and the checkpoints since then contain them.

use super::saved_progress::SavedProgress;
use super::trainer::RunningSegment;
use sim_base::SimTime;

/// Corrupt state of a training job. `P` identifies the process that computes wrong results.
#[derive(Clone, Debug)]
pub struct SilentCorruption<P> {
    /// Number of the detection that it waits for.
    pub nth: u32,
    /// The process, which may have ended since.
    pub process: P,
    /// Per kind of checkpoint, the last one that began before the corruption.
    uncorrupted: Vec<u64>,
}

impl<P> SilentCorruption<P> {
    /// A process of the current segment computes wrong results from now on.
    pub fn begin<G: Copy>(
        now: SimTime, nth: u32, process: P, segment: &RunningSegment, saved: &SavedProgress<G>,
    ) -> SilentCorruption<P> {
        let begun = segment.plan.begun_checkpoints(segment.done(now));
        SilentCorruption { nth, process, uncorrupted: saved.saved_after(segment.start_progress, &begun) }
    }

    /// Returns whether the job resumes from progress that was made before the corruption.
    pub fn is_undone<G: Copy>(&self, saved: &SavedProgress<G>) -> bool {
        saved.resume_point() <= self.uncorrupted.iter().copied().max().unwrap_or(0)
    }

    /// The corruption is detected: all work and checkpoints since then are lost. Returns the duration of the lost work.
    pub fn undo<G: Copy>(&self, saved: &mut SavedProgress<G>) -> Vec<(G, u64)> {
        saved.limit_to(&self.uncorrupted)
    }
}
