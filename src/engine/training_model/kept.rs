//! What is saved of a job's work, by each kind of checkpoint, and which time it took to do it.

use sim_api::spec::{Loss, TrainingJob};

/// `G`: who takes part in a stretch.
#[derive(Clone, Debug, Default)]
pub struct Kept<G> {
    /// The work that each kind of checkpoint has saved; the durable kind is the last.
    saved: Vec<u64>,
    /// Which pieces of work count as done, in order and without a gap from 0: some may be lost later.
    pieces: Vec<Piece<G>>,
    /// Work that processes at hand have done: they go on from it, and nobody else could.
    live: Option<u64>,
}

/// Work from where the last piece ends.
#[derive(Copy, Clone, Debug)]
struct Piece<G> {
    to: u64,
    /// How long it took, and who took part.
    ns: u64,
    gang: G,
}

impl<G: Copy> Kept<G> {
    pub fn of(spec: &TrainingJob) -> Kept<G> {
        Kept {
            saved: vec![0; spec.checkpoints().len().max(1)],
            pieces: Vec::new(),
            live: None,
        }
    }

    /// The most that any checkpoint has saved, and which: the first kind that has.
    pub fn newest(&self) -> (u64, usize) {
        let most = self.saved.iter().copied().max().unwrap_or(0);
        let kind = self.saved.iter().position(|saved| *saved == most);
        (most, kind.unwrap_or(0))
    }

    /// What the job goes on from.
    pub fn from(&self) -> u64 {
        self.live.unwrap_or(self.newest().0)
    }

    /// What no interruption takes back.
    pub fn durable(&self) -> u64 {
        self.saved.last().copied().unwrap_or(0)
    }

    /// A stretch that went on from there has saved so much of its own work.
    pub fn add(&mut self, from: u64, own: &[u64], (ns, gang): (u64, G)) {
        self.add_live((from, 0), own, (ns, gang));
    }

    /// The same, and its processes go on from `live`, which is not saved.
    pub fn add_live(&mut self, (from, live): (u64, u64), own: &[u64], (ns, gang): (u64, G)) {
        self.saved = self.with(from, own);
        self.live = Some(live).filter(|live| *live > self.newest().0);
        let to = self.from();
        if to > from {
            self.pieces.push(Piece { to, ns, gang });
        }
    }

    /// The processes that went on from memory have ended. Time that their work took.
    pub fn forget_live(&mut self) -> Vec<(G, u64)> {
        self.live = None;
        self.take_back(self.newest().0)
    }

    /// The job begins anew after it has lost so much: what it had only there is gone. Time that it took.
    pub fn loses(&mut self, loss: Loss, spec: &TrainingJob) -> Vec<(G, u64)> {
        for (saved, kind) in self.saved.iter_mut().zip(spec.checkpoints()) {
            if kind.survives < loss {
                *saved = 0;
            }
        }
        self.take_back(self.from())
    }

    /// What is saved if what a stretch has begun to save is complete.
    pub fn with(&self, from: u64, own: &[u64]) -> Vec<u64> {
        let all = self.saved.iter().zip(own);
        all.map(|(saved, own)| if *own > 0 { from + own } else { *saved })
            .collect()
    }

    /// Of each kind of checkpoint none with more than this work can be used. Time that the lost work took.
    pub fn only(&mut self, sound: &[u64]) -> Vec<(G, u64)> {
        self.live = None;
        for (saved, sound) in self.saved.iter_mut().zip(sound) {
            *saved = (*saved).min(*sound);
        }
        self.take_back(self.from())
    }

    /// Work beyond `to` no longer counts.
    fn take_back(&mut self, to: u64) -> Vec<(G, u64)> {
        let mut lost = Vec::new();
        while let Some(piece) = self.pieces.last_mut().filter(|piece| piece.to > to) {
            let whole = Piece { ..*piece };
            self.pieces.pop();
            let from = self.pieces.last().map_or(0, |piece| piece.to);
            let part = u128::from(to.saturating_sub(from)) * u128::from(whole.ns);
            let left = (part / u128::from(whole.to - from)) as u64;
            lost.push((whole.gang, whole.ns - left));
            if to > from {
                let ns = left;
                self.pieces.push(Piece { to, ns, ..whole });
            }
        }
        lost
    }
}
