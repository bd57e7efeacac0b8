//! Situations from public issue trackers: init containers, sidecars, probes, image pulls, annotations of the pod
//! template, and objects that the inputs do not contain.

use crate::support;
use sim_engine::record::*;

/// Records of a run by pod (Job name and index), in order.
struct Played {
    outcome: RunOutcome,
    /// Time in seconds, Job name, index, record.
    pods: Vec<(f64, String, u32, Body)>,
    /// Reasons and messages of conditions and rejected pods.
    texts: Vec<String>,
    nodes: Vec<String>,
}

const POOL: &str = "- {name: \"n{pool}-{node}\", count: 3, nodesPerIsland: 4, allocatable: {cpu: 8, pods: 20}, \
                    labels: {rack: \"r{pool}\"}, \
                    features: [RestartAllContainersOnContainerExits]}";

fn manifest(replicas: u32, job: &str, meta: &str, pod: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 1, rules: [{{name: data, action: FailJobSet, onJobFailureReasons: \
         [PodFailurePolicy]}}]}}\n  replicatedJobs:\n  - name: w\n    replicas: {replicas}\n    template:\n      \
         spec:\n        parallelism: 2\n        completions: 2\n        backoffLimit: 3\n        {job}\n        \
         template:\n          metadata: {{{meta}}}\n          spec: {pod}\n"
    )
}

fn play(rest: &str, manifest: &str) -> Played {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{}]\n\
         jobSets: [{{manifest: jobset.yaml}}]\n{rest}\nstop: {{at: 10m}}\nseed: 1\n",
        POOL.trim_start_matches("- ")
    );
    let scenario = support::parse(&scenario, manifest).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let mut replayed = Played { outcome, pods: Vec::new(), texts: Vec::new(), nodes: Vec::new() };
    let mut rows: Vec<(String, u32)> = Vec::new();
    for r in &checker.records {
        let at = r.at.0 as f64 / 1e9;
        match r.body {
            Body::PodCreated { pod, job, index, .. } => {
                rows.resize(rows.len().max(pod.ix() + 1), (String::new(), 0));
                rows[pod.ix()] = (names.job(job).to_owned(), index);
                replayed.pods.push((at, names.job(job).to_owned(), index, r.body));
            }
            Body::PodBound { pod, node, .. } => {
                replayed.nodes.push(format!("{} {}", rows[pod.ix()].0, names.node(node)));
            }
            Body::PodReady { pod, .. }
            | Body::PodNotReady { pod, .. }
            | Body::ContainerExited { pod, .. }
            | Body::PodFinished { pod, .. } => {
                let (job, index) = rows[pod.ix()].clone();
                replayed.pods.push((at, job, index, r.body));
            }
            Body::JobSetCondition { reason, message, .. } | Body::JobCondition { reason, message, .. } => {
                let text = format!("{}: {}", names.text(reason), names.text(message));
                replayed.texts.push(text);
            }
            Body::PodCreateRejected { reason, .. } => replayed.texts.push(names.text(reason).to_owned()),
            _ => {}
        }
    }
    replayed
}

impl Played {
    /// Times of the records of a pod that match.
    fn times(&self, job: &str, index: u32, what: impl Fn(&Body) -> bool) -> Vec<f64> {
        let of = self.pods.iter().filter(|(_, j, i, b)| j == job && *i == index && what(b));
        of.map(|(at, ..)| *at).collect()
    }

    fn ready(&self, job: &str, index: u32) -> Vec<f64> {
        self.times(job, index, |b| matches!(b, Body::PodReady { .. }))
    }

    fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|t| t.contains(text))
    }
}

const RULES: &str = "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: fetch, operator: In, \
                     values: [44]}}]}";

fn with_init(policy: &str, init: &str) -> String {
    format!(
        "{{restartPolicy: {policy}, initContainers: [{{name: fetch, image: \"x:1\"{init}}}], containers: [{{name: c, image: \"x:1\"}}]}}"
    )
}

