//! Checks each reported bottleneck with a counterfactual: if the bottleneck is relieved, the restart is shorter by
//! at least a third of the reported time. If a second bottleneck is as long, it is reported and relieved as well.

use crate::support;
use sim_analysis::metrics::restarts::bottleneck::{RestartBottleneck, restart_bottlenecks};
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_analysis::metrics::{MetricFolds, RunView};
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_engine::record::{LedgerResource, TicketWait};

/// Returns the duration and the reported bottlenecks of the first restart.
fn restart_and_bottlenecks(scenario: &ScenarioSpec) -> (Duration, Vec<RestartBottleneck>) {
    let mut folds = MetricFolds::new(scenario, false);
    let mut simulation = support::simulation(scenario);
    let outcome = simulation.run(scenario.seed, 0, &mut folds);
    let folded = folds.finish(scenario, &outcome, simulation.names());
    let view = RunView {
        scenario,
        names: simulation.names(),
        outcome: &outcome,
        folded: &folded,
        seed: scenario.seed,
        not_modelled: &[],
    };
    // A change can remove the restart: the node returns before its pods are deleted.
    let Some(restart) = view.restarts().first() else { return (Duration::ZERO, Vec::new()) };
    (restart.total(), restart_bottlenecks(&view, restart))
}

fn halve(dist: &mut Distribution) {
    *dist = match dist.clone() {
        Distribution::Fixed(d) => Distribution::Fixed(Duration(d.0 / 2)),
        Distribution::LogNormal { median_s, sigma } => Distribution::LogNormal { median_s: median_s / 2.0, sigma },
        Distribution::Uniform { low_s, high_s } => Distribution::Uniform { low_s: low_s / 2.0, high_s: high_s / 2.0 },
        Distribution::Exponential { mean_s } => Distribution::Exponential { mean_s: mean_s / 2.0 },
        Distribution::Weibull { scale_s, shape } => Distribution::Weibull { scale_s: scale_s / 2.0, shape },
        Distribution::Gamma { mean_s, shape } => Distribution::Gamma { mean_s: mean_s / 2.0, shape },
        Distribution::Empirical(table) => Distribution::Empirical(table.scale(0.5)),
        Distribution::Measured { p50_s, p95_s } => Distribution::Measured { p50_s: p50_s / 2.0, p95_s: p95_s / 2.0 },
    };
}

fn kubelet(scenario: &mut ScenarioSpec) -> &mut RealKubelet {
    match &mut scenario.timing.kubelet {
        KubeletTiming::Real(k) => k,
        KubeletTiming::Scripted { .. } => panic!("the kubelet is scripted"),
    }
}

fn pod_specs(scenario: &mut ScenarioSpec) -> impl Iterator<Item = &mut PodSpec> {
    let rjs = scenario.jobsets.iter_mut();
    let rjs = rjs.flat_map(|js| &mut js.jobset.spec.replicated_jobs);
    rjs.map(|rj| &mut rj.template.template.spec)
}

/// Doubles the rate, halves the period or halves the work. Returns `None` if no setting controls it (a constant of
/// Kubernetes).
fn relieve(scenario: &mut ScenarioSpec, what: WaitKind) -> Option<()> {
    let plane = &mut scenario.control_plane;
    match what {
        WaitKind::Shared(LedgerResource::JobControllerClient | LedgerResource::GarbageCollectorClient) => {
            plane.kube_controller_manager.qps *= 2.0;
        }
        WaitKind::Shared(
            LedgerResource::JobSetClient | LedgerResource::JobSetStatusClient | LedgerResource::JobSetPodClient,
        ) => {
            plane.jobset_manager.qps *= 2.0;
        }
        WaitKind::Shared(LedgerResource::SchedulerBindClient) => plane.kube_scheduler.qps *= 2.0,
        WaitKind::Shared(LedgerResource::NodeRequests) => plane.node_requests_per_s *= 2.0,
        WaitKind::Shared(LedgerResource::SchedulerCycle) => {
            let c = &mut scenario.timing.scheduler;
            for part in [&mut c.fixed, &mut c.per_node, &mut c.per_feasible_node, &mut c.affinity_per_node] {
                *part = Duration(part.0 / 2);
            }
        }
        WaitKind::Shared(LedgerResource::TaintLimiter) => return None,
        WaitKind::ApiServer => {
            let t = &mut scenario.timing;
            for dist in [&mut t.api_read, &mut t.api_write, &mut t.api_pod_create] {
                halve(dist);
            }
        }
        WaitKind::Mechanism(TicketWait::Grace) => {
            halve(&mut kubelet(scenario).container_stop);
            for rule in &mut scenario.containers {
                rule.stop_after = rule.stop_after.map(|d| Duration(d.0 / 2));
            }
        }
        WaitKind::Mechanism(TicketWait::ContainerStart) => {
            let k = kubelet(scenario);
            for dist in [&mut k.volumes, &mut k.sandbox, &mut k.container_start, &mut k.image_check, &mut k.agent_boot]
            {
                halve(dist);
            }
            for rule in &mut scenario.containers {
                rule.start_after = rule.start_after.map(|d| Duration(d.0 / 2));
            }
        }
        WaitKind::Mechanism(TicketWait::ContainerRestart) => {
            let k = kubelet(scenario);
            for dist in [
                &mut k.status_write, &mut k.container_stop, &mut k.container_remove, &mut k.container_start,
                &mut k.image_check, &mut k.agent_boot,
            ] {
                halve(dist);
            }
        }
        WaitKind::Mechanism(TicketWait::Pleg) => {
            let k = kubelet(scenario);
            k.pleg_period = Duration(k.pleg_period.0 / 2);
        }
        WaitKind::Mechanism(TicketWait::Cleanup) => halve(&mut kubelet(scenario).cleanup),
        WaitKind::Mechanism(TicketWait::Listing) => {
            let per_pod = &mut scenario.timing.jobset_list_per_pod;
            *per_pod = Duration(per_pod.0 / 2);
        }
        WaitKind::Mechanism(TicketWait::FanOut) => halve(&mut scenario.timing.agent_fanout),
        WaitKind::Mechanism(TicketWait::NodeMonitor) => plane.node_monitor_grace_period_s /= 2,
        WaitKind::Mechanism(TicketWait::Toleration) => {
            for spec in pod_specs(scenario) {
                for key in ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"] {
                    spec.tolerations.push(TolerationSpec {
                        key: Some(key.to_owned()),
                        exists: true,
                        value: String::new(),
                        effect: Some(TaintEffect::NoExecute),
                        toleration_seconds: Some(150),
                    });
                }
            }
        }
        WaitKind::Mechanism(TicketWait::Script | TicketWait::SilentNode | TicketWait::Running) => {
            halve_script_delays(scenario);
        }
        WaitKind::Mechanism(_)
        | WaitKind::Shared(_)
        | WaitKind::Admission(_)
        | WaitKind::FailedIndexes
        | WaitKind::DeadEnd => return None,
    }
    Some(())
}

