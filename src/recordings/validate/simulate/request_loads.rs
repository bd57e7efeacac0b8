//! Load of the API server at which the latencies of a recording were measured.
//!
//! An audit log does not contain the number of requests in flight. The simulated restart sends the same requests: a
//! latency gets the rank that its load has among the simulated loads. The recorded median and 95th percentile are
//! reproduced, and small batches on an idle server are fast.

use crate::validate::scenario::SEED;
use sim_api::spec::ScenarioSpec;
use sim_engine::record::{Body, Call, RecordNames, RecordSink, SimulationRecord, TicketWait, WorkTicket};
use sim_engine::{CannotRun, SimulationInput};

/// Runs whose loads are pooled; each takes the latencies from the loads of the earlier ones. After eight, another run
/// changes the restart times in `recordings/times` by at most 2 %.
const PASSES: usize = 8;

/// Requests in flight at the requests since the last exit of a container, per kind.
struct RequestLoads([Vec<u32>; Call::COUNT]);

impl RecordSink for RequestLoads {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if matches!(record.body, Body::ContainerExited { .. }) {
            self.0.iter_mut().for_each(Vec::clear);
        }
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        if let TicketWait::Request(call) = ticket.wait {
            self.0[call as usize].push(ticket.in_flight);
        }
    }
}

/// Adds the loads to the measured latencies of the scenario.
pub fn measure_loads(scenario: &mut ScenarioSpec) -> Result<(), CannotRun> {
    let passes = if scenario.timing.api_measured.is_empty() { 0 } else { PASSES };
    for _ in 0..passes {
        let mut loads = RequestLoads([const { Vec::new() }; Call::COUNT]);
        SimulationInput::new(scenario)?.run(SEED, 0, &mut loads);
        for (call, loads) in Call::ALL.into_iter().zip(loads.0) {
            let kind = call.kind();
            if let Some(at) = scenario.timing.measured_kind((kind.client, kind.verb, kind.resource)) {
                let all = &mut scenario.timing.api_measured[at].loads;
                all.extend(loads);
                all.sort_unstable();
            }
        }
    }
    Ok(())
}
