//! Runs replications of many points on several threads. Each thread keeps one point loaded, and all threads are busy
//! until the end.

use super::row::SweepRow;
use super::work_plan::WorkItem;
use crate::experiment::{ExperimentSubject, ReplicationLimits};
use sim_engine::CannotRun;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The caller of a sweep: loads points and receives replications.
pub trait HostInfo: Sync {
    type Error: Send;

    fn load(&self, point: usize) -> Result<ExperimentSubject, Self::Error>;
    /// Creates the error for a point that cannot be run.
    fn point_error(&self, point: usize, why: CannotRun) -> Self::Error;
    /// Receives a finished replication.
    fn receive(&self, row: SweepRow) -> Result<(), Self::Error>;
}

/// Runs all replications on a number of threads (0: one per core), until `limits` stops them or an error occurs. The
/// assignment to threads does not affect results.
pub fn simulate<H: HostInfo>(
    host: &H, work: WorkItem, seed: u64, (threads, limits): (usize, &ReplicationLimits),
) -> Result<(), H::Error> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if threads == 0 { cores() } else { threads };
    let left: usize = work.iter().map(|(_, which)| which.len()).sum();
    let common =
        SharedInputs { host, seed, limits, queue: Mutex::new(PointQueue::new(work)), failed: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..threads.min(left) {
            let started = std::thread::Builder::new().spawn_scoped(scope, || common.work());
            match started {
                Ok(worker) => workers.push(worker),
                // No threads are available, as in WebAssembly.
                Err(_) if workers.is_empty() => return common.work(),
                // The threads that were started can do all of the work.
                Err(_) => break,
            }
        }
        let ends = workers.into_iter().map(|worker| match worker.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.fold(Ok(()), Result::and)
    })
}

struct SharedInputs<'a, H> {
    host: &'a H,
    seed: u64,
    limits: &'a ReplicationLimits,
    queue: Mutex<PointQueue>,
    /// Set after an error, so that no thread starts another replication.
    failed: AtomicBool,
}

impl<H: HostInfo> SharedInputs<'_, H> {
    fn work(&self) -> Result<(), H::Error> {
        let done = self.points();
        if done.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    fn points(&self) -> Result<(), H::Error> {
        while let Some((point, first)) = self.take(|queue| queue.any()) {
            let subject = self.host.load(point)?;
            let jobsets = subject.jobsets();
            let refused = |why| self.host.point_error(point, why);
            let mut player = subject.player().map_err(refused)?;
            let mut next = Some(first);
            while let Some(replication) = next {
                let Some(outcome) = player.simulate((self.seed, replication), self.limits) else {
                    return Ok(());
                };
                self.host.receive(SweepRow::from_replication(point, &outcome, &jobsets))?;
                next = self.take(|queue| queue.another(point));
            }
        }
        Ok(())
    }

    fn take<T>(&self, next: impl FnOnce(&mut PointQueue) -> Option<T>) -> Option<T> {
        if self.failed.load(Ordering::Relaxed) || self.limits.flag.is_raised() {
            return None;
        }
        next(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Replications that no thread has started yet.
struct PointQueue {
    /// Remaining replications by point.
    left: Vec<(usize, VecDeque<u64>)>,
    /// Index of the first point that no thread has started.
    fresh: usize,
}

impl PointQueue {
    fn new(work: WorkItem) -> PointQueue {
        let left = work.into_iter().map(|(point, which)| (point, which.into()));
        PointQueue { left: left.collect(), fresh: 0 }
    }

    /// Removes a replication of the first point that no thread has started, otherwise of the point with the most
    /// remaining replications.
    fn any(&mut self) -> Option<(usize, u64)> {
        if let Some((point, which)) = self.left.get_mut(self.fresh) {
            self.fresh += 1;
            return Some((*point, which.pop_front()?));
        }
        let longest = self.left.iter_mut().max_by_key(|(_, which)| which.len());
        let (point, which) = longest?;
        Some((*point, which.pop_front()?))
    }

    /// Removes another replication of the same point.
    fn another(&mut self, point: usize) -> Option<u64> {
        let at = self.left.binary_search_by_key(&point, |(p, _)| *p).ok()?;
        self.left[at].1.pop_front()
    }
}
