//! Saved progress of a job per kind of checkpoint, and the time that the work took.

use super::pace::UNIT_FACTOR;
use super::plan::PlanStart;
use sim_api::spec::{LossSpec, TrainingJob};

/// `G` identifies the participants of a segment.
#[derive(Clone, Debug, Default)]
pub struct SavedProgress<G> {
    /// Progress saved by each kind of checkpoint; the durable kind is the last.
    saved: Vec<u64>,
    /// Pieces of completed work, in order and without a gap from 0; some may be undone later.
    pieces: Vec<SavedPiece<G>>,
    /// Progress in the memory of the current processes, from which only they can resume.
    live: Option<u64>,
}

/// A piece of work that starts at the end of the previous piece.
#[derive(Copy, Clone, Debug)]
struct SavedPiece<G> {
    end: u64,
    /// Duration and participants.
    ns: u64,
    participants: G,
}

impl<G: Copy> SavedProgress<G> {
    pub fn new(spec: &TrainingJob) -> SavedProgress<G> {
        SavedProgress { saved: vec![0; spec.checkpoints().len().max(1)], pieces: Vec::new(), live: None }
    }

    /// The largest saved progress, and the first kind of checkpoint that has it.
    pub fn newest(&self) -> (u64, usize) {
        let most = self.saved.iter().copied().max().unwrap_or(0);
        let kind = self.saved.iter().position(|saved| *saved == most);
        (most, kind.unwrap_or(0))
    }

    /// The progress from which the job resumes.
    pub fn resume_point(&self) -> u64 {
        self.live.unwrap_or(self.newest().0)
    }

    /// The `nth` start from this progress, with all slices and new processes.
    pub fn plan_start(&self, nth: u32) -> PlanStart {
        PlanStart {
            nth,
            newest: self.newest(),
            saved: self.saved.clone(),
            start_progress: self.resume_point(),
            reinitializes: false,
            factor: UNIT_FACTOR,
        }
    }

    /// The progress that no interruption undoes.
    pub fn durable(&self) -> u64 {
        self.saved.last().copied().unwrap_or(0)
    }

    /// Adds a segment that started at `from` and saved `own` of its work.
    pub fn add(&mut self, from: u64, own: &[u64], (ns, pods): (u64, G)) {
        self.add_live((from, 0), own, (ns, pods));
    }

    /// Adds a segment whose processes continue from `live`, which is not saved.
    pub fn add_live(&mut self, (from, live): (u64, u64), own: &[u64], (ns, pods): (u64, G)) {
        self.saved = self.saved_after(from, own);
        self.live = Some(live).filter(|live| *live > self.newest().0);
        let to = self.resume_point();
        if to > from {
            self.pieces.push(SavedPiece { end: to, ns, participants: pods });
        }
    }

    /// The processes that could resume from memory have ended. Returns the duration of the lost work.
    pub fn discard_live(&mut self) -> Vec<(G, u64)> {
        self.live = None;
        self.undo_beyond(self.newest().0)
    }

    /// The job restarts after a loss of hosts: checkpoints on them are gone. Returns the duration of the lost work.
    pub fn apply_host_loss(&mut self, loss: LossSpec, spec: &TrainingJob) -> Vec<(G, u64)> {
        for (saved, kind) in self.saved.iter_mut().zip(spec.checkpoints()) {
            if kind.survives < loss {
                *saved = 0;
            }
        }
        self.undo_beyond(self.resume_point())
    }

    /// The saved progress after the checkpoints begun by a segment are complete.
    pub(super) fn saved_after(&self, from: u64, own: &[u64]) -> Vec<u64> {
        let all = self.saved.iter().zip(own);
        all.map(|(saved, own)| if *own > 0 { from + own } else { *saved }).collect()
    }

    /// Limits each kind of checkpoint to uncorrupted progress. Returns the duration of the lost work.
    pub(super) fn limit_to(&mut self, sound: &[u64]) -> Vec<(G, u64)> {
        self.live = None;
        for (saved, sound) in self.saved.iter_mut().zip(sound) {
            *saved = (*saved).min(*sound);
        }
        self.undo_beyond(self.resume_point())
    }

    /// Undoes progress beyond `to`.
    fn undo_beyond(&mut self, to: u64) -> Vec<(G, u64)> {
        let mut lost = Vec::new();
        while let Some(piece) = self.pieces.last_mut().filter(|piece| piece.end > to) {
            let complete = SavedPiece { ..*piece };
            self.pieces.pop();
            let from = self.pieces.last().map_or(0, |piece| piece.end);
            let part = u128::from(to.saturating_sub(from)) * u128::from(complete.ns);
            let left = (part / u128::from(complete.end - from)) as u64;
            lost.push((complete.participants, complete.ns - left));
            if to > from {
                let ns = left;
                self.pieces.push(SavedPiece { end: to, ns, ..complete });
            }
        }
        lost
    }
}
