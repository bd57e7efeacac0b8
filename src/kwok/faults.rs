//! The script of a scenario as commands of `kubectl`, each in the background until its time has come.
//!
//! Pods are found by their labels: their names end in letters that nobody knows before. Must never leave an action out
//! without a word.

use super::node_object;
use super::stages::{EXIT, expressed};
use crate::base::Duration;
use crate::spec::{
    BY_SCRIPT, FaultAction, FaultTime, NodeRef, ObjectKind, Propagation, Scenario, ScriptedFault,
    UserRequest, Verb, keys,
};
use serde_json::Value;
use std::fmt::Write;

pub struct Script {
    pub text: String,
    /// Objects that it names.
    pub files: Vec<(String, String)>,
    pub missing: Vec<String>,
}

/// Where a JobSet's manifest is.
pub fn jobset_file(at: usize, name: &str) -> String {
    format!("jobsets/{at:02}-{name}.yaml")
}

const HEAD: &str = r#"#!/bin/sh
# Submissions and faults of the scenario, each at its time after the start of this script.
set -u
cd "$(dirname "$0")"
. ./functions.sh
state=$(mktemp -d)
"#;

const FUNCTIONS: &str = r#"# What faults.sh is written in.
# after SECONDS COMMAND
after() { sleep "$1"; eval "$2"; }
# after_ready SECONDS COMMAND: counted from the moment at which every pod of every JobSet is ready
after_ready() { while [ ! -e "$state/ready" ]; do sleep 0.1; done; after "$@"; }
# pod NAMESPACE JOB INDEX: its name now
pod() { kubectl get pods -n "$1" -l "JOB_NAME=$2,JOB_INDEX=$3" -o name | tail -n 1; }
node_of() { kubectl get -n "$1" "$(pod "$@")" -o jsonpath='{.spec.nodeName}'; }
# Nobody writes for a silent node, and for what runs on it.
silence() {
    kubectl annotate --overwrite node "$1" jobset-sim/silent=true
    kubectl get pods -A --field-selector "spec.nodeName=$1" -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}' |
        while read -r namespace name; do kubectl annotate --overwrite pod -n "$namespace" "$name" jobset-sim/silent=true; done
}
speak() {
    kubectl annotate node "$1" jobset-sim/silent-
    kubectl annotate pods -A --field-selector "spec.nodeName=$1" jobset-sim/silent-
}
evict() { printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' "$2" "$1" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f -; }
manager() { kubectl -n jobset-system scale deployment jobset-controller-manager --replicas="$1"; }
"#;

fn functions() -> String {
    let text = FUNCTIONS.replace("JOB_NAME", keys::BATCH_JOB_NAME);
    text.replace("JOB_INDEX", keys::JOB_COMPLETION_INDEX)
}

/// The script, and what it cannot do.
pub fn script(scenario: &Scenario) -> Script {
    let mut script = Script {
        text: HEAD.to_owned(),
        files: vec![("functions.sh".to_owned(), functions())],
        missing: Vec::new(),
    };
    for (i, s) in scenario.jobsets.iter().enumerate() {
        if s.submit_at != BY_SCRIPT {
            let file = jobset_file(i, &s.jobset.name);
            let line = format!(
                "after {} 'kubectl create -f {file}' &",
                seconds(s.submit_at)
            );
            let _ = writeln!(script.text, "{line}");
        }
    }
    script.text.push_str("(\n");
    for s in scenario.jobsets.iter().filter(|s| s.submit_at != BY_SCRIPT) {
        let _ = writeln!(
            script.text,
            "    until [ \"$(kubectl get pods -n {} -l {}={} -o name | wc -l)\" -ge {} ]; do sleep 0.2; done\n    \
             kubectl wait -n {0} --for condition=Ready pod -l {1}={2} --timeout 24h",
            s.jobset.namespace,
            keys::JOBSET_NAME,
            s.jobset.name,
            s.jobset.spec.pods()
        );
    }
    script.text.push_str("    touch \"$state/ready\"\n) &\n");
    for (i, fault) in scenario.faults.iter().enumerate() {
        one(&mut script, scenario, (i, fault));
    }
    script.text.push_str("wait\n");
    let rules = scenario.containers.iter();
    for rule in rules.filter(|rule| rule.run_for.is_some() && !expressed(rule)) {
        let of = rule
            .replicated_job
            .as_deref()
            .unwrap_or("any replicatedJob");
        let line =
            format!("a rule of containers of {of} that is for some pods, runs or containers only");
        script.missing.push(line);
    }
    script
}

fn seconds(d: Duration) -> String {
    let text = format!("{:.3}", d.seconds());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn one(script: &mut Script, scenario: &Scenario, (i, fault): (usize, &ScriptedFault)) {
    let place = format!("faults[{i}]");
    let when = match fault.at {
        FaultTime::At(at) => format!("after {}", seconds(at)),
        FaultTime::AfterReady(at) => format!("after_ready {}", seconds(at)),
        FaultTime::Worn { .. } | FaultTime::Follows { .. } => {
            let line = format!("{place}: its time is one of use, which only a run knows");
            return script.missing.push(line);
        }
    };
    match command(script, scenario, (i, &fault.action)) {
        Ok(command) => {
            let command = command.replace('\'', r"'\''");
            let _ = writeln!(script.text, "{when} '{command}' &");
        }
        Err(why) => script.missing.push(format!("{place}: {why}")),
    }
}

/// A pod of the script, `train-workers-0-1`, as words of a shell: namespace, Job, index.
fn place(scenario: &Scenario, pod: &str) -> Option<String> {
    let (job, index) = pod.rsplit_once('-')?;
    let home = scenario.jobsets.iter().find(|s| {
        let rest = job.strip_prefix(s.jobset.name.as_str());
        rest.is_some_and(|rest| rest.starts_with('-'))
    });
    index.parse::<u32>().ok()?;
    Some(format!("{} {job} {index}", home?.jobset.namespace))
}

fn of_pod(scenario: &Scenario, pod: &str) -> Result<(String, String), String> {
    let place = place(scenario, pod).ok_or_else(|| format!("pod {pod} is none of a JobSet"))?;
    let namespace = place.split(' ').next().unwrap_or("default").to_owned();
    Ok((namespace, place))
}

/// A node as a word of a shell, kept in a file if it has an alias.
fn of_node(scenario: &Scenario, node: &NodeRef) -> Result<String, String> {
    let word = match (&node.name, &node.of_pod) {
        (Some(name), _) if name.starts_with('$') => format!("\"$(cat \"$state/{}\")\"", &name[1..]),
        (Some(name), _) => name.clone(),
        (None, Some(pod)) => format!("\"$(node_of {})\"", of_pod(scenario, pod)?.1),
        (None, None) => {
            let alias = node.alias.as_deref().unwrap_or("");
            return Ok(format!("\"$(cat \"$state/{alias}\")\""));
        }
    };
    Ok(match &node.alias {
        Some(alias) => format!("\"$(echo {word} | tee \"$state/{alias}\")\""),
        None => word,
    })
}

fn command(
    script: &mut Script,
    scenario: &Scenario,
    (i, action): (usize, &FaultAction),
) -> Result<String, String> {
    let pod = |name: &str| of_pod(scenario, name);
    let node = |node: &NodeRef| of_node(scenario, node);
    let jobset = |name: &str| {
        let mut all = scenario.jobsets.iter();
        let home = all.find(|s| s.jobset.name == name);
        let namespace = home.map_or("default", |s| s.jobset.namespace.as_str());
        format!("jobsets.jobset.x-k8s.io -n {namespace} {name}")
    };
    Ok(match action {
        FaultAction::ContainerExit {
            pod: name,
            exit_code,
        } => {
            let (namespace, place) = pod(name)?;
            format!(
                "kubectl annotate --overwrite -n {namespace} \"$(pod {place})\" {EXIT}={exit_code}"
            )
        }
        FaultAction::DeletePod { pod: name, force } => {
            let (namespace, place) = pod(name)?;
            let force = if *force {
                " --force --grace-period 0"
            } else {
                ""
            };
            format!("kubectl delete -n {namespace} \"$(pod {place})\" --wait=false{force}")
        }
        FaultAction::EvictPod { pod: name } => {
            let (namespace, place) = pod(name)?;
            format!("name=$(pod {place}); evict {namespace} \"${{name#pod/}}\"")
        }
        FaultAction::CrashNode(n) | FaultAction::PartitionNode(n) => {
            format!("silence {}", node(n)?)
        }
        FaultAction::ReturnNode(n) => format!("speak {}", node(n)?),
        FaultAction::DeleteNode(n) => format!("kubectl delete node --wait=false {}", node(n)?),
        FaultAction::CordonNode(n) => format!("kubectl cordon {}", node(n)?),
        FaultAction::UncordonNode(n) => format!("kubectl uncordon {}", node(n)?),
        FaultAction::DrainNode(n) => {
            format!(
                "kubectl drain --ignore-daemonsets --delete-emptydir-data {}",
                node(n)?
            )
        }
        FaultAction::TaintNode(n, taint) => {
            let value = if taint.value.is_empty() {
                String::new()
            } else {
                format!("={}", taint.value)
            };
            format!(
                "kubectl taint --overwrite node {} {}{value}:{}",
                node(n)?,
                taint.key,
                taint.effect.as_str()
            )
        }
        FaultAction::NewNode(n) => match &n.name {
            Some(name) => {
                let cluster = super::cluster(scenario);
                let node = cluster.named(name);
                let node = node.ok_or_else(|| format!("node {name} is not one of the topology"))?;
                let object = node_object(&cluster.object(node));
                let file = format!("new-nodes/{i:02}.yaml");
                script
                    .files
                    .push((file.clone(), crate::manifest::print_yaml(&object)));
                format!("kubectl create -f {file}")
            }
            None => return Err("a new Node of a name that only the run knows".to_owned()),
        },
        FaultAction::Silent { .. } => {
            return Err("hangs, slow steps and wrong results: no container computes".to_owned());
        }
        FaultAction::SuspendJobSet(name) => {
            patch(&jobset(name), r#"{"spec":{"suspend":true}}"#, false)
        }
        FaultAction::ResumeJobSet(name) => {
            patch(&jobset(name), r#"{"spec":{"suspend":false}}"#, false)
        }
        FaultAction::DeleteJobSet(name) => format!("kubectl delete --wait=false {}", jobset(name)),
        FaultAction::StopManager(stop) => {
            if stop.gates != Default::default() {
                return Err("other feature gates after the manager's restart".to_owned());
            }
            format!("manager 0; sleep {}; manager 1", seconds(stop.down_for))
        }
        FaultAction::Request(request) => asked(script, scenario, (i, request))?,
    })
}

fn patch(object: &str, body: &str, status: bool) -> String {
    let status = if status { " --subresource status" } else { "" };
    format!("kubectl patch {object} --type merge{status} -p '{body}'")
}

fn asked(
    script: &mut Script,
    scenario: &Scenario,
    (i, request): (usize, &UserRequest),
) -> Result<String, String> {
    let name = &request.object.name;
    let resource = request.object.kind.as_str().to_ascii_lowercase();
    let object = match request.object.kind {
        ObjectKind::Other => return Err("an object of a kind that is not modelled".to_owned()),
        ObjectKind::Pod => match of_pod(scenario, name) {
            Ok((namespace, place)) => format!("-n {namespace} \"$(pod {place})\""),
            Err(_) => format!("pod {name}"),
        },
        kind if kind.is_namespaced() => {
            let home = scenario
                .jobsets
                .iter()
                .find(|s| name.starts_with(s.jobset.name.as_str()));
            let namespace = home.map_or("default", |s| s.jobset.namespace.as_str());
            format!("{resource} -n {namespace} {name}")
        }
        _ => format!("{resource} {name}"),
    };
    Ok(match &request.verb {
        Verb::Patch { body, status } => patch(&object, &body.to_string(), *status),
        Verb::Create { object, .. } => {
            let mut object = Value::clone(object);
            super::clean(&mut object);
            let file = format!("created/{i:02}.yaml");
            script
                .files
                .push((file.clone(), crate::manifest::print_yaml(&object)));
            format!("kubectl create -f {file}")
        }
        Verb::Delete {
            propagation,
            grace_s,
        } => {
            let cascade = match propagation {
                Propagation::Background => "background",
                Propagation::Foreground => "foreground",
                Propagation::Orphan => "orphan",
            };
            let grace = grace_s.map_or(String::new(), |s| format!(" --grace-period {s}"));
            format!("kubectl delete {object} --wait=false --cascade {cascade}{grace}")
        }
        Verb::Show { .. } => format!("kubectl get {object} -o yaml"),
    })
}
