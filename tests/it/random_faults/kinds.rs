//! Effects and times of node faults: notices, reclaimed nodes, lemons, periods with a higher rate.

use super::sources::racks;
use super::*;
use std::collections::BTreeMap;

/// Returns the actions on node `n-000`, one line each.
fn action_lines(process: &str) -> Vec<String> {
    let scenario = racks(&format!("faultProcesses: [{process}]")).unwrap();
    let word = |f: &ScriptedFault| {
        use FaultAction::*;
        let (word, node) = match &f.action {
            CrashNode(n) => ("crash", n),
            DrainNode(n) => ("drain", n),
            CordonNode(n) => ("cordon", n),
            UncordonNode(n) => ("uncordon", n),
            DeleteNode(n) => ("delete", n),
            NewNode(n) => ("new", n),
            ReturnNode(n) => ("return", n),
            other => panic!("{other:?}"),
        };
        let at = at(f).0 / 1_000_000_000;
        (node.name.as_deref() == Some("n-000")).then_some((at, word))
    };
    let all: Vec<(u64, &str)> = draw_faults(&scenario, 1, 0).faults.iter().filter_map(word).collect();
    let first = all.first().map_or(0, |(at, _)| *at);
    all.iter().map(|(at, word)| format!("{word} {}", at - first)).collect()
}

#[test]
fn maintenance_is_announced_and_a_machine_that_is_taken_back_is_drained_first() {
    // Every lifetime has the same length, so failures occur at regular intervals.
    let every = "mtbf: 30h, distribution: {empirical: [1]}";
    let drained = action_lines(&format!("{{cause: m, {every}, does: Drain, notice: 10m, backAfter: 2h}}"));
    let hours = |h: u64, s: u64| h * 3600 + s;
    let window =
        |at: u64| [format!("cordon {at}"), format!("drain {}", at + 600), format!("uncordon {}", at + hours(2, 600))];
    let next = hours(32, 600);
    assert_eq!(drained, [window(0), window(next), window(2 * next)].concat()[..drained.len()]);
    assert!(drained.len() >= 6, "{drained:?}");
    let spot = action_lines(&format!("{{cause: s, {every}, does: Reclaim, notice: 30s, backAfter: 1h}}"));
    let one = ["drain 0", "crash 30", "delete 30", "uncordon 30", "new 3630"];
    assert_eq!(spot[..5], one);
    let saves = action_lines(&format!("{{cause: s, {every}, does: Reclaim, notice: 30s, grace: 15s, backAfter: 1h}}"));
    let one = ["cordon 0", "drain 15", "crash 30", "delete 30", "uncordon 30", "new 3630"];
    assert_eq!(saves[..6], one);
    let never = action_lines(&format!("{{cause: s, {every}, does: Reclaim, notice: 0s}}"));
    assert_eq!(never, ["crash 0", "delete 0"]);
}

#[test]
fn a_run_continues_while_its_machines_are_reclaimed_and_return_late() {
    let scenario =
        racks("faultProcesses: [{cause: spot, mtbf: 60h, does: Reclaim, notice: 30s, backAfter: 1h, comesBack: 0.9}]");
    let limits = sim_analysis::experiment::ReplicationLimits::unlimited();
    let rows = ExperimentSubject::from(scenario.unwrap()).replicate((1, 0..3), (1, &limits), &|_| {});
    let rows = rows.unwrap_or_else(|e| panic!("{e}"));
    assert!(rows.iter().all(|r| r.jobsets[0].restarts > 5), "{rows:?}");
}

#[test]
fn some_nodes_never_return() {
    let gone = |chance: f64| {
        let process = format!(
            "faultProcesses: [{{cause: c, mtbf: 1000h, does: Reclaim, notice: 0s, backAfter: 1s, comesBack: {chance}}}]"
        );
        let scenario = racks(&process).unwrap();
        let (mut crashes, mut back) = (0.0f64, 0.0f64);
        for replication in 0..200 {
            for fault in draw_faults(&scenario, 1, replication).faults {
                match fault.action {
                    FaultAction::CrashNode(_) => crashes += 1.0,
                    FaultAction::NewNode(_) => back += 1.0,
                    _ => {}
                }
            }
        }
        (back / crashes, crashes)
    };
    let (share, n) = gone(0.7);
    assert!((share - 0.7).abs() < 3.0 * (0.21f64 / n).sqrt(), "{share} of {n}");
    assert_eq!(gone(0.0).0, 0.0);
}

