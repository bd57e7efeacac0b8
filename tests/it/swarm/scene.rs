//! What surrounds the JobSets of a seed: cluster, rates, delays, what containers do, faults and repairs.

use super::generate::{Draw, JobSet};
use std::fmt::Write;

pub struct Cluster {
    pub text: String,
    nodes: u32,
}

impl Cluster {
    /// With `room`: more than the JobSets need, even with six nodes and racks gone.
    pub fn draw(d: &mut Draw, jobsets: &[JobSet], room: bool) -> Cluster {
        let widest = jobsets.iter().flat_map(|j| &j.jobs);
        let widest = widest.map(|j| j.pods).max().unwrap_or(1);
        let exclusive_jobs: u32 = jobsets
            .iter()
            .filter(|j| j.exclusive)
            .flat_map(|j| &j.jobs)
            .map(|j| j.replicas)
            .sum();
        let pods: u32 = jobsets.iter().map(JobSet::pods).sum();
        let (rack, mut racks) = if room {
            (widest + 7, exclusive_jobs + 7)
        } else {
            (d.between(1, 8), d.between(1, 8))
        };
        if room {
            racks += pods.div_ceil(rack);
        }
        let zone = d.pick(&["zone-a", "\"zone-{pool}\""]);
        let text = format!(
            "topology:\n  apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: drawn}}\n  pools:\n    \
             - name: node-{{node:03}}\n      count: {racks}\n      nodesPerIsland: {rack}\n      \
             accelerator: example.com/accelerator\n      allocatable: {{cpu: 8, example.com/accelerator: 4}}\n      \
             pricePerNodeHour: 3.2\n      \
             labels: {{topology.kubernetes.io/zone: {zone}, example.com/rack: \"rack-{{pool}}\"}}\n      \
             features: [RestartAllContainersOnContainerExits]\n"
        );
        Cluster {
            text,
            nodes: rack * racks,
        }
    }
}

pub fn control_plane(d: &mut Draw, s: &mut String) {
    let preset = d.pick(&["stock", "scale-test", "kops"]);
    let version = d.pick(&["1.36", "1.36", "1.31", "1.30"]);
    let _ = write!(
        s,
        "controlPlane:\n  preset: {preset}\n  kubernetes: \"{version}\"\n"
    );
    if d.one_in(4) {
        let (qps, burst) = (d.pick(&[1, 5, 5000]), d.pick(&[1, 10]));
        let _ = writeln!(
            s,
            "  kubeControllerManager: {{qps: {qps}, burst: {burst}, concurrentJobSyncs: {}, concurrentGcSyncs: {}}}",
            d.between(1, 6),
            d.between(1, 6)
        );
    }
    if d.one_in(8) {
        let _ = writeln!(s, "  nodeRequestsPerSecond: {}", d.between(2, 50));
    }
}

/// Mostly the profile; sometimes nothing takes any time, so that everything happens at once, or much takes long.
pub fn timing(d: &mut Draw, s: &mut String) {
    match d.between(0, 5) {
        0 => s.push_str("timing: {apiRead: 0s, apiWrite: 0s, apiPodCreate: 0s, watchLag: 0s}\n"),
        1 => s.push_str(
            "timing: {apiRead: 5ms, apiWrite: 5ms, apiPodCreate: 5ms, watchLag: 5ms, volumes: 0s, sandbox: 0s, \
             containerStart: 1s, statusWrite: 0s, containerStop: 1s, cleanup: 0s, agentFanout: 5ms, agentBoot: 0s}\n",
        ),
        2 => s.push_str(
            "timing: {watchLag: {uniform: [0s, 2s]}, apiWrite: {uniform: [0s, 3s]}, cleanup: {uniform: [0s, 20s]}, \
             containerStop: 25s, sandbox: {uniform: [0s, 30s]}, agentFanout: {uniform: [0s, 20s]}}\n",
        ),
        _ => {}
    }
}

