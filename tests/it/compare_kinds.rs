//! `compare` of Fleets, and the losses of training jobs by cause of the fault.

use crate::compare::{assert_rejected, find_by_name, json, scratch, stdout_of};
use crate::support;
use serde_json::Value;
use sim_analysis::experiment::{ExperimentSubject, ReplicationLimits, is_by_cause, metrics};
use std::fs;

const FLEET: &str = "scenarios/published/opt-175b.yaml";

fn mean(of: &Value, metric: &str) -> f64 {
    let result = of["metrics"][metric]["mean"].as_f64();
    result.unwrap_or_else(|| panic!("no {metric} in {of}"))
}

#[test]
fn every_metric_of_a_replication_is_among_the_names_known_before_it() {
    let limits = ReplicationLimits::unlimited();
    for name in ["first-steps", "training", "in-place", "user-actions", "restart-5000-recreate"] {
        if !support::scenario_names().iter().any(|known| known == name) {
            continue;
        }
        let subject = ExperimentSubject::from(support::scenario(name, &[]));
        let known = subject.metric_names();
        let rows = subject.replicate((1, 0..1), (1, &limits), &|_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (metric, _) in metrics(&rows[0], &subject.jobsets()) {
            assert!(is_by_cause(&metric) || known.contains(&metric), "{name}: {metric}");
        }
    }
}

#[test]
fn variants_of_a_fleet_are_compared_under_the_same_failures() {
    let often = "often: training.checkpoint.every=10m";
    let all = json(&[FLEET, "--variant", often, "--variant", "same: stop.at=60d", "--seeds", "20"]);
    assert_eq!(all["schema"], "jobset-sim/compare/v1");
    let (baseline, often) = (find_by_name(&all, "baseline"), find_by_name(&all, "often"));
    assert_eq!(often["changes"][0]["path"], "training.checkpoint.every");
    assert_eq!(baseline["digest"], find_by_name(&all, "same")["digest"], "the variant uses the seed of the baseline");
    assert_eq!(baseline["metrics"]["restarts"]["n"], 20);
    assert!(mean(often, "lost_work_h") < mean(baseline, "lost_work_h") / 2.0);
    let pairs = all["paired"].as_array().unwrap();
    let pair = |b: &str, metric: &str| {
        let mut own = pairs.iter().filter(|p| p["a"] == "baseline" && p["b"] == b);
        own.find(|p| p["metric"] == metric).unwrap()
    };
    let verdict = |metric: &str| {
        let pair = pair("often", metric);
        (pair["verdict"].clone(), pair["better"].clone())
    };
    assert_eq!(verdict("lost_work_h"), ("b".into(), "lower".into()));
    // Each checkpoint blocks the job for a while.
    assert_eq!(verdict("effective_training_ratio"), ("a".into(), "higher".into()));
    assert_eq!(pair("same", "lost_work_h")["verdict"], "noDifference");
    // Both variants have the same failures: the number of restarts differs less than between two independent fleets.
    let sd = pair("often", "restarts")["sd"].as_f64().unwrap_or(0.0);
    assert!(sd < 5.0, "{sd}");
    let text = stdout_of(&[FLEET, "--variant", "often: training.checkpoint.every=10m", "--seeds", "8"]);
    assert!(text.contains("baseline is best in effective_training_ratio"), "{text}");
}

#[test]
fn a_comparison_of_fleets_is_kept_and_what_only_pods_have_is_rejected() {
    let dir = scratch("compare-fleet");
    let out = dir.join("out");
    let out_text = out.to_str().unwrap();
    let variant = "one: parameters.recovery=1m";
    stdout_of(&["scenarios/published/llama3-405b.yaml", "--variant", variant, "--seeds", "4", "--out", out_text]);
    let rows = fs::read_to_string(out.join("replications.csv")).unwrap();
    assert_eq!(rows.lines().count(), 9, "{rows}");
    assert!(rows.starts_with("variant,replication,seed,outcome,end_reason,digest,"));
    let names: Vec<_> = fs::read_dir(out.join("inputs")).unwrap().collect();
    assert!(!names.is_empty() && out.join("charts").is_dir());
    fs::remove_dir_all(&dir).unwrap();
    for (arguments, part) in [
        (&[FLEET][..], "nothing to compare: add --variant"),
        (&[FLEET, "--strategies", "all"], "--strategies needs a scenario with pods"),
        (&[FLEET, "--fail", "a-b-0-0:exit=1", "--variant", variant], "--fail needs a scenario with pods"),
        (&[FLEET, "--variant", "x: nodez=1"], "in variant \"x\""),
    ] {
        let text = assert_rejected(arguments, 2);
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn losses_by_cause_sum_to_lost_work_and_recovery() {
    let faster = "faster: training.checkpoint.every=5m";
    let all = json(&[
        "scenarios/training.yaml", "--variant", faster, "--seeds", "12", "--set", "prices.perAcceleratorHour=2",
    ]);
    for variant in all["variants"].as_array().unwrap() {
        for metric in ["lost_s", "recovery_s"] {
            let of = |(name, e): (&String, &Value)| {
                assert!(e["n"] == 12, "{name}: runs without faults of this cause contribute 0");
                e["mean"].as_f64()
            };
            let own = variant["metrics"].as_object().unwrap().iter();
            let prefix = format!("{metric}.");
            let causes: Vec<f64> = own.filter(|(name, _)| name.starts_with(&prefix)).filter_map(of).collect();
            assert!(causes.len() >= 2, "{variant}");
            let sum: f64 = causes.iter().sum();
            assert!((sum / mean(variant, metric) - 1.0).abs() < 1e-6, "{metric}: {sum}");
        }
    }
    // The costs of the ledger categories add up to the total.
    let costs = all["variants"][0]["metrics"].as_object().unwrap().iter();
    let totals = ["cost.total", "cost.toComplete", "cost.perProductiveAcceleratorHour"];
    let costs = costs.filter(|(name, _)| name.starts_with("cost.") && !totals.contains(&name.as_str()));
    let sum: f64 = costs.filter_map(|(_, e)| e["mean"].as_f64()).sum();
    let total = mean(&all["variants"][0], "cost.total");
    assert!(total > 0.0 && (sum / total - 1.0).abs() < 1e-9, "{sum}, {total}");
    let pairs = all["paired"].as_array().unwrap();
    let by_cause = |cause: &str| {
        let mut own = pairs.iter().filter(|p| p["a"] == "baseline" && p["b"] == "faster");
        own.find(|p| p["metric"] == cause).unwrap()["verdict"].clone()
    };
    assert_eq!(by_cause("lost_s.software"), "b");
    let one: Value = serde_json::from_slice(&four_runs("json")).unwrap();
    assert!(one["cost"]["byCategory"]["lost"]["p90"].is_number(), "{one}");
}

fn four_runs(format: &str) -> Vec<u8> {
    let mut command = crate::program::program(&[
        "run", "scenarios/training.yaml", "--seeds", "4", "--set", "prices.perAcceleratorHour=2", "--verbose",
        "--format", format,
    ]);
    command.output().unwrap().stdout
}

#[test]
fn cost_of_replications_is_reported_by_category() {
    let text = String::from_utf8(four_runs("text")).unwrap();
    let at = text.find("Cost in").unwrap_or_else(|| panic!("{text}"));
    let rows: Vec<&str> = text[at..].lines().skip(2).map_while(|l| l.split_whitespace().next()).collect();
    assert_eq!(rows[0], "productive", "the largest category comes first");
    assert!(rows.contains(&"lost") && rows.last() == Some(&"total"), "{rows:?}");
}
