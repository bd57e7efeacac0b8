//! Reads metrics text as printed by `kubectl get --raw /metrics`. Only the families about request latency and client
//! rate limits are used.
//!
//! Source of the format: Prometheus text exposition format 0.0.4.

use super::histogram::CumulativeHistogram;
use std::collections::BTreeMap;

/// The histograms that calibration uses.
#[derive(Clone, Debug, Default)]
pub struct PrometheusMetrics {
    /// `apiserver_request_duration_seconds` by verb and resource (`pods/binding`), without watches.
    pub requests: BTreeMap<(String, String), CumulativeHistogram>,
    /// `rest_client_rate_limiter_duration_seconds` by client.
    pub limiter_waits: BTreeMap<&'static str, CumulativeHistogram>,
}

pub const REQUEST_METRIC: &str = "apiserver_request_duration_seconds";
pub const LIMITER_METRIC: &str = "rest_client_rate_limiter_duration_seconds";
/// Maximum length of a line in bytes. Components print shorter lines.
const LINE_MAX: usize = 1 << 16;

impl PrometheusMetrics {
    /// Reads one metrics text. An error consists of line, column and message.
    pub fn read(&mut self, text: &str) -> Result<(), (usize, usize, String)> {
        let client = client(text);
        let mut used = false;
        for (i, line) in text.lines().enumerate() {
            let wrong = |column: usize, what: &str| (i + 1, column, what.to_owned());
            if line.len() > LINE_MAX {
                return Err(wrong(1, "line too long"));
            }
            let Some(name) = [REQUEST_METRIC, LIMITER_METRIC]
                .into_iter()
                .find(|name| line.strip_prefix(*name).is_some_and(|rest| rest.starts_with("_bucket{")))
            else {
                continue;
            };
            let labels_at = name.len() + "_bucket{".len();
            let (labels, value) = sample(line, labels_at).map_err(|(column, what)| wrong(column, what))?;
            let of = |key: &str| labels.iter().find(|(k, _)| *k == key).map_or("", |(_, v)| v.as_str());
            let le = match of("le") {
                "+Inf" => f64::INFINITY,
                le => le
                    .parse()
                    .ok()
                    .filter(|le: &f64| le.is_finite() && *le >= 0.0)
                    .ok_or_else(|| wrong(labels_at, "label le is not a valid bucket bound"))?,
            };
            used = true;
            if name == LIMITER_METRIC {
                self.limiter_waits.entry(client).or_default().add(le, value);
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
            self.requests.entry((verb, resource)).or_default().add(le, value);
        }
        if used {
            Ok(())
        } else {
            Err((0, 0, format!("the text contains neither {REQUEST_METRIC} nor {LIMITER_METRIC}")))
        }
    }
}

/// Returns the client whose metrics these are, identified by a metric family that only this component has.
fn client(text: &str) -> &'static str {
    let has = |name: &str| text.lines().any(|line| line.starts_with(name));
    match () {
        () if has("scheduler_pending_pods") || has("scheduler_schedule_attempts_total") => "kubeScheduler",
        () if has("controller_runtime_") => "jobsetManager",
        () if has("job_controller_") || has("workqueue_") => "kubeControllerManager",
        () => "",
    }
}

type MetricSample = (Vec<(String, String)>, f64);

/// Parses the labels from byte `at` on, and the value.
fn sample(line: &str, at: usize) -> Result<MetricSample, (usize, &'static str)> {
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
                    None => return Err((column(after), "label value is not terminated")),
                },
                Some((_, c)) => value.push(c),
                None => return Err((column(after), "label value is not terminated")),
            }
        };
        labels.push((key.trim_start_matches(',').trim().to_owned(), value));
        rest = &after[end + 1..];
    }
    let Some(value) = rest.trim_start_matches(',').strip_prefix('}') else {
        return Err((column(rest), "missing } after the labels"));
    };
    let number = value.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    match number.filter(|n| n.is_finite() && *n >= 0.0) {
        Some(number) => Ok((labels, number)),
        None => Err((column(value), "value must be a number ≥ 0")),
    }
}
