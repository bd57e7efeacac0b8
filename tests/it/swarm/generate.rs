//! A seed becomes the texts of a scenario and its JobSets.

use super::scene::{self, Cluster};
use jobset_sim::base::random::{self, Draws, Key, Purpose};
use std::fmt::Write;

pub struct Case {
    pub scenario: String,
    pub jobsets: String,
    pub names: Vec<String>,
    /// MB-1: another controller is asked to do the work, and there is none.
    pub managed_elsewhere: Vec<bool>,
    /// The run may last until its time limit: something fails again and again, or there is little room.
    pub may_go_on: bool,
    /// Per JobSet: there is room to spare and all damage is repaired, so it must come to rest by itself.
    pub lives: Vec<bool>,
}

/// Numbers of one seed, each the next of its name.
pub struct Draw {
    draws: Draws,
    next: u32,
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw {
            draws: Draws::new(seed, 0),
            next: 0,
        }
    }

    /// Uniform, both ends included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Uniform in `0..n`.
    pub fn below(&mut self, n: u32) -> u32 {
        let name = random::Draw {
            purpose: Purpose::Test,
            entity: Key::of("swarm"),
            occurrence: 0,
            lane: self.next,
        };
        self.next += 1;
        self.draws.below(name, n)
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

pub struct ReplicatedJob {
    pub name: String,
    pub replicas: u32,
    pub pods: u32,
    pub completions: u32,
}

pub struct JobSet {
    pub name: String,
    in_place: bool,
    pub exclusive: bool,
    pub jobs: Vec<ReplicatedJob>,
    text: String,
    may_go_on: bool,
    managed_elsewhere: bool,
    /// Something in it may rest half-done by Kubernetes' own rules.
    may_wait: bool,
}

impl JobSet {
    pub fn pods(&self) -> u32 {
        self.jobs.iter().map(|j| j.replicas * j.pods).sum()
    }

    pub fn any_pod(&self, d: &mut Draw) -> String {
        let j = &self.jobs[d.below(self.jobs.len() as u32) as usize];
        format!(
            "{}-{}-{}-{}",
            self.name,
            j.name,
            d.below(j.replicas),
            d.below(j.completions)
        )
    }
}

pub fn case(seed: u64) -> Case {
    let d = &mut Draw::new(seed);
    let count = if d.one_in(4) { 2 } else { 1 };
    let jobsets: Vec<JobSet> = (0..count).map(|k| jobset(d, ["a", "b"][k])).collect();
    let repaired = !d.one_in(3);
    let cluster = Cluster::draw(d, &jobsets, repaired);
    let mut s =
        String::from("apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: swarm}\n");
    s.push_str(&cluster.text);
    scene::control_plane(d, &mut s);
    scene::timing(d, &mut s);
    s.push_str("jobSets:\n  - manifest: jobset.yaml\n");
    if d.one_in(4) {
        let _ = writeln!(s, "    submitAt: {}s", d.between(0, 90));
    }
    let fails = scene::containers(d, &jobsets, &mut s);
    let ended = scene::faults(d, &jobsets, &cluster, repaired, &mut s);
    // A pod that has succeeded keeps its old attempt, and no barrier opens any more; a leader that has succeeded
    // admits no followers (C-62).
    let succeeds = s.contains("runFor") || s.contains("exitCode: 0");
    let when = d.pick(&["Settled", "Settled", "AllJobSetsFinished"]);
    let _ = write!(s, "stop: {{at: 12h, when: {when}}}\nseed: {seed}\n");
    let lives = jobsets.iter().enumerate();
    Case {
        scenario: s,
        jobsets: jobsets
            .iter()
            .map(|j| j.text.as_str())
            .collect::<Vec<_>>()
            .join("---\n"),
        may_go_on: fails || !repaired || jobsets.iter().any(|j| j.may_go_on),
        lives: lives
            .map(|(i, j)| {
                let may_wait =
                    j.may_wait || j.managed_elsewhere || ((j.in_place || j.exclusive) && succeeds);
                repaired && !fails && !may_wait && !ended.contains(&i)
            })
            .collect(),
        managed_elsewhere: jobsets.iter().map(|j| j.managed_elsewhere).collect(),
        names: jobsets.iter().map(|j| j.name.clone()).collect(),
    }
}

fn jobset(d: &mut Draw, name: &str) -> JobSet {
    let strategy = d.pick(&["Recreate", "BlockingRecreate", "InPlaceRestart"]);
    let in_place = strategy == "InPlaceRestart";
    let exclusive = d.one_in(2);
    let mut js = JobSet {
        name: name.to_owned(),
        in_place,
        exclusive,
        jobs: Vec::new(),
        text: String::new(),
        may_go_on: false,
        managed_elsewhere: false,
        may_wait: false,
    };
    let mut t =
        format!("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: {name}\n");
    if exclusive {
        t.push_str(
            "  annotations:\n    alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack\n",
        );
    }
    t.push_str("spec:\n");
    if d.one_in(12) {
        t.push_str("  suspend: true\n");
    }
    if d.one_in(8) {
        let _ = writeln!(t, "  ttlSecondsAfterFinished: {}", d.between(0, 120));
    }
    if d.one_in(20) {
        t.push_str("  managedBy: example.com/another\n");
        js.managed_elsewhere = true;
    }
    let jobs = d.between(1, 3);
    let mut body = String::new();
    for k in 0..jobs {
        replicated_job(d, k, &mut js, &mut body);
    }
    failure_policy(d, &mut js, strategy, &mut t);
    if d.one_in(5) {
        let operator = d.pick(&["All", "Any"]);
        let target = d.below(jobs);
        let _ = writeln!(
            t,
            "  successPolicy: {{operator: {operator}, targetReplicatedJobs: [r{target}]}}"
        );
    }
    if d.one_in(5) && !body.contains("dependsOn") {
        t.push_str("  startupPolicy: {startupPolicyOrder: InOrder}\n");
        js.may_wait |= in_place;
    }
    t.push_str("  replicatedJobs:\n");
    t.push_str(&body);
    js.text = t;
    js
}

fn failure_policy(d: &mut Draw, js: &mut JobSet, strategy: &str, t: &mut String) {
    if !js.in_place && d.one_in(10) {
        return;
    }
    let _ = write!(
        t,
        "  failurePolicy:\n    maxRestarts: {}\n    restartStrategy: {strategy}\n",
        d.between(0, 6)
    );
    if !d.one_in(3) {
        return;
    }
    t.push_str("    rules:\n");
    for _ in 0..d.between(1, 2) {
        let action = d.pick(&[
            "FailJobSet",
            "RestartJobSet",
            "RestartJobSetAndIgnoreMaxRestarts",
            "RestartJob",
            "RestartJobAndIgnoreMaxRestarts",
        ]);
        let _ = writeln!(t, "      - action: {action}");
        if d.one_in(3) {
            let reason = d.pick(&[
                "BackoffLimitExceeded",
                "PodFailurePolicy",
                "DeadlineExceeded",
            ]);
            let _ = writeln!(t, "        onJobFailureReasons: [{reason}]");
        }
        if d.one_in(3) {
            let target = d.below(js.jobs.len() as u32);
            let _ = writeln!(t, "        targetReplicatedJobs: [r{target}]");
        }
    }
}

fn replicated_job(d: &mut Draw, k: u32, js: &mut JobSet, t: &mut String) {
    let in_place = js.in_place;
    let replicas = d.between(1, 4);
    let pods = d.between(1, 6);
    let completions = match in_place {
        false if d.one_in(8) => pods + d.between(1, 3),
        _ => pods,
    };
    let _ = write!(t, "    - name: r{k}\n      replicas: {replicas}\n");
    if k > 0 && d.one_in(6) {
        let status = d.pick(&["Ready", "Complete"]);
        let on = d.below(k);
        let _ = writeln!(t, "      dependsOn: [{{name: r{on}, status: {status}}}]");
        // IPR-5 counts pods that do not exist yet; Complete waits for ever if nothing completes.
        js.may_wait |= in_place || status == "Complete";
    }
    let _ = write!(
        t,
        "      template:\n        spec:\n          parallelism: {pods}\n          completions: {completions}\n"
    );
    if in_place {
        t.push_str("          backoffLimit: 2147483647\n          podReplacementPolicy: Failed\n");
    } else {
        if !d.one_in(4) {
            let _ = writeln!(t, "          backoffLimit: {}", d.pick(&[0, 0, 0, 1, 3]));
        }
        if d.one_in(4) {
            t.push_str("          podReplacementPolicy: Failed\n");
        }
    }
    if d.one_in(10) {
        let _ = writeln!(t, "          activeDeadlineSeconds: {}", d.between(20, 900));
        js.may_go_on = true;
    }
    let indexes = if in_place { "" } else { indexes(d, js, t) };
    let on_failure = !in_place && indexes != "per index" && d.one_in(5);
    if !in_place && !on_failure && d.one_in(6) {
        let action = match indexes {
            "per index" => "FailIndex",
            _ => d.pick(&["FailJob", "Ignore", "Count"]),
        };
        t.push_str("          podFailurePolicy:\n            rules:\n");
        let _ = writeln!(t, "              - action: {action}");
        if d.one_in(2) {
            t.push_str(
                "                onPodConditions: [{type: DisruptionTarget, status: \"True\"}]\n",
            );
        } else {
            t.push_str("                onExitCodes: {operator: In, values: [1, 143, 255]}\n");
        }
        js.may_go_on = true;
    }
    pod_template(d, in_place, on_failure, t);
    js.jobs.push(ReplicatedJob {
        name: format!("r{k}"),
        replicas,
        pods,
        completions,
    });
}

/// What depends on completion indexes: a limit for each, and when a Job is complete.
fn indexes(d: &mut Draw, js: &mut JobSet, t: &mut String) -> &'static str {
    match d.below(12) {
        0 => {
            let limit = d.between(0, 2);
            let _ = writeln!(t, "          backoffLimitPerIndex: {limit}");
            if d.one_in(2) {
                t.push_str("          maxFailedIndexes: 0\n");
            }
            js.may_go_on = true;
            js.may_wait = true;
            "per index"
        }
        1 => {
            t.push_str("          successPolicy: {rules: [{succeededCount: 1}]}\n");
            ""
        }
        _ => "",
    }
}

