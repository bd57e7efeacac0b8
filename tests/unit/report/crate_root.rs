//! Tests of the reports on handwritten runs.

use sim_analysis::metrics::Phase;
use sim_analysis::metrics::summary::RunSummary;
use sim_report::console::side_by_side::{VariantSide, compare};
use sim_report::console::text;
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::files::csv;
use sim_testkit::records::{dead_node, ended, in_place, recreate, started, with_outcome, with_view};
fn cells(bytes: Vec<u8>) -> Vec<Vec<String>> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
    let row = |r: Result<::csv::StringRecord, _>| r.unwrap().iter().map(str::to_owned).collect();
    reader.records().map(row).collect()
}

#[test]
fn the_phases_of_restarts_csv_add_up_to_the_total_and_the_ledger_to_installed_time() {
    let (restarts, ledger) = with_view(&recreate(), |v| (cells(csv::restarts(v).csv()), cells(csv::ledger(v).csv())));
    let of = |name: &str| {
        let column = restarts[0].iter().position(|h| h == name).unwrap();
        restarts[1][column].clone()
    };
    let phases = Phase::ALL.map(|p| of(&format!("{}_s", p.as_str())).parse::<f64>().unwrap());
    assert_eq!(phases.iter().sum::<f64>(), of("total_s").parse::<f64>().unwrap());
    assert_eq!((of("strategy"), of("start_time_s"), of("end_s")), ("Recreate".into(), "100".into(), "130".into()));
    assert_eq!(of("fault_cause"), "the container of pod train-workers-0-1 exited with code 1");
    assert_eq!(of("digest"), "0000000000000abc");
    let sum: f64 = ledger[1..].iter().map(|r| r[1].parse::<f64>().unwrap()).sum();
    assert_eq!(sum, 8.0 * 131.0);
}

#[test]
fn pods_csv_has_a_row_for_every_pod_object_and_empty_cells_for_what_never_happened() {
    let pods = with_view(&recreate(), |v| {
        let (pods, nodes) = v.folded.tables.as_ref().unwrap();
        assert_eq!(cells(csv::nodes(v, nodes.rows()).csv()).len(), 3);
        cells(csv::pods(v, pods.rows()).csv())
    });
    assert_eq!(pods.len(), 5);
    let of = |row: usize, name: &str| {
        let column = pods[0].iter().position(|h| h == name).unwrap();
        pods[row][column].as_str()
    };
    assert_eq!((of(2, "exit_code"), of(2, "phase"), of(2, "gone_s")), ("1", "Failed", "110"));
    assert_eq!((of(4, "ready_s"), of(4, "gone_s"), of(4, "restart_attempt")), ("130", "", "1"));
}

#[test]
fn the_text_prints_the_story_the_waterfall_and_caveats_within_its_width() {
    let plain = WaterfallStyle { unicode: false, ..WaterfallStyle::default() };
    let page = with_view(&recreate(), |v| text::run(v, Some("runs/1"), &plain));
    for part in [
        "JobSet train: restart 1 triggered: Job train-workers-0 failed",
        "Restart 1 of JobSet train (Recreate, attempt 1): 30.0 s from the fault until every pod was ready",
        "< job-controller client at 100 requests/s",
        "< kubelet notices the exit (PLEG, every",
        "BOTTLENECK",
        "- a warning",
        "Not modelled: spec.network",
        "Files: runs/1",
    ] {
        assert!(page.contains(part), "{part:?} is not in\n{page}");
    }
    assert!(page.is_ascii(), "{page}");
    assert!(page.lines().all(|l| l.len() <= 106), "{page}");
    let nothing = with_view(&started(), |v| text::run(v, None, &plain));
    assert!(nothing.contains("No restart."), "{nothing}");
}

#[test]
fn a_dead_end_is_named_in_the_words_of_the_outcome_and_not_by_some_delay() {
    let why = "pod train-workers-0-1 is terminating on node node-1, which does not answer; train-workers-0 cannot end";
    let outcome = ended(&[&format!("JobSet train is not ready: {why}")]);
    let page = with_outcome(&dead_node(), outcome, |v| {
        let table = cells(csv::restarts(v).csv());
        let column = table[0].iter().position(|h| h == "bottleneck").unwrap();
        assert_eq!(table[1][column], why);
        text::run(v, None, &WaterfallStyle::default())
    });
    let words: Vec<&str> = page.split_whitespace().collect();
    let page = words.join(" ");
    let gate = format!("← {why}");
    let longest = format!("Longest part: {why}, 560 s of 900 s (62 %).");
    assert!(page.contains(&gate) && page.contains(&longest), "{page}");
}

#[test]
fn two_restarts_are_compared_on_one_scale_with_their_ratio() {
    let page = with_view(&recreate(), |left| {
        with_view(&in_place(), |right| {
            let left = VariantSide { label: "Recreate", run: *left, restart: &left.restarts()[0] };
            let right = VariantSide { label: "InPlaceRestart", run: *right, restart: &right.restarts()[0] };
            compare(&left, &right, &WaterfallStyle::default())
        })
    });
    assert!(page.contains("InPlaceRestart is 3.3 times as fast as Recreate."), "{page}");
}

#[test]
fn the_summary_has_the_keys_of_its_schema() {
    let value = with_view(&recreate(), |v| serde_json::to_value(RunSummary::from_run(v)).unwrap());
    for key in [
        "schema", "version", "scenario", "digest", "seed", "end", "jobSets", "ledger", "cost", "assumed", "warnings",
        "notModelled",
    ] {
        assert!(value.get(key).is_some(), "{key}");
    }
    let jobset = &value["jobSets"][0];
    for key in [
        "name", "namespace", "terminalState", "restarts", "restartsCountTowardsMax", "currentInPlaceRestartAttempt",
        "previousInPlaceRestartAttempt", "conditions", "replicatedJobsStatus", "jobs", "events", "goodput",
        "restartLatency_s",
    ] {
        assert!(jobset.get(key).is_some(), "{key}");
    }
    assert_eq!(jobset["restartLatency_s"]["p50"], 30.0);
    assert_eq!(value["end"]["t_s"], 131.0);
}

#[test]
fn the_unit_of_a_column_of_times_is_a_suffix_of_its_name() {
    use sim_report::files::columns::{CONTROL_PLANE, FRAGMENTATION, LEDGER, NODES, PODS, RESTARTS};
    let all = [&RESTARTS[..], &PODS, &NODES, &LEDGER, &CONTROL_PLANE, &FRAGMENTATION].concat();
    for column in all {
        let is_time = column.unit.split('·').next_back() == Some("s");
        assert_eq!(column.name.ends_with("_s"), is_time, "{}", column.name);
    }
}
