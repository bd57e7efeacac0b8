//! Generates training jobs and prices. They are drawn from separate numbers, so that the rest of a seed does not
//! change.

use super::draw::Draw;
use super::jobset::JobSet;
use serde_json::{Value, json};

pub fn draw(seed: u64, jobsets: &[JobSet]) -> Option<Value> {
    let d = &mut Draw::new(seed ^ 0x7472_6169_6e00_0000);
    if !d.one_in(3) {
        return None;
    }
    let mut all: Vec<Value> = jobsets.iter().map(|js| one(d, &js.name)).collect();
    elastic(seed, &mut all, jobsets);
    if d.one_in(3) {
        all.truncate(1);
    }
    match all.as_slice() {
        [only] if d.one_in(2) => Some(only.clone()),
        _ => Some(all.into()),
    }
}

fn one(d: &mut Draw, jobset: &str) -> Value {
    let mut training = json!({"jobSet": jobset, "checkpoint": checkpoint(d)});
    if !d.one_in(3) {
        training["work"] = json!(d.pick(&["1ns", "3s", "5m", "1h", "20h"]));
    }
    if d.one_in(2) {
        training["step"] = json!(d.pick(&["1ns", "7s", "1h"]));
    }
    if d.one_in(6) {
        training["step"] = json!({"uniform": ["1s", "9s"]});
    }
    if d.one_in(4) {
        training["warmUp"] = json!({"factor": d.pick(&[1.0, 1.3, 20.0]), "for": d.pick(&["1ns", "7m"])});
    }
    if d.one_in(3) {
        training["rendezvousTimeout"] = json!(d.pick(&["2s", "5m"]));
    }
    for field in ["initialization", "compile"] {
        if d.one_in(3) {
            training[field] = delay(d);
        }
    }
    training
}

