//! The repair of nodes of a scenario: detection, diagnosis, stages, crews, retirement.

use super::sources::racks;
use super::*;

/// Returns the crashes (true) and returns of nodes, with their time in seconds.
fn simulate(repair: &str, process: &str, replication: u64) -> Vec<(f64, String, bool)> {
    let text = format!("faultProcesses: [{{cause: host, {process}}}]\nnodeRepair: {repair}");
    let scenario = racks(&text).unwrap();
    let one = |f: &ScriptedFault| match &f.action {
        FaultAction::CrashNode(n) => (at(f).seconds(), n.name.clone().unwrap_or_default(), true),
        FaultAction::ReturnNode(n) => (at(f).seconds(), n.name.clone().unwrap_or_default(), false),
        other => panic!("{other:?}"),
    };
    draw_faults(&scenario, 1, replication).faults.iter().map(one).collect()
}

/// Returns the durations of the completed outages.
fn outages(all: &[(f64, String, bool)]) -> Vec<f64> {
    let mut lasted = Vec::new();
    for (i, (start, node, crash)) in all.iter().enumerate() {
        let end = all[i..].iter().find(|(_, n, c)| n == node && !c);
        if let (true, Some((end, ..))) = (*crash, end) {
            lasted.push(end - start);
        }
    }
    lasted
}

#[test]
fn a_repair_takes_its_detection_and_its_stages() {
    let one = simulate("{detectedAfter: 10m, stages: [{name: a, takes: 2h}]}", "mtbf: 90h", 0);
    let lasted = outages(&one);
    assert!(lasted.len() > 5 && lasted.iter().all(|s| (s - 7800.0).abs() < 1e-6), "{lasted:?}");
    let both = "{stages: [{name: a, takes: 1h, escalates: 0.25}, {name: b, takes: 4h}]}";
    let lasted: Vec<f64> = (0..60).flat_map(|r| outages(&simulate(both, "mtbf: 90h", r))).collect();
    let long = lasted.iter().filter(|s| (**s - 18_000.0).abs() < 1e-6).count() as f64;
    let all = lasted.len() as f64;
    // Long outages are slightly underrepresented, because the end of the run cuts off more of them.
    assert!((long / all - 0.25).abs() < 4.0 * (0.1875 / all).sqrt(), "{long} of {all} outages are long");
}

#[test]
fn crews_repair_sequentially_and_waiting_nodes_are_unavailable() {
    let busy = "mtbf: 20h";
    let many = outages(&simulate("{stages: [{name: a, takes: 2h}]}", busy, 0));
    let one = simulate("{stages: [{name: a, takes: 2h}], crews: 1}", busy, 0);
    assert!(many.iter().all(|s| *s < 7201.0));
    assert!(outages(&one).iter().any(|s| *s > 7201.0));
    let ends: Vec<f64> = one.iter().filter(|(.., crash)| !crash).map(|(at, ..)| *at).collect();
    for pair in ends.windows(2) {
        assert!(pair[1] - pair[0] > 7199.0, "one crew repairs one node at a time: {pair:?}");
    }
}

#[test]
fn undiagnosed_faults_end_at_once_and_another_node_may_be_blamed() {
    let missed = "{detectedAfter: 1m, diagnosis: {probability: 0}, stages: [{name: a, takes: 2h}]}";
    let lasted = outages(&simulate(missed, "mtbf: 20h", 0));
    assert!(lasted.len() > 20 && lasted.iter().all(|s| (s - 60.0).abs() < 1e-6), "{lasted:?}");
    let wrong = "{detectedAfter: 1m, diagnosis: {uncertainty: 1}, stages: [{name: a, takes: 2h}]}";
    let all = simulate(wrong, "mtbf: 90h", 0);
    let lasted = outages(&all);
    let short = lasted.iter().filter(|s| (**s - 60.0).abs() < 1e-6).count();
    let long = lasted.iter().filter(|s| (**s - 7200.0).abs() < 1e-6).count();
    assert!(short.abs_diff(long) <= 1 && short + long == lasted.len(), "{lasted:?}");
    assert!(short > 5);
}

