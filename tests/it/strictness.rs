//! Each field that `validate` compares is altered in recordings that are equal: they must then differ.
//!
//! Fields that are excluded from the comparison are altered as well: the recordings must remain equal.

use crate::support;
use serde_json::{Value, json};
use sim_recordings::validate::admission;
use sim_recordings::validate::read::read;
use sim_recordings::validate::result::{FileResult, ValidationVerdict};
use sim_recordings::validate::scenario::{RecordingDefaults, ScenarioOverrides};
use sim_recordings::validate::simulate;

/// Number of recordings per alteration; more would not add information.
const TRIED_RECORDINGS: usize = 3;

fn play(file: &str, json: &Value, defaults: &RecordingDefaults) -> FileResult {
    let recording = read(file, &json.to_string()).expect("a recording is well-formed");
    simulate::validate(file, &recording, defaults, &ScenarioOverrides::default())
}

fn recordings() -> Vec<(String, Value)> {
    let paths = ["decisions", "corner"].into_iter().flat_map(support::recordings);
    let read = paths.map(|path| {
        let text = std::fs::read_to_string(&path).expect("a recording can be read");
        let json = serde_json::from_str(&text).expect("a recording is JSON");
        (path.display().to_string(), json)
    });
    read.collect()
}

/// Returns for each recording to which the alteration applies, the paths of the resulting differences.
fn altered_results(alter: impl Fn(&mut Value) -> Option<()>) -> Vec<(String, Vec<String>)> {
    let defaults = simulate::defaults().expect("the presets can be read");
    let mut result = Vec::new();
    for (file, json) in recordings() {
        let mut other = json.clone();
        if alter(&mut other).is_none() {
            continue;
        }
        if play(&file, &json, &defaults).verdict() != Some(ValidationVerdict::Equal) {
            continue;
        }
        let differences = play(&file, &other, &defaults).differences;
        let paths = differences.into_iter().flatten().map(|d| d.path);
        result.push((file, paths.collect()));
        if result.len() == TRIED_RECORDINGS {
            break;
        }
    }
    assert!(!result.is_empty(), "the alteration applies to no recording");
    result
}

fn assert_difference_reported(path: &str, alter: impl Fn(&mut Value) -> Option<()>) {
    for (file, paths) in altered_results(alter) {
        let named = paths.iter().any(|p| p.starts_with(path));
        assert!(named, "{file}: {path} is not among {paths:?}");
    }
}

/// Returns the position of a column of `pods`.
fn column(json: &Value, name: &str) -> usize {
    let columns = json["podColumns"].as_array().expect("pods have columns");
    columns.iter().position(|c| c == name).expect("a column")
}

/// Returns a pod that ended without having been deleted.
fn pod_ended_without_deletion(json: &mut Value) -> Option<&mut Value> {
    let (deleting, phase) = (column(json, "deletingMs"), column(json, "phase"));
    let pods = json["pods"].as_array_mut()?;
    let ended = |p: &&mut Value| p[deleting] == -1 && p[phase] == "Succeeded";
    pods.iter_mut().find(ended)
}

/// Returns `None` if a pod was deleted, because such a pod may have ended with either result.
fn require_no_deleted_pods(json: &Value) -> Option<()> {
    let deleting = column(json, "deletingMs");
    let pods = json["pods"].as_array()?;
    let quiet = !pods.is_empty() && pods.iter().all(|p| p[deleting] == -1);
    quiet.then_some(())
}

#[test]
fn a_pod_more_or_another_end_or_restart_of_one_is_a_difference() {
    assert_difference_reported("pods ", |json| {
        require_no_deleted_pods(json)?;
        let pods = json["pods"].as_array_mut()?;
        let more = pods[0].clone();
        pods.push(more);
        Some(())
    });
    assert_difference_reported("pods ", |json| {
        let phase = column(json, "phase");
        pod_ended_without_deletion(json)?[phase] = json!("Failed");
        Some(())
    });
    assert_difference_reported("pods ", |json| {
        let restarts = column(json, "containerRestarts");
        let pod = pod_ended_without_deletion(json)?;
        pod[restarts] = json!(pod[restarts].as_u64()? + 1);
        Some(())
    });
}

