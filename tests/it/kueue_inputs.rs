//! Objects of Kueue and manifests as users have them: nodes and pods of a dump, existing Workloads, configuration,
//! rules of the CRDs, and scalars of YAML.

use crate::program::{program, scratch};
use serde_json::{Value, json};
use std::fs;

/// Runs the program on files, and returns both outputs in one line, with the records of the run directory `o`.
#[track_caller]
fn output(files: &[(&str, String)], arguments: &[&str], code: i32) -> String {
    // The name of the test.
    let thread = std::thread::current();
    let dir = scratch(&thread.name().unwrap_or_default().replace("::", "-"));
    files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
    let output = program(arguments).current_dir(&dir).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let records = fs::read_to_string(dir.join("o/events.ndjson")).unwrap_or_default();
    fs::remove_dir_all(dir).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}\n{err}");
    format!("{out} {err} {records}")
}

fn documents(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n---\n")).collect()
}

/// A queue with this quota of a resource, and with a Topology of these levels.
fn queue(resource: &str, quota: &str, levels: &[&str]) -> Vec<Value> {
    let version = "kueue.x-k8s.io/v1beta2";
    let levels: Vec<Value> = levels.iter().map(|level| json!({"nodeLabel": level})).collect();
    let mut flavor = json!({"nodeLabels": {"zone": "a"}, "topologyName": "t"});
    let topology =
        json!({"apiVersion": version, "kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": levels}});
    if levels.is_empty() {
        flavor = json!({});
    }
    let quotas = json!([{"name": "f", "resources": [{"name": resource, "nominalQuota": quota}]}]);
    let group = json!({"coveredResources": [resource], "flavors": quotas});
    let mut all = vec![
        json!({"apiVersion": version, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": flavor}),
        json!({"apiVersion": version, "kind": "ClusterQueue", "metadata": {"name": "cq"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}),
        json!({"apiVersion": version, "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "default"},
            "spec": {"clusterQueue": "cq"}}),
    ];
    if !levels.is_empty() {
        all.push(topology);
    }
    all
}

/// A JobSet in the queue, whose pods request one unit of a resource each.
fn jobset(pods: u32, resource: &str, template: Value) -> Value {
    let mut template = template;
    template["spec"]["restartPolicy"] = json!("Never");
    template["spec"]["containers"] =
        json!([{"name": "c", "image": "x", "command": ["sleep", "60"], "resources": {"limits": {resource: 4}}}]);
    let job = json!({"parallelism": pods, "completions": pods, "backoffLimit": 0, "completionMode": "Indexed",
        "template": template});
    json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
        "spec": {"replicatedJobs": [{"name": "w", "template": {"spec": job}}]}})
}

const POOL: &str = "cloud.google.com/gke-nodepool";
const HOST: &str = "kubernetes.io/hostname";
const CHIP: &str = "google.com/tpu";

/// A node of the dump. `state` changes its spec and readiness.
fn node(name: &str, is_cordoned: bool, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {HOST: name, POOL: "p", "zone": "a"}},
        "spec": {"unschedulable": is_cordoned},
        "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "110", CHIP: "4"},
            "conditions": [{"type": "Ready", "status": ready}]}})
}

#[test]
fn nodes_that_are_cordoned_or_not_ready_have_no_capacity_for_topology_aware_scheduling() {
    let required =
        |level: &str| json!({"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": level}}});
    let mut tolerating = required(POOL);
    tolerating["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    for (levels, template) in [(&[POOL][..], required(POOL)), (&[POOL, HOST][..], tolerating)] {
        for (cordoned, ready) in [(true, true), (false, false)] {
            let objects = [queue(CHIP, "64", levels), vec![jobset(4, CHIP, template.clone())]].concat();
            let bad = |i: u32| i > 1;
            let nodes: Vec<Value> =
                (0..4).map(|i| node(&format!("n{i}"), bad(i) && cordoned, !bad(i) || ready)).collect();
            let dump = json!({"apiVersion": "v1", "kind": "List", "items": nodes}).to_string();
            let files = [("k.yaml", documents(&objects)), ("nodes.json", dump)];
            let text = output(&files, &["admit", "-f", "k.yaml", "-t", "nodes.json"], 4);
            assert!(text.contains("allows to fit only 2 out of 4 pod(s)"), "{levels:?} {cordoned}: {text}");
        }
    }
}

