//! Wall time of each row. Of several tries the best one counts: what else the machine does is not the program's.

use crate::base::{JobId, Time};
use crate::bench::own::{Budget, Files, SelfRow, load};
use crate::engine::Simulation;
use crate::engine::event::Event;
use crate::engine::queue::EventQueue;
use crate::experiment::{
    self, Collapsed, Comparison, Limited, Limits, NotCollapsed, PlayedVariant, Player, Subject,
};
use crate::record::{Body, Discard, Names, Record, Sink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A row is tried so often, or until it has taken so long.
const TRIES: usize = 7;
const ENOUGH: Duration = Duration::from_secs(3);

#[expect(clippy::disallowed_methods, reason = "wall time is what is asked for")]
pub fn now() -> Instant {
    Instant::now()
}

/// Strategies, each in a number of Jobs in which it can be played collapsed. One Job under both would be restarted in
/// the same way.
const POLICIES: [(&str, u32); 2] = [("BlockingRecreate", 16), ("Recreate", 1)];

/// Notes when the restart's fault fires and when all pods are ready again.
#[derive(Default)]
pub struct Stopwatch {
    fault: Option<Instant>,
    ready_again: Option<Instant>,
}

impl Sink for Stopwatch {
    fn record(&mut self, record: &Record, _: &Names) {
        match record.body {
            Body::Fault { .. } => self.fault = Some(now()),
            Body::AllReady { ready: true, .. } if self.fault.is_some() => {
                self.ready_again = Some(now());
            }
            _ => {}
        }
    }
}

/// Time of the restart alone, without the first creation; none if there was none.
pub fn restart_time(sim: &mut Simulation) -> Option<Duration> {
    let mut watch = Stopwatch::default();
    sim.run(42, 0, &mut watch);
    let (from, to) = watch.fault.zip(watch.ready_again)?;
    Some(to - from)
}

/// A queue with so many events.
pub fn pending(n: u32) -> EventQueue {
    let mut queue = EventQueue::default();
    for i in 0..n {
        let at = u64::from(i).wrapping_mul(2_654_435_761) & ((1 << 28) - 1);
        queue.push(Time(at), Event::JobDue(JobId(i)), i);
    }
    queue
}

/// Hold model: pop one, push one later: a quarter at once, a quarter within 1,000 ns, the rest within 2^28 ns.
pub fn hold(queue: &mut EventQueue, operations: u32) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut sum = 0;
    for i in 0..operations {
        let Some((at, _, _, _)) = queue.pop() else {
            return sum;
        };
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let later = match state & 3 {
            0 => 0,
            1 => state >> 32 & 1023,
            _ => state >> 32 & ((1 << 28) - 1),
        };
        queue.push(Time(at.0 + later), Event::JobDue(JobId(i)), i);
        sum ^= at.0;
    }
    sum
}

/// How rows are measured.
pub struct Bench {
    /// That the operating system gives.
    pub cores: usize,
    /// Small, to see that they can be measured.
    pub trial: bool,
    /// When to stop.
    pub limits: Limits,
}

/// Overrides of a scenario.
type Sets<'s> = &'s [(&'s str, &'s str)];

const REPLICAS: &str = "spec.replicatedJobs[0].replicas";
const PARALLELISM: &str = "spec.replicatedJobs[0].template.spec.parallelism";
const COMPLETIONS: &str = "spec.replicatedJobs[0].template.spec.completions";
const RECREATE: &str = "restart-5000-recreate.yaml";
const MONTHS: &str = "llama3-54-days.yaml";

fn stopped() -> String {
    "it was interrupted".to_owned()
}

fn timed<T>(act: impl FnOnce() -> Result<T, String>) -> Result<Duration, String> {
    let began = now();
    act()?;
    Ok(now() - began)
}

fn simulation(file: &str, sets: Sets<'_>) -> Result<Simulation, String> {
    Simulation::new(&load(file, sets)?.scenario).map_err(|why| why.to_string())
}

