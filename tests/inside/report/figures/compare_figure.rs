//! Unit tests of `sim_report::figures::compare_figure`.

use super::super::restart_figure::tests::check;
use super::*;
use crate::metric_label::MetricLabel;
use sim_analysis::experiment::{ReplicatedJobSet, ReplicationResult, SimulatedVariant};
use sim_analysis::metrics::step_time::{ExposedPart, MeanStep};
use sim_analysis::metrics::training::TrainingSummary;
use std::collections::BTreeMap;

/// A text that needs two lines.
pub const HANGS: &str = "depends on: each controller of kube-controller-manager 100 requests/s  ·  termination grace period 0 s  ·  node requests 4,000/s (unverified)  ·  images present on every node (assumed)";

pub fn variant(name: &str, scale: f64, categories: &[&'static str]) -> SimulatedVariant {
    let replication = |i: u32| ReplicationResult {
        level: sim_api::spec::ModelLevel::Pods,
        replication: u64::from(i),
        digest: u64::from(i),
        end_s: 100_000.0 * scale + f64::from(i * i) * 900.0,
        end_reason: "AllJobSetsFinished",
        jobsets: Vec::new(),
        fleet_goodput: None,
        ledger_s: BTreeMap::from_iter(categories.iter().map(|c| (*c, 5000.0 * scale + f64::from(i)))),
        cost: 1e6 * scale,
        cost_by_category: BTreeMap::new(),
        outputs: Vec::new(),
        warnings: Vec::new(),
        never_placed: None,
    };
    SimulatedVariant {
        name: name.to_owned(),
        changes: Vec::new(),
        jobsets: Vec::new(),
        currency: "USD".to_owned(),
        replications: (0..6).map(replication).collect(),
    }
}

pub fn of<'a>(
    all: &'a VariantComparison, simulated_variants: &'a [SimulatedVariant], assumption_lines: &'a [String],
    is_slide: bool,
) -> ComparedVariants<'a> {
    ComparedVariants { all, simulated_variants, assumption_lines, is_slide, window: None }
}

#[test]
fn no_text_overlaps_another_or_leaves_the_picture_however_many_variants_there_are() {
    let all = sim_engine::record::LedgerCategory::ALL.map(|c| c.as_str());
    let long = "a variant with an exceptionally long name that does not fit into the chart";
    for names in [&["one"][..], &["one", "two"], &["a", "b", "c", "d", "e", "f", "g", "h", long]] {
        for categories in [&all[..], &all[..2]] {
            let scale = |i: usize| 1.0 + i as f64 * 0.3;
            let variants = names.iter().enumerate().map(|(i, n)| variant(n, scale(i), categories));
            let simulated_variants: Vec<SimulatedVariant> = variants.collect();
            let compared = VariantComparison::from_variants(("a-scenario", 1), &simulated_variants);
            let expected = match names.len() {
                1 => vec!["ledger"],
                _ => vec!["differences", "ledger", "distributions"],
            };
            for is_slide in [false, true] {
                let figures = figures(of(&compared, &simulated_variants, &[HANGS.to_owned()], is_slide));
                let drawn: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
                assert_eq!(drawn, expected);
                figures.iter().for_each(|(_, scene)| check(scene));
                let fits = |scene: &DrawScene| scene.height <= 1000;
                assert!(!is_slide || names.len() > 2 || figures.iter().all(|(_, scene)| fits(scene)));
            }
        }
    }
}

#[test]
fn ticks_are_round_in_the_unit_that_people_count_in() {
    let axis = |from, to| PanelAxis { from, to, left: 0, right: 100 };
    let of = |axis: &PanelAxis, metric| axis.ticks(4, MetricLabel::new(metric, "").tick_unit(axis.to - axis.from));
    assert_eq!(of(&axis(-1e4, 2e4), "end.t_s"), [0.0, 18_000.0]);
    assert_eq!(of(&axis(0.71, 0.83), "goodput").len(), 2);
}

#[test]
fn bars_of_step_times_are_readable_however_many_variants_and_entries_there_are() {
    let mean = |nth: usize, entries: usize| {
        let part = |entry: usize| ExposedPart { name: format!("axis-{entry} AllReduce"), mean_s: 0.1 * nth as f64 };
        let exposed_s = 0.1 * (nth * entries) as f64;
        MeanStep {
            step_s: 7.15 + exposed_s,
            exposed_s,
            exposed_share: exposed_s / (7.15 + exposed_s),
            limit: (nth > 0).then(|| "uplinks of level superpod-with-a-long-name".to_owned()),
            exposed: (0..entries).map(part).collect(),
        }
    };
    for (variants, entries) in [(2, 1), (3, 4), (10, 9)] {
        let of_variant = |nth: usize| {
            let mut one = variant(&format!("variant {nth} of several, with a name"), 1.0, &[]);
            let mean_step = (nth != 1).then(|| mean(nth, entries));
            let training = Some(TrainingSummary { mean_step, ..TrainingSummary::default() });
            one.jobsets = vec!["train".to_owned()];
            one.replications.iter_mut().for_each(|r| {
                r.jobsets = vec![ReplicatedJobSet { training: training.clone(), ..ReplicatedJobSet::default() }];
            });
            one
        };
        let simulated: Vec<SimulatedVariant> = (0..variants).map(of_variant).collect();
        let compared = VariantComparison::from_variants(("a-scenario", 1), &simulated);
        for is_slide in [false, true] {
            let figures = figures(of(&compared, &simulated, &[HANGS.to_owned()], is_slide));
            let (_, scene) = figures.iter().find(|(name, _)| *name == "steps").expect("the chart of step times");
            check(scene);
        }
    }
}
