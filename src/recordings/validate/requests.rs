//! Compares the number of recorded and simulated API requests before and during the restart.
//!
//! The counts help to explain errors of the times. They are not scored.

use super::recording::{RecordedRequests, RequestRow};
use super::result::RequestDifference;
use sim_engine::record::RequestCount;
use std::collections::BTreeMap;

/// Client, verb, resource and code of a request.
type RequestKey = [String; 4];

/// Requests that the model deliberately omits: client, resource, code ("" matches all), reason. The first matching
/// row applies.
pub const NOT_MODELLED: [(&str, &str, &str, &str); 7] = [
    ("endpoint-controller", "", "", "endpoints are derived from the pods; no other component waits for them"),
    (
        "endpointslice-controller",
        "",
        "",
        "endpoint slices are derived from the pods; no other component waits for them",
    ),
    ("admin", "", "", "request of the user before the run starts"),
    ("kubelets", "", "404", "late requests about deleted pods; no other component waits for them"),
    ("", "", "409", "conflicts caused by stale caches; the request is retried and the decision is the same"),
    ("", "events", "", "Events are written by a separate client and do not delay other requests"),
    ("", "", "404", "requests about deleted objects; no other component waits for them"),
];

fn omission_reason(key: &RequestKey) -> Option<&'static str> {
    let fits = |pattern: &str, value: &str| pattern.is_empty() || pattern == value;
    NOT_MODELLED
        .iter()
        .find(|(client, resource, code, _)| fits(client, &key[0]) && fits(resource, &key[2]) && fits(code, &key[3]))
        .map(|n| n.3)
}

/// Compares both windows: before the restart, and from its start on.
pub fn compare(recorded: &RecordedRequests, simulated: &[RequestCount]) -> Vec<RequestDifference> {
    let before = counts_by_key(simulated, |c| c.count.saturating_sub(c.since_restart));
    let during = counts_by_key(simulated, |c| c.since_restart);
    let mut rows = compare_window("start", &recorded.start, before);
    rows.extend(compare_window("restart", &recorded.restart, during));
    rows
}

fn counts_by_key(counts: &[RequestCount], count: fn(&RequestCount) -> u64) -> BTreeMap<RequestKey, u64> {
    let mut by_key: BTreeMap<RequestKey, u64> = BTreeMap::new();
    for c in counts {
        let key = [c.client, c.verb, c.resource, c.code].map(str::to_owned);
        *by_key.entry(key).or_default() += count(c);
    }
    by_key
}

fn compare_window(
    window: &'static str, recorded: &[RequestRow], simulated: BTreeMap<RequestKey, u64>,
) -> Vec<RequestDifference> {
    let mut pairs: BTreeMap<RequestKey, (u64, u64)> = BTreeMap::new();
    for r in recorded {
        let key = [r.0.clone(), r.1.clone(), r.2.clone(), r.3.clone()];
        pairs.entry(key).or_default().0 += r.4;
    }
    for (key, count) in simulated {
        pairs.entry(key).or_default().1 += count;
    }
    let rows = pairs.into_iter().filter(|(_, (r, s))| r + s > 0);
    rows.map(|(key, (recorded, simulated))| {
        let note = omission_reason(&key).filter(|_| simulated == 0);
        let [client, verb, resource, code] = key;
        RequestDifference { window, client, verb, resource, code, recorded, simulated, note }
    })
    .collect()
}
