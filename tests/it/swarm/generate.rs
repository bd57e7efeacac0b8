//! Generates the input files of a seed: a scenario, its JobSets, other objects. They are read like a user's files.

use super::draw::Draw;
use super::environment::{self, Cluster};
use super::jobset::{self, JobSet};
use super::kueue;
use super::objects;
use super::scheduling;
use super::script::{self, Stage};
use super::training;
use serde_json::{Value, json};
use sim_api::spec::{ClaimController, ScenarioSpec, TieBreak};
use sim_inputs::SourceText;

#[derive(Clone)]
pub struct Case {
    pub seed: u64,
    /// Names and contents of the files. The first one is the scenario.
    pub files: Vec<(String, Value)>,
    unsaid: Unsaid,
    /// Whether the run may last until its time limit, because something fails repeatedly or capacity is scarce.
    pub may_go_on: bool,
    /// Whether rare events were drawn.
    pub wild: bool,
    repaired: bool,
    pub jobsets: Vec<Expected>,
}

/// Expected properties of a JobSet.
#[derive(Clone)]
pub struct Expected {
    pub name: String,
    /// MB-1: the JobSet is managed by another controller, which does not exist.
    pub managed_elsewhere: bool,
    /// There is spare capacity and all damage is repaired, so the JobSet must come to rest by itself.
    pub lives: bool,
}

/// Settings that vary between recordings and are not part of any file.
#[derive(Clone, Default)]
struct Unsaid {
    last_name: bool,
    claims_stay: bool,
}

impl Case {
    /// Returns a case of these files, without any expectation.
    pub fn from_files(seed: u64, files: Vec<(String, Value)>) -> Case {
        Case {
            seed,
            files,
            unsaid: Unsaid::default(),
            may_go_on: true,
            wild: true,
            repaired: false,
            jobsets: Vec::new(),
        }
    }

    pub fn scenario(&self) -> Result<ScenarioSpec, String> {
        let loader = |name: &str| match self.files[1..].iter().find(|(file, _)| file == name) {
            Some((_, content)) => Ok(text(content)),
            None => Err(sim_inputs::FileTextError::NotProvided),
        };
        let source = SourceText { file: self.files[0].0.clone(), text: text(&self.files[0].1) };
        let loaded = sim_inputs::parse_scenario(&source, &[], &loader).map_err(|e| e.to_string())?;
        let mut scenario = loaded.scenario;
        if self.unsaid.claims_stay {
            scenario.claim_controller = ClaimController::Absent;
        }
        scenario.admit_unplaceable = self.wild;
        if self.unsaid.last_name {
            scenario.ties = TieBreak::LastName;
        }
        Ok(scenario)
    }

    /// Returns names and texts of the files, the scenario first.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        let files = self.files.iter();
        files.map(|(file, content)| (file.as_str(), text(content)))
    }

    /// Returns the files except for the scenario.
    pub fn manifests(&self) -> impl Iterator<Item = SourceText> {
        self.files[1..].iter().map(|(file, content)| SourceText { file: file.clone(), text: text(content) })
    }

    /// Returns whether dependents may outlive their owner: a user requests it, they have other finalizers, the run
    /// does not wait for them, or their pods are on nodes that never return (a second delete without foreground does
    /// not wait).
    pub fn leaves_pods_unfinished(&self) -> bool {
        let output: String = self.files.iter().map(|(_, content)| text(content)).collect();
        let words = ["\"Orphan\"", "example.com/hold", "AllJobSetsFinished", "faultProcesses"];
        !self.repaired || words.iter().any(|word| output.contains(word))
    }

    pub fn text(&self) -> String {
        let files = self.texts().map(|(name, text)| format!("# {name}\n{text}\n"));
        let gates = &self.unsaid;
        let unsaid = format!("# last name {}, claims stay {}\n", gates.last_name, gates.claims_stay);
        files.chain([unsaid]).collect()
    }
}

