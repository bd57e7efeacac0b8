//! Measures how the cost of a restart grows with the cluster. Simulates the main scenarios, and one with exclusive
//! Jobs of four pods, at 500, 5,000 and 50,000 nodes and writes `reports/growth.{csv,svg,png}`: simulated seconds,
//! bytes and engine time, each per pod.
//!
//! `cargo run --release --example growth`

use sim_base::Duration;
use sim_engine::SimulationInput;
use sim_engine::record::{Body, DiscardSink, RecordNames, RecordSink, SimulationRecord};
use sim_inputs::read_scenario;
use sim_report::draw::chart::{SLIDE, save};
use sim_report::figures::growth_figure::{GrowthPanel, growth};
use sim_testkit::allocation::{CountingAllocator, bytes_held};
use std::path::Path;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A sink that notes the time of the fault and the next time at which all pods are ready.
#[derive(Default)]
struct Watch {
    fault_s: Option<f64>,
    ready_s: Option<f64>,
    records: u64,
}

impl RecordSink for Watch {
    fn record(&mut self, r: &SimulationRecord, _: &RecordNames) {
        self.records += 1;
        match r.body {
            Body::Fault { .. } => self.fault_s = Some(r.at.seconds()),
            Body::AllReady { ready: true, .. } if self.fault_s.is_some() => self.ready_s = Some(r.at.seconds()),
            _ => {}
        }
    }
}

/// How the scenario is resized.
#[derive(Copy, Clone, PartialEq)]
enum Growth {
    /// Five Jobs with more pods each.
    Pods,
    /// More Jobs of four pods, each with an island of its own.
    ExclusiveJobs,
}

const SERIES: [(&str, &str, Growth); 3] = [
    ("Recreate", "restart-5000-recreate.yaml", Growth::Pods),
    ("InPlaceRestart", "restart-5000-in-place.yaml", Growth::Pods),
    ("Recreate, exclusive", "regime-event-bound.yaml", Growth::ExclusiveJobs),
];

struct Row {
    series: &'static str,
    nodes: u32,
    restart_s: f64,
    bytes_per_pod: f64,
    engine_us_per_pod: f64,
    digest: u64,
}

#[expect(clippy::disallowed_methods, reason = "engine time is wall time")]
fn measure(root: &Path, (series, file, grows): (&'static str, &str, Growth), nodes: u32) -> Result<Row, String> {
    let mut loaded = read_scenario(&root.join("scenarios").join(file), &[]).map_err(|e| e.to_string())?;
    let scenario = &mut loaded.scenario;
    let rj = &mut scenario.jobsets[0].jobset.spec.replicated_jobs[0];
    if grows == Growth::Pods {
        let per_job = nodes / 5;
        scenario.topology.pools[0].nodes_per_island = per_job;
        rj.template.parallelism = Some(per_job);
        rj.template.completions = Some(per_job);
        if let sim_api::spec::FaultAction::ContainerExit { pod, .. } = &mut scenario.faults[0].action {
            *pod = "train-workers-0-7".to_owned();
        }
    } else {
        scenario.stop.at = Duration::from_secs(7 * 86_400);
        scenario.topology.pools[0].count = nodes / 4;
        rj.replicas = nodes / 4;
    }
    let before = bytes_held();
    let mut sim = SimulationInput::new(scenario).map_err(|e| e.to_string())?;
    let mut watch = Watch::default();
    let outcome = sim.run(42, 0, &mut watch);
    let bytes = bytes_held() - before;
    let begun = Instant::now();
    sim.run(42, 0, &mut DiscardSink);
    let engine_us = begun.elapsed().as_secs_f64() * 1e6;
    let (Some(fault), Some(ready)) = (watch.fault_s, watch.ready_s) else {
        return Err(format!("{file} at {nodes} nodes: no restart observed"));
    };
    let pods = f64::from(nodes);
    Ok(Row {
        series,
        nodes,
        restart_s: ready - fault,
        bytes_per_pod: bytes as f64 / pods,
        engine_us_per_pod: engine_us / pods,
        digest: outcome.digest,
    })
}

fn panel(rows: &[Row], label: &str, value: impl Fn(&Row) -> f64) -> GrowthPanel {
    let line = |series: &str| {
        let points = rows.iter().filter(|r| r.series == series).map(|r| (f64::from(r.nodes), value(r)));
        (series.to_owned(), points.collect())
    };
    GrowthPanel { label: label.to_owned(), lines: SERIES.iter().map(|(series, ..)| line(series)).collect() }
}

fn main() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut rows = Vec::new();
    for series in SERIES {
        for nodes in [500, 5_000, 50_000] {
            rows.push(measure(root, series, nodes)?);
        }
    }
    let mut csv = String::from("series,nodes,restart_s,restart_ms_per_pod,bytes_per_pod,digest\n");
    for r in &rows {
        println!(
            "{:20} {:6} nodes: restart {:8.2} s, {:6.2} ms/pod, {:5.0} B/pod, engine {:5.2} us/pod",
            r.series,
            r.nodes,
            r.restart_s,
            r.restart_s * 1e3 / f64::from(r.nodes),
            r.bytes_per_pod,
            r.engine_us_per_pod
        );
        csv += &format!(
            "\"{}\",{},{:.3},{:.3},{:.0},{:016x}\n",
            r.series,
            r.nodes,
            r.restart_s,
            r.restart_s * 1e3 / f64::from(r.nodes),
            r.bytes_per_pod,
            r.digest
        );
    }
    std::fs::write(root.join("reports/growth.csv"), csv).map_err(|e| e.to_string())?;
    let panels = [
        panel(&rows, "simulated restart, ms per pod", |r| r.restart_s * 1e3 / f64::from(r.nodes)),
        panel(&rows, "memory, bytes per pod", |r| r.bytes_per_pod),
        panel(&rows, "engine, microseconds per pod", |r| r.engine_us_per_pod),
    ];
    let scene = growth("One restart, from 500 to 50,000 nodes", &panels, SLIDE);
    for name in ["reports/growth.svg", "reports/growth.png"] {
        save(&scene, &root.join(name)).map_err(|e| e.to_string())?;
    }
    Ok(())
}
