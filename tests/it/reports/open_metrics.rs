//! Checks OpenMetrics text with a strict, independent reader.

use super::{SMALL, run_ok, text};
use crate::program::scratch;
use std::collections::BTreeMap;
use std::fs;

type Labels = Vec<(String, String)>;

/// A sample: the name of its family with suffix, its labels, value and time.
struct Sample {
    name: String,
    labels: Labels,
    value: f64,
    at: f64,
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Parses labels (`name="value",...}`). Returns them and the rest of the line.
fn labels<'a>(rest: &'a str, line: &str) -> (Labels, &'a str) {
    let (mut labels, mut chars) = (Vec::new(), rest.chars());
    loop {
        let own: String = chars.by_ref().take_while(|c| *c != '=').collect();
        assert!(is_name(&own), "label {own:?} in {line}");
        assert_eq!(chars.next(), Some('"'), "{line}");
        let mut value = String::new();
        loop {
            match chars.next() {
                Some('\\') => match chars.next() {
                    Some('n') => value.push('\n'),
                    Some(c @ ('\\' | '"')) => value.push(c),
                    other => panic!("escaped {other:?} in {line}"),
                },
                Some('"') => break,
                Some(c) => value.push(c),
                None => panic!("label value without end: {line}"),
            }
        }
        labels.push((own, value));
        match chars.next() {
            Some(',') => {}
            Some('}') => return (labels, chars.as_str()),
            other => panic!("{other:?} in {line}"),
        }
    }
}

/// Parses a sample according to the grammar of OpenMetrics 1.0.
fn sample(line: &str) -> Sample {
    let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
    assert!(is_name(name), "{line}");
    let (labels, rest) = labels(rest, line);
    let parts: Vec<&str> = rest.split(' ').collect();
    let ["", value, at] = parts.as_slice() else { panic!("a sample needs a value and a time: {line}") };
    let mut names: Vec<&String> = labels.iter().map(|(n, _)| n).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), labels.len(), "duplicate label: {line}");
    Sample { name: name.to_owned(), value: value.parse().unwrap(), at: at.parse().unwrap(), labels }
}

#[derive(Default)]
struct Reader {
    families: Vec<String>,
    kind: String,
    /// Last time and value of each series.
    last: BTreeMap<(String, Labels), (f64, f64)>,
    /// Bounds and counts of each histogram at each time. The entry of `_count` has the bound NaN.
    buckets: BTreeMap<(Labels, u64), Vec<(f64, f64)>>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(of) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of.split_once(' ').unwrap();
            assert!(!self.families.contains(&name.to_owned()), "{name} twice");
            self.families.push(name.to_owned());
            self.kind = kind.to_owned();
            return;
        }
        let family = self.families.last().expect("a TYPE line comes first").clone();
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(help.starts_with(&format!("{family} ")), "{line}");
            return;
        }
        let s = sample(line);
        let suffixes: &[&str] = match self.kind.as_str() {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "gauge" => &[""],
            other => panic!("{other}"),
        };
        let suffix = s.name.strip_prefix(family.as_str());
        let suffix = suffix.filter(|own| suffixes.contains(own));
        let suffix = suffix.unwrap_or_else(|| panic!("{} does not belong to {family}", s.name));
        let key = (s.name.clone(), s.labels.clone());
        if let Some((at, value)) = self.last.insert(key, (s.at, s.value)) {
            assert!(s.at > at, "time decreases: {line}");
            assert!(self.kind == "gauge" || s.value >= value, "falls: {line}");
        }
        if suffix == "_bucket" || suffix == "_count" {
            let (le, own): (Labels, Labels) = s.labels.into_iter().partition(|(n, _)| n == "le");
            let le = match le.first().map(|(_, v)| v.as_str()) {
                Some("+Inf") => f64::INFINITY,
                Some(v) => v.parse().unwrap(),
                None => f64::NAN,
            };
            let all = self.buckets.entry((own, s.at.to_bits())).or_default();
            all.push((le, s.value));
        }
    }

    fn end(&self) {
        for (of, all) in &self.buckets {
            let [below @ .., (none, count)] = all.as_slice() else { panic!("{of:?} is empty") };
            let rises = |w: &[(f64, f64)]| w[0].0 < w[1].0 && w[0].1 <= w[1].1;
            assert!(below.windows(2).all(rises), "{of:?}");
            let last = below.last().expect("a bucket");
            assert!(last.0.is_infinite() && none.is_nan() && last.1 == *count, "{of:?}");
        }
    }
}

/// Checks that the text is valid OpenMetrics: families are contiguous, the samples of each series are ordered by
/// time, counters never decrease, and buckets of histograms add up.
fn is_open_metrics(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let [lines @ .., end] = lines.as_slice() else { panic!("nothing") };
    assert_eq!(*end, "# EOF");
    let mut reader = Reader::default();
    lines.iter().for_each(|line| reader.line(line));
    reader.end();
}

#[test]
fn metrics_are_open_metrics_to_the_letter() {
    let dir = scratch("report-metrics-strict");
    let out = dir.join("r.om");
    let name = out.to_str().unwrap();
    for scenario in [SMALL, "scenarios/node-drain.yaml"] {
        for detail in ["jobsets", "pods"] {
            run_ok(&["report", scenario, "--openmetrics", name, "--scrape", "20s", "--detail", detail]);
            is_open_metrics(&text(&out));
        }
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
#[should_panic(expected = "time decreases")]
fn a_time_that_goes_back_is_not_open_metrics() {
    is_open_metrics("# TYPE a gauge\n# HELP a b\na{l=\"\\\\\"} 1 2.0\na{l=\"\\\\\"} 1 1.0\n# EOF\n");
}

#[test]
#[should_panic(expected = "does not belong to")]
fn a_sample_of_another_family_is_not_open_metrics() {
    is_open_metrics("# TYPE a counter\n# HELP a b\na{l=\"x\"} 1 2.0\n# EOF\n");
}
