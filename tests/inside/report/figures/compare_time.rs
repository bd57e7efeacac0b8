//! Unit tests of `sim_report::figures::compare_time`.

use super::super::compare_figure::tests::{HANGS, of, variant};
use super::super::restart_figure::tests::check;
use super::*;
use sim_analysis::experiment::{BriefRestart, ReplicatedJobSet, SimulatedVariant, VariantComparison};
use sim_analysis::metrics::RestartOutcome;
use sim_analysis::metrics::timeline::JobTimeline;
use sim_base::{Duration, SimTime};
use sim_engine::record::SegmentOutcome;
use std::collections::BTreeMap;

fn at(s: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(s)
}

/// Returns a variant with one interruption, which is longer in each further replication.
fn trained(name: &str, outage: u64) -> SimulatedVariant {
    let mut variants = variant(name, 1.0, &["productive"]);
    variants.jobsets = vec!["train".to_owned()];
    for (i, replication) in (1..).zip(&mut variants.replications) {
        let segment = |since, until| SegmentOutcome {
            start: at(since),
            end: at(until),
            productive: Duration::from_secs((until - since) * 9 / 10),
            lost: Duration::ZERO,
            rendezvous: Duration::ZERO,
            restore: Duration::ZERO,
            redo: Duration::ZERO,
            suspended: Duration::ZERO,
        };
        let back = 40_000 + outage * i;
        let restart = BriefRestart::new((at(40_000), at(back)), RestartOutcome::Ready);
        let stretches = vec![segment(10, 40_000), segment(back, 300_000)];
        replication.jobsets = vec![ReplicatedJobSet {
            terminal_state: "",
            is_suspended: false,
            is_left_suspended: false,
            has_run_time: false,
            restarts: 1,
            restarts_count_towards_max: 1,
            completed_s: None,
            all_restarts: 0,
            restart_budget_used: 0,
            training: None,
            admission: None,
            taken: BTreeMap::new(),
            timeline: Some(JobTimeline::new(at(300_000), &stretches)),
            each: vec![restart],
        }];
    }
    variants
}

#[test]
fn charts_over_time_are_drawn_of_what_trains_and_their_texts_have_room() {
    let names = ["baseline", "a variant of a long name", "c", "d", "e"];
    let footer = [HANGS.to_owned()];
    for n in [1, 2, 5] {
        let variants: Vec<SimulatedVariant> = (0..n).map(|i| trained(names[i], 20 + 3000 * i as u64)).collect();
        let compared = VariantComparison::from_variants(("a-scenario", 1), &variants);
        let figures = figures(of(&compared, &variants, &footer, n == 2));
        let drawn: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
        assert_eq!(drawn, ["goodput", "availability", "restarts"]);
        figures.iter().for_each(|(_, scene)| check(scene));
    }
    let idle = [variant("one", 1.0, &["productive"])];
    let compared = VariantComparison::from_variants(("a-scenario", 1), &idle);
    assert!(figures(of(&compared, &idle, &[], false)).is_empty());
}

#[test]
fn lines_over_time_stop_when_half_of_the_replications_have_ended() {
    let mut played = [trained("a", 20)];
    for (i, replication) in (0..).zip(&mut played[0].replications) {
        let timeline = replication.jobsets[0].timeline.as_mut().unwrap();
        let stretches = [SegmentOutcome { start: at(10), end: at(1_000), ..SegmentOutcome::default() }];
        *timeline = JobTimeline::new(at(1_010 + 1_000 * i), &stretches);
    }
    let (_, variants) = over_time(&played).unwrap();
    let stop = variants[0].goodput.last().unwrap().0;
    assert!((3_950.0..=4_000.0).contains(&stop), "three of six are left until 4000 s: {stop}");
    assert!(variants[0].at_work.last().unwrap().0 <= stop);
    let remaining = [0.0, 1_000.0, 1_001.0, 3_999.0, 6_001.0].map(|t| variants[0].remaining(t));
    assert_eq!(remaining, [6, 6, 5, 3, 0]);
}

/// Without the dashes, the last of several equal lines would hide the others.
#[test]
fn equal_lines_alternate_in_color_and_have_one_width() {
    use crate::draw::scene::SceneShape;
    let line = vec![(0, 0), (400, 0), (400, 200)];
    let apart = vec![(0, 300), (400, 300)];
    let mut scene = DrawScene::new((800, 450));
    draw_curves(&mut scene, &[(line.clone(), variant_color(0)), (line, variant_color(1)), (apart, variant_color(2))]);
    let lines: Vec<(Rgb, i32)> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            SceneShape::Line { points, width, color } => {
                assert_eq!(*width, LINE_WIDTH);
                let lengths = points.windows(2).map(|p| (p[1].0 - p[0].0).abs() + (p[1].1 - p[0].1).abs());
                Some((*color, lengths.sum()))
            }
            _ => None,
        })
        .collect();
    let dashes =
        |i: usize| lines[3..].iter().filter(|(color, _)| *color == variant_color(i)).map(|(_, n)| n).sum::<i32>();
    assert!(dashes(0) > 200 && dashes(1) > 200, "{lines:?}");
    assert_eq!(dashes(2), 0, "a line of its own is solid");
}
