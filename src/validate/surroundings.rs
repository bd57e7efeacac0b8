//! What stood in the cluster before a corner case began, as far as its recording tells: nodes of its own, another
//! JobSet, claims, gates that are switched.
//!
//! Must never look at what was decided; names of nodes and the case's own words are all it reads.

use super::recording::{Action, Recording};
use super::scenario::NotSimulated;
use crate::base::Duration;
use crate::spec::*;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Label and taint keys of nodes that a case made for itself (`corner/README.md`).
const DOMAIN_KEY: &str = "dom.example.com/";
const OWN_TAINT: &str = "only";
const NODE_SELECTOR: &str = "alpha.jobset.sigs.k8s.io/node-selector";

/// A node that a case made: `e15-a0` is number 0 of domain `a` of case `e15`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnNode {
    pub name: String,
    pub case: String,
    pub domain: String,
}

/// Every such node that the recording names.
pub fn own_nodes(recording: &Recording) -> Vec<OwnNode> {
    let Ok(pattern) = Regex::new(r"^([a-z0-9]+)-([a-z])\d+$") else {
        return Vec::new();
    };
    let bound = recording.pods.0.iter().map(|p| p.node.as_str());
    let actions = recording.script.actions.iter();
    let patched = actions.filter(|a| a.resource.as_deref() == Some("v1/nodes"));
    let names: BTreeSet<&str> = bound
        .chain(patched.filter_map(|a| a.name.as_deref()))
        .collect();
    let nodes = names.into_iter().filter_map(|name| {
        let parts = pattern.captures(name)?;
        Some(OwnNode {
            name: name.to_owned(),
            case: parts[1].to_owned(),
            domain: parts[2].to_owned(),
        })
    });
    nodes.collect()
}

/// Labels and taints of a node that a case made.
pub fn dress(pool: &mut NodePool, node: &OwnNode, recording: &Recording) {
    pool.name.clone_from(&node.name);
    let hostname = "kubernetes.io/hostname".to_owned();
    pool.labels.insert(hostname, node.name.clone());
    pool.labels
        .insert(format!("{DOMAIN_KEY}{}", node.case), node.domain.clone());
    let mut taint = |key: &str, value: &str| {
        pool.taints.push(Taint {
            key: key.to_owned(),
            value: value.to_owned(),
            effect: TaintEffect::NoSchedule,
        });
    };
    taint(OWN_TAINT, &node.case);
    if recording.job_set["metadata"]["annotations"][NODE_SELECTOR].is_string()
        && let Some(job) = job_on(recording, &node.name)
    {
        // EXC-2: the user has labelled the nodes of each Job.
        let value = format!("{}_{job}", recording.name);
        let key = "alpha.jobset.sigs.k8s.io/namespaced-job".to_owned();
        pool.labels.insert(key, value);
    }
}

fn job_on(recording: &Recording, node: &str) -> Option<String> {
    let row = recording.pods.0.iter().find(|p| p.node == node)?;
    let jobset = recording.jobset_name();
    Some(format!("{jobset}-{}-{}", row.replicated_job, row.job_index))
}

/// Nodes that an action makes schedulable were not before.
pub fn cordoned(recording: &Recording) -> Vec<ScriptedFault> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut cordons = Vec::new();
    for action in &recording.script.actions {
        let (Some("v1/nodes"), Some(name)) = (action.resource.as_deref(), action.name.as_deref())
        else {
            continue;
        };
        let body: Value =
            serde_json::from_str(action.body.as_deref().unwrap_or("")).unwrap_or_default();
        let schedulable = body["spec"]["unschedulable"] == false;
        if seen.insert(name) && schedulable {
            cordons.push(ScriptedFault {
                at: FaultTime::At(Duration::ZERO),
                action: FaultAction::CordonNode(NodeRef {
                    name: Some(name.to_owned()),
                    of_pod: None,
                    alias: None,
                }),
            });
        }
    }
    cordons
}

