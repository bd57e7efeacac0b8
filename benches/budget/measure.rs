//! Measures the rows of the budget. The result is the shortest of several attempts, because other load on the
//! machine only increases the time.

use super::kueue::{FULL, KueueCluster, SMALL};
use super::limits::BudgetRow;
use super::workload::{filled_queue, hold, load, now, restart_time, root};
use sim_analysis::experiment;
use sim_analysis::experiment::{
    ExperimentRunner, ExperimentSubject, NodesExperiment, ReplicationLimits, SimulatedVariant, VariantComparison,
};
use sim_engine::SimulationInput;
use sim_engine::queue::EventQueue;
use sim_engine::record::DiscardSink;
use sim_inputs::SourceText;
use sim_kueue::driver::take_patches;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Number of attempts per row, unless they take longer than `MAX_TIME`.
const ATTEMPTS: usize = 7;
const MAX_TIME: Duration = Duration::from_secs(3);

/// Two restart strategies, each with a number of Jobs. A single Job restarts
/// identically under both and would show no difference.
const POLICIES: [(&str, u32); 2] = [("BlockingRecreate", 16), ("Recreate", 1)];

/// Reason why a row has no value.
pub enum NoValue {
    /// The row cannot be measured on this machine or by this bench.
    Unsupported(String),
    Failed(String),
}

impl From<String> for NoValue {
    fn from(message: String) -> NoValue {
        NoValue::Failed(message)
    }
}

fn unsupported<T>(reason: &str) -> Result<T, NoValue> {
    Err(NoValue::Unsupported(reason.to_owned()))
}

/// Settings of the measurements.
pub struct Bench {
    /// Number of cores available to the process.
    pub cores: usize,
    /// Whether each row runs once with small inputs, to check that it can be measured.
    pub trial: bool,
    pub limits: ReplicationLimits,
}

/// Overrides of scenario fields.
type Sets<'s> = &'s [(&'s str, &'s str)];

const LABELS: &str = "spec.replicatedJobs[0].template.spec.template.metadata.labels";
const AFFINITY: &str = "spec.replicatedJobs[0].template.spec.template.spec.affinity";
/// Pods that share no node, by a term that the scheduler evaluates with all plugins.
const REPEL: &str = r#"{"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "w"}}}
]}}"#;
const REPLICAS: &str = "spec.replicatedJobs[0].replicas";
const PARALLELISM: &str = "spec.replicatedJobs[0].template.spec.parallelism";
const COMPLETIONS: &str = "spec.replicatedJobs[0].template.spec.completions";
const RECREATE: &str = "scenarios/restart-5000-recreate.yaml";
const IN_PLACE: &str = "scenarios/restart-5000-in-place.yaml";
const EXCLUSIVE: &str = "scenarios/regime-event-bound.yaml";
const MONTHS: &str = "benches/llama3-54-days.yaml";
const FLEET: &str = "scenarios/published/airesim.yaml";

fn time_action<T>(act: impl FnOnce() -> Result<T, String>) -> Result<Duration, String> {
    let began = now();
    act()?;
    Ok(now() - began)
}

fn simulation(file: &str, sets: Sets<'_>) -> Result<SimulationInput, String> {
    SimulationInput::new(&load(file, sets)?.scenario).map_err(|why| why.to_string())
}

