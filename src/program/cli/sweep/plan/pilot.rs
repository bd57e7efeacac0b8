//! The pilot: simulates and times a few replications to estimate the run time of the sweep.

use crate::{cli::failure::CommandFailure, cli::interrupt, cli::sweep::request::SweepRequest};
use sim_analysis::format::count;
use std::time::{Duration, Instant};

/// Time limit and maximum number of points of the pilot.
const LONGEST: Duration = Duration::from_secs(3);
const POINTS: usize = 24;
/// Target run time of a shard in seconds: long compared with the start of a process, short compared with the
/// lifetime of a node.
const SHARD_S: f64 = 240.0;
/// Maximum number of shards that is chosen automatically.
const SHARDS: u64 = 1000;

#[expect(clippy::disallowed_methods, reason = "measures run time for the plan; does not affect results")]
fn now() -> Instant {
    Instant::now()
}

/// Returns the number of shards, and a description of the size of the sweep.
pub fn measure(sweep: &SweepRequest, total: u64, cpus: u16) -> Result<(u64, String), CommandFailure> {
    let limits = interrupt::limits();
    let points = sweep.points.count();
    let began = now();
    let mut simulated = 0u64;
    let mut seconds = 0.0;
    // Sample points are spread over the sweep, because run times may differ between points.
    for i in 0..points.min(POINTS) {
        let point = i * points / points.min(POINTS);
        let begin = now();
        let subject = sweep.load(point)?;
        let refused = |why| sweep.named(point, CommandFailure::CannotBePlaced(format!("{why}")));
        let mut player = subject.player().map_err(refused)?;
        if player.simulate((sweep.seed, 0), &limits).is_none() {
            return Err(interrupt::failure("no replication was finished"));
        }
        simulated += 1;
        seconds += begin.elapsed().as_secs_f64();
        if began.elapsed() > LONGEST {
            break;
        }
    }
    let each = seconds / simulated.max(1) as f64;
    let all = each * total as f64;
    let pieces = match sweep.target.until {
        Some(_) => points as u64,
        None => total,
    };
    let wanted = (all / f64::from(cpus) / SHARD_S).ceil();
    let shards = (wanted as u64).clamp(1, SHARDS.min(pieces));
    let at_most = if sweep.target.until.is_some() { "at most " } else { "" };
    Ok((
        shards,
        format!(
            "{}, {at_most}{}; {simulated} of them took {} each on this machine: {} of core time in total, {} for each of {} with {}",
            count(points as u64, "point"),
            count(total, "replication"),
            time(each),
            time(all),
            time(all / shards as f64 / f64::from(cpus)),
            count(shards, "shard"),
            count(u64::from(cpus), "core")
        ),
    ))
}

/// Formats an estimated time, rounded to a whole number of its unit.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}
