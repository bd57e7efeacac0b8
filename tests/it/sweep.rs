//! Sweeps: interrupted, sharded and merged sweeps produce the same bytes as a sweep on one machine.

use crate::program::{program, scratch};
use crate::support::cases;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

mod input;
mod plan;

const FLEET: &str = "tests/it/sweep/fleet.yaml";

/// Returns every file below a directory by path.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut result = BTreeMap::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path)
            } else {
                let name = path.strip_prefix(dir).unwrap().to_owned();
                result.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    result
}

fn sweep(arguments: &[&str], out: &Path) -> Output {
    let out = out.to_str().unwrap();
    let all = [&["sweep"], arguments, &["--out", out, "--quiet"]].concat();
    program(&all).output().unwrap()
}

fn assert_success(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
}

fn assert_same_files(a: &Path, b: &Path, what: &str) {
    let (a, b) = (tree(a), tree(b));
    let names = |t: &BTreeMap<PathBuf, Vec<u8>>| t.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b), "{what}");
    for (name, bytes) in &a {
        assert!(*bytes == b[name], "{what}: {} differs", name.display());
    }
}

/// Returns the replications in a journal. Panics on duplicates.
fn journal(dir: &Path) -> BTreeSet<(u64, u64)> {
    let text = fs::read(dir.join("journal")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut rows = BTreeSet::new();
    let complete = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
    for line in complete.filter(|l| l.contains("\trow\t")) {
        let parts: Vec<&str> = line.split('\t').collect();
        let key = (parts[2].parse().unwrap(), parts[3].parse().unwrap());
        assert!(rows.insert(key), "{key:?} was simulated twice");
    }
    rows
}

fn unfinished(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap().to_string_lossy();
    out.with_file_name(format!("{name}.unfinished"))
}

#[test]
fn a_sweep_killed_at_any_instant_continues_to_the_same_bytes() {
    let kills: u32 = match std::env::vars().find(|(name, _)| name == "SWEEP_KILLS") {
        Some((_, n)) => n.parse().unwrap(),
        None => cases(6, 12) as u32,
    };
    let dir = scratch("sweep-kill");
    let arguments = [FLEET, "--seeds", "8"];
    let complete = dir.join("whole");
    let begin = std::fs::metadata(&dir).unwrap().modified().unwrap();
    assert_success(&sweep(&arguments, &complete));
    // The maximum delay before a kill is the measured duration of the sweep, so that a kill can hit every step.
    let end = std::fs::metadata(&dir).unwrap().modified().unwrap();
    let mut longest = end.duration_since(begin).unwrap().as_micros() as u64;
    let (mut killed, mut finished, mut state) = (0, 0, 0x9e37_79b9_7f4a_7c15_u64);
    let out = dir.join("out");
    while killed < kills {
        // The delay before a kill is pseudorandom.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let after = Duration::from_micros((state >> 33) % (longest + 20_000));
        let before = journal(&unfinished(&out));
        let all = [&["sweep"], &arguments[..], &["--out", out.to_str().unwrap()]].concat();
        let mut command = program(&all);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        std::thread::sleep(after);
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        if out.exists() {
            assert_same_files(&out, &complete, "killed after the directory had its final name");
        } else {
            let now = journal(&unfinished(&out));
            assert!(now.is_superset(&before), "no replication may be lost");
        }
        match ended.code() {
            None => killed += 1,
            // The sweep finished before the kill, because the machine is faster now than during the measurement.
            Some(_) => longest -= longest / 4,
        }
        if out.exists() {
            assert_success(&sweep(&arguments, &out));
            assert!(!unfinished(&out).exists());
            assert_same_files(&out, &complete, "resumed");
            fs::remove_dir_all(&out).unwrap();
            finished += 1;
        }
    }
    assert_success(&sweep(&arguments, &out));
    assert_same_files(&out, &complete, "resumed after the last kill");
    println!("killed {killed} times, finished {finished} times before that");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn shards_and_threads_change_no_byte() {
    let dir = scratch("sweep-shards");
    let complete = dir.join("whole");
    assert_success(&sweep(&[FLEET, "--threads", "1"], &complete));
    let rows = fs::read_to_string(complete.join("replications.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 12 * 12);
    let two = dir.join("two");
    assert_success(&sweep(&[FLEET, "--threads", "2"], &two));
    assert_same_files(&two, &complete, "two threads");
    for of in [3, 1, 7].into_iter().take(cases(1, 3) as usize) {
        let shards = dir.join(format!("shards-{of}"));
        for i in 1..=of {
            let out = shards.join("{shard}");
            assert_success(&sweep(&[FLEET, "--shard", &format!("{i}/{of}")], &out));
        }
        let merged = dir.join(format!("merged-{of}"));
        assert_success(&sweep(&["merge", shards.to_str().unwrap()], &merged));
        assert_same_files(&merged, &complete, &format!("{of} shards"));
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn points_that_are_simulated_until_they_are_precise_are_the_same_in_shards() {
    let dir = scratch("sweep-until");
    let grid = "faults.0.mtbf=40d,20d";
    let until =
        [FLEET, "--grid", "parameters.interval=1200", "--grid", grid, "--until", "restarts ±10%", "--seeds", "400"];
    let complete = dir.join("whole");
    assert_success(&sweep(&until, &complete));
    let rows = fs::read_to_string(complete.join("replications.csv")).unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.lines().skip(1).for_each(|row| *counts.entry(row.split(',').next().unwrap()).or_default() += 1);
    assert!(counts.values().all(|n| *n < 400), "{counts:?}");
    let distinct: BTreeSet<&usize> = counts.values().collect();
    assert!(distinct.len() > 1, "{counts:?}");
    for i in 0..4 {
        let shard = format!("{i}/4");
        let all = [&until[..], &["--shard", &shard]].concat();
        assert_success(&sweep(&all, &dir.join("shards/{shard}")));
    }
    let merged = dir.join("merged");
    assert_success(&sweep(&["merge", dir.join("shards").to_str().unwrap()], &merged));
    assert_same_files(&merged, &complete, "4 shards");
    fs::remove_dir_all(dir).unwrap();
}

#[cfg(unix)]
#[test]
fn a_signal_keeps_every_finished_replication_and_the_sweep_continues() {
    let dir = scratch("sweep-signal");
    let out = dir.join("out");
    let many = [FLEET, "--seeds", "100000", "--grid", "parameters.spares=0,2"];
    let all = [&["sweep"], &many[..], &["--out", out.to_str().unwrap()]].concat();
    let mut command = program(&all);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    // Waits for the first replications; a busy machine may be slow.
    for _ in 0..2400 {
        if journal(&unfinished(&out)).len() >= 10 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let kill = ["-s", "INT", &child.id().to_string()];
    assert!(Command::new("kill").args(kill).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{text}");
    assert!(!out.exists());
    let kept = journal(&unfinished(&out)).len();
    assert!(kept > 0);
    let output = format!("{kept} of 600000 replications were finished and saved in");
    assert!(text.contains(&output), "{text}");
    assert!(text.contains("the same command resumes the sweep"), "{text}");
    // A different sweep does not resume this one.
    let other = sweep(&[FLEET, "--seeds", "99", "--grid", "parameters.spares=0,2"], &out);
    let text = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(2), "{text}");
    assert!(text.contains("replications (100000 and 99)"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_scenario_with_pods_is_swept_in_shards_as_well() {
    let dir = scratch("sweep-pods");
    let arguments = [
        "scenarios/first-steps.yaml", "--grid", "strategy=Recreate,InPlaceRestart", "--grid",
        "controlPlane.preset=stock,scale-test", "--seeds", "3",
    ];
    let complete = dir.join("whole");
    let text = sweep(&arguments, &complete);
    assert_success(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("restartLatency_s.p50 (seconds of virtual time; lower is better): mean"), "{text}");
    for i in 0..2 {
        let shard = format!("{i}/2");
        let all = [&arguments[..], &["--shard", &shard]].concat();
        assert_success(&sweep(&all, &dir.join("shards/{shard}")));
    }
    let merged = dir.join("merged");
    assert_success(&sweep(&["merge", dir.join("shards").to_str().unwrap()], &merged));
    assert_same_files(&merged, &complete, "2 shards");
    // The directory alone suffices to repeat the sweep.
    let inputs = complete.join("inputs");
    let command = fs::read_to_string(inputs.join("command.txt")).unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let again = dir.join("again");
    let more = ["--out", again.to_str().unwrap(), "--quiet"];
    let repeated = program(&[&words[..], &more].concat()).current_dir(&inputs).output().unwrap();
    assert_success(&repeated);
    for name in ["replications.csv", "summary.json"] {
        let bytes = |dir: &Path| fs::read(dir.join(name)).unwrap();
        if name == "replications.csv" {
            assert!(bytes(&again) == bytes(&complete), "{name}");
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn only_the_shards_of_one_sweep_are_put_together() {
    let dir = scratch("sweep-merge");
    let shard = |name: &str, more: &[&str]| {
        let out = dir.join(name);
        assert_success(&sweep(&[&[FLEET, "--grid", "parameters.spares=0,1"], more].concat(), &out));
        out
    };
    let one = shard("one", &["--shard", "1/2", "--seeds", "2"]);
    let two = shard("two", &["--shard", "2/2", "--seeds", "2"]);
    let more = shard("more", &["--shard", "2/2", "--seeds", "3"]);
    let third = shard("third", &["--shard", "2/3", "--seeds", "2"]);
    let other = shard("other", &["--shard", "2/2", "--seeds", "2", "--set", "job.recovery=3m"]);
    let twice = shard("twice", &["--shard", "1/2", "--seeds", "2"]);
    let refused = |dirs: &[&PathBuf], part: &str| {
        let names: Vec<&str> = dirs.iter().map(|d| d.to_str().unwrap()).collect();
        let out = dir.join("merged");
        let output = sweep(&[&["merge"], &names[..]].concat(), &out);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(part), "{part}: {printed}");
        assert!(!out.exists());
    };
    refused(&[&one, &more], "they differ in: replications (2 and 3)");
    refused(&[&one, &third], "number of shards (2 and 3)");
    refused(&[&one, &other], "they differ in: options");
    refused(&[&one, &twice, &two], "are both shard 1 of 2");
    refused(&[&one], "shards are missing: 0 of 2");
    refused(&[&dir.join("one/inputs")], "is not a shard of a sweep");
    let edit = |of: &Path, from: &str, to: &str| {
        let path = of.join("sweep.json");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let version = format!("\"version\": {:?}", env!("CARGO_PKG_VERSION"));
    edit(&twice, &version, "\"version\": \"9.9.9\"");
    refused(&[&two, &twice], "program version");
    edit(&two, &version, "\"version\": \"9.9.9\"");
    refused(&[&two, &twice], "merge shards with the version that simulated them");
    edit(&two, "\"version\": \"9.9.9\"", &version);
    // A missing and a duplicate replication.
    let journal = two.join("journal");
    let text = fs::read_to_string(&journal).unwrap();
    let row = text.lines().find(|l| l.contains("\trow\t")).unwrap();
    fs::write(&journal, format!("{text}{row}\n")).unwrap();
    refused(&[&one, &two], "occurs twice");
    fs::write(&journal, text.replace(&format!("{row}\n"), "")).unwrap();
    refused(&[&one, &two], "1 replications are missing");
    fs::write(&journal, &text).unwrap();
    assert_success(&sweep(&["merge", one.to_str().unwrap(), two.to_str().unwrap()], &dir.join("merged")));
    fs::rename(&two, dir.join("two.unfinished")).unwrap();
    fs::remove_dir_all(dir.join("merged")).unwrap();
    refused(&[&one, &dir.join("two.unfinished")], "is an unfinished shard");
    fs::remove_dir_all(dir).unwrap();
}

fn text_of_sweep(arguments: &[&str]) -> String {
    let output = program(&[&["sweep"], arguments, &["--quiet"]].concat()).output().unwrap();
    assert_success(&output);
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// By hand: 6 nodes × 0.99 of their time is less work than 13 nodes × 0.94.
#[test]
fn a_ratio_is_not_called_best_where_another_point_does_more_work_or_with_one_replication() {
    let dir = scratch("sweep-ratio");
    let path = dir.join("fleet.yaml");
    let fleet = "apiVersion: jobset-sim/v1alpha1\nkind: Fleet\nmetadata: {name: size}\nnodes: 14\nacceleratorsPerNode: 256\n\
        job: {nodes: 12, recovery: 20m}\ntraining: {work: 1000d, checkpoint: {every: 20m, blocking: 8s}}\n\
        faults: [{cause: slice, mtbf: 50d}]\nrepair: {stages: [{name: r, takes: {exponential: {mean: 36h}}}]}\n\
        stop: {at: 30d}\nseed: 1\n";
    fs::write(&path, fleet).unwrap();
    let path = path.to_str().unwrap();
    let grid = [path, "--grid", "job.nodes=6,9,13"];
    let text = text_of_sweep(&[&grid[..], &["--seeds", "8"]].concat());
    assert!(text.contains("nodes=6 has the highest mean of effective_training_ratio"), "{text}");
    assert!(text.contains("nodes=13 has the most productive node-hours"), "{text}");
    assert!(!text.contains("is best"), "{text}");
    assert!(text.contains("The paired differences of 3 points are not corrected for their number."), "{text}");
    let text = text_of_sweep(&[&grid[..], &["--seeds", "8", "--metric", "nodeHours.productive_h"]].concat());
    assert!(text.contains("nodes=13 is best in nodeHours.productive_h"), "{text}");
    let text = text_of_sweep(&[&grid[..], &["--seeds", "1"]].concat());
    assert!(text.contains("One replication does not rank the points; nodes=6 has the highest"), "{text}");
    // A limit that is not reached changes nothing.
    let text = text_of_sweep(&[path, "--grid", "job.maxRestarts=500,600", "--grid", "job.nodes=6,13", "--seeds", "4"]);
    assert!(text.contains("no difference from: maxRestarts=600, nodes=6."), "{text}");
    fs::remove_dir_all(dir).unwrap();
}
