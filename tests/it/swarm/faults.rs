//! Random faults beyond a plain rate: levels, presets, distributions. They are drawn from separate numbers, so that
//! the rest of a seed does not change.

use super::draw::Draw;
use super::jobset::RACK;
use serde_json::{Value, json};

pub fn enrich(seed: u64, scenario: &mut Value) {
    let d = &mut Draw::new(seed ^ 0x6661_756c_7400_0000);
    let scripted = scenario["timing"].get("kubelet").is_some();
    if let Some(processes) = scenario["faultProcesses"].as_array_mut() {
        for process in processes {
            enrich_process(d, process, scripted);
        }
    }
    repaired(d, scenario);
    spares(d, scenario);
    ages(&mut Draw::new(seed ^ 0x6167_6573), scenario);
    maintenance(&mut Draw::new(seed ^ 0x726f_6c6c), scenario);
    if let Some(faults) = scenario["faults"].as_array_mut() {
        for fault in faults {
            whole_rack(d, fault);
        }
    }
}

fn enrich_process(d: &mut Draw, process: &mut Value, scripted: bool) {
    if d.one_in(4) {
        let any = d.pick(&sim_inputs::schema::definitions::rate::NAMES);
        let preset = d.pick(&["llama3-405b", any]);
        *process = json!({"preset": preset, "times": d.pick(&[300, 3000])});
        if preset == "llama3-405b" && d.one_in(2) {
            process["causes"] = json!(["gpu", "software", "host_maintenance"]);
        }
        if !scripted {
            process["asNew"] = json!(d.one_in(2));
        }
        return;
    }
    match process["on"].as_str() {
        Some("Pod") => return,
        Some("Node") => match d.below(4) {
            0 => process["on"] = json!(d.pick(&["Accelerator", "Island"])),
            1 => process["takesAlong"] = json!({"label": RACK}),
            _ => {}
        },
        _ => {}
    }
    match d.below(5) {
        0 => process["distribution"] = json!({"gamma": {"shape": d.pick(&[0.5, 3.0])}}),
        1 => process["distribution"] = json!({"empirical": d.pick(&[json!([1, 5]), json!({"values": ["1s", 7]})])}),
        _ => {}
    }
    match (d.below(6), process["does"].as_str()) {
        (0, _) => process["lemons"] = json!({"share": 0.2, "factor": 5, "healed": 0.5}),
        (1, _) if !process["backAfter"].is_null() => process["comesBack"] = json!(0.5),
        (2, Some("Drain")) => process["notice"] = json!(d.pick(&["0s", "3m"])),
        (2, Some("Crash")) if !scripted => {
            process["does"] = json!("Reclaim");
            let (notice, grace) = d.pick(&[("0s", "0s"), ("30s", "0s"), ("30s", "15s")]);
            process["notice"] = json!(notice);
            process["grace"] = json!(grace);
            process["asNew"] = json!(null);
            process["deletedAfter"] = json!(null);
        }
        (3, _) => (process["from"], process["until"]) = (json!("2m"), json!("40m")),
        _ => {}
    }
    let back = [
        json!({"gamma": {"mean": "20m", "shape": 0.8}}),
        json!({"weibull": {"mean": "20m", "shape": 0.8}}),
        json!({"empirical": {"values": ["5m", "3h"], "weights": [3, 1]}}),
    ];
    if d.one_in(3) {
        process["backAfter"] = d.pick(&back);
    }
}

/// Applies the fault to every node of a rack.
fn whole_rack(d: &mut Draw, fault: &mut Value) {
    for action in ["crashNode", "cordonNode", "returnNode", "drainNode", "taintNode"] {
        let Some(node) = fault[action].as_object_mut() else {
            continue;
        };
        let named = node.contains_key("node") && !node.contains_key("alias");
        if named && d.one_in(4) {
            node.remove("node");
            let rack = format!("{RACK}=rack-0");
            node.insert("label".to_owned(), json!(rack));
        }
    }
}

/// Adds repair stages for nodes that crash.
fn repaired(d: &mut Draw, scenario: &mut Value) {
    let Some(processes) = scenario["faultProcesses"].as_array_mut() else {
        return;
    };
    let mut crashes = processes.iter_mut().filter(|p| p["does"] == "Crash" && d.one_in(2));
    let Some(crash) = crashes.next() else { return };
    for key in ["backAfter", "comesBack", "lemons"] {
        crash[key] = json!(null);
    }
    if let Some(crash) = crash.as_object_mut() {
        crash.retain(|_, value| !value.is_null());
    }
    scenario["nodeRepair"] = json!({"detectedAfter": d.pick(&["0s", "10m"]), "crews": d.pick(&[1, 4]),
        "diagnosis": {"probability": d.pick(&[0.5, 1.0]), "uncertainty": d.pick(&[0.0, 0.3])},
        "retire": d.pick(&["never", "window:3:5h", "life:4"]),
        "stages": [{"name": "automatic", "takes": "5m", "escalates": 0.5, "fails": 0.3},
            {"name": "manual", "takes": {"exponential": {"mean": "30m"}}}]});
}

/// Makes some faults age with use, except where fault times must be known in advance.
fn ages(d: &mut Draw, scenario: &mut Value) {
    let (repairs, spares) = (scenario.get("nodeRepair").is_some(), scenario.get("nodeSpares").is_some());
    let Some(processes) = scenario["faultProcesses"].as_array_mut() else {
        return;
    };
    for process in processes {
        if d.one_in(2) {
            continue;
        }
        let on_calendar =
            process.get("from").is_some() || ["Slow", "Degrade"].iter().any(|does| process["does"] == *does);
        let in_shop = repairs && process["backAfter"].is_null();
        let spared = spares && process["on"] != "Pod";
        if !(on_calendar || in_shop || spared) {
            process["ages"] = json!(d.pick(&["Running", "Assigned", "Always"]));
        }
    }
}

/// Adds rolling maintenance of all nodes or racks.
fn maintenance(d: &mut Draw, scenario: &mut Value) {
    let scripted = scenario["timing"].get("kubelet").is_some();
    let Some(processes) = scenario["faultProcesses"].as_array_mut() else {
        return;
    };
    if scripted || !d.one_in(3) {
        return;
    }
    let mut rolling = json!({"batch": d.pick(&[1, 2]), "order": d.pick(&["Forward", "Reverse"])});
    let options =
        [("every", json!("20m")), ("window", json!({"from": "10m", "lasts": "1h"})), ("repeatAfter", json!("2h"))];
    for (key, value) in options {
        if d.one_in(2) {
            rolling[key] = value;
        }
    }
    let on = d.pick(&[json!("Node"), json!({"label": RACK})]);
    processes.push(json!({"cause": "maintenance", "on": on, "does": "Drain", "backAfter": "5m", "rolling": rolling}));
}

/// Makes one rack a spare, if there is another one.
fn spares(d: &mut Draw, scenario: &mut Value) {
    let processes = scenario["faultProcesses"].as_array();
    let nodes = |p: &Value| p["on"] == "Node";
    let several = scenario["topology"]["pools"][0]["count"].as_u64().is_some_and(|n| n > 1);
    if !several || !processes.is_some_and(|all| all.iter().any(nodes)) || !d.one_in(3) {
        return;
    }
    scenario["nodeSpares"] = json!({"label": format!("{RACK}=rack-1"), "takeOver": d.pick(&["0s", "2m"])});
    if d.one_in(2) {
        scenario["nodeSpares"]["unit"] = json!({"label": RACK});
    }
    if d.one_in(2) {
        scenario["nodeSpares"]["handBack"] = json!(true);
    }
}
