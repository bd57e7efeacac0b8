//! Random scenarios without a random choice among nodes: clusters with and without unused nodes and spares, restart
//! policies, startup orders, and up to three fault processes.

use serde_json::{Value, json};

/// Random numbers of one seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Returns true in this percentage of the draws.
    fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }
}

/// A drawn scenario and its JobSet, as JSON texts.
pub struct DrawnScenario {
    pub scenario: String,
    pub jobset: String,
}

const SLICE: &str = "example.com/slice";

/// The size of the JobSet and of the cluster.
struct Sizes {
    jobs: u32,
    pods: u32,
    idle: u32,
    spares: u32,
    /// Whether each Job has a slice of its own.
    exclusive: bool,
    /// Whether a Job with one pod starts before all others.
    driver: bool,
    /// Whether the training continues with some of the Jobs.
    elastic: bool,
}

/// Draws a scenario. Outages range from reboots of seconds to nodes that do not return.
pub fn drawn_scenario(seed: u64) -> DrawnScenario {
    let mut numbers = Numbers(seed);
    let mut sizes = Sizes {
        jobs: numbers.pick(&[1, 1, 1, 2, 3]),
        pods: numbers.pick(&[1, 2, 2, 3, 4]),
        idle: numbers.pick(&[0, 0, 0, 1, 2, 3]),
        spares: numbers.pick(&[0, 0, 1, 2, 3]),
        exclusive: numbers.percent(25),
        driver: numbers.percent(20),
        elastic: false,
    };
    // Numbers of its own: other scenarios do not depend on those of elastic jobs.
    let mut slices = Numbers(!seed);
    if slices.percent(25) {
        (sizes.elastic, sizes.jobs, sizes.driver) = (true, slices.pick(&[2, 3, 4]), false);
        sizes.exclusive = slices.percent(50);
        if !sizes.exclusive {
            sizes.pods = 1;
        }
    }
    sizes.driver &= sizes.jobs == 1 && !sizes.exclusive;
    let jobset = jobset(&mut numbers, &sizes);
    let mut training = json!({
        "step": numbers.pick(&["6s", "30s"]),
        "checkpoint": {"every": numbers.pick(&["5m", "15m", "1h"])},
    });
    if numbers.percent(70) {
        training["work"] = json!(numbers.pick(&["10h", "30h", "90h"]));
    }
    if numbers.percent(30) {
        training["checkpoint"]["blocking"] = json!("600ms");
        training["checkpoint"]["commitDelay"] = json!("30s");
        training["checkpoint"]["restore"] = json!("1m");
    }
    if sizes.elastic {
        training["elastic"] = elastic(&mut slices, sizes.jobs);
    }
    let processes: Vec<Value> = (0..numbers.pick(&[1, 1, 2, 2, 3])).map(|k| process(&mut numbers, k, &sizes)).collect();
    let mut scenario = json!({
        "apiVersion": "jobset-sim/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": format!("drawn-{seed}")},
        "topology": {
            "apiVersion": "jobset-sim/v1alpha1",
            "kind": "Topology",
            "metadata": {"name": "t"},
            "pools": pools(&sizes),
        },
        "controlPlane": {"kubeScheduler": {"ties": "InOrder"}},
        "jobSets": [{"manifest": "jobset.yaml"}],
        "training": training,
        "faultProcesses": processes,
        "stop": {
            "at": numbers.pick(&["24h", "60h", "120h"]),
            "when": numbers.pick(&["AllJobSetsFinished", "Settled", "Time"]),
        },
        "seed": 1 + numbers.below(1 << 30),
    });
    let takes_nodes = scenario["faultProcesses"].as_array().is_some_and(|all| all.iter().any(|p| p["on"] != "Pod"));
    if sizes.spares > 0 && takes_nodes {
        let take_over = numbers.pick(&["0s", "30s", "1m", "5m", "20m"]);
        scenario["nodeSpares"] = json!({"label": "role=spare", "takeOver": take_over});
        if sizes.exclusive {
            scenario["nodeSpares"]["unit"] = json!({"label": SLICE});
        }
    }
    DrawnScenario { scenario: scenario.to_string(), jobset: jobset.to_string() }
}

fn elastic(numbers: &mut Numbers, jobs: u32) -> Value {
    let mut elastic = json!({
        "minSlices": 1 + numbers.below(jobs as usize - 1),
        "regrow": numbers.pick(&["NextCheckpoint", "AtOnce", "Never"]),
    });
    if numbers.percent(50) {
        elastic["lastCall"] = json!(numbers.pick(&["0s", "10s", "10m"]));
    }
    if numbers.percent(30) {
        elastic["factor"] = json!(numbers.pick(&[0.3, 0.6, 0.9]));
    }
    if numbers.percent(50) {
        elastic["reinitialization"] = json!(numbers.pick(&["0s", "20s", "5m"]));
    }
    elastic
}

fn pools(sizes: &Sizes) -> Vec<Value> {
    let pool = |name: &str, (count, nodes): (u32, u32), labels: Value| {
        json!({
            "name": name,
            "count": count,
            "nodesPerIsland": nodes,
            "accelerator": "a.com/c",
            "allocatable": {"cpu": 8, "a.com/c": 1},
            "labels": labels,
        })
    };
    let mut pools = Vec::new();
    if sizes.exclusive {
        pools.push(pool("h-{pool}-{node}", (sizes.jobs + sizes.idle, sizes.pods), json!({SLICE: "s-{pool}"})));
        if sizes.spares > 0 {
            let labels = json!({SLICE: "z-{pool}", "role": "spare"});
            pools.push(pool("z-{pool}-{node}", (sizes.spares, sizes.pods), labels));
        }
    } else {
        pools.push(pool(
            "h-{node}",
            (1, sizes.jobs * sizes.pods + u32::from(sizes.driver) + sizes.idle),
            json!({"k": "1"}),
        ));
        if sizes.spares > 0 {
            pools.push(pool("s-{node}", (1, sizes.spares), json!({"role": "spare"})));
        }
    }
    pools
}