#[test]
fn annotations_of_the_pod_template_place_jobs_exclusively() {
    let pod = "{restartPolicy: Never, containers: [{name: c, image: \"x:1\"}]}";
    let meta = "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
    let racks = |meta: &str| {
        let run = play("", &manifest(3, "", meta, pod));
        let split = |line: &String| {
            let (job, node) = line.split_once(' ').unwrap();
            (job.to_owned(), node.split_once('-').unwrap().0.to_owned())
        };
        let mut all: Vec<(String, String)> = run.nodes.iter().map(split).collect();
        all.sort();
        all.dedup();
        let mut used: Vec<&String> = all.iter().map(|(_, rack)| rack).collect();
        used.sort();
        used.dedup();
        (all.len(), used.len())
    };
    assert_eq!(racks(meta), (3, 3), "three Jobs, one rack each");
    assert_ne!(racks(""), (3, 3));
    // The node-selector strategy in the pod's annotations switches the webhook off.
    let both = format!("{}, alpha.jobset.sigs.k8s.io/node-selector: \"true\"}}", meta.trim_end_matches('}'));
    assert_ne!(racks(&both), (3, 3));
}

#[test]
fn an_exit_rule_applies_to_the_init_container_that_it_names() {
    let rest = "containers: [{container: fetch, podIndex: 1, runFor: 5s, exitCode: 44}, {runFor: 20m}]";
    let run = play(rest, &manifest(1, RULES, "", &with_init("Never", "")));
    assert!(
        run.says("failed with exit code 44 matching FailJob rule at index 0") && run.says("Container fetch for pod"),
        "{:?}",
        run.texts
    );
    assert!(run.ready("js-w-0", 1).is_empty());
    let ended = run.times("js-w-0", 1, |b| matches!(b, Body::PodFinished { succeeded: false, .. }));
    assert_eq!(ended.len(), 1);
    assert!((5.0..15.0).contains(&ended[0]), "{ended:?}");
    assert_eq!(run.outcome.jobsets[0].restarts, 0);
}

#[test]
fn an_init_container_takes_its_run_time_and_restarts_after_a_failure() {
    let rest = "containers: [{container: fetch, runFor: 40s}]";
    let run = play(rest, &manifest(1, "", "", &with_init("Never", "")));
    let ready = run.ready("js-w-0", 0);
    assert!((40.0..50.0).contains(&ready[0]), "{ready:?}");
    let rest =
        "containers: [{container: fetch, containerRun: 0, runFor: 5s, exitCode: 1}, {container: fetch, runFor: 5s}]";
    let run = play(rest, &manifest(1, "", "", &with_init("OnFailure", "")));
    let ready = run.ready("js-w-0", 0);
    assert!((10.0..25.0).contains(&ready[0]), "{ready:?}");
    let exits = |b: &Body| matches!(b, Body::ContainerExited { .. } | Body::PodFinished { .. });
    assert_eq!(run.times("js-w-0", 0, exits).len(), 1, "one failed run of the init container");
}

#[test]
fn a_sidecar_that_exits_is_restarted_and_does_not_end_the_pod() {
    let rest =
        "containers: [{container: fetch, podIndex: 1, containerRun: 0, runFor: 20s, exitCode: 44}, {runFor: 5m}]";
    let run = play(rest, &manifest(1, RULES, "", &with_init("Never", ", restartPolicy: Always")));
    assert_eq!(run.ready("js-w-0", 1).len(), 2, "ready again");
    let down = run.times("js-w-0", 1, |b| matches!(b, Body::PodNotReady { .. }));
    let (again, down) = (run.ready("js-w-0", 1)[1], down[0]);
    assert!(again > down && again < down + 5.0, "{down} {again}");
    assert_eq!(run.outcome.jobsets[0].restarts, 0);
    assert!(run.says("AllJobsCompleted"), "{:?}", run.texts);
}

