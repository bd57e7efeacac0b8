//! Parser of resource quantities (`100m`, `4Gi`, `129e6`): exact, with the error messages of Go.
//!
//! Must never check whether a quantity is valid in its context.

mod error;

pub use error::QuantityError;

use std::cmp::Ordering;

pub const INVALID_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Quantities with more digits may exceed int64 and take Go's slow path.
const INT64_DIGITS: i32 = 18;
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

#[derive(Copy, Clone, Debug, PartialEq)]
enum QuantityFormat {
    Si,
    Exponent,
    Binary,
}

/// `digits` × 10^`scale`, and the notation.
#[derive(Copy, Clone, Debug)]
pub struct Quantity {
    digits: i128,
    scale: i32,
    format: QuantityFormat,
}

/// Parses a quantity, or returns Go's error.
pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
    parse_keeping_text(text).map(|(quantity, _)| quantity)
}

/// Returns the quantity in Go's canonical form, or Go's error.
pub fn canonical(text: &str) -> Result<String, QuantityError> {
    let (quantity, as_written) = parse_keeping_text(text)?;
    Ok(if as_written { text.trim().to_owned() } else { quantity.canonical_text() })
}

/// Parses a quantity as whole thousandths, rounded up like Kubernetes; the error describes valid forms.
pub fn parse_milli(text: &str) -> Result<i64, QuantityError> {
    // Go accepts a text without digits as zero; here it is treated as a typing error.
    let some = text.contains(|c: char| c.is_ascii_digit());
    let Some(quantity) = parse(text).ok().filter(|_| some) else {
        let text = text.to_owned();
        return Err(QuantityError::NotQuantity { text });
    };
    let milli = quantity.scaled(3).and_then(|m| i64::try_from(m).ok());
    milli.ok_or_else(|| QuantityError::TooLarge { text: text.to_owned() })
}

/// Formats whole units with the largest binary suffix that divides them.
pub fn binary_text(units: i64) -> String {
    let suffix = BINARY.iter().rev().find(|(_, bits)| units != 0 && units % (1i64 << bits) == 0);
    suffix.map_or_else(|| units.to_string(), |(suffix, bits)| format!("{}{suffix}", units >> bits))
}

impl Quantity {
    pub fn is_negative(&self) -> bool {
        self.digits < 0
    }

    pub fn is_zero(&self) -> bool {
        self.digits == 0
    }

    /// Returns true for whole units, at Go's precision of thousandths.
    pub fn is_whole(&self) -> bool {
        self.scaled(3).is_none_or(|milli| milli % 1_000 == 0)
    }

    /// A normalized form: equal for equal quantities, independent of the notation.
    pub fn value(&self) -> (i128, i32) {
        let (mut digits, mut scale) = (self.digits, self.scale);
        if digits == 0 {
            return (0, 0);
        }
        while digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale.saturating_add(1));
        }
        (digits, scale)
    }

    pub fn compare(&self, other: &Quantity) -> Ordering {
        let (a, b) = (self.digits.signum(), other.digits.signum());
        if a != b || a == 0 {
            return a.cmp(&b);
        }
        let up = |digits: i128, by: i32| match by {
            0.. => pow10(by).and_then(|p| digits.checked_mul(p)),
            _ => Some(digits),
        };
        let by = self.scale.saturating_sub(other.scale);
        match (up(self.digits, by), up(other.digits, by.saturating_neg())) {
            (Some(own), Some(other)) => own.cmp(&other),
            // If one is too large to be scaled, it has the larger magnitude.
            (None, _) => a.cmp(&0),
            (_, None) => 0.cmp(&a),
        }
    }

    /// The quantity in units of 10^-`places`, rounded away from zero; `None` if it is too large.
    pub fn scaled(&self, places: i32) -> Option<i128> {
        match self.scale.saturating_add(places) {
            _ if self.digits == 0 => Some(0),
            up @ 0.. => self.digits.checked_mul(pow10(up)?),
            down => Some(divide_away_from_zero(self.digits, pow10(down.saturating_neg()))),
        }
    }

    /// Returns the quantity rounded up to thousandths, as the API server stores amounts of resources.
    pub fn rounded_to_milli(&self) -> Quantity {
        match self.scale {
            -3.. => *self,
            scale => {
                let digits = divide_away_from_zero(self.digits, pow10((-3i32).saturating_sub(scale)));
                Quantity { digits, scale: -3, format: self.format }
            }
        }
    }

    /// Returns the sum in the notation of this quantity, or in that of the other if this one is zero.
    pub fn plus(&self, other: &Quantity) -> Quantity {
        if self.is_zero() {
            return *other;
        }
        let scale = self.scale.min(other.scale);
        let digits = |q: &Quantity| q.digits.saturating_mul(pow10(q.scale.saturating_sub(scale)).unwrap_or(i128::MAX));
        Quantity { digits: digits(self).saturating_add(digits(other)), scale, format: self.format }
    }

    /// Returns Go's canonical form.
    pub fn canonical_text(&self) -> String {
        let Quantity { digits: mut value, mut scale, format } = *self;
        if value == 0 {
            return "0".to_owned();
        }
        if format == QuantityFormat::Binary
            && let Some(complete) = self.scaled(0).filter(|w| w.abs() >= 1024)
            && pow10(-scale).is_some_and(|unit| value % unit == 0)
        {
            return format_binary(complete);
        }
        while value % 10 == 0 {
            (value, scale) = (value / 10, scale.saturating_add(1));
        }
        let up = scale.rem_euclid(3);
        (value, scale) = (value.saturating_mul(10i128.pow(up as u32)), scale - up);
        if format == QuantityFormat::Exponent {
            return match scale {
                0 => value.to_string(),
                _ => format!("{value}e{scale}"),
            };
        }
        let suffix = DECIMAL.iter().find(|(_, e)| *e == scale);
        format!("{value}{}", suffix.map_or("", |(s, _)| s))
    }
}

