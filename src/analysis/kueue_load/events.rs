//! The Events that Kueue records, with a client of its own. Nothing waits for them.

use super::clients::rate_limit;
use sim_api::spec::kueue::KueueLoadTest;
use sim_base::SimTime;
use sim_engine::token_bucket::TokenBucket;
use sim_kueue::workload::{Workload, WorkloadKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Requests for an Event and its repetitions about the same version of a Workload: it is created, and patched once
/// (`recordToSink` in client-go, `tools/events/event_broadcaster.go`).
const REQUESTS_PER_EVENT: u32 = 2;

pub struct EventRecorder {
    client: TokenBucket,
    /// Version of the Workload and number of its Events, by reason.
    pub recorded: BTreeMap<(WorkloadKey, &'static str), (Arc<Workload>, u32)>,
}

impl EventRecorder {
    pub fn new(test: &KueueLoadTest) -> EventRecorder {
        EventRecorder { client: rate_limit(test.manager.client), recorded: BTreeMap::new() }
    }

    /// Records an Event about a version of a Workload. Returns the time at which the request is sent. `None` means that
    /// there is none.
    pub fn record(
        &mut self, key: WorkloadKey, version: &Arc<Workload>, reason: &'static str, now: SimTime,
    ) -> Option<SimTime> {
        let (newest, count) = self.recorded.entry((key, reason)).or_insert_with(|| (version.clone(), 0));
        if !Arc::ptr_eq(newest, version) {
            (*newest, *count) = (version.clone(), 0);
        }
        *count += 1;
        (*count <= REQUESTS_PER_EVENT).then(|| self.client.reserve(now))
    }
}
