//! Request counters of the API server and of its clients.
//!
//! Sources of the names and labels: `staging/src/k8s.io/apiserver/pkg/endpoints/metrics/metrics.go` and client-go's
//! `tools/metrics` in component-base.

use super::openmetrics_text::{MetricsText, label};
use sim_analysis::metrics::open_metrics::{ScrapedAnswers, ScrapedMetrics};
use sim_base::SimTime;
use std::collections::BTreeMap;

pub fn write(out: &mut MetricsText, scraped: &ScrapedMetrics) {
    let name = "apiserver_request";
    out.family(
        name,
        "counter",
        "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, \
         and HTTP response code.",
    );
    write_request_counts(out, name, scraped, server_labels);
    let name = "rest_client_requests";
    out.family(name, "counter", "Number of HTTP requests, partitioned by status code, method, and host.");
    write_request_counts(out, name, scraped, client_labels);
}

/// Writes the cumulative number of requests per set of labels, sorted by labels.
fn write_request_counts(
    out: &mut MetricsText, name: &str, scraped: &ScrapedMetrics, labels: fn(&ScrapedAnswers) -> String,
) {
    let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for answers in &scraped.answers {
        let sums = all.entry(labels(answers)).or_insert_with(|| vec![0; scraped.at.len()]);
        for (sum, n) in sums.iter_mut().zip(&answers.since) {
            *sum += n;
        }
    }
    let name = format!("{name}_total");
    for (labels, since) in &all {
        let mut total = 0;
        for (n, at) in since.iter().zip(&scraped.at) {
            total += n;
            let at: SimTime = *at;
            out.sample(&name, labels, total, at);
        }
    }
}

fn server_labels(answers: &ScrapedAnswers) -> String {
    let kind = answers.call.kind();
    let (resource, subresource) = kind.resource.split_once('/').unwrap_or((kind.resource, ""));
    let (group, version) = match (resource, kind.client) {
        ("jobs", _) => ("batch", "v1"),
        ("jobsets", _) => ("jobset.x-k8s.io", "v1alpha2"),
        //  The scheduler uses the `events.k8s.io` API for Events, other components use the core API.
        ("events", "kube-scheduler") => ("events.k8s.io", "v1"),
        _ => ("", "v1"),
    };
    let verb = match kind.verb {
        "list" => "LIST".to_owned(),
        other => http_method(other),
    };
    let scope = match kind.verb {
        "list" => "namespace",
        _ => "resource",
    };
    let all = [
        label("code", code(answers)),
        label("component", "apiserver"),
        label("dry_run", ""),
        label("group", group),
        label("resource", resource),
        label("scope", scope),
        label("subresource", subresource),
        label("verb", &verb),
        label("version", version),
    ];
    all.join(",")
}

fn client_labels(answers: &ScrapedAnswers) -> String {
    let kind = answers.call.kind();
    let all = [label("code", code(answers)), label("job", kind.client), label("method", &http_method(kind.verb))];
    all.join(",")
}

fn code(answers: &ScrapedAnswers) -> &'static str {
    match (answers.code, answers.call.kind().verb) {
        ("", "create") => "201",
        ("", _) => "200",
        (code, _) => code,
    }
}

/// Returns the HTTP method of an API verb, as client-go labels it.
pub(crate) fn http_method(verb: &str) -> String {
    match verb {
        "get" | "list" | "watch" => "GET".to_owned(),
        "create" => "POST".to_owned(),
        "update" => "PUT".to_owned(),
        other => other.to_uppercase(),
    }
}