/// Parses the quantity; the flag is true if Go keeps its text.
fn parse_keeping_text(text: &str) -> Result<(Quantity, bool), QuantityError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let parts = split_parts(text).ok_or(QuantityError::Format)?;
    let (format, exponent) = parse_suffix(parts.suffix).ok_or(QuantityError::Suffix)?;
    let digits = format!("{}{}", parts.num, parts.denom);
    let magnitude: i128 = digits.parse().map_err(|_| QuantityError::Number)?;
    let scale = i32::try_from(parts.denom.len()).map_or(i32::MIN, i32::saturating_neg);
    let (magnitude, scale, read) = match format {
        QuantityFormat::Binary => {
            let value = magnitude.checked_mul(1 << exponent).ok_or(QuantityError::Number)?;
            let unit = pow10(-scale).unwrap_or(i128::MAX);
            let value = value.min(i128::from(i64::MAX).saturating_mul(unit));
            let below_one = value < unit && value > 0;
            let format = if below_one { QuantityFormat::Si } else { format };
            (value, scale, format)
        }
        _ => (magnitude, scale.saturating_add(exponent), format),
    };
    // The smallest unit is one billionth.
    let (magnitude, scale) = match scale {
        ..-9 => (divide_away_from_zero(magnitude, pow10((-9i32).saturating_sub(scale))), -9),
        _ => (magnitude, scale),
    };
    let quantity = Quantity { digits: if parts.negative { -magnitude } else { magnitude }, scale, format: read };
    let as_written = text == "0" || is_canonical_text(&parts, &digits, format, exponent);
    Ok((quantity, as_written))
}

struct QuantityParts<'a> {
    negative: bool,
    /// Digits without leading zeros.
    num: &'a str,
    denom: &'a str,
    suffix: &'a str,
}

fn split_parts(text: &str) -> Option<QuantityParts<'_>> {
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let rest = rest.trim_start_matches('0');
    let end = |text: &str, is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    let digit: fn(char) -> bool = |c| c.is_ascii_digit();
    let (num, rest) = rest.split_at(end(rest, digit));
    let num = if num.is_empty() { "0" } else { num };
    let (denom, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(end(rest, digit)),
        None => ("", rest),
    };
    let letters = end(suffix, |c| "eEinumkKMGTP".contains(c));
    let tail = &suffix[letters..];
    let tail = tail.strip_prefix(['-', '+']).unwrap_or(tail);
    tail.chars().all(digit).then_some(QuantityParts { negative, num, denom, suffix })
}

fn parse_suffix(suffix: &str) -> Option<(QuantityFormat, i32)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        return Some((QuantityFormat::Si, *exponent));
    }
    if let Some((_, exponent)) = BINARY.iter().find(|(s, _)| *s == suffix) {
        return Some((QuantityFormat::Binary, *exponent as i32));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((QuantityFormat::Exponent, exponent))
}

/// Go keeps the text of a number already in canonical form, using an approximate test.
fn is_canonical_text(parts: &QuantityParts, digits: &str, format: QuantityFormat, exponent: i32) -> bool {
    let Ok(value) = digits.parse::<i64>() else {
        return false;
    };
    match format {
        QuantityFormat::Binary => {
            let room = 15 - parts.num.len() as i32 - (exponent as f32 * 3.0 / 10.0) as i32 - 1;
            let fits = value.checked_mul(1i64 << exponent).is_some();
            room >= 0 && parts.denom.is_empty() && fits && exponent % 10 == 0 && value & 7 != 0
        }
        _ => {
            let scale = exponent.saturating_sub(parts.denom.len() as i32);
            digits.len() as i32 <= INT64_DIGITS
                && scale >= -9
                && scale % 3 == 0
                && !digits.ends_with("000")
                && !digits.starts_with('0')
        }
    }
}

fn pow10(n: i32) -> Option<i128> {
    10i128.checked_pow(n.max(0) as u32)
}

/// Rounds away from zero; `unit` is `None` if it is larger than any number.
fn divide_away_from_zero(value: i128, unit: Option<i128>) -> i128 {
    match unit {
        Some(unit) => value / unit + i128::from(value % unit != 0) * value.signum(),
        None => value.signum(),
    }
}

fn format_binary(mut value: i128) -> String {
    let mut times = 0;
    while value % 1024 == 0 && times < BINARY.len() {
        (value, times) = (value / 1024, times + 1);
    }
    let suffix = times.checked_sub(1).map_or("", |i| BINARY[i].0);
    format!("{value}{suffix}")
}