fn per_node(processes: &str, replication: u64) -> BTreeMap<String, f64> {
    let scenario = racks(&format!("faultProcesses: {processes}")).unwrap();
    let mut all = BTreeMap::new();
    for fault in draw_faults(&scenario, 1, replication).faults {
        if let FaultAction::CrashNode(node) = fault.action {
            *all.entry(node.name.unwrap_or_default()).or_default() += 1.0;
        }
    }
    all
}

#[test]
fn a_lemon_fails_more_often_whatever_the_cause_until_a_repair_heals_it() {
    let lemons = |more: &str, mtbf: &str, cause: &str| {
        format!("[{{cause: {cause}, mtbf: {mtbf}, backAfter: 1ns, lemons: {{share: 0.25, factor: 20{more}}}}}]")
    };
    let (mut bad, mut of_bad, mut of_good) = (0.0f64, 0.0f64, 0.0f64);
    for replication in 0..40 {
        let all = per_node(&lemons("", "20h", "a"), replication);
        // Good nodes have five failures on average, and lemons a hundred.
        let is_bad = |n: &f64| *n > 40.0;
        bad += all.values().filter(|n| is_bad(n)).count() as f64;
        of_bad += all.values().filter(|n| is_bad(n)).sum::<f64>();
        of_good += all.values().filter(|n| !is_bad(n)).sum::<f64>();
        let other = per_node(&lemons("", "20h", "b"), replication);
        let names = |all: &BTreeMap<String, f64>| -> Vec<String> {
            let bad = all.iter().filter(|(_, n)| is_bad(n));
            bad.map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&all), names(&other), "the lemons must be the same nodes for every cause");
    }
    let share = bad / 640.0;
    assert!((share - 0.25).abs() < 3.0 * (0.1875f64 / 640.0).sqrt(), "{share}");
    let per_bad = of_bad / bad;
    assert!((per_bad - 100.0).abs() < 3.0 * (100.0 / bad).sqrt(), "{per_bad}");
    let per_good = of_good / (640.0 - bad);
    assert!((per_good - 5.0).abs() < 3.0 * (5.0 / (640.0 - bad)).sqrt(), "{per_good}");
    let healed = per_node(&lemons(", healed: 1", "20h", "a"), 0);
    assert!(healed.values().all(|n| *n < 20.0), "{healed:?}");
}

#[test]
fn a_bad_version_fails_from_its_day_on_until_it_is_taken_back() {
    let scenario = racks("faultProcesses: [{cause: version, on: Pod, mtbf: 2h, exitCode: 42, from: 30h, until: 50h}]");
    let all: Vec<Duration> = draw_faults(&scenario.unwrap(), 1, 0).faults.iter().map(at).collect();
    let hour = |h: u64| Duration::from_secs(h * 3600);
    assert!(all.iter().all(|at| (hour(30)..hour(50)).contains(at)), "{all:?}");
    // Eight pods, for 20 h, with a mean time of 2 h between failures: 80 failures on average.
    assert!((all.len() as f64 - 80.0).abs() < 3.0 * 80f64.sqrt(), "{}", all.len());
}

#[test]
fn fields_of_other_fault_kinds_are_rejected() {
    for (process, part) in [
        ("does: Reclaim", "does: Reclaim requires notice"),
        ("does: Reclaim, notice: 30s, asNew: true", "which always deletes the Node"),
        ("does: Reclaim, notice: 10s, grace: 15s", "must not exceed notice (10s)"),
        ("does: Drain, notice: 10s, grace: 5s", "grace requires does: Reclaim"),
        ("notice: 30s", "notice requires does: Drain or does: Reclaim"),
        ("comesBack: 0.5", "comesBack requires backAfter"),
        ("from: 2h, until: 1h", "until must be later than from"),
        ("on: Pod, lemons: {share: 0.1, factor: 2}", "lemons applies to nodes only"),
        ("lemons: {share: 0.1}", "factor"),
    ] {
        let refused = racks(&format!("faultProcesses: [{{cause: a, mtbf: 9h, {process}}}]"));
        let refused = refused.unwrap_err();
        assert!(refused.contains(part), "{process}: {refused}");
    }
}
