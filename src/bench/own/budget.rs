//! The budget: what the program promises to be able to do on two cores of 2.3 GHz, and what it hopes for.

use super::SelfRow;

/// In what a row is measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events a second.
    Rate,
    /// Seconds of wall time.
    Seconds,
    /// Bytes.
    Bytes,
    /// So many times.
    Times,
}

impl Unit {
    /// As JSON names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Rate => "1/s",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::Times => "x",
        }
    }

    /// The unit of that name.
    pub fn of(name: &str) -> Option<Unit> {
        let all = [Unit::Rate, Unit::Seconds, Unit::Bytes, Unit::Times];
        all.into_iter().find(|unit| unit.as_str() == name)
    }

    /// Whether more of it is better.
    pub fn is_high_good(self) -> bool {
        matches!(self, Unit::Rate | Unit::Times)
    }

    /// As a table shows it.
    pub fn shown(self, value: f64) -> String {
        match self {
            Unit::Rate => format!("{:.1} M/s", value / 1e6),
            Unit::Seconds if value < 1e-3 => format!("{:.3} ms", value * 1e3),
            Unit::Seconds if value < 0.1 => format!("{:.1} ms", value * 1e3),
            Unit::Seconds => format!("{value:.2} s"),
            Unit::Bytes if value < MIB => format!("{value:.0} B"),
            Unit::Bytes => format!("{:.0} MiB", value / MIB),
            Unit::Times => format!("{value:.2} x"),
        }
    }
}

/// How a value stands to its budget.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As good as is hoped for.
    Aim,
    /// As good as it has to be.
    Must,
    /// Worse.
    Missed,
}

impl Standing {
    /// As files name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Standing::Aim => "aim",
            Standing::Must => "must",
            Standing::Missed => "missed",
        }
    }
}

/// One row.
#[derive(Copy, Clone, Debug)]
pub struct Budget {
    /// As `--only` and `--fail-if` name it.
    pub name: &'static str,
    /// What is measured.
    pub what: &'static str,
    /// In what.
    pub unit: Unit,
    /// The floor.
    pub must: f64,
    /// What is hoped for.
    pub aim: f64,
}

const fn of(name: &'static str, what: &'static str, unit: Unit, (must, aim): (f64, f64)) -> Budget {
    Budget {
        name,
        what,
        unit,
        must,
        aim,
    }
}

const MIB: f64 = (1 << 20) as f64;

/// All rows. Memory is first: its peak is that of the process until then. The others go from the quickest on.
pub const BUDGET: [Budget; 18] = [
    of(
        "memory.5000",
        "memory of the process at 5,000 nodes, its peak",
        Unit::Bytes,
        (64.0 * MIB, 16.0 * MIB),
    ),
    of(
        "memory.event",
        "hot state of a pending event",
        Unit::Bytes,
        (32.0, 16.0),
    ),
    of(
        "memory.pod",
        "hot state of a pod",
        Unit::Bytes,
        (128.0, 64.0),
    ),
    of(
        "reading.5000",
        "reading a 5,000-node topology and a manifest, to the first event",
        Unit::Seconds,
        (0.010, 0.003),
    ),
    of(
        "recreate.5000",
        "one Recreate restart of 5,000 pods on 5,000 nodes",
        Unit::Seconds,
        (0.014, 0.005),
    ),
    of(
        "in-place.5000",
        "one in-place restart, same size",
        Unit::Seconds,
        (0.014, 0.003),
    ),
    of(
        "queue.5000",
        "event queue, hold model, 5,000 pending",
        Unit::Rate,
        (14e6, 30e6),
    ),
    of(
        "queue.100000",
        "the same, 100,000 pending",
        Unit::Rate,
        (7e6, 15e6),
    ),
    of(
        "engine.5000",
        "creation and Recreate restart of 5,000 pods, trace off, events",
        Unit::Rate,
        (4.4e6, 10e6),
    ),
    of(
        "exclusive.5000",
        "one Recreate restart of 1,250 Jobs of 4 pods, each alone in its domain",
        Unit::Seconds,
        (0.1, 0.025),
    ),
    of(
        "recreate.65000",
        "one Recreate restart on 65,000 nodes",
        Unit::Seconds,
        (0.22, 0.08),
    ),
    of(
        "demo",
        "`demo`, this binary, to its charts",
        Unit::Seconds,
        (0.2, 0.1),
    ),
    of(
        "kueue.50000",
        "one Kueue admission pass, 1,000 queues, 50,000 Workloads",
        Unit::Seconds,
        (0.001, 0.000_1),
    ),
    of(
        "fleet.200",
        "200 replications of AIReSim's base case, two cores",
        Unit::Seconds,
        (10.0, 1.0),
    ),
    of(
        "threads.2",
        "the same on one core, against two",
        Unit::Times,
        (1.8, 1.95),
    ),
    of(
        "pods.54d",
        "54 days of 2,048 nodes with every pod",
        Unit::Seconds,
        (3.0, 0.7),
    ),
    of(
        "collapsed.54d",
        "the same collapsed, a replication",
        Unit::Seconds,
        (0.002, 0.000_1),
    ),
    of(
        "pairs.10000",
        "10,000 such replications of two policies, paired, two cores",
        Unit::Seconds,
        (60.0, 2.0),
    ),
];

impl Budget {
    /// With what was measured.
    pub fn row(&self, value: Result<f64, String>) -> SelfRow {
        let standing = value
            .as_ref()
            .map_or("", |value| self.standing(*value).as_str());
        SelfRow {
            name: self.name.to_owned(),
            what: self.what.to_owned(),
            unit: self.unit.as_str().to_owned(),
            value: value.as_ref().ok().copied(),
            must: self.must,
            aim: self.aim,
            standing: standing.to_owned(),
            why: value.err().unwrap_or_default(),
        }
    }

    fn standing(&self, value: f64) -> Standing {
        let is_good = |limit: f64| match self.unit.is_high_good() {
            true => value >= limit,
            false => value <= limit,
        };
        match (is_good(self.aim), is_good(self.must)) {
            (true, _) => Standing::Aim,
            (_, true) => Standing::Must,
            _ => Standing::Missed,
        }
    }
}
