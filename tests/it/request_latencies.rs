//! Latencies of the API server in replayed recordings of restart times.

use crate::support;
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_engine::record::*;
use sim_recordings::validate::{read::read, simulate::default_replay_scenario};

/// Requests since the last exit of a container: kind, requests in flight on arrival, latency.
#[derive(Default)]
struct Requests(Vec<(Call, u32, Duration)>);

impl RecordSink for Requests {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if matches!(record.body, Body::ContainerExited { .. }) {
            self.0.clear();
        }
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        if let TicketWait::Request(call) = ticket.wait {
            self.0.push((call, ticket.in_flight, ticket.to.since(ticket.granted)));
        }
    }
}

#[test]
fn simulated_requests_have_the_recorded_latencies_and_those_of_small_batches_are_short() {
    for path in support::recordings("times").into_iter().step_by(support::cases(4, 1) as usize) {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a recording can be read");
        let recording = read(&file, &text).expect("a recording is well-formed");
        let scenario = default_replay_scenario(&file, &recording).expect("the recording can be simulated");
        let mut requests = Requests::default();
        support::simulation(&scenario).run(scenario.seed, 0, &mut requests);
        for call in Call::ALL {
            let kind = call.kind();
            let measured = scenario.timing.measured_kind((kind.client, kind.verb, kind.resource));
            let mut sent: Vec<_> = requests.0.iter().filter(|(c, ..)| *c == call).collect();
            // The latency of nodes includes the wait for the limit of all nodes together.
            if kind.client == "kubelets" || kind.resource == "events" || sent.len() < 100 {
                continue;
            }
            let Some(Distribution::Measured { p50_s, p95_s }) =
                measured.map(|at| &scenario.timing.api_measured[at].latency)
            else {
                continue;
            };
            let share =
                |limit: f64| sent.iter().filter(|(_, _, l)| l.seconds() <= limit).count() as f64 / sent.len() as f64;
            let (half, most) = (share(*p50_s), share(*p95_s));
            let name = format!("{file}: {}: {half:.2} up to the recorded p50, {most:.2} up to p95", call.text());
            println!("{name}");
            assert!((0.3..=0.7).contains(&half) && (0.88..=1.0).contains(&most), "{name}");
            if call == Call::JobPodCreate {
                sent.sort_by_key(|(_, in_flight, _)| *in_flight);
                let tenth = sent.len() / 10;
                let mean_s = |sent: &[&(Call, u32, Duration)]| {
                    sent.iter().map(|(_, _, latency)| latency.seconds()).sum::<f64>() / sent.len() as f64
                };
                let (idle_s, busy_s) = (mean_s(&sent[..tenth]), mean_s(&sent[sent.len() - tenth..]));
                assert!(
                    idle_s < 0.4 * busy_s,
                    "{name}; {idle_s:.3} s with few requests in flight, {busy_s:.3} s with many"
                );
            }
        }
    }
}
