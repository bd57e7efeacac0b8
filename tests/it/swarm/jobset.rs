//! Generates JobSets: every policy, with all settings that an API server accepts.

use super::draw::{Draw, set};
use super::job;
use serde_json::{Value, json};

pub const RACK: &str = "example.com/rack";
pub const EXCLUSIVE: &str = "alpha.jobset.sigs.k8s.io/exclusive-topology";
const BY_SELECTOR: &str = "alpha.jobset.sigs.k8s.io/node-selector";

pub struct ReplicatedJob {
    pub name: String,
    pub replicas: u32,
    pub pods: u32,
    /// Number of completion indexes; `None` for pods without an index.
    pub indexes: Option<u32>,
}

pub struct JobSet {
    pub name: String,
    pub object: Value,
    pub in_place: bool,
    pub exclusive: bool,
    /// Whether followers are placed by node labels that a user sets in advance.
    pub by_selector: bool,
    pub jobs: Vec<ReplicatedJob>,
    pub may_go_on: bool,
    /// Whether its Jobs fail as soon as they start.
    pub hurried: bool,
    pub managed_elsewhere: bool,
    /// Whether a part of it may remain incomplete according to Kubernetes' own rules.
    pub may_wait: bool,
}

impl JobSet {
    pub fn pods(&self) -> u32 {
        self.jobs.iter().map(|j| j.replicas * j.pods).sum()
    }

    /// Returns the object with a fixed name instead of generateName.
    pub fn with_fixed_name(&self) -> Value {
        let mut object = self.object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("generateName");
            metadata.insert("name".to_owned(), json!(self.name));
        }
        object
    }

    fn any(&self, d: &mut Draw) -> &ReplicatedJob {
        let with: Vec<&ReplicatedJob> = self.jobs.iter().filter(|j| j.replicas > 0).collect();
        d.pick(&with)
    }

    pub fn any_job(&self, d: &mut Draw) -> String {
        let j = self.any(d);
        format!("{}-{}-{}", self.name, j.name, d.below(j.replicas))
    }

    pub fn any_pod(&self, d: &mut Draw) -> String {
        let j = self.any(d);
        let job = format!("{}-{}-{}", self.name, j.name, d.below(j.replicas));
        match j.indexes {
            Some(n) => format!("{job}-{}", d.below(n.max(1))),
            None => job,
        }
    }
}

pub fn draw(d: &mut Draw, name: &str) -> JobSet {
    let strategy = d.pick(&["Recreate", "BlockingRecreate", "InPlaceRestart"]);
    let mut js = JobSet {
        name: name.to_owned(),
        object: json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name},
            "spec": {}}),
        in_place: strategy == "InPlaceRestart",
        exclusive: d.one_in(2),
        by_selector: false,
        jobs: Vec::new(),
        may_go_on: false,
        hurried: false,
        managed_elsewhere: false,
        may_wait: false,
    };
    metadata(d, &mut js);
    let claims = claims(d, &mut js);
    let count = d.between(1, if d.is_combined { 2 } else { 3 });
    let mut rjs: Vec<Value> = Vec::new();
    for k in 0..count {
        rjs.push(replicated_job(d, k, &mut js));
    }
    for claim in claims {
        let k = d.below(count) as usize;
        let mounts = &mut rjs[k]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
        if mounts.is_null() {
            *mounts = json!([]);
        }
        if let Some(mounts) = mounts.as_array_mut() {
            mounts.push(json!({"name": claim, "mountPath": format!("/{claim}")}));
        }
    }
    let depends = rjs.iter().any(|r| r.get("dependsOn").is_some());
    set(&mut js.object, "spec.replicatedJobs", rjs);
    failure_policy(d, &mut js, strategy);
    success_and_startup(d, &mut js, depends);
    draw_minor_fields(d, &mut js);
    js
}

/// The suffix that the simulator generates for generateName.
const GENERATED: &str = "x7k2p";

fn metadata(d: &mut Draw, js: &mut JobSet) {
    if d.rare(20) {
        js.object["metadata"] = json!({"generateName": format!("{}-", js.name)});
        js.name = format!("{}-{GENERATED}", js.name);
    }
    let metadata = &mut js.object["metadata"];
    if js.exclusive {
        metadata["annotations"][EXCLUSIVE] = json!(RACK);
        if d.rare(10) {
            js.by_selector = true;
            metadata["annotations"][BY_SELECTOR] = json!("true");
        }
    }
    if d.one_in(8) {
        metadata["labels"] = json!({"example.com/team": "x"});
        metadata["annotations"]["example.com/note"] = json!("y");
    }
    if d.rare(10) {
        metadata["namespace"] = json!("team");
    }
    if d.rare(10) {
        metadata["finalizers"] = json!(["example.com/hold"]);
    }
}

