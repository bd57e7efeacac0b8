//! Generates Job templates and their pods.

use super::draw::{Draw, set};
use super::jobset::{JobSet, RACK};
use serde_json::{Value, json};

/// Parallelism and completions; `None` for pods without an index.
pub type Size = (u32, Option<u32>);

/// Draws the Job spec of a JobSet.
pub fn draw(d: &mut Draw, js: &mut JobSet) -> (Size, Value) {
    let mut spec = json!({});
    let size = size(d, js, &mut spec);
    if js.in_place {
        spec["backoffLimit"] = json!(i32::MAX);
        spec["podReplacementPolicy"] = json!("Failed");
    } else {
        if !d.one_in(4) {
            let limit = d.pick(&[0, 0, 0, 1, 3]);
            spec["backoffLimit"] = json!(if d.rare(10) { i32::MAX } else { limit });
        }
        if d.one_in(4) {
            spec["podReplacementPolicy"] = json!("Failed");
        }
    }
    if d.one_in(10) {
        let deadline = u64::from(d.between(20, 900));
        let extreme = d.pick(&[0, 1, 1 << 40]);
        let deadline = if d.rare(4) { extreme } else { deadline };
        js.hurried |= deadline <= 1;
        spec["activeDeadlineSeconds"] = json!(deadline);
        js.may_go_on = true;
    }
    let per_index = size.1.is_some() && !js.in_place && indexes(d, js, size.1.unwrap_or(0), &mut spec);
    let on_failure = !js.in_place && !per_index && d.one_in(5);
    let policy = !js.in_place && !on_failure && d.one_in(6);
    if d.rare(10) {
        spec["ttlSecondsAfterFinished"] = json!(d.pick(&[0, 1, 60]));
    }
    if d.rare(16) {
        let manager = d.pick(&["example.com/other", "kubernetes.io/job-controller"]);
        spec["managedBy"] = json!(manager);
    }
    spec["template"] = pod_template(d, js, on_failure);
    if policy {
        pod_failure_policy(d, per_index, &mut spec);
        js.may_go_on = true;
    } else if !js.in_place && d.rare(12) {
        spec["podReplacementPolicy"] = json!("TerminatingOrFailed");
    }
    (size, spec)
}

fn size(d: &mut Draw, js: &mut JobSet, spec: &mut Value) -> Size {
    let pods = d.between(1, if d.is_combined { 3 } else { 6 });
    let more = pods + d.between(1, 3);
    if js.in_place {
        spec["parallelism"] = json!(pods);
        spec["completions"] = json!(pods);
        return (pods, Some(pods));
    }
    if d.rare(6) {
        return unusual_size(d, pods, spec);
    }
    let completions = if d.one_in(8) { more } else { pods };
    spec["parallelism"] = json!(pods);
    spec["completions"] = json!(completions);
    (pods, Some(completions))
}

fn unusual_size(d: &mut Draw, pods: u32, spec: &mut Value) -> Size {
    let mode = |spec: &mut Value| spec["completionMode"] = json!("NonIndexed");
    match d.below(7) {
        // A work queue: completions are not set.
        0 => {
            mode(spec);
            spec["parallelism"] = json!(pods);
            (pods, None)
        }
        1 | 2 => {
            mode(spec);
            spec["parallelism"] = json!(pods);
            spec["completions"] = json!(d.between(1, 8));
            (pods, None)
        }
        3 => {
            spec["parallelism"] = json!(0);
            spec["completions"] = json!(pods);
            (0, Some(pods))
        }
        4 => {
            spec["parallelism"] = json!(pods + 2);
            spec["completions"] = json!(pods);
            (pods + 2, Some(pods))
        }
        5 => {
            spec["completionMode"] = json!("Indexed");
            spec["parallelism"] = json!(pods);
            spec["completions"] = json!(d.pick(&[0, 500]));
            (pods, spec["completions"].as_u64().map(|n| n as u32))
        }
        // parallelism and completions default to 1. In a JobSet the Job is Indexed, which requires completions.
        _ => {
            spec["completions"] = json!(1);
            (1, Some(1))
        }
    }
}

