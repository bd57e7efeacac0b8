//! Unit tests of `sim_report::figures::figure`.

use super::super::growth_figure::{GrowthPanel, growth};
use super::*;
use sim_analysis::metrics::restarts::restart::{Milestone, RestartCause, RestartOutcome, RestartScope};
use sim_base::JobSetId;

pub fn bars() -> Vec<(String, RestartMetrics)> {
    let t = |tenths: u64| SimTime::ZERO + Duration::from_millis(tenths * 100);
    let mut recreate = RestartMetrics::new(JobSetId(0), t(0), RestartCause::UNKNOWN);
    recreate.shape = RestartScope::Recreate;
    for (m, at) in [
        (Milestone::PodFailed, 9),
        (Milestone::FailureTarget, 110),
        (Milestone::JobFailed, 220),
        (Milestone::FirstJobDeleting, 221),
        (Milestone::LastJobGone, 700),
        (Milestone::FirstPodCreated, 703),
        (Milestone::LastPodCreated, 1205),
        (Milestone::LastPodBound, 1208),
    ] {
        recreate.set_latest(m, t(at));
    }
    (recreate.ending, recreate.end) = (RestartOutcome::Ready, t(1262));
    let mut in_place = RestartMetrics::new(JobSetId(0), t(0), RestartCause::UNKNOWN);
    in_place.shape = RestartScope::InPlaceRestart;
    for (m, at) in [
        (Milestone::AttemptsFirst, 14),
        (Milestone::PreviousWritten, 15),
        (Milestone::LastContainersRestarting, 20),
        (Milestone::AttemptsLast, 79),
        (Milestone::CurrentWritten, 90),
    ] {
        in_place.set_latest(m, t(at));
    }
    (in_place.ending, in_place.end) = (RestartOutcome::Ready, t(101));
    vec![("Recreate".into(), recreate), ("InPlaceRestart".into(), in_place)]
}

pub fn panels() -> Vec<GrowthPanel> {
    let line = |scale: f64| {
        let sizes = [64.0, 256.0, 1024.0, 5000.0, 16384.0, 65536.0];
        sizes.iter().map(|&n| (n, scale * (1.0 + libm::log(n) / 8.0))).collect()
    };
    vec![
        GrowthPanel {
            label: "simulated seconds per pod".into(),
            lines: vec![("Recreate".into(), line(0.011)), ("InPlaceRestart".into(), line(0.001))],
        },
        GrowthPanel { label: "bytes per pod".into(), lines: vec![("process".into(), line(300.0))] },
    ]
}

pub fn check(scene: &DrawScene) {
    let boxes = scene.text_boxes();
    for (i, a) in boxes.iter().enumerate() {
        assert!(a.0 >= 0 && a.1 >= 0, "{:?} starts outside", a.4);
        assert!(a.2 <= scene.width as i32 && a.3 <= scene.height as i32, "{:?} ends outside", a.4);
        for b in &boxes[i + 1..] {
            let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
            assert!(apart, "{:?} overlaps {:?}", a.4, b.4);
        }
    }
}

#[test]
fn no_text_overlaps_another_or_leaves_the_picture() {
    for size in [(1600, 900), (1280, 720)] {
        check(&restart_bars(
            "One failed container, 5,000 pods: time to all ready",
            "12.5 times as fast",
            &bars(),
            &["jobset-sim 0.1.0".to_owned(), "assumes much".to_owned()],
            size,
        ));
        check(&growth("Growth with the number of nodes", &panels(), size));
    }
    let four: Vec<_> = bars().into_iter().chain(bars()).collect();
    check(&restart_bars("Four", "", &four, &[], (1600, 900)));
}
