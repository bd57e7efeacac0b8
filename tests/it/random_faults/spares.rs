//! Spare nodes of a scenario: their reservation, takeover and handback.

use super::sources::racks_with;
use super::*;

/// Returns the actions on spare nodes for a trace of crashes, one line each.
fn spare_actions(spares: &str, trace: &str) -> Vec<String> {
    let text = format!("faultProcesses: [{{cause: c, trace: faults.csv}}]\nnodeSpares: {spares}");
    let trace = format!("time,node,duration\n{trace}");
    let scenario = racks_with(&text, &trace).unwrap();
    let word = |f: &ScriptedFault| {
        use FaultAction::*;
        let (word, node) = match &f.action {
            CordonNode(n) => ("cordon", n),
            UncordonNode(n) => ("uncordon", n),
            DrainNode(n) => ("drain", n),
            _ => return None,
        };
        Some(format!("{} {word} {}", at(f), node.name.as_deref().unwrap_or_default()))
    };
    draw_faults(&scenario, 1, 0).faults.iter().filter_map(word).collect()
}

fn labels_at_start() -> Vec<String> {
    (12..16).map(|n| format!("0s cordon n-0{n}")).collect()
}

#[test]
fn spare_takes_over_and_the_returned_node_becomes_a_spare() {
    let spares = "{label: example.com/rack=r3, takeOver: 10m}";
    let one = spare_actions(spares, "1h,n-000,2h\n");
    let then = ["1h10m uncordon n-012", "3h cordon n-000"];
    assert_eq!(one, [labels_at_start(), then.map(str::to_owned).to_vec()].concat());
    let five = "1h,n-000,2h\n1h,n-001,9h\n1h,n-002,9h\n1h,n-003,9h\n2h,n-004,20h\n";
    let five = spare_actions(spares, five);
    assert!(five.contains(&"3h10m uncordon n-000".to_owned()), "a waiting node gets the next spare: {five:?}");
    assert!(!five.contains(&"2h10m uncordon n-000".to_owned()), "{five:?}");
}

#[test]
fn a_spare_hands_back_and_a_spare_that_is_lost_takes_nothing_over() {
    let spares = "{label: example.com/rack=r3, takeOver: 10m, handBack: true}";
    let one = spare_actions(spares, "1h,n-000,2h\n");
    let then = ["1h10m uncordon n-012", "3h drain n-012"];
    assert_eq!(one, [labels_at_start(), then.map(str::to_owned).to_vec()].concat());
    assert_eq!(
        spare_actions(spares, "1h,n-000,5m\n"),
        labels_at_start(),
        "the node is back before the spare takes over"
    );
    let lost = spare_actions(spares, "30m,n-012,9h\n1h,n-000,2h\n");
    assert!(lost.contains(&"1h10m uncordon n-013".to_owned()), "{lost:?}");
    assert!(lost.contains(&"9h30m cordon n-012".to_owned()), "{lost:?}");
}

#[test]
fn a_whole_unit_takes_over_for_one_lost_node() {
    let spares = "{label: example.com/rack=r3, unit: {label: example.com/rack}}";
    let one = spare_actions(spares, "1h,n-001,2h\n2h,n-002,2h\n");
    let come = (12..16).map(|n| format!("1h uncordon n-0{n}"));
    let spare = (0..4).map(|n| format!("4h cordon n-00{n}"));
    let expected: Vec<String> = labels_at_start().into_iter().chain(come).chain(spare).collect();
    assert_eq!(one, expected);
}

#[test]
fn a_run_with_a_spare_does_not_wait_for_a_repair() {
    let slowest = |spares: &str| {
        let text = format!("faultProcesses: [{{cause: c, trace: faults.csv, deletedAfter: 5m}}]\n{spares}");
        // The trace takes out all racks except the spare rack and one more, for eight pods that request one CPU
        // each.
        let trace: String = (0..12).map(|n| format!("1h,n-0{n:02},20h\n")).collect();
        let scenario = racks_with(&text, &format!("time,node,duration\n{trace}")).unwrap();
        let limits = sim_analysis::experiment::ReplicationLimits::unlimited();
        let rows = ExperimentSubject::from(scenario.clone()).replicate((1, 0..1), (1, &limits), &|_| {});
        rows.unwrap_or_else(|e| panic!("{e}"))[0].jobsets[0].latency_quantile(1.0).seconds()
    };
    let with = slowest("nodeSpares: {label: example.com/rack=r3, takeOver: 10m}").unwrap_or(0.0);
    assert!((600.0..900.0).contains(&with), "{with}");
}

#[test]
fn spares_that_make_no_sense_are_rejected() {
    for (processes, spares, part) in [
        ("[{cause: a, mtbf: 9h}]", "{label: example.com/rack=r9}", "no node has the label"),
        ("[{cause: a, mtbf: 9h}]", "{label: example.com/rack}", "is not of the form KEY=VALUE"),
        (
            "[{cause: a, mtbf: 9h, on: Pod}]", "{label: example.com/rack=r3}",
            "no process in faultProcesses applies to nodes",
        ),
        ("[{cause: a, mtbf: 9h}]", "{label: example.com/rack=r3, unit: {label: rak}}", "no node has the label"),
    ] {
        let text = format!("faultProcesses: {processes}\nnodeSpares: {spares}");
        let refused = racks_with(&text, "").unwrap_err();
        assert!(refused.contains(part), "{spares}: {refused}");
    }
}
