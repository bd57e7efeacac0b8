//! Preemption by kube-scheduler, the eviction API, and terms about other pods: short runs on four nodes, each with the
//! records that decide the case.

use crate::support;
use sim_engine::record::*;

/// Texts of a run: failed attempts, refused evictions, and deletions by the scheduler or an eviction, by pod.
fn play(rest: &str, first: &str, after_10_s: &str) -> Vec<String> {
    timed(rest, first, after_10_s).into_iter().map(|(_, text)| text).collect()
}

/// The same texts with their times in seconds.
fn timed(rest: &str, first: &str, after_10_s: &str) -> Vec<(f64, String)> {
    let second = if after_10_s.is_empty() { "" } else { ", {manifest: other.yaml, submitAt: 10s}" };
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{{name: node, count: 2, \
         nodesPerIsland: 2, allocatable: {{cpu: 4, pods: 20}}, labels: {{rack: \"r{{pool}}\"}}}}]\n\
         jobSets: [{{manifest: jobset.yaml}}{second}]\nstop: {{at: 2m}}\nseed: 1\n{rest}\n"
    );
    let scenario = support::parse_with(&scenario, &[("jobset.yaml", first), ("other.yaml", after_10_s)])
        .unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let mut pods: Vec<String> = Vec::new();
    let mut texts = Vec::new();
    for r in &checker.records {
        let at = r.at.seconds();
        match r.body {
            Body::PodCreated { pod, job, index, .. } => {
                pods.resize(pods.len().max(pod.ix() + 1), String::new());
                pods[pod.ix()] = names.pod_base_name(job, index);
            }
            Body::PodUnschedulable { pod, reason } => {
                texts.push((at, format!("{} waits: {}", pods[pod.ix()], names.text(reason))));
            }
            Body::KubeEvent { object: ObjectRef::Pod(pod), reason, message, .. } => {
                texts.push((at, format!("{} {}: {}", pods[pod.ix()], names.text(reason), names.text(message))));
            }
            Body::EvictionRefused { pod, answer } => {
                texts.push((at, format!("{} stays: {}", pods[pod.ix()], names.text(answer))));
            }
            Body::Answered { answer, .. } if names.text(answer).contains("riority") => {
                texts.push((at, format!("answer: {}", names.text(answer))));
            }
            Body::PodDeleting { pod, by: DeletionActor::Preemption | DeletionActor::Eviction, .. } => {
                texts.push((at, format!("{} goes", pods[pod.ix()])));
            }
            _ => {}
        }
    }
    texts
}

/// A JobSet with one Job of `pods` pods; `more` are fields of the pod spec.
fn jobset(name: &str, pods: u32, more: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}}}\nspec:\n  replicatedJobs:\n  \
         - name: w\n    template:\n      spec:\n        parallelism: {pods}\n        completions: {pods}\n        \
         backoffLimit: 9\n        template:\n          metadata: {{labels: {{app: {name}}}}}\n          spec: \
         {{restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{{name: c, image: \"x:1\", resources: \
         {{requests: {{cpu: 3}}}}}}], {more}}}\n---\n"
    )
}

fn class(name: &str, value: i32, more: &str) -> String {
    format!(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n{more}\n---\n"
    )
}

fn budget(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\nspec: {{selector: {{matchLabels: \
         {{app: js}}}}, {spec}}}\n---\n"
    )
}

fn assert_says(texts: &[String], expected: &[&str], never: &[&str]) {
    for part in expected {
        assert!(texts.iter().any(|text| text.contains(part)), "{part} is missing in\n{}", texts.join("\n"));
    }
    for part in never {
        assert!(!texts.iter().any(|text| text.contains(part)), "{part} appears in\n{}", texts.join("\n"));
    }
}

#[test]
fn a_pod_of_higher_priority_takes_the_node_of_a_lower_one() {
    let classes = class("low", 1, "") + &class("high", 9, "") + &class("polite", 9, "preemptionPolicy: Never");
    let run = |name: &str| {
        let first = classes.clone() + &jobset("js", 4, "priorityClassName: low");
        play("", &first, &jobset("other", 1, &format!("priorityClassName: {name}")))
    };
    let (goes, waits) = (" goes", "other-w-0-0 waits: ");
    assert_says(&run("high"), &["js-w-0-", goes, waits, " Preempted: Preempted by pod "], &["other-w-0-0 goes"]);
    // The Event follows the deletion of its victim and names the preemptor's UID and the node.
    let texts = run("high");
    let at = texts.iter().position(|text| text.ends_with(goes)).expect("a victim");
    let victim = texts[at].trim_end_matches(goes);
    let message = texts[at + 1].strip_prefix(&format!("{victim} Preempted: Preempted by pod ")).expect("its Event");
    let (uid, node) = message.split_once(" on node ").expect("a node");
    let groups: Vec<usize> = uid.split('-').map(str::len).collect();
    assert_eq!((groups.as_slice(), node.starts_with("node-")), (&[8, 4, 4, 4, 12][..], true), "{message}");
    assert_says(&run("polite"), &["preemption: not eligible due to preemptionPolicy=Never."], &[goes]);
    assert_says(&run("low"), &["4 No preemption victims found for incoming pod"], &[goes]);
}

/// The scheduler patches and deletes a victim with two requests in a row, the last victim after all others.
#[test]
fn the_last_victim_is_deleted_after_the_others() {
    let classes = class("low", 1, "") + &class("high", 9, "");
    let small = jobset("js", 12, "priorityClassName: low").replace("cpu: 3", "cpu: 1");
    let texts = timed("", &(classes + &small), &jobset("other", 1, "priorityClassName: high"));
    let goes: Vec<f64> = texts.iter().filter(|(_, text)| text.ends_with(" goes")).map(|(at, _)| *at).collect();
    let waits = texts.iter().find(|(_, text)| text.starts_with("other-w-0-0 waits")).map_or(0.0, |(at, _)| *at);
    let [.., before, last] = goes[..] else { panic!("two victims are expected in {texts:?}") };
    assert!(last - before > 0.5 * (before - waits), "{waits} {goes:?}");
}

#[test]
fn a_budget_is_violated_only_as_a_last_resort() {
    let classes = class("low", 1, "") + &class("high", 9, "");
    let guarded = classes + &budget("b", "minAvailable: 2") + &jobset("js", 2, "priorityClassName: low");
    let others = jobset("free", 2, "priorityClassName: low");
    let high = |pods| jobset("other", pods, "priorityClassName: high");
    let one = play("", &(guarded.clone() + &others), &high(2));
    assert_says(&one, &["free-w-0-0 goes", "free-w-0-1 goes"], &["js-w-0-0 goes", "js-w-0-1 goes"]);
    let all = play("", &(guarded + &others), &high(4));
    assert_says(&all, &["free-w-0-0 goes", "js-w-0-0 goes", "js-w-0-1 goes"], &[]);
}

#[test]
fn an_eviction_obeys_the_one_budget_of_the_pod() {
    const VIOLATED: &str = "js-w-0-1 stays: Cannot evict pod as it would violate the pod's disruption budget.";
    const SEVERAL: &str = "js-w-0-1 stays: This pod has more than one PodDisruptionBudget, which the eviction \
                           subresource does not support.";
    let evict = "faults: [{at: 10s, evictPod: {pod: js-w-0-1}}]";
    for (budgets, expected) in [
        (String::new(), "js-w-0-1 goes"),
        (budget("b", "minAvailable: 1"), "js-w-0-1 goes"),
        (budget("b", "minAvailable: 2"), VIOLATED),
        // Jobs have no scale subresource: the disruption controller cannot compute the expected number of pods.
        (budget("b", "maxUnavailable: 1"), VIOLATED),
        (budget("b", "minAvailable: 50%"), VIOLATED),
        (budget("a", "minAvailable: 1") + &budget("b", "minAvailable: 1"), SEVERAL),
        (budget("b", "minAvailable: 2").replace("app: js", "app: none"), "js-w-0-1 goes"),
    ] {
        let texts = play(evict, &(budgets.clone() + &jobset("js", 2, "")), "");
        assert_says(&texts, &[expected], &[]);
        assert_eq!(texts.len(), 1, "{budgets}{texts:?}");
    }
}

#[test]
fn a_budget_with_two_numbers_or_a_negative_one_is_refused() {
    for (spec, expected) in [
        ("minAvailable: 1, maxUnavailable: 1", "minAvailable and maxUnavailable cannot be both set"),
        ("minAvailable: -1", "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"),
    ] {
        let source = sim_inputs::SourceText { file: "budget.yaml".to_owned(), text: budget("b", spec) };
        let refusal = sim_inputs::kube::read_sources(&[source], &[]).expect_err(spec).to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn a_drain_asks_every_five_seconds_until_the_budget_allows_it() {
    let drain = "faults: [{at: 10s, drainNode: {ofPod: js-w-0-1}}]\n\
                 containers: [{podIndex: 0, runFor: 23s}, {podIndex: 1, runFor: 1m}]";
    let texts = play(drain, &(budget("b", "minAvailable: 2") + &jobset("js", 2, "")), "");
    let stays = texts.iter().filter(|text| text.starts_with("js-w-0-1 stays")).count();
    // At 10, 15, …, 60 s; then the pod has ended.
    assert!((10..=12).contains(&stays), "{texts:?}");
}

#[test]
fn terms_about_other_pods_are_those_of_kube_scheduler() {
    let repel = |key: &str| {
        format!(
            "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}, \
             labelSelector: {{matchLabels: {{app: js}}}}}}]}}}}"
        )
    };
    let light = |pods, more: &str| jobset("js", pods, more).replace("cpu: 3", "cpu: 10m");
    let waits = " waits: 0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules.";
    assert_says(&play("", &light(3, &repel("rack")), ""), &[waits], &[]);
    assert_says(&play("", &jobset("js", 3, &repel("kubernetes.io/hostname")), ""), &[], &["waits"]);
    let spread = "topologySpreadConstraints: [{maxSkew: 1, minDomains: 3, topologyKey: rack, whenUnsatisfiable: \
                  DoNotSchedule, labelSelector: {matchLabels: {app: js}}}]";
    let skewed = " waits: 0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints.";
    assert_says(&play("", &light(3, spread), ""), &[skewed], &[]);
    let port = "hostNetwork: true, initContainers: [{name: i, image: \"x:1\", ports: [{containerPort: 80}], \
                restartPolicy: Always}]";
    let taken = "waits: 0/4 nodes are available: 4 node(s) didn't have free ports for the requested pod ports.";
    assert_says(&play("", &light(5, port), ""), &[taken], &[]);
}

#[test]
fn claims_of_one_pod_and_volumes_restrict_the_pods_that_use_them() {
    let claim = |mode: &str, volume: &str| {
        format!(
            "objects:\n  - {{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{accessModes: \
             [{mode}], {volume}resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
        )
    };
    let mount = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]";
    let two = jobset("js", 2, mount).replace("cpu: 3", "cpu: 10m");
    let in_use = " waits: 0/4 nodes are available: 4 node(s) unavailable due to PersistentVolumeClaim with \
                  ReadWriteOncePod access mode already in-use by another pod.";
    assert_says(&play(&claim("ReadWriteOncePod", ""), &two, ""), &[in_use], &[]);
    assert_says(&play(&claim("ReadWriteMany", ""), &two, ""), &[], &["waits"]);
    let bound = |rack: &str| {
        let volume = format!(
            "  - {{apiVersion: v1, kind: PersistentVolume, metadata: {{name: disk}}, spec: {{accessModes: \
             [ReadWriteMany], capacity: {{storage: 1Gi}}, hostPath: {{path: /d}}, nodeAffinity: {{required: \
             {{nodeSelectorTerms: [{{matchExpressions: [{{key: rack, operator: In, values: [{rack}]}}]}}]}}}}}}}}\n"
        );
        play(&(claim("ReadWriteMany", "volumeName: disk, ") + &volume), &two, "")
    };
    let elsewhere = " waits: 0/4 nodes are available: 4 node(s) didn't match PersistentVolume's node affinity.";
    assert_says(&bound("none"), &[elsewhere], &[]);
    assert_says(&bound("r1"), &[], &["waits"]);
}

#[test]
fn a_default_class_created_during_a_run_applies_to_later_pods_of_existing_jobs() {
    let object = |name: &str| {
        format!(
            "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: 7, globalDefault: true}}"
        )
    };
    let show = |at: u32, pod: u32| {
        format!(
            "{{at: {at}s, show: {{kind: Pod, name: js-w-0-{pod}, fields: [spec.priority, spec.priorityClassName]}}}}"
        )
    };
    let create = |at: u32, name: &str| format!("{{at: {at}s, create: {{object: {}}}}}", object(name));
    // The fourth pod fails after 3 s, and its node is taken before the Job creates it again.
    let run = |actions: &str| {
        let rest = format!(
            "faults: [{actions}]\ncontainers: [{{jobSet: js, podIndex: 3, runFor: 2s, exitCode: 1, jobTry: 0}}]"
        );
        let zero = class("zero", 0, "");
        play(&rest, &(zero + &jobset("js", 4, "")), &jobset("other", 1, "priorityClassName: zero"))
    };
    let shown = format!("{}, {}", show(14, 0), show(30, 3));
    let with = run(&format!("{}, {}, {shown}", create(2, "base"), create(4, "second")));
    let refused = "answer: priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass base is already marked as \
                   default. Only one default can exist";
    let (old, new) = ("\"spec.priority\":0", "{\"spec.priority\":7,\"spec.priorityClassName\":\"base\"}");
    assert_says(&with, &[" goes", old, new, refused], &[]);
    assert_says(&with, &[], &["js-w-0-3 goes"]);
    let removed = format!("{}, {{at: 3s, delete: {{kind: PriorityClass, name: base}}}}, {shown}", create(2, "base"));
    assert_says(&run(&removed), &["js-w-0-3 waits: "], &[" goes", "\"spec.priority\":7"]);
}
