//! Unit tests of `jobset_sim::bench::conditions`.

use super::super::row::BenchKey;
use super::super::selection::RowSelection;
use super::*;
use std::collections::BTreeMap;

fn report(ttr_s: &[Option<u64>]) -> BaselineReport {
    let row = |(i, ttr): (usize, &Option<u64>)| BenchRow {
        key: BenchKey {
            case: format!("case-{i}"),
            nodes: 100,
            strategy: "Recreate".to_owned(),
            preset: "stock".to_owned(),
            kubernetes: "1.36".to_owned(),
        },
        ttr_ns: ttr.map(|s| s * 1_000_000_000),
        restarts: 1,
        phases_ns: BTreeMap::from([("detect".to_owned(), 2_000_000_000)]),
        waits_ns: BTreeMap::new(),
        reason: None,
        digest: String::new(),
        replications: Vec::new(),
    };
    BaselineReport::new(ttr_s.iter().enumerate().map(row).collect(), Vec::new())
}

fn both<'r>(now: &'r BaselineReport, before: Option<&'r BaselineReport>) -> BaselineComparison<'r> {
    let missing = before.map(|before| RowSelection::default().missing(now, before));
    BaselineComparison { now, before, missing: missing.unwrap_or_default() }
}

#[test]
fn conditions_are_about_each_row_or_all_of_them_absolute_or_against_the_baseline() {
    let (now, before) = (report(&[Some(10), Some(33), None]), report(&[Some(10), Some(30), None]));
    for (text, failed, rows) in [
        ("ttr > +2%", true, &["case-1/100/Recreate/stock/1.36"][..]),
        ("ttr > +11%", false, &[]),
        ("ttr > +2s", true, &["case-1/100/Recreate/stock/1.36"]),
        ("case-0/100:ttr > 9s", true, &["case-0/100/Recreate/stock/1.36"]),
        ("case-1/10:rows.stuck > 0", false, &[]),
        ("ttr.p95 > +2%", true, &["case-1/100/Recreate/stock/1.36"]),
        ("case-2:ttr > 1h", true, &["case-2/100/Recreate/stock/1.36"]),
        ("case-2:ttr > +2%", false, &[]),
        ("ttr.min.all > +2%", false, &[]),
        ("ttr.p50.all > +2%", true, &[]),
        ("ttr.max.all > 1h", true, &[]),
        ("detect.mean.all > 1.9s", true, &[]),
        ("rows.missing > 0", false, &[]),
        ("rows.stuck > 0", true, &[]),
        ("rows.changed == 1", true, &[]),
        ("rows.faster > 0", false, &[]),
    ] {
        let condition: FieldCondition = text.parse().unwrap();
        known(&condition, true).unwrap();
        let checked = check(&condition, &both(&now, Some(&before))).unwrap();
        assert_eq!(checked.failed, failed, "{text}: {checked:?}");
        let named: Vec<&str> = checked.rows.iter().map(|(row, _)| row.as_str()).collect();
        assert_eq!(named, rows, "{text}");
    }
    for (text, expected) in
        [("ttl > 5", "available: ttr,"), ("ttr > +2%", "needs --against"), ("rows.new > 0", "needs --against")]
    {
        let condition: FieldCondition = text.parse().unwrap();
        let error = known(&condition, false).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let nothing: FieldCondition = "x:ttr > 1".parse().unwrap();
    assert!(check(&nothing, &both(&now, None)).unwrap_err().contains("no row"));
}
