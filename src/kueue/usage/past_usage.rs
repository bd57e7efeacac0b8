//! Amounts of resources with nine decimal places, and their exponential decay.
//!
//! Kueue multiplies decimals by floating-point factors and cuts the results after nine places (`resource.MulByFloat`).

use crate::amount::Amount;
use crate::requests::{Name, Requests};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Decimal places of amounts.
const PLACES: u32 = 9;
/// Decimal places of a factor beyond which every product is below 10⁻⁹.
const FACTOR_PLACES_MAX: usize = 37;

/// Amounts by resource, in 10⁻⁹ of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceNanos(BTreeMap<Name, i128>);

impl ResourceNanos {
    /// Converts amounts in 10⁻⁹ of a unit.
    pub fn new(nanos: &BTreeMap<String, i128>) -> ResourceNanos {
        ResourceNanos(nanos.iter().map(|(name, amount)| (Name::from(name.as_str()), *amount)).collect())
    }

    pub fn get(&self, resource: &str) -> i128 {
        self.0.get(resource).copied().unwrap_or(0)
    }

    /// Returns whether no amount differs from zero.
    pub fn is_zero(&self) -> bool {
        self.0.values().all(|amount| *amount == 0)
    }

    pub fn add_amount(&mut self, resource: &Name, amount: Amount) {
        let unit = 10_i128.pow(PLACES - 3);
        *self.0.entry(resource.clone()).or_default() += i128::from(amount.milli(resource)) * unit;
    }

    pub fn add(&mut self, other: &ResourceNanos) {
        for (name, amount) in &other.0 {
            *self.0.entry(name.clone()).or_default() += amount;
        }
    }

    /// Subtracts amounts. Resources without a rest are removed.
    pub fn subtract(&mut self, other: &ResourceNanos) {
        for (name, amount) in &other.0 {
            *self.0.entry(name.clone()).or_default() -= amount;
        }
        self.0.retain(|_, amount| *amount != 0);
    }

    /// Returns the products with a factor between 0 and 1, rounded towards zero.
    pub fn times(&self, factor: f64) -> ResourceNanos {
        let factor = DecimalFactor::new(factor);
        ResourceNanos(self.0.iter().map(|(name, amount)| (name.clone(), factor.times(*amount))).collect())
    }

    /// Returns the usage after a time in which `current` was in use: the old usage halves in each half-life.
    pub fn decayed(&self, current: &ResourceNanos, elapsed: Duration, half_life: Duration) -> ResourceNanos {
        let alpha = decay_rate(elapsed, half_life);
        let mut sum = self.times(1.0 - alpha);
        sum.add(&current.times(alpha));
        sum
    }

    /// Returns the sum of the amounts, each times the weight of its resource. The default weight is 1.
    pub fn weighted_sum(&self, weights: &BTreeMap<String, f64>) -> f64 {
        let weighted =
            |(name, nanos): (&Name, &i128)| weights.get(&**name).copied().unwrap_or(1.0) * (*nanos as f64 * 1e-9);
        self.0.iter().map(weighted).fold(0.0, |sum, amount| sum + amount)
    }
}

impl From<&Requests> for ResourceNanos {
    fn from(requests: &Requests) -> ResourceNanos {
        let mut all = ResourceNanos::default();
        requests.iter().for_each(|(resource, amount)| all.add_amount(resource, amount));
        all
    }
}

/// Returns the share by which the current usage replaces the past one. It is zero without a half-life.
pub fn decay_rate(elapsed: Duration, half_life: Duration) -> f64 {
    if half_life == Duration::ZERO {
        return 0.0;
    }
    1.0 - libm::pow(0.5, elapsed.seconds() / half_life.seconds())
}

/// The shortest decimal that denotes a number: `digits` times 10 to the power of `-places`.
struct DecimalFactor {
    digits: i128,
    places: usize,
}

impl DecimalFactor {
    fn new(factor: f64) -> DecimalFactor {
        let text = format!("{}", factor.clamp(0.0, 1.0));
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        // A factor has at most 17 significant digits. If it has too many places, it counts as zero.
        let digits = if fraction.len() > FACTOR_PLACES_MAX { None } else { format!("{whole}{fraction}").parse().ok() };
        DecimalFactor { digits: digits.unwrap_or(0), places: fraction.len().min(FACTOR_PLACES_MAX) }
    }

    /// Returns the product without its fraction. The amount is split, so that no intermediate result overflows.
    fn times(&self, amount: i128) -> i128 {
        let (unit, divisor) = (10_i128.pow(PLACES), 10_i128.pow(self.places as u32));
        let (high, low) = (amount / unit * self.digits, amount % unit * self.digits);
        if self.places <= PLACES as usize {
            return high * (unit / divisor) + low / divisor;
        }
        let step = divisor / unit;
        high / step + (high % step * unit + low) / divisor
    }
}
