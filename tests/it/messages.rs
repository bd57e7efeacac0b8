//! The program's messages and exit codes as seen by users: placement, hints, formats.

use crate::program::scratch;
use std::fs;
use std::process::Command;

/// Directory with the manifests, topologies and scenarios of these tests.
const INPUTS: &str = "tests/it/words";

/// Runs a command. Returns the exit code, the standard output and the standard error.
fn run_command_line(line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
    let word = |w: &str| w.replace("@/", &format!("{INPUTS}/")).replace('\u{a0}', " ");
    let words: Vec<String> = line.split(' ').map(word).collect();
    command.args(words).current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("NO_COLOR");
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn unplaceable_jobsets_exit_with_4() {
    let cases = [
        // Detected before the run: missing label, too few domains, domains too small, insufficient capacity.
        ("run -f @/two-slices.yaml -t topologies/small-16.yaml", "no node has the label"),
        ("run -f @/two-slices.yaml -t @/one-slice.topology.yaml", "JobSet tight has 2 Jobs"),
        ("run -f @/two-slices.yaml -t @/short-slices.topology.yaml", "has 4 pods, and a domain"),
        ("run -f @/crowd.yaml -t @/one-slice.topology.yaml", "the empty cluster holds"),
        // A failure does not free capacity.
        (
            "run -f @/two-slices.yaml -t @/one-slice.topology.yaml --fail slice-0-0:exit=1@10m",
            "JobSet tight has 2 Jobs",
        ),
        // Other containers that end, or that start late, do not free capacity either.
        (
            "run -f @/two-slices.yaml -t @/one-slice.topology.yaml --set containers=[{startAfter:\u{a0}5s}]",
            "JobSet tight has 2 Jobs",
        ),
        ("topology fit @/one-slice.topology.yaml -f @/two-slices.yaml", "JobSet tight is not ready: pod "),
        ("topology show @/one-slice.topology.yaml --place @/two-slices.yaml", "JobSet tight is not ready: pod "),
        ("topology show @/one-slice.topology.yaml --blast -f @/two-slices.yaml", "JobSet tight is not ready: pod "),
        // Capacity did not become free before the time limit.
        (
            "run @/never-placed.scenario.yaml --set stop.at=5m --set stop.when=Time",
            "JobSet tight was not placed before the time limit: pod tight-slice-",
        ),
        // Detected only during the run: containers end, but not those that occupy the nodes.
        ("run @/never-placed.scenario.yaml", "JobSet tight could never be placed: pod tight-slice-"),
        ("run @/never-placed.scenario.yaml --seeds 3", "in none of the replications: JobSet tight"),
        ("lint -f @/two-slices.yaml -t @/one-slice.topology.yaml", ""),
    ];
    for (line, why) in cases {
        let (code, out, err) = run_command_line(line);
        assert_eq!(code, 4, "{line}\n{out}\n{err}");
        assert!(err.contains(why), "{line}: {err}");
    }
    let (code, _, err) = run_command_line("run -f @/two-slices.yaml -t @/spare-slice.topology.yaml");
    assert_eq!(code, 0, "{err}");
}

/// Without a topology the manifest has no trap of this kind.
#[test]
fn lint_prints_the_pods_that_stay_pending_with_the_smallest_change() {
    let (code, out, _) = run_command_line("lint -f @/host-ports.yaml -t @/one-slice.topology.yaml");
    assert_eq!(code, 4);
    assert_eq!(
        out,
        "error[pods-stay-pending]: pods stay Pending, because no node can run them: 2 of 6 pods of
  replicatedJob \"serve\": 0/4 nodes are available: 4 node(s) didn't have free ports for the requested
  pod ports. Smallest change: free host port 8080/TCP on the node or add a node (one pod per node
  can use it); 4 nodes qualify: v5p-0-0 to v5p-0-3
  --> tests/it/words/host-ports.yaml:16:13
   |
16 |             containers: [{name: serve, image: \"serve:1\", ports: [{containerPort: 80, hostPor...
   |             ^^^^^^^^^^
   = consequence: kube-scheduler rejects all nodes for these pods, with the reasons in its
       sentence. Without a change they stay Pending, and the JobSet is never ready as a whole. The
       other pods run and may wait for them.
   = fix: Apply the smallest change, or change the requests, ports, tolerations, affinity,
       topology spread constraints or volumes of the pods, or the cluster. If only some of the pods
       are Pending, fewer pods or more nodes also help.
   = rules: EXC-19, REC-9, EXC-2, C-67, AG-3

1 JobSet: accepted; traps: 1 error, 0 warnings
"
    );
    let (code, out, _) = run_command_line("run -f @/host-ports.yaml -t @/one-slice.topology.yaml --quiet");
    assert_eq!(code, 4, "{out}");
    let (code, out, _) = run_command_line("lint -f @/host-ports.yaml");
    assert!(code == 0 && !out.contains("pods-stay-pending"), "{out}");
}

#[test]
fn lint_ends_with_a_code_for_errors_and_for_gates() {
    for (line, code) in [
        ("lint -f @/two-slices.yaml", 0),
        ("lint -f @/two-slices.yaml -t @/spare-slice.topology.yaml", 0),
        ("lint -f @/two-slices.yaml -t @/one-slice.topology.yaml --fail-if lint.errors>0", 5),
        ("lint -f @/malformed-key.yaml", 2),
    ] {
        assert_eq!(run_command_line(line).0, code, "{line}");
    }
}

/// Returns whether a run that loses a node ends blocked in at least one replication.
fn ends_blocked(topology: &str) -> bool {
    let line = format!("run @/lost-node.scenario.yaml --set topology={topology} --seeds 20");
    let (code, out, err) = run_command_line(&line);
    assert_eq!(code, 0, "{err}");
    out.contains("blocked")
}

#[test]
fn lint_warns_of_the_loss_of_a_node_where_runs_end_stuck_and_nowhere_else() {
    for (topology, trap) in [
        ("two-slices.topology.yaml", Some("no-spare-domain")),
        ("spare-slice.topology.yaml", Some("spare-domain-missed")),
        ("spare-nodes.topology.yaml", None),
    ] {
        let (_, out, _) = run_command_line(&format!("lint -f @/two-slices.yaml -t @/{topology}"));
        let warned = ["no-spare-domain", "spare-domain-missed"].into_iter().find(|t| out.contains(*t));
        assert_eq!(warned, trap, "{topology}: {out}");
        assert_eq!(ends_blocked(topology), trap.is_some(), "{topology}");
    }
}

#[test]
fn a_run_time_is_proposed_for_containers_of_a_replicated_job_without_a_name() {
    let dir = scratch("nameless");
    let file = dir.join("a.yaml");
    let manifest = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: \
                    [{template: {spec: {template: {spec: {containers: [{name: w, image: 'x:1'}]}}}}}]}\n";
    fs::write(&file, manifest).unwrap();
    let (_, out, err) = run_command_line(&format!("run -f {} -t small-16 --verbose", file.display()));
    assert!(out.contains("set a run time with --set 'containers=[{runFor: 1h}]'"), "{out}{err}");
    let line = format!("run -f {} -t small-16 --set containers=[{{runFor:1h}}]", file.display());
    let (code, out, err) = run_command_line(&line.replace("runFor:1h", "\"runFor\":\"1h\""));
    assert_eq!(code, 0, "{out}{err}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_is_assumed_of_containers_is_said_and_a_sleep_is_read() {
    let (code, out, _) = run_command_line("run -f @/prepare-first.yaml --verbose");
    assert_eq!(code, 0);
    let header: Vec<&str> = out.lines().skip_while(|l| !l.starts_with("  containers")).take(4).collect();
    assert_eq!(
        header.join("\n"),
        "  containers     those of fetch run for 10s, derived from their command \"sh -c sleep 10\"
                 those of check, work run indefinitely: no run time is set
                 (set a run time with --set 'containers=[{replicatedJob: fetch, runFor: 1h}]', or in
                 the containers field of a scenario)"
    );
    let stuck = "Permanently blocked
  - JobSet ahead is not ready: the Jobs of replicatedJob work are not created before check is
    complete; the containers of check run indefinitely, because no runFor is set";
    assert!(out.contains(stuck), "{out}");
    assert!(!out.contains("estarts that can never"), "{out}");
    // The suggested `--set` value has the described effect.
    let (_, out, _) =
        run_command_line("run -f @/prepare-first.yaml --set containers=[{replicatedJob:\u{a0}check,runFor:\u{a0}1h}]");
    assert!(out.contains("every pod is ready") && !out.contains("check, work"), "{out}");
    let (_, _, err) = run_command_line("run -f @/prepare-first.yaml --format json");
    assert!(err.contains("note: containers of fetch run for 10s"), "{err}");
}

#[test]
fn a_suspended_jobset_waits_for_a_user_by_name() {
    let (code, out, _) = run_command_line("run -f @/suspended.yaml");
    assert_eq!(code, 0);
    let end = "Suspended at the end
  - JobSet paused has no pods: it is suspended until spec.suspend is set to false. To resume it, add
    to the scenario: faults: [{at: 1m, resumeJobSet: {name: paused}}]";
    assert!(out.contains(end), "{out}");
}

#[test]
fn a_queued_jobset_starts_at_once_without_kueue_unless_the_scenario_decides_when() {
    let note = "Not modelled: Kueue's quota and admission (queue user-queue): JobSet queued starts";
    let (code, out, _) = run_command_line("run -f @/queued.yaml");
    assert!(code == 0 && out.contains("every pod is ready"), "{out}");
    assert!(out.contains(&format!("{note} immediately")), "{out}");
    let (_, json, _) = run_command_line("run -f @/queued.yaml --format json");
    assert!(json.contains("Kueue's quota and admission (queue user-queue)"), "{json}");
    let resume = "faults=[{at:\u{a0}10m,resumeJobSet:\u{a0}{name:\u{a0}queued}}]";
    let (_, out, _) = run_command_line(&format!("run -f @/queued.yaml --set {resume}"));
    assert!(out.contains("Suspended is True") && out.contains("600.0"), "{out}");
    assert!(out.contains(&format!("{note} when")), "{out}");
}

#[test]
fn replications_that_never_end_are_counted_separately_and_equal_warnings_are_one() {
    let line = "run @/lost-node.scenario.yaml --set topology=four-slices.topology.yaml --seeds 20";
    let (_, out, _) = run_command_line(line);
    let of = |what: &str| out.lines().filter(|l| l.contains(what)).count();
    assert_eq!(of("  ATTENTION: restart 1 ended in "), 1, "{out}");
    assert_eq!(of("Warning: in "), 1, "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    let (_, json, _) = run_command_line(&format!("{line} --format json"));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let first = &json["jobSets"][0]["eachRestart"][0];
    let count = |key: &str| first[key].as_u64().expect("a count");
    assert_eq!(count("ended") + count("notEnded"), 20);
    assert!(count("notEnded") > 0 && first["total_s"]["n"] == count("ended"), "{first}");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(1));
}

#[test]
fn manifests_as_xpk_and_axlearn_write_them_run_on_shipped_topologies() {
    for (manifest, topology) in [
        ("xpk-v5p.yaml", "gke-tpu-v5p"),
        ("xpk-v6e.yaml", "gke-tpu-v6e"),
        // A manifest without a toleration, as in GKE's examples.
        ("no-toleration.yaml", "gke-tpu-v6e"),
        ("axlearn.yaml", "gke-tpu-v6e --set containers=[{replicatedJob:\u{a0}prep,runFor:\u{a0}1m}]"),
        ("nvl72.yaml", "gpu-nvl72-5000"),
    ] {
        let (code, out, err) = run_command_line(&format!("run -f @/{manifest} -t {topology}"));
        assert_eq!(code, 0, "{manifest}: {err}");
        assert!(out.contains("every pod is ready"), "{manifest}: {out}");
    }
}

#[test]
fn a_topology_may_be_a_shipped_name_and_what_is_none_is_recognised() {
    let (code, list, _) = run_command_line("topology list");
    assert_eq!(code, 0);
    for line in list.lines().filter(|line| !line.starts_with(' ')) {
        let name = line.split(' ').next().unwrap_or("");
        assert_eq!(run_command_line(&format!("topology show {name}")).0, 0, "{name}");
    }
    assert!(run_command_line("lint -f @/xpk-v5p.yaml -t gke-tpu-v5p").0 == 0);
    let (code, _, err) = run_command_line("run @/lost-node.scenario.yaml --set topology=tpu-5000");
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("no node has the label"), "{err}");
    let cases = [
        ("gke-tpu-v6", "did you mean \"gke-tpu-v6e\"?"),
        ("@/two-slices.yaml", "this is a manifest, not a Topology"),
        ("@/lost-node.scenario.yaml", "this is a Scenario, not a Topology"),
    ];
    for (topology, words) in cases {
        let (code, _, err) = run_command_line(&format!("run -f @/two-slices.yaml -t {topology}"));
        assert_eq!((code, err.matches("error").count()), (2, 1), "{err}");
        assert!(err.contains(words), "{err}");
    }
}

#[test]
fn files_of_a_folder_that_are_not_read_are_named() {
    for (line, words) in [
        ("run -f @/folder", "not simulated: "),
        ("lint -f @/folder", "not read: "),
        ("explain children -f @/folder", "not read: "),
    ] {
        let (code, _, err) = run_command_line(line);
        assert_eq!(code, 0, "{line}: {err}");
        let named = format!("{words}tests/it/words/folder/notes.txt (neither *.yaml, *.yml nor *.json)");
        assert!(err.contains(&named), "{line}: {err}");
    }
}

#[test]
fn every_result_can_be_had_as_json() {
    for line in [
        "run -f @/folder --format json", "run -f @/folder --seeds 2 --format json",
        "run -f @/folder --show-effective --format json", "lint -f @/folder --format json",
        "lint --list --format json", "lint --explain no-spare-domain --format json",
        "topology show small-16 --format json", "topology list --format json",
        "topology fit small-16 -f @/folder --max 9 --format json",
        "topology show small-16 --place @/folder --format json",
        "topology show small-16 --blast -f @/folder --format json", "explain children -f @/folder --format json",
        "schema scenario",
    ] {
        let (code, out, err) = run_command_line(line);
        assert_eq!(code, 0, "{line}: {err}");
        let json: Result<serde_json::Value, _> = serde_json::from_str(&out);
        assert!(json.is_ok_and(|v| !v.is_null()), "{line}: {out}");
    }
}

#[test]
fn set_reaches_the_jobsets_of_manifests_and_of_scenarios() {
    for line in
        ["run -f @/two-slices.yaml -t @/spare-slice.topology.yaml", "run @/lost-node.scenario.yaml --set faults=[]"]
    {
        let sets = "--set spec.failurePolicy.maxRestarts=7 --set seed=9 --set spec.replicatedJobs[0].replicas=1";
        let (code, out, err) = run_command_line(&format!("{line} {sets}"));
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("tight: 1 Job with 4 pods; Recreate, maxRestarts 7"), "{out}");
        let (code, _, err) = run_command_line(&format!("{line} --set seed=2 --set spec.failurePolicy.maxRestart=7"));
        assert_eq!(code, 2);
        assert!(err.contains("spec.failurePolicy.maxRestart=7"), "{err}");
        assert!(err.contains("did you mean \"maxRestarts\"?"), "{err}");
    }
}

#[test]
fn fail_and_scenarios_name_pods_equally() {
    let run = "run -f @/two-slices.yaml -t @/spare-slice.topology.yaml";
    let restarts = |out: &str| out.matches("restart 1 triggered: Job tight-slice-1 failed").count();
    for pod in ["slice-1-2", "tight-slice-1-2", "slice/1/2"] {
        let (code, out, err) = run_command_line(&format!("{run} --fail {pod}:exit=1@10m"));
        assert_eq!((code, restarts(&out)), (0, 1), "{pod}: {err}");
        let fault = format!("--set faults=[{{at:\u{a0}10m,containerExit:\u{a0}{{pod:\u{a0}{pod}}}}}]");
        let (code, out, err) = run_command_line(&format!("{run} {fault}"));
        assert_eq!((code, restarts(&out)), (0, 1), "{pod}: {err}");
        let fault = format!("--set faults=[{{at:\u{a0}10m,drainNode:\u{a0}{{ofPod:\u{a0}{pod}}}}}]");
        assert_eq!(run_command_line(&format!("{run} {fault}")).0, 0, "{pod}");
    }
}

#[test]
fn explain_children_accepts_what_run_and_lint_accept() {
    for manifest in ["restart-job.yaml", "list.json"] {
        for command in ["run", "lint", "explain children"] {
            let (code, out, err) = run_command_line(&format!("{command} -f @/{manifest}"));
            assert_eq!(code, 0, "{command} {manifest}: {out}{err}");
        }
    }
    let (_, _, err) = run_command_line("explain children -f @/restart-job.yaml");
    assert_eq!(err, "note: feature gate RestartJob is enabled because the manifests use it\n");
    let (code, _, err) = run_command_line("explain children -f @/restart-job.yaml --feature-gates RestartJob=false");
    assert_eq!(code, 2);
    assert!(err.contains("when RestartJob feature gate is disabled"), "{err}");
}

#[test]
fn a_negative_priority_is_reported_by_lint_and_by_run() {
    let (code, out, _) = run_command_line("lint -f @/negative-priority.yaml");
    assert_eq!(code, 2);
    assert!(out.contains("error[priority-negative]"), "{out}");
    let (code, out, err) = run_command_line("run -f @/negative-priority.yaml");
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("Permanently blocked\n  - JobSet neg is not ready: all pods of Job neg-w-0 are refused"),
        "{out}"
    );
    assert!(out.contains("metadata.labels: Invalid value: \"-10\""), "{out}");
    assert_eq!(err, "");
}

