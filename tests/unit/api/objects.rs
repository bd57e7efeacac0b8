//! Child objects, one rule at a time: rejections and their messages, the fields of followers, the merge at a resume.
//!
//! Must never repeat what the recordings cover as a whole.

mod any_kind;
mod pod_spec;
mod sha1;

use serde_json::{Value, json};
use sim_api::admission::merge_patch;
use sim_api::objects::change::merge_template_on_resume;
use sim_api::objects::context::ObjectContext;
use sim_api::objects::job::{JobSlot, job_of_slot};
use sim_api::objects::pod::{admit_pod, pod_of_index};
use sim_api::objects::*;
/// Returns a stored JobSet with one replicatedJob, whose Job template is changed by a merge patch.
fn jobset(change: &Value) -> Value {
    let mut template = json!({
        "metadata": {},
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "completionMode": "Indexed",
            "template": {"metadata": {}, "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "train:1", "resources": {}}],
            }},
        },
    });
    merge_patch(&mut template, change);
    json!({
        "metadata": {"name": "js", "namespace": "ns"},
        "spec": {
            "network": {"enableDNSHostnames": true},
            "replicatedJobs": [
                {"name": "w", "groupName": "default", "replicas": 1, "template": template},
            ],
        },
    })
}

fn slot(jobset: &Value) -> JobSlot<'_> {
    JobSlot { jobset, replicated_job: 0, index: 0, restarts: 0, job_restarts: None, global_indexes: None }
}

fn refusal(change: &Value) -> String {
    let jobset = jobset(change);
    match admit_unprivileged_job(&job_of_slot(&slot(&jobset))) {
        Ok(_) => "stored".to_owned(),
        Err(refused) => {
            let start = "Job.batch \"js-w-0\" is invalid: ";
            refused.message.trim_start_matches(start).to_owned()
        }
    }
}

