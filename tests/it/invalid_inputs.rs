//! Inputs that are too large, invalid in inconspicuous ways, or endless: the program runs them or rejects them
//! promptly with the position of the error.

use crate::program::{program, run_with_stdin, scratch};
use crate::support::{cases, parse, runs_long_tests, simulation};
use sim_engine::record::{DiscardSink, EndReason};
use std::fmt::Write;
use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

const HEAD: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec:\n";
const CONTAINERS: &str = "containers: [{name: c, image: x}]";

/// Returns a JobSet with one replicatedJob. `job` is inserted into its Job spec, and `pod` into its pod spec.
fn jobset(job: &str, pod: &str) -> String {
    format!("{HEAD}  replicatedJobs: [{{name: w, template: {{spec: {{{job}template: {{spec: {{{pod}}}}}}}}}}}]\n")
}

fn output_text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

fn assert_rejected(output: &Output, parts: &[&str]) {
    let text = output_text(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Time limit for each command. Quadratic work on the full sizes would take hours; the limit allows for slow test
/// machines.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[expect(clippy::disallowed_methods, reason = "how long a program takes is wall time")]
fn work_grows_with_the_input_and_not_with_its_square() {
    let mut unknown = HEAD.to_owned();
    let mut in_one_line = format!("{}{{", HEAD.trim_end().to_owned() + " ");
    let mut containers = String::new();
    let size = cases(6_000, 10_000) as usize;
    for i in 0..size {
        let _ = writeln!(unknown, "  u{i}: 1");
        let _ = write!(in_one_line, "u{i}: 1, ");
        if i < size / 2 {
            let _ = write!(containers, "{{name: c{i}, image: x}}, ");
        }
    }
    in_one_line.push_str("}\n");
    let containers = jobset("", &format!("containers: [{containers}]"));
    let jobs: String =
        (0..size / 2).map(|i| format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j{i}}}\n---\n")).collect();
    let commands = [&["lint", "--quiet"][..], &["run"], &["explain", "children"]];
    for (text, code) in [
        (&unknown, Some(2)),
        (&in_one_line, Some(2)),
        (&containers, Some(0)),
        (&(jobs + &jobset("", CONTAINERS)), Some(0)),
    ] {
        for command in &commands[..cases(2, 3) as usize] {
            let began = Instant::now();
            let output = run_with_stdin(&[command, &["-f", "-"][..]].concat(), text);
            assert_eq!(output.status.code(), code, "{command:?}: {}", output_text(&output));
            let duration = began.elapsed();
            assert!(duration < PATIENCE, "{command:?}: {duration:?}");
        }
    }
}

#[test]
fn inputs_beyond_memory_are_rejected_with_their_position() {
    let many_jobs = jobset("", CONTAINERS).replace("name: w,", "name: w, replicas: 100000,");
    let many_pods = jobset("parallelism: 2000000000, ", CONTAINERS);
    let env = "x".repeat(4 << 20);
    let large = jobset("", &format!("containers: [{{name: c, image: x, args: ['{env}']}}]"));
    let image = "x".repeat(200);
    let containers: String = (0..8_000).map(|i| format!("{{name: c{i}, image: {image}}}, ")).collect();
    let containers = jobset("", &format!("containers: [{containers}]"));
    let one = jobset("", CONTAINERS);
    let many_jobsets: String =
        (0..4_100).map(|i| one.replace("name: a}", &format!("name: a{i}}}")) + "---\n").collect();
    let not_stored = ["etcdserver: request is too large", "<stdin>:1:1"];
    let too_many = ["too many JobSets", "at most 4096"];
    for text in &[(&containers, not_stored), (&many_jobsets, too_many)][..cases(0, 2) as usize] {
        assert_rejected(&run_with_stdin(&["lint", "-f", "-"], text.0), &text.1);
    }
    for (text, parts) in [
        (&many_jobs, ["100000 Jobs in total", "<stdin>:5:"]),
        (&many_pods, ["2000000000 pods in total", "<stdin>:5:"]),
        (&large, ["limit is 3145728", "<stdin>:1:1"]),
        (&containers, not_stored),
        (&many_jobsets, too_many),
    ]
    .into_iter()
    .take(cases(3, 5) as usize)
    {
        let commands = [&["run"][..], &["explain", "children"]];
        for command in &commands[..cases(1, 2) as usize] {
            assert_rejected(&run_with_stdin(&[command, &["-f", "-"][..]].concat(), text), &parts);
        }
    }
    assert_rejected(&run_with_stdin(&["lint", "-f", "-"], &large), &["limit is 3145728"]);
}

#[test]
fn more_children_than_memory_holds_are_not_explained() {
    let many = jobset("parallelism: 50, ", CONTAINERS).replace("name: w,", "name: w, replicas: 5000,");
    let output = run_with_stdin(&["explain", "children", "-f", "-"], &many);
    assert_rejected(&output, &["255000 Jobs and pods", "the limit is 200 MiB"]);
}

/// A Job with 2147483647 completions, of which four run at a time, is accepted.
#[test]
fn a_job_may_have_more_completions_than_anybody_will_see() {
    let job = "parallelism: 4, completions: 2147483647, ";
    let text = jobset(job, CONTAINERS);
    for command in [&["run"][..], &["lint"], &["explain", "children"]] {
        let output = run_with_stdin(&[command, &["-f", "-"]].concat(), &text);
        assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    }
}

#[cfg(unix)]
#[test]
fn a_recording_without_end_is_rejected() {
    let output = program(&["validate", "/dev/zero"]).output().unwrap();
    assert_rejected(&output, &["too large"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_reported() {
    let recordings = "tests/recordings/nodes";
    let commands =
        [&["validate", recordings][..], &["lint", "--list"], &["--help"], &["run", "scenarios/first-steps.yaml"]];
    for command in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let output = program(command).stdout(full.unwrap()).output().unwrap();
        assert_rejected(&output, &["cannot write to standard output"]);
    }
}

#[test]
fn kind_similar_to_jobset_is_reported_as_a_typo() {
    let text = jobset("", CONTAINERS).replace("kind: JobSet", "kind: Jobset");
    for command in ["run", "lint"] {
        let output = run_with_stdin(&[command, "-f", "-"], &text);
        let parts = ["unknown kind \"Jobset\"", "<stdin>:2:7", "kind: Jobset", "\"JobSet\"?"];
        assert_rejected(&output, &parts);
    }
}

#[test]
fn without_a_jobset_there_is_nothing_to_run_or_to_check() {
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    assert_rejected(
        &run_with_stdin(&["run", "-f", "-"], text),
        &["no JobSet to run", "Service/s", "<stdin>:2:7", "^^^^^^^"],
    );
    assert_rejected(&run_with_stdin(&["lint", "-f", "-"], text), &["no JobSet to check", "Service", "<stdin>:2:7"]);
    assert_rejected(
        &run_with_stdin(&["explain", "children", "-f", "-"], text),
        &["no JobSet to explain", "Service/s", "<stdin>:2:7"],
    );
}

#[test]
fn an_error_about_the_cluster_shows_the_line_of_the_manifest() {
    let dir = scratch("cluster");
    let topology = dir.join("t.yaml");
    let nodes = "{name: 'n-{node}', nodesPerIsland: 2, labels: {rack: r}, allocatable: {cpu: 8}}";
    let head = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: t}\n";
    fs::write(&topology, format!("{head}pools: [{nodes}]\n")).unwrap();
    let pod = "nodeSelector: {pol: gpu}, nodeName: n-9, containers: [{name: c, image: x, \
               resources: {limits: {nvidia.com/gpu: 8}}}]";
    let text = jobset("", pod);
    let topology = topology.to_str().unwrap().to_owned();
    let run = ["run", "-f", "-", "-t", topology.as_str()];
    let parts = [
        "<stdin>:5:",
        "no node has the label \"pol\"",
        "requests \"nvidia.com/gpu\", but no node provides this resource",
        "node \"n-9\" does not exist",
        "^^^",
    ];
    let output = run_with_stdin(&run, &text);
    assert_eq!(output.status.code(), Some(4), "{}", output_text(&output));
    for part in parts {
        assert!(output_text(&output).contains(part), "{part}: {}", output_text(&output));
    }
    // With 0 replicas, nothing is ever created.
    let none = text.replace("name: w,", "name: w, replicas: 0,");
    let output = run_with_stdin(&run, &none);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn bytes_that_are_not_text_are_rejected_at_their_place() {
    let dir = scratch("bytes");
    let file = dir.join("a.yaml");
    fs::write(&file, b"apiVersion: v1\nkind: J\xff\n").unwrap();
    let output = program(&["run", "-f", file.to_str().unwrap()]).output();
    assert_rejected(&output.unwrap(), &["a.yaml:2:8", "byte 22 (0xff) is not UTF-8"]);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_name_of_two_megabytes_is_not_printed() {
    let text = jobset("", CONTAINERS).replace("name: w,", &format!("name: {},", "w".repeat(2_000_000)));
    for command in [&["run"][..], &["lint"], &["explain", "children"]] {
        let output = run_with_stdin(&[command, &["-f", "-"]].concat(), &text);
        assert_eq!(output.status.code(), Some(2));
        let length = output_text(&output).len();
        assert!(length < 10_000, "{command:?}: {length}");
    }
}

const SCENE: &str = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: x}\ntopology: {apiVersion: \
    jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: 'n-{node}', nodesPerIsland: 2}]}\n\
    jobSets: [{manifest: jobset.yaml}]\n";

/// REC-9: the Job is created again as soon as its TTL has removed it, fifteen times per second.
#[test]
fn job_recreated_in_a_loop_is_reported() {
    let job = format!("template: {{spec: {{template: {{spec: {{{CONTAINERS}}}}}}}}}");
    let again = "template: {spec: {ttlSecondsAfterFinished: 0, completions: 0, template: {spec: {containers: \
                 [{name: c, image: x}]}}}}";
    let text = format!("{HEAD}  replicatedJobs: [{{name: w, {again}}}, {{name: v, {job}}}]\n");
    let scenario = parse(&format!("{SCENE}stop: {{at: 10d}}\n"), &text).unwrap();
    let outcome = simulation(&scenario).run(1, 0, &mut DiscardSink);
    assert_eq!(outcome.end_reason, EndReason::Stuck);
    let why = outcome.blocked.join(" ");
    assert!(why.contains("Job a-w-0 was created 1001 times without a restart"), "{why}");
    assert!(why.contains("ttlSecondsAfterFinished 0"), "{why}");
    let scenario = parse(&format!("{SCENE}stop: {{at: 1h}}\n"), &text.replace("Finished: 0", "Finished: 60"));
    let outcome = simulation(&scenario.unwrap()).run(1, 0, &mut DiscardSink);
    assert_eq!(outcome.end_reason, EndReason::TimeLimit, "one re-creation per minute is not reported as a loop");
}

/// FP-7: a deadline of 0 s fails the Job as soon as it exists, while the restart limit is very high or absent.
#[test]
fn endless_restarts_are_reported_and_limited_restarts_are_not() {
    let simulated = |policy: &str| {
        let job = jobset("activeDeadlineSeconds: 0, ", CONTAINERS);
        let text = job.replace("spec:\n", &format!("spec:\n  failurePolicy: {{{policy}}}\n"));
        let outside = text.replace("name: a", "name: other").replace("activeDeadlineSeconds: 0, ", "");
        let files = format!("{text}---\n{outside}");
        let scenario = parse(&format!("{SCENE}stop: {{at: 30d}}\n"), &files).unwrap();
        let outcome = simulation(&scenario).run(1, 0, &mut DiscardSink);
        (outcome.end_reason, outcome.blocked)
    };
    let (reason, why) = simulated("maxRestarts: 2147483647");
    assert_eq!(reason, EndReason::Stuck);
    assert!(why[0].contains("JobSet a is in a restart loop: Job a-w-0 was created 1001 times within"), "{why:?}");
    assert!(
        why[0].ends_with("in 1000 restarts; it fails after each restart, and maxRestarts allows 2147482647 more"),
        "{why:?}"
    );
    let (_, why) = simulated("maxRestarts: 1, rules: [{action: RestartJobSetAndIgnoreMaxRestarts}]");
    assert!(why[0].ends_with("none of which counts towards maxRestarts, so their number is unlimited"), "{why:?}");
    let (reason, why) = simulated("maxRestarts: 3000");
    assert_eq!((reason, why), (EndReason::Settled, vec![]), "the other JobSet continues, and nothing is blocked");
}

/// Each attempt creates new Jobs; the summary keeps the newest.
#[test]
fn a_summary_does_not_grow_with_every_job_that_ever_was() {
    if !runs_long_tests() {
        return;
    }
    let job = "backoffLimit: 0, ";
    let text = jobset(job, &format!("restartPolicy: Never, {CONTAINERS}"))
        .replace("name: w,", "name: w, replicas: 8,")
        .replace("spec:\n", "spec:\n  failurePolicy: {maxRestarts: 2147483647}\n");
    let rest = "containers: [{runFor: 1ms, exitCode: 1}]\nstop: {at: 9h}\n";
    let scene = SCENE.replace("nodesPerIsland: 2", "nodesPerIsland: 9");
    let scenario = parse(&format!("{scene}{rest}"), &text).unwrap();
    let outcome = simulation(&scenario).run(1, 0, &mut DiscardSink);
    let js = &outcome.jobsets[0];
    assert!(js.restarts > 2_600, "{}", js.restarts);
    assert!(js.jobs.len() <= 20_010, "{}", js.jobs.len());
    let last = js.jobs.last().unwrap().restart_attempt.parse::<u32>();
    assert!(last.unwrap() + 1 >= js.restarts, "the newest Jobs are kept");
    let warnings = outcome.warnings.join(" ");
    assert!(warnings.contains("are omitted"), "{warnings}");
}

#[test]
fn a_rule_or_an_override_that_would_do_nothing_is_rejected() {
    let text = jobset("", CONTAINERS);
    let node = "objects: [{apiVersion: v1, kind: Node, metadata: {name: n-1}}]\n";
    for (more, words) in [
        ("containers: [{container: d, runFor: 1s}]\n", "container \"d\" does not exist"),
        (node, "Node \"n-1\" is already defined in the topology"),
    ] {
        let error = parse(&format!("{SCENE}{more}"), &text).unwrap_err();
        assert!(error.contains(words) && error.contains("scenario.yaml:6:"), "{error}");
    }
    for (set, words) in [
        ("kind=Job", "an override must not change the kind of a JobSet"),
        ("apiVersion=v1", "apiVersion \"v1\" of JobSet is not supported"),
    ] {
        let entry = format!("jobset.yaml, set: [{set}]");
        let error = parse(&SCENE.replace("jobset.yaml", &entry), &text).unwrap_err();
        assert!(error.contains(words) && error.contains("jobSets[0].set:1:"), "{error}");
    }
}

/// Returns a JobSet with one container. The arguments are inserted into the JobSet spec, the Job spec and the pod
/// spec.
fn small_jobset(spec: &str, job: &str, pod: &str) -> String {
    jobset(job, &format!("{pod}{CONTAINERS}")).replace("spec:\n", &format!("spec:\n{spec}"))
}

/// Runs the scenario with all indexes and counters verified after each event, then without. Both runs must be equal.
fn assert_verified_run(rest: &str, jobset: &str) {
    let scenario = parse(&format!("{SCENE}{rest}"), jobset).unwrap();
    let mut simulation = simulation(&scenario);
    simulation.set_paranoid(true);
    let first = simulation.run(1, 0, &mut DiscardSink);
    simulation.set_paranoid(false);
    let again = simulation.run(1, 0, &mut DiscardSink);
    assert_eq!(first.digest, again.digest, "{rest}");
}

#[test]
fn extreme_times_counts_and_orders_keep_counters_consistent() {
    let plain = small_jobset("", "", "");
    let never = small_jobset("", "", "restartPolicy: Never, ");
    let restarts = "  failurePolicy: {maxRestarts: 3}\n";
    let counted = small_jobset(restarts, "backoffLimit: 0, ", "restartPolicy: Never, ");
    let job = |at: &str, more: &str| format!("{{{at}, delete: {{kind: Job, name: a-w-0{more}}}}}");
    let twice = format!("faults: [{}, {}]\n", job("at: 3s", ""), job("at: 3467ms", ""));
    let orphaned = job("afterReady: 294ms", ", propagation: Orphan");
    let orphaned = format!("faults: [{orphaned}, {}]\n", job("afterReady: 2942ms", ""));
    let annotated = "faults: [{at: 49830ms, patch: {kind: Pod, name: a-w-0-0, merge: {metadata: {annotations: \
        {jobset.sigs.k8s.io/in-place-restart-attempt: x}}}}}]\ncontainers: [{exitCode: 1, runFor: 1s}]\n";
    let patched = "faults:\n- {at: 10s, patch: {kind: JobSet, name: a, status: true, merge: {status: {restarts: \
        N}}}}\n- {at: 20s, containerExit: {pod: a-w-0-0, exitCode: 1}}\nstop: {at: 10m}\n";
    let fails = "containers: [{runFor: 0s, exitCode: 1}]\n";
    for (rest, jobset) in [
        (&format!("timing: {{kubelet: {{scripted: {{restart: 0s}}}}}}\n{fails}"), &plain),
        (&"containers: [{runFor: 0s, atBarrierFor: 1s}]\n".to_owned(), &plain),
        (&fails.to_owned(), &plain),
        (&"timing: {apiWrite: 43s, apiRead: 42949673us}\n".to_owned(), &plain),
        (&"timing: {apiRead: {exponential: {mean: 1e9}}}\nstop: {at: 36000d}\n".to_owned(), &plain),
        (&twice, &plain),
        (&orphaned, &plain),
        (&annotated.to_owned(), &never),
        (&patched.replace('N', "4294967295"), &counted),
        (&patched.replace('N', "2147483647"), &counted),
        (&patched.replace('N', "-1"), &counted),
    ] {
        assert_verified_run(rest, jobset);
    }
}

/// The counters had 16 bits in an earlier version.
#[test]
fn a_pod_may_restart_and_a_job_try_more_than_65536_times() {
    if !runs_long_tests() {
        return;
    }
    let ignore = "backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: \
                  [1]}}]}, ";
    let ignored = small_jobset("", ignore, "restartPolicy: Never, ");
    let fails = "containers: [{runFor: 1s, exitCode: 1}]\nstop: {at: 460d}\n";
    let scenario = parse(&format!("{SCENE}{fails}"), &ignored).unwrap();
    let outcome = simulation(&scenario).run(1, 0, &mut DiscardSink);
    assert_eq!(outcome.end_reason, EndReason::TimeLimit);
    let made = outcome.resources.iter().map(|r| r.requests).max();
    assert!(made > Some(65_536), "{made:?}");
}