/// Two pods of an admitted Workload run on the nodes of the dump. Kueue counts them once.
/// Kueue tries Workloads again within 10 s after other pods have released resources (`pod_usage_controller.go`).
#[test]
fn workloads_are_tried_again_when_pods_outside_topology_aware_scheduling_end() {
    let mut outside = jobset(1, "cpu", json!({"spec": {"nodeSelector": {"zone": "a"}}}));
    outside["metadata"] = json!({"name": "o"});
    let required =
        json!({"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": "zone"}}, "spec": {}});
    let mut manifest = queue("cpu", "100", &["zone", "kubernetes.io/hostname"]);
    manifest.push(jobset(3, "cpu", required));
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology:\n  apiVersion: \
                    jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {name: t}\n  pools:\n    - {name: \"n-{node}\", \
                    nodesPerIsland: 3, labels: {zone: a}, allocatable: {cpu: 6}}\njobSets: [{manifest: o.json}, {manifest: \
                    a.yaml, submitAt: 5s}]\ncontainers: [{jobSet: o, runFor: 20s}, {runFor: 1m}]\nstop: {at: 10m}\n";
    let files = [("s.yaml", scenario.to_owned()), ("o.json", outside.to_string()), ("a.yaml", documents(&manifest))];
    let text = output(&files, &["run", "s.yaml", "--trace", "decisions"], 0);
    assert!(text.contains("QuotaReserved=False"), "it waits first: {text}");
    assert!(text.contains("JobSet train: every pod is ready") && !text.contains("BLOCKED"), "{text}");
}

#[test]
fn pods_of_existing_workloads_count_once_at_every_level_of_a_topology() {
    let annotations = json!({"kueue.x-k8s.io/podset-required-topology": POOL});
    let template = json!({"metadata": {"annotations": annotations}});
    for (levels, values) in [(&[POOL][..], vec![json!(["p"])]), (&[HOST][..], vec![json!(["n0"]), json!(["n1"])])] {
        let requests = json!({"requests": {CHIP: 4}});
        let pod = json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": requests}]}});
        let count = 2 / values.len();
        let domains: Vec<Value> = values.into_iter().map(|values| json!({"values": values, "count": count})).collect();
        let assigned = json!({"name": "w", "count": 2, "flavors": {CHIP: "f"}, "resourceUsage": {CHIP: 8},
            "topologyAssignment": {"levels": levels, "domains": domains}});
        let time = "2026-08-22T08:00:00Z";
        let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "x", "message": "", "lastTransitionTime": time});
        let workload = json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
            "metadata": {"name": "other", "namespace": "default", "uid": "u", "creationTimestamp": time},
            "spec": {"queueName": "q", "priority": 0, "active": true, "podSets": [{"name": "w", "count": 2, "template": pod}]},
            "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [assigned]},
                "conditions": [condition("QuotaReserved"), condition("Admitted")]}});
        let running = |i: u32| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("other-{i}"), "namespace": "default",
                "annotations": annotations}, "spec": {"nodeName": format!("n{i}"), "containers": pod["spec"]["containers"]},
                "status": {"phase": "Running"}})
        };
        let nodes = (0..4).map(|i| node(&format!("n{i}"), false, true)).chain((0..2).map(running));
        let dump = json!({"apiVersion": "v1", "kind": "List", "items": nodes.collect::<Vec<_>>()}).to_string();
        let mut template = template.clone();
        template["metadata"]["annotations"] = json!({"kueue.x-k8s.io/podset-required-topology": levels[0]});
        if levels == [HOST] {
            template["metadata"]["annotations"] = json!({"kueue.x-k8s.io/podset-preferred-topology": HOST});
        }
        let objects = [queue(CHIP, "64", levels), vec![workload, jobset(2, CHIP, template)]].concat();
        let files = [("k.yaml", documents(&objects)), ("nodes.json", dump)];
        let text = output(&files, &["admit", "-f", "k.yaml", "-t", "nodes.json"], 0);
        assert!(!text.contains("No pods run on the nodes"), "{levels:?}: {text}");
    }
}

