//! Runs drawn cases through the commands that report a single run: pages, charts, traces, `why`, `step`. The test
//! fails only on crashes.

use super::generate::{self, Case};
use super::{Kinds, LONG, Seen, number, run_seeds};
use crate::program::{run_with_stdin, scratch};
use crate::support;
use sim_engine::SimulationInput;
use sim_reliability::faults;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const SEEDS: u64 = 3;

#[test]
fn drawn_cases_can_be_reported_in_every_format() {
    if !support::runs_long_tests() {
        return;
    }
    let seen = run_seeds("whatever_is_drawn_can_be_told", SEEDS, run_seed);
    if number("SWARM_SEED").is_none() {
        for (name, command, _) in COMMANDS {
            // Some objects that `step` is asked for never exist.
            let code = if command == "step" { 2 } else { 0 };
            let answered = format!("{name} {code}");
            assert!(seen.contains_key(&answered), "{name} never succeeded");
        }
    }
}

/// Name, arguments before the scenario, and arguments after it. {DIR} is the output directory.
const COMMANDS: [(&str, &str, &str); 14] = [
    ("paranoid", "run", "--paranoid"),
    (
        "report",
        "report",
        "--html {DIR}/p.html --md {DIR}/README.md --perfetto {DIR}/p.perfetto-trace --openmetrics {DIR}/p.om --scrape 10m",
    ),
    ("gantt", "plot gantt", "--out {DIR}/gantt.svg"),
    ("queues", "plot queues", "--out {DIR}/queues.svg"),
    ("utilization", "plot utilization", "--out {DIR}/utilization.svg"),
    ("ledger", "plot ledger", "--out {DIR}/ledger.svg"),
    ("waterfall", "plot waterfall", "--out {DIR}/waterfall.svg"),
    ("why", "why", "--path-only"),
    ("json", "run", "--format json"),
    ("md", "run", "--format md"),
    ("text", "run", "--out {DIR}/run"),
    ("seeds", "run", "--seeds 3 --quiet"),
    ("first steps", "step", ""),
    ("steps", "step", "--break PodReady"),
];

/// Commands for `step`.
const STEPS: &str = "get jobsets\nuntil 5s\nwhere\nget jobsets\nget jobs\nget pods\nget nodes\nget services\nget \
                     claims\nget events\nwhy\nuntil 1m\nget pods\nget events\nwhy\ncontinue\nget jobsets\nwhy\n";

fn run_seed(seed: u64, verbose: bool) -> Seen {
    let case = if seed.is_multiple_of(2) { generate::draw_case(seed) } else { generate::draw_combined(seed) };
    if is_long(&case) {
        return Ok(BTreeSet::new());
    }
    let dir = scratch(&format!("reported-{seed}"));
    for (file, text) in case.texts() {
        fs::write(dir.join(file), text).map_err(|e| e.to_string())?;
    }
    let answers = COMMANDS.iter().map(|command| run_command(&case, &dir, command));
    let seen = answers.chain([compare_threads(&case, &dir)]).collect::<Result<_, _>>();
    if !verbose {
        fs::remove_dir_all(&dir).map_err(|e| e.to_string())?;
    }
    seen
}

/// Returns whether a case runs so long, for example in a crash loop, that it is skipped.
fn is_long(case: &Case) -> bool {
    let Ok(scenario) = case.scenario() else {
        return true;
    };
    let scenario = faults::draw_faults(&scenario, case.seed, 0);
    let Ok(mut simulation) = SimulationInput::new(&scenario) else {
        return false;
    };
    simulation.run(case.seed, 0, &mut Kinds::default()).events >= LONG
}

/// Requires that the number of threads changes no byte of the output.
fn compare_threads(case: &Case, dir: &Path) -> Result<String, String> {
    let scenario = dir.join(&case.files[0].0).display().to_string();
    let output = |threads| {
        let words = ["run", &scenario, "--seeds", "2", "--format", "json", "--quiet", "--threads", threads];
        run_with_stdin(&words, "")
    };
    let (one, two) = (output("1"), output("2"));
    match (one.status.code(), one.stdout == two.stdout && one.status == two.status) {
        (Some(code @ (0 | 2 | 4)), true) => Ok(format!("threads {code}")),
        (code, same) => Err(format!("one thread: {code:?}, equal output with two: {same}")),
    }
}

/// Runs a command. Returns its name and its exit code.
fn run_command(case: &Case, dir: &Path, (name, before, behind): &(&str, &str, &str)) -> Result<String, String> {
    let behind = behind.replace("{DIR}", &dir.display().to_string());
    let scenario = dir.join(&case.files[0].0).display().to_string();
    let before = before.split_whitespace().chain([scenario.as_str()]);
    let words: Vec<&str> = before.chain(behind.split_whitespace()).collect();
    let described = case.jobsets.iter().map(|j| {
        let name = &j.name;
        format!("describe jobset {name}\ndescribe job {name}-a-0\ndescribe pod {name}-a-0-0\n")
    });
    let steps = STEPS.to_owned() + &described.collect::<String>() + "describe node node-000\n";
    let output = run_with_stdin(&words, &steps);
    match output.status.code() {
        // Options that do not apply to this run are rejected (2), and some runs cannot place all pods (4).
        Some(code @ (0 | 2 | 4)) => Ok(format!("{name} {code}")),
        code => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {code:?}: {text}", words.join(" ")))
        }
    }
}
