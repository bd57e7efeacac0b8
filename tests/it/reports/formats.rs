//! Traces and metrics, parsed by independent readers.

use super::{SMALL, run, run_ok, text};
use crate::program::scratch;
use std::collections::BTreeMap;
use std::fs;

/// Returns the fields of a protobuf message: number, value, and bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        n
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (number, wire) = (key >> 3, key & 7);
        let length = match wire {
            0 => {
                all.push((number, varint(&mut bytes), &bytes[..0]));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            _ => panic!("wire type {wire}"),
        };
        let (inner, rest) = bytes.split_at(length);
        let value = match wire {
            1 => u64::from_le_bytes(inner.try_into().unwrap()),
            _ => 0,
        };
        all.push((number, value, inner));
        bytes = rest;
    }
    all
}

#[test]
fn a_trace_has_every_record_on_a_track_slices_that_end_and_arrows_from_each_cause() {
    let dir = scratch("report-trace");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    run_ok(&["run", SMALL, "--out", &at("run")]);
    run_ok(&["report", SMALL, "--perfetto", &at("t.pftrace")]);
    let events = text(&dir.join("run/events.ndjson"));
    let caused = events.lines().filter(|l| !l.contains("\"cause\":null")).count();
    let trace = fs::read(dir.join("t.pftrace")).unwrap();
    let (mut tracks, mut depth, mut instants) = (Vec::new(), BTreeMap::new(), 0);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (number, _, packet) in fields(&trace) {
        assert_eq!(number, 1, "a trace consists of packets");
        for (number, _, inner) in fields(packet) {
            let all = fields(inner);
            let of = |n: u64| all.iter().find(|f| f.0 == n).map(|f| f.1);
            match number {
                60 => {
                    let parent = of(5).unwrap_or(0);
                    assert!(parent == 0 || tracks.contains(&parent), "a parent track must precede its children");
                    tracks.push(of(1).unwrap());
                }
                11 => {
                    let track = of(11).unwrap();
                    assert!(tracks.contains(&track));
                    let open = depth.entry(track).or_insert(0i64);
                    match of(9).unwrap() {
                        1 => *open += 1,
                        2 => *open -= 1,
                        3 => instants += 1,
                        4 => {}
                        other => panic!("type {other}"),
                    }
                    from.extend(all.iter().filter(|f| f.0 == 47).map(|f| f.1));
                    to.extend(all.iter().filter(|f| f.0 == 48).map(|f| f.1));
                }
                _ => {}
            }
        }
    }
    assert!(depth.values().all(|open| *open == 0), "every slice must end");
    // The last line of the events contains their digest, which the trace has at its end.
    assert_eq!(instants, events.lines().count());
    from.sort_unstable();
    to.sort_unstable();
    assert_eq!(from, to, "every flow must have a start and an end");
    assert_eq!(from.len(), caused);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn metrics_have_the_names_of_dashboards_and_the_values_of_the_run() {
    let dir = scratch("report-metrics");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    run_ok(&["report", SMALL, "--openmetrics", &at("r.om"), "--scrape", "10s", "--detail", "pods"]);
    let metrics = text(&dir.join("r.om"));
    assert!(metrics.ends_with("\n# EOF\n"));
    let last = |name: &str| {
        let mut own = metrics.lines().filter(|l| l.starts_with(name));
        own.next_back().unwrap_or_else(|| panic!("{name}")).rsplit(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(last("kube_jobset_restarts{"), "1");
    assert_eq!(last("jobset_completed_total{jobset_name=\"default/train\"}"), "1");
    assert_eq!(last("kube_jobset_succeeded_replicas{"), "3");
    let answered = |name: &str, label: &str| -> u64 {
        let own = metrics.lines().filter(|l| l.starts_with(name) && l.contains(label));
        let own = own.map(|l| (l.split(' ').next().unwrap(), l.split(' ').nth(1).unwrap()));
        let last: BTreeMap<&str, u64> = own.map(|(k, v)| (k, v.parse().unwrap())).collect();
        last.values().sum()
    };
    // As many as in the table of the page, which is based on the audit log.
    run_ok(&["report", SMALL, "--md", &at("r.md")]);
    let page = text(&dir.join("r.md"));
    let table = page.split("Requests per client").nth(1).unwrap();
    let rows = table.lines().filter(|l| l.starts_with("| ")).skip(1);
    let rows: Vec<&str> = rows.take_while(|l| !l.starts_with("## ")).collect();
    let count = |row: &&str| -> Option<u64> {
        let cells: Vec<&str> = row.split(" | ").collect();
        (cells.len() == 7).then(|| cells[3].replace(',', "").parse().unwrap())
    };
    let all: u64 = rows.iter().filter_map(count).sum();
    assert!(all > 0);
    assert_eq!(answered("apiserver_request_total{", ""), all);
    assert_eq!(answered("rest_client_requests_total{", ""), all);
    let binds = answered("apiserver_request_total{", "subresource=\"binding\",verb=\"POST\"");
    assert!(binds > 0 && answered("rest_client_requests_total{", "kube-scheduler") >= binds);
    assert_eq!(last("jobset_failed_total{"), "0");
    for name in ["kube_pod_status_phase", "kube_job_status_active", "workqueue_depth", "kube_node_status_condition"] {
        assert!(metrics.contains(&format!("# TYPE {name} gauge")), "{name}");
    }
    run_ok(&["report", SMALL, "--openmetrics", &at("top.om")]);
    let top = text(&dir.join("top.om"));
    assert!(top.contains("kube_jobset_restarts{") && top.contains("apiserver_request_total{"));
    for name in ["kube_pod_", "kube_job_", "kube_node_"] {
        assert!(!top.contains(name), "{name} needs --detail pods");
    }
    assert!(top.lines().count() <= 200_000);
    let wide = ["report", SMALL, "--openmetrics", &at("x.om"), "--scrape", "0s"];
    let (code, output) = run(&wide);
    assert!(code == Some(2) && output.contains("at least 100ms"), "{output}");
    fs::remove_dir_all(dir).unwrap();
}

/// A scenario with two replicatedJobs.
const TWO: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: two}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: four}
  pools: [{name: "n-{node}", count: 1, nodesPerIsland: 4, allocatable: {cpu: 8}}]
jobSets: [{manifest: jobset.yaml}]
containers: [{replicatedJob: driver, runFor: 1m}]
stop: {at: 10m, when: Settled}
"#;
const TWO_JOBS: &str = r#"
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: two}
spec:
  replicatedJobs:
    - name: driver
      replicas: 1
      template:
        spec:
          parallelism: 1
          completions: 1
          template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
    - name: workers
      replicas: 2
      template:
        spec:
          parallelism: 1
          completions: 1
          template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
