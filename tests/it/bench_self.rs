//! `bench self`: every row of the budget can be measured, at a size that takes no time.

use crate::program::program;
use serde_json::Value;

fn report(more: &[&str]) -> Value {
    let arguments = [
        &["bench", "self", "--trial", "--quiet", "--format", "json"][..],
        more,
    ];
    let ran = program(&arguments.concat()).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

#[test]
fn every_row_of_the_budget_is_measured_or_says_why_not() {
    let report = report(&[]);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 18);
    let cores = report["cores"].as_u64().expect("cores");
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        let not_here = match name {
            "memory.pod" | "kueue.50000" => true,
            "memory.5000" => !cfg!(target_os = "linux"),
            "fleet.200" | "threads.2" | "pairs.10000" => cores < 2,
            _ => false,
        };
        assert_eq!(row["value"].is_null(), not_here, "{row}");
        assert_eq!(row["why"].is_null(), !not_here, "{row}");
        // A small row may not pass for the real one.
        assert_eq!(row["standing"], "", "{row}");
        let limits = ["must", "aim"].map(|limit| row[limit].as_f64().unwrap_or(0.0));
        assert!(limits.iter().all(|limit| *limit > 0.0), "{row}");
    }
}

#[test]
fn single_rows_are_measured_alone() {
    let report = report(&["--only", "queue.5000,memory.event"]);
    let names: Vec<&str> = (report["rows"].as_array().expect("rows").iter())
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ["memory.event", "queue.5000"]);
    let ran = program(&["bench", "self", "--only", "queue"]).output();
    let told = String::from_utf8_lossy(&ran.as_ref().expect("it runs").stderr).into_owned();
    assert!(told.contains("there is no such row"), "{told}");
}
