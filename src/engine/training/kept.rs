//! What is saved of a job's work, by each kind of checkpoint, and which time it took to do it.

use super::hosts::Hosts;
use crate::base::*;
use crate::engine::accounting::Gang;
use crate::engine::ctx::Ctx;
use crate::spec::{Loss, TrainingJob};
use crate::store::NodeChange;

#[derive(Default)]
pub struct Kept {
    /// The work that each kind of checkpoint has saved; the durable kind is the last.
    saved: Vec<u64>,
    /// Which pieces of work count as done, in order and without a gap from 0: some may be lost later.
    pieces: Vec<Piece>,
    hosts: Option<Hosts>,
}

/// Work from where the last piece ends.
struct Piece {
    to: u64,
    /// How long it took, and who took part.
    ns: u64,
    gang: Gang,
}

impl Kept {
    pub fn of(spec: &TrainingJob) -> Kept {
        let kinds = spec.checkpoints();
        let local = kinds.iter().any(|kind| kind.survives < Loss::All);
        Kept {
            saved: vec![0; kinds.len().max(1)],
            pieces: Vec::new(),
            hosts: local.then(Hosts::default),
        }
    }

    /// The most that any checkpoint has saved, and which: the first kind that has.
    pub fn newest(&self) -> (u64, usize) {
        let most = self.saved.iter().copied().max().unwrap_or(0);
        let kind = self.saved.iter().position(|saved| *saved == most);
        (most, kind.unwrap_or(0))
    }

    /// What no interruption takes back.
    pub fn durable(&self) -> u64 {
        self.saved.last().copied().unwrap_or(0)
    }

    pub fn node_changed(&mut self, node: NodeId, change: NodeChange) {
        if let Some(hosts) = &mut self.hosts {
            hosts.node_changed(node, change);
        }
    }

    /// A stretch that went on from there has saved so much of its own work.
    pub fn add(&mut self, from: u64, own: &[u64], (ns, gang): (u64, Gang)) {
        self.saved = self.with(from, own);
        let to = self.newest().0;
        if to > from {
            self.pieces.push(Piece { to, ns, gang });
        }
    }

    /// The job begins anew: what it had only on hosts that are no longer its own is gone. Time that it took.
    pub fn moves(
        &mut self,
        ctx: &Ctx<'_>,
        jobset: JobSetId,
        spec: &TrainingJob,
    ) -> Vec<(Gang, u64)> {
        let Some(hosts) = &mut self.hosts else {
            return Vec::new();
        };
        let loss = hosts.move_to_now(ctx, jobset);
        for (saved, kind) in self.saved.iter_mut().zip(spec.checkpoints()) {
            if kind.survives < loss {
                *saved = 0;
            }
        }
        self.take_back(self.newest().0)
    }

    /// What is saved if what a stretch has begun to save is complete.
    pub fn with(&self, from: u64, own: &[u64]) -> Vec<u64> {
        let all = self.saved.iter().zip(own);
        all.map(|(saved, own)| if *own > 0 { from + own } else { *saved })
            .collect()
    }

    /// Of each kind of checkpoint none with more than this work can be used. Time that the lost work took.
    pub fn only(&mut self, sound: &[u64]) -> Vec<(Gang, u64)> {
        for (saved, sound) in self.saved.iter_mut().zip(sound) {
            *saved = (*saved).min(*sound);
        }
        self.take_back(self.newest().0)
    }

    /// Work beyond `to` no longer counts.
    fn take_back(&mut self, to: u64) -> Vec<(Gang, u64)> {
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
