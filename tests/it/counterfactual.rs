//! Checks each reported bottleneck with a counterfactual: if the bottleneck is relieved, the restart is shorter by
//! at least a third of the reported time. If a second bottleneck is as long, it is reported and relieved as well.

use crate::support;
use sim_analysis::metrics::restarts::gate::{Gate, bottleneck};
use sim_analysis::metrics::restarts::waits::What;
use sim_analysis::metrics::{Folds, RunView};
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::Dist;
use sim_engine::record::{Resource, Waited};

/// Returns the duration and the reported bottlenecks of the first restart.
fn play(scenario: &Scenario) -> (Duration, Vec<Gate>) {
    let mut folds = Folds::new(scenario, false);
    let mut simulation = support::simulation(scenario);
    let outcome = simulation.run(scenario.seed, 0, &mut folds);
    let folded = folds.finish(&outcome, simulation.names());
    let view = RunView {
        scenario,
        names: simulation.names(),
        outcome: &outcome,
        folded: &folded,
        seed: scenario.seed,
        not_modelled: &[],
    };
    let restart = view.restarts().first();
    let restart = restart.unwrap_or_else(|| panic!("{} has no restart", scenario.name));
    (restart.total(), bottleneck(&view, restart))
}

fn half(dist: &mut Dist) {
    *dist = match dist.clone() {
        Dist::Fixed(d) => Dist::Fixed(Duration(d.0 / 2)),
        Dist::LogNormal { median_s, sigma } => Dist::LogNormal {
            median_s: median_s / 2.0,
            sigma,
        },
        Dist::Uniform { low_s, high_s } => Dist::Uniform {
            low_s: low_s / 2.0,
            high_s: high_s / 2.0,
        },
        Dist::Exponential { mean_s } => Dist::Exponential {
            mean_s: mean_s / 2.0,
        },
        Dist::Weibull { scale_s, shape } => Dist::Weibull {
            scale_s: scale_s / 2.0,
            shape,
        },
        Dist::Gamma { mean_s, shape } => Dist::Gamma {
            mean_s: mean_s / 2.0,
            shape,
        },
        Dist::Empirical(table) => Dist::Empirical(table.scaled(0.5)),
        Dist::Measured { p50_s, p95_s } => Dist::Measured {
            p50_s: p50_s / 2.0,
            p95_s: p95_s / 2.0,
        },
    };
}

fn kubelet(scenario: &mut Scenario) -> &mut RealKubelet {
    match &mut scenario.timing.kubelet {
        Kubelet::Real(k) => k,
        Kubelet::Scripted { .. } => panic!("a scripted kubelet"),
    }
}

fn pod_specs(scenario: &mut Scenario) -> impl Iterator<Item = &mut PodSpec> {
    let rjs = scenario.jobsets.iter_mut();
    let rjs = rjs.flat_map(|js| &mut js.jobset.spec.replicated_jobs);
    rjs.map(|rj| &mut rj.template.template.spec)
}