fn pod_spec(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

fn container(more: Value) -> Value {
    let mut container = json!({"name": "main", "image": "train:1"});
    merge_patch(&mut container, &more);
    pod_spec(json!({"containers": [container]}))
}

#[test]
fn a_good_template_is_stored() {
    assert_eq!(refusal(&json!({})), "stored");
}

#[test]
fn sizes_limits_and_policies_of_a_job_are_checked() {
    let spec = |spec: Value| json!({"spec": spec});
    let rules = |rule: Value| spec(json!({"podFailurePolicy": {"rules": [rule]}}));
    for (name, change, expected) in [
        (
            "a negative TTL",
            spec(json!({"ttlSecondsAfterFinished": -1})),
            "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "too many active indexes",
            spec(json!({"parallelism": 100_001, "completions": 100_001})),
            "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
        ),
        (
            "more failed indexes than indexes",
            spec(json!({"backoffLimitPerIndex": 1, "maxFailedIndexes": 3})),
            "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions",
        ),
        (
            "limits per index without indexes",
            spec(json!({"backoffLimitPerIndex": 1, "completionMode": "NonIndexed"})),
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
        (
            "a failure policy next to OnFailure",
            json!({"spec": {"podFailurePolicy": {"rules": []}, "template": {"spec": {"restartPolicy": "OnFailure"}}}}),
            "spec.template.spec.restartPolicy: Invalid value: \"OnFailure\": only \"Never\" is supported when podFailurePolicy is specified",
        ),
        (
            "a failure policy and early replacement",
            spec(json!({"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"})),
            "spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported values: \"Failed\"",
        ),
        (
            "a rule without any condition",
            rules(json!({"action": "Ignore"})),
            "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
        ),
        (
            "FailIndex without a limit per index",
            rules(json!({"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}})),
            "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set",
        ),
        (
            "a duplicate exit code",
            rules(json!({"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1, 1]}})),
            "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 1",
        ),
        (
            "an index that is too large",
            spec(json!({"successPolicy": {"rules": [{"succeededIndexes": "0,2"}]}})),
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"0,2\": error parsing succeededIndexes: too large index: \"2\"",
        ),
        (
            "a selector set by the user",
            spec(json!({"selector": {"matchLabels": {"a": "b"}}})),
            "[spec.selector: Invalid value: ",
        ),
    ] {
        assert!(refusal(&change).starts_with(expected), "{name}:\n{}\n{expected}", refusal(&change));
    }
}

#[test]
fn containers_are_checked_in_every_part() {
    let prefix = "spec.template.spec.containers[0]";
    for (name, more, expected) in [
        ("no image", json!({"image": null}), "image: Required value"),
        ("a name with capitals", json!({"name": "Main"}), "name: Invalid value: \"Main\": a lowercase RFC 1123 label"),
        (
            "a limit below the request",
            json!({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}),
            "resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
        ),
        (
            "an accelerator with different requests and limits",
            json!({"resources": {"limits": {"a.b/gpu": "1"}, "requests": {"a.b/gpu": "2"}}}),
            "resources.requests: Invalid value: \"2\": must be equal to a.b/gpu limit of 1",
        ),
        (
            "a fraction of an accelerator",
            json!({"resources": {"limits": {"a.b/gpu": "500m"}, "requests": {"a.b/gpu": "500m"}}}),
            "resources.limits[a.b/gpu]: Invalid value: \"500m\": must be an integer",
        ),
        (
            "a resource claim that the pod does not define",
            json!({"resources": {"claims": [{"name": "gpu"}]}}),
            "resources.claims[0]: Not found: \"gpu\": must be one of the names in pod.spec.resourceClaims which is empty",
        ),
        (
            "a port above the maximum",
            json!({"ports": [{"containerPort": 70_000}]}),
            "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            "an unknown protocol",
            json!({"ports": [{"containerPort": 1, "protocol": "ICMP"}]}),
            "ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
        ),
        (
            "an environment variable without a source",
            json!({"env": [{"name": "A", "valueFrom": {}}]}),
            "env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        ),
        (
            "a privileged container",
            json!({"securityContext": {"privileged": true}}),
            "securityContext.privileged: Forbidden: disallowed by cluster policy",
        ),
        (
            "a probe without a handler",
            json!({"livenessProbe": {"periodSeconds": 1}}),
            "livenessProbe: Required value: must specify a handler type",
        ),
    ] {
        let (actual, expected) = (refusal(&container(more)), format!("{prefix}.{expected}"));
        assert!(actual.trim_start_matches('[').starts_with(&expected), "{name}:\n{actual}\n{expected}");
    }
    let unknown = refusal(&container(json!({"resources": {"limits": {"gpu": "1"}}})));
    let path = format!("{prefix}.resources.limits[gpu]: Invalid value: \"gpu\": must be a standard resource");
    assert_eq!(unknown, format!("[{path} type or fully qualified, {path} for containers]"));
}

#[test]
fn pods_are_checked_in_every_part() {
    for (name, spec, expected) in [
        ("no container", json!({"containers": []}), "spec.template.spec.containers: Required value"),
        (
            "an unknown operator",
            json!({"tolerations": [{"key": "a", "operator": "Like"}]}),
            "spec.template.spec.tolerations[0].operator: Unsupported value: \"Like\": supported values: \"Equal\", \"Exists\"",
        ),
        (
            "an empty key without the operator Exists",
            json!({"tolerations": [{"value": "x"}]}),
            "spec.template.spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
        ),
        (
            "a host name with dots",
            json!({"hostname": "a.b"}),
            "spec.template.spec.hostname: Invalid value: \"a.b\": must not contain dots",
        ),
        (
            "a duplicate scheduling gate",
            json!({"schedulingGates": [{"name": "a"}, {"name": "a"}]}),
            "spec.template.spec.schedulingGates[1]: Duplicate value: \"a\"",
        ),
        (
            "a volume with two types",
            json!({"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]}),
            "spec.template.spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
        ),
        (
            "an affinity without a topology key",
            json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]}}}),
            "[spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty, ",
        ),
    ] {
        let actual = refusal(&pod_spec(spec));
        assert!(actual.starts_with(expected), "{name}:\n{actual}\n{expected}");
    }
}

#[test]
fn a_follower_waits_for_its_leader_and_gets_its_domain() {
    let mut exclusive = jobset(&json!({}));
    exclusive["metadata"]["annotations"] = json!({"alpha.jobset.sigs.k8s.io/exclusive-topology": "pool"});
    let job = admit_job(&job_of_slot(&slot(&exclusive))).expect("the template is valid");
    let nodes = [json!({"metadata": {"name": "n", "labels": {"pool": "p1"}}})];
    let leader =
        admit_pod(&pod_of_index(&job, Some(0)), "aaaaa", &ObjectContext::default()).expect("leaders are admitted");
    let admit = |leaders: &[Value], nodes: &[Value]| {
        let around = ObjectContext { pods: leaders, nodes, ..ObjectContext::default() };
        let answer = admit_pod(&pod_of_index(&job, Some(1)), "bbbbb", &around);
        answer.map(|p| p["spec"]["nodeSelector"]["pool"].clone()).map_err(|r| r.message)
    };
    let denied = |webhook: &str, why: &str| Err(format!("admission webhook \"{webhook}\" denied the request: {why}"));
    let no_selector = denied("vpod.kb.io", "follower pod node selector not set");
    assert_eq!(admit(&[], &nodes), no_selector, "no leader");
    assert_eq!(admit(std::slice::from_ref(&leader), &nodes), no_selector, "the leader has no node");
    let mut bound = leader.clone();
    bound["spec"]["nodeName"] = json!("n");
    assert_eq!(admit(std::slice::from_ref(&bound), &nodes), Ok(json!("p1")));
    assert_eq!(admit(&[bound.clone(), bound.clone()], &nodes), no_selector, "two leaders");
    let bare = [json!({"metadata": {"name": "n", "labels": {}}})];
    let no_label = denied("mpod.kb.io", "node does not have topology label: pool");
    assert_eq!(admit(std::slice::from_ref(&bound), &bare), no_label);
    bound["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    assert_eq!(admit(&[bound], &nodes), no_selector, "the leader of another Job");
}

#[test]
fn a_resume_merges_and_removes_nothing() {
    let old = jobset(&pod_spec(json!({"nodeSelector": {"a": "1", "b": "2"}, "tolerations": [{"key": "k"}]})));
    let mut job = job_of_slot(&slot(&old));
    job["spec"]["suspend"] = json!(true);
    let new =
        jobset(&pod_spec(json!({"nodeSelector": {"b": "3", "c": "4"}, "tolerations": [{"key": "l"}, {"key": "k"}]})));
    merge_template_on_resume(&mut job, &new["spec"]["replicatedJobs"][0]);
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(job["spec"]["suspend"], false);
    assert_eq!(pod["nodeSelector"], json!({"a": "1", "b": "3", "c": "4"}));
    assert_eq!(pod["tolerations"], json!([{"key": "k"}, {"key": "l"}]));
}
