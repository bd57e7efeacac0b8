//! Quantities in the units in which Kueue counts: thousandths of a CPU, whole units of every other resource.

use sim_base::quantity::{binary_text, canonical};
use std::ops::{Add, AddAssign, Sub};

/// A quantity of one resource. `UNLIMITED` stays unlimited in sums and differences.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub i64);

impl Amount {
    pub const UNLIMITED: Amount = Amount(i64::MAX);
    pub const ZERO: Amount = Amount(0);

    /// Converts thousandths of a unit. Parts of a unit count as one, except for CPUs.
    pub fn from_milli(resource: &str, milli: i64) -> Amount {
        if resource == "cpu" {
            return Amount(milli);
        }
        Amount(milli.div_euclid(1000) + i64::from(milli.rem_euclid(1000) != 0))
    }

    /// Returns the quantity in thousandths of a unit.
    pub fn milli(self, resource: &str) -> i64 {
        if resource == "cpu" { self.0 } else { self.0.saturating_mul(1000) }
    }

    /// Returns the quantity as Kueue writes it in messages and in the status of a ClusterQueue.
    pub fn text(self, resource: &str) -> String {
        if self == Amount::UNLIMITED {
            return "<unlimited>".to_owned();
        }
        let plain = match resource {
            "cpu" => format!("{}m", self.0),
            "memory" | "ephemeral-storage" => return binary_text(self.0),
            _ if resource.starts_with("hugepages-") => return binary_text(self.0),
            _ => self.0.to_string(),
        };
        canonical(&plain).unwrap_or(plain)
    }

    /// Returns the quantity times a number of pods.
    pub fn times(self, count: u32) -> Amount {
        Amount(self.0.saturating_mul(i64::from(count)))
    }
}

impl Add for Amount {
    type Output = Amount;

    fn add(self, other: Amount) -> Amount {
        if self == Amount::UNLIMITED || other == Amount::UNLIMITED {
            return Amount::UNLIMITED;
        }
        Amount(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        *self = *self + other;
    }
}

impl Sub for Amount {
    type Output = Amount;

    fn sub(self, other: Amount) -> Amount {
        match (self == Amount::UNLIMITED, other == Amount::UNLIMITED) {
            (true, true) => Amount::ZERO,
            (true, false) => Amount::UNLIMITED,
            (false, true) => Amount(i64::MIN),
            (false, false) => Amount(self.0.saturating_sub(other.0)),
        }
    }
}