/// `doBackOff` of the kubelet keeps one back-off per container; `restartCount` belongs to a container too.
#[test]
fn each_container_has_its_own_back_off_and_its_own_runs() {
    let init = |policy: &str, init: &str| {
        format!("{{restartPolicy: {policy}, initContainers: [{init}], containers: [{{name: c, image: \"x:1\"}}]}}")
    };
    let sidecar = "image: \"x:1\", restartPolicy: Always";
    let restart_all = "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]";
    let plain = "image: \"x:1\"";
    let sidecars = init("Never", &format!("{{name: s1, {sidecar}}}, {{name: s2, {sidecar}}}"));
    let with_rule = init("Never", &format!("{{name: s1, {sidecar}}}, {{name: s2, {sidecar}, {restart_all}}}"));
    let two = init("OnFailure", &format!("{{name: i1, {plain}}}, {{name: i2, {plain}}}"));
    let fails = |name: &str, run: u32, after: &str, code: u32| {
        format!("{{container: {name}, containerRun: {run}, runFor: {after}, exitCode: {code}}}")
    };
    let first = fails("i1", 0, "1s", 1);
    let cases: [(&str, &String, String, usize, f64); 4] = [
        (
            "the second sidecar's first restart has no back-off",
            &sidecars,
            format!("{}, {}", fails("s1", 0, "60s", 1), fails("s2", 0, "70s", 1)),
            2,
            5.0,
        ),
        (
            "the rule for the first run of s2 holds after s1 has restarted: all containers restart",
            &with_rule,
            format!("{}, {}", fails("s1", 0, "60s", 1), fails("s2", 0, "90s", 42)),
            2,
            5.0,
        ),
        (
            "the first restart of the main container has no back-off after two of an init container",
            &two,
            format!("{first}, {}, {}", fails("i1", 1, "1s", 1), fails("c", 0, "30s", 1)),
            1,
            5.0,
        ),
        (
            "the second init container has its own back-off: 10 s of the first alone before the pod is ready",
            &two,
            format!("{first}, {}, {}", fails("i1", 1, "1s", 1), fails("i2", 0, "1s", 1)),
            0,
            30.0,
        ),
    ];
    for (name, pod, rules, nth, most) in cases {
        let manifest = manifest(1, "", "", pod).replace("backoffLimit: 3", "backoffLimit: 9");
        let run = play(&format!("containers: [{rules}, {{runFor: 5m}}]"), &manifest);
        let ready = run.ready("js-w-0", 0);
        let down = run.times("js-w-0", 0, |b| matches!(b, Body::PodNotReady { .. }));
        let begin = if nth == 0 { 0.0 } else { down[nth - 1] };
        assert!(ready[nth] - begin < most, "{name}: {down:?} {ready:?}");
        assert!(run.says("AllJobsCompleted"), "{name}: {:?}", run.texts);
    }
}

#[test]
fn a_pod_is_ready_when_its_probes_have_succeeded() {
    let probed = |probe: &str, rest: &str| {
        let pod = format!("{{restartPolicy: Never, containers: [{{name: c, image: \"x:1\", {probe}}}]}}");
        let run = play(rest, &manifest(1, "", "", &pod));
        run.ready("js-w-0", 0)[0]
    };
    let plain = probed("stdin: false", "");
    let probe = "readinessProbe: {tcpSocket: {port: 1}, initialDelaySeconds: 20, periodSeconds: 5}";
    let delayed = probed(probe, "");
    assert!(delayed > plain + 18.0 && delayed < plain + 27.0, "{plain} {delayed}");
    let later = probed(probe, "containers: [{readyAfter: 90s}]");
    assert!(later > plain + 88.0 && later < plain + 97.0, "{plain} {later}");
    let thrice = "readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 10, successThreshold: 3}";
    let thrice = probed(thrice, "");
    assert!(thrice > plain + 18.0 && thrice < plain + 23.0, "{plain} {thrice}");
    let both = "startupProbe: {tcpSocket: {port: 1}, initialDelaySeconds: 30, periodSeconds: 1}, \
                readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 60}";
    let both = probed(both, "");
    assert!(both > plain + 29.0 && both < plain + 34.0, "{plain} {both}");
    // The ticker of a startup probe begins before the container, and nothing triggers it earlier (`worker.go`).
    let startup = probed("startupProbe: {tcpSocket: {port: 1}, periodSeconds: 30}", "");
    assert!((30.0..32.0).contains(&startup), "{startup}");
    let sidecar = ", restartPolicy: Always, readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 10}";
    let pod = with_init("Never", sidecar);
    let run = play("containers: [{container: fetch, readyAfter: 30s}]", &manifest(1, "", "", &pod));
    let ready = run.ready("js-w-0", 0)[0];
    assert!(ready > plain + 29.0 && ready < plain + 34.0, "readiness of the sidecar: {ready}");
}