const AGENT_ENV: &str = "env: [{name: JOBSET_NAME, value: js}, {name: POD_NAME, value: pod}";
const RESTART_ALL: &str = "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: NotIn, values: [0]}}]";

fn pod_template(d: &mut Draw, in_place: bool, on_failure: bool, t: &mut String) {
    let policy = if on_failure { "OnFailure" } else { "Never" };
    let grace = d.pick(&[0, 1, 30]);
    let _ = write!(
        t,
        "          template:\n            spec:\n              restartPolicy: {policy}\n              \
         terminationGracePeriodSeconds: {grace}\n"
    );
    if d.one_in(6) {
        t.push_str(
            "              tolerations: [{key: example.com/broken, operator: Exists, effect: NoExecute, tolerationSeconds: 20}]\n",
        );
    }
    let resources = d.pick(&[
        "resources: {limits: {example.com/accelerator: 4}}",
        "resources: {limits: {example.com/accelerator: 2}}",
    ]);
    let image = d.pick(&["x:1", "x"]);
    if !in_place {
        let _ = writeln!(
            t,
            "              containers: [{{name: w, image: \"{image}\", {resources}}}]"
        );
    } else if d.one_in(2) {
        let period = d.pick(&[1, 10]);
        let _ = writeln!(
            t,
            "              initContainers: [{{name: agent, image: \"x:1\", restartPolicy: Always, {RESTART_ALL}, \
             startupProbe: {{httpGet: {{path: /barrier-is-down, port: 8081}}, periodSeconds: {period}}}, {AGENT_ENV}]}}]"
        );
        let _ = writeln!(
            t,
            "              containers: [{{name: w, image: \"{image}\", restartPolicy: Never, {RESTART_ALL}, \
             {resources}}}]"
        );
    } else {
        let _ = writeln!(
            t,
            "              containers: [{{name: w, image: \"x:1\", restartPolicy: Never, restartPolicyRules: \
             [{{action: Restart, exitCodes: {{operator: NotIn, values: [0]}}}}], {AGENT_ENV}, \
             {{name: WORKER_COMMAND, value: z}}], {resources}}}]"
        );
    }
}