/// Doubles the rate, halves the period or halves the work. Returns `None` if no setting controls it (a constant of
/// Kubernetes).
fn relieve(scenario: &mut Scenario, what: What) -> Option<()> {
    let plane = &mut scenario.control_plane;
    match what {
        What::Shared(Resource::JobControllerClient | Resource::GarbageCollectorClient) => {
            plane.kube_controller_manager.qps *= 2.0;
        }
        What::Shared(
            Resource::JobSetClient | Resource::JobSetStatusClient | Resource::JobSetPodClient,
        ) => {
            plane.jobset_manager.qps *= 2.0;
        }
        What::Shared(Resource::SchedulerBindClient) => plane.kube_scheduler.qps *= 2.0,
        What::Shared(Resource::NodeRequests) => plane.node_requests_per_s *= 2.0,
        What::Shared(Resource::SchedulerCycle) => {
            let c = &mut scenario.timing.scheduler;
            for part in [&mut c.fixed, &mut c.per_node, &mut c.affinity_per_node] {
                *part = Duration(part.0 / 2);
            }
        }
        What::Shared(Resource::TaintLimiter) => return None,
        What::ApiServer => {
            let t = &mut scenario.timing;
            for dist in [&mut t.api_read, &mut t.api_write, &mut t.api_pod_create] {
                half(dist);
            }
        }
        What::Mechanism(Waited::Grace) => {
            half(&mut kubelet(scenario).container_stop);
            for rule in &mut scenario.containers {
                rule.stop_after = rule.stop_after.map(|d| Duration(d.0 / 2));
            }
        }
        What::Mechanism(Waited::ContainerStart) => {
            let k = kubelet(scenario);
            for dist in [
                &mut k.volumes,
                &mut k.sandbox,
                &mut k.container_start,
                &mut k.image_check,
                &mut k.agent_boot,
            ] {
                half(dist);
            }
            for rule in &mut scenario.containers {
                rule.start_after = rule.start_after.map(|d| Duration(d.0 / 2));
            }
        }
        What::Mechanism(Waited::ContainerRestart) => {
            let k = kubelet(scenario);
            for dist in [
                &mut k.status_write,
                &mut k.container_stop,
                &mut k.container_remove,
                &mut k.container_start,
                &mut k.image_check,
                &mut k.agent_boot,
            ] {
                half(dist);
            }
        }
        What::Mechanism(Waited::Pleg) => {
            let k = kubelet(scenario);
            k.pleg_period = Duration(k.pleg_period.0 / 2);
        }
        What::Mechanism(Waited::Cleanup) => half(&mut kubelet(scenario).cleanup),
        What::Mechanism(Waited::Listing) => {
            let per_pod = &mut scenario.timing.jobset_list_per_pod;
            *per_pod = Duration(per_pod.0 / 2);
        }
        What::Mechanism(Waited::FanOut) => half(&mut scenario.timing.agent_fanout),
        What::Mechanism(Waited::NodeMonitor) => plane.node_monitor_grace_period_s /= 2,
        What::Mechanism(Waited::Toleration) => {
            for spec in pod_specs(scenario) {
                for key in [
                    "node.kubernetes.io/unreachable",
                    "node.kubernetes.io/not-ready",
                ] {
                    spec.tolerations.push(Toleration {
                        key: Some(key.to_owned()),
                        exists: true,
                        value: String::new(),
                        effect: Some(TaintEffect::NoExecute),
                        toleration_seconds: Some(150),
                    });
                }
            }
        }
        What::Mechanism(Waited::Script | Waited::SilentNode | Waited::Running) => {
            sooner(scenario);
        }
        What::Mechanism(_) | What::Shared(_) | What::DeadEnd => return None,
    }
    Some(())
}

/// Halves the delays of the script after its first action, and the run time of every container.
fn sooner(scenario: &mut Scenario) {
    let at = |f: &ScriptedFault| match f.at {
        FaultTime::At(d) | FaultTime::AfterReady(d) => d,
        FaultTime::Worn { .. } | FaultTime::Follows { .. } => panic!("drawn"),
    };
    let first = scenario.faults.iter().map(at).min().unwrap_or_default();
    let halved = |d: Duration| first + Duration((d - first).0 / 2);
    for fault in &mut scenario.faults {
        fault.at = match fault.at {
            FaultTime::At(d) => FaultTime::At(halved(d)),
            FaultTime::AfterReady(d) => FaultTime::AfterReady(halved(d)),
            other => other,
        };
    }
    for rule in &mut scenario.containers {
        rule.run_for = rule.run_for.map(|d| Duration(d.0 / 2));
    }
}

/// Reported time of the bottlenecks, and duration of the restarts with and without them.
#[derive(Default)]
struct Held {
    claimed: Duration,
    as_it_is: Duration,
    relieved: Duration,
    told: Vec<String>,
}

impl Held {
    /// Simulates one seed of a scenario, first unchanged and then with every reported bottleneck relieved.
    fn play(&mut self, scenario: &Scenario) {
        let (total, named) = play(scenario);
        let mut relieved = scenario.clone();
        let mut told = Vec::new();
        let mut claimed = Duration::ZERO;
        for gate in &named {
            told.push(format!("{:?} {:.2} s", gate.what, gate.time.seconds()));
            if relieve(&mut relieved, gate.what).is_some() {
                claimed = claimed.max(gate.time);
            }
        }
        let told = told.join(", ");
        if claimed == Duration::ZERO {
            let text = format!("{:.2} s, {told}: nobody can turn that", total.seconds());
            return self.told.push(text);
        }
        let after = play(&relieved).0;
        self.claimed = self.claimed + claimed;
        self.as_it_is = self.as_it_is + total;
        self.relieved = self.relieved + after;
        let text = format!(
            "{:.2} s, {told}; relieved {:.2} s",
            total.seconds(),
            after.seconds()
        );
        self.told.push(text);
    }
}

fn hold(scenario: &Scenario) -> Result<String, String> {
    // The Job controller syncs once per second, so a small restart becomes shorter by either nothing or a second.
    // Several seeds are simulated and added up.
    let small = scenario
        .topology
        .pools
        .iter()
        .map(|pool| pool.count)
        .sum::<u32>()
        < 64;
    let mut held = Held::default();
    for seed in 0..if small { 8 } else { 1 } {
        let mut scenario = scenario.clone();
        scenario.seed += seed;
        held.play(&scenario);
    }
    let text = format!("{}: {}", scenario.name, held.told.join("\n    "));
    let saved = held.as_it_is - held.relieved;
    match saved.0 * 3 >= held.claimed.0 {
        true => Ok(text),
        false => Err(text),
    }
}

