//! Tests of `sim_report::assumptions::sensitivity`.

use sim_base::*;
use sim_report::assumptions::dominant::DominantAssumption;
use sim_report::assumptions::sensitivity::*;
use sim_report::page::PageBlock;
fn sensitive_result(name: &str, value: &str, seconds: u64) -> SensitiveResult {
    let decider = DominantAssumption {
        name: "kube-scheduler",
        value: value.to_owned(),
        id: "controlPlane.kubeScheduler.qps".to_owned(),
        source: "a source".to_owned(),
        confidence: "unverified".to_owned(),
        time: Duration::from_secs(seconds),
        text_if_zero: "",
        is_delay: false,
    };
    SensitiveResult {
        name: name.to_owned(),
        preset: String::new(),
        assumptions: vec![decider],
        total: Duration::from_secs(2 * seconds),
    }
}

#[test]
fn a_foot_has_each_assumption_once_with_all_its_values() {
    let all = [sensitive_result("a", "50/s", 1), sensitive_result("b", "100/s", 2), sensitive_result("c", "50/s", 1)];
    assert_eq!(footer_lines(&all), ["depends on: kube-scheduler 50/s or 100/s (unverified)"]);
    assert!(footer_lines(&[]).is_empty() && blocks(&[]).is_empty());
}

#[test]
fn a_table_names_the_variant_only_where_there_are_several() {
    let width = |all: &[SensitiveResult]| match &blocks(all)[1] {
        PageBlock::Table(table) => (table.columns.len(), table.rows[0].len(), table.rows.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(width(&[sensitive_result("", "50/s", 1)]), (6, 6, 1));
    assert_eq!(width(&[sensitive_result("a", "50/s", 1), sensitive_result("b", "50/s", 1)]), (7, 7, 2));
}