/// Measures one row; none if it was stopped.
pub fn row(budget: &Budget, bench: &Bench) -> Option<SelfRow> {
    let value = bench.measure(budget.name);
    if bench.limits.flag.is_raised() {
        return None;
    }
    let row = budget.row(value);
    let standing = match bench.trial {
        true => String::new(),
        false => row.standing,
    };
    Some(SelfRow { standing, ..row })
}

impl Bench {
    fn measure(&self, name: &str) -> Result<f64, String> {
        let few = |sets: Sets<'static>| if self.trial { sets } else { &[][..] };
        match name {
            "memory.5000" => self.peak_memory(),
            "memory.event" => Ok(EventQueue::BYTES_EACH as f64),
            "memory.pod" => Err(
                "only `cargo test --test it allocation -- --nocapture` counts allocations"
                    .to_owned(),
            ),
            "kueue.50000" => Err("queues of Kueue are not modelled".to_owned()),
            "reading.5000" => self.best(|| timed(|| simulation(RECREATE, &[]))),
            "recreate.5000" => self.restart(RECREATE, few(&[(REPLICAS, "1")])),
            "in-place.5000" => self.restart("restart-5000-in-place.yaml", few(&[(REPLICAS, "1")])),
            "exclusive.5000" => self.restart("regime-event-bound.yaml", few(&[(REPLICAS, "50")])),
            "recreate.65000" if self.trial => self.restart(RECREATE, &[(REPLICAS, "1")]),
            "recreate.65000" => self.restart(
                RECREATE,
                &[("topology", "../topologies/tpu-65k.yaml"), (REPLICAS, "65")],
            ),
            "queue.5000" => self.held(5_000),
            "queue.100000" => self.held(100_000),
            "engine.5000" => self.events(few(&[(REPLICAS, "1")])),
            "demo" => self.demo(),
            "fleet.200" => self.fleet(2),
            "threads.2" => Ok(self.fleet(1)? / self.fleet(2)?),
            "pods.54d" => self.pods(),
            "collapsed.54d" => self.collapsed(),
            "pairs.10000" => self.pairs(),
            other => Err(format!("nothing measures {other}")),
        }
    }

    /// The shortest of several tries, in seconds; `once` says how long what counts of it took.
    fn best(&self, mut once: impl FnMut() -> Result<Duration, String>) -> Result<f64, String> {
        let began = now();
        let mut best = Duration::MAX;
        for _ in 0..TRIES {
            if self.limits.flag.is_raised() {
                return Err(stopped());
            }
            best = best.min(once()?);
            if self.trial || now() - began > ENOUGH {
                break;
            }
        }
        Ok(best.as_secs_f64())
    }

    fn restart(&self, file: &str, sets: Sets<'_>) -> Result<f64, String> {
        let mut simulation = simulation(file, sets)?;
        self.best(|| restart_time(&mut simulation).ok_or("there was no restart".to_owned()))
    }

    fn held(&self, n: u32) -> Result<f64, String> {
        let operations = if self.trial { 10_000 } else { 1_000_000 };
        let mut queue = pending(n);
        let once = || timed(|| Ok(std::hint::black_box(hold(&mut queue, operations))));
        Ok(f64::from(operations) / self.best(once)?)
    }

    fn events(&self, sets: Sets<'_>) -> Result<f64, String> {
        let mut simulation = simulation(RECREATE, sets)?;
        let mut events = 0;
        let seconds = self.best(|| {
            timed(|| {
                events = simulation.run(42, 0, &mut Discard).events;
                Ok(())
            })
        })?;
        Ok(events as f64 / seconds)
    }

    /// What the operating system says of the process: the most that it held of real memory, with one run of it.
    fn peak_memory(&self) -> Result<f64, String> {
        let mut simulation = simulation(RECREATE, &[])?;
        simulation.run(42, 0, &mut Discard);
        let unknown = || "the operating system does not say it in /proc/self/status".to_owned();
        let text = std::fs::read_to_string("/proc/self/status").map_err(|_| unknown())?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
        let kib: f64 = kib
            .and_then(|n| n.trim().parse().ok())
            .ok_or_else(unknown)?;
        Ok(kib * 1024.0)
    }

