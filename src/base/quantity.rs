//! Kubernetes resource quantities (`100m`, `4Gi`, `8`) as integers of thousandths.

/// Suffixes with their factor; longest first.
const SUFFIXES: [(&str, u128); 12] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("m", 0),
];

/// Reads a quantity into thousandths of its unit, rounding up as Kubernetes does.
pub fn parse_milli(text: &str) -> Result<i64, String> {
    let bad = || format!("{text:?} is not a quantity; write 500m, 2, 1.5, 64Gi or 16G");
    let (number, factor, milli) = match SUFFIXES.iter().find(|(s, _)| text.ends_with(s)) {
        Some((s, 0)) => (&text[..text.len() - s.len()], 1, true),
        Some((s, f)) => (&text[..text.len() - s.len()], *f, false),
        None => (text, 1, false),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.chars().all(|c| c.is_ascii_digit());
    if number.is_empty()
        || !digits(whole)
        || !digits(fraction)
        || whole.len() > 18
        || fraction.len() > 9
    {
        return Err(bad());
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(bad());
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let units: u128 = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    let thousandths = units * factor * if milli { 1 } else { 1_000 };
    let rounded_up = thousandths.div_ceil(scale);
    i64::try_from(rounded_up).map_err(|_| format!("{text:?} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        for (text, milli) in [
            ("1", 1000),
            ("100m", 100),
            ("1.5", 1500),
            ("4Gi", 4 << 30),
            ("2k", 2_000),
            ("0.1m", 1),
            (".5", 500),
        ] {
            let expected = if text == "4Gi" {
                milli * 1000
            } else if text == "2k" {
                2_000_000
            } else {
                milli
            };
            assert_eq!(parse_milli(text), Ok(expected), "{text}");
        }
        for text in ["", "m", "-1", "1e3x", "abc", "1..2", "NaN", "."] {
            assert!(parse_milli(text).is_err(), "{text}");
        }
    }
}
