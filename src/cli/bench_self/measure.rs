//! Wall time of each row. Of several tries the best one counts: what else the machine does is not the program's.

use crate::base::{JobId, Time};
use crate::bench::own::{Budget, Files, SelfRow, load};
use crate::engine::Simulation;
use crate::engine::event::Event;
use crate::engine::queue::EventQueue;
use crate::experiment::{self, Collapsed, Comparison, Limits, PlayedVariant, Player, Subject};
use crate::record::{Body, Discard, Names, Record, Sink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A row is tried so often, or until it has taken so long.
const TRIES: usize = 7;
const ENOUGH: Duration = Duration::from_secs(3);

#[expect(clippy::disallowed_methods, reason = "wall time is what is asked for")]
fn now() -> Instant {
    Instant::now()
}

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

/// The shortest of several tries, in seconds; `once` says how long what counts of it took.
fn best(mut once: impl FnMut() -> Result<Duration, String>) -> Result<f64, String> {
    let began = now();
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        best = best.min(once()?);
        if now() - began > ENOUGH {
            break;
        }
    }
    Ok(best.as_secs_f64())
}

fn timed<T>(act: impl FnOnce() -> Result<T, String>) -> Result<Duration, String> {
    let began = now();
    act()?;
    Ok(now() - began)
}

/// Measures one row.
pub fn row(budget: &Budget, cores: usize) -> SelfRow {
    budget.row(measure(budget.name, cores))
}

fn measure(name: &str, cores: usize) -> Result<f64, String> {
    match name {
        "reading.5000" => best(|| timed(|| simulation("restart-5000-recreate.yaml", &[]))),
        "recreate.5000" => restart("restart-5000-recreate.yaml", &[]),
        "in-place.5000" => restart("restart-5000-in-place.yaml", &[]),
        "exclusive.5000" => restart("regime-event-bound.yaml", &[]),
        "recreate.65000" => restart(
            "restart-5000-recreate.yaml",
            &[
                ("topology", "../topologies/tpu-65k.yaml"),
                ("jobSets.0.set.5", "spec.replicatedJobs[0].replicas=65"),
            ],
        ),
        "memory.5000" => peak_memory(),
        "queue.5000" => held(5_000),
        "queue.100000" => held(100_000),
        "engine.5000" => events(),
        "demo" => demo(),
        "fleet.200" => fleet(2, cores),
        "threads.2" => Ok(fleet(1, cores)? / fleet(2, cores)?),
        "pods.54d" => pods(),
        "collapsed.54d" => collapsed(),
        "pairs.10000" => pairs(cores),
        other => Err(format!("nothing measures {other}")),
    }
}

fn simulation(file: &str, sets: &[(&str, &str)]) -> Result<Simulation, String> {
    Simulation::new(&load(file, sets)?.scenario).map_err(|why| why.to_string())
}

fn restart(file: &str, sets: &[(&str, &str)]) -> Result<f64, String> {
    let mut simulation = simulation(file, sets)?;
    best(|| restart_time(&mut simulation).ok_or("there was no restart".to_owned()))
}

fn held(n: u32) -> Result<f64, String> {
    const OPERATIONS: u32 = 1_000_000;
    let mut queue = pending(n);
    let seconds = best(|| timed(|| Ok(std::hint::black_box(hold(&mut queue, OPERATIONS)))))?;
    Ok(f64::from(OPERATIONS) / seconds)
}

fn events() -> Result<f64, String> {
    let mut simulation = simulation("restart-5000-recreate.yaml", &[])?;
    let mut events = 0;
    let seconds = best(|| {
        timed(|| {
            events = simulation.run(42, 0, &mut Discard).events;
            Ok(())
        })
    })?;
    Ok(events as f64 / seconds)
}

/// What the operating system says of the process: the most that it held of real memory.
fn peak_memory() -> Result<f64, String> {
    let unknown = || "the operating system does not say it in /proc/self/status".to_owned();
    let text = std::fs::read_to_string("/proc/self/status").map_err(|_| unknown())?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kib: f64 = kib
        .and_then(|n| n.trim().parse().ok())
        .ok_or_else(unknown)?;
    Ok(kib * 1024.0)
}

fn demo() -> Result<f64, String> {
    let binary = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut nth = 0;
    best(|| {
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

fn two(cores: usize) -> Result<(), String> {
    match cores >= 2 {
        true => Ok(()),
        false => Err("there is one core only".to_owned()),
    }
}

fn fleet(threads: usize, cores: usize) -> Result<f64, String> {
    two(cores)?;
    let fleet = Files::fleet()?;
    let limits = Limits::none();
    best(|| {
        timed(|| {
            let on = (threads, &limits);
            let played = experiment::replicate_fleet(&fleet, (1, 0..200), on, &|_| {});
            played.map_err(|why| why.to_string())
        })
    })
}

fn pods() -> Result<f64, String> {
    let scenario = load("llama3-54-days.yaml", &[])?.scenario;
    let mut player = Player::new(&scenario).map_err(|why| why.to_string())?;
    best(|| timed(|| Ok(player.simulation(42, 0).run(42, 0, &mut Discard).digest)))
}

/// One Job of all pods: both of its strategies can be played collapsed.
fn months(strategy: &str) -> Result<Collapsed, String> {
    let sets = [
        ("jobSets.0.restartStrategy", strategy),
        ("spec.replicatedJobs[0].replicas", "1"),
        ("spec.replicatedJobs[0].template.spec.parallelism", "2048"),
        ("spec.replicatedJobs[0].template.spec.completions", "2048"),
    ];
    let scenario = load("llama3-54-days.yaml", &sets)?.scenario;
    Collapsed::of(&scenario).map_err(|why| why.to_string())
}

fn collapsed() -> Result<f64, String> {
    const EACH: u64 = 50;
    let subject = Subject::Collapsed(months("BlockingRecreate")?);
    let limits = Limits::none();
    let mut player = subject.player().map_err(|why| why.to_string())?;
    let all = best(|| {
        timed(|| {
            (0..EACH).for_each(|i| {
                std::hint::black_box(player.play((42, i), &limits));
            });
            Ok(())
        })
    })?;
    Ok(all / EACH as f64)
}

/// Without what measuring their restarts takes: that is done once for a scenario, however many replications follow.
fn pairs(cores: usize) -> Result<f64, String> {
    two(cores)?;
    const PAIRS: u64 = 10_000;
    let policies = ["Recreate", "BlockingRecreate"];
    let subjects = policies.map(|policy| months(policy).map(Subject::Collapsed));
    let limits = Limits::none();
    let took = timed(|| {
        let mut played = Vec::new();
        for (name, subject) in policies.into_iter().zip(subjects) {
            let subject = subject?;
            let all = subject.replicate((42, 0..PAIRS), (2, &limits), &|_| {});
            played.push(PlayedVariant {
                name: name.to_owned(),
                changes: Vec::new(),
                jobsets: subject.jobsets(),
                replications: all.map_err(|why| why.to_string())?,
            });
        }
        Ok(std::hint::black_box(Comparison::of(
            ("llama3", 42),
            &played,
        )))
    })?;
    Ok(took.as_secs_f64())
}
