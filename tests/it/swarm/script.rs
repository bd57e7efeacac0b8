//! Generates faults of pods, nodes and JobSets, and the subsequent repairs.

use super::draw::Draw;
use super::environment::Cluster;
use super::jobset::JobSet;
use super::requests;
use serde_json::{Value, json};

/// Inputs for drawing a script.
pub struct Stage<'a> {
    pub jobsets: &'a [JobSet],
    pub cluster: &'a Cluster,
    /// Whether all damage is repaired.
    pub repaired: bool,
}

/// Draws at most six faults (twelve if rare events may be drawn) and the repairs. Also returns the JobSets that a
/// user suspends.
pub fn draw(d: &mut Draw, stage: &Stage) -> (Vec<Value>, Vec<usize>) {
    let count = d.between(0, if d.wild { 12 } else { 6 });
    let mut script = Script { faults: Vec::new(), repairs: Vec::new(), suspended: Vec::new(), clock: "at" };
    let spread = d.pick(&[5, 60, 600]);
    if d.one_in(2) {
        script.clock = "afterReady";
    }
    // Faults often coincide: in half of the cases, most of them affect one pod and its node, at full seconds.
    let focus = d.one_in(2).then(|| any(d, stage));
    let step = d.pick(&[1, 1000]);
    for k in 0..count {
        let at = d.below(spread * 1000) / step * step;
        let (j, pod) = match &focus {
            Some(focus) if !d.one_in(4) => focus.clone(),
            _ => any(d, stage),
        };
        let node = if focus.is_some() || d.one_in(2) {
            json!({"ofPod": pod})
        } else {
            json!({"node": d.pick(&stage.cluster.nodes)})
        };
        let soon = d.pick(&[1, 30, 60_000, 400_000]);
        let mended = stage.repaired || d.one_in(2);
        let back = mended.then(|| at + d.between(1, soon));
        if d.wild && d.one_in(2) {
            let (action, later) = requests::draw(d, stage, j, &pod);
            script.push(at, action);
            if let (Some(back), Some(later)) = (back, later) {
                script.push_repair(back, later);
            }
            continue;
        }
        script.push_fault(d, stage, (k, at, back), (j, pod, node));
    }
    script.faults.append(&mut script.repairs);
    (script.faults, script.suspended)
}

/// Draws a JobSet and one of its pods.
fn any(d: &mut Draw, stage: &Stage) -> (usize, String) {
    let j = d.below(stage.jobsets.len() as u32) as usize;
    (j, stage.jobsets[j].any_pod(d))
}

struct Script {
    faults: Vec<Value>,
    repairs: Vec<Value>,
    suspended: Vec<usize>,
    clock: &'static str,
}

impl Script {
    fn push(&mut self, at: u32, mut action: Value) {
        action[self.clock] = json!(format!("{at}ms"));
        self.faults.push(action);
    }

    fn push_repair(&mut self, at: u32, mut action: Value) {
        action[self.clock] = json!(format!("{at}ms"));
        self.repairs.push(action);
    }

    fn push_fault(
        &mut self, d: &mut Draw, stage: &Stage, (k, at, back): (u32, u32, Option<u32>),
        (j, pod, node): (usize, String, Value),
    ) {
        let alias = format!("n{k}");
        let named = |mut node: Value| {
            node["alias"] = json!(alias);
            node
        };
        let js = json!({"name": stage.jobsets[j].name});
        let mut repair = None;
        let action = match d.between(0, 13) {
            0 | 1 => json!({"containerExit": {"pod": pod, "exitCode": d.pick(&[1, 1, 0, 137])}}),
            2 => json!({"deletePod": {"pod": pod, "force": d.one_in(2)}}),
            3 => json!({"evictPod": {"pod": pod}}),
            kind @ (4 | 5) => {
                repair = Some(json!({"returnNode": {"alias": alias}}));
                json!({ ["crashNode", "partitionNode"][kind as usize - 4]: named(node) })
            }
            6 => json!({ d.pick(&["returnNode", "newNode"]): node }),
            7 => json!({"deleteNode": node}),
            8 | 9 => {
                repair = Some(json!({"uncordonNode": {"alias": alias}}));
                json!({ d.pick(&["cordonNode", "drainNode"]): named(node) })
            }
            10 => json!({"uncordonNode": node}),
            11 => {
                let mut taint = if d.one_in(2) { named(node) } else { node };
                taint["key"] = json!(d.pick(&["example.com/broken", "node.kubernetes.io/out-of-service"]));
                taint["effect"] = json!(d.pick(&["NoExecute", "NoSchedule", "PreferNoSchedule"]));
                if d.rare(2) {
                    taint["value"] = json!("v");
                }
                json!({"taintNode": taint})
            }
            12 => {
                repair = Some(json!({"resumeJobSet": js}));
                if back.is_none() {
                    self.suspended.push(j);
                }
                json!({"suspendJobSet": js})
            }
            _ => {
                let what = d.pick(&["resumeJobSet", "suspendJobSet", "deleteJobSet"]);
                if what == "suspendJobSet" {
                    self.suspended.push(j);
                }
                json!({ what: js })
            }
        };
        self.push(at, action);
        if let (Some(back), Some(repair)) = (back, repair) {
            self.push_repair(back, repair);
        }
    }
}
