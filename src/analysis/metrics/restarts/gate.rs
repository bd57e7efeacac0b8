//! What gated a restart and each of its spans: what the most time on the path was spent waiting for.

use super::path::Path;
use super::restart::Restart;
use super::spans::Span;
use super::waits::{self, What};
use crate::metrics::view::RunView;
use sim_base::*;
use sim_engine::record::{RUN_ENDED, Resource};

/// A second thing is named beside the first from this percentage of its time on.
const AS_LONG: u64 = 90;

/// Why a span, or a restart, took as long as it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub what: What,
    /// In words; a shared resource with its capacity.
    pub name: String,
    /// Time on the path.
    pub time: Duration,
    /// `time` as a share of the whole span.
    pub share: f64,
}

impl Gate {
    pub fn resource(&self) -> Option<Resource> {
        match self.what {
            What::Shared(resource) => Some(resource),
            _ => None,
        }
    }

    /// Whether something faster would have helped, as opposed to a delay that is meant.
    pub fn is_bottleneck(&self) -> bool {
        matches!(self.what, What::Shared(_) | What::ApiServer)
    }

    /// One line for somebody who has never seen the program.
    pub fn text(&self) -> String {
        let percent = (self.share * 100.0).round();
        if percent >= 100.0 {
            return self.name.clone();
        }
        match self.name.strip_suffix(')') {
            Some(name) => format!("{name}, {percent:.0} % of the phase)"),
            None => format!("{} ({percent:.0} % of the phase)", self.name),
        }
    }
}

/// A span with what gated it; `None`: nobody knows, or it took no time.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    pub span: Span,
    pub gate: Option<Gate>,
}

pub fn gated(run: &RunView<'_>, restart: &Restart) -> Vec<Gated> {
    let gate = |span: Span| Gated {
        gate: sums(&restart.path, span.from, span.to)
            .first()
            .map(|sum| named(run, whose(restart), sum, span.duration())),
        span,
    };
    restart.spans().into_iter().map(gate).collect()
}

/// What the restart as a whole waited for longest; a second thing if it took about as long.
pub fn bottleneck(run: &RunView<'_>, restart: &Restart) -> Vec<Gate> {
    let sums = sums(&restart.path, restart.start, restart.end);
    let Some((_, most)) = sums.first() else {
        return Vec::new();
    };
    let long = |(_, time): &&(What, Duration)| time.0 >= most.0 / 100 * AS_LONG;
    let longest = sums.iter().take(2).filter(long);
    longest
        .map(|sum| named(run, whose(restart), sum, restart.total()))
        .collect()
}

/// Time on the path between two instants by what it was spent on: the most first, of equals the earlier.
pub fn sums(path: &Path, from: Time, to: Time) -> Vec<(What, Duration)> {
    let mut sums: Vec<(What, Duration)> = Vec::new();
    for step in &path.steps {
        let (what, time) = (What::of(step), step.within(from, to));
        match sums.iter_mut().find(|(known, _)| *known == what) {
            _ if time == Duration::ZERO => {}
            Some((_, sum)) => *sum = *sum + time,
            None => sums.push((what, time)),
        }
    }
    sums.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    sums
}

/// Time on the path of a restart by what it was spent on, without capacities: the most first.
pub fn waits(restart: &Restart) -> Vec<(String, Duration)> {
    let sums = sums(&restart.path, restart.start, restart.end);
    let name = |what: What| match what {
        What::Shared(resource) => resource.as_str().to_owned(),
        What::ApiServer => "API server latency".to_owned(),
        What::Mechanism(waited) => waits::with_pods(waits::plain(waited, 1), 1),
        What::DeadEnd => "what never comes".to_owned(),
    };
    sums.into_iter()
        .map(|(what, time)| (name(what), time))
        .collect()
}

/// What a path waited for longest, whatever it is the path of.
pub fn longest(run: &RunView<'_>, path: &Path, whose: (JobSetId, u32)) -> Option<Gate> {
    let (first, last) = (path.steps.first()?, path.steps.last()?);
    let sums = sums(path, first.from, last.to);
    Some(named(run, whose, sums.first()?, path.total()))
}

/// The JobSet of a restart, and how many pods it has.
fn whose(restart: &Restart) -> (JobSetId, u32) {
    (restart.jobset, restart.pods)
}

fn named(
    run: &RunView<'_>,
    whose: (JobSetId, u32),
    &(what, time): &(What, Duration),
    whole: Duration,
) -> Gate {
    Gate {
        what,
        name: name(run, whose, what),
        time,
        share: time.0 as f64 / (whole.0 as f64).max(1.0),
    }
}

fn name(run: &RunView<'_>, (jobset, pods): (JobSetId, u32), what: What) -> String {
    match what {
        What::Shared(resource) => match capacity(run, resource).filter(|c| !c.is_empty()) {
            Some(capacity) => format!("{} at {capacity}", resource.as_str()),
            None => resource.as_str().to_owned(),
        },
        What::ApiServer => "API server latency".to_owned(),
        What::Mechanism(waited) => waits::with_pods(&waits::words(waited, pods), pods),
        What::DeadEnd => {
            let jobset = run.names.jobset(jobset);
            run.outcome.dead_end(jobset).unwrap_or(RUN_ENDED).to_owned()
        }
    }
}

/// How much of it there is, in words.
pub(crate) fn capacity<'r>(run: &'r RunView<'_>, resource: Resource) -> Option<&'r str> {
    let mut usages = run.outcome.resources.iter();
    let usage = usages.find(|u| u.resource == resource);
    usage.and_then(|u| u.capacity.split(',').next())
}

/// Resources that were waited for during at least a tenth of some restart, on its path.
pub fn bottlenecks(restarts: &[Restart]) -> Vec<Resource> {
    let mut found = Vec::new();
    for restart in restarts {
        for (what, time) in sums(&restart.path, restart.start, restart.end) {
            if let What::Shared(resource) = what
                && time.0 >= restart.total().0 / 10
                && !found.contains(&resource)
            {
                found.push(resource);
            }
        }
    }
    found
}