/// Returns the content as JSON, which is valid YAML.
fn text(content: &Value) -> String {
    serde_json::to_string_pretty(content).unwrap_or_default()
}

pub fn draw_case(seed: u64) -> Case {
    draw(seed, Draw::new(seed))
}

/// Draws a case with several JobSets that compete for quota and nodes: objects of Kueue, profiles of kube-scheduler,
/// priorities, host ports, gangs, user actions and faults together.
pub fn draw_combined(seed: u64) -> Case {
    let mut d = Draw::new(seed ^ 0x636f_6d62_696e_6564);
    d.is_combined = true;
    draw(seed, d)
}

fn draw(seed: u64, mut draws: Draw) -> Case {
    let d = &mut draws;
    d.wild = !d.one_in(3) || d.is_combined;
    let count = if d.is_combined {
        d.between(1, 4)
    } else if d.one_in(4) {
        2
    } else {
        1
    };
    let names = ["a", "b", "d", "e"].into_iter().take(count as usize);
    let jobsets: Vec<JobSet> = names.map(|name| jobset::draw(d, name)).collect();
    let repaired = !d.one_in(3);
    let cluster = Cluster::draw(d, &jobsets, repaired && !d.is_combined);
    let mut scenario = json!({"apiVersion": "jobset-sim/v1alpha1", "kind": "Scenario", "metadata": {"name": "swarm"},
        "topology": cluster.topology, "controlPlane": environment::control_plane(d), "timing": environment::timing(d),
        "seed": seed});
    if !scenario["topology"]["slices"].is_null() {
        scenario["sliceFormation"] = json!("30s");
    }
    let late = d.one_in(4).then(|| format!("{}s", d.between(0, 90)));
    let mut files = Vec::new();
    scenario["jobSets"] = place_manifests(d, &jobsets, late, &mut files).into();
    if d.rare(3) {
        let others: Vec<Value> = (0..d.between(1, 4)).map(|_| objects::any(d, &jobsets)).collect();
        scenario["objects"] = place_existing_objects(d, distinct(others), &mut files).into();
    }
    let (rules, fails) = environment::containers(d, &jobsets);
    scenario["containers"] = rules.into();
    let stage = Stage { jobsets: &jobsets, cluster: &cluster, repaired };
    let (faults, ended) = script::draw(d, &stage);
    // A pod that has succeeded keeps its old attempt, so no barrier is lifted any more. A leader that has succeeded
    // admits no followers (C-62).
    let output = format!("{}{}", text(&scenario["containers"]), text(&json!(faults)));
    let succeeds = output.contains("runFor") || output.contains("\"exitCode\": 0");
    scenario["faults"] = faults.into();
    if d.wild && d.rare(3) {
        let mut processes: Vec<Value> = (0..d.between(1, 3)).map(|_| environment::process(d)).collect();
        if scenario["timing"].get("kubelet").is_some() {
            // With a scripted kubelet, pods of a replaced machine would not be detected as missing.
            for process in &mut processes {
                process["asNew"] = json!(null);
                process["deletedAfter"] = json!(null);
            }
        }
        scenario["faultProcesses"] = processes.into();
    }
    if d.wild {
        super::faults::enrich(seed, &mut scenario);
        objects::configure_scheduler(seed, d.is_combined, &mut scenario);
        objects::group_pods((seed, if d.is_combined { 4 } else { 8 }), &jobsets[0], &mut scenario, &mut files);
    }
    if let Some(training) = training::draw(seed, &jobsets).filter(|_| d.wild) {
        scenario["training"] = training;
        training::communicate(seed, &mut scenario);
        training::silent(seed, &mut scenario);
    }
    if d.is_combined {
        scheduling::enrich(seed, &mut scenario, &mut files);
        kueue::enrich(seed, &jobsets, &mut scenario, &mut files);
        scheduling::contend(seed, &mut scenario, &mut files);
    }
    if let Some(prices) = training::prices(seed, &cluster.topology) {
        scenario["prices"] = prices;
    }
    let when = d.pick(&["Settled", "Settled", "AllJobSetsFinished"]);
    let when = if d.rare(8) { "Time" } else { when };
    // Containers that crash without back-off crash frequently.
    let often = ["atBarrierFor", "\"0s\"", "\"1ns\"", "\"100ms\""];
    let short = often.iter().any(|word| output.contains(word)) || jobsets.iter().any(|j| j.hurried);
    let short = short || scenario["training"].to_string().contains("rendezvous");
    let at = match (short, d.is_combined) {
        (true, _) => "20m",
        (false, true) => "3h",
        (false, false) => "12h",
    };
    scenario["stop"] = json!({"at": at, "when": when});
    // A run uses the scenario itself and ignores its variants.
    if seed.is_multiple_of(8) {
        let variant = json!({"name": "patient", "set": {"spec.failurePolicy.maxRestarts": 50}});
        let grid = json!({"path": "spec.failurePolicy.maxRestarts", "values": [0, 5]});
        let range = json!({"path": "stop.at", "from": "1h", "to": "2h", "scale": d.pick(&["Linear", "Log"])});
        let sweep = json!({"axes": [grid, range], "latinHypercube": 3});
        let all = json!({"variants": [variant], "replications": 2, "sweep": sweep});
        scenario["experiment"] = all;
    }
    files.insert(0, ("scenario.yaml".to_owned(), scenario));
    let expected = jobsets.iter().enumerate().map(|(i, j)| {
        // Pods of another JobSet may enter a domain during the absence of its leader, and then exclude the leader
        // (EXC-17).
        let invaded = j.exclusive && jobsets.len() > 1;
        let may_wait = j.may_wait || j.managed_elsewhere || invaded;
        let may_wait = may_wait || (j.in_place || j.exclusive) && succeeds;
        Expected {
            name: j.name.clone(),
            managed_elsewhere: j.managed_elsewhere,
            lives: repaired && !fails && !may_wait && !ended.contains(&i) && !d.wild,
        }
    });
    Case {
        seed,
        files,
        may_go_on: short || fails || !repaired || d.wild || jobsets.iter().any(|j| j.may_go_on),
        wild: d.wild,
        repaired,
        jobsets: expected.collect(),
        unsaid: draw_unstated(d),
    }
}

