//! A restart of a run, with names for its ids.

use sim_analysis::format;
use sim_analysis::metrics;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{Milestone, Phase, RestartOutcome, RestartScope, RunView};
use sim_base::{Duration, SimTime};
use std::fmt;

/// A restart: the time from a fault until all pods are ready again, as reported by `run`.
#[derive(Copy, Clone)]
pub struct Restart<'a> {
    run: RunView<'a>,
    restart: &'a metrics::RestartMetrics,
}

/// A piece of the critical path of a restart. Pieces are contiguous and cover the whole restart.
#[derive(Clone, Debug, PartialEq)]
pub struct RestartPiece {
    /// Phase to which the piece belongs.
    pub phase: Phase,
    /// Description of the piece.
    pub what: String,
    /// Start of the piece, measured from the start of the restart.
    pub begins: Duration,
    /// Duration of the piece.
    pub takes: Duration,
    /// The resource or event that the piece waited for longest. `None` if the piece took no time, or if the run did
    /// not record wait reasons.
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
    pub(super) fn new(run: RunView<'a>, restart: &'a metrics::RestartMetrics) -> Restart<'a> {
        Restart { run, restart }
    }

    /// Returns the name of the JobSet.
    pub fn jobset(&self) -> &'a str {
        self.run.names.jobset(self.restart.jobset)
    }

    /// Returns the namespace of the JobSet.
    pub fn namespace(&self) -> &'a str {
        self.run.namespace(self.restart.jobset)
    }

    /// Returns the scope of the restart: all Jobs, one Job, pods or containers.
    pub fn shape(&self) -> RestartScope {
        self.restart.shape
    }

    /// Returns the strategy. It is `Recreate`, `BlockingRecreate` or `InPlaceRestart` if the failure policy was
    /// applied; otherwise `RestartJob`, `PodReplacement` or `ContainerRestart`.
    pub fn strategy(&self) -> &'static str {
        self.run.strategy(self.restart)
    }

    /// Returns the restart attempt of the new pods; for an in-place restart, the new in-place attempt.
    pub fn attempt(&self) -> u32 {
        self.restart.attempt
    }

    /// Returns a short description of the first fault.
    pub fn cause(&self) -> String {
        format::cause(&self.run, &self.restart.cause)
    }

    /// Returns the time of the first fault.
    pub fn start(&self) -> SimTime {
        self.restart.start
    }

    /// Returns the time at which all pods were ready again, or the end of the JobSet or the run if they were not.
    pub fn end(&self) -> SimTime {
        self.restart.end
    }

    /// Returns how the restart ended.
    pub fn ending(&self) -> RestartOutcome {
        self.restart.ending
    }

    /// Returns the time from the fault until all pods were ready; `None` if they never were.
    pub fn latency(&self) -> Option<Duration> {
        self.restart.latency()
    }

    /// Returns the number of pods that had to become ready again.
    pub fn pods(&self) -> u32 {
        self.restart.pods
    }

    /// Returns the time of a milestone; `None` if it was not reached.
    pub fn milestone(&self, milestone: Milestone) -> Option<SimTime> {
        self.restart.milestone(milestone)
    }

    /// Returns all milestones that were reached, with the time since the fault, in order of time.
    pub fn milestones(&self) -> Vec<(Milestone, Duration)> {
        self.restart.reached_milestones()
    }

    /// Returns the time spent in each phase. The sum is `end` − `start`, plus the phases in which a training job
    /// resumes: rendezvous, restore and redo.
    pub fn phases(&self) -> Vec<(Phase, Duration)> {
        let sums = self.restart.phases();
        let all = Phase::ALL.into_iter().zip(sums);
        all.filter(|(_, d)| *d > Duration::ZERO).collect()
    }

    /// Returns the pieces of the critical path in order.
    pub fn pieces(&self) -> Vec<RestartPiece> {
        let all = bottleneck::span_bottlenecks(&self.run, self.restart);
        let piece = |g: bottleneck::BottleneckShare| RestartPiece {
            phase: g.span.phase(),
            what: self.restart.describe_step(g.span.step),
            begins: g.span.from.since(self.restart.start),
            takes: g.span.duration(),
            waited_for: g.gate.as_ref().map(bottleneck::RestartBottleneck::text),
        };
        all.into_iter().map(piece).collect()
    }

    /// Returns the resources and events that the restart waited for, longest wait first.
    pub fn bottleneck(&self) -> Vec<String> {
        let gates = bottleneck::restart_bottlenecks(&self.run, self.restart);
        gates.iter().map(bottleneck::RestartBottleneck::text).collect()
    }
}