"#;

#[test]
fn each_replicated_job_has_series_of_its_own() {
    let dir = scratch("report-metrics-two");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(dir.join("two.yaml"), TWO).unwrap();
    fs::write(dir.join("jobset.yaml"), TWO_JOBS).unwrap();
    run_ok(&["report", &at("two.yaml"), "--openmetrics", &at("r.om"), "--scrape", "10s"]);
    let metrics = text(&dir.join("r.om"));
    let last = |name: &str, of: &str| {
        let of = format!("replicated_job_name=\"{of}\"");
        let own = metrics.lines().filter(|l| l.starts_with(name) && l.contains(&of));
        own.map(|l| l.split(' ').nth(1).unwrap().to_owned()).next_back()
    };
    let specified = "kube_jobset_specified_replicas{";
    assert_eq!(last(specified, "driver").as_deref(), Some("1"));
    assert_eq!(last(specified, "workers").as_deref(), Some("2"));
    assert_eq!(last("kube_jobset_succeeded_replicas{", "driver").as_deref(), Some("1"));
    assert_eq!(last("kube_jobset_ready_replicas{", "workers").as_deref(), Some("2"));
    assert!(metrics.contains("customresource_kind=\"JobSet\""));
    fs::remove_dir_all(dir).unwrap();
}