/// Draws settings that require completion indexes: the backoff limit per index, and the success policy.
fn indexes(d: &mut Draw, js: &mut JobSet, count: u32, spec: &mut Value) -> bool {
    match d.below(12) {
        0 => {
            spec["backoffLimitPerIndex"] = json!(d.between(0, 2));
            if d.one_in(2) {
                let most = if d.rare(2) { d.below(count + 1) } else { 0 };
                spec["maxFailedIndexes"] = json!(most);
            }
            js.may_go_on = true;
            js.may_wait = true;
            true
        }
        1 if count > 0 => {
            let rule = match d.rare(2) {
                false => json!({"succeededCount": 1}),
                true if count > 1 && d.one_in(2) => {
                    json!({"succeededIndexes": format!("0-{}", count - 1)})
                }
                true => json!({"succeededIndexes": "0", "succeededCount": 1}),
            };
            set(spec, "successPolicy.rules", json!([rule]));
            false
        }
        _ => false,
    }
}

fn pod_failure_policy(d: &mut Draw, per_index: bool, spec: &mut Value) {
    let rules = (0..if d.wild { d.between(1, 3) } else { 1 }).map(|_| {
        let action = if per_index {
            d.pick(&["FailIndex", "FailJob", "Ignore", "Count"])
        } else {
            d.pick(&["FailJob", "Ignore", "Count"])
        };
        let mut rule = json!({"action": action});
        if d.one_in(2) {
            let mut pattern = json!({"type": "DisruptionTarget", "status": "True"});
            if d.rare(4) {
                pattern = json!({"type": d.pick(&["Ready", "PodScheduled", "DisruptionTarget"]),
                    "status": d.pick(&["False", "Unknown", "True"])});
            }
            rule["onPodConditions"] = json!([pattern]);
        } else {
            rule["onExitCodes"] = json!({"operator": "In", "values": [1, 143, 255]});
            if d.rare(3) {
                rule["onExitCodes"] = json!({"operator": "NotIn", "values": [0, 3]});
            }
            if d.rare(3) {
                rule["onExitCodes"]["containerName"] = json!("w");
            }
        }
        rule
    });
    let rules: Vec<Value> = rules.collect();
    set(spec, "podFailurePolicy.rules", rules);
}

