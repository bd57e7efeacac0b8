//! During a run, objects are rejected as by the API server, with upstream's Event and without any further effect.

use crate::regressions::{POD, count, workers};
use crate::support;
use sim_engine::record::*;

/// The result of a run with one JobSet on ten nodes.
struct Told {
    outcome: RunOutcome,
    records: Vec<SimulationRecord>,
    /// `reason: message` of each Event, and the reasons of rejected pods.
    events: Vec<String>,
}

fn play(objects: &str, jobset: &str) -> Told {
    try_play(objects, jobset).unwrap_or_else(|e| panic!("{e}"))
}

fn try_play(objects: &str, jobset: &str) -> Result<Told, String> {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools:\n    \
         - name: node-{{node:03}}\n      nodesPerIsland: 10\n      accelerator: example.com/accelerator\n      \
         allocatable: {{cpu: 8, memory: 1Gi, example.com/accelerator: 4}}\njobSets: [{{manifest: jobset.yaml}}]\n{objects}\n\
         stop: {{at: 2m}}\nseed: 1\n"
    );
    let jobset = format!("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n{jobset}");
    let scenario = support::parse(&scenario, &jobset)?;
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut keep = KeepSink::default();
    let outcome = simulation.run(1, 0, &mut keep);
    let names = simulation.names();
    let output = |r: &SimulationRecord| match r.body {
        Body::KubeEvent { reason, message, .. } => Some(format!("{}: {}", names.text(reason), names.text(message))),
        Body::PodCreateRejected { reason, .. } => Some(names.text(reason).to_owned()),
        _ => None,
    };
    let events = keep.0.iter().filter_map(output).collect();
    Ok(Told { outcome, records: keep.0, events })
}

fn jobset(rest: &str, pod: &str) -> String {
    let jobs = workers(1, 2, "backoffLimit: 0", &format!("{pod}\n              containers: [{POD}]"));
    let later = jobs.replace("name: w\n", "name: v\n");
    format!("metadata: {{name: js}}\nspec:\n{rest}  replicatedJobs:\n{jobs}{later}")
}

fn pods(text: &Told) -> usize {
    count(&text.records, |b| matches!(b, Body::PodCreated { .. }))
}

#[test]
fn a_claim_that_is_rejected_keeps_every_job_from_being_created() {
    let claims = "  volumeClaimPolicies: [{templates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]}]\n";
    let mount = "volumes: []".to_owned();
    let text =
        jobset(claims, &mount).replace("image: \"x:1\"", "image: \"x:1\", volumeMounts: [{name: data, mountPath: /d}]");
    let output = play("", &text);
    let jobs = count(&output.records, |b| matches!(b, Body::JobCreated { .. }));
    assert_eq!(jobs, 0);
    let expected = "PVCCreationFailed: PersistentVolumeClaim \"data-js\" is invalid: spec.accessModes: Required value: \
                    at least 1 access mode is required";
    let printed = output.events.iter().filter(|e| *e == expected).count();
    assert!(printed > 2, "the Event is repeated in each pass: {:?}", output.events);
    let stuck = output.outcome.blocked.join("\n");
    assert!(stuck.contains("spec.accessModes: Required value"), "{stuck}");
}

#[test]
fn a_service_that_is_rejected_keeps_every_job_from_being_created() {
    // The name is the value of the Service's selector, and the name of a JobSet without Jobs may be longer than a
    // label value.
    let name = "j".repeat(64);
    let text = play("", &format!("metadata: {{name: {name}}}\nspec: {{replicatedJobs: []}}\n"));
    let start = format!("HeadlessServiceCreationFailed: Service \"{name}\" is invalid: [metadata.name: Invalid value");
    assert!(text.events.iter().any(|e| e.starts_with(&start)), "{:?}", text.events);
}