/// A change of a Namespace wakes the Workloads of the ClusterQueues that select it now (`cqNamespaceHandler`).
#[test]
fn labels_of_a_namespace_that_change_during_a_run_select_it() {
    let mut manifest = queue(CHIP, "64", &[]);
    manifest[1]["spec"]["namespaceSelector"] = json!({"matchLabels": {"team": "x"}});
    manifest.push(jobset(2, CHIP, json!({"spec": {}})));
    manifest.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}));
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: s}\ntopology:\n  apiVersion: \
                    jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {name: t}\n  pools:\n    - {name: \"n-{node}\", \
                    nodesPerIsland: 2, allocatable: {cpu: 6, google.com/tpu: 4}}\njobSets: [{manifest: a.yaml}]\n\
                    containers: [{runFor: 1m}]\nstop: {at: 10m, when: Time}\nfaults: [{at: 30s, patch: {kind: Namespace, \
                    name: default, merge: {metadata: {labels: {team: x}}}}}]\n";
    let files = [("s.yaml", scenario.to_owned()), ("a.yaml", documents(&manifest))];
    let text = output(&files, &["run", "s.yaml", "--trace", "decisions"], 0);
    assert!(text.contains("JobSet train: every pod is ready"), "{text}");
}

#[test]
fn labels_of_a_namespace_in_the_manifests_select_it() {
    let mut objects = queue(CHIP, "64", &[]);
    objects[1]["spec"]["namespaceSelector"] = json!({"matchLabels": {"a": "b"}});
    objects.push(jobset(1, CHIP, json!({})));
    let files = [("k.yaml", documents(&objects))];
    let text = output(&files, &["admit", "-f", "k.yaml"], 4);
    assert!(text.contains("doesn't match ClusterQueue selector"), "{text}");
    objects
        .push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"a": "b"}}}));
    output(&[("k.yaml", documents(&objects))], &["admit", "-f", "k.yaml"], 0);
}

/// Outputs are exact, an absent multiplier is one, and a negative output is an allowance.
#[test]
fn transformations_of_resources_count_as_upstream_counts_them() {
    let case = |transformation: Value, quota: &str| {
        let resources = json!({"transformations": [transformation]});
        let configuration = json!({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
            "integrations": {"frameworks": ["jobset.x-k8s.io/jobset"]}, "resources": resources});
        let mut objects = queue("credits", quota, &[]);
        let mut jobset = jobset(2, CHIP, json!({}));
        jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["resources"] =
            json!({"requests": {"memory": "2G", "cpu": 5}});
        objects.extend([configuration, jobset]);
        [("k.yaml", documents(&objects))]
    };
    let outputs = |input: &str, outputs: Value| json!({"input": input, "strategy": "Replace", "outputs": outputs});
    let of = |memory: Value| {
        let mut transformation = outputs("memory", memory);
        transformation["multiplyBy"] = json!("example.com/absent");
        transformation
    };
    // 2 pods of 2 GB at one credit per GB; cpu is excluded.
    for (transformation, quota, code) in [
        (outputs("memory", json!({"credits": "1n"})), "4", 0),
        (outputs("memory", json!({"credits": "1n"})), "3", 4),
        (of(json!({"credits": "1n"})), "4", 0),
        (of(json!({"credits": "1n"})), "3", 4),
        (outputs("memory", json!({"credits": "-1n"})), "0", 0),
    ] {
        let mut files = case(transformation.clone(), quota);
        files[0].1 =
            files[0].1.replace("\"transformations\"", "\"excludeResourcePrefixes\":[\"cpu\"],\"transformations\"");
        output(&files, &["admit", "-f", "k.yaml"], code);
    }
}