impl Bench {
    /// Returns the value of a row in its unit, or the reason why it cannot be measured.
    pub fn measure(&self, row: &BudgetRow) -> Result<f64, NoValue> {
        let few = |sets: Sets<'static>| if self.trial { sets } else { &[][..] };
        let needs_two_cores = ["fleet.200", "threads.2", "pairs.10000"].contains(&row.name);
        if needs_two_cores && self.cores < 2 {
            return unsupported("requires two cores");
        }
        Ok(match row.name {
            "memory.5000" if cfg!(target_os = "linux") => self.peak_memory()?,
            "memory.5000" => return unsupported("requires Linux (/proc/self/status)"),
            "memory.event" => EventQueue::BYTES_PER_EVENT as f64,
            "memory.pod" => {
                return unsupported("run `cargo test --test it allocation -- --nocapture` instead");
            }
            "kueue.50000" => self.kueue_pass()?,
            "reading.5000" => self.shortest_attempt(|| time_action(|| simulation(RECREATE, &[])))?,
            "recreate.5000" => self.restart(RECREATE, few(&[(REPLICAS, "1")]))?,
            "in-place.5000" => self.restart(IN_PLACE, few(&[(REPLICAS, "1")]))?,
            "exclusive.5000" => self.restart(EXCLUSIVE, few(&[(REPLICAS, "50")]))?,
            "terms.1000" => {
                self.restart(RECREATE, &[(REPLICAS, "1"), (LABELS, r#"{"app": "w"}"#), (AFFINITY, REPEL)])?
            }
            "recreate.65000" if self.trial => self.restart(RECREATE, &[(REPLICAS, "1")])?,
            "recreate.65000" => {
                self.restart(RECREATE, &[("topology", "../topologies/tpu-65k.yaml"), (REPLICAS, "65")])?
            }
            "queue.5000" => self.hold_model(5_000)?,
            "queue.100000" => self.hold_model(100_000)?,
            "engine.5000" => self.events(few(&[(REPLICAS, "1")]))?,
            "demo" => self.demo()?,
            "fleet.200" => self.fleet(2)?,
            "threads.2" => self.fleet(1)? / self.fleet(2)?,
            "pods.54d" => self.pods()?,
            "nodes.54d" => self.nodes_time()?,
            "pairs.10000" => self.paired_comparison()?,
            other => return Err(NoValue::Failed(format!("no measurement for {other}"))),
        })
    }

    /// Returns the shortest of several attempts in seconds; `once` returns the duration of one.
    fn shortest_attempt(&self, mut once: impl FnMut() -> Result<Duration, String>) -> Result<f64, String> {
        let began = now();
        let mut best = Duration::MAX;
        for _ in 0..ATTEMPTS {
            best = best.min(once()?);
            if self.trial || now() - began > MAX_TIME {
                break;
            }
        }
        Ok(best.as_secs_f64())
    }

    /// Returns the mean time of a pass after the end of a Workload, which makes the heads of its cohort active.
    fn kueue_pass(&self) -> Result<f64, String> {
        const ENDED: usize = 40;
        let mut cluster = KueueCluster::new(if self.trial { SMALL } else { FULL });
        cluster.submit();
        cluster.settle();
        let mut key = 0;
        self.shortest_attempt(|| {
            let (mut passes, mut spent) = (0, Duration::ZERO);
            for _ in 0..ENDED {
                key = cluster.finish_next(key).ok_or("no Workload is admitted")?;
                while cluster.manager.has_heads() {
                    cluster.pass(|manager, at| {
                        let began = now();
                        let patches = take_patches(manager, at);
                        spent += now() - began;
                        patches
                    });
                    passes += 1;
                }
            }
            Ok(spent / passes.max(1))
        })
    }

    fn restart(&self, file: &str, sets: Sets<'_>) -> Result<f64, String> {
        let mut simulation = simulation(file, sets)?;
        self.shortest_attempt(|| restart_time(&mut simulation).ok_or("the run had no restart".to_owned()))
    }

    fn hold_model(&self, n: u32) -> Result<f64, String> {
        let operations = if self.trial { 10_000 } else { 1_000_000 };
        let mut queue = filled_queue(n);
        let once = || time_action(|| Ok(std::hint::black_box(hold(&mut queue, operations))));
        Ok(f64::from(operations) / self.shortest_attempt(once)?)
    }

    fn events(&self, sets: Sets<'_>) -> Result<f64, String> {
        let mut simulation = simulation(RECREATE, sets)?;
        let mut events = 0;
        let seconds = self.shortest_attempt(|| {
            time_action(|| {
                events = simulation.run(42, 0, &mut DiscardSink).events;
                Ok(())
            })
        })?;
        Ok(events as f64 / seconds)
    }

    /// Returns the peak resident memory of the process after one run in bytes.
    fn peak_memory(&self) -> Result<f64, String> {
        let mut simulation = simulation(RECREATE, &[])?;
        simulation.run(42, 0, &mut DiscardSink);
        let unknown = || "/proc/self/status has no VmHWM".to_owned();
        let text = std::fs::read_to_string("/proc/self/status").map_err(|_| unknown())?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
        let kib: f64 = kib.and_then(|n| n.trim().parse().ok()).ok_or_else(unknown)?;
        Ok(kib * 1024.0)
    }

    fn demo(&self) -> Result<f64, String> {
        let mut nth = 0;
        self.shortest_attempt(|| {
            nth += 1;
            let name = format!("jobset-sim-budget-{}-{nth}", std::process::id());
            let out = std::env::temp_dir().join(name);
            let mut command = Command::new(env!("CARGO_BIN_EXE_jobset-sim"));
            let command = command.arg("demo").arg("--out").arg(&out);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let durations = time_action(|| match command.status() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("demo failed with {status}")),
                Err(why) => Err(why.to_string()),
            });
            let _ = std::fs::remove_dir_all(&out);
            durations
        })
    }

    fn fleet(&self, threads: usize) -> Result<f64, String> {
        let replications = if self.trial { 2 } else { 200 };
        let path = root().join(FLEET);
        let source = SourceText {
            text: std::fs::read_to_string(&path).map_err(|e| e.to_string())?,
            file: path.display().to_string(),
        };
        let fleet = sim_inputs::parse_fleet(&source, &[]).map_err(|e| e.to_string())?;
        self.shortest_attempt(|| {
            time_action(|| {
                let on = (threads, &self.limits);
                let all = experiment::replicate_fleet(&fleet.fleet, (1, 0..replications), on, &|_| {});
                all.map_err(|why| why.to_string())
            })
        })
    }

    fn pods(&self) -> Result<f64, String> {
        let sets = self.month_overrides(("Recreate", 16));
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let scenario = load(MONTHS, &sets)?.scenario;
        let mut player = ExperimentRunner::new(&scenario).map_err(|why| why.to_string())?;
        self.shortest_attempt(|| {
            time_action(|| {
                let simulation = player.simulation(42, 0);
                Ok(simulation.run(42, 0, &mut DiscardSink).digest)
            })
        })
    }

    /// Returns the overrides that distribute all pods over `jobs` Jobs.
    fn month_overrides(&self, (strategy, jobs): (&str, u32)) -> Vec<(&'static str, String)> {
        let pods = if self.trial { 32 } else { 2048 } / jobs;
        let mut sets = vec![
            ("jobSets.0.restartStrategy", strategy.to_owned()),
            (REPLICAS, jobs.to_string()),
            (PARALLELISM, pods.to_string()),
            (COMPLETIONS, pods.to_string()),
        ];
        if self.trial {
            sets.push(("topology.pools[0].nodesPerIsland", "40".to_owned()));
        }
        sets
    }

    fn nodes(&self, policy: (&str, u32)) -> Result<ExperimentSubject, String> {
        let sets = self.month_overrides(policy);
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let scenario = load(MONTHS, &sets)?.scenario;
        let measured = NodesExperiment::new(&scenario);
        measured.map(ExperimentSubject::Nodes).map_err(|why| why.to_string())
    }

    fn nodes_time(&self) -> Result<f64, String> {
        const EACH: u64 = 50;
        let subject = self.nodes(POLICIES[0])?;
        let mut player = subject.player().map_err(|why| why.to_string())?;
        let all = self.shortest_attempt(|| {
            time_action(|| {
                (0..EACH).for_each(|i| {
                    std::hint::black_box(player.simulate((42, i), &self.limits));
                });
                Ok(())
            })
        })?;
        Ok(all / EACH as f64)
    }

    /// Measures `compare` except for reading: measurement of restart times, replications and differences.
    fn paired_comparison(&self) -> Result<f64, String> {
        let pairs = if self.trial { 4 } else { 10_000 };
        let durations = time_action(|| {
            let variants = POLICIES.map(|policy| self.variant(policy, pairs));
            let [a, b] = variants;
            let variants = [a?, b?];
            let digests = |v: &SimulatedVariant| -> Vec<u64> { v.replications.iter().map(|r| r.digest).collect() };
            if digests(&variants[0]) == digests(&variants[1]) {
                return Err("both policies have equal results, so the comparison is not meaningful".to_owned());
            }
            let named = ("llama3", 42);
            Ok(std::hint::black_box(VariantComparison::from_variants(named, &variants)))
        })?;
        Ok(durations.as_secs_f64())
    }

    fn variant(&self, policy: (&str, u32), n: u64) -> Result<SimulatedVariant, String> {
        let subject = self.nodes(policy)?;
        let all = subject.replicate((42, 0..n), (2, &self.limits), &|_| {});
        Ok(SimulatedVariant {
            name: policy.0.to_owned(),
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            currency: subject.currency(),
            replications: all.map_err(|why| why.to_string())?,
        })
    }
}
