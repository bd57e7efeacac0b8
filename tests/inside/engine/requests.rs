//! Tests of request latencies under load.

use super::*;
use sim_api::spec::MeasuredLatency;

const CALL: Call = Call::JobSetJobDelete;

fn table(concurrency: u32, measured: Option<Vec<u32>>) -> RequestTable {
    let scenario = crate::kubelet::play_tests::scenario(&[]);
    let (plane, mut timing) = (scenario.control_plane, scenario.timing);
    timing.api_write = Distribution::Fixed(Duration::from_millis(10));
    let kind = CALL.kind();
    timing.api_measured = measured
        .into_iter()
        .map(|loads| MeasuredLatency {
            client: kind.client.to_owned(),
            verb: kind.verb.to_owned(),
            resource: kind.resource.to_owned(),
            latency: Distribution::Measured { p50_s: 0.1, p95_s: 1.0 },
            loads,
        })
        .collect();
    RequestTable::new(&ControlPlane { api_server_concurrency: concurrency, ..plane }, &timing)
}

/// Latencies in ms of `count` requests that are sent at once.
fn latencies(table: &mut RequestTable, count: u32) -> Vec<f64> {
    let mut draws = DrawSequence::new(1, 0);
    let send = |nth| {
        let req = RequestEntry::new(CALL, TicketSubject::Nothing, nth);
        let times = table.send(&mut draws, &req, (StreamKey(7), 0), SimTime(0));
        times.answered_at.since(times.granted).seconds() * 1e3
    };
    (0..count).map(send).collect()
}

#[test]
fn a_fixed_latency_stays_fixed_up_to_the_concurrency_of_the_server_and_grows_in_proportion_beyond() {
    let ms = latencies(&mut table(4, None), 8);
    assert_eq!(ms, [10.0, 10.0, 10.0, 10.0, 12.5, 15.0, 17.5, 20.0]);
    assert_eq!(latencies(&mut table(600, None), 600), [10.0; 600]);
}

/// Times in ms at which requests that are sent at once are answered, with this rate of node requests.
fn answered_ms(node_requests_per_s: f64, calls: &[Call]) -> Vec<u64> {
    let scenario = crate::kubelet::play_tests::scenario(&[]);
    let (mut plane, mut timing) = (scenario.control_plane, scenario.timing);
    (plane.node_requests_per_s, plane.api_server_concurrency) = (node_requests_per_s, 20);
    (timing.api_write, timing.api_read) = (Distribution::fixed_ms(10), Distribution::fixed_ms(1));
    let mut table = RequestTable::new(&plane, &timing);
    let mut draws = DrawSequence::new(1, 0);
    let send = |(nth, call): (usize, &Call)| {
        let req = RequestEntry::new(*call, TicketSubject::Nothing, nth as u32);
        table.send(&mut draws, &req, (StreamKey(7), 0), SimTime(0)).answered_at.0 / 1_000_000
    };
    calls.iter().enumerate().map(send).collect()
}

#[test]
fn a_request_of_a_node_is_executed_while_it_waits_for_its_share_of_the_capacity() {
    use Call::{CollectorPodGet, KubeletStatus};
    // Three requests of an idle moment are as slow as one.
    assert_eq!(answered_ms(250.0, &[KubeletStatus, KubeletStatus, KubeletStatus, CollectorPodGet]), [10, 10, 10, 1]);
    assert_eq!(answered_ms(250.0, &[KubeletStatus; 20])[16..], [64, 68, 72, 76]);
}

#[test]
fn a_measured_latency_has_the_rank_of_its_load() {
    let mut table = table(1, Some((0..100).collect()));
    let ms = latencies(&mut table, 100);
    assert!(ms.is_sorted(), "{ms:?}");
    assert!(ms[3] < 10.0 && (95.0..105.0).contains(&ms[49]) && (980.0..1020.0).contains(&ms[94]), "{ms:?}");
    // More requests in flight than in the measurement: the longest measured latency.
    assert!((latencies(&mut table, 150)[149] - 1100.0).abs() < 1.0);
}

#[test]
fn equal_loads_draw_measured_latencies_at_random() {
    let mut table = table(1, Some(vec![0; 50]));
    let mut draws = DrawSequence::new(1, 0);
    let mut ms: Vec<u64> = (0..1000)
        .map(|nth| {
            let now = SimTime(u64::from(nth) * 60_000_000_000);
            let req = RequestEntry::new(CALL, TicketSubject::Nothing, nth);
            table.send(&mut draws, &req, (StreamKey(7), 0), now).answered_at.since(now).0 / 1_000_000
        })
        .collect();
    ms.sort_unstable();
    assert!((90..160).contains(&ms[500]) && (900..1050).contains(&ms[950]), "{} {}", ms[500], ms[950]);
}

#[test]
fn requests_are_counted_between_arrival_and_response_in_any_order() {
    let s = |ms: u64| SimTime(ms * 1_000_000);
    let mut in_flight = RequestsInFlight::default();
    in_flight.enter(s(0), s(5000), s(5100));
    in_flight.enter(s(0), s(100), s(200));
    in_flight.enter(s(0), s(150), s(300));
    let counts = [50, 120, 180, 250, 1000, 5050, 5200].map(|ms| in_flight.count(s(ms)));
    assert_eq!(counts, [0, 1, 2, 1, 0, 1, 0]);
    // A request that leaves far in the future does not displace the present.
    in_flight.enter(s(0), s(34_359 + 120), s(34_359 + 180));
    assert_eq!(in_flight.count(s(120)), 1);
}