/// JobSets that were there already, rebuilt from their Jobs and pods: one pod per node they were seen on.
pub fn other_jobsets(recording: &Recording) -> Vec<Value> {
    let created: Vec<String> = recording
        .script
        .actions
        .iter()
        .filter(|a| a.what == "create")
        .filter_map(|a| serde_json::from_str::<Value>(a.body.as_deref()?).ok())
        .filter_map(|b| Some(b["metadata"]["name"].as_str()?.to_owned()))
        .collect();
    let log = recording.log.iter();
    let names: BTreeSet<&str> = log
        .filter(|e| e.kind == "OtherJobSet" && !created.contains(&e.name))
        .map(|e| e.name.as_str())
        .collect();
    names
        .into_iter()
        .map(|name| other_jobset(recording, name))
        .collect()
}

fn other_jobset(recording: &Recording, name: &str) -> Value {
    let mut sizes: BTreeMap<String, u32> = BTreeMap::new();
    for job in &recording.jobs {
        let slot = job.name.strip_prefix(&format!("{name}-"));
        if let Some((rj, index)) = slot.and_then(|s| s.rsplit_once('-'))
            && let Ok(index) = index.parse::<u32>()
        {
            let replicas = sizes.entry(rj.to_owned()).or_default();
            *replicas = (*replicas).max(index + 1);
        }
    }
    let main = &recording.job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"];
    let own = own_nodes(recording);
    let rjs: Vec<Value> = sizes
        .iter()
        .map(|(rj, replicas)| {
            let rows: Vec<_> = recording
                .pods
                .0
                .iter()
                .filter(|p| p.replicated_job == *rj)
                .collect();
            let pods = rows.iter().map(|p| p.pod_index + 1).max().unwrap_or(1);
            let mut spec = main["spec"].clone();
            let node = rows
                .iter()
                .find_map(|p| own.iter().find(|n| n.name == p.node));
            if let Some(node) = node {
                let key = format!("{DOMAIN_KEY}{}", node.case);
                spec["nodeSelector"] = json!({key: node.domain});
            }
            json!({"name": rj, "groupName": "default", "replicas": replicas, "template": {
                "metadata": {}, "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                    "completionMode": "Indexed", "template": {"metadata": {}, "spec": spec}}}})
        })
        .collect();
    json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": name, "namespace": recording.name},
        "spec": {"replicatedJobs": rjs, "successPolicy": {"operator": "All"},
            "network": {"enableDNSHostnames": true, "publishNotReadyAddresses": true},
            "startupPolicy": {"startupPolicyOrder": "AnyOrder"}}})
}

/// `(gates from the start, switches)`; a gate may be noted as `Name (off from about 12 s)`, and the case says which.
pub fn gates(recording: &Recording) -> Result<(FeatureGates, Vec<GateSwitch>), NotSimulated> {
    let mut gates = FeatureGates {
        in_place_restart: false,
        restart_job: false,
        elastic_jobset: false,
    };
    let mut noted = false;
    for gate in &recording.control_plane.feature_gates {
        let (name, note) = gate.split_once(' ').unwrap_or((gate, ""));
        noted |= !note.is_empty();
        *gate_of(&mut gates, name)? = true;
    }
    if !noted {
        return Ok((gates, Vec::new()));
    }
    let text = format!(
        "{} {}",
        recording.about,
        recording.control_plane.feature_gates.join(" ")
    );
    let which = ["InPlaceRestart", "RestartJob", "ElasticJobSet"]
        .into_iter()
        .find(|name| recording.about.contains(name))
        .ok_or_else(|| NotSimulated("a gate is switched, the case does not say which".into()))?;
    let seconds = |pattern: &str| {
        let found = Regex::new(pattern).ok()?.captures(&text)?;
        found[1].parse::<u64>().ok()
    };
    let off = seconds(r"(?:from|at) about (\d+) s")
        .ok_or_else(|| NotSimulated("a gate is switched, the case does not say when".into()))?;
    let mut without = gates;
    *gate_of(&mut without, which)? = false;
    let mut switches = vec![GateSwitch {
        at: Duration::from_secs(off),
        gates: without,
    }];
    let back = seconds(r"(?:for|after) (?:about )?(\d+) s(?:econds)?\b")
        .map(|s| off + s)
        .or_else(|| seconds(r"(?:to|until|on (?:again )?at) about (\d+) s"));
    if let Some(back) = back {
        switches.push(GateSwitch {
            at: Duration::from_secs(back),
            gates,
        });
    }
    Ok((gates, switches))
}

fn gate_of<'g>(gates: &'g mut FeatureGates, name: &str) -> Result<&'g mut bool, NotSimulated> {
    match name {
        "InPlaceRestart" => Ok(&mut gates.in_place_restart),
        "RestartJob" => Ok(&mut gates.restart_job),
        "ElasticJobSet" => Ok(&mut gates.elastic_jobset),
        other => Err(NotSimulated(format!("feature gate {other}"))),
    }
}

