//! Plans: the printed commands start the shards of a sweep, and the merged result has the same bytes as a sweep on
//! one machine.

use super::{FLEET, assert_same_files, assert_success, sweep};
use crate::program::{program, run_with_stdin, scratch};
use serde_json::Value;
use sim_api::objects::admit_job;
use sim_inputs::{SourceText, documents};
use std::fs;
use std::path::Path;
use std::process::Command;

const GRID: &str = "parameters.spares=0,2";
const SHARDS: u64 = 3;

fn plan(engine: &str, out: &Path) -> String {
    let out = out.to_str().unwrap();
    let more = ["--engine", engine, "--shards", "3", "--out", out, "--quiet"];
    let note = "metadata.description=it's \"x\", $HOME";
    let all = [&["sweep", "plan", FLEET, "--grid", GRID, "--set", note], &more[..]].concat();
    let output = program(&all).output().unwrap();
    assert_success(&output);
    String::from_utf8(output.stdout).unwrap()
}

fn single_machine_sweep(dir: &Path) -> std::path::PathBuf {
    let complete = dir.join("whole");
    let note = "metadata.description=it's \"x\", $HOME";
    assert_success(&sweep(&[FLEET, "--grid", GRID, "--set", note], &complete));
    complete
}

#[test]
fn an_indexed_job_is_one_that_the_api_server_takes_and_its_indexes_are_the_sweep() {
    let dir = scratch("sweep-plan-job");
    let text = plan("indexed-job", &dir.join("out"));
    let file = "plan.yaml".to_owned();
    let objects = documents(&SourceText { file, text }).unwrap();
    let [config, job] = &objects[..] else {
        panic!("{objects:?}");
    };
    let stored = admit_job(job).unwrap_or_else(|why| panic!("{why:?}"));
    let spec = &stored["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    assert_eq!((&spec["completions"], &spec["parallelism"]), (&SHARDS.into(), &SHARDS.into()));
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let user = format!("\nUSER {0}:{0}\n", pod["securityContext"]["runAsUser"]);
    assert!(fs::read_to_string("Containerfile").unwrap().contains(&user), "{user}");
    assert_eq!(config["metadata"]["name"], pod["volumes"][0]["configMap"]["name"]);
    // The files that the kubelet would mount.
    let inputs = dir.join("inputs");
    for item in pod["volumes"][0]["configMap"]["items"].as_array().unwrap() {
        let path = inputs.join(item["path"].as_str().unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = config["data"][item["key"].as_str().unwrap()].as_str().unwrap();
        fs::write(path, text).unwrap();
    }
    let results = dir.join("results");
    let args = pod["containers"][0]["args"].as_array().unwrap();
    let arg = |a: &Value| a.as_str().unwrap().replace("/results", results.to_str().unwrap());
    let args: Vec<String> = args.iter().map(arg).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    for index in 0..SHARDS {
        let mut command = program(&args);
        command.current_dir(&inputs).env("JOB_COMPLETION_INDEX", index.to_string());
        assert_success(&command.output().unwrap());
        // An index that is started again has no work left.
        assert_success(&command.output().unwrap());
    }
    let merged = dir.join("merged");
    let shards = results.join("sweep-test-shards");
    assert_success(&sweep(&["merge", shards.to_str().unwrap()], &merged));
    assert_same_files(&merged, &single_machine_sweep(&dir), "indexed job");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_slurm_script_is_one_for_bash_and_its_array_is_the_sweep() {
    let dir = scratch("sweep-plan-slurm");
    let out = dir.join("it's out");
    let script = dir.join("sweep.sbatch");
    let text = plan("slurm", &out);
    assert!(text.contains("\n#SBATCH --array=0-2\n"), "{text}");
    fs::write(&script, &text).unwrap();
    let bash = |arguments: &[&str]| {
        let mut command = Command::new("bash");
        command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
        command
    };
    let script = script.to_str().unwrap();
    assert_success(&bash(&["-n", script]).output().unwrap());
    for task in 0..SHARDS {
        let mut command = bash(&[script]);
        command
            .env("JOBSET_SIM", env!("CARGO_BIN_EXE_jobset-sim"))
            .env("SLURM_SUBMIT_DIR", env!("CARGO_MANIFEST_DIR"))
            .env("SLURM_ARRAY_TASK_ID", task.to_string())
            .env("SLURM_ARRAY_TASK_MIN", "0")
            .env("SLURM_ARRAY_TASK_MAX", (SHARDS - 1).to_string())
            .env("SLURM_ARRAY_TASK_COUNT", SHARDS.to_string());
        assert_success(&command.output().unwrap());
    }
    let shards = format!("{}-shards", out.to_str().unwrap());
    assert_success(&sweep(&["merge", &shards], &out));
    assert_same_files(&out, &single_machine_sweep(&dir), "slurm");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_other_scripts_are_read_by_their_languages() {
    let dir = scratch("sweep-plan-scripts");
    let script = dir.join("sweep.sh");
    fs::write(&script, plan("parallel", &dir.join("out"))).unwrap();
    let bash = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert_success(&bash);
    let python = plan("ray", &dir.join("out"));
    let script = dir.join("sweep.py");
    fs::write(&script, &python).unwrap();
    match Command::new("python3").arg("-m").arg("py_compile").arg(&script).output() {
        Ok(output) => assert_success(&output),
        Err(_) => println!("NOT TESTED: python3 is missing"),
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn shards_simulate_at_the_level_that_was_asked_for_or_chosen() {
    let grid = "controlPlane.preset=stock,scale-test";
    let all = ["sweep", "plan", "scenarios/first-steps.yaml", "--grid", grid, "--shards", "2"];
    for level in [&[][..], &["--level", "pods"]] {
        let more = [level, &["--engine", "slurm"]].concat();
        let output = program(&[&all[..], &more].concat()).output().unwrap();
        assert_success(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        // A JobSet without training needs pods.
        assert!(text.contains("--seeds 20 --level pods --grid"), "{text}");
    }
}

#[test]
fn a_plan_reports_the_size_by_a_pilot_and_rejects_what_cannot_be_started() {
    let printed = program(&["sweep", "plan", FLEET]).output().unwrap();
    assert_success(&printed);
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(text.starts_with("12 points, 144 replications; 12 of them took "), "{text}");
    assert!(text.contains("for each of 1 shard with 1 core"), "{text}");
    for (arguments, part) in [
        (&["--shards", "145"][..], "--shards 145 exceeds the number of replications, which is 144"),
        (&["--shards", "0"], "expected a whole number from 1 to 100,000"),
        (&["--name", "No"], "lower case"),
        (&["--out", "a\nb"], "without line breaks"),
        (&["--engine", "pbs"], "indexed-job, slurm, ray, parallel"),
    ] {
        let all = [&["sweep", "plan", FLEET], arguments].concat();
        let output = program(&all).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(part), "{printed}");
    }
    let text = fs::read_to_string(FLEET).unwrap();
    let output = run_with_stdin(&["sweep", "plan", "-f", "-", "--grid", "spec.suspend=true", "--shards", "1"], &text);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
