//! A JobSet that failed is the headline of the text, the pages and the charts; printed commands repeat the run; files
//! of another kind are recognized.

use crate::program::{program, scratch};
use std::fs;
use std::process::Command;

const SCENARIO: &str = "scenarios/stories/restart-budget.yaml";
const LESS: [&str; 2] = ["--set", "spec.failurePolicy.maxRestarts=5"];

fn output(arguments: &[&str]) -> (Option<i32>, String) {
    let output = program(arguments).output().unwrap();
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    (output.status.code(), text)
}

#[test]
fn a_failed_jobset_is_the_headline_everywhere_and_commands_repeat_the_run() {
    let dir = scratch("headline");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let run = at("run");
    let (_, text) = output(&[&["run", SCENARIO][..], &LESS, &["--out", &run]].concat());
    let head = text.find("JobSet train failed after").expect("the text has a headline");
    assert!(head < text.find("What happened").unwrap(), "{text}");
    let story = text.split("What happened").nth(1).unwrap().split("Restart 1").next().unwrap();
    assert!(story.contains("condition Failed is True (ReachedMaxRestarts)"), "{story}");

    let (html, md) = (at("r.html"), at("r.md"));
    assert_eq!(output(&["report", &run, "--html", &html, "--md", &md]).0, Some(0));
    let md = fs::read_to_string(&md).unwrap();
    let first = md.lines().next().unwrap();
    assert!(first.starts_with("# JobSet train failed after") && first.ends_with("ReachedMaxRestarts"), "{first}");
    let html = fs::read_to_string(&html).unwrap();
    assert!(html.contains("<h1>JobSet train failed after"), "the page has a headline");
    for kind in ["waterfall", "gantt", "map", "restarts"] {
        let chart = at(&format!("{kind}.svg"));
        let (code, text) = output(&["plot", kind, &run, "--out", &chart]);
        assert_eq!(code, Some(0), "{kind}: {text}");
        let drawn = fs::read_to_string(&chart).unwrap();
        assert!(drawn.contains("JobSet train failed: ReachedMaxRestarts"), "{kind}");
    }

    let digest = md.split("digest ").nth(1).unwrap().get(..16).unwrap();
    let mut commands = md.split("```text\n").skip(1).filter_map(|rest| rest.lines().next());
    let command = commands.find(|c| c.starts_with("jobset-sim run ")).unwrap();
    assert!(command.contains(LESS[1]), "{command}");
    let bin = command.replacen("jobset-sim", env!("CARGO_BIN_EXE_jobset-sim"), 1);
    let again = Command::new("bash").args(["-c", &bin]).current_dir(&dir).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stdout).contains(digest), "{command}");
    fs::remove_dir_all(dir).unwrap();
}

