//! `step`: commands from a pipe, breakpoints, and objects in the format of kubectl describe.

use crate::program::{program, run_with_stdin};
use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run_step(more: &[&str], commands: &str) -> Output {
    let words = [&["step", "scenarios/first-steps.yaml"], more].concat();
    run_with_stdin(&words, commands)
}

/// Joins lines that were wrapped.
fn unwrap_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let continues = line.starts_with("        ") && !line.contains('#');
        match lines.last_mut().filter(|_| continues) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Runs valid commands and returns their output.
fn step_output(more: &[&str], commands: &str) -> String {
    let done = run_step(more, commands);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn records_come_one_by_one_and_as_in_events_ndjson() {
    let text = step_output(&[], "next 3\n\nwhere\n");
    let lines = unwrap_lines(&text);
    assert_eq!(lines.len(), 7, "{text}");
    assert!(lines[0].starts_with("      0.000s     #0  JobSetCreated jobset/default/"), "{text}");
    // An empty line repeats the last command.
    assert!(lines[5].contains(" #5  "), "{text}");
    assert_eq!(lines[5], lines[6]);
}

#[test]
fn it_stops_at_breakpoints_and_says_what_brought_a_record_about() {
    let more = ["--break", "jobset.condition=RestartingJobSet"];
    let text = step_output(&more, "continue\nwhy\nbreak RestartCounted.restarts=2\nbreaks\ndelete 1\nbreaks\n");
    let lines = unwrap_lines(&text);
    assert_eq!(lines[0], "breakpoint 1: jobset.condition=RestartingJobSet");
    assert!(lines[1].contains("JobSetCondition") && lines[1].contains("type=RestartingJobSet"), "{text}");
    assert_eq!(lines[1], lines[2], "why begins at the current position of the run: {text}");
    assert!(lines.iter().any(|l| l.contains("  Fault ")), "the root cause must be the fault: {text}");
    assert!(text.contains("breakpoint 2: RestartCounted.restarts=2"), "{text}");
    assert!(text.trim_end().ends_with("breakpoint 1: RestartCounted.restarts=2"), "{text}");
}

#[test]
fn objects_are_described_as_they_are_at_that_record() {
    let commands = "break PodFinished\ncontinue\nget pods\nget jobs\nget nodes\ndescribe jobset train\n";
    let text = step_output(&[], commands);
    assert!(text.contains("Failed") && text.contains("Running"), "{text}");
    for words in ["Replicated Jobs:", "Failure Policy:", "Max Restarts:", "Status:", "Events:"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // The name of the pod that has just failed, without the random suffix.
    let line = text.lines().find(|l| l.contains("PodFinished pod/")).expect("the record is printed");
    let name = line.split("pod/default/").nth(1).and_then(|rest| rest.split(' ').next()).expect("a name");
    let short = name.rsplit_once('-').expect("a suffix").0;
    let text = step_output(&[], &format!("break PodFinished\ncontinue\ndescribe pod {short}\n"));
    assert!(text.contains(&format!("Name:             {name}")), "{text}");
    assert!(text.contains("Terminated (Error, exit code"), "{text}");
    assert!(text.contains("Controlled By:    Job/"), "{text}");
}

#[test]
fn at_the_end_everything_can_still_be_looked_at() {
    let text = step_output(&[], "continue\ndescribe jobset train\nget events\nwhere\n");
    assert!(text.starts_with("run ended at "), "{text}");
    assert!(text.contains("Restarts: 1"), "{text}");
    assert!(text.contains("FailedJobs") || text.contains("Warning"), "{text}");
    let done = run_step(&[], "continue\nnext\n");
    assert_eq!(done.status.code(), Some(2), "a run at its end has no next record");
}

#[test]
fn a_wrong_command_in_a_pipe_is_named_and_ends_in_exit_code_2() {
    for (commands, words) in [
        ("nxt\n", "did you mean \"next\"?"),
        ("next 0\n", "a number of records"),
        ("break PodRedy\n", "did you mean \"PodReady\"?"),
        ("describe pot x\n", "unknown kind \"pot\""),
        ("next\ndescribe jobset trein\n", "did you mean \"train\"?"),
        ("until never\n", "until never"),
        ("delete 3\n", "there is no breakpoint 3"),
        ("quit now\n", "takes no argument"),
    ] {
        let done = run_step(&[], commands);
        let printed = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{commands}: {printed}");
        assert!(printed.contains(words), "{commands}: {printed}");
    }
    let refused = program(&["step", "scenarios/first-steps.yaml", "--break", "Nothing"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let refused = run_with_stdin(&["step", "-f", "-"], crate::program::JOBSET);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("standard input is used for commands"));
}

#[test]
fn step_and_run_give_equal_records() {
    let ran = program(&["run", "scenarios/first-steps.yaml", "--format", "json"]).output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let end = &summary["end"]["t_s"];
    let text = step_output(&[], "until 5m\ndescribe jobset train\ncontinue\n");
    let over = text.lines().last().expect("a line");
    let seconds = over.split("at ").nth(1).and_then(|rest| rest.split('s').next());
    let seconds: f64 = seconds.and_then(|s| s.parse().ok()).expect("a time");
    let end = end.as_f64().expect("a number");
    assert!((seconds - end).abs() <= 0.001, "{over} {end}");
}
