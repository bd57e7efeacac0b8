//! Accuracy of simulated restart times: within 8 % of the recorded ones, and 4 % for the median. `recordings` checks
//! the decisions.

use crate::support;
use sim_recordings::validate::read::read;
use sim_recordings::validate::result::{FileResult, ResultTotals};
use sim_recordings::validate::scenario::ScenarioOverrides;
use sim_recordings::validate::simulate;

fn results(kind: &str) -> Vec<FileResult> {
    let defaults = simulate::defaults().expect("the presets can be read");
    let compared = support::recordings(kind).into_iter().map(|path| {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a recording can be read");
        let recording = read(&file, &text).expect("a recording is well-formed");
        simulate::validate(&file, &recording, &defaults, &ScenarioOverrides::default())
    });
    compared.collect()
}

#[test]
fn recorded_restarts_are_met_within_eight_percent_and_four_in_the_median() {
    let files = results("times");
    for file in &files {
        let restart = file.restart.as_ref().expect("a restart was recorded");
        println!("{}: {:+.1} %", file.file, 100.0 * restart.error());
        assert!(!restart.scored || restart.error().abs() <= 0.08, "{}: {restart:?}", file.file);
    }
    let totals = ResultTotals::from_files(&files);
    assert!(totals.scored_restarts >= files.len() - 1, "{totals:?}");
    let median = totals.restart.expect("restarts were scored").p50;
    assert!(median <= 0.04, "median error {:.1} %", 100.0 * median);
}

/// From `lastPodBound` on, the recording is dominated by the scheduler of a small machine, which is not simulated.
#[test]
fn each_step_of_the_recorded_restart_of_5000_pods_is_met_within_five_percent() {
    let files = results("times");
    let large = files.iter().find(|f| f.file.ends_with("h100-x-5x1000.json"));
    let file = large.expect("the recording of 5,000 pods is in the repository");
    let mut compared = 0;
    for m in &file.milestones {
        let (Some(recorded), Some(simulated)) = (m.recorded_s, m.simulated_s) else {
            panic!("{} is missing: {m:?}", m.name);
        };
        let error = (simulated - recorded) / recorded;
        println!("{:>18} {recorded:8.2} {simulated:8.2} {:+.1} %", m.name, 100.0 * error);
        assert!(error.abs() <= 0.05, "{}: {error}", m.name);
        compared += 1;
        if m.name == "lastPodCreated" {
            break;
        }
    }
    assert!(compared >= 8, "only {compared} milestones were compared up to lastPodCreated");
}