/// The messages are those of the recording `cluster/cu-negative-priority`.
#[test]
fn a_negative_priority_becomes_a_label_that_the_api_server_rejects_for_every_pod() {
    let class =
        "objects:\n  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: -10}";
    let text = play(class, &jobset("", "priorityClassName: low"));
    assert_eq!(pods(&text), 0);
    let expected = "Error creating: Pod \"js-w-0-0-x7k2p\" is invalid: metadata.labels: Invalid value: \"-10\": a valid label must be";
    assert!(
        text.events[0].starts_with(expected) || text.events.iter().any(|e| e.starts_with(expected)),
        "{:?}",
        text.events
    );
    let stuck = text.outcome.blocked.join("\n");
    assert!(stuck.contains("all pods of Job js-w-0 are refused"), "{stuck}");
    let other = play(class, &jobset("", ""));
    assert_eq!(pods(&other), 4, "{:?}", other.events);
}

/// The cause of the rejection is gone. Once leaders are bound, the pod webhook alone decides whether followers are
/// created (EXC-9).
#[test]
fn followers_come_when_the_class_whose_label_was_refused_is_deleted() {
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, globalDefault: true, value: -10}";
    let deleted = "faults: [{at: 4s, delete: {kind: PriorityClass, name: low}}]";
    let jobset = jobset("", "").replacen(
        "metadata: {name: js}",
        "metadata: {name: js, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}}",
        1,
    );
    let text = play(&format!("objects: [{class}]\n{deleted}"), &jobset);
    let ready = count(&text.records, |b| matches!(b, Body::PodReady { .. }));
    assert_eq!((pods(&text), ready), (4, 2), "{:?}", text.events);
    let label = |e: &String| e.contains("metadata.labels: Invalid value: \"-10\"");
    assert!(text.events.iter().any(label), "{:?}", text.events);
}

/// `ValidatePodCreate`: a Job may have such a template, but no pod of it exists.
#[test]
fn pods_with_a_node_name_and_gates_are_refused() {
    for (fields, is_refused) in [
        ("nodeName: node-000\n              schedulingGates: [{name: a.com/x}]", true),
        ("nodeName: node-000\n              schedulingGates: []", false),
        ("schedulingGates: [{name: a.com/x}]", false),
    ] {
        let text = play("", &jobset("", fields));
        assert_eq!(pods(&text) == 0, is_refused, "{fields}: {:?}", text.events);
        let words = "is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared";
        let refusal = |e: &String| e.starts_with("Error creating: Pod \"js-w-0-0-") && e.contains(words);
        assert_eq!(text.events.iter().any(refusal), is_refused, "{fields}: {:?}", text.events);
        let blocked = text.outcome.blocked.join("\n");
        let all = "all pods of Job js-v-0 are refused";
        let of_first = "all pods of Job js-w-0 are refused";
        assert_eq!(blocked.contains(all) || blocked.contains(of_first), is_refused, "{fields}: {blocked}");
    }
}

#[test]
fn a_priority_without_its_class_is_forbidden() {
    let text = play("", &jobset("", "priority: 7"));
    assert_eq!(pods(&text), 0);
    let expected = "Error creating: pods \"js-w-0-0-\" is forbidden: the integer value of priority (7) must not be provided in pod spec";
    assert!(text.events.iter().any(|e| e.starts_with(expected)), "{:?}", text.events);
    // Without a definition of the class, it is assumed to exist with the value in the pod spec.
    assert_eq!(pods(&play("", &jobset("", "priorityClassName: some\n              priority: 7"))), 4);
}

