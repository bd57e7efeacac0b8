//! Permanently blocked JobSets: `lint` before the run, `run` and `why` report the same problems.

use crate::program::{program, scratch};
use std::fs;
use std::path::Path;

/// Runs the program and returns its exit code and output.
fn code_and_output(words: &[&str]) -> (i32, String) {
    let output = program(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    // Joined into one line, because line breaks depend on the width.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code().unwrap_or(-1), text)
}

/// Writes a JobSet of two Jobs with two pods each and returns the file name.
fn jobset(dir: &Path, name: &str, spec: &str, job: &str, pod: &str) -> String {
    let text = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n{spec}  replicatedJobs:\n  \
         - name: w\n    replicas: 2\n    template:\n      spec: {{parallelism: 2, completions: 2, backoffLimit: 0{job}, \
         template: {{spec: {{restartPolicy: Never{pod}, containers: [{{name: c, image: \"x:1\", command: [sleep, \"100\"]}}]\
         }}}}}}\n"
    );
    let file = dir.join(format!("{name}.yaml"));
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn lint_and_run_agree_on_unplaceable_jobsets() {
    let dir = scratch("dead-ends-place");
    let given = |name: &str| format!("tests/it/words/{name}.yaml");
    for (manifest, topology, endless) in [
        ("crowd", "one-slice", 4),
        ("two-slices", "one-slice", 4),
        ("two-slices", "short-slices", 4),
        ("two-slices", "spare-slice", 0),
    ] {
        let text = fs::read_to_string(given(manifest)).unwrap();
        let image = "image: \"train:1\"";
        // Containers whose command ends free their nodes.
        let sleeps = text.replace(image, &format!("{image}, command: [sleep, \"60\"]"));
        assert_ne!(sleeps, text);
        for (text, code) in [(text, endless), (sleeps, 0)] {
            let file = dir.join("jobset.yaml");
            fs::write(&file, &text).unwrap();
            let inputs = ["-f", file.to_str().unwrap(), "-t", &given(&format!("{topology}.topology"))];
            for command in ["lint", "run"] {
                let (result, output) = code_and_output(&[&[command][..], &inputs].concat());
                assert_eq!(result, code, "{command} {manifest} on {topology}: {output}\n{text}");
            }
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn lint_warns_where_each_jobset_fits_alone_but_not_all_of_them() {
    let (crowd, topology) = ("tests/it/words/crowd.yaml", "tests/it/words/two-slices.topology.yaml");
    let (code, text) = code_and_output(&["lint", "-f", crowd, "-t", topology]);
    assert!(code == 0 && !text.contains("together"), "{text}");
    let other = "tests/it/words/two-slices.yaml";
    let (code, text) = code_and_output(&["lint", "-f", crowd, "-f", other, "-t", topology]);
    assert_eq!(code, 0, "the inputs do not state whether the JobSets run at the same time");
    let short = "pods of JobSet crowd stay Pending beside the others; 8 of 8 pods of replicatedJob \"slice\": 0/8 nodes \
                 are available: 8 Insufficient google.com/tpu.";
    assert!(text.contains(short), "{text}");
}

#[test]
fn unhandled_blockers_are_reported_with_a_solution() {
    let dir = scratch("dead-ends-named");
    let gated = jobset(&dir, "gated", "", "", ", schedulingGates: [{name: example.com/gate}]");
    let patch = "patch: {kind: Pod, name: gated-w-0-0, merge: {spec: {schedulingGates: null}}}";
    let managed = jobset(&dir, "managed", "  managedBy: example.com/mine\n", "", "");
    let suspended = jobset(&dir, "suspended", "  suspend: true\n", "", "");
    for (file, words) in [
        (&gated, patch),
        (&managed, "its spec.managedBy names example.com/mine, a controller that is not modelled"),
        (&suspended, "it is suspended until spec.suspend is set to false. To resume it, add to the scenario"),
    ] {
        for command in [
            &["run", "-f", file][..],
            &["run", "-f", file, "--seeds", "2"],
            &["run", "-f", file, "--format", "json", "--quiet"],
            &["why", "-f", file],
        ] {
            let (code, text) = code_and_output(command);
            assert!(code == 0 && text.contains(words), "{command:?}: {text}");
            assert!(!text.contains("Not modelled"), "{command:?}: {text}");
        }
    }
    // The suggested `--set` value unblocks the JobSet.
    let resumed = "faults=[{at: 10s, resumeJobSet: {name: suspended}}]";
    let (_, text) = code_and_output(&["run", "-f", &suspended, "--set", resumed]);
    assert!(text.contains("condition Completed is True"), "{text}");
    let all: Vec<String> =
        (0..4).map(|i| format!("{{at: 10s, {}}}", patch.replace("0-0", &format!("{}-{}", i / 2, i % 2)))).collect();
    let opened = format!("faults=[{}]", all.join(", "));
    let (_, text) = code_and_output(&["run", "-f", &gated, "--set", &opened]);
    assert!(text.contains("condition Completed is True"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

/// Kubernetes names such pods `<job>-<suffix>`. Here they are distinguished by their position among the running
/// pods.
#[test]
fn pods_without_an_index_can_be_failed_and_asked_about_by_the_names_that_are_legal() {
    let dir = scratch("dead-ends-plain");
    let plain = jobset(&dir, "plain", "  failurePolicy: {maxRestarts: 1}\n", ", completionMode: NonIndexed", "");
    let (code, text) = code_and_output(&["run", "-f", &plain, "--fail", "w-2:exit=7"]);
    assert_eq!(code, 2);
    assert!(text.contains("legal: plain-w-{0..1}-{0..1}"), "{text}");
    let out = dir.join("out");
    let (code, text) =
        code_and_output(&["run", "-f", &plain, "--fail", "w-0-1:exit=7", "--out", out.to_str().unwrap()]);
    assert!(code == 0 && text.contains("restart 1 triggered: Job plain-w-0 failed"), "{text}");
    let (code, text) = code_and_output(&["why", "-f", &plain, "--pod", "w-0-1"]);
    assert!(code == 0 && text.contains("Pod plain-w-0-1: "), "{text}");
    let events = fs::read_to_string(out.join("events.ndjson")).unwrap();
    let pods = events.split('"').filter_map(|word| word.strip_prefix("pod/default/plain-w-"));
    let mut seen = 0;
    for pod in pods {
        let parts: Vec<&str> = pod.split('-').collect();
        assert!(parts.len() == 2 && parts[1].len() == 5, "{pod}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    let rule = "containers=[{replicatedJob: w, podIndex: 1, runFor: 5s}]";
    let (code, text) = code_and_output(&["run", "-f", &plain, "--set", rule]);
    assert!(code == 2 && text.contains("podIndex 1 is out of range"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_first_scenario_fails_a_pod_while_its_containers_run() {
    let dir = scratch("dead-ends-new");
    let file = jobset(&dir, "short", "  failurePolicy: {maxRestarts: 1}\n", "", "");
    let output = program(&["new", "-f", &file]).output().unwrap();
    let scenario = dir.join("scenario.yaml");
    fs::write(&scenario, output.stdout).unwrap();
    let (code, text) = code_and_output(&["run", scenario.to_str().unwrap()]);
    assert!(code == 0 && text.contains("restart 1 triggered"), "{text}");
    assert!(!text.contains("did not fire"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_cluster_without_manifests_asks_for_manifests() {
    for command in ["run", "compare", "why"] {
        let (code, text) = code_and_output(&[command, "-t", "small-16"]);
        assert!(code == 2 && text.contains("-f <FILE|DIR|->"), "{text}");
    }
}

#[test]
fn run_unfinished_at_the_time_limit_is_not_permanently_blocked() {
    let dir = scratch("dead-ends-cut");
    let tpu = ", nodeSelector: {example.com/slot: a}";
    jobset(&dir, "first", "", "", tpu);
    jobset(&dir, "next", "", "", tpu);
    let ends = |jobsets: &str, rest: &str, message: &str, cut: bool| {
        let text = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology: {{apiVersion: \
             jobset-sim/v1alpha1, kind: Topology, metadata: {{name: t}}, pools: [{{name: \"n-{{node}}\", nodesPerIsland: \
             1, labels: {{example.com/slot: a}}, allocatable: {{pods: 4}}}}]}}\njobSets: [{jobsets}]\n{rest}"
        );
        let file = dir.join("s.yaml");
        fs::write(&file, text).unwrap();
        let (_, output) = code_and_output(&["run", file.to_str().unwrap()]);
        let sentence = if cut {
            format!("Not ready at the end - {message}; the run ended before it was ready")
        } else {
            format!("Permanently blocked - {message}")
        };
        assert!(output.contains(&sentence), "{rest}: {output}");
    };
    let (one, both) = ("{manifest: first.yaml}", "{manifest: first.yaml}, {manifest: next.yaml, submitAt: 5s}");
    let missing = "JobSet first is not ready: 2 of its Jobs do not exist yet";
    ends(one, "stop: {at: 1ns}", missing, true);
    ends(one, "timing: {apiWrite: 100d}", missing, true);
    // The first JobSet would free its node once it completes.
    let parked = "JobSet next is not ready: pod next-w-0-0 cannot be scheduled: 0/1 nodes are available: 1 Too many pods. \
                  no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for \
                  incoming pod.";
    let runs = "containers: [{runFor: 1h}]\nstop: {at: 30m}";
    ends(both, runs, parked.trim_end_matches('.'), true);
    ends(both, "containers: [{container: c}]", parked, false);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn unplaceable_jobset_has_the_same_exit_code_in_every_command() {
    let dir = scratch("dead-ends-code");
    let (first, next) = ("  failurePolicy: {maxRestarts: 1}\n", ", nodeSelector: {example.com/slot: a}");
    for name in ["first", "next"] {
        jobset(&dir, name, first, "", next);
    }
    let text = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology: {apiVersion: \
                jobset-sim/v1alpha1, kind: Topology, metadata: {name: t}, pools: [{name: \"n-{node}\", nodesPerIsland: \
                1, labels: {example.com/slot: a}, allocatable: {pods: 4}}]}\njobSets: [{manifest: first.yaml}, \
                {manifest: next.yaml, submitAt: 5s}]\ncontainers: [{runFor: 1h}]\nstop: {at: 30m}\n";
    let file = dir.join("s.yaml");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let why = "pod next-w-0-0 cannot be scheduled: 0/1 nodes are available: 1 Too many pods";
    for (command, more) in [
        ("run", ""),
        ("run", "--seeds 2"),
        ("compare", "--seeds 2 --variant later:stop.at=20m"),
        ("sweep", "--seeds 2 --grid stop.at=20m,40m"),
        ("plan budget", "--seeds 2 --jobset next"),
    ] {
        let words: Vec<&str> = command.split(' ').chain([file]).chain(more.split_whitespace()).collect();
        let (code, output) = code_and_output(&words);
        assert_eq!(code, 4, "{words:?}: {output}");
        assert!(output.contains(why) || command == "plan budget", "{words:?}: {output}");
    }
    assert_eq!(code_and_output(&["why", file]).0, 4);
    let result = ["sweep", file, "--seeds", "2", "--grid", "stop.at=20m,3h", "--quiet"];
    let (code, output) = code_and_output(&result);
    assert_eq!(code, 0, "one point places all pods: {output}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_metric_that_no_replication_has_a_number_for_is_rejected() {
    let dir = scratch("dead-ends-metric");
    let file = jobset(&dir, "first", "  failurePolicy: {maxRestarts: 1}\n", "", "");
    for words in [
        &["plan", "breakeven", "--b", "x: strategy=BlockingRecreate", "--over"][..],
        &["sensitivity", "--seeds", "3", "--input"],
    ] {
        // Nothing fails, so there is no restart.
        let metric = "restartLatency_s.p50";
        let inputs = ["stop.at=5m..10m", "-f", &file, "--metric", metric, "--quiet"];
        let (code, text) = code_and_output(&[words, &inputs[..]].concat());
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(&format!("{metric} is undefined in")), "{text}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// All workers succeed, but a deleted pod on a node that never answers again keeps its Job from completing.
#[test]
fn a_jobset_whose_pods_have_all_ended_is_blocked_by_the_pod_that_stays() {
    let dir = scratch("dead-ends-after-success");
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: st}\nspec:\n  replicatedJobs:\n    \
                  - name: w\n      template:\n        spec:\n          {parallelism: 4, completions: 4, template: {spec: \
                  {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: \
                  {example.com/accelerator: 4}}}]}}}\n";
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: stuck}\ntopology: small-16\njobSets: \
                    [{manifest: jobset.yaml}]\ncontainers: [{runFor: 1h}]\nfaults: [{at: 10m, crashNode: {ofPod: \
                    st-w-0-1, alias: lost}}]\nstop: {at: 10h, when: AllJobSetsFinished}\n";
    fs::write(dir.join("jobset.yaml"), jobset).unwrap();
    let file = dir.join("scenario.yaml");
    fs::write(&file, scenario).unwrap();
    let file = file.to_str().unwrap();
    let why = "JobSet st is not finished: pod st-w-0-1 is terminating on node";
    for words in [&["run", file][..], &["why", file]] {
        let (code, output) = code_and_output(words);
        assert_eq!(code, 0, "{output}");
        let reason = if words[0] == "run" { why } else { why.split_once(": ").unwrap().1 };
        assert!(output.contains(reason), "{words:?}: {output}");
    }
    let (code, output) = code_and_output(&["run", file, "--seeds", "2", "--fail-if", "blocked > 0"]);
    assert_eq!(code, 5, "{output}");
    assert!(output.contains("2 blocked"), "{output}");
    fs::remove_dir_all(dir).unwrap();
}