/// Returns `jobSets`, with each manifest in its own file.
fn place_manifests(
    d: &mut Draw, jobsets: &[JobSet], late: Option<String>, files: &mut Vec<(String, Value)>,
) -> Vec<Value> {
    let mut entries = Vec::new();
    for js in jobsets {
        let file = format!("{}.yaml", js.name);
        let mut entry = json!({ "manifest": file });
        if let Some(late) = &late {
            entry["submitAt"] = json!(late);
        }
        if d.rare(8) {
            let strategy = if js.in_place { "InPlaceRestart" } else { d.pick(&["Recreate", "BlockingRecreate"]) };
            entry["restartStrategy"] = json!(strategy);
        }
        if d.rare(10) {
            entry["set"] = json!(["metadata.labels.set=\"by\""]);
        }
        entries.push(entry);
        files.push((file, js.object.clone()));
    }
    entries
}

/// Returns `objects`, either in the scenario or in a separate file.
fn place_existing_objects(d: &mut Draw, others: Vec<Value>, files: &mut Vec<(String, Value)>) -> Vec<Value> {
    if d.one_in(2) {
        return others;
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": others});
    files.push(("objects.yaml".to_owned(), list));
    vec![json!({"manifest": "objects.yaml"})]
}

/// Removes duplicate objects, because each name can exist only once.
fn distinct(mut objects: Vec<Value>) -> Vec<Value> {
    let name = |o: &Value| (o["kind"].to_string(), o["metadata"]["name"].to_string());
    let mut seen = std::collections::BTreeSet::new();
    objects.retain(|o| seen.insert(name(o)));
    objects
}

fn draw_unstated(d: &mut Draw) -> Unsaid {
    Unsaid { last_name: d.rare(2), claims_stay: d.rare(8) }
}