#[test]
fn a_restarted_init_container_has_the_rule_of_its_run_and_the_later_ones_follow() {
    let pod = "{restartPolicy: OnFailure, initContainers: [{name: i1, image: \"x:1\"}, {name: i2, image: \"x:1\"}], \
               containers: [{name: c, image: \"x:1\"}]}";
    let rest = "containers: [{container: i1, containerRun: 0, runFor: 10s, exitCode: 3}, {container: i1, runFor: 100s}, \
                {container: i2, runFor: 100s}]";
    let ready = play(rest, &manifest(1, "", "", pod)).ready("js-w-0", 0)[0];
    assert!((213.0..220.0).contains(&ready), "{ready}");
    // The restart counts for backoffLimit when the container runs again, not when it ends.
    let rest =
        "containers: [{container: i1, containerRun: 0, runFor: 10s, exitCode: 3}, {container: i1, runFor: 300s}]";
    let run = play(rest, &manifest(1, "", "", pod).replace("backoffLimit: 3", "backoffLimit: 1"));
    let ended = run.times("js-w-0", 0, |b| matches!(b, Body::PodFinished { .. }));
    assert!((12.0..60.0).contains(&ended[0]), "{ended:?}");
}

/// Only running containers are killed (`killContainersWithSyncResult`); a pod that waits for a restart keeps its code.
#[test]
fn a_deletion_stops_the_containers_that_run() {
    let hook = "lifecycle: {preStop: {sleep: {seconds: 25}}}";
    let main = |policy: &str, init: &str| {
        format!("{{restartPolicy: {policy}, {init}containers: [{{name: c, image: \"x:1\", {hook}}}]}}")
    };
    let init = "initContainers: [{name: fetch, image: \"x:1\"}], ";
    let deleted = "faults: [{at: 60s, deletePod: {pod: js-w-0-0}}";
    let crash = "containers: [{runFor: 1s, exitCode: 3}]";
    let pull = "failImagePulls: {cached: false}";
    let cases = [
        ("a main container runs", main("Never", ""), format!("{deleted}]"), 143, 25.0),
        (
            "the init container runs",
            main("Never", init),
            format!("containers: [{{container: fetch, runFor: 5m}}]\n{deleted}]"),
            143,
            0.0,
        ),
        ("the main container waits for its restart", main("OnFailure", ""), format!("{crash}\n{deleted}]"), 3, 0.0),
        (
            "the image of the main container cannot be pulled",
            main("Never", ""),
            format!("{deleted}, {{at: 0s, {pull}}}]"),
            137,
            0.0,
        ),
    ];
    for (name, pod, rest, code, after) in cases {
        let manifest = manifest(1, "", "", &pod).replace("backoffLimit: 3", "backoffLimit: 99");
        let run = play(&rest, &manifest);
        let is_end = |body: &Body| matches!(body, Body::PodFinished { exit_code, .. } if *exit_code == Some(code));
        let ended = run.times("js-w-0", 0, is_end);
        let is_stopped = ended.first().is_some_and(|at| (60.0 + after..63.0 + after).contains(at));
        assert!(is_stopped, "{name}: {ended:?} {:?}", run.pods.iter().filter(|pod| pod.0 > 50.0).collect::<Vec<_>>());
    }
}

#[test]
fn depends_on_ready_waits_for_the_readiness_probe() {
    let pod = "{restartPolicy: Never, containers: [{name: c, image: \"x:1\", readinessProbe: {tcpSocket: {port: 1}, \
               initialDelaySeconds: 20, periodSeconds: 5}}]}";
    let later = "  - name: launcher\n    dependsOn: [{name: w, status: Ready}]\n    template:\n      spec:\n        \
                 template: {spec: {restartPolicy: Never, containers: [{name: c, image: \"x:1\"}]}}\n";
    let run = play("", &(manifest(1, "", "", pod) + later));
    let created = run.times("js-launcher-0", 0, |b| matches!(b, Body::PodCreated { .. }));
    assert!((20.0..30.0).contains(&created[0]), "{created:?}");
}

#[test]
fn image_pulls_that_fail_are_retried_with_back_off() {
    let pod = "{restartPolicy: Never, containers: [{name: c, image: \"x:1\"}]}";
    let ready = |rest: &str| play(rest, &manifest(1, "", "", pod)).ready("js-w-0", 0);
    let plain = ready("")[0];
    let fault = |more: &str| ready(&format!("faults: [{{at: 0s, failImagePulls: {{for: 100s{more}}}}}]"));
    assert_eq!(fault("")[0], plain, "the nodes have the image");
    let late = fault(", cached: false")[0];
    // Pulls at about 0, 12, 35 and 80 s fail; the next one follows within 1.5 times 80 s.
    assert!((100.0..200.0).contains(&late), "{late}");
    assert_eq!(fault(", cached: false, image: \"other:1\"")[0], plain);
    let forever = ready("faults: [{at: 0s, failImagePulls: {cached: false}}]");
    assert!(forever.is_empty());
    // The run ends after 10 min, before the pulls succeed.
    let outcome =
        play("faults: [{at: 0s, failImagePulls: {cached: false, for: 1h}}]", &manifest(1, "", "", pod)).outcome;
    let blocked = &outcome.blocked[0];
    let reason = "pod js-w-0-0 cannot start: its image x:1 cannot be pulled (ErrImagePull, ImagePullBackOff)";
    assert!(blocked.contains(reason) && blocked.ends_with("the run ended before it was ready"), "{blocked}");
}

