//! Faults of a Fleet from a trace.

use sim_api::spec::RetirementSpec;
use sim_inputs::{FileTextError, LoadedFleet, SourceText, parse_fleet_with};
use sim_surrogate::fleet::{FleetOutcome, FleetSimulation};

fn load(nodes: u32, fault: &str, trace: &str) -> Result<LoadedFleet, String> {
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Fleet\nmetadata: {{name: traced}}\nnodes: {nodes}\njob: {{nodes: {nodes}, \
         recovery: 10m}}\ntraining: {{work: 20h, checkpoint: Continuous}}\nfaults: [{{{fault}}}]\nrepair: {{stages: [{{name: \
         manual, takes: 3h}}]}}\n"
    );
    let source = SourceText { file: "fleet.yaml".to_owned(), text };
    let loader = |name: &str| match name {
        "faults.csv" => Ok(trace.to_owned()),
        other => Err(FileTextError::Loader { reason: format!("{other} does not exist") }),
    };
    parse_fleet_with(&source, &[], &loader).map_err(|e| e.to_string())
}

fn play(loaded: &LoadedFleet, replication: u64) -> FleetOutcome {
    FleetSimulation::new(&loaded.fleet).run(1, replication)
}

fn hours(loaded: &LoadedFleet) -> f64 {
    play(loaded, 0).end.seconds() / 3600.0
}

const TRACED: &str = "cause: seen, trace: faults.csv";

#[test]
fn a_fault_comes_when_it_is_listed_and_the_node_is_back_when_it_was() {
    // The job needs 20 h of work. The outage of the trace, or else the repair, extends it; the recovery runs in
    // parallel.
    for (trace, expected) in [
        ("node,time,duration\nhost-7,10h,2h\n", 22.0),
        ("node,time\nhost-7,10h\n", 23.0),
        ("{\"node\": \"host-7\", \"time\": 36000, \"duration\": \"2h\"}\n", 22.0),
        // A failed node cannot fail again until it is repaired.
        ("node,time,duration\na,10h,2h\na,11h,9h\na,15h,1h\n", 23.0),
        ("node,time,duration\na,21h,2h\n", 20.0),
    ] {
        let loaded = load(1, TRACED, trace).unwrap_or_else(|e| panic!("{e}"));
        let actual = hours(&loaded);
        assert!((actual - expected).abs() < 1e-9, "{trace}: {actual}, expected {expected}");
        assert_eq!(loaded.inputs.len(), 2, "the trace is listed as an input");
    }
}

#[test]
fn the_blamed_node_is_retired_as_in_airesim() {
    for (trace, limit, retired) in [
        // Both failures of `a` are blamed on `b`, although `b` never fails.
        ("node,time\na,1h\na,10h\nb,900h\n", 2, 1.0),
        ("node,time\na,1h\na,10h\nb,900h\n", 3, 0.0),
        // Each of two nodes is blamed once.
        ("node,time\na,1h\nb,10h\n", 2, 0.0),
    ] {
        let mut loaded = load(2, TRACED, trace).unwrap_or_else(|e| panic!("{e}"));
        loaded.fleet.diagnosis.misdiagnosis_probability = 1.0;
        loaded.fleet.retirement = RetirementSpec::Life(limit);
        let outcome = play(&loaded, 0);
        assert_eq!(outcome.outputs.get("retirements"), Some(retired), "{trace}");
        assert_eq!(outcome.outputs.get("depleted"), Some(retired), "{trace}");
    }
}

#[test]
fn each_name_is_a_node_and_every_replication_meets_the_same_faults() {
    let trace = "node,time,kind,duration\nb,4h,xid,1h\na,2h,xid,1h\nc,6h,maintenance,5h\n";
    let loaded = load(3, TRACED, trace).unwrap_or_else(|e| panic!("{e}"));
    assert!((hours(&loaded) - 27.0).abs() < 1e-9);
    for replication in 1..5 {
        assert_eq!(play(&loaded, replication).end, play(&loaded, 0).end);
    }
    let xid = load(3, "cause: xid, trace: {file: faults.csv, kinds: [xid]}", trace);
    assert!((hours(&xid.unwrap_or_else(|e| panic!("{e}"))) - 22.0).abs() < 1e-9);
    // The fault only interrupts the job for the recovery time. A repair needs a fault that uses it.
    let crashes = "node,time\na,2h\na,4h\nb,5h\n";
    let soft = "cause: soft, needsRepair: false, trace: faults.csv}, {cause: host, mtbf: 30000d";
    let soft = load(3, soft, crashes);
    assert!((hours(&soft.unwrap_or_else(|e| panic!("{e}"))) - 20.5).abs() < 1e-9);
}

#[test]
fn unsupported_trace_lines_are_rejected_with_line_number() {
    let fine = "node,time\na,2h\n";
    for (fault, trace, part) in [
        (TRACED, "node,time\na,2h\nb,3h\n", "the trace names at least 2 nodes, but the Fleet has 1"),
        (TRACED, "pod,time\na,2h\n", "a Fleet only has nodes"),
        (TRACED, "node,time\na,soon\n", "not a time"),
        ("cause: a, trace: nothing.csv", fine, "does not exist"),
        ("cause: a, trace: {file: faults.csv, kinds: [xid]}", fine, "no fault of kind \"xid\""),
        ("cause: a, needsRepair: false, trace: faults.csv", fine, "repair has no effect"),
        ("cause: a, mtbf: 1d, trace: faults.csv", fine, "mtbf"),
        ("cause: a, ages: Always, trace: faults.csv", fine, "ages"),
        ("cause: a, onlyLemons: true, trace: faults.csv", fine, "onlyLemons"),
        (
            "cause: a, needsRepair: false, trace: faults.csv", "node,time,duration\na,2h,1h\n",
            "is not allowed with needsRepair: false",
        ),
    ] {
        let refused = load(1, fault, trace).map(|_| ()).expect_err(fault);
        assert!(refused.contains(part), "{fault}: {refused}");
    }
}
