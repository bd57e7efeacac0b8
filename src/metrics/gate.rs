//! What gated a restart and each of its spans: what the most time on the path was spent waiting for.

use super::path::Path;
use super::restart::Restart;
use super::spans::Span;
use super::view::RunView;
use super::waits::{self, What};
use crate::base::*;
use crate::record::{RUN_ENDED, Resource};

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
fn sums(path: &Path, from: Time, to: Time) -> Vec<(What, Duration)> {
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
pub(super) fn capacity<'r>(run: &'r RunView<'_>, resource: Resource) -> Option<&'r str> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::path::{Part, PathStep};
    use crate::metrics::restart::{Cause, Ending, Milestone, Shape};
    use crate::metrics::testing::{s, started, with_view};
    use crate::record::{About, Call, Waited};

    /// A restart from 0 s whose path has these steps of as many seconds.
    fn restart(steps: &[(u64, Waited, Part)]) -> Restart {
        let mut r = Restart::new(JobSetId(0), s(0), Cause::UNKNOWN);
        r.shape = Shape::Recreate;
        r.ending = Ending::Ready;
        r.pods = 5000;
        let mut at = 0;
        for &(seconds, waited, part) in steps {
            r.path.steps.push(PathStep {
                from: s(at),
                to: s(at + seconds),
                waited,
                part,
                about: About::Nothing,
            });
            at += seconds;
        }
        r.end = s(at);
        r
    }

    fn bottleneck_of(r: &Restart) -> Vec<(String, u64)> {
        let gate = |g: Gate| (g.name, g.time.0 / 1_000_000_000);
        with_view(&started(), |run| {
            bottleneck(run, r).into_iter().map(gate).collect()
        })
    }

    const CREATE: Waited = Waited::Request(Call::JobPodCreate);
    const BIND: Waited = Waited::Request(Call::Bind);
    const WORKERS: Waited = Waited::Queue(Resource::JobControllerWorkers);
    const CYCLES: Waited = Waited::Queue(Resource::SchedulerCycle);
    use Part::*;

    #[test]
    fn waits_for_one_thing_add_up_and_a_client_is_not_its_workers_nor_the_api_server() {
        let r = restart(&[
            (5, CREATE, Token),
            (2, CREATE, Answer),
            (6, WORKERS, Whole),
            (4, CREATE, Token),
            (3, Waited::Cycle, Whole),
            (4, CYCLES, Whole),
            (1, BIND, Answer),
        ]);
        let sums = sums(&r.path, r.start, r.end);
        let expected = [
            (What::Shared(Resource::JobControllerClient), 9),
            (What::Shared(Resource::SchedulerCycle), 7),
            (What::Shared(Resource::JobControllerWorkers), 6),
            (What::ApiServer, 3),
        ];
        assert_eq!(
            sums,
            expected.map(|(what, n)| (what, Duration::from_secs(n)))
        );
        let name = "job-controller client at 100 requests/s".to_owned();
        assert_eq!(bottleneck_of(&r), [(name, 9)]);
        let found = [
            Resource::JobControllerClient,
            Resource::SchedulerCycle,
            Resource::JobControllerWorkers,
        ];
        assert_eq!(bottlenecks(&[r]), found);
    }

    #[test]
    fn a_second_thing_that_took_as_long_or_nearly_is_named_too() {
        let with = |other| {
            let steps = [
                (100, Waited::ContainerStart, Whole),
                (other, Waited::Grace, Whole),
            ];
            bottleneck_of(&restart(&steps))
        };
        let start = "slowest of 5,000 container starts (kubernetes.md 3.2)".to_owned();
        let grace = "termination grace period of the slowest pod (kubernetes.md 3.5)".to_owned();
        assert_eq!(with(100), [(start.clone(), 100), (grace.clone(), 100)]);
        assert_eq!(with(90), [(start.clone(), 100), (grace.clone(), 90)]);
        assert_eq!(with(89), [(start.clone(), 100)]);
        assert_eq!(with(110), [(grace, 110), (start, 100)]);
    }

    #[test]
    fn a_span_is_gated_by_what_lies_on_the_path_within_it() {
        let mut r = restart(&[
            (10, Waited::Pleg, Whole),
            (40, CREATE, Token),
            (50, Waited::ContainerStart, Whole),
        ]);
        r.last(Milestone::PodFailed, s(20));
        let text = with_view(&started(), |run| {
            let gated = gated(run, &r).into_iter();
            let text = |g: Gated| g.gate.map(|gate| gate.text()).unwrap_or_default();
            gated.map(text).collect::<Vec<String>>()
        });
        let expected = [
            // Of equals the earlier.
            "kubelet notices the exit (PLEG, every 1 s, kubernetes.md 3.1, 50 % of the phase)",
            "slowest of 5,000 container starts (kubernetes.md 3.2, 63 % of the phase)",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn without_tickets_nothing_is_claimed() {
        let r = restart(&[]);
        assert_eq!(bottleneck_of(&r), []);
        assert_eq!(bottlenecks(&[r]), []);
    }
}