#[test]
fn a_missing_service_account_or_priority_class_is_rejected_if_others_are_listed() {
    let pod = |field: &str| format!("{{restartPolicy: Never, {field}, containers: [{{name: c, image: \"x:1\"}}]}}");
    let account = pod("serviceAccountName: nope");
    let listed = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: trainer}\n";
    let run = play("", &(manifest(1, "", "", &account) + listed));
    let why = "is forbidden: error looking up service account default/nope: serviceaccount \"nope\" not found";
    assert!(run.says(&format!("pods \"js-w-0-0-\" {why}")), "{:?}", run.texts);
    let run = play("", &(manifest(1, "", "", &pod("serviceAccountName: trainer")) + listed));
    assert_eq!(run.ready("js-w-0", 0).len(), 1);
    assert_eq!(play("", &manifest(1, "", "", &account)).ready("js-w-0", 0).len(), 1, "assumed to exist");
    let class = pod("priorityClassName: nope");
    let listed = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: 1\n";
    let run = play("", &(manifest(1, "", "", &class) + listed));
    assert!(run.says("no PriorityClass with name nope was found"), "{:?}", run.texts);
}

#[test]
fn ignored_fields_and_assumed_objects_are_named() {
    let pod = "{restartPolicy: Never, serviceAccountName: sa, priorityClassName: high, \
               volumes: [{name: v, persistentVolumeClaim: {claimName: ckpt}}, {name: d, gcePersistentDisk: {pdName: \
               d}}, {name: s, configMap: {name: m}}], containers: [{name: c, image: \"x:1\", \
               livenessProbe: {periodSeconds: 1}}]}";
    let manifest = manifest(1, "", "labels: {kueue.x-k8s.io/queue-name: q}", pod)
        + "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: quota}\n";
    let source = |file: &str, text: &str| sim_inputs::SourceText { file: file.to_owned(), text: text.to_owned() };
    let manifests = sim_inputs::kube::read_sources(&[source("jobset.yaml", &manifest)], &[]).unwrap();
    let loaded = sim_inputs::scenario_from_manifests(vec![manifests], None, &[]).unwrap();
    assert_eq!(loaded.skipped, ["ResourceQuota/quota"]);
    let output = loaded.not_modelled().join("\n");
    for part in [
        "livenessProbe",
        "ServiceAccount sa: assumed to exist",
        "PriorityClass high: assumed to exist",
        "PersistentVolumeClaim ckpt: assumed to exist",
        "conflicts of pods on one node that mount the same gcePersistentDisk",
        "queue q on the pod template of replicatedJob w",
    ] {
        assert!(output.contains(part), "{part} is missing in\n{output}");
    }
}

#[test]
fn init_containers_after_a_sidecar_need_room_beside_it() {
    let container = |name: &str, cpu: u32, more: &str| {
        format!("{{name: {name}, image: \"x:1\", resources: {{requests: {{cpu: {cpu}}}}}{more}}}")
    };
    let cpu = |post: u32| {
        let init =
            [container("pre", 7, ""), container("side", 3, ", restartPolicy: Always"), container("post", post, "")];
        let (init, main) = (init.join(", "), container("c", 5, ""));
        let pod = format!("{{restartPolicy: Never, initContainers: [{init}], containers: [{main}]}}");
        let scenario = sim_inputs::kube::read_sources(
            &[sim_inputs::SourceText { file: "jobset.yaml".to_owned(), text: manifest(1, "", "", &pod) }],
            &[],
        );
        let jobset = &scenario.unwrap().jobsets[0].0;
        jobset.spec.replicated_jobs[0].template.template.spec.requests()["cpu"]
    };
    assert_eq!((cpu(5), cpu(6)), (8000, 9000));
}
