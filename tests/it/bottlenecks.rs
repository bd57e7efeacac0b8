//! The longest waits of a restart: sums over its critical path.

use sim_analysis::metrics::RestartMetrics;
use sim_analysis::metrics::restarts::bottleneck::*;
use sim_analysis::metrics::restarts::path::{PathPart, PathStep};
use sim_analysis::metrics::restarts::restart::{Milestone, RestartCause, RestartOutcome, RestartScope};
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_base::*;
use sim_engine::record::{Call, LedgerResource, TicketSubject, TicketWait};
use sim_testkit::records::{s, started, with_view};

/// Returns a restart that begins at 0 s and has these steps on its path, each with its length in seconds.
fn restart(steps: &[(u64, TicketWait, PathPart)]) -> RestartMetrics {
    let mut r = RestartMetrics::new(JobSetId(0), s(0), RestartCause::UNKNOWN);
    r.shape = RestartScope::Recreate;
    r.ending = RestartOutcome::Ready;
    r.pods = 5000;
    let mut at = 0;
    for &(seconds, waited, part) in steps {
        r.path.steps.push(PathStep { from: s(at), to: s(at + seconds), waited, part, about: TicketSubject::Nothing });
        at += seconds;
    }
    r.end = s(at);
    r
}

fn bottleneck_of(r: &RestartMetrics) -> Vec<(String, u64)> {
    let gate = |g: RestartBottleneck| (g.name, g.time.0 / 1_000_000_000);
    with_view(&started(), |run| restart_bottlenecks(run, r).into_iter().map(gate).collect())
}

const CREATE: TicketWait = TicketWait::Request(Call::JobPodCreate);
const BIND: TicketWait = TicketWait::Request(Call::Bind);
const WORKERS: TicketWait = TicketWait::Queue(LedgerResource::JobControllerWorkers);
const CYCLES: TicketWait = TicketWait::Queue(LedgerResource::SchedulerCycle);
use PathPart::*;

#[test]
fn waits_for_one_thing_add_up_and_a_client_is_not_its_workers_nor_the_api_server() {
    let r = restart(&[
        (5, CREATE, Token),
        (2, CREATE, Answer),
        (6, WORKERS, Whole),
        (4, CREATE, Token),
        (3, TicketWait::Cycle, Whole),
        (4, CYCLES, Whole),
        (1, BIND, Answer),
    ]);
    let sums = sums(&r.path, r.start, r.end);
    let expected = [
        (WaitKind::Shared(LedgerResource::JobControllerClient), 9),
        (WaitKind::Shared(LedgerResource::SchedulerCycle), 7),
        (WaitKind::Shared(LedgerResource::JobControllerWorkers), 6),
        (WaitKind::ApiServer, 3),
    ];
    assert_eq!(sums, expected.map(|(what, n)| (what, Duration::from_secs(n))));
    let name = "job-controller client at 100 requests/s".to_owned();
    assert_eq!(bottleneck_of(&r), [(name, 9)]);
    let actual =
        [LedgerResource::JobControllerClient, LedgerResource::SchedulerCycle, LedgerResource::JobControllerWorkers];
    assert_eq!(bottlenecks(&[r]), actual);
}

#[test]
fn second_bottleneck_of_similar_length_is_reported() {
    let with = |other| {
        let steps = [(100, TicketWait::ContainerStart, Whole), (other, TicketWait::Grace, Whole)];
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
fn bottleneck_of_a_span_is_on_the_path_within_it() {
    let mut r = restart(&[(10, TicketWait::Pleg, Whole), (40, CREATE, Token), (50, TicketWait::ContainerStart, Whole)]);
    r.set_latest(Milestone::PodFailed, s(20));
    let text = with_view(&started(), |run| {
        let gated = span_bottlenecks(run, &r).into_iter();
        let text = |g: BottleneckShare| g.gate.map(|gate| gate.text()).unwrap_or_default();
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
fn no_bottleneck_is_reported_without_tickets() {
    let r = restart(&[]);
    assert_eq!(bottleneck_of(&r), []);
    assert_eq!(bottlenecks(&[r]), []);
}