/// Counts of events up to a failure are not compared with those of a run that lasts longer.
#[test]
fn failures_are_the_headline_of_comparisons_their_pages_and_charts() {
    let dir = scratch("compared-headline");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let out = at("compared");
    let more = "more: spec.failurePolicy.maxRestarts=9";
    let compare = ["compare", "scenarios/upstream/max-restarts.yaml", "--variant", more, "--seeds", "3", "--out", &out];
    let (_, text) = output(&compare);
    let sentence = "The JobSet fails in every replication of every variant.";
    assert!(text.lines().nth(2).is_some_and(|line| line.starts_with(sentence)), "{text}");
    let restarts = text.split("restarts ").nth(1).unwrap().split("restartBudgetUsed").next().unwrap();
    assert!(!restarts.contains("worse") && !restarts.contains("better"), "{text}");
    let (html, md) = (at("c.html"), at("c.md"));
    assert_eq!(output(&["report", &out, "--html", &html, "--md", &md]).0, Some(0));
    let title = sentence.trim_end_matches('.');
    assert!(fs::read_to_string(&html).unwrap().contains(&format!("<h1>{title}</h1>")), "the page has a headline");
    assert_eq!(fs::read_to_string(&md).unwrap().lines().next(), Some(format!("# {title}").as_str()));
    for chart in ["differences", "distributions", "restarts"] {
        let drawn = fs::read_to_string(format!("{out}/charts/{chart}.svg")).unwrap();
        assert!(drawn.contains(sentence), "{chart}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// Of two JobSets, one fails by `maxRestarts`; the headline names it, and the variants in which it fails.
#[test]
fn the_headline_of_a_comparison_names_the_jobset_that_fails_or_is_blocked() {
    let dir = scratch("named-headline");
    let jobset = |name: &str| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  failurePolicy: \
             {{maxRestarts: 0}}\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{parallelism: 2, completions: 2, \
             backoffLimit: 0, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x}}]}}}}}}}}\n"
        )
    };
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: two}\ntopology: small-16\njobSets: \
                    [{manifest: a.yaml}, {manifest: b.yaml}]\ncontainers: [{runFor: 1h}]\nfaults: [{at: 10m, \
                    containerExit: {pod: a-w-0-0}}]\nstop: {at: 4h}\n";
    for (file, text) in [("a.yaml", jobset("a")), ("b.yaml", jobset("b")), ("s.yaml", scenario.to_owned())] {
        fs::write(dir.join(file), text).unwrap();
    }
    let suspended = "faults=[{at: 10m, suspendJobSet: {name: b}}]";
    for (variant, sentence) in [
        ("x: stop.at=5h", "JobSet a fails in every replication of every variant. "),
        ("x: jobSet.a.spec.failurePolicy.maxRestarts=1", "JobSet a fails in 2 of 2 replications of baseline. "),
        (
            &format!("x: {suspended}"),
            "JobSet a fails in 2 of 2 replications of baseline. JobSet b is blocked in 2 of 2 replications of x. ",
        ),
    ] {
        let arguments = ["compare", "s.yaml", "--seeds", "2", "--variant", variant];
        let output = program(&arguments).current_dir(&dir).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(sentence), "{variant}: {text}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_file_of_another_kind_is_recognized_by_every_command_that_reads_a_scenario() {
    let dir = scratch("kinds");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (bench, run) = (at("bench.json"), at("run"));
    let made = output(&["bench", "ttr", "scenarios/first-steps.yaml", "--quiet", "--out", &bench]);
    assert_eq!(made.0, Some(0), "{}", made.1);
    assert_eq!(output(&["run", "scenarios/first-steps.yaml", "--quiet", "--out", &run]).0, Some(0));
    let recordings =
        fs::read_dir("tests/recordings").unwrap().flat_map(|d| fs::read_dir(d.unwrap().path()).into_iter().flatten());
    let recording = recordings.map(|f| f.unwrap().path()).find(|f| f.extension().is_some_and(|e| e == "json"));
    let recording = recording.unwrap().to_str().unwrap().to_owned();
    let summary = format!("{run}/summary.json");
    let gates = at("gates.yaml");
    fs::write(&gates, "kind: Gates\ngates: []\n").unwrap();
    for (file, expected) in [
        (recording.as_str(), "this is a recording, not a Scenario"),
        (&bench, "this is a result of `bench ttr`, not a Scenario"),
        (&summary, "this is a result of a run or experiment"),
        (&gates, "this is a Gates"),
        ("topologies/small-16.yaml", "this is a Topology"),
        ("scenarios/manifests/workers.yaml", "this is a JobSet"),
    ] {
        for command in
            [&["run"][..], &["compare"], &["why"], &["sweep"], &["bench", "ttr"], &["sensitivity"], &["step"]]
        {
            let more = if command == ["sweep"] { &["--grid", "stop.at=1h,2h"][..] } else { &[] };
            let (code, text) = output(&[command, &[file], more].concat());
            assert_eq!(code, Some(2), "{command:?} {file}: {text}");
            assert!(text.contains(expected), "{command:?} {file}: {text}");
        }
    }
    let (code, text) = output(&["run", &run]);
    assert!(code == Some(2) && text.contains("directory of results"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}
