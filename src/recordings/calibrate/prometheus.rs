//! Reads metrics text as printed by `kubectl get --raw /metrics`. Only the families about request latency and client
//! rate limits are used.
//!
//! Source of the format: Prometheus text exposition format 0.0.4.

use super::histogram::Histogram;
use std::collections::BTreeMap;

/// The histograms that calibration uses.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// `apiserver_request_duration_seconds` by verb and resource (`pods/binding`), without watches.
    pub requests: BTreeMap<(String, String), Histogram>,
    /// `rest_client_rate_limiter_duration_seconds` by client.
    pub waits: BTreeMap<&'static str, Histogram>,
}

pub const REQUESTS: &str = "apiserver_request_duration_seconds";
pub const WAITS: &str = "rest_client_rate_limiter_duration_seconds";
/// Maximum length of a line in bytes. Components print shorter lines.
const LINE_MAX: usize = 1 << 16;

impl Metrics {
    /// Reads one metrics text. An error consists of line, column and message.
    pub fn read(&mut self, text: &str) -> Result<(), (usize, usize, String)> {
        let client = client(text);
        let mut used = false;
        for (i, line) in text.lines().enumerate() {
            let wrong = |column: usize, what: &str| (i + 1, column, what.to_owned());
            if line.len() > LINE_MAX {
                return Err(wrong(1, "the line is longer than any metric"));
            }
            let Some(name) = [REQUESTS, WAITS].into_iter().find(|name| {
                line.strip_prefix(*name)
                    .is_some_and(|rest| rest.starts_with("_bucket{"))
            }) else {
                continue;
            };
            let labels_at = name.len() + "_bucket{".len();
            let (labels, value) =
                sample(line, labels_at).map_err(|(column, what)| wrong(column, what))?;
            let of = |key: &str| {
                labels
                    .iter()
                    .find(|(k, _)| *k == key)
                    .map_or("", |(_, v)| v.as_str())
            };
            let le = match of("le") {
                "+Inf" => f64::INFINITY,
                le => le
                    .parse()
                    .ok()
                    .filter(|le: &f64| le.is_finite() && *le >= 0.0)
                    .ok_or_else(|| wrong(labels_at, "le is no bound"))?,
            };
            used = true;
            if name == WAITS {
                self.waits.entry(client).or_default().add(le, value);
                continue;
            }
            let verb = of("verb").to_owned();
            // The duration of a watch is chosen by its client.
            if verb == "WATCH" || verb == "CONNECT" {
                continue;
            }
            let resource = match of("subresource") {
                "" => of("resource").to_owned(),
                sub => format!("{}/{sub}", of("resource")),
            };
            self.requests
                .entry((verb, resource))
                .or_default()
                .add(le, value);
        }
        match used {
            true => Ok(()),
            false => Err((0, 0, format!("neither {REQUESTS} nor {WAITS} is in it"))),
        }
    }
}

/// Returns the client whose metrics these are, identified by a metric family that only this component has.
fn client(text: &str) -> &'static str {
    let has = |name: &str| text.lines().any(|line| line.starts_with(name));
    match () {
        () if has("scheduler_pending_pods") || has("scheduler_schedule_attempts_total") => {
            "kubeScheduler"
        }
        () if has("controller_runtime_") => "jobsetManager",
        () if has("job_controller_") || has("workqueue_") => "kubeControllerManager",
        () => "",
    }
}

type Sample = (Vec<(String, String)>, f64);

/// Parses the labels from byte `at` on, and the value.
fn sample(line: &str, at: usize) -> Result<Sample, (usize, &'static str)> {
    let mut labels = Vec::new();
    let mut rest = &line[at..];
    let column = |rest: &str| line.len() - rest.len() + 1;
    while let Some((key, after)) = rest.split_once("=\"") {
        if rest.starts_with('}') {
            break;
        }
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next() {
                Some((i, '"')) => break i,
                Some((_, '\\')) => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, c)) => value.push(c),
                    None => return Err((column(after), "the label has no end")),
                },
                Some((_, c)) => value.push(c),
                None => return Err((column(after), "the label has no end")),
            }
        };
        labels.push((key.trim_start_matches(',').trim().to_owned(), value));
        rest = &after[end + 1..];
    }
    let Some(value) = rest.trim_start_matches(',').strip_prefix('}') else {
        return Err((column(rest), "the labels have no end"));
    };
    let number = value
        .split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok());
    match number.filter(|n| n.is_finite() && *n >= 0.0) {
        Some(number) => Ok((labels, number)),
        None => Err((column(value), "no number of 0 or more")),
    }
}
