//! Text output fits: at most 100 columns in a pipe, or the number in `COLUMNS`; a limited number of lines without
//! `--verbose`; no unwanted colors or characters; long times in hours.

use crate::program::scratch;
use crate::support::{cases, root, runs_long_tests, scenario_names};
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
    let mut long = Vec::new();
    for command in LINES.iter().step_by(cases(2, 1) as usize) {
        long_lines(command, &printed(command, false), &mut long);
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Adds the lines of the output of a command that are too long.
fn long_lines(command: &str, text: &str, long: &mut Vec<String>) {
    let lines = text.lines().filter(|l| l.chars().count() > 100 && !may_be_long(l));
    long.extend(lines.map(|line| format!("{command}: {line}")));
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

/// Numbers of lines that commands print at most without `--verbose`, with many restarts, JobSets, warnings, candidates.
const SUMMARIES: [(usize, &[&str]); 3] = [
    (
        45,
        &[
            "run scenarios/first-steps.yaml --seeds 20 --quiet",
            "run scenarios/kueue.yaml --seeds 3 --quiet",
            "run scenarios/training.yaml --seeds 3 --quiet",
            "run tests/it/levels/gang.yaml --quiet",
            "run scenarios/stories/silent-node.yaml --seeds 2 --quiet",
            "run scenarios/stories/finish-date.yaml --quiet",
            "run scenarios/published/llama3-405b.yaml --quiet",
            "run scenarios/planning/multislice-64x64.yaml --seeds 3 --quiet",
            "run tests/it/words/never-placed.scenario.yaml --explain-placement --quiet",
            "why scenarios/first-steps.yaml",
        ],
    ),
    (
        25,
        &[
            "compare scenarios/compare-one-failure.yaml --seeds 3 --quiet",
            "compare scenarios/first-steps.yaml --strategies all --seeds 3 --quiet",
            "compare scenarios/training.yaml --variant a:training.checkpoint.every=1h --seeds 5 --quiet",
            "why scenarios/spare-work.yaml --set stop.at=10m --pod filler-workers-0-1 --path-only",
            "why scenarios/first-steps.yaml --pod train-workers-1-2",
        ],
    ),
    (
        15,
        &[
            "plan spares scenarios/planning/multislice-64x64.yaml --target effective_training_ratio.p50>=0.75 --min 16 --max 18 --seeds 100 --quiet",
            "plan spares scenarios/published/bloom-176b.yaml --path spares.nodes --target effective_training_ratio.p10>=0.9 --max 32 --seeds 100 --quiet",
            "plan interval scenarios/published/bloom-176b.yaml --seeds 40 --quiet",
            "plan budget scenarios/training.yaml --seeds 3 --quiet",
            "plan breakeven scenarios/published/bloom-176b.yaml --a often:parameters.checkpoint_interval=1h --b seldom:parameters.checkpoint_interval=6h --over spares.nodes=0..20 --seeds 40 --quiet",
            "plan rare scenarios/published/bloom-176b.yaml --horizon 30d --restarts 20 --runs 40 --seeds 4 --quiet",
        ],
    ),
];

#[test]
fn without_verbose_every_command_prints_a_limited_number_of_lines() {
    let is_tried = |name: &String| runs_long_tests() || !name.contains("5000");
    let names = scenario_names().into_iter().filter(is_tried);
    let runs = names.map(|name| (45, format!("run scenarios/{name}.yaml --quiet")));
    let others = SUMMARIES.iter().flat_map(|(most, commands)| commands.iter().map(|c| (*most, (*c).to_owned())));
    let mut long = Vec::new();
    for (most, command) in runs.chain(others).step_by(cases(8, 2) as usize) {
        let text = printed(&command, false);
        assert!(text.lines().count() > 2, "{command}: {text}");
        long_lines(&command, &text, &mut long);
        if text.lines().count() > most {
            long.push(format!("{command}: more than {most} lines\n{text}"));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A summary counts the JobSets, events and metrics of a crowd that it omits.
#[test]
fn a_crowd_of_jobsets_fits_a_summary() {
    let dir = scratch("crowd");
    let file = dir.join("crowd.yaml");
    let jobset = |i: u32| {
        format!(
            "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js-{i}}}\nspec:\n  failurePolicy: \
             {{maxRestarts: 3}}\n  replicatedJobs:\n  - name: w\n    replicas: 1\n    template: {{spec: {{parallelism: 2, \
             completions: 2, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: \
             \"x:1\", command: [sleep, \"100\"], resources: {{limits: {{google.com/tpu: 4}}}}}}]}}}}}}}}\n"
        )
    };
    std::fs::write(&file, (0..120).map(jobset).collect::<String>()).expect("a writable file");
    let run = format!("run -f {} --quiet --fail js-3-w-0-1:exit=1 --fail js-5-w-0-0:exit=1", file.display());
    for more in ["", " --seeds 2"] {
        let text = printed(&format!("{run}{more}"), false);
        assert!(text.lines().count() <= 45, "{text}");
        assert!(text.contains("more ") && text.contains("(--verbose)") && text.contains("JobSet js-3"), "{text}");
    }
    std::fs::remove_dir_all(dir).expect("a directory");
}

#[test]
fn verbose_prints_what_the_summary_omits() {
    for (command, omitted) in [
        ("run scenarios/first-steps.yaml", &["control plane", "Shared resources", "Milestones"][..]),
        ("run scenarios/training.yaml --quiet", &["Restart 1 of JobSet train", "Restart 2 of JobSet train"]),
        ("run scenarios/training.yaml --seeds 3 --quiet", &["    terminate"]),
        ("compare scenarios/first-steps.yaml --strategies all --seeds 3 --quiet", &["lower is better", "p10"]),
        ("plan budget scenarios/training.yaml --seeds 3 --level pods --quiet", &["Restarts are more regular"]),
    ] {
        let (summary, all) = (printed(command, false), printed(&format!("{command} --verbose"), false));
        for part in omitted {
            assert!(all.matches(part).count() > summary.matches(part).count(), "{command}: {part}\n{summary}\n{all}");
        }
        assert!(summary.contains("--verbose"), "{command}: {summary}");
        assert!(!all.contains("(--verbose)"), "{command}: {all}");
    }
    let compare = "compare scenarios/first-steps.yaml --strategies all --seeds 3 --quiet";
    assert_eq!(printed(&format!("{compare} --all"), false), printed(&format!("{compare} --verbose"), false));
}

#[test]
fn the_table_of_a_comparison_has_the_metric_of_its_headline() {
    for (command, metric) in [
        ("compare scenarios/first-steps.yaml --strategies all --seeds 3 --quiet", "restartLatency_s.p50"),
        ("compare scenarios/compare-one-failure.yaml --seeds 3 --quiet", "restartLatency_s.p50"),
        ("compare scenarios/training.yaml --variant a:training.checkpoint.every=1h --seeds 5 --quiet", "goodput"),
    ] {
        let text = printed(command, false);
        let headline = text.lines().skip_while(|line| !line.is_empty()).skip(1).take_while(|line| !line.is_empty());
        let headline = headline.collect::<Vec<_>>().join(" ");
        let named = headline.split(" best in ").nth(1).and_then(|rest| rest.split(':').next());
        let named = named.unwrap_or_else(|| panic!("{command}: {headline}"));
        assert!(named.contains(metric), "{command}: {headline}");
        let is_row = |line: &str| line.strip_prefix("  ").is_some_and(|line| line.starts_with(&format!("{named} ")));
        assert!(text.lines().any(is_row), "{command}: {text}");
    }
}