/// Adds a term about other pods, or preferred nodes.
pub fn terms(d: &mut Draw, pod: &mut Value) {
    let key = d.pick(&[RACK, "kubernetes.io/hostname"]);
    let selector = json!({"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]});
    let term = json!({"topologyKey": key, "labelSelector": selector});
    let (required, preferred) =
        ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution");
    match d.below(4) {
        0 => set(pod, &format!("affinity.podAntiAffinity.{required}"), vec![term]),
        1 => set(pod, &format!("affinity.podAffinity.{required}"), vec![term]),
        2 => {
            let nodes = json!({"matchExpressions": [{"key": RACK, "operator": "In", "values": ["rack-0"]}]});
            set(pod, &format!("affinity.nodeAffinity.{preferred}"), vec![json!({"weight": 5, "preference": nodes})]);
        }
        _ => {
            let when = d.pick(&["DoNotSchedule", "ScheduleAnyway"]);
            pod["topologySpreadConstraints"] =
                json!([{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}]);
        }
    }
}

pub fn pod_template(d: &mut Draw, js: &JobSet, on_failure: bool) -> Value {
    let mut pod = json!({});
    if !(on_failure && d.rare(4)) {
        pod["restartPolicy"] = json!(if on_failure { "OnFailure" } else { "Never" });
    }
    let grace = d.pick(&[0, 1, 30]);
    let extreme = d.pick(&[300, 3600, i32::MAX]);
    pod["terminationGracePeriodSeconds"] = json!(if d.rare(10) { extreme } else { grace });
    if d.one_in(6) {
        pod["tolerations"] = json!([toleration(d)]);
    }
    if d.rare(16) {
        pod["nodeSelector"] = match d.below(3) {
            0 => json!({RACK: "rack-0"}),
            1 => json!({"topology.kubernetes.io/zone": "zone-a"}),
            _ => json!({"kubernetes.io/hostname": "node-000"}),
        };
    }
    if d.rare(16) {
        let terms: Vec<Value> = (0..d.between(1, 2)).map(|_| node_term(d)).collect();
        set(&mut pod, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", terms);
    }
    if d.rare(16) {
        pod["schedulingGates"] = json!([{"name": "example.com/gate"}]);
    }
    if d.rare(20) {
        pod["priority"] = json!(d.pick(&[0, 100, -1]));
    }
    if d.rare(20) {
        pod["preemptionPolicy"] = json!("PreemptLowerPriority");
        pod["schedulerName"] = json!("default-scheduler");
    }
    if d.rare(24) {
        terms(d, &mut pod);
    }
    if d.rare(30) {
        pod["resources"] = json!({"requests": {"cpu": "1"}});
        pod["overhead"] = json!({"cpu": "100m"});
    }
    let accelerators = d.pick(&[4, 2]);
    let image = d.pick(&["x:1", "x"]);
    let mut worker = json!({"name": "w", "image": image,
        "resources": {"limits": {"example.com/accelerator": accelerators}}});
    if d.rare(8) {
        worker["imagePullPolicy"] = json!(d.pick(&["Always", "IfNotPresent", "Never"]));
        worker["resources"]["requests"] = json!({"cpu": "500m"});
    }
    if d.rare(30) {
        pod["hostNetwork"] = json!(true);
        worker["ports"] = json!([{"containerPort": 8471}]);
    }
    if d.rare(12) {
        let initial = d.pick(&[0, 5, 60]);
        worker["readinessProbe"] = json!({"tcpSocket": {"port": 80}, "initialDelaySeconds": initial,
            "periodSeconds": d.pick(&[1, 10]), "successThreshold": d.pick(&[1, 3])});
    }
    if js.in_place {
        in_place(d, &mut pod, &mut worker);
    } else {
        init_containers(d, &mut pod);
        restart_rules(d, &mut worker);
    }
    let mut containers = vec![worker];
    for k in 0..d.below(3) {
        if d.one_in(3) {
            let mut side = json!({"name": format!("side{k}"), "image": "y:1"});
            restart_rules(d, &mut side);
            containers.push(side);
        }
    }
    pod["containers"] = containers.into();
    let mut template = json!({"spec": pod});
    if d.one_in(8) {
        template["metadata"] = json!({"labels": {"app": "x"}, "annotations": {"note": "y"}});
    }
    if d.rare(10) {
        template["metadata"]["finalizers"] = json!(["example.com/hold"]);
    }
    template
}

/// Draws a node affinity term: often of existing nodes, sometimes of none, rarely an invalid one.
fn node_term(d: &mut Draw) -> Value {
    let racks = json!(["rack-0", "rack-1"]);
    let expression = match d.below(8) {
        0 | 1 => json!({"key": RACK, "operator": "In", "values": racks}),
        2 => json!({"key": RACK, "operator": "NotIn", "values": ["rack-1", "rack-new"]}),
        3 => json!({"key": RACK, "operator": "Exists"}),
        4 => json!({"key": "example.com/broken", "operator": "DoesNotExist"}),
        5 => {
            json!({"key": "example.com/level", "operator": d.pick(&["Gt", "Lt"]), "values": ["5"]})
        }
        6 if d.wild => json!({"key": RACK, "operator": "Like", "values": racks}),
        _ => json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}),
    };
    let field = json!({"key": "metadata.name", "operator": d.pick(&["In", "NotIn"]),
        "values": ["node-000"]});
    match d.below(4) {
        0 => json!({"matchFields": [field]}),
        1 => json!({"matchExpressions": [expression], "matchFields": [field]}),
        _ => json!({"matchExpressions": [expression]}),
    }
}

pub fn toleration(d: &mut Draw) -> Value {
    let usual = json!({"key": "example.com/broken", "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": 20});
    if !d.wild {
        return usual;
    }
    match d.below(7) {
        0 => json!({"operator": "Exists"}),
        1 => {
            json!({"key": "example.com/broken", "operator": "Equal", "value": "v", "effect": "NoSchedule"})
        }
        2 => {
            json!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": d.pick(&[0, 5, -5, i64::MAX])})
        }
        3 => {
            json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"})
        }
        4 => json!({"key": "example.com/broken", "effect": "PreferNoSchedule"}),
        // The API server rejects it in a Job (TaintTolerationComparisonOperators is off).
        5 => json!({"key": "example.com/level", "operator": d.pick(&["Lt", "Gt"]), "value": "5"}),
        _ => usual,
    }
}

fn init_containers(d: &mut Draw, pod: &mut Value) {
    let mut inits = Vec::new();
    if d.rare(6) {
        inits.push(json!({"name": "prepare", "image": "x:1"}));
    }
    if d.rare(5) {
        let mut sidecar = json!({"name": "sidecar", "image": "x:1", "restartPolicy": "Always"});
        if d.one_in(2) {
            sidecar["startupProbe"] = json!({"httpGet": {"path": "/", "port": 80}, "periodSeconds": d.pick(&[1, 10])});
        }
        inits.push(sidecar);
    }
    if !inits.is_empty() {
        pod["initContainers"] = inits.into();
    }
}

const NOT_ZERO: &str = "NotIn";

/// Draws restartPolicy and restart rules of a container.
fn restart_rules(d: &mut Draw, container: &mut Value) {
    if !d.rare(12) {
        return;
    }
    container["restartPolicy"] = json!(d.pick(&["Never", "OnFailure", "Always"]));
    let action = d.pick(&["Restart", "RestartAllContainers"]);
    let (operator, values) = d.pick(&[(NOT_ZERO, vec![0]), ("In", vec![1, 3])]);
    if d.one_in(2) {
        container["restartPolicyRules"] =
            json!([{"action": action, "exitCodes": {"operator": operator, "values": values}}]);
    }
}

/// Adds an in-place restart agent: as a sidecar of the worker, or as the parent process of the worker.
fn in_place(d: &mut Draw, pod: &mut Value, worker: &mut Value) {
    let all = json!([{"action": "RestartAllContainers", "exitCodes": {"operator": NOT_ZERO, "values": [0]}}]);
    let mut env = vec![json!({"name": "JOBSET_NAME", "value": "js"}), json!({"name": "POD_NAME", "value": "pod"})];
    worker["restartPolicy"] = json!("Never");
    if d.one_in(2) {
        pod["initContainers"] = json!([{"name": "agent", "image": "x:1", "restartPolicy": "Always",
            "restartPolicyRules": all, "env": env,
            "startupProbe": {"httpGet": {"path": "/barrier-is-down", "port": 8081},
                "periodSeconds": d.pick(&[1, 10])}}]);
        worker["restartPolicyRules"] = all;
    } else {
        env.push(json!({"name": "WORKER_COMMAND", "value": "z"}));
        if d.rare(3) {
            let code = d.pick(&["1", "3", "0", "256", "x"]);
            env.push(json!({"name": "IN_PLACE_RESTART_EXIT_CODE", "value": code}));
        }
        worker["image"] = json!("x:1");
        worker["env"] = env.into();
        worker["restartPolicyRules"] =
            json!([{"action": "Restart", "exitCodes": {"operator": NOT_ZERO, "values": [0]}}]);
    }
}