#[test]
fn shells_get_completions_and_man_gets_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, _) = run_command_line(&format!("completions {shell}"));
        assert_eq!(code, 0);
        for word in ["jobset-sim", "topology", "completions", "seeds"] {
            assert!(out.contains(word), "{shell}: {word}");
        }
    }
    let (code, out, _) = run_command_line("man");
    assert_eq!(code, 0);
    assert!(out.contains(".TH jobset-sim 1") && out.contains("jobset\\-sim\\-run(1)"), "{out}");
    let dir = std::env::temp_dir().join(format!("jobset-sim-it-man-{}", std::process::id()));
    let (code, _, err) = run_command_line(&format!("man --out {}", dir.display()));
    assert_eq!(code, 0, "{err}");
    for page in ["jobset-sim.1", "jobset-sim-run.1", "jobset-sim-topology-show.1"] {
        let text = std::fs::read_to_string(dir.join(page)).expect(page);
        assert!(text.contains(".TH"), "{page}");
    }
    let _ = std::fs::remove_dir_all(&dir);
}

#[test]
fn piped_output_has_no_colors_and_100_columns() {
    for line in [
        "run @/lost-node.scenario.yaml", "run @/lost-node.scenario.yaml --seeds 3",
        "lint -f @/xpk-v5p.yaml -f @/axlearn.yaml -t gke-tpu-v5p", "run --help", "lint --help",
    ] {
        let (_, out, err) = run_command_line(line);
        assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{line}");
        // The heading of a restart is a single line, so that it can be searched for.
        let lines = out.lines().chain(err.lines());
        for text in lines.filter(|l| !l.starts_with("Restart ")) {
            assert!(text.chars().count() <= 100, "{line}: {text}");
        }
    }
}

#[test]
fn no_color_is_heeded_on_a_terminal_and_so_is_its_width() {
    let Ok(found) = Command::new("script").arg("--version").output() else {
        println!("NOT TESTED: the command `script`, which simulates a terminal, is missing");
        return;
    };
    assert!(found.status.success());
    let on_terminal = |before: &str| {
        let program = env!("CARGO_BIN_EXE_jobset-sim");
        let shell = format!("stty cols 120 rows 40; {before} {program} run {INPUTS}/lost-node.scenario.yaml");
        let mut command = Command::new("script");
        command.args(["-qec", &shell, "/dev/null"]).env_remove("NO_COLOR");
        let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("script can be run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let plain = on_terminal("NO_COLOR=1");
    assert!(plain.contains("What happened") && !plain.contains("\u{1b}["), "{plain}");
    let widest = plain.lines().map(|l| l.trim_end().chars().count()).max();
    assert!(widest.is_some_and(|w| 100 < w && w <= 120), "{widest:?}");
    assert!(on_terminal("").contains("\u{1b}[1m"));
    assert!(on_terminal("NO_COLOR=").contains("\u{1b}[1m"));
}