#[test]
fn a_pod_template_with_other_values_of_kueue_s_fields_never_starts() {
    for (template, conflict) in [
        (
            json!({"metadata": {"annotations": {"kueue.x-k8s.io/workload": "jobset-train-3f2a1"}}}),
            "conflict for annotations: conflict for key=kueue.x-k8s.io/workload, value1=jobset-train-3f2a1",
        ),
        (
            json!({"metadata": {"labels": {"kueue.x-k8s.io/podset": "driver"}}}),
            "conflict for labels: conflict for key=kueue.x-k8s.io/podset, value1=driver, value2=w",
        ),
    ] {
        let objects = [queue(CHIP, "64", &[]), vec![jobset(2, CHIP, template)]].concat();
        let files = [("k.yaml", documents(&objects))];
        let text = output(&files, &["admit", "-f", "k.yaml"], 4);
        assert!(text.contains(conflict) && text.contains("FailedToStart"), "{text}");
        let text = output(&files, &["run", "-f", "k.yaml"], 0);
        assert!(text.contains("blocked") && text.contains("its Workload has ended (FailedToStart)"), "{text}");
    }
}

/// 17 pods repel each other by a label that Kueue sets; 16 nodes have room.
#[test]
fn pods_have_the_queue_labels_that_kueue_gives_them() {
    for (label, waits) in [("kueue.x-k8s.io/local-queue-name", true), ("kueue.x-k8s.io/queue-name", false)] {
        let term = json!({"topologyKey": HOST, "labelSelector": {"matchLabels": {label: "q"}}});
        let affinity = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
        let mut jobset = jobset(17, "cpu", json!({"spec": {"affinity": affinity}}));
        jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["resources"] =
            json!({"limits": {"cpu": "1"}});
        let objects = [queue("cpu", "64", &[]), vec![jobset]].concat();
        let files = [("k.yaml", documents(&objects))];
        let text = output(&files, &["run", "-f", "k.yaml", "-t", "small-16", "--quiet", "--format", "json"], 0);
        let end = text.split("\"t_s\": ").nth(1).and_then(|rest| rest.split(&[',', ' '][..]).next());
        let end: f64 = end.and_then(|end| end.parse().ok()).unwrap();
        assert_eq!(end > 100.0, waits, "{label}: {end} s");
    }
}