#[test]
fn each_counter_of_a_job_is_compared() {
    for counter in ["active", "ready", "succeeded", "failed"] {
        assert_difference_reported("jobs", |json| {
            require_no_deleted_pods(json)?;
            let job = &mut json["jobs"][0];
            job[counter] = json!(job[counter].as_u64()? + 1);
            Some(())
        });
    }
    assert_difference_reported("jobs", |json| {
        require_no_deleted_pods(json)?;
        let jobs = json["jobs"].as_array()?.len();
        let log = json["log"].as_array_mut()?;
        let counts = |e: &&mut Value| e[1] == "Job" && e[3] == "counts";
        let last = log.iter_mut().rev().find(counts).filter(|_| jobs == 1)?;
        let text = last[4].as_str()?.replace("terminating=0", "terminating=7");
        last[4] = json!(text);
        Some(())
    });
}

#[test]
fn events_on_jobs_and_pods_are_compared() {
    for (kind, reason) in [
        ("Job/", "Completed"),
        ("Job/", "SuccessfulCreate"),
        ("Pod/", "FailedScheduling"),
        ("JobSet/", "AllJobsCompleted"),
    ] {
        assert_difference_reported("events", |json| {
            let events = json["events"].as_array_mut()?;
            let is_it = |e: &Value| e["reason"] == reason && e["object"].as_str().is_some_and(|o| o.starts_with(kind));
            let at = events.iter().position(is_it)?;
            events.remove(at);
            Some(())
        });
    }
}

#[test]
fn replicated_jobs_have_an_order_in_the_status() {
    assert_difference_reported("status.replicatedJobsStatus", |json| {
        let rjs = json["status"]["replicatedJobsStatus"].as_array_mut()?;
        rjs.reverse();
        (rjs.len() > 1).then_some(())
    });
}

/// Delays a log entry by 4 s, which exceeds every tolerance. Returns `None` if the entry is too close to the end.
fn delay_entry(entry: &mut Value, played_ms: u64) -> Option<()> {
    let at = entry[0].as_u64()?;
    entry[0] = json!(at + 4000);
    (at + 5500 < played_ms && at < 15_000).then_some(())
}

#[test]
fn the_times_of_jobs_and_of_statuses_are_compared() {
    for what in ["created", "gone"] {
        assert_difference_reported("times: Job", |json| {
            let simulated = json["playedForMs"].as_u64()?;
            let log = json["log"].as_array_mut()?;
            let mut steps = log.iter_mut().filter(|e| e[1] == "Job" && e[3] == what);
            delay_entry(steps.next_back()?, simulated)
        });
    }
    assert_difference_reported("times: status", |json| {
        let simulated = json["playedForMs"].as_u64()?;
        let log = json["log"].as_array_mut()?;
        let with_condition =
            |e: &&mut Value| e[1] == "JobSet" && !e[4]["conditions"].as_array().is_none_or(Vec::is_empty);
        let mut statuses = log.iter_mut().filter(with_condition);
        delay_entry(statuses.next()?, simulated)
    });
}

#[test]
fn the_last_second_is_not_compared() {
    let result = altered_results(|json| {
        let simulated = json["playedForMs"].as_u64()?;
        let gone = json!([simulated - 400, "Job", "js-never-0", "gone"]);
        json["log"].as_array_mut()?.push(gone);
        Some(())
    });
    for (file, paths) in result {
        assert_eq!(paths, [""; 0], "{file}");
    }
}

#[test]
fn warnings_of_the_api_server_are_compared() {
    let mut paths = support::recordings("admission").into_iter();
    let path = paths.find(|p| p.ends_with("create.json"));
    let path = path.expect("there are recorded creations");
    let text = std::fs::read_to_string(&path).expect("a recording can be read");
    let file = path.display().to_string();
    let count = |text: &str| {
        let cases = admission::read(&file, text).expect("an admission recording is well-formed");
        let admission = admission::validate(&file, &cases).admission;
        admission.expect("cases were compared").count
    };
    let all = count(&text);
    assert_eq!(all.equal, all.total);
    let altered = text.replace("unknown field \\\"spec.foo\\\"\"", "unknown field \\\"spec.fo\\\"\"");
    assert_ne!(altered, text, "at least one case must have a warning");
    assert!(count(&altered).equal < all.total);
}
