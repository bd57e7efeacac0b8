//! The program on the command line: signals, terminal output, contents of a run directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

pub fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("jobset-sim-it-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub fn run_with_stdin(arguments: &[&str], input: &str) -> Output {
    let mut command = program(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Replays the inputs that are stored in a run directory.
fn replayed(inputs: &Path, more: &[&str]) -> Output {
    let command = fs::read_to_string(inputs.join("command.txt")).unwrap();
    let mut words: Vec<&str> = command.split_whitespace().skip(1).collect();
    words.extend(more);
    let again = program(&words).current_dir(inputs).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{command}: {again:?}");
    again
}

pub const JOBSET: &str = "apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec:
  replicatedJobs:
    - name: w
      template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1'}]}}}}
";

#[cfg(unix)]
#[test]
fn a_signal_keeps_the_replications_that_are_finished() {
    for signal in &["INT", "TERM"][..crate::support::cases(1, 2) as usize] {
        let dir = scratch(signal);
        let out = dir.join("new/out");
        // There are more replications than can be finished, so the signal ends the run.
        let scenario = "scenarios/first-steps.yaml";
        let arguments = ["run", scenario, "--seeds", "10000000", "--out", out.to_str().unwrap()];
        let mut command = program(&arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = child.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let kill = ["-s", signal, &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{signal}: {text}");
        assert!(text.contains("of 10000000 replications were finished"), "{text}");
        // The directory states that it is incomplete, and so do its readers.
        let finished = |text: &str| text.contains("interrupted: ") && text.contains(" of 10000000 replications");
        for file in ["summary.json", "inputs/command.txt"] {
            let text = fs::read_to_string(out.join(file)).unwrap();
            assert!(finished(&text), "{file}: {text}");
        }
        let summary = fs::read_to_string(out.join("summary.json")).unwrap();
        assert!(summary.contains("\"interrupted\": true"), "{summary}");
        let command = fs::read_to_string(out.join("inputs/command.txt")).unwrap().replace("10000000 --", "2 --");
        let command = command.replacen("--seeds 10000000", "--seeds 2", 1);
        fs::write(out.join("inputs/command.txt"), command).unwrap();
        let page = dir.join("page.html");
        let read = program(&["report", out.to_str().unwrap(), "--html", page.to_str().unwrap()]).output().unwrap();
        let text = String::from_utf8_lossy(&read.stderr).replace("\n  ", " ");
        assert!(read.status.success() && finished(&text.replace("interrupted command: ", "interrupted: ")), "{text}");
        fs::remove_file(page).unwrap();
        let table = fs::read_to_string(out.join("replications.csv")).unwrap();
        assert!(table.lines().count() > 1, "{table}");
        assert_eq!(names(out.parent().unwrap()), ["out"], "nothing partial");
        fs::remove_dir_all(dir).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_signal_to_a_command_without_results_leaves_no_partial_output() {
    let dir = scratch("partial");
    let shards = scratch("partial-shards");
    let path = |name: &str| shards.join(name).to_str().unwrap().to_owned();
    let scenario = "scenarios/first-steps.yaml";
    let grid = ["--grid", "controlPlane.kubeControllerManager.qps=1,2,3,4", "--seeds", "100"];
    for (shard, name) in [("0/2", "a"), ("1/2", "b")] {
        let arguments = ["sweep", scenario, "--shard", shard, "--out", &path(name), "--quiet"];
        assert!(program(&[&arguments[..], &grid].concat()).output().unwrap().status.success());
    }
    let out = dir.join("new/out");
    let mut interrupted = 0;
    for n in 0..8 {
        let mut merge = program(&["sweep", "merge", &path("a"), &path("b"), "--out", out.to_str().unwrap()]);
        let mut child = merge.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The signal arrives while the directory is written.
        while child.try_wait().unwrap().is_none() && !dir.join("new").exists() {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_millis(5 * n));
        let kill = ["-s", if n % 2 == 0 { "INT" } else { "TERM" }, &child.id().to_string()];
        let _ = Command::new("kill").args(kill).stderr(Stdio::null()).status().unwrap();
        let code = child.wait().unwrap().code();
        interrupted += u32::from(code == Some(130));
        match code {
            Some(130) => assert!(names(&dir).is_empty() || out.exists(), "{:?}", names(&dir.join("new"))),
            code => assert_eq!(code, Some(0)),
        }
        let _ = fs::remove_dir_all(dir.join("new"));
    }
    assert!(interrupted > 0, "no signal arrived in time");
    fs::remove_dir_all(dir).unwrap();
    fs::remove_dir_all(shards).unwrap();
}

#[cfg(unix)]
#[test]
fn pipes_in_directories_and_scenarios_are_not_read() {
    let dir = scratch("pipes");
    fs::copy("scenarios/manifests/workers.yaml", dir.join("a.yaml")).unwrap();
    let pipe = dir.join("b.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Without a writer, a reader would block forever.
    let output = program(&["run", "-f", dir.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("b.yaml"), "{text}");
    let scenario = dir.join("s.yaml");
    let text = fs::read_to_string("scenarios/first-steps.yaml").unwrap();
    let manifest = text.lines().find_map(|line| Some(line.split_once("manifest: ")?.1.trim_end_matches('}'))).unwrap();
    let named = pipe.display().to_string();
    fs::write(&scenario, text.replace(manifest, &named)).unwrap();
    let output = program(&["run", scenario.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("not a regular file"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn an_unknown_metric_of_fail_if_is_rejected_before_anything_is_simulated() {
    let fleet = "scenarios/planning/multislice-64x64.yaml";
    let slow = "slow: controlPlane.kubeControllerManager.qps=2";
    let (scenario, trained) = ("scenarios/first-steps.yaml", "scenarios/training.yaml");
    // Each simulation would take hours.
    for (arguments, name, known) in [
        (&["run", scenario][..], "restartz", "restarts"),
        (&["run", scenario], "goodput", "restarts"),
        (&["run", fleet], "goodput", "effective_training_ratio"),
        (&["compare", scenario, "--variant", slow], "slow:restartz", "restarts"),
        (&["compare", scenario, "--variant", slow], "fast:restarts", "available: baseline, slow"),
        (&["sweep", scenario, "--grid", "controlPlane.kubeControllerManager.qps=1,2"], "7:restarts", "available: 0, 1"),
        (&["sweep", scenario, "--grid", "controlPlane.kubeControllerManager.qps=1,2"], "restarts@mode", "METRIC@p90"),
        (&["sweep", trained, "--grid", "controlPlane.kubeControllerManager.qps=1,2"], "goodputs", "goodput"),
    ] {
        let condition = format!("{name} > 1");
        let more = ["--seeds", "1000000", "--fail-if", &condition];
        let output = program(&[arguments, &more].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(known), "{arguments:?}: {text}");
    }
}

#[test]
fn control_characters_in_files_do_not_reach_the_terminal() {
    let dir = scratch("terminal");
    let evil = r"\e]0;x\a\e[31m\e[2J\u202e\x9b1m";
    let text = fs::read_to_string("scenarios/first-steps.yaml").unwrap();
    let text = text.replacen("name: first-steps", &format!("name: \"{evil}\""), 1);
    assert!(text.contains(evil));
    let from = format!("{}/", Path::new("scenarios").canonicalize().unwrap().display());
    let text = text.replace("../topologies", &format!("{from}../topologies"));
    let text = text.replace("manifests/", &format!("{from}manifests/"));
    let file = dir.join("evil.yaml");
    fs::write(&file, text).unwrap();
    for more in [&["--format", "text"][..], &["--format", "json"], &["--color", "always"]] {
        let arguments = [&["run", file.to_str().unwrap()], more].concat();
        let output = program(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        for printed in [output.stdout, output.stderr] {
            let printed = String::from_utf8(printed).unwrap();
            let ours = printed.replace("\u{1b}[", "");
            let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!ours.contains(steers), "{more:?}: {ours:?}");
            assert!(!printed.contains("\u{1b}[2J"), "{more:?}");
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[cfg(unix)]
#[test]
fn a_run_directory_keeps_what_was_read_once_and_replays_it() {
    let dir = scratch("inputs");
    let manifests = dir.join("m");
    fs::create_dir(&manifests).unwrap();
    fs::write(manifests.join("a.yaml"), JOBSET).unwrap();
    // A symbolic link to its own directory.
    std::os::unix::fs::symlink(".", manifests.join("again")).unwrap();
    let digest = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let at = text.find("\"digest\": ").unwrap_or_else(|| panic!("{output:?}"));
        text[at..at + 28].to_owned()
    };
    for (from, kept) in [(manifests.to_str().unwrap(), "00-a.yaml"), ("-", "00-stdin.yaml")] {
        let out = dir.join(kept);
        let arguments = ["run", "-f", from, "--format", "json", "--out", out.to_str().unwrap()];
        let first = run_with_stdin(&arguments, JOBSET);
        assert_eq!(names(&out.join("inputs/manifests")), [kept]);
        let text = fs::read_to_string(out.join("inputs/manifests").join(kept)).unwrap();
        assert_eq!(text, JOBSET);
        let again = replayed(&out.join("inputs"), &["--format", "json"]);
        assert_eq!(digest(&first), digest(&again), "{from}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// The stored scenario contains the original manifest paths, and the stored inputs include the directories in them.
#[test]
fn run_directory_replays_a_scenario_with_relative_paths() {
    let dir = scratch("astray");
    for name in ["s/deep", "m", "other"] {
        fs::create_dir_all(dir.join(name)).unwrap();
    }
    fs::write(dir.join("m/a.yaml"), JOBSET).unwrap();
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology: small-16\n\
                    jobSets: [{manifest: deep/../../other/../m/a.yaml}]\n";
    let file = dir.join("s/s.yaml");
    fs::write(&file, scenario).unwrap();
    let out = dir.join("out");
    let run = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let first = program(&run).output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    // Moved to another directory.
    fs::rename(out.join("inputs"), dir.join("moved")).unwrap();
    fs::remove_dir_all(dir.join("m")).unwrap();
    let again = replayed(&dir.join("moved"), &[]);
    let digest = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let at = text.find("(digest ").unwrap_or_else(|| panic!("{output:?}"));
        text[at..at + 24].to_owned()
    };
    assert_eq!(digest(&first), digest(&again));
    fs::remove_dir_all(dir).unwrap();
}

/// Files with absolute paths are copied, and the stored scenario and command refer to the copies.
#[test]
fn a_run_directory_replays_a_scenario_that_names_files_from_the_root_on() {
    let dir = scratch("root");
    for name in ["s", "m", "t"] {
        fs::create_dir_all(dir.join(name)).unwrap();
    }
    let (manifest, topology) = (dir.join("m/a.yaml"), dir.join("t/t.yaml"));
    fs::write(&manifest, JOBSET).unwrap();
    fs::copy("topologies/small-16.yaml", &topology).unwrap();
    let (manifest, topology) = (manifest.to_str().unwrap(), topology.to_str().unwrap());
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology: small-16\njobSets: \
         [{{manifest: {manifest:?}}}]\n"
    );
    let file = dir.join("s/s.yaml");
    fs::write(&file, scenario).unwrap();
    let (file, out) = (file.to_str().unwrap().to_owned(), dir.join("out"));
    let set = format!("topology={topology}");
    let run = ["run", &file, "--format", "json", "--set", &set, "--out", out.to_str().unwrap()];
    let first = program(&run).output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    for name in ["s", "m", "t"] {
        fs::remove_dir_all(dir.join(name)).unwrap();
    }
    let again = replayed(&out.join("inputs"), &["--format", "json"]);
    assert_eq!(again.stdout, first.stdout);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn restarts_and_estimates_are_reported_as_tables() {
    let run = |more: &[&str]| {
        let words = [&["run", "scenarios/first-steps.yaml", "--quiet"][..], more].concat();
        let output = program(&words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    let (code, csv) = run(&["--format", "csv"]);
    assert_eq!(code, Some(0));
    assert!(csv.starts_with("jobset,attempt,strategy,fault_cause,"), "{csv}");
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let (_, md) = run(&["--format", "md"]);
    let rows: Vec<&str> = md.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() == 3 && rows[2].starts_with("| train |"), "{md}");
    assert!(!rows[0].contains("barrier"), "an empty column is printed: {md}");
    let (_, csv) = run(&["--format", "csv", "--seeds", "3"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let (_, md) = run(&["--format", "md", "--seeds", "3"]);
    assert!(md.contains("| train | restart 1 | s | 3 |"), "{md}");
    let (_, md) = run(&["--format", "md", "--set", "faults=[]"]);
    assert!(md.ends_with("No restarts.\n"), "{md}");
    let (code, _) = run(&["--format", "md", "--trace", "decisions"]);
    assert_eq!(code, Some(2));
}

#[cfg(unix)]
#[test]
fn an_input_without_end_is_rejected() {
    for arguments in [
        &["topology", "show", "/dev/zero"][..],
        &["run", "/dev/zero"],
        &["run", "-f", "/dev/zero"],
        &["lint", "-f", "/dev/zero"],
    ] {
        let output = program(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains("too large"), "{text}");
    }
}
