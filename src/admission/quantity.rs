//! Kubernetes quantities as Go reads and writes them: `0.5` is `500m`, `1024Mi` is `1Gi`.
//!
//! Must never judge whether a quantity makes sense.

pub const FORMAT_WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_WRONG: &str = "unable to parse quantity's suffix";
const NUMERIC_WRONG: &str = "unable to parse numeric part of quantity";

/// More digits than an int64 surely holds take the slow path.
const INT64_DIGITS: i32 = 18;
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

#[derive(Copy, Clone, PartialEq)]
enum Format {
    Si,
    Exponent,
    Binary,
}

/// The quantity as Go writes it again, or Go's error.
pub fn canonical(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(FORMAT_WRONG.to_owned());
    }
    if text == "0" {
        return Ok(text.to_owned());
    }
    let parts = split(text).ok_or(FORMAT_WRONG)?;
    let (format, exponent) = interpret(parts.suffix).ok_or(SUFFIX_WRONG)?;
    let digits = format!("{}{}", parts.num, parts.denom);
    if is_as_written(&parts, &digits, format, exponent) {
        return Ok(text.to_owned());
    }
    let magnitude: i128 = digits.parse().map_err(|_| NUMERIC_WRONG)?;
    let sign = if parts.negative { -1 } else { 1 };
    let scale = -(parts.denom.len() as i32);
    let (value, scale, format) = match format {
        Format::Binary => {
            let value = magnitude.checked_mul(1 << exponent).ok_or(NUMERIC_WRONG)?;
            let value = value.min(i128::from(i64::MAX).saturating_mul(pow10(-scale)));
            let below_one = value < pow10(-scale) && value > 0;
            let format = if below_one { Format::Si } else { format };
            (value, scale, format)
        }
        _ => (magnitude, scale.saturating_add(exponent), format),
    };
    let (value, scale) = round_up_to_nano(value, scale);
    Ok(written(sign * value, scale, format))
}

/// A form that two quantities share if they are equal, however they are written.
pub fn value(text: &str) -> Option<(i128, i32)> {
    let parts = split(text.trim())?;
    let (format, exponent) = interpret(parts.suffix)?;
    let digits: i128 = format!("{}{}", parts.num, parts.denom).parse().ok()?;
    let scale = -(parts.denom.len() as i32);
    let (mut value, mut scale) = match format {
        Format::Binary => (digits.checked_mul(1 << exponent)?, scale),
        _ => (digits, scale.saturating_add(exponent)),
    };
    if value == 0 {
        return Some((0, 0));
    }
    while value % 10 == 0 {
        (value, scale) = (value / 10, scale.saturating_add(1));
    }
    Some((if parts.negative { -value } else { value }, scale))
}

struct Parts<'a> {
    negative: bool,
    /// Without leading zeros.
    num: &'a str,
    denom: &'a str,
    suffix: &'a str,
}

fn split(text: &str) -> Option<Parts<'_>> {
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
    tail.chars().all(digit).then_some(Parts {
        negative,
        num,
        denom,
        suffix,
    })
}

fn interpret(suffix: &str) -> Option<(Format, i32)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        return Some((Format::Si, *exponent));
    }
    if let Some((_, exponent)) = BINARY.iter().find(|(s, _)| *s == suffix) {
        return Some((Format::Binary, *exponent as i32));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Format::Exponent, exponent))
}

/// Go keeps the text of a number that already is in its canonical form, by a rough test.
fn is_as_written(parts: &Parts, digits: &str, format: Format, exponent: i32) -> bool {
    let Ok(value) = digits.parse::<i64>() else {
        return false;
    };
    match format {
        Format::Binary => {
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

fn pow10(n: i32) -> i128 {
    10i128.checked_pow(n.max(0) as u32).unwrap_or(i128::MAX)
}

fn round_up_to_nano(value: i128, scale: i32) -> (i128, i32) {
    if scale >= -9 {
        return (value, scale);
    }
    let unit = pow10(-9 - scale);
    (value / unit + i128::from(value % unit != 0), -9)
}

fn written(value: i128, scale: i32, format: Format) -> String {
    if value == 0 {
        return "0".to_owned();
    }
    if format == Format::Binary {
        let unit = pow10(-scale);
        let whole = value / unit * pow10(scale);
        if value % unit == 0 && whole.abs() >= 1024 {
            return binary(whole);
        }
    }
    let (mut value, mut scale) = (value, scale);
    while value % 10 == 0 {
        (value, scale) = (value / 10, scale + 1);
    }
    let up = scale.rem_euclid(3);
    (value, scale) = (value * pow10(up), scale - up);
    if format == Format::Exponent {
        return match scale {
            0 => value.to_string(),
            _ => format!("{value}e{scale}"),
        };
    }
    let suffix = DECIMAL.iter().find(|(_, e)| *e == scale);
    format!("{value}{}", suffix.map_or("", |(s, _)| s))
}

fn binary(mut value: i128) -> String {
    let mut times = 0;
    while value % 1024 == 0 && times < BINARY.len() {
        (value, times) = (value / 1024, times + 1);
    }
    let suffix = times.checked_sub(1).map_or("", |i| BINARY[i].0);
    format!("{value}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::{canonical, value};

    #[test]
    fn equal_quantities_share_a_value() {
        for (a, b, equal) in [
            ("1", "1000m", true),
            ("1", "1e0", true),
            ("1Gi", "1024Mi", true),
            ("1G", "1Gi", false),
            ("0", "0m", true),
            ("-1", "1", false),
        ] {
            assert_eq!(value(a) == value(b), equal, "{a} {b}");
        }
    }

    #[test]
    fn quantities_are_rewritten_as_go_rewrites_them() {
        for (text, expected) in [
            ("1", "1"),
            ("0", "0"),
            ("000", "0"),
            ("0.5", "500m"),
            ("1.0", "1"),
            ("100m", "100m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1024Mi", "1Gi"),
            ("1024", "1024"),
            ("8Gi", "8Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("1e2", "100"),
            ("1E", "1E"),
            ("1000k", "1M"),
            ("-1", "-1"),
            ("+1", "+1"),
            ("0.1n", "1n"),
            ("1.5", "1500m"),
            ("4000", "4k"),
            ("1536Mi", "1536Mi"),
            ("2048Ki", "2Mi"),
            (" 2 ", "2"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_has_gos_words() {
        for (text, expected) in [
            ("", "quantities must match"),
            ("x", "quantities must match"),
            ("true", "quantities must match"),
            ("1 Gi", "quantities must match"),
            ("1GiB", "quantities must match"),
            ("1gi", "quantities must match"),
            ("1KM", "unable to parse quantity's suffix"),
            ("{\"a\":1}", "quantities must match"),
        ] {
            let error = canonical(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