/// Halves the delays of the script after its first action, and the run time of every container.
fn halve_script_delays(scenario: &mut ScenarioSpec) {
    let at = |f: &ScriptedFault| match f.at {
        FaultTime::At(d) | FaultTime::AfterReady(d) => d,
        FaultTime::AtUsageAge { .. } | FaultTime::AfterFault { .. } => panic!("drawn"),
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
    texts: Vec<String>,
}

impl Held {
    /// Simulates one seed of a scenario, first unchanged and then with every reported bottleneck relieved.
    fn play(&mut self, scenario: &ScenarioSpec) {
        let (total, named) = restart_and_bottlenecks(scenario);
        let mut relieved = scenario.clone();
        let mut output = Vec::new();
        let mut claimed = Duration::ZERO;
        for gate in &named {
            output.push(format!("{:?} {:.2} s", gate.what, gate.time.seconds()));
            if relieve(&mut relieved, gate.what).is_some() {
                claimed = claimed.max(gate.time);
            }
        }
        let output = output.join(", ");
        if claimed == Duration::ZERO {
            let text = format!("{:.2} s, {output}: no setting relieves this", total.seconds());
            return self.texts.push(text);
        }
        let after = restart_and_bottlenecks(&relieved).0;
        self.claimed = self.claimed + claimed;
        self.as_it_is = self.as_it_is + total;
        self.relieved = self.relieved + after;
        let text = format!("{:.2} s, {output}; relieved {:.2} s", total.seconds(), after.seconds());
        self.texts.push(text);
    }
}

fn verify_bottleneck(scenario: &ScenarioSpec) -> Result<String, String> {
    // The Job controller syncs once per second, so a small restart becomes shorter by either nothing or a second.
    // Several seeds are simulated and added up.
    let small = scenario.topology.pools.iter().map(|pool| pool.count).sum::<u32>() < 64;
    let mut held = Held::default();
    for seed in 0..if small { 8 } else { 1 } {
        let mut scenario = scenario.clone();
        scenario.seed += seed;
        held.play(&scenario);
    }
    let text = format!("{}: {}", scenario.name, held.texts.join("\n    "));
    let saved = held.as_it_is - held.relieved;
    if saved.0 * 3 >= held.claimed.0 { Ok(text) } else { Err(text) }
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
    Situation { name, scenario, jobset }
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
    let exclusive = ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}";
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
        inline("288-pods-on-18-node-racks", exit, &rjs(&[replicated_job("w", 16, 18, "")]), exclusive),
    ]
}

fn more_scenarios() -> Vec<ScenarioSpec> {
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
fn relieving_a_reported_bottleneck_shortens_the_restart() {
    let regimes = support::scenario_names();
    let regimes = regimes.iter().filter(|n| n.starts_with("regime-"));
    let mut scenarios: Vec<ScenarioSpec> = regimes.map(|n| support::scenario(n, &[])).collect();
    assert!(scenarios.len() > 5, "there are fewer than 6 regime scenarios");
    scenarios.extend(more_scenarios());
    let parsed = inline_situations().into_iter().map(|s| {
        let scenario = support::parse(&s.scenario, &s.jobset);
        scenario.unwrap_or_else(|e| panic!("{}: {e}", s.name))
    });
    scenarios.extend(parsed);
    let mut wrong = Vec::new();
    for scenario in scenarios.iter().filter(|scenario| support::is_tried(scenario)) {
        match verify_bottleneck(scenario) {
            Ok(text) => println!("{text}"),
            Err(text) => wrong.push(text),
        }
    }
    assert!(
        wrong.is_empty(),
        "relieving the reported bottlenecks does not shorten the restart enough:\n{}",
        wrong.join("\n")
    );
}