/// `admitPod` of `plugin/pkg/admission/priority/admission.go`.
#[test]
fn a_preemption_policy_that_differs_from_that_of_the_class_is_forbidden() {
    let class = |rest: &str| {
        let kind = "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass";
        format!("objects: [{{{kind}, metadata: {{name: high}}, value: 10{rest}}}]")
    };
    let named = |policy: &str| format!("priorityClassName: high\n              preemptionPolicy: {policy}");
    let (never, preempts) = ("preemptionPolicy: Never", "PreemptLowerPriority");
    for (objects, pod, computed) in [
        (class(""), named("Never"), Some(preempts)),
        (class(""), named(preempts), None),
        (class(", preemptionPolicy: Never"), named(preempts), Some("Never")),
        (class(", preemptionPolicy: Never"), named("Never"), None),
        (class(", globalDefault: true"), never.to_owned(), Some(preempts)),
        (class(", globalDefault: true, preemptionPolicy: Never"), never.to_owned(), None),
        (String::new(), never.to_owned(), Some(preempts)),
        // Without a definition of the class, it is assumed to have the policy in the pod spec.
        (String::new(), named("Never"), None),
    ] {
        let text = play(&objects, &jobset("", &pod));
        assert_eq!(pods(&text), if computed.is_some() { 0 } else { 4 }, "{objects} {pod}: {:?}", text.events);
        let words = computed.map(|computed| {
            format!(
                ") must not be provided in pod spec; priority admission controller computed {computed} from the given"
            )
        });
        let has = |words: &String| text.events.iter().any(|e| e.contains(words));
        assert!(words.as_ref().is_none_or(has), "{objects} {pod}: {:?}", text.events);
    }
}

#[test]
fn a_request_that_no_pod_may_have_is_rejected_with_the_job() {
    let text = play("", &jobset("", "").replacen("accelerator: 4}", "accelerator: 4, cpu: -1}", 1));
    assert_eq!(pods(&text), 0, "{:?}", text.events);
    let words = "Invalid value: \"-1\": must be greater than or equal to 0";
    assert!(text.events.iter().any(|e| e.starts_with("JobCreationFailed") && e.contains(words)), "{:?}", text.events);
}

#[test]
fn a_suspended_jobset_may_select_what_only_a_resume_makes_right() {
    let pod = "nodeSelector: {unused: has-it}";
    let text = play("", &jobset("  suspend: true\n", pod));
    assert_eq!(pods(&text), 0);
    let refused = try_play("", &jobset("", pod)).err();
    let words = "no node has the label \"unused\"";
    assert!(refused.is_some_and(|e| e.contains(words)));
}

#[test]
fn quantities_in_every_notation_of_kubernetes_are_read() {
    for amount in ["129e6", "\"129e6\"", "1.29E8", "129M", "0.129G"] {
        let text = jobset("", "").replace("accelerator: 4}", &format!("accelerator: 4, memory: {amount}}}"));
        let output = play("", &text);
        assert_eq!(pods(&output), 4, "{amount}: {:?}", output.events);
    }
}

/// The admission plugin Priority looks the class up at each POST of a pod.
#[test]
fn after_the_deletion_of_a_priority_class_its_pods_are_rejected() {
    let class = |name: &str| {
        format!("{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: 1}}")
    };
    let rest = format!(
        "objects: [{}, {}]\nfaults:\n  - {{at: 10s, delete: {{kind: PriorityClass, name: small}}}}\n  - {{at: 20s, \
         containerExit: {{pod: js-w-0-0, exitCode: 1}}}}\n",
        class("small"),
        class("other")
    );
    let text = play(&rest, &jobset("  failurePolicy: {maxRestarts: 1}\n", "priorityClassName: small"));
    assert_eq!(pods(&text), 4, "only the pods of the first attempt are created");
    let rejected = "no PriorityClass with name small was found";
    assert!(text.events.iter().any(|e| e.contains(rejected)), "{:?}", text.events);
    assert!(text.outcome.blocked.join("\n").contains(rejected), "{:?}", text.outcome.blocked);
}

