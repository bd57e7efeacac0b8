//! Tests of `sim_report::files::rundir`.

use sim_report::files::rundir::*;
use std::fs;
use std::path::PathBuf;
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("jobset-sim-test-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn a_run_directory_appears_whole_or_not_at_all() {
    let base = scratch("rundir");
    let target = base.join("a/run");
    let dir = RunDir::create(&target).unwrap();
    dir.write("inputs/x.yaml", b"x").unwrap();
    assert!(!target.exists());
    drop(dir);
    assert!(!base.join("a").exists(), "the parent directory must not exist either");

    let dir = RunDir::create(&target).unwrap();
    dir.write("inputs/x.yaml", b"x").unwrap();
    dir.commit().unwrap();
    assert_eq!(fs::read(target.join("inputs/x.yaml")).unwrap(), b"x");
    assert_eq!(fs::read_dir(base.join("a")).unwrap().count(), 1);
    let error = RunDir::create(&target).err().unwrap().to_string();
    assert!(error.contains("already exists"), "{error}");
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn leftovers_of_a_killed_run_do_not_interfere() {
    let base = scratch("rundir-left");
    let left = base.join(".partial-0-run");
    fs::create_dir(&left).unwrap();
    let dir = RunDir::create(&base.join("run")).unwrap();
    dir.write("a", b"a").unwrap();
    dir.commit().unwrap();
    assert_eq!(fs::read(base.join("run/a")).unwrap(), b"a");
    assert!(left.exists(), "the directory of another run must remain");
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn two_runs_that_write_the_same_directory_do_not_share_files() {
    let base = scratch("rundir-two");
    let target = base.join("run");
    let [first, second] = [(); 2].map(|()| RunDir::create(&target).unwrap());
    first.write("a", b"first").unwrap();
    second.write("a", b"second").unwrap();
    first.commit().unwrap();
    assert!(second.commit().unwrap_err().to_string().contains("run"));
    assert_eq!(fs::read(target.join("a")).unwrap(), b"first");
    assert_eq!(fs::read_dir(&base).unwrap().count(), 1, "only the committed directory remains");
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn inputs_cannot_leave_the_directory() {
    for (name, expected) in [
        ("scenarios/a.yaml", "inputs/scenarios/a.yaml"),
        ("../../etc/a.yaml", "inputs/etc/a.yaml"),
        ("/abs/a.yaml", "inputs/abs/a.yaml"),
        ("-", "inputs/-"),
        ("", "inputs/stdin.yaml"),
    ] {
        assert_eq!(input_path(name), expected);
    }
}
