//! Checks the layouts of sweeps of any shape for texts that overlap or leave the picture.

use super::super::compare_figure::tests::HANGS;
use super::super::restart_figure::tests::check;
use super::*;
use sim_analysis::experiment::MeasuredMetric;
use sim_analysis::sweep::{SweepPoints, SweepRow};
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};
use std::sync::Arc;

fn values(path: &str, values: &[&str]) -> SweepAxis {
    let target = SweepTarget::Values(values.iter().map(|v| (*v).to_owned()).collect());
    let path = path.to_owned();
    SweepAxis { path, target, is_uncertain: false }
}

fn range(path: &str, low: &str, high: &str, log: bool) -> SweepAxis {
    let (low, high) = (low.to_owned(), high.to_owned());
    let path = path.to_owned();
    SweepAxis { path, target: SweepTarget::Range { low, high, log }, is_uncertain: false }
}

fn of<'a>(identity: &'a SweepIdentity, results: &'a SweepResults, footer: &'a [String]) -> SweptMetric<'a> {
    SweptMetric { identity, results, assumption_lines: footer, currency: "EUR" }
}

fn swept(axes: Vec<SweepAxis>, hypercube: Option<u64>, names: &[&str]) -> (SweepIdentity, SweepResults) {
    let spec = SweepSpec { axes, hypercube };
    let identity = SweepIdentity::new(("a-scenario", "pods"), (1, 8, None), &spec, (&[], "sweep"));
    let points = SweepPoints::expand(&spec, 1).unwrap();
    let row = |point: usize, i: u64| SweepRow {
        point,
        replication: i,
        digest: i,
        end_reason: "Completed".to_owned(),
        outcome: sim_analysis::experiment::ReplicationOutcome::Completed,
        names: Arc::new(names.iter().map(|n| (*n).to_owned()).collect()),
        values: (0..names.len())
            .map(|k| MeasuredMetric::Value(0.9 + (point * (k + 1)) as f64 * 0.7 + ((i * 5) % 7) as f64 * 0.3))
            .collect(),
        warnings: Vec::new(),
        never_placed: None,
    };
    let rows = (0..points.count()).flat_map(|p| (0..8).map(move |i| (p, i)));
    let rows = rows.map(|(p, i)| row(p, i)).collect();
    (identity, SweepResults::new(points, rows))
}

#[test]
fn no_text_overlaps_another_or_leaves_the_picture() {
    let spares = values("parameters.spares", &["0", "1", "2", "4", "8", "16"]);
    let many: Vec<String> = (1..=14).map(|i| format!("{}m", i * 10)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let long = values("spec.x", &["a value with an exceptionally long text", "b"]);
    for (axes, hypercube, expected) in [
        (vec![spares.clone(), values("parameters.every", &["5m", "20m", "1h"])], None, &["heat", "bands", "knee"][..]),
        (vec![values("parameters.every", &many), spares.clone()], None, &["heat", "bands", "knee"]),
        (vec![spares.clone()], None, &["bands", "knee"]),
        (vec![long.clone(), spares.clone()], None, &["heat", "bands", "knee"]),
        (vec![long.clone(), values("b", &["x", "y"])], None, &["heat"]),
        (vec![range("a", "0", "16", false), range("b", "5m", "20h", true)], Some(20), &["scatter"]),
        (vec![range("a.interval", "5m", "2h", false), spares], Some(5), &["scatter"]),
    ] {
        let (identity, all) = swept(axes, hypercube, &["goodput", "cost.total"]);
        let footer = [HANGS.to_owned()];
        let figures = figures(of(&identity, &all, &footer), &[]);
        let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, expected);
        figures.iter().for_each(|(_, scene)| check(scene));
    }
}

#[test]
fn axes_have_names_and_units_for_people() {
    let axes = vec![
        values("training.checkpoint.every", &["5m", "20m", "1h"]),
        values("faultProcesses[0].times", &["0.5", "1"]),
    ];
    let (identity, all) = swept(axes, None, &["goodput", "cost.total"]);
    for (name, scene) in figures(of(&identity, &all, &[]), &[]) {
        let texts = scene.text_boxes();
        let has = |text: &str| texts.iter().any(|t| t.4.contains(text));
        assert!(has("goodput, %") && has("checkpoint interval"), "{name}");
        assert!(!has("every") && !has("times"), "{name}");
        assert!(name != "knee" || has("cost of a run, EUR"), "{name}");
        assert!(name == "heat" || has("checkpoint interval (logarithmic)"), "{name}");
        assert!(scene.title.contains("goodput") && !scene.description.is_empty());
    }
}

#[test]
fn a_sweep_in_which_nothing_differs_has_no_chart() {
    let (identity, all) = swept(vec![values("a", &["1", "2"])], None, &[]);
    assert!(figures(of(&identity, &all, &[]), &[]).is_empty());
}

#[test]
fn lines_over_a_swept_field_have_room_whatever_they_go_over_and_however_many_there_are() {
    let nodes = values("parameters.nodes", &["100", "1000", "5000"]);
    let from_zero = values("parameters.spares", &["0", "1", "2", "4", "8", "16"]);
    let times = values("parameters.every", &["5m", "20m", "1h"]);
    let many: Vec<String> = (1..=14).map(|i| format!("a long name of a value {i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for axes in [
        vec![nodes.clone()],
        vec![nodes, values("strategy", &many)],
        vec![from_zero, values("b", &["x", "y"])],
        vec![times],
    ] {
        for metric in ["restartLatency_s.p50", "goodput"] {
            let (identity, all) = swept(axes.clone(), None, &["restartLatency_s.p50", "goodput"]);
            let footer = [HANGS.to_owned()];
            let closed = ClosedFormCurve {
                metric: ClosedFormMetric::RestartLatency,
                name: "one API request per pod".to_owned(),
                formula: "closed form: (pods - burst) / rate s".to_owned(),
                values: (0..all.points().count()).map(|p| Some(p as f64 + 0.5)).collect(),
            };
            let axis = numeric_axis_named(&all, None).unwrap();
            for closed in [None, Some(&closed)] {
                for size in [(1600, 900), (1280, 720)] {
                    check(&scaling_chart(of(&identity, &all, &footer), (metric, axis), closed, size));
                }
            }
        }
    }
}

#[test]
fn an_axis_is_named_as_it_was_swept_or_by_its_last_part_and_has_numbers() {
    let axes = vec![values("strategy", &["a", "b"]), values("parameters.nodes", &["1", "2"])];
    let (_, all) = swept(axes, None, &["goodput"]);
    assert_eq!(numeric_axis_named(&all, None), Ok(1));
    assert_eq!(numeric_axis_named(&all, Some("parameters.nodes")), Ok(1));
    assert_eq!(numeric_axis_named(&all, Some("nodes")), Ok(1));
    assert!(
        numeric_axis_named(&all, Some("strategy")).unwrap_err().to_string().contains("at least two numeric values")
    );
    assert!(numeric_axis_named(&all, Some("x")).unwrap_err().to_string().contains("available axes: strategy, nodes"));
}
