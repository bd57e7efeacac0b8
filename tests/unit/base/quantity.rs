//! Tests of `sim_base::quantity`.

use sim_base::quantity::*;
use std::cmp::Ordering;
#[test]
fn quantities_compare_as_numbers_however_they_are_written() {
    let sorted =
        ["-1e400", "-1", "-1n", "0", "3n", "1m", "0.5", "1000m", "1k", "1Ki", "1e6", "1M", "1Mi", "1Gi", "9E", "1e300"];
    for pair in sorted.windows(2) {
        let (a, b) = (parse(pair[0]).unwrap(), parse(pair[1]).unwrap());
        let expected = match pair {
            ["1e6", "1M"] => Ordering::Equal,
            _ => Ordering::Less,
        };
        assert_eq!(a.compare(&b), expected, "{pair:?}");
        assert_eq!(b.compare(&a), expected.reverse(), "{pair:?}");
    }
    for (a, b, equal) in [
        ("1", "1000m", true),
        ("1", "1e0", true),
        ("1Gi", "1024Mi", true),
        ("1G", "1Gi", false),
        ("0", "0m", true),
        ("-1", "1", false),
    ] {
        let value = |text| parse(text).unwrap().value();
        assert_eq!(value(a) == value(b), equal, "{a} {b}");
    }
}

#[test]
fn thousandths_are_rounded_up() {
    for (text, milli) in [
        ("1", 1_000),
        ("100m", 100),
        ("1.5", 1_500),
        ("4Gi", (4 << 30) * 1_000),
        ("2k", 2_000_000),
        ("0.1m", 1),
        ("1n", 1),
        (".5", 500),
        ("129e6", 129_000_000_000),
        ("1E3", 1_000_000),
        ("-1", -1_000),
        ("1e-400", 1),
    ] {
        assert_eq!(parse_milli(text), Ok(milli), "{text}");
    }
    for text in ["", "m", "1e3x", "abc", "1..2", "NaN", "1K", "-", "4Q"] {
        let error = parse_milli(text).unwrap_err().to_string();
        assert!(error.contains("is not a quantity"), "{text}: {error}");
    }
    for text in ["1E", "1e400", "99999999999999999999"] {
        let error = parse_milli(text).unwrap_err().to_string();
        assert!(error.contains("is too large; at most"), "{text}: {error}");
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
        ("129e6", "129e6"),
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
fn what_is_not_a_quantity_has_gos_words() {
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
        let error = canonical(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