/// Whether an action looks at an object that was there before the case and of which the recording holds nothing.
pub fn is_foreign(recording: &Recording, action: &Action) -> bool {
    action.resource.as_deref() == Some("v1/services")
        && recording.about.contains("owned by somebody else")
}

/// Claims of the generated names, where the case says that they exist (VAL-19, VAL-20).
pub fn existing_claims(recording: &Recording) -> Vec<Value> {
    let about = recording.about.as_str();
    let exist = about.contains("claim") && about.contains("exist");
    if !exist {
        return Vec::new();
    }
    let jobset = recording.jobset_name();
    let policies = recording.job_set["spec"]["volumeClaimPolicies"].as_array();
    let templates = policies
        .into_iter()
        .flatten()
        .flat_map(|p| p["templates"].as_array().into_iter().flatten());
    let claims = templates.map(|template| {
        let mut claim = template.clone();
        let name = template["metadata"]["name"].as_str().unwrap_or("");
        claim["metadata"] =
            json!({"name": format!("{name}-{jobset}"), "namespace": recording.name});
        if claim["spec"].get("volumeMode").is_none() {
            claim["spec"]["volumeMode"] = json!("Filesystem");
        }
        claim
    });
    claims.collect()
}

/// How far into a second of wall time the JobSet may have been created. The API keeps times in whole seconds, so that
/// deadlines and back-offs end up to a second early (corner/README.md, D-10), and by how much depends on this.
/// Found from the final conditions: their transition times count wall seconds, the log counts from the creation. The
/// first is the middle of what fits, then come the middles of its lower and upper half, and its ends.
pub fn clock_phases(recording: &Recording) -> Vec<Duration> {
    const STEPS_MS: u64 = 1000;
    let seen = transitions(recording);
    let fits = |phase: u64| {
        seen.windows(2)
            .filter(|pair| {
                let second = |at_ms: u64| ((at_ms + phase) / 1000) as i64;
                second(pair[1].0) - second(pair[0].0) == pair[1].1 - pair[0].1
            })
            .count()
    };
    let best = (0..STEPS_MS).map(fits).max().unwrap_or(0);
    let good: Vec<u64> = (0..STEPS_MS).filter(|p| fits(*p) == best).collect();
    let n = good.len();
    let mut phases: Vec<Duration> = Vec::new();
    for at in [n / 2, n / 4, 3 * n / 4, 0, n - 1] {
        let phase = Duration::from_millis(good[at]);
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}

/// `(ms after the creation, wall seconds)` of the last change of each final condition's status, in order.
fn transitions(recording: &Recording) -> Vec<(u64, i64)> {
    let final_conditions = recording.status.iter().flat_map(|s| &s.conditions);
    let mut found: Vec<(u64, i64)> = final_conditions
        .filter_map(|c| {
            let wall = wall_seconds(c.last_transition_time.as_deref()?)?;
            let mut at = None;
            for entry in recording.log.iter().filter(|e| e.kind == "JobSet") {
                let conditions = entry.detail["conditions"].as_array();
                let status = conditions
                    .into_iter()
                    .flatten()
                    .find(|d| d["type"] == c.kind.as_str())
                    .map(|d| d["status"] == c.status.as_str());
                match status {
                    Some(true) if at.is_none() => at = Some(entry.at_ms),
                    Some(false) => at = None,
                    _ => {}
                }
            }
            Some((at?, wall))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Seconds of the day and more, as far as differences within one recording go.
fn wall_seconds(time: &str) -> Option<i64> {
    let (date, clock) = time.trim_end_matches('Z').split_once('T')?;
    let day: i64 = date.rsplit('-').next()?.parse().ok()?;
    let mut parts = clock.split(':').map(|p| p.parse::<i64>().ok());
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    Some(((day * 24 + h) * 60 + m) * 60 + s)
}