/// Returns whether some rule makes containers fail.
pub fn containers(d: &mut Draw, jobsets: &[JobSet], s: &mut String) -> bool {
    if d.one_in(3) {
        return false;
    }
    s.push_str("containers:\n");
    let mut fails = false;
    for _ in 0..d.between(1, 2) {
        let code = d.pick(&[0, 0, 0, 1, 3]);
        let js = &jobsets[d.below(jobsets.len() as u32) as usize];
        let job = &js.jobs[d.below(js.jobs.len() as u32) as usize];
        let _ = write!(
            s,
            "  - {{runFor: {}s, exitCode: {code}, jobSet: {}",
            d.between(1, 1200),
            js.name
        );
        fails |= code != 0;
        if d.one_in(2) {
            let _ = write!(s, ", replicatedJob: {}", job.name);
            if d.one_in(2) {
                let _ = write!(s, ", jobIndex: {}", d.below(job.replicas));
            }
            if d.one_in(2) {
                let _ = write!(s, ", podIndex: {}", d.below(job.completions));
            }
        }
        if d.one_in(3) {
            let _ = write!(s, ", restartAttempt: {}", d.between(0, 1));
        }
        s.push_str("}\n");
    }
    s.push_str("  - {runFor: 20m}\n");
    fails
}

/// At most six faults, afterwards repairs. Returns the JobSets that a user suspends.
pub fn faults(
    d: &mut Draw,
    jobsets: &[JobSet],
    cluster: &Cluster,
    repaired: bool,
    s: &mut String,
) -> Vec<usize> {
    let count = d.between(0, 6);
    if count == 0 {
        return Vec::new();
    }
    s.push_str("faults:\n");
    let (mut repairs, mut suspended) = (String::new(), Vec::new());
    let spread = d.pick(&[5, 60, 600]);
    let relative = d.one_in(2);
    let clock = if relative { "afterReady" } else { "at" };
    // Trouble comes in company: often most faults hit one pod and its node, in steps of a whole second.
    let focus = d.one_in(2).then(|| {
        let j = d.below(jobsets.len() as u32) as usize;
        (j, jobsets[j].any_pod(d))
    });
    let step = d.pick(&[1, 1000]);
    for k in 0..count {
        let at = d.below(spread * 1000) / step * step;
        let time = format!("{clock}: {at}ms");
        let (j, pod) = match &focus {
            Some(focus) if !d.one_in(4) => focus.clone(),
            _ => {
                let j = d.below(jobsets.len() as u32) as usize;
                (j, jobsets[j].any_pod(d))
            }
        };
        let js = &jobsets[j];
        let node = if focus.is_some() || d.one_in(2) {
            format!("ofPod: {pod}")
        } else {
            format!("node: node-{:03}", d.below(cluster.nodes))
        };
        let soon = d.pick(&[1, 30, 60_000, 400_000]);
        let back = if repaired || d.one_in(2) {
            format!("{clock}: {}ms", at + d.between(1, soon))
        } else {
            String::new()
        };
        let mut undo = |action: &str| {
            if !back.is_empty() {
                let _ = writeln!(repairs, "  - {{{back}, {action}}}");
            }
        };
        let action = match d.between(0, 13) {
            0 | 1 => {
                let code = d.pick(&[1, 1, 0, 137]);
                format!("containerExit: {{pod: {pod}, exitCode: {code}}}")
            }
            2 => format!("deletePod: {{pod: {pod}, force: {}}}", d.one_in(2)),
            3 => format!("evictPod: {{pod: {pod}}}"),
            kind @ (4 | 5) => {
                undo(&format!("returnNode: {{alias: n{k}}}"));
                let what = ["crashNode", "partitionNode"][kind as usize - 4];
                format!("{what}: {{{node}, alias: n{k}}}")
            }
            6 => format!("returnNode: {{{node}}}"),
            7 => format!("deleteNode: {{{node}}}"),
            8 | 9 => {
                undo(&format!("uncordonNode: {{alias: n{k}}}"));
                let what = d.pick(&["cordonNode", "drainNode"]);
                format!("{what}: {{{node}, alias: n{k}}}")
            }
            10 => format!("uncordonNode: {{{node}}}"),
            11 => {
                let key = d.pick(&["example.com/broken", "node.kubernetes.io/out-of-service"]);
                let effect = d.pick(&["NoExecute", "NoSchedule", "PreferNoSchedule"]);
                format!("taintNode: {{{node}, key: {key}, effect: {effect}}}")
            }
            12 => {
                undo(&format!("resumeJobSet: {{name: {}}}", js.name));
                if back.is_empty() {
                    suspended.push(j);
                }
                format!("suspendJobSet: {{name: {}}}", js.name)
            }
            _ => {
                let what = d.pick(&["resumeJobSet", "suspendJobSet", "deleteJobSet"]);
                if what == "suspendJobSet" {
                    suspended.push(j);
                }
                format!("{what}: {{name: {}}}", js.name)
            }
        };
        let _ = writeln!(s, "  - {{{time}, {action}}}");
    }
    s.push_str(&repairs);
    suspended
}
