//! Sources and reach of faults: levels of the cluster, presets, traces, scripts.

use super::*;

/// Returns a scenario with four racks of two islands of two nodes with three accelerators.
pub fn racks(rest: &str) -> Result<ScenarioSpec, String> {
    racks_with(rest, "")
}

/// Returns the same scenario with a trace file `faults.csv`.
pub fn racks_with(rest: &str, trace: &str) -> Result<ScenarioSpec, String> {
    let text = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: random}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - name: \"n-{{node:03}}\"\n    \
         count: 4\n    islands: 2\n    nodesPerIsland: 2\n    allocatable: {{cpu: 8, example.com/gpu: 3}}\n    \
         accelerator: example.com/gpu\n    labels: {{example.com/rack: \"r{{pool}}\"}}\n\
         jobSets: [{{manifest: jobset.yaml}}]\nstop: {{at: 100h}}\n{rest}\n"
    );
    support::parse_with(&text, &[("jobset.yaml", JOBSET), ("faults.csv", trace)]).map_err(|e| e.to_string())
}

/// Returns the times of crashes, each with the nodes that crash at that time.
fn crashed(scenario: &ScenarioSpec) -> Vec<(Duration, Vec<String>)> {
    let mut all: Vec<(Duration, Vec<String>)> = Vec::new();
    for fault in &scenario.faults {
        let FaultAction::CrashNode(node) = &fault.action else {
            continue;
        };
        let name = node.name.clone().unwrap_or_default();
        match all.last_mut().filter(|(last, _)| *last == at(fault)) {
            Some((_, nodes)) => nodes.push(name),
            None => all.push((at(fault), vec![name])),
        }
    }
    all
}

#[test]
fn a_fault_reaches_as_far_as_its_level_says() {
    let of = |on: &str| {
        let process = format!("faultProcesses: [{{cause: c, mtbf: 40h, backAfter: 1ns{on}}}]");
        crashed(&draw_faults(&racks(&process).unwrap(), 1, 0))
    };
    let mean_time = |all: &[(Duration, Vec<String>)], entities: f64| {
        let expected = entities * 100.0 / 40.0;
        let actual = all.len() as f64;
        assert!((actual - expected).abs() < 4.0 * expected.sqrt(), "{actual} faults, expected {expected}");
    };
    let nodes = of("");
    assert!(nodes.iter().all(|(_, nodes)| nodes.len() == 1));
    mean_time(&nodes, 16.0);
    let accelerators = of(", on: Accelerator");
    assert!(accelerators.iter().all(|(_, nodes)| nodes.len() == 1));
    mean_time(&accelerators, 48.0);
    let islands = of(", on: Island");
    assert!(islands.iter().any(|(_, nodes)| *nodes == ["n-002", "n-003"]));
    assert!(islands.iter().all(|(_, nodes)| nodes.len() == 2), "{islands:?}");
    mean_time(&islands, 8.0);
    let racks = of(", takesAlong: {label: example.com/rack}");
    assert!(racks.iter().any(|(_, nodes)| *nodes == ["n-004", "n-005", "n-006", "n-007"]));
    assert!(racks.iter().all(|(_, nodes)| nodes.len() == 4), "{racks:?}");
    let instants = |all: &[(Duration, Vec<String>)]| Vec::from_iter(all.iter().map(|(at, _)| *at));
    assert_eq!(instants(&nodes), instants(&racks), "each node fails at the same times as without takesAlong");
}

