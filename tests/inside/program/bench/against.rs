//! Unit tests of `jobset_sim::bench::against`.

use super::super::row::BenchKey;
use super::*;

fn row(case: &str, ttr: Option<u64>, detect: u64, wait: u64) -> BenchRow {
    let map = |name: &str, n: u64| BTreeMap::from([(name.to_owned(), n)]);
    BenchRow {
        key: BenchKey {
            case: case.to_owned(),
            nodes: 100,
            strategy: "Recreate".to_owned(),
            preset: "stock".to_owned(),
            kubernetes: "1.36".to_owned(),
        },
        ttr_ns: ttr,
        restarts: 1,
        phases_ns: map("detect", detect),
        waits_ns: map("a bucket", wait),
        reason: None,
        digest: String::new(),
        replications: Vec::new(),
    }
}

#[test]
fn the_worst_row_comes_first_with_the_phase_and_the_wait_that_moved() {
    let before =
        vec![row("a", Some(100), 10, 5), row("b", Some(100), 10, 5), row("c", Some(9), 9, 9), row("d", Some(5), 5, 5)];
    let now = vec![
        row("a", Some(110), 20, 5),
        row("b", Some(150), 10, 55),
        row("c", Some(9), 9, 9),
        row("d", None, 5, 5),
        row("e", Some(1), 1, 1),
    ];
    let (before, now) = (BaselineReport::new(before, Vec::new()), BaselineReport::new(now, Vec::new()));
    assert_eq!(BaselineReport::read(&now.json().unwrap()).unwrap(), now);
    let moved = moved(&now, &before);
    let worst: Vec<_> = moved.iter().map(|m| (m.row.key.case.as_str(), m.change_ns)).collect();
    assert_eq!(worst, [("d", None), ("b", Some(50)), ("a", Some(10))]);
    assert_eq!(moved[1].wait, Some(("a bucket".to_owned(), 50)));
    assert_eq!(moved[2].phase, Some(("detect".to_owned(), 10)));
    assert_eq!((&moved[1].phase, &moved[2].wait), (&None, &None));
    assert_eq!(signed(-2_000_000_000, |d| d.to_string()), "-2s");
}