#[test]
fn rules_of_kueue_s_crds_and_configuration_are_those_of_upstream() {
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut objects = queue(CHIP, "64", &[]);
        objects.push(jobset(1, CHIP, json!({})));
        change(&mut objects);
        documents(&objects)
    };
    let add = |objects: &mut Vec<Value>, kind: &str, spec: Value| {
        objects.push(
            json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "co"}, "spec": spec}),
        );
    };
    let configure = |objects: &mut Vec<Value>, version: &str, mut fields: Value| {
        fields["apiVersion"] = json!(format!("config.kueue.x-k8s.io/{version}"));
        fields["kind"] = json!("Configuration");
        objects.push(fields);
    };
    type Change<'a> = Box<dyn Fn(&mut Vec<Value>) + 'a>;
    let set = |at: usize, path: &'static str, value: Value| -> Change<'_> {
        Box::new(move |objects| *objects[at].pointer_mut(path).unwrap() = value.clone())
    };
    let spec = |at: usize, key: &'static str, value: Value| -> Change<'_> {
        Box::new(move |objects| objects[at]["spec"][key] = value.clone())
    };
    let cases: Vec<(Change<'_>, Option<&str>)> = vec![
        (spec(1, "cohortName", json!("")), Some("spec.cohortName: Invalid value: \"\"")),
        (set(2, "/spec/clusterQueue", json!("")), Some("spec.clusterQueue: Invalid value: \"\"")),
        (spec(2, "fairSharing", json!({"weight": 0.5})), Some("must be of type integer,string")),
        (spec(2, "fairSharing", json!({"weight": "-1"})), None),
        (spec(1, "fairSharing", json!({"weight": 0.5})), None),
        (spec(1, "concurrentAdmissionPolicy", json!({"migration": {"mode": "X"}})), Some("Unsupported value: \"X\"")),
        (Box::new(move |o| add(o, "Cohort", json!({"parentName": ""}))), Some("spec.parentName: Invalid value")),
        (
            Box::new(move |o| configure(o, "v1beta2", json!({"waitForPodsReady": {"timeout": "1d"}}))),
            Some("time: unknown unit \"d\" in duration \"1d\""),
        ),
        (
            Box::new(move |o| configure(o, "v1beta2", json!({"integrations": {"podOptions": {}}}))),
            Some("unknown field \"integrations.podOptions\""),
        ),
        (
            Box::new(move |o| configure(o, "v1beta1", json!({"resources": {"quotaCheckStrategy": "BlockUndeclared"}}))),
            Some("unknown field \"resources.quotaCheckStrategy\""),
        ),
        (
            Box::new(move |o| {
                configure(o, "v1beta2", json!({"objectRetentionPolicies": {"workloads": {"afterFinished": "-1h"}}}));
            }),
            Some("must be greater than or equal to 0"),
        ),
        (Box::new(move |o| configure(o, "v1beta1", json!({"fairSharing": {}}))), None),
        (Box::new(move |o| configure(o, "v1beta2", json!({"admissionFairSharing": {}}))), None),
        (
            set(
                3,
                "/spec/replicatedJobs/0/template/spec/template",
                json!({"metadata": {"annotations": {
                    "kueue.x-k8s.io/podset-required-topology": HOST,
                    "kueue.x-k8s.io/podset-slice-required-topology-constraints": "[{\"topology\":\"kubernetes.io/hostname\",\"size\":4.0}]",
                }}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}),
            ),
            Some("cannot unmarshal number 4.0"),
        ),
    ];
    for (change, message) in cases {
        let files = [("k.yaml", with(&*change))];
        let text = output(&files, &["run", "-f", "k.yaml", "--quiet"], if message.is_some() { 2 } else { 0 });
        assert!(message.is_none_or(|message| text.contains(message)), "{message:?}: {text}");
    }
}

#[test]
fn updates_of_kueue_s_objects_keep_what_their_crds_keep() {
    let all = |levels: &[&str]| [queue(CHIP, "64", levels), vec![jobset(1, CHIP, json!({}))]].concat();
    let old = documents(&all(&[POOL]));
    let mut other_queue = all(&[POOL]);
    other_queue[2]["spec"]["clusterQueue"] = json!("cq2");
    let mut other_topology = all(&[POOL]);
    other_topology[0]["spec"]["topologyName"] = json!("t2");
    for (new, message) in [
        (other_queue, Some("spec.clusterQueue: Invalid value: field is immutable")),
        (other_topology, Some("topologyName is immutable when topologyName is set")),
        (all(&["zone", POOL]), Some("levels are mutable only when kubernetes.io/hostname is the lowest level")),
        (all(&[POOL]), None),
    ] {
        let files = [("old.yaml", old.clone()), ("new.yaml", documents(&new))];
        let code = if message.is_some() { 2 } else { 0 };
        let text = output(&files, &["lint", "--update", "old.yaml", "-f", "new.yaml"], code);
        assert!(message.is_none_or(|message| text.contains(message)), "{text}");
    }
}