/// See `pkg/apis/policy/validation/validation.go`, and `types.go` of `scheduling/v1alpha2` for PodGroups.
#[test]
fn budgets_and_pod_groups_that_the_api_server_refuses_are_errors() {
    let budget = |spec: &str| {
        format!(
            "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: b, namespace: default}}, spec: {spec}}}"
        )
    };
    let group = |spec: &str| {
        format!(
            "{{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {{name: g, namespace: default}}, spec: {spec}}}"
        )
    };
    let gang = |rest: &str| group(&format!("{{schedulingPolicy: {{gang: {{minCount: 2}}}}, {rest}}}"));
    let percent = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%', \
                   regex used for validation is '[0-9]+%')";
    let of_text = |field: &str, value: &str, detail: &str| format!("spec.{field}: Invalid value: {value:?}: {detail}");
    let cases: Vec<(String, Option<String>)> = [
        (budget("{minAvailable: 1}"), None),
        (budget("{minAvailable: 0, selector: {}}"), None),
        (budget("{maxUnavailable: '100%', selector: {matchLabels: {a: b}}}"), None),
        (budget("{selector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}}"), None),
        (budget("{selector: {matchLables: {a: b}}}"), Some("unknown field \"matchLables\"".to_owned())),
        (budget("{selector: {matchLabels: {a: 1}}}"), Some("must be a string".to_owned())),
        (
            budget("{selector: {matchLabels: {a b: c}}}"),
            Some("spec.selector.matchLabels: Invalid value: \"a b\": ".to_owned()),
        ),
        (
            budget("{selector: {matchExpressions: [{key: a, operator: Foo}]}}"),
            Some(of_text("selector.matchExpressions[0].operator", "Foo", "not a valid selector operator")),
        ),
        (
            budget("{selector: {matchExpressions: [{key: a, operator: In}]}}"),
            Some("must be specified when `operator` is 'In' or 'NotIn'".to_owned()),
        ),
        (budget("{minAvailable: foo}"), Some(of_text("minAvailable", "foo", percent))),
        (budget("{minAvailable: '4'}"), Some(of_text("minAvailable", "4", percent))),
        (budget("{maxUnavailable: '-1%'}"), Some(of_text("maxUnavailable", "-1%", percent))),
        (budget("{minAvailable: '150%'}"), Some(of_text("minAvailable", "150%", "must not be greater than 100%"))),
        (budget("{maxUnavailable: -1}"), Some("must be greater than or equal to 0".to_owned())),
        (
            budget("{minAvailable: 1.5}"),
            Some("json: cannot unmarshal number 1.5 into Go value of type int32".to_owned()),
        ),
        (budget("{minAvailable: true}"), Some("json: cannot unmarshal bool into Go value of type int32".to_owned())),
        (budget("{minAvailable: 1, maxUnavailable: 1}"), Some("cannot be both set".to_owned())),
        (group("{schedulingPolicy: {basic: {}}}"), None),
        (gang("schedulingConstraints: {topology: [{key: rack}]}"), None),
        (group("{schedulingPolicy: {}}"), Some("must specify one of: `basic`, `gang`".to_owned())),
        (
            group("{schedulingPolicy: {basic: {}, gang: {minCount: 2}}}"),
            Some("exactly one of `basic`, `gang` is required, but multiple fields are set".to_owned()),
        ),
        (group("{schedulingPolicy: {basic: {x: 1}}}"), Some("unknown field \"x\"".to_owned())),
        (
            group("{schedulingPolicy: {gang: {minCount: 0}}}"),
            Some("spec.schedulingPolicy.gang.minCount: Required value".to_owned()),
        ),
        (
            group("{schedulingPolicy: {gang: {minCount: -1}}}"),
            Some("minCount: Invalid value: -1: must be greater than or equal to 1".to_owned()),
        ),
        (
            gang("schedulingConstraints: {topology: [{key: a}, {key: b}]}"),
            Some("spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item".to_owned()),
        ),
        (
            gang("schedulingConstraints: {topology: [{key: a b}]}"),
            Some("spec.schedulingConstraints.topology[0].key: Invalid value: \"a b\"".to_owned()),
        ),
        (
            gang("podGroupTemplateRef: {}"),
            Some("spec.podGroupTemplateRef: Invalid value: \"\": must specify one of: `workload`".to_owned()),
        ),
    ]
    .into();
    for (object, expected) in cases {
        let text = jobset("", "volumes: []");
        let error = try_play(&format!("objects: [{object}]"), &text).err().map(|error| flat(&error));
        match expected {
            None => assert_eq!(error, None, "{object}"),
            Some(expected) => {
                assert!(error.as_ref().is_some_and(|e| e.contains(&expected)), "{object}: {expected}: {error:?}");
            }
        }
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
