//! Tests of `sim_recordings::validate::requests`.

use sim_base::SimTime;
use sim_engine::record::RequestCount;
use sim_recordings::validate::recording::{RecordedRequests, RequestRow};
use sim_recordings::validate::requests::*;
fn count(client: &'static str, resource: &'static str, count: u64, since_restart: u64) -> RequestCount {
    RequestCount {
        client,
        verb: "create",
        resource,
        code: "",
        count,
        since_restart,
        first: SimTime::ZERO,
        last: SimTime::ZERO,
    }
}

fn row(client: &str, resource: &str, count: u64) -> RequestRow {
    let text = |s: &str| s.to_owned();
    RequestRow(text(client), text("create"), text(resource), String::new(), count, 1.0, 2.0, 0.0, 3.0)
}

#[test]
fn requests_are_split_where_the_restart_began() {
    let recorded = RecordedRequests {
        start: vec![row("job-controller", "pods", 400)],
        restart: vec![
            row("job-controller", "pods", 400),
            row("endpoint-controller", "endpoints", 9),
            row("jobset", "jobs", 4),
        ],
    };
    let run = [count("job-controller", "pods", 790, 390), count("kubelets", "pods/status", 2, 2)];
    let rows = compare(&recorded, &run);
    let seen: Vec<(&str, &str, u64, u64, bool)> =
        rows.iter().map(|r| (r.window, r.client.as_str(), r.recorded, r.simulated, r.note.is_some())).collect();
    assert_eq!(
        seen,
        [
            ("start", "job-controller", 400, 400, false),
            ("restart", "endpoint-controller", 9, 0, true),
            ("restart", "job-controller", 400, 390, false),
            ("restart", "jobset", 4, 0, false),
            ("restart", "kubelets", 0, 2, false),
        ]
    );
}