fn process(numbers: &mut Numbers, k: usize, sizes: &Sizes) -> Value {
    let mean = numbers.pick(&[30_000, 80_000, 200_000, 500_000]) * sizes.jobs * sizes.pods / 2;
    let mut process = json!({"cause": format!("c{k}"), "mtbf": format!("{mean}s")});
    let action = numbers.pick(&["Crash", "Crash", "Partition", "Drain", "Exit", "Exit", "Slow", "Corrupt"]);
    if action == "Exit" {
        process["on"] = json!("Pod");
        process["exitCode"] = json!(numbers.pick(&[1, 1, 42, 137]));
        return process;
    }
    if action != "Crash" {
        process["does"] = json!(action);
    }
    if action == "Corrupt" {
        process["foundAfter"] = json!(numbers.pick(&["5m", "3h"]));
        return process;
    }
    if action == "Slow" {
        process["factor"] = json!(numbers.pick(&[1.1, 1.5, 3.0]));
        process["backAfter"] = json!(numbers.pick(&["10m", "4h"]));
        return process;
    }
    let outages = [
        json!("1s"),
        json!("10s"),
        json!("30s"),
        json!("44s"),
        json!("2m"),
        json!("5m"),
        json!("6m"),
        json!("10m"),
        json!("1h"),
        json!("4h"),
        json!({"logNormal": {"median": "1h", "sigma": 1}}),
        json!({"exponential": {"mean": "20m"}}),
        json!({"uniform": ["1s", "90s"]}),
        Value::Null,
    ];
    let outage = numbers.pick(&outages);
    if !outage.is_null() {
        process["backAfter"] = outage;
        if action != "Drain" && numbers.percent(30) {
            process["asNew"] = json!(true);
        }
    }
    if action != "Drain" && numbers.percent(40) {
        process["deletedAfter"] = json!(numbers.pick(&["30s", "2m", "10m"]));
    }
    if action == "Drain" && numbers.percent(50) {
        process["notice"] = json!(numbers.pick(&["30s", "5m"]));
    }
    if sizes.exclusive && numbers.percent(70) {
        process["on"] = json!({"label": SLICE});
    }
    process
}

fn jobset(numbers: &mut Numbers, sizes: &Sizes) -> Value {
    let strategies: &[&str] =
        if sizes.jobs == 1 && !sizes.exclusive { &["Recreate", "BlockingRecreate"] } else { &["BlockingRecreate"] };
    let mut policy = json!({
        "maxRestarts": numbers.pick(&[0, 1, 3, 10, 100_000, 100_000, 100_000]),
        "restartStrategy": numbers.pick(strategies),
    });
    if sizes.elastic && sizes.jobs != 3 {
        policy["rules"] = json!([{"name": "one", "action": "RestartJob"}]);
    } else if numbers.percent(15) {
        policy["rules"] = json!([{
            "name": "m",
            "action": numbers.pick(&[
                "RestartJobSetAndIgnoreMaxRestarts", "FailJobSet", "RestartJob", "RestartJobAndIgnoreMaxRestarts",
            ]),
            "onJobFailureReasons": [numbers.pick(&["PodFailurePolicy", "BackoffLimitExceeded"])],
        }]);
    }
    let mut job = json!({
        "parallelism": sizes.pods,
        "completions": sizes.pods,
        "backoffLimit": numbers.pick(&[0, 0, 0, 0, 0, 0, 1]),
        "template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "w", "image": "x:1", "resources": {"limits": {"a.com/c": 1}}}],
        }},
    });
    if numbers.percent(35) {
        job["backoffLimit"] = json!(numbers.pick(&[0, 1, 3, 6]));
        job["template"]["spec"]["restartPolicy"] = json!("OnFailure");
    }
    let driver = json!({"parallelism": 1, "completions": 1, "backoffLimit": 0, "template": job["template"]});
    if numbers.percent(20) {
        job["podFailurePolicy"] = json!({"rules": [{
            "action": numbers.pick(&["FailJob", "FailJob", "Ignore", "Count"]),
            "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
        }]});
        job["template"]["spec"]["restartPolicy"] = json!("Never");
    }
    let mut jobset = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a"},
        "spec": {"replicatedJobs": [{"name": "w", "replicas": sizes.jobs, "template": {"spec": job}}]},
    });
    if sizes.driver {
        let driver = json!({"name": "d", "template": {"spec": driver}});
        jobset["spec"]["replicatedJobs"].as_array_mut().expect("a list").insert(0, driver);
        if numbers.percent(50) {
            jobset["spec"]["startupPolicy"] = json!({"startupPolicyOrder": "InOrder"});
        } else {
            jobset["spec"]["replicatedJobs"][1]["dependsOn"] = json!([{"name": "d", "status": "Ready"}]);
        }
    }
    if numbers.percent(85) || sizes.elastic {
        jobset["spec"]["failurePolicy"] = policy;
    }
    if sizes.exclusive {
        jobset["metadata"]["annotations"] = json!({"alpha.jobset.sigs.k8s.io/exclusive-topology": SLICE});
    }
    jobset
}