const HEAD: &str = "
apiVersion: jobset-sim/v1alpha1
kind: Scenario
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: racks}
  pools:
    - name: node-{node:03}
      count: 16
      nodesPerIsland: 18
      accelerator: nvidia.com/gpu
      allocatable: {cpu: 64, nvidia.com/gpu: 4}
      labels: {example.com/rack: \"rack-{pool}\"}
jobSets: [{manifest: jobset.yaml}]
stop: {at: 12h, when: Settled}
seed: 7
";

fn replicated_job(name: &str, replicas: u32, pods: u32, more: &str) -> String {
    format!(
        "
    - name: {name}
      replicas: {replicas}
      {more}
      template:
        spec:
          parallelism: {pods}
          completions: {pods}
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 30
              containers: [{{name: w, image: \"x:1\", resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]
"
    )
}

/// A scenario and its `jobset.yaml`, as text.
pub struct Situation {
    pub name: String,
    pub scenario: String,
    pub jobset: String,
}

fn inline(name: &str, scenario: &str, spec: &str, annotations: &str) -> Situation {
    let scenario = format!("{HEAD}metadata: {{name: {name}}}\n{scenario}");
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: js{annotations}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 3}}\n{spec}"
    );
    let name = name.to_owned();
    Situation {
        name,
        scenario,
        jobset,
    }
}

/// Returns situations whose delays are independent of the control plane's rates.
pub fn inline_situations() -> Vec<Situation> {
    let exit = "faults: [{afterReady: 30s, containerExit: {pod: js-w-0-1, exitCode: 1}}]\n";
    let rjs = |all: &[String]| format!("  replicatedJobs:{}", all.concat());
    let w = |more: &str| replicated_job("w", 2, 4, more);
    let first = replicated_job("init", 1, 1, "");
    let after = "dependsOn: [{name: init, status: Complete}]";
    let in_order = "  startupPolicy: {startupPolicyOrder: InOrder}\n";
    let lost = "faults: [{afterReady: 1m, partitionNode: {ofPod: js-w-0-1, alias: lost}}, \
                {afterReady: 6h, returnNode: {alias: lost}}]\n";
    let exclusive =
        ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}";
    vec![
        inline(
            "depends-on-a-slow-predecessor",
            &format!("containers: [{{replicatedJob: init, runFor: 90s, exitCode: 0}}]\n{exit}"),
            &rjs(&[first.clone(), w(after)]),
            "",
        ),
        inline(
            "in-order-behind-a-slow-driver",
            &format!("containers: [{{replicatedJob: init, startAfter: 80s}}]\n{exit}"),
            &format!("{in_order}{}", rjs(&[first, w("")])),
            "",
        ),
        inline("a-pod-on-a-silent-node", lost, &rjs(&[w("")]), ""),
        inline(
            "288-pods-on-18-node-racks",
            exit,
            &rjs(&[replicated_job("w", 16, 18, "")]),
            exclusive,
        ),
    ]
}

fn more() -> Vec<Scenario> {
    let set = |name: &str, sets: &[(&str, &str)]| support::scenario(name, sets);
    vec![
        set("first-steps", &[]),
        set("node-drain", &[]),
        set("node-partition-return", &[]),
        set("taint-noexecute", &[]),
        set("restart-5000-recreate", &[]),
        set("restart-5000-blocking-recreate", &[]),
        set("restart-5000-in-place", &[]),
        set("in-place-main-container", &[]),
    ]
}

#[test]
fn what_is_named_is_what_it_hangs_on() {
    let regimes = support::scenario_names();
    let regimes = regimes.iter().filter(|n| n.starts_with("regime-"));
    let mut scenarios: Vec<Scenario> = regimes.map(|n| support::scenario(n, &[])).collect();
    assert!(scenarios.len() > 5, "the regimes are scenarios");
    scenarios.extend(more());
    let parsed = inline_situations().into_iter().map(|s| {
        let scenario = support::parse(&s.scenario, &s.jobset);
        scenario.unwrap_or_else(|e| panic!("{}: {e}", s.name))
    });
    scenarios.extend(parsed);
    let mut wrong = Vec::new();
    for scenario in &scenarios {
        match hold(scenario) {
            Ok(text) => println!("{text}"),
            Err(text) => wrong.push(text),
        }
    }
    assert!(
        wrong.is_empty(),
        "relieving does not help:\n{}",
        wrong.join("\n")
    );
}
