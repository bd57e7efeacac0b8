//! Kubernetes quantities with their sign and every suffix, exact to billionths.
//!
//! Must never round: the API server compares what was written.

const SUFFIXES: [(&str, i128); 15] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
    ("n", -1_000_000_000),
    ("u", -1_000_000),
    ("m", -1_000),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
];

/// Billionths; `None` for what is not a quantity or too large to matter.
pub fn billionths(text: &str) -> Option<i128> {
    let (number, factor) = match SUFFIXES.iter().find(|(s, _)| text.ends_with(s)) {
        Some((suffix, factor)) => (text.strip_suffix(suffix)?, *factor),
        None => (text, 1),
    };
    let (number, exponent) = match number.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let negative = number.starts_with('-');
    let digits = number.trim_start_matches(['-', '+']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let shift = 9 + exponent - i32::try_from(fraction.len()).ok()?;
    let units: i128 = format!("{whole}{fraction}").parse().ok()?;
    let power = |n: i32| 10i128.checked_pow(n.unsigned_abs());
    let scaled = match shift {
        0.. => units.checked_mul(power(shift)?)?,
        _ => units / power(shift)?,
    };
    let value = match factor {
        1.. => scaled.checked_mul(factor)?,
        _ => scaled / -factor,
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_compare_as_numbers() {
        for (text, value) in [
            ("1", 1_000_000_000),
            ("-1", -1_000_000_000),
            ("1500m", 1_500_000_000),
            ("1.5", 1_500_000_000),
            ("1Ki", 1_024_000_000_000),
            ("1e3", 1_000_000_000_000),
            ("3n", 3),
            ("2k", 2_000_000_000_000),
        ] {
            assert_eq!(billionths(text), Some(value), "{text}");
        }
        assert_eq!(billionths("one"), None);
    }
}
