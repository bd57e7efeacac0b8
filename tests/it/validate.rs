//! Accuracy of simulated restart times: within 8 % of the recorded ones, and 4 % for the median. `recordings` checks
//! the decisions.

use crate::program::{program, scratch};
use crate::support;
use sim_recordings::validate::read::read;
use sim_recordings::validate::result::{FileResult, ResultTotals};
use sim_recordings::validate::scenario::ScenarioOverrides;
use sim_recordings::validate::simulate;
use std::sync::LazyLock;

/// Returns the results of all recorded restart times, which several tests examine.
fn results() -> &'static [FileResult] {
    static RESULTS: LazyLock<Vec<FileResult>> = LazyLock::new(|| validated("times"));
    &RESULTS
}

fn validated(kind: &str) -> Vec<FileResult> {
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
    let files = results();
    for file in files {
        let restart = file.restart.as_ref().expect("a restart was recorded");
        println!("{}: {:+.1} %", file.file, 100.0 * restart.error());
        assert!(!restart.scored || restart.error().abs() <= 0.08, "{}: {restart:?}", file.file);
    }
    let totals = ResultTotals::from_files(files);
    assert!(totals.scored_restarts >= files.len() - 1, "{totals:?}");
    let median = totals.restart.expect("restarts were scored").p50;
    assert!(median <= 0.04, "median error {:.1} %", 100.0 * median);
}

/// From `lastPodBound` on, the recording is dominated by the scheduler of a small machine, which is not simulated.
#[test]
fn each_step_of_the_recorded_restart_of_5000_pods_is_met_within_five_percent() {
    let files = results();
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

#[test]
fn the_end_or_deletion_of_a_refused_jobset_is_answered_with_not_found() {
    let queue = r#"{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec":
        {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources":
        [{"name": "cpu", "nominalQuota": "1"}]}]}]}}"#;
    let flavor = r#"{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}}"#;
    let usage = r#"[{"name": "f", "resources": [{"borrowed": "0", "name": "cpu", "total": "0"}]}]"#;
    let status = format!(r#"{{"q": {{"pending": 0, "reserving": 0, "admitted": 0, "usage": {usage}}}}}"#);
    let result = |answer: &str| format!(r#"{{"workloads": {{}}, "clusterQueues": {status}, "answer": {answer}}}"#);
    let missing = result(r#""jobsets.jobset.x-k8s.io \"js\" not found""#);
    // The last step is about the Workload, which a player finds by its owner.
    let table = [("finish", missing.clone()), ("delete", missing), ("deactivate", result("null"))];
    let directory = scratch("refused-jobset");
    for (step, result) in table {
        let path = directory.join("story.json");
        let story = format!(
            r#"{{"schema": "jobset-sim/recording/v1", "kind": "kueue", "name": "n", "flavors": [{flavor}],
            "clusterQueues": [{queue}], "steps": [{{"{step}": "js"}}], "results": [{result}]}}"#
        );
        std::fs::write(&path, story).expect("a file");
        let path = path.display().to_string();
        let output = program(&["validate", &path, "--fail-if", "decisions.different > 0"]).output().expect("a program");
        assert_eq!(output.status.code(), Some(0), "{step}: {}", String::from_utf8_lossy(&output.stdout));
    }
    drop(std::fs::remove_dir_all(&directory));
}
