//! The rows of the performance budget, with limits and goals for two 2.3 GHz cores.

use std::fmt;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events per second.
    Rate,
    /// Seconds of wall time.
    Seconds,
    Bytes,
    /// Ratio of two times.
    Ratio,
}

impl Unit {
    /// Returns the unit's name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Rate => "1/s",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::Ratio => "x",
        }
    }

    pub fn higher_is_better(self) -> bool {
        matches!(self, Unit::Rate | Unit::Ratio)
    }

    /// Returns a value with its unit, as printed in tables.
    pub fn format(self, value: f64) -> String {
        match self {
            Unit::Rate => format!("{:.1} M/s", value / 1e6),
            Unit::Seconds if value < 1e-3 => format!("{:.3} ms", value * 1e3),
            Unit::Seconds if value < 0.1 => format!("{:.1} ms", value * 1e3),
            Unit::Seconds => format!("{value:.2} s"),
            Unit::Bytes if value < MIB => format!("{value:.0} B"),
            Unit::Bytes => format!("{:.0} MiB", value / MIB),
            Unit::Ratio => format!("{value:.2} x"),
        }
    }
}

/// Result of a measured value compared with the limit and goal of its row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The value reaches the goal.
    Goal,
    /// The value is within the limit, but misses the goal.
    Within,
    Missed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Goal => "goal",
            Status::Within => "must",
            Status::Missed => "MISSED",
        })
    }
}

#[derive(Copy, Clone, Debug)]
pub struct BudgetRow {
    /// Name of the row for `--only`.
    pub name: &'static str,
    pub description: &'static str,
    pub unit: Unit,
    pub limit: f64,
    pub goal: f64,
}

impl BudgetRow {
    pub fn status(&self, value: f64) -> Status {
        let reaches = |bound: f64| {
            if self.unit.higher_is_better() { value >= bound } else { value <= bound }
        };
        match (reaches(self.goal), reaches(self.limit)) {
            (true, _) => Status::Goal,
            (_, true) => Status::Within,
            _ => Status::Missed,
        }
    }
}

const fn row(name: &'static str, description: &'static str, unit: Unit, (limit, goal): (f64, f64)) -> BudgetRow {
    BudgetRow { name, description, unit, limit, goal }
}

const MIB: f64 = (1 << 20) as f64;

/// All rows. The memory row is first, because the measured peak includes all earlier rows. The others are sorted by
/// duration.
pub const BUDGET: [BudgetRow; 19] = [
    row("memory.5000", "peak memory of the process at 5,000 nodes", Unit::Bytes, (16.0 * MIB, 12.0 * MIB)),
    row("memory.event", "engine memory per pending event", Unit::Bytes, (32.0, 16.0)),
    row("memory.pod", "engine memory per pod", Unit::Bytes, (394.0, 64.0)),
    row(
        "reading.5000",
        "reading a 5,000-node topology and a manifest, up to the first event",
        Unit::Seconds,
        (0.004, 0.003),
    ),
    row("recreate.5000", "one Recreate restart of 5,000 pods on 5,000 nodes", Unit::Seconds, (0.0105, 0.005)),
    row("in-place.5000", "one in-place restart of 5,000 pods on 5,000 nodes", Unit::Seconds, (0.009, 0.003)),
    row("queue.5000", "event queue, hold model, 5,000 pending events", Unit::Rate, (40e6, 60e6)),
    row("queue.100000", "event queue, hold model, 100,000 pending events", Unit::Rate, (25e6, 40e6)),
    row("engine.5000", "creation and Recreate restart of 5,000 pods, no trace, events", Unit::Rate, (4.4e6, 10e6)),
    row(
        "exclusive.5000",
        "one Recreate restart of 1,250 Jobs of 4 pods with exclusive placement",
        Unit::Seconds,
        (0.055, 0.025),
    ),
    row(
        "terms.1000",
        "one Recreate restart of 1,000 pods that repel each other by hostname, on 5,000 nodes",
        Unit::Seconds,
        (2.0, 0.3),
    ),
    row("recreate.65000", "one Recreate restart on 65,000 nodes", Unit::Seconds, (0.19, 0.08)),
    row("demo", "`demo`, from program start to charts", Unit::Seconds, (0.1, 0.05)),
    row(
        "kueue.50000",
        "one Kueue admission pass after the end of a Workload, 1,000 queues, 50,000 Workloads, 5,000 nodes",
        Unit::Seconds,
        (0.001, 0.000_1),
    ),
    row("fleet.200", "200 replications of AIReSim's base case, two cores", Unit::Seconds, (1.1, 0.5)),
    row("threads.2", "speedup of `fleet.200` from one core to two", Unit::Ratio, (1.9, 1.98)),
    row("pods.54d", "54 days, 2,048 nodes, at pod level", Unit::Seconds, (2.5, 0.7)),
    row("nodes.54d", "54 days, 2,048 nodes, level nodes, one replication", Unit::Seconds, (0.001, 0.000_1)),
    row(
        "pairs.10000",
        "10,000 paired replications of two policies, level nodes, two cores",
        Unit::Seconds,
        (14.0, 2.0),
    ),
];
