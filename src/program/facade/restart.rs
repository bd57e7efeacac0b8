//! One restart of a run, with names for its ids.

use sim_analysis::format;
use sim_analysis::metrics;
use sim_analysis::metrics::restarts::{gate, waits};
use sim_analysis::metrics::{Ending, Milestone, Phase, RunView, Shape};
use sim_base::{Duration, Time};
use std::fmt;

/// From something going wrong to the instant at which every pod is ready again: what `run` reports.
#[derive(Copy, Clone)]
pub struct Restart<'a> {
    run: RunView<'a>,
    restart: &'a metrics::Restart,
}

/// One piece of a restart. Pieces follow each other without gaps and add up to the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The phase it belongs to.
    pub phase: Phase,
    /// What happens in it.
    pub what: String,
    /// Since the restart began.
    pub begins: Duration,
    /// How long it takes.
    pub takes: Duration,
    /// What most of it was spent waiting for; none if it took no time, or where the run did not keep who waited for
    /// what.
    pub waited_for: Option<String>,
}

impl fmt::Debug for Restart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restart")
            .field("jobset", &self.jobset())
            .field("strategy", &self.strategy())
            .field("cause", &self.cause())
            .field("start", &self.start())
            .field("end", &self.end())
            .field("ending", &self.ending())
            .finish_non_exhaustive()
    }
}

impl<'a> Restart<'a> {
    pub(super) fn new(run: RunView<'a>, restart: &'a metrics::Restart) -> Restart<'a> {
        Restart { run, restart }
    }

    /// The name of the JobSet.
    pub fn jobset(&self) -> &'a str {
        self.run.names.jobset(self.restart.jobset)
    }

    /// The namespace of the JobSet.
    pub fn namespace(&self) -> &'a str {
        self.run.namespace(self.restart.jobset)
    }

    /// What was restarted: all Jobs, one Job, pods, containers.
    pub fn shape(&self) -> Shape {
        self.restart.shape
    }

    /// `Recreate`, `BlockingRecreate` or `InPlaceRestart` where it went as the failure policy says; else what happened
    /// instead: `RestartJob`, `PodReplacement` or `ContainerRestart`.
    pub fn strategy(&self) -> &'static str {
        self.run.strategy(self.restart)
    }

    /// The restart attempt that the new pods carry; in place, the new in-place attempt.
    pub fn attempt(&self) -> u32 {
        self.restart.attempt
    }

    /// The first thing that went wrong, in a few words.
    pub fn cause(&self) -> String {
        format::cause(&self.run, &self.restart.cause)
    }

    /// When that was.
    pub fn start(&self) -> Time {
        self.restart.start
    }

    /// When all pods were ready again; else when the JobSet or the run ended.
    pub fn end(&self) -> Time {
        self.restart.end
    }

    /// How it ended.
    pub fn ending(&self) -> Ending {
        self.restart.ending
    }

    /// From the fault until every pod was ready; none if that was never reached.
    pub fn latency(&self) -> Option<Duration> {
        self.restart.latency()
    }

    /// Pods that had to come back.
    pub fn pods(&self) -> u32 {
        self.restart.pods
    }

    /// When a milestone was reached; none if it was not.
    pub fn milestone(&self, milestone: Milestone) -> Option<Time> {
        self.restart.milestone(milestone)
    }

    /// All milestones that were reached, with the time since the fault, in order of time.
    pub fn milestones(&self) -> Vec<(Milestone, Duration)> {
        self.restart.reached()
    }

    /// How long it was in each phase that it had; the sum is `end` - `start`, but for what a training job does next:
    /// rendezvous, restore and redo.
    pub fn phases(&self) -> Vec<(Phase, Duration)> {
        let sums = self.restart.phases();
        let all = Phase::ALL.into_iter().zip(sums);
        all.filter(|(_, d)| *d > Duration::ZERO).collect()
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> Vec<Piece> {
        let all = gate::gated(&self.run, self.restart);
        let piece = |g: gate::Gated| Piece {
            phase: g.span.phase(),
            what: waits::with_pods(g.span.step.what, self.restart.pods),
            begins: g.span.from.since(self.restart.start),
            takes: g.span.duration(),
            waited_for: g.gate.as_ref().map(gate::Gate::text),
        };
        all.into_iter().map(piece).collect()
    }

    /// What most of it was spent waiting for, most first.
    pub fn bottleneck(&self) -> Vec<String> {
        let gates = gate::bottleneck(&self.run, self.restart);
        gates.iter().map(gate::Gate::text).collect()
    }
}