#[test]
fn workloads_of_v1beta1_and_admissions_without_count_are_read() {
    let time = "2026-08-22T08:00:00Z";
    let condition =
        |kind: &str| json!({"type": kind, "status": "True", "reason": "x", "message": "", "lastTransitionTime": time});
    let requests = json!({"requests": {CHIP: 4}});
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": requests}]}});
    let workload = |version: &str, status: Value| {
        let mut all = json!({"conditions": [condition("QuotaReserved"), condition("Admitted")], "admission": {"clusterQueue":
            "cq", "podSetAssignments": [{"name": "m", "flavors": {CHIP: "f"}, "resourceUsage": {CHIP: 16}}]}});
        status.as_object().unwrap().iter().for_each(|(key, value)| all[key] = value.clone());
        json!({"apiVersion": format!("kueue.x-k8s.io/{version}"), "kind": "Workload",
            "metadata": {"name": "other", "namespace": "default", "uid": "u", "creationTimestamp": time},
            "spec": {"queueName": "q", "priority": 0, "active": true, "maximumExecutionTimeSeconds": 600,
                "podSets": [{"name": "m", "count": 4, "template": pod}]}, "status": all})
    };
    for (version, field) in
        [("v1beta1", "accumulatedPastExexcutionTimeSeconds"), ("v1beta2", "accumulatedPastExecutionTimeSeconds")]
    {
        let existing = workload(version, json!({field: 500}));
        let objects = [queue(CHIP, "16", &[]), vec![existing, jobset(4, CHIP, json!({}))]].concat();
        let files = [("k.yaml", documents(&objects))];
        let text = output(&files, &["run", "-f", "k.yaml", "--quiet", "--format", "json"], 0);
        let summary: Value = serde_json::from_str(&text).unwrap();
        let conditions = summary["jobSets"][0]["conditions"].as_array().unwrap();
        let resumed = conditions.iter().find(|c| c["type"] == "Suspended").unwrap();
        let resumed = resumed["lastTransitionTime_s"].as_f64().unwrap();
        assert!((100.0..101.0).contains(&resumed), "{version}: resumed at {resumed} s");
    }
    // Three of four pods are reclaimed: the fourth holds 4 of 16.
    let existing = workload("v1beta2", json!({"reclaimablePods": [{"name": "m", "count": 3}]}));
    for (pods, code) in [(3, 0), (4, 4)] {
        let objects = [queue(CHIP, "16", &[]), vec![existing.clone(), jobset(pods, CHIP, json!({}))]].concat();
        output(&[("k.yaml", documents(&objects))], &["admit", "-f", "k.yaml"], code);
    }
}

#[test]
fn scalars_and_nulls_of_manifests_are_those_of_kubectl() {
    let manifest = |metadata: &str| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: train, {metadata}}}\nspec: \
             {{replicatedJobs: [{{name: w, template: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: \
             [{{name: c, image: x, args: [null, a], resources: {{requests: {{cpu: null}}}}}}]}}}}}}}}}}]}}\n"
        )
    };
    for (labels, error) in [
        ("labels: {git: 45e7812, team: oN, other: nULL, empty: }", None),
        ("labels: {team: on}", Some("must be a string")),
        ("labels: {build: 1__0}", Some("found the integer 10")),
        ("labels: {build: 685_230.15}", Some("found the number 685230.15")),
    ] {
        let files = [("m.yaml", manifest(labels))];
        for command in ["run", "lint"] {
            let text = output(&files, &[command, "-f", "m.yaml"], if error.is_some() { 2 } else { 0 });
            assert!(error.is_none_or(|error| text.contains(error)), "{labels}: {text}");
        }
    }
}

#[test]
fn objects_that_act_on_pods_are_named_in_every_format() {
    let acting = [
        (json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}), "Pod x: pods that hold"),
        (json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}), "Node x: the node"),
        (
            json!({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "x"}, "spec": {}}),
            "PodGroup x: gang scheduling",
        ),
        (
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                "metadata": {"name": "x"}, "webhooks": []}),
            "MutatingWebhookConfiguration x: changes and refusals",
        ),
        (
            json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "x"}, "spec": {}}),
            "PyTorchJob x: its pods",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default",
                "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}),
            "pod-security.kubernetes.io/enforce (Namespace default)",
        ),
    ];
    for (object, named) in acting {
        let mut jobset = jobset(1, CHIP, json!({}));
        jobset["metadata"]["labels"] = json!({});
        let files = [("m.yaml", documents(&[jobset, object]))];
        for format in ["text", "json", "csv", "md"] {
            let text = output(&files, &["run", "-f", "m.yaml", "--format", format], 0);
            assert!(text.contains(named), "{format}: {text}");
        }
    }
}