#[test]
fn one_line_of_the_script_is_a_line_for_each_node_of_a_rack() {
    let one = racks("faults:\n- {at: 9s, crashNode: {label: example.com/rack=r1}}").unwrap();
    let line = |n: u32| format!("\n- {{at: 9s, crashNode: {{node: n-00{n}}}}}");
    let lines: String = (4..8).map(line).collect();
    let four = racks(&format!("faults:{lines}")).unwrap();
    let text = |s: &ScenarioSpec| format!("{:?}", s.faults.iter().map(|f| (f.at, &f.action)).collect::<Vec<_>>());
    assert_eq!(text(&one), text(&four));
    let entries = |s: &ScenarioSpec| s.faults.iter().filter_map(|f| f.entry).collect::<Vec<u32>>();
    assert_eq!((entries(&one), entries(&four)), (vec![0; 4], vec![0, 1, 2, 3]));
    for (label, part) in [
        ("example.com/rack=r9", "no node has the label example.com/rack=r9"),
        ("example.com/rack", "is not of the form KEY=VALUE"),
    ] {
        let refused = racks(&format!("faults:\n- {{at: 9s, crashNode: {{label: {label}}}}}"));
        let refused = refused.unwrap_err();
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_preset_is_its_causes_and_what_is_said_beside_it_counts_more() {
    let preset = racks("faultProcesses: [{preset: llama3-405b, times: 100, asNew: true}]").unwrap();
    let causes: Vec<&str> = preset.fault_processes.iter().map(|p| p.cause.as_str()).collect();
    let all = ["gpu", "hbm3", "software", "network", "host_maintenance", "gpu_sram_or_processor", "other"];
    assert_eq!(causes, all);
    let by_hand = racks(
        "faultProcesses:\n\
         - {cause: gpu, per1000NodeDays: 3.79, times: 35.3, backAfter: {logNormal: {median: 1h, sigma: 1.893}}, asNew: true}\n\
         - {cause: software, on: Pod, per1000NodeDays: 3.79, times: 12.9}\n\
         - {cause: host_maintenance, does: Drain, per1000NodeDays: 3.79, times: 7.6, backAfter: 2h}",
    );
    let chosen = racks(
        "faultProcesses: [{preset: llama3-405b, per1000NodeDays: 3.79, times: 100, asNew: true, causes: [gpu, software, \
         host_maintenance]}]",
    );
    assert_eq!(by_hand.unwrap().fault_processes, chosen.unwrap().fault_processes);
    let other = racks("faultProcesses: [{preset: rsc, mtbf: 3h, backAfter: 1h}]").unwrap();
    let by_hand = racks("faultProcesses: [{cause: host, mtbf: 3h, backAfter: 1h}]").unwrap();
    assert_eq!(other.fault_processes, by_hand.fault_processes);
    for (entry, part) in [
        ("{preset: llama}", "llama3-405b"),
        ("{preset: rsc, cause: a}", "cause"),
        ("{preset: rsc, causes: [gpu]}", "unknown cause \"gpu\""),
        ("{cause: a, mtbf: 1h, causes: [gpu]}", "preset"),
    ] {
        let refused = racks(&format!("faultProcesses: [{entry}]")).unwrap_err();
        assert!(refused.contains(part), "{entry}: {refused}");
    }
}

#[test]
fn a_trace_is_simulated_as_it_was_written() {
    let trace = "time,node,kind,duration\n3h,n-001,Crash,1h\n10,n-000,Drain,30m\n4h,n-002,Crash,\n\
                 200h,n-000,Crash,\n";
    let process = |more: &str| format!("faultProcesses: [{{cause: old, trace: {more}}}]");
    let simulated = |more: &str, trace: &str| {
        let drawn = draw_faults(&racks_with(&process(more), trace).unwrap(), 1, 0);
        let line = |f: &ScriptedFault| format!("{} {:?}", at(f), f.action);
        let all = drawn.faults.iter().map(line);
        all.map(|line| line.replace("NodeRef { name: Some(", "").replace("), of_pod: None, alias: None }", ""))
            .collect::<Vec<_>>()
    };
    let expected = [
        "10s DrainNode(\"n-000\")", "30m10s UncordonNode(\"n-000\")", "3h CrashNode(\"n-001\")",
        "4h ReturnNode(\"n-001\")", "4h CrashNode(\"n-002\")",
    ];
    let mut actual = simulated("faults.csv", trace);
    actual.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(actual, expected);
    assert_eq!(
        simulated("faults.csv, backAfter: 2h", trace).iter().filter(|l| l.contains("Return")).count(),
        2,
        "a row without a duration uses that of the process"
    );
    let kinds = "{\"node\": \"n-003\", \"time\": \"1h\", \"kind\": \"xid79\"}\n\
                 {\"node\": \"n-003\", \"time\": \"2h\", \"kind\": \"xid13\"}\n";
    assert_eq!(
        simulated("{file: faults.csv, kinds: [xid79]}, does: Partition", kinds),
        ["1h PartitionNode(\"n-003\")"]
    );
    for (more, trace, part) in [
        ("faults.csv", "time,node\n1h,x\n", "the topology does not contain node \"x\""),
        ("faults.csv", "time,node,kind\n1h,n-000,xid79\n", "is not a valid value of does"),
        ("faults.csv", "time,pod\n1h,train-w-0-0\n", "this line names a pod, but the process is about a node"),
        ("faults.csv, on: Pod", "time,pod\n1h,train-w-7-0\n", "no JobSet has a pod \"train-w-7-0\""),
        ("faults.csv, mtbf: 3h", trace, "has no effect with a trace"),
        ("faults.csv, on: Island", trace, "names nodes or pods"),
        ("{file: faults.csv, kinds: [never]}", trace, "contains no fault of kind \"never\""),
        ("other.csv", trace, "other.csv"),
    ] {
        let refused = racks_with(&process(more), trace).unwrap_err();
        assert!(refused.contains(part), "{more}: {refused}");
    }
}

#[test]
fn rolling_maintenance_drains_batches_in_turn_within_its_window() {
    let drains = |rolling: &str, on: &str| {
        let process = format!("- {{cause: upgrade, {on}notice: 10m, backAfter: 50m, from: 1h, rolling: {rolling}}}\n");
        let drawn = draw_faults(&scenario(6, "3d", &process), 1, 0);
        let is = |f: &&ScriptedFault| matches!(f.action, FaultAction::DrainNode(_));
        let mut all: Vec<(u64, String)> = (drawn.faults.iter().filter(is))
            .map(|f| match &f.action {
                FaultAction::DrainNode(node) => (at(f).0 / 60_000_000_000, node.name.clone().unwrap_or_default()),
                _ => unreachable!("only drains are kept"),
            })
            .collect();
        all.sort();
        all
    };
    let minutes = |all: &[(u64, String)]| all.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    // The notice of a batch begins when the last batch has returned.
    assert_eq!(minutes(&drains("{batch: 2}", "")), [70, 70, 130, 130, 190, 190]);
    assert_eq!(drains("{batch: 2}", "")[0].1, "n-000");
    assert_eq!(drains("{batch: 2, order: Reverse}", "")[0].1, "n-004");
    assert_eq!(minutes(&drains("{batch: 6, every: 2h, repeatAfter: 1d}", "")).len(), 18);
    let night = drains("{batch: 4, every: 2h, window: {from: 23h, lasts: 1h}}", "");
    assert_eq!(minutes(&night), [1390, 1390, 1390, 1390, 2830, 2830]);
    assert_eq!(minutes(&drains("{batch: 1}", "on: {label: example.com/rack}, ")), [70; 6]);
    for (entry, part) in [
        ("on: Island, backAfter: 1h", "of nodes or of domains with a label"),
        ("mtbf: 1h, backAfter: 1h", "mtbf has no effect with rolling maintenance"),
        ("backAfter: {exponential: {mean: 1h}}", "set every"),
    ] {
        let refused = racks(&format!("faultProcesses: [{{cause: a, {entry}, rolling: {{batch: 2}}}}]")).unwrap_err();
        assert!(refused.contains(part), "{entry}: {refused}");
    }
}

#[test]
fn preset_rates_scale_with_the_accelerators_of_the_nodes() {
    let rate = |accelerators: u32, preset: &str| {
        let nodes = format!("allocatable: {{cpu: 8, a.com/chip: {accelerators}}}\n    accelerator: a.com/chip");
        let processes = format!("faultProcesses:\n- {{preset: {preset}, backAfter: 1h}}\n");
        let text = text(8, "1d", &processes).replace("allocatable: {cpu: 8}", &nodes);
        let scenario = support::parse(&text, JOBSET).unwrap_or_else(|e| panic!("{e}"));
        let lives = scenario.fault_processes.iter().filter(|p| p.on == sim_api::spec::FaultsOn::Node);
        let rates = lives.map(|p| match &p.arrivals {
            sim_api::spec::ArrivalProcess::Renewal(life) => 86_400_000.0 / life.mean_s(),
            other => panic!("{other:?}"),
        });
        rates.sum::<f64>()
    };
    assert!((rate(8, "rsc") - 5.0).abs() < 1e-9 && (rate(4, "rsc") - 2.5).abs() < 1e-9);
    assert!((rate(4, "tpu-v4") - 0.8).abs() < 1e-9 && (rate(1, "tpu-v4") - 0.2).abs() < 1e-9);
    assert!((rate(4, "rsc, per1000NodeDays: 7") - 7.0).abs() < 1e-9, "a given rate is per node");
}