/// Lets some jobs communicate, over a topology with links.
pub fn communicate(seed: u64, scenario: &mut Value) {
    let d = &mut Draw::new(seed ^ 0x6661_6272_6963_0000);
    if !d.one_in(2) {
        return;
    }
    let pool = &mut scenario["topology"]["pools"][0];
    let chips = pool["nodesPerIsland"].as_u64().unwrap_or(1) * 4;
    pool["interconnect"] = if d.one_in(2) {
        let wrap = if d.one_in(2) { json!([true, false]) } else { json!([]) };
        json!({"kind": "Torus", "shape": format!("{}x4", chips / 4), "wrap": wrap, "gbitsPerSecond": 800})
    } else {
        json!({"kind": "Switch", "gbitsPerSecond": 3600, "latency": "50us"})
    };
    if d.one_in(3) {
        pool["interconnect"]["efficiency"] = json!(0.8);
        pool["interconnect"]["callLatency"] = json!("5us");
    }
    if pool["interconnect"]["kind"] == "Switch" && d.one_in(2) {
        pool["interconnect"]["nvls"] = json!(0.85);
    }
    let label = d.pick(&["topology.kubernetes.io/zone", super::jobset::RACK]);
    let mut level = json!({"name": "level", "label": label, "gbitsPerSecond": d.pick(&[1, 400])});
    for (field, value) in [("oversubscription", json!(7)), ("latency", json!("14us")), ("efficiency", json!(0.74))] {
        if d.one_in(2) {
            level[field] = value;
        }
    }
    scenario["topology"]["dcnLevels"] = json!([level]);
    let all = match &mut scenario["training"] {
        Value::Array(all) => all.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    for training in all.iter_mut().filter(|training| training.get("step").is_some()) {
        let mut axes =
            json!([{"axis": "data", "over": d.pick(&["Islands", "All"])}, {"axis": "inner", "over": "Island"}]);
        if d.one_in(2) {
            axes[1]["size"] = json!(d.pick(&[1, 2, 4, 64]));
        }
        training["parallelism"] = axes;
        let traffic = |d: &mut Draw| {
            let collectives = ["AllGather", "ReduceScatter", "AllReduce", "AllToAll", "SendReceive"];
            let mut traffic = json!({"axis": d.pick(&["data", "inner"]), "collective": d.pick(&collectives),
                "bytes": d.pick(&["0", "1G", "140G"])});
            if d.one_in(2) {
                traffic["overlap"] = json!(d.pick(&[0.5, 1.0]));
            }
            if d.one_in(2) {
                traffic["order"] = json!(d.pick(&["Ring", "Hierarchical"]));
            }
            if d.one_in(3) {
                traffic["algorithm"] = json!(d.pick(&["Ring", "Tree", "Hierarchical", "Nvls"]));
            }
            if d.one_in(3) {
                traffic["calls"] = json!(d.pick(&[2, 320]));
            }
            traffic
        };
        training["communication"] = json!([traffic(d), traffic(d)]);
        if d.one_in(2) {
            let axes = &mut training["parallelism"];
            for (at, roles) in [["Data", "Pipeline"], ["Sharded", "Tensor"]].iter().enumerate() {
                axes[at]["role"] = json!(d.pick(roles));
                axes[at]["size"] = json!(4);
                axes[at]["overlap"] = json!(d.pick(&[0.0, 0.9]));
                axes[at]["order"] = json!(d.pick(&["Ring", "Hierarchical"]));
            }
            training["model"] = json!({"parameters": "7G", "layers": 32, "width": 4096, "tokens": "4M",
                "bytesPerValue": d.pick(&[1, 2])});
        }
    }
}

/// Makes some jobs elastic, so that they can continue without some slices.
fn elastic(seed: u64, all: &mut [Value], jobsets: &[JobSet]) {
    let d = &mut Draw::new(seed ^ 0x656c_6173_7469_6300);
    for (training, jobset) in all.iter_mut().zip(jobsets) {
        if !d.one_in(2) {
            continue;
        }
        let with: Vec<usize> = (0..jobset.jobs.len()).filter(|at| jobset.jobs[*at].replicas > 0).collect();
        if with.is_empty() {
            continue;
        }
        let job = &jobset.jobs[d.pick(&with)];
        let min = d.between(1, job.replicas.min(4));
        let mut elastic = json!({"minSlices": min, "replicatedJob": job.name});
        if training["checkpoint"] == "Never" || d.one_in(2) {
            elastic["regrow"] = json!(d.pick(&["AtOnce", "Never"]));
        } else if d.one_in(2) {
            elastic["regrow"] = json!("NextCheckpoint");
        }
        if d.one_in(2) {
            elastic["lastCall"] = json!(d.pick(&["0s", "1s", "10m"]));
        }
        if d.one_in(3) {
            elastic["factor"] = json!(d.pick(&[0.001, 0.3, 0.9, 1.0]));
        }
        if d.one_in(2) {
            elastic["reinitialization"] = delay(d);
        }
        if jobset.jobs.len() == 1 && d.one_in(2) {
            elastic.as_object_mut().map(|e| e.remove("replicatedJob"));
        }
        training["elastic"] = elastic;
    }
}

/// Makes some random faults silent, so that only training notices them.
pub fn silent(seed: u64, scenario: &mut Value) {
    let d = &mut Draw::new(seed ^ 0x7369_6c65_6e74_0000);
    let communicates = scenario["training"].to_string().contains("communication");
    for process in scenario["faultProcesses"].as_array_mut().into_iter().flatten() {
        let pods = process["on"] == "Pod";
        // Presets, nodes with repair stages and maintenance keep their action.
        let has_end = pods || process.get("backAfter").is_some();
        let stays = process.get("on").is_none() || !has_end || process.get("rolling").is_some();
        if !d.one_in(3) || stays {
            continue;
        }
        let does = d.pick(if pods {
            &["Hang", "Corrupt"][..]
        } else if communicates {
            &["Hang", "Slow", "Corrupt", "Degrade", "Degrade", "Degrade"]
        } else {
            &["Hang", "Slow", "Corrupt"]
        });
        process["does"] = json!(does);
        let Some(fields) = process.as_object_mut() else {
            continue;
        };
        for field in ["asNew", "deletedAfter", "exitCode", "comesBack", "notice", "grace", "lemons"] {
            fields.remove(field);
        }
        // Slow nodes follow the calendar only; other silent faults have no duration.
        fields.remove(if ["Slow", "Degrade"].contains(&does) { "ages" } else { "backAfter" });
        match does {
            "Hang" if d.one_in(4) => {}
            "Hang" => process["detectedAfter"] = delay(d),
            "Degrade" => {
                process["bandwidth"] = json!(d.pick(&[1.0, 0.889, 0.001]));
                process["links"] = json!(d.pick(&["Island", "Network"]));
            }
            "Slow" => process["factor"] = json!(d.pick(&[1.0, 1.3, 40.0])),
            _ => process["foundAfter"] = delay(d),
        }
        if does == "Hang" && d.one_in(2) {
            process["exitCode"] = json!(3);
        }
    }
}

/// Draws the prices of the scenario.
pub fn prices(seed: u64, topology: &Value) -> Option<Value> {
    let d = &mut Draw::new(seed ^ 0x7072_6963_6500_0000);
    if !d.one_in(4) {
        return None;
    }
    let mut prices = json!({});
    if d.one_in(2) {
        prices["currency"] = json!("CHF");
    }
    if d.one_in(2) {
        prices["perAcceleratorHour"] = json!(d.pick(&[0.0, 4.2, 0.000_001]));
    }
    if d.one_in(2) {
        let pool = topology["pools"][0]["name"].as_str().unwrap_or("");
        prices["pools"][pool] = json!(3);
    }
    Some(prices)
}

fn checkpoint(d: &mut Draw) -> Value {
    match d.below(4) {
        0 => json!("Continuous"),
        1 => json!("Never"),
        _ => {
            let mut checkpoint = json!({"every": d.pick(&["1ns", "10s", "10m"])});
            details(d, &mut checkpoint);
            if d.one_in(3) {
                checkpoint["atNotice"] = json!(d.one_in(2));
            }
            if d.one_in(3) {
                let tiers = (0..d.below(3) + 1).map(|_| {
                    let every = d.pick(&["1ns", "7s", "1m"]);
                    let survives = d.pick(&["Process", "Host", "Slice"]);
                    let mut tier = json!({"every": every, "survives": survives});
                    details(d, &mut tier);
                    tier
                });
                checkpoint["tiers"] = tiers.collect::<Vec<Value>>().into();
            }
            checkpoint
        }
    }
}

fn details(d: &mut Draw, checkpoint: &mut Value) {
    if d.one_in(2) {
        checkpoint["blocking"] = json!(d.pick(&["0s", "3s", "1h"]));
    }
    for field in ["commitDelay", "restore"] {
        if d.one_in(2) {
            checkpoint[field] = delay(d);
        }
    }
}

fn delay(d: &mut Draw) -> Value {
    d.pick(&[json!("0s"), json!("1s"), json!("2h"), json!({"exponential": {"mean": "1m"}})])
}
