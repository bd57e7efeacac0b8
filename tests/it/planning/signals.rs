//! Signals to every command that runs replications: finished results are printed or saved, and the exit code is 130.

use crate::program::{program, scratch};
use crate::support::cases;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FLEET: &str = "scenarios/planning/multislice-64x64.yaml";
/// Makes each replication so long that no command ends by itself.
const LONG: [&str; 4] = ["--set", "training.work=900d", "--set", "stop.at=1800d"];

/// Commands with options that request more than a minute of work.
const COMMANDS: [&[&str]; 10] = [
    &["run", FLEET, "--seeds", "100000"],
    &["compare", FLEET, "--variant", "few: parameters.spares=8", "--seeds", "100000"],
    &["sweep", FLEET, "--grid", "parameters.spares=8,16", "--seeds", "100000"],
    &[
        "plan", "spares", FLEET, "--target",
        // The target is so close to the result with the maximum number of spares that a few replications cannot
        // decide it.
        "effective_training_ratio.p10 >= 0.593", "--seeds", "100000",
    ],
    &["plan", "interval", FLEET, "--seeds", "100000"],
    &["plan", "budget", FLEET, "--horizon", "1800", "--seeds", "100000"],
    &["sensitivity", FLEET, "--ranges", "--seeds", "100000"],
    &[
        "plan", "breakeven", FLEET, "--b", "few: parameters.spares=8", "--over", "parameters.recovery=1m..1h",
        "--seeds", "100000",
    ],
    &["plan", "rare", FLEET, "--restarts", "90000", "--horizon", "1800", "--seeds", "1000"],
    &["run", FLEET, "--seeds", "100000", "--paranoid"],
];

/// Waits until the program has installed its signal handler, if the system reports that. A busy machine may be slow.
fn catches(child: &Child) {
    const INT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    for _ in 0..1_200 {
        let Ok(text) = fs::read_to_string(&status) else {
            return;
        };
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_none_or(|mask| mask & INT != 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_every_command_with_130_and_leaves_nothing_partial() {
    let dir = scratch("signals");
    let start = |(i, arguments): (usize, &&[&str])| -> Child {
        let out = dir.join(i.to_string());
        let more = ["--threads", "1", "--out", out.to_str().unwrap()];
        let mut command = program(&[*arguments, &LONG[..], &more[..]].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    };
    let commands = &COMMANDS[..cases(3, 6) as usize];
    let children: Vec<Child> = commands.iter().enumerate().map(start).collect();
    children.iter().for_each(catches);
    std::thread::sleep(Duration::from_millis(1000));
    for (child, signal) in children.iter().zip(["INT", "TERM"].into_iter().cycle()) {
        let kill = ["-s", signal, &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
    }
    for (i, (child, arguments)) in children.into_iter().zip(commands).enumerate() {
        let ended = child.wait_with_output().unwrap();
        let output = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{arguments:?}: {output}");
        assert!(output.contains("interrupted; "), "{arguments:?}: {output}");
        // Partial results are marked as such in the output and in the run directory; otherwise there are none.
        let kept = fs::read_to_string(dir.join(format!("{i}/summary.json")));
        assert_eq!(kept.is_ok(), !ended.stdout.is_empty(), "{arguments:?}: {output}");
        if let Ok(kept) = kept.as_ref().map(|text| text.as_str()) {
            assert!(kept.contains("\"interrupted\": true"), "{arguments:?}: {kept}");
        }
        let nothing = ["no replication", "fewer than", "no input", "no interval", "no value", "saved in"];
        assert!(kept.is_ok() || nothing.iter().any(|words| output.contains(words)), "{arguments:?}: {output}");
    }
    let left = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let partial: Vec<String> = left.filter(|name| name.parse::<usize>().is_err()).collect();
    assert_eq!(partial, ["2.unfinished"], "only a sweep can be resumed");
    fs::remove_dir_all(dir).unwrap();
}

/// A Fleet whose failures are so frequent that no replication ends within an hour.
const ENDLESS: &str = "apiVersion: jobset-sim/v1alpha1
kind: Fleet
metadata: {name: endless}
nodes: 4
job: {nodes: 4, recovery: 1us}
training:
  work: 20d
  checkpoint: {every: 1us, blocking: 1us}
faults: [{cause: gpu, needsRepair: false, mtbf: 1ms}]
stop: {at: 60d}
";

#[cfg(unix)]
#[test]
fn a_signal_ends_a_replication_that_has_begun() {
    let dir = scratch("signals-within");
    let file = dir.join("endless.yaml");
    fs::write(&file, ENDLESS).unwrap();
    let file = file.to_str().unwrap();
    let variant = ["--variant", "short: training.work=19d"];
    let commands = [
        vec!["run", file],
        [&["compare", file][..], &variant].concat(),
        vec!["sweep", file, "--grid", "training.work=19d,20d"],
        vec!["plan", "budget", file],
        vec!["plan", "rare", file, "--restarts", "9000000", "--horizon", "60"],
    ];
    let start = |(i, arguments): (usize, &Vec<&str>)| -> Child {
        let out = dir.join(i.to_string());
        let more = ["--threads", "1", "--out", out.to_str().unwrap()];
        let mut command = program(&[arguments, &more[..]].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    };
    let children: Vec<Child> = commands.iter().enumerate().map(start).collect();
    children.iter().for_each(catches);
    std::thread::sleep(Duration::from_millis(500));
    for (child, arguments) in children.into_iter().zip(&commands) {
        let kill = ["-s", "TERM", &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{arguments:?}: {text}");
        assert!(ended.stdout.is_empty(), "{arguments:?}: {ended:?}");
    }
    for entry in fs::read_dir(&dir).unwrap() {
        let name = entry.unwrap().file_name();
        // Only a sweep can be resumed, so only its directory remains.
        let expected = ["endless.yaml", "2.unfinished"];
        assert!(expected.iter().any(|e| name == *e), "{name:?}");
    }
    fs::remove_dir_all(dir).unwrap();
}