/// Draws claim templates, and returns their names, which at least one container must mount.
fn claims(d: &mut Draw, js: &mut JobSet) -> Vec<String> {
    if !d.rare(6) {
        return Vec::new();
    }
    let names: Vec<String> = ["data", "keep"][..d.between(1, 2) as usize].iter().map(|n| (*n).to_owned()).collect();
    let policies = names.iter().map(|name| {
        let mut policy = json!({"templates": [{"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]});
        if d.one_in(2) {
            set(&mut policy, "retentionPolicy.whenDeleted", d.pick(&["Delete", "Retain"]));
        }
        policy
    });
    let policies: Vec<Value> = policies.collect();
    set(&mut js.object, "spec.volumeClaimPolicies", policies);
    names
}

fn replicated_job(d: &mut Draw, k: u32, js: &mut JobSet) -> Value {
    let replicas = match k {
        1.. if d.rare(12) => 0,
        _ => d.between(1, if d.is_combined { 2 } else { 4 }),
    };
    let (size, spec) = job::draw(d, js);
    let mut rj = json!({"name": format!("r{k}"), "template": {"spec": spec}});
    let mut own = ReplicatedJob { name: format!("r{k}"), replicas, pods: size.0, indexes: size.1 };
    if d.rare(12) {
        own.replicas = 1;
    } else {
        rj["replicas"] = json!(replicas);
    }
    if d.one_in(8) {
        rj["groupName"] = json!("group");
    }
    if d.rare(8) {
        set(&mut rj, "template.metadata.labels", json!({"example.com/part": "z"}));
        let key = d.pick(&[RACK, "kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
        rj["template"]["metadata"]["annotations"][EXCLUSIVE] = json!(key);
        js.exclusive = true;
    }
    if k > 0 && d.one_in(6) {
        let status = d.pick(&["Ready", "Complete"]);
        let mut on = vec![json!({"name": format!("r{}", d.below(k)), "status": status})];
        if k > 1 && d.rare(2) {
            let other = json!({"name": "r0", "status": d.pick(&["Ready", "Complete"])});
            if on[0]["name"] != "r0" {
                on.push(other);
            }
        }
        rj["dependsOn"] = on.into();
        // IPR-5 counts pods that do not exist yet. Complete waits indefinitely if nothing completes.
        js.may_wait |= js.in_place || status == "Complete";
    }
    js.jobs.push(own);
    rj
}

fn failure_policy(d: &mut Draw, js: &mut JobSet, strategy: &str) {
    if !js.in_place && d.one_in(10) {
        return;
    }
    let restarts = if d.rare(10) { json!(i32::MAX) } else { json!(d.between(0, 6)) };
    let mut policy = json!({"maxRestarts": restarts, "restartStrategy": strategy});
    if d.one_in(3) {
        let rules = (0..d.between(1, 2)).map(|k| failure_rule(d, js, k));
        policy["rules"] = rules.collect();
    }
    set(&mut js.object, "spec.failurePolicy", policy);
}

fn failure_rule(d: &mut Draw, js: &JobSet, k: u32) -> Value {
    let action = d.pick(&[
        "FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
        "RestartJobAndIgnoreMaxRestarts",
    ]);
    let mut rule = json!({"action": action});
    if d.one_in(3) {
        let reason = d.pick(&[
            "BackoffLimitExceeded", "PodFailurePolicy", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded",
        ]);
        rule["onJobFailureReasons"] = json!([reason]);
    }
    if d.one_in(3) {
        let target = d.below(js.jobs.len() as u32);
        rule["targetReplicatedJobs"] = json!([format!("r{target}")]);
    }
    if d.one_in(8) {
        rule["name"] = json!(format!("rule_{k}"));
    }
    if d.one_in(8) {
        rule["onJobFailureMessagePatterns"] = json!([d.pick(&[".*", "backoff", "^Pod .* exit code 1"])]);
    }
    rule
}

fn success_and_startup(d: &mut Draw, js: &mut JobSet, depends: bool) {
    if d.one_in(5) {
        let mut policy = json!({"operator": d.pick(&["All", "Any"])});
        if !d.rare(3) {
            policy["targetReplicatedJobs"] = json!([format!("r{}", d.below(js.jobs.len() as u32))]);
        }
        set(&mut js.object, "spec.successPolicy", policy);
    }
    if d.one_in(5) && !depends {
        let order = if d.rare(6) { "AnyOrder" } else { "InOrder" };
        set(&mut js.object, "spec.startupPolicy.startupPolicyOrder", order);
        js.may_wait |= js.in_place;
    }
}

/// Draws suspend, managedBy, TTL, network and coordinator.
fn draw_minor_fields(d: &mut Draw, js: &mut JobSet) {
    let mut put = |key: &str, value: Value| js.object["spec"][key] = value;
    if d.one_in(12) {
        put("suspend", json!(true));
    }
    if d.one_in(8) {
        let own = d.one_in(2);
        js.managed_elsewhere = !own;
        let manager = if own { "jobset.sigs.k8s.io/jobset-controller" } else { "kueue.x-k8s.io/multikueue" };
        put("managedBy", json!(manager));
    }
    if d.one_in(6) {
        let ttl = d.pick(&[0, 1, 60]);
        put("ttlSecondsAfterFinished", json!(ttl));
    }
    if d.one_in(6) {
        let mut network = json!({"enableDNSHostnames": !d.one_in(3)});
        if d.one_in(2) {
            network["subdomain"] = json!("shared");
        }
        if d.one_in(3) {
            network["publishNotReadyAddresses"] = json!(false);
        }
        put("network", network);
    }
    if d.one_in(6) && js.jobs[0].replicas > 0 && js.jobs[0].indexes.is_some_and(|n| n > 0) {
        put("coordinator", json!({"replicatedJob": "r0", "jobIndex": 0, "podIndex": 0}));
    }
}
