//! Changes that `admit` prints, in random situations: each is applied to the inputs as its sentence says, and admits
//! the JobSet; a smaller one does not.

use super::source;
use crate::support;
use serde_json::{Value, json};
use sim_analysis::admission::{AdmissionReport, JobSetVerdict, admission_report, admission_verdicts};
use sim_api::spec::ScenarioSpec;
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_inputs::{read_sources, read_topology, scenario_from_manifests};

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const GPU: &str = "example.com/gpu";

struct Draw {
    draws: DrawSequence,
    next: u32,
}

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.next += 1;
        let entity = StreamKey::from_text("admit");
        let draw = UniformDraw { purpose: StreamPurpose::Test, entity, occurrence: 0, substream: self.next };
        self.draws.below(draw, n)
    }

    fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u32) as usize]
    }
}

#[derive(Clone)]
struct Situation {
    objects: Vec<Value>,
    jobsets: Vec<Value>,
    topology: Option<Value>,
}

impl Situation {
    fn draw(seed: u64) -> Situation {
        let mut draw = Draw { draws: DrawSequence::new(seed, 0), next: 0 };
        let has_nodes = draw.one_in(2);
        let by_topology = has_nodes && !draw.one_in(3);
        let flavors = draw.between(1, 2);
        let queues = draw.between(1, 2);
        let has_cohort = draw.one_in(2);
        let mut objects = Vec::new();
        if by_topology {
            let levels = json!([{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]);
            objects.push(object("Topology", "racks", json!({"levels": levels})));
        }
        for flavor in 0..flavors {
            let mut spec = if by_topology { json!({"topologyName": "racks"}) } else { json!({}) };
            if has_nodes {
                spec["nodeLabels"] = json!({"kind": format!("f{flavor}")});
            }
            objects.push(object("ResourceFlavor", &format!("f{flavor}"), spec));
        }
        for queue in 0..queues {
            objects.push(cluster_queue(&mut draw, queue, flavors, has_cohort));
            let mut local = object("LocalQueue", &format!("l{queue}"), json!({"clusterQueue": format!("c{queue}")}));
            local["metadata"]["namespace"] = json!("default");
            if draw.one_in(12) {
                local["spec"]["stopPolicy"] = json!("Hold");
            }
            objects.push(local);
        }
        for (name, value) in [("mid", 10), ("top", 100)] {
            if draw.one_in(2) {
                objects.push(json!({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name},
                                    "value": value}));
            }
        }
        if !by_topology {
            for number in 0..draw.below(4) {
                objects.push(existing_workload(&mut draw, number, queues));
            }
        }
        let classes: Vec<String> = objects
            .iter()
            .filter(|object| object["kind"] == "WorkloadPriorityClass")
            .filter_map(|object| Some(object["metadata"]["name"].as_str()?.to_owned()))
            .collect();
        let mut jobsets = Vec::new();
        for number in 0..draw.between(1, 3) {
            let queue = draw.below(queues);
            let mut jobset = jobset(&mut draw, number, queue, by_topology);
            if let Some(class) = classes.first().filter(|_| draw.one_in(4)) {
                jobset["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = json!(class);
            }
            if has_nodes && !by_topology && draw.one_in(6) {
                jobset["metadata"]["annotations"]["alpha.jobset.sigs.k8s.io/exclusive-topology"] = json!("rack");
            }
            jobsets.push(jobset);
        }
        let racks = |draw: &mut Draw, flavor: u32| {
            json!({"name": format!("n{flavor}-{{node}}"), "count": draw.between(1, 3), "nodesPerIsland": draw.between(2, 3),
                   "labels": {"kind": format!("f{flavor}"), "rack": format!("r{flavor}-{{pool}}")},
                   "accelerator": GPU, "allocatable": {"cpu": 8, GPU: 4}})
        };
        let topology = has_nodes.then(|| {
            let pools: Vec<Value> = (0..flavors).map(|flavor| racks(&mut draw, flavor)).collect();
            json!({"apiVersion": "jobset-sim/v1alpha1", "kind": "Topology", "metadata": {"name": "racks"},
                   "pools": pools})
        });
        if by_topology && jobsets.len() > 1 && draw.one_in(2) {
            // Kueue does not manage the first JobSet: the scheduler chooses its nodes.
            jobsets[0]["metadata"]["labels"] = json!({});
            let template = &mut jobsets[0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"];
            template["metadata"]["annotations"] = json!({});
        }
        Situation { objects, jobsets, topology }
    }

    fn report(&self) -> AdmissionReport {
        let (scenario, has_nodes) = self.scenario();
        admission_report(&scenario, has_nodes, None).unwrap_or_else(|e| panic!("{e}"))
    }

    fn verdicts(&self) -> Vec<JobSetVerdict> {
        let (scenario, has_nodes) = self.scenario();
        admission_verdicts(&scenario, has_nodes, 100).unwrap_or_else(|e| panic!("{e}")).job_sets
    }

    /// Returns the scenario, and whether it has nodes.
    fn scenario(&self) -> (ScenarioSpec, bool) {
        let documents: Vec<String> = self.objects.iter().chain(&self.jobsets).map(Value::to_string).collect();
        let sources = [source("inputs.yaml", &documents.join("\n---\n"))];
        let manifests = read_sources(&sources, &[]).unwrap_or_else(|e| panic!("{e}\n{documents:?}"));
        let topology = self.topology.as_ref().map(|topology| {
            read_topology(&source("topology.yaml", &topology.to_string())).unwrap_or_else(|e| panic!("{e}"))
        });
        let has_nodes = topology.is_some();
        let loaded = scenario_from_manifests(vec![manifests], topology, &[]).unwrap_or_else(|e| panic!("{e}"));
        (loaded.scenario, has_nodes)
    }

    fn object(&mut self, kind: &str, name: &str) -> &mut Value {
        let mut all = self.objects.iter_mut();
        all.find(|object| object["kind"] == kind && object["metadata"]["name"] == name).expect("a known object")
    }

    fn job(&mut self, jobset: &str, name: &str) -> &mut Value {
        let jobs = self.jobset(jobset)["spec"]["replicatedJobs"].as_array_mut().expect("jobs");
        jobs.iter_mut().find(|job| job["name"] == name).expect("a known replicatedJob")
    }

    fn jobset(&mut self, name: &str) -> &mut Value {
        self.jobsets.iter_mut().find(|jobset| jobset["metadata"]["name"] == name).expect("a known JobSet")
    }

    /// Applies a change for a JobSet as its sentence says, with another size if one is given.
    fn apply(&mut self, jobset: &str, sentence: &str, size: Option<i64>) {
        let words: Vec<&str> = sentence.split(' ').collect();
        let number = |at: usize| words[at].parse::<i64>().unwrap_or_else(|e| panic!("{sentence}: {e}"));
        match words[..] {
            ["lower", "replicas", ..] => {
                self.job(jobset, words[4])["replicas"] = json!(number(6) - size.unwrap_or(number(6) - number(8)));
            }
            ["lower", "parallelism", ..] => {
                let to = number(8) - size.unwrap_or(number(8) - number(10));
                let spec = &mut self.job(jobset, words[6])["template"]["spec"];
                (spec["parallelism"], spec["completions"]) = (json!(to), json!(to));
            }
            ["raise", field, "of", resource, "in", "flavor", flavor, "of", "ClusterQueue", queue, "by", _] => {
                let by = size.unwrap_or_else(|| number(11));
                let groups = self.object("ClusterQueue", queue)["spec"]["resourceGroups"].as_array_mut();
                let flavors = groups.into_iter().flatten().flat_map(|group| group["flavors"].as_array_mut());
                let known = flavors.flatten().find(|own| own["name"] == flavor).expect("a known flavor");
                let quotas = known["resources"].as_array_mut().into_iter().flatten();
                for quota in quotas.filter(|quota| quota["name"] == resource) {
                    quota[field] = json!(quota[field].as_i64().expect("a number") + by);
                }
            }
            ["set", "the", "label", key, value, ..] => {
                self.jobset(jobset)["metadata"]["labels"][key.trim_end_matches(':')] = json!(value);
            }
            ["create", "a", "WorkloadPriorityClass", "with", "value", ..] => {
                let value = size.unwrap_or_else(|| number(5));
                self.objects.push(json!({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass",
                                         "metadata": {"name": "new"}, "value": value}));
                self.jobset(jobset)["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = json!("new");
            }
            ["wait", "for", "the", "end", "of", "Workload", workload] | ["remove", "Workload", workload, ..] => {
                let name = workload.split('/').next_back().expect("a name");
                self.objects.retain(|object| object["kind"] != "Workload" || object["metadata"]["name"] != name);
                self.jobsets.retain(|jobset| jobset["metadata"]["name"] != name);
            }
            ["set", "stopPolicy:", "None", "of", kind, name] => {
                let name = name.split('/').next_back().expect("a name");
                self.object(kind, name)["spec"]["stopPolicy"] = json!("None");
            }
            ["set", "queueingStrategy:", strategy, "of", "ClusterQueue", queue] => {
                self.object("ClusterQueue", queue)["spec"]["queueingStrategy"] = json!(strategy);
            }
            ["free", _, "more", _, "in", domain] => {
                self.add_nodes(domain.split('=').next_back(), size.unwrap_or_else(|| number(1)));
            }
            ["free", _, "more", _] => self.add_nodes(None, size.unwrap_or_else(|| number(1))),
            ["prefer", level, "instead", .., name] => {
                let annotations = self.annotations(jobset, name);
                *annotations = json!({"kueue.x-k8s.io/podset-preferred-topology": level});
            }
            ["replace", _, "by", _, level, "with", _, size, "in", _, name] => {
                let annotations = self.annotations(jobset, name);
                *annotations = json!({"kueue.x-k8s.io/podset-slice-required-topology": level,
                                      "kueue.x-k8s.io/podset-slice-size": size});
            }
            _ => panic!("an unknown change: {sentence}"),
        }
    }

    fn annotations(&mut self, jobset: &str, job: &str) -> &mut Value {
        &mut self.job(jobset, job)["template"]["spec"]["template"]["metadata"]["annotations"]
    }

    fn pools(&mut self) -> &mut Vec<Value> {
        self.topology.as_mut().and_then(|topology| topology["pools"].as_array_mut()).expect("pools")
    }

    fn add_nodes(&mut self, rack: Option<&str>, count: i64) {
        if count == 0 {
            return;
        }
        let kind = rack.map_or("f0".to_owned(), |rack| rack.replace('r', "f")[..2].to_owned());
        let like = self.pools().iter().find(|pool| pool["labels"]["kind"] == kind.as_str()).cloned();
        let mut pool = like.expect("a known rack");
        let number = self.pools().len();
        pool["name"] = json!(format!("new{number}-{{node}}"));
        (pool["count"], pool["nodesPerIsland"]) = (json!(1), json!(count));
        pool["labels"]["rack"] = json!(rack.unwrap_or("r0-0"));
        self.pools().push(pool);
    }
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn cluster_queue(draw: &mut Draw, number: u32, flavors: u32, has_cohort: bool) -> Value {
    let flavor = |draw: &mut Draw, flavor: u32| {
        let mut quota = json!({"name": GPU, "nominalQuota": 4 * draw.below(7)});
        if has_cohort && draw.one_in(3) {
            quota["borrowingLimit"] = json!(4 * draw.below(3));
        }
        json!({"name": format!("f{flavor}"), "resources": [quota]})
    };
    let flavors: Vec<Value> = (0..flavors).map(|at| flavor(draw, at)).collect();
    let mut spec = json!({
        "namespaceSelector": {},
        "queueingStrategy": draw.pick(&["StrictFIFO", "BestEffortFIFO"]),
        "preemption": {
            "withinClusterQueue": draw.pick(&["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
            "reclaimWithinCohort": draw.pick(&["Never", "LowerPriority", "Any"]),
        },
        "resourceGroups": [{"coveredResources": [GPU], "flavors": flavors}],
    });
    if has_cohort {
        spec["cohortName"] = json!("lab");
    }
    object("ClusterQueue", &format!("c{number}"), spec)
}

/// Returns a Workload of another team: admitted, or pending before the JobSets.
fn existing_workload(draw: &mut Draw, number: u32, queues: u32) -> Value {
    let (queue, count) = (draw.below(queues), draw.between(1, 3));
    let priority = [0, 0, 10][draw.below(3) as usize];
    let container = json!({"name": "m", "image": "x", "resources": {"requests": {GPU: "4"}}});
    let mut workload = object(
        "Workload",
        &format!("w{number}"),
        json!({"queueName": format!("l{queue}"), "priority": priority,
               "podSets": [{"name": "w", "count": count, "template": {"spec": {"containers": [container]}}}]}),
    );
    workload["metadata"] = json!({"name": format!("w{number}"), "namespace": "default", "uid": format!("u{number}"),
                                  "creationTimestamp": format!("2026-08-22T00:00:0{number}Z")});
    if draw.one_in(2) {
        let condition = |kind: &str| {
            json!({"type": kind, "status": "True", "reason": kind, "message": "m",
                   "lastTransitionTime": "2026-08-22T00:01:00Z"})
        };
        workload["status"] = json!({
            "admission": {"clusterQueue": format!("c{queue}"), "podSetAssignments": [{"name": "w", "count": count,
                "flavors": {GPU: "f0"}, "resourceUsage": {GPU: (4 * count).to_string()}}]},
            "conditions": [condition("QuotaReserved"), condition("Admitted")],
        });
    }
    workload
}

fn jobset(draw: &mut Draw, number: u32, queue: u32, by_topology: bool) -> Value {
    let (replicas, pods) = (draw.between(1, 4), draw.between(1, 3));
    let container = json!({"name": "m", "image": "x:1", "resources": {"limits": {GPU: 4}}});
    let annotations = match draw.below(3) {
        0 if by_topology => json!({"kueue.x-k8s.io/podset-required-topology": "rack"}),
        1 if by_topology => json!({"kueue.x-k8s.io/podset-slice-required-topology": "rack",
                                   "kueue.x-k8s.io/podset-slice-size": pods.to_string()}),
        _ => json!({}),
    };
    let template = json!({"metadata": {"annotations": annotations},
                          "spec": {"restartPolicy": "Never", "containers": [container]}});
    let spec = json!({"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template});
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": format!("js{number}"), "namespace": "default", "annotations": {},
                     "labels": {"kueue.x-k8s.io/queue-name": format!("l{queue}")}},
        "spec": {"replicatedJobs": [{"name": "w", "replicas": replicas, "template": {"spec": spec}}]},
    })
}

/// Returns whether the JobSet starts with changes, and all that start without them.
fn admits(situation: &Situation, before: &AdmissionReport, jobset: &str) -> bool {
    let after = situation.verdicts();
    let starts = |name: &str| {
        let own = after.iter().find(|verdict| verdict.name == name);
        // A JobSet that has ended is not in the inputs.
        own.is_none_or(JobSetVerdict::starts)
    };
    starts(jobset) && before.job_sets.iter().filter(|verdict| verdict.starts()).all(|verdict| starts(&verdict.name))
}

fn check(seed: u64, printed: &mut usize, failures: &mut Vec<String>) {
    let situation = Situation::draw(seed);
    let before = situation.report();
    for verdict in before.job_sets.iter().filter(|verdict| !verdict.starts()) {
        for remedy in &verdict.smallest_changes {
            *printed += 1;
            let with = |sizes: &[Option<i64>]| {
                let mut changed = situation.clone();
                for (change, size) in remedy.changes.iter().zip(sizes) {
                    changed.apply(&verdict.name, change, *size);
                }
                changed
            };
            let of_seed = || format!("seed {seed}, JobSet {}: {}", verdict.name, remedy.sentence());
            let full = vec![None; remedy.changes.len()];
            if !admits(&with(&full), &before, &verdict.name) {
                failures.push(format!("does not admit: {}", of_seed()));
            }
            for (at, size) in remedy.sizes.iter().enumerate() {
                let is_amount = ["nominalQuota", "borrowingLimit", "replicas", "pods", "freeNodes"];
                let most = if is_amount.contains(&size.kind) { size.size as i64 - 1 } else { -1 };
                // All smaller numbers of objects; of quotas, those in steps of one pod and the largest one.
                let step = if size.kind.contains('L') || size.kind.contains('Q') { 4 } else { 1 };
                let smaller = (0..most).step_by(step).chain((most >= 0).then_some(most));
                for smaller in smaller {
                    let mut sizes = full.clone();
                    sizes[at] = Some(smaller);
                    if admits(&with(&sizes), &before, &verdict.name) {
                        failures.push(format!("{smaller} instead of {} suffices: {}", size.size, of_seed()));
                    }
                }
            }
        }
    }
}

#[test]
fn in_random_situations_every_printed_change_admits_and_no_smaller_one_does() {
    // `ADMIT_SITUATIONS=300` takes 12 minutes.
    let cases = support::number("ADMIT_SITUATIONS").unwrap_or(support::cases(4, 8));
    let (mut printed, mut failures) = (0, Vec::new());
    (0..cases).for_each(|seed| check(seed, &mut printed, &mut failures));
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(printed as u64 > cases / 2, "{printed} changes in {cases} situations");
}