#[test]
fn frequently_failing_nodes_are_retired_and_repairs_heal_lemons() {
    let all = simulate("{stages: [{name: a, takes: 1h}], retire: life:2}", "mtbf: 10h", 0);
    for node in 0..16 {
        let name = format!("n-{node:03}");
        let crashes = all.iter().filter(|(_, n, crash)| *n == name && *crash).count();
        let returns = all.iter().filter(|(_, n, crash)| *n == name && !*crash).count();
        assert_eq!((crashes, returns), (2, 1), "{name}");
    }
    let lemons = "mtbf: 50h, lemons: {share: 1, factor: 50}";
    let crashes = |fails: f64| {
        let repair = format!("{{stages: [{{name: a, takes: 1s, fails: {fails}}}]}}");
        let all = simulate(&repair, lemons, 0);
        all.iter().filter(|(.., crash)| *crash).count()
    };
    // All 16 nodes crash about a hundred times, or each once and two of them again.
    assert!(crashes(1.0) > 1300 && crashes(0.0) < 120, "{} {}", crashes(1.0), crashes(0.0));
}

#[test]
fn retirement_counts_repairs_of_the_blamed_node_and_not_real_failures() {
    let rule = "{diagnosis: {uncertainty: 1}, stages: [{name: a, takes: 1h}], retire: life:2}";
    let all = simulate(rule, "mtbf: 10h", 0);
    let mut retired = 0;
    for node in 0..16 {
        let own = |entry: &&(f64, String, bool)| entry.1 == format!("n-{node:03}");
        let own: Vec<_> = all.iter().filter(own).cloned().collect();
        let completed = outages(&own);
        let repairs = completed.iter().filter(|s| **s > 3599.0).count();
        // A node does not return from its second repair.
        assert!(repairs <= 1, "{own:?}");
        let is_gone = own.last().is_some_and(|(.., crash)| *crash);
        retired += u32::from(is_gone && repairs == 1);
    }
    assert!(retired > 10, "{retired}");
}

#[test]
fn a_change_of_policy_leaves_repairs_what_they_were() {
    let text = "faultProcesses: [{cause: host, mtbf: 20h}]\nnodeRepair: {stages: [{name: a, takes: 2h}], crews: 2}";
    let scenario = racks(text).unwrap();
    let mut other = scenario.clone();
    other.jobsets[0].jobset.spec.failure_policy = None;
    let output = |s: &ScenarioSpec| format!("{:?}", draw_faults(s, 3, 5).faults);
    assert_eq!(output(&scenario), output(&other));
    assert_ne!(output(&scenario), format!("{:?}", draw_faults(&scenario, 3, 6).faults));
}

#[test]
fn a_repair_without_a_use_is_rejected() {
    for (process, part) in [
        ("mtbf: 9h, backAfter: 1h", "nodeRepair"),
        ("mtbf: 9h, on: Pod", "nodeRepair"),
        ("mtbf: 9h, lemons: {share: 0.1, factor: 2, healed: 1}", "the stages decide whether a repair succeeds"),
    ] {
        let text =
            format!("faultProcesses: [{{cause: a, {process}}}]\nnodeRepair: {{stages: [{{name: a, takes: 1h}}]}}");
        let refused = racks(&text).unwrap_err();
        assert!(refused.contains(part), "{process}: {refused}");
    }
}

#[test]
fn machines_that_crash_in_a_trace_without_durations_are_repaired() {
    let text = "faultProcesses: [{cause: c, trace: faults.csv}]\nnodeRepair: {detectedAfter: 5m, stages: [{name: a, \
                takes: 30m}], crews: 1}";
    let with = |trace: &str| super::sources::racks_with(text, trace);
    let drawn = draw_faults(&with("time,node\n1h,n-001\n1h,n-002\n").unwrap(), 1, 0);
    let back = |f: &&ScriptedFault| matches!(f.action, FaultAction::ReturnNode(_));
    let back: Vec<String> = drawn.faults.iter().filter(back).map(|f| at(f).to_string()).collect();
    assert_eq!(back, ["1h35m", "2h5m"], "one crew");
    let refused = with("time,node,duration\n1h,n-001,3h\n").unwrap_err();
    assert!(refused.contains("nodeRepair has no effect"), "{refused}");
}