    fn demo(&self) -> Result<f64, String> {
        let binary = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut nth = 0;
        self.best(|| {
            nth += 1;
            let name = format!("jobset-sim-bench-self-{}-{nth}", std::process::id());
            let out = std::env::temp_dir().join(name);
            let mut command = Command::new(&binary);
            let command = command.arg("demo").arg("--out").arg(&out);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let took = timed(|| match command.status() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("demo ended with {status}")),
                Err(why) => Err(why.to_string()),
            });
            // What it wrote is nobody's result.
            let _ = std::fs::remove_dir_all(&out);
            took
        })
    }

    fn two(&self) -> Result<(), String> {
        match self.cores >= 2 {
            true => Ok(()),
            false => Err("there is one core only".to_owned()),
        }
    }

    fn fleet(&self, threads: usize) -> Result<f64, String> {
        self.two()?;
        let replications = if self.trial { 2 } else { 200 };
        let fleet = Files::fleet()?;
        self.best(|| {
            timed(|| {
                let on = (threads, &self.limits);
                let all = experiment::replicate_fleet(&fleet, (1, 0..replications), on, &|_| {});
                all.map_err(|why| why.to_string())
            })
        })
    }

    fn pods(&self) -> Result<f64, String> {
        let sets = self.months(("Recreate", 16));
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let scenario = load(MONTHS, &sets)?.scenario;
        let mut player = Player::new(&scenario).map_err(|why| why.to_string())?;
        self.best(|| {
            timed(|| {
                let simulation = player.simulation(42, 0);
                let mut sink = Limited::by(&self.limits);
                Ok(simulation.run(42, 0, &mut sink).digest)
            })
        })
    }

    /// All pods in so many Jobs.
    fn months(&self, (strategy, jobs): (&str, u32)) -> Vec<(&'static str, String)> {
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

    fn measured(&self, policy: (&str, u32)) -> Result<Subject, String> {
        let sets = self.months(policy);
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let scenario = load(MONTHS, &sets)?.scenario;
        let measured = Collapsed::of_until(&scenario, &self.limits.flag);
        measured.map(Subject::Collapsed).map_err(|why| match why {
            NotCollapsed::Stopped => stopped(),
            why => why.to_string(),
        })
    }

    fn collapsed(&self) -> Result<f64, String> {
        const EACH: u64 = 50;
        let subject = self.measured(POLICIES[0])?;
        let mut player = subject.player().map_err(|why| why.to_string())?;
        let all = self.best(|| {
            timed(|| {
                (0..EACH).for_each(|i| {
                    std::hint::black_box(player.play((42, i), &self.limits));
                });
                Ok(())
            })
        })?;
        Ok(all / EACH as f64)
    }

    /// With everything that `compare` does but reading: measuring what restarts take, replications, differences.
    fn pairs(&self) -> Result<f64, String> {
        self.two()?;
        let pairs = if self.trial { 4 } else { 10_000 };
        let took = timed(|| {
            let played = POLICIES.map(|policy| self.variant(policy, pairs));
            let [a, b] = played;
            let played = [a?, b?];
            let digests = |v: &PlayedVariant| -> Vec<u64> {
                v.replications.iter().map(|r| r.digest).collect()
            };
            if digests(&played[0]) == digests(&played[1]) {
                return Err("both policies come to the same: nothing is compared".to_owned());
            }
            let named = ("llama3", 42);
            Ok(std::hint::black_box(Comparison::of(named, &played)))
        })?;
        Ok(took.as_secs_f64())
    }

    fn variant(&self, policy: (&str, u32), n: u64) -> Result<PlayedVariant, String> {
        let subject = self.measured(policy)?;
        let all = subject.replicate((42, 0..n), (2, &self.limits), &|_| {});
        Ok(PlayedVariant {
            name: policy.0.to_owned(),
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            replications: all.map_err(|why| why.to_string())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial is of 32 pods, and says nothing about 2,048.
    #[test]
    fn both_policies_can_be_played_collapsed_at_full_size() {
        let bench = Bench {
            cores: 2,
            trial: false,
            limits: Limits::none(),
        };
        for policy in POLICIES {
            if let Err(why) = bench.measured(policy) {
                panic!("{policy:?}: {why}");
            }
        }
    }
}
