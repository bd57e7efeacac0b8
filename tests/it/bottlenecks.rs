//! The longest waits of a restart: sums over its critical path.

use sim_analysis::metrics::Restart;
use sim_analysis::metrics::restarts::gate::*;
use sim_analysis::metrics::restarts::path::{Part, PathStep};
use sim_analysis::metrics::restarts::restart::{Cause, Ending, Milestone, Shape};
use sim_analysis::metrics::restarts::waits::What;
use sim_base::*;
use sim_engine::record::{About, Call, Resource, Waited};
use sim_testkit::records::{s, started, with_view};

/// Returns a restart that begins at 0 s and has these steps on its path, each with its length in seconds.
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
        // Of two steps of equal length, the earlier one is reported.
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
