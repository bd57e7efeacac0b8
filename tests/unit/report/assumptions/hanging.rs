//! Tests of `sim_report::assumptions::hanging`.

use sim_base::*;
use sim_report::assumptions::deciding::Decider;
use sim_report::assumptions::hanging::*;
use sim_report::page::Block;
fn hung(name: &str, value: &str, seconds: u64) -> Hung {
    let decider = Decider {
        name: "kube-scheduler",
        value: value.to_owned(),
        id: "controlPlane.kubeScheduler.qps".to_owned(),
        source: "a source".to_owned(),
        confidence: "unverified".to_owned(),
        time: Duration::from_secs(seconds),
        without: "",
        is_delay: false,
    };
    Hung {
        name: name.to_owned(),
        preset: String::new(),
        deciders: vec![decider],
        total: Duration::from_secs(2 * seconds),
    }
}

#[test]
fn a_foot_has_each_assumption_once_with_all_its_values() {
    let all = [
        hung("a", "50/s", 1),
        hung("b", "100/s", 2),
        hung("c", "50/s", 1),
    ];
    assert_eq!(
        foot(&all),
        ["hangs on: kube-scheduler 50/s or 100/s (unverified)"]
    );
    assert!(foot(&[]).is_empty() && blocks(&[]).is_empty());
}

#[test]
fn a_table_names_the_variant_only_where_there_are_several() {
    let width = |all: &[Hung]| match &blocks(all)[1] {
        Block::Table(table) => (table.columns.len(), table.rows[0].len(), table.rows.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(width(&[hung("", "50/s", 1)]), (6, 6, 1));
    assert_eq!(
        width(&[hung("a", "50/s", 1), hung("b", "50/s", 1)]),
        (7, 7, 2)
    );
}
