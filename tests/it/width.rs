//! Text output fits: at most 100 columns in a pipe, or the number in `COLUMNS`; no unwanted colors or characters; long
//! times in hours.

use crate::support::{root, scenario_names};
use std::process::Command;

fn printed(line: &str, no_color: bool) -> String {
    let color = if no_color { &[("NO_COLOR", "1")][..] } else { &[] };
    printed_with(line, color)
}

/// Runs a command with these environment variables and returns its standard output.
fn printed_with(line: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    command.args(line.split(' ')).current_dir(root());
    command.env_remove("NO_COLOR").env_remove("COLUMNS").envs(variables.iter().copied());
    let output = command.output().expect("the program starts");
    assert_ne!(output.status.code(), Some(1), "{line}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns whether a line may be longer, because it is a command or a single word.
fn may_be_long(line: &str) -> bool {
    let line = line.trim_start();
    let typed = ["--set", "$ ", "jobset-sim ", "kubectl "];
    typed.iter().any(|lead| line.starts_with(lead)) || !line.contains(' ')
}

/// Commands that print text and whose simulations are short.
const LINES: [&str; 25] = [
    "compare scenarios/compare-one-failure.yaml --seeds 3 --quiet",
    "run scenarios/first-steps.yaml --seeds 3 --quiet",
    "run scenarios/published/bloom-176b.yaml --seeds 3 --quiet",
    "bench ttr --case kill-process --nodes 100 --preset stock",
    "why scenarios/first-steps.yaml",
    "why scenarios/regime-dead-node-bound.yaml --path-only",
    "topology list",
    "topology show gpu-nvl72-5000",
    "topology fit small-16 -f scenarios/manifests/exclusive-workers.yaml",
    "topology show small-16 --place scenarios/manifests/exclusive-workers.yaml",
    "topology show small-16 --blast -f scenarios/manifests/exclusive-workers.yaml",
    "lint --list",
    "lint --explain pattern-invalid",
    "lint -f scenarios/manifests/traps.yaml",
    "validate tests/recordings/corner/c-02-two-fail-together-restart-jobset.json",
    "run -f scenarios/manifests/failure-policy.yaml --fail workers-0-1:exit=42 --trace decisions",
    "run scenarios/user-actions.yaml --trace decisions",
    "explain",
    "explain failurePolicy",
    "explain --list",
    "sensitivity",
    "sensitivity scenarios/first-steps.yaml --seeds 2",
    "sweep scenarios/first-steps.yaml --grid faults.0.afterReady=1m,2m --seeds 2 --quiet",
    "plan budget scenarios/training.yaml --seeds 3 --quiet",
    "recording commands --jobset train",
];

#[test]
fn no_line_of_text_is_longer_than_a_hundred_columns() {
    let small = |name: &String| !name.contains("5000") && !name.contains("strategies");
    let runs = scenario_names().into_iter().filter(small);
    let runs = runs.map(|name| format!("run scenarios/{name}.yaml --quiet"));
    let lines = LINES.iter().map(|line| (*line).to_owned());
    let mut long = Vec::new();
    for command in lines.chain(runs) {
        let text = printed(&command, false);
        let lines = text.lines().filter(|l| l.chars().count() > 100 && !may_be_long(l));
        long.extend(lines.map(|line| format!("{command}: {line}")));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Commands that print tables, bars and paragraphs.
const ADAPTIVE_LINES: [&str; 6] = [
    "run scenarios/first-steps.yaml --quiet",
    "run scenarios/first-steps.yaml --seeds 3 --quiet",
    "compare scenarios/compare-one-failure.yaml --seeds 3 --quiet",
    "why scenarios/first-steps.yaml",
    "lint -f scenarios/manifests/traps.yaml",
    "plan spares scenarios/published/bloom-176b.yaml --path spares.nodes --target effective_training_ratio.p10>=0.9 --max 2 --seeds 40 --quiet",
];

#[test]
fn text_fits_the_number_of_columns_and_ascii_text_has_no_other_characters() {
    let mut wrong = Vec::new();
    for command in ADAPTIVE_LINES {
        for columns in [60, 100, 200] {
            let command = format!("{command} --ascii");
            let text = printed_with(&command, &[("COLUMNS", &columns.to_string())]);
            let is_wrong = |l: &&str| l.chars().count() > columns && !may_be_long(l) || !l.is_ascii();
            wrong.extend(text.lines().filter(is_wrong).map(|line| format!("{columns}: {command}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn colors_are_where_they_are_wanted_and_nowhere_else() {
    for command in [
        "run scenarios/first-steps.yaml", "why scenarios/first-steps.yaml --path-only",
        "lint -f scenarios/manifests/traps.yaml", "explain FP-7",
    ] {
        let escape = '\u{1b}';
        assert!(!printed(command, false).contains(escape), "{command}: a pipe");
        let always = format!("{command} --color always");
        let colored = printed(&always, false);
        assert!(colored.contains(escape), "{command}");
        let auto = format!("{command} --color auto");
        assert!(!printed(&auto, true).contains(escape), "{command}: NO_COLOR");
    }
}

#[test]
fn hours_are_written_as_hours() {
    let text = printed("run scenarios/first-steps.yaml --set timing.cleanup=2h --quiet", false);
    let line = text.lines().find(|l| l.starts_with("Restart 1"));
    let line = line.unwrap_or_else(|| panic!("no restart: {text}"));
    assert!(line.contains(" h ") && line.contains(" min "), "{line}");
}