/// A cluster keeps the configuration of Kueue's manager in a ConfigMap of its own.
#[test]
fn the_configuration_of_kueue_in_a_configmap_counts_in_whatever_file_it_is() {
    let text =
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [batch/job]}\n";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kueue-manager-config"},
        "data": {"controller_manager_config.yaml": text}});
    let mut all = queue("cpu", "100", &[]);
    all.push(jobset(1, "cpu", json!({})));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [map]});
    for own in [vec![map.clone()], vec![list]] {
        let files = [("map.yaml", documents(&own)), ("all.yaml", documents(&all))];
        let text = output(&files, &["run", "-f", "map.yaml", "-f", "all.yaml"], 0);
        assert!(text.contains("ignores JobSets: integrations.frameworks"), "{text}");
    }
    // JobSet's manager has a ConfigMap with the same key.
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "jobset-manager-config"},
        "data": {"controller_manager_config.yaml": "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n"}});
    let files = [("map.yaml", documents(&[other])), ("all.yaml", documents(&all))];
    let text = output(&files, &["run", "-f", "map.yaml", "-f", "all.yaml"], 0);
    assert!(text.contains("Admission by Kueue"), "{text}");
}

/// Kueue replaces the Workload of a JobSet that no longer has its pod counts or, before the admission, its tolerations
/// (`EquivalentToWorkload`); it stops a running JobSet first.
#[test]
fn a_jobset_that_differs_from_its_workload_gets_another_one() {
    let scenario = |action: &str, more: &str| {
        format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: s}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n    - {{name: \"n-{{node}}\", \
             nodesPerIsland: 4, allocatable: {{cpu: 8}}}}\njobSets: [{{manifest: a.yaml}}]\nfaults: [{{at: 30s, patch: {{kind: \
             JobSet, name: train, merge: {action}}}}}]\ncontainers: [{{runFor: 5m}}]\nstop: {{at: 3m, when: Time}}\n{more}\n"
        )
    };
    let with = |pods: u32, change: Value| {
        let mut own = jobset(pods, "cpu", change);
        own["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] = json!("Indexed");
        let jobs = own["spec"]["replicatedJobs"].take();
        json!({"spec": {"replicatedJobs": jobs}}).to_string()
    };
    let tolerating = || json!({"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}});
    let elastic = "controlPlane: {featureGates: {ElasticJobSet: true}}";
    let checked = "admissionChecks: [{name: c, after: 60s}]";
    // A running JobSet has what Kueue added to its template.
    let running = json!({"metadata": {"annotations": {"kueue.x-k8s.io/workload": "jobset-train-9e21d"},
        "labels": {"kueue.x-k8s.io/cluster-queue-name": "cq", "kueue.x-k8s.io/local-queue-name": "q",
            "kueue.x-k8s.io/podset": "w"}}});
    let replaced = "Deleted not matching Workload: default/jobset-train";
    let stopped = "No matching Workload; restoring pod templates according to existent Workload";
    let label = json!({"metadata": {"labels": {"x": "y"}}}).to_string();
    // Whether the Workload is replaced, and the JobSet is stopped for it.
    let rows = [
        ("more pods while a check is pending", with(3, json!({})), [elastic, checked].join("\n"), (true, false)),
        ("tolerations while a check is pending", with(2, tolerating()), checked.to_owned(), (true, false)),
        ("more pods while it runs", with(3, running), elastic.to_owned(), (true, true)),
        ("a label", label, checked.to_owned(), (false, false)),
    ];
    for (what, action, more, expected) in rows {
        let mut objects = queue("cpu", "100", &[]);
        if more.contains("admissionChecks") {
            objects[1]["spec"]["admissionChecksStrategy"] = json!({"admissionChecks": [{"name": "c"}]});
            objects.push(json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
                "metadata": {"name": "c"}, "spec": {"controllerName": "example.com/c"}}));
        }
        objects.push(jobset(2, "cpu", json!({})));
        let files = [("s.yaml", scenario(&action, &more)), ("a.yaml", documents(&objects))];
        let text = output(&files, &["run", "s.yaml", "--out", "o"], 0);
        assert_eq!((text.contains(replaced), text.contains(stopped)), expected, "{what}: {text}");
        assert!(!text.contains("BLOCKED"), "{what}: {text}");
    }
}
