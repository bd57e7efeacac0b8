//! Traps of the network: host names that no Service serves, and settings that JobSet overwrites.

use super::lint_subject::{LintSubject, list, place, text};
use super::trap::{JobSetHits, TrapCheck, TrapHit, hit};
use sim_api::spec::CompletionMode;
use sim_api::spec::keys::JOBSET_NAME;
use sim_inputs::text::node::YamlNode;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("coordinator-without-dns", TrapCheck::JobSet(coordinator_without_dns)),
    ("hostname-overwritten", TrapCheck::JobSet(hostname_overwritten)),
    ("subdomain-shared", TrapCheck::Together(subdomain_shared)),
    ("service-exists", TrapCheck::JobSet(service_exists)),
    ("service-name-invalid", TrapCheck::JobSet(service_name_invalid)),
];

const LABEL_MAX: usize = 63;

fn coordinator_without_dns(s: &LintSubject) -> Vec<TrapHit> {
    if s.jobset.spec.coordinator.is_some() && !s.jobset.spec.network.enable_dns_hostnames {
        vec![hit(s.at(&["coordinator"]), "enableDNSHostnames is false")]
    } else {
        Vec::new()
    }
}

fn hostname_overwritten(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let indexed = rj.template().completion_mode == CompletionMode::Indexed;
        let dns = s.jobset.spec.network.enable_dns_hostnames;
        let same = text(rj.pod, "subdomain") == Some(s.subdomain());
        for (key, lost) in [("hostname", indexed), ("subdomain", dns && !same)] {
            if let Some(value) = text(rj.pod, key).filter(|v| lost && !v.is_empty()) {
                let detail = format!("{key} {value:?} in replicatedJob {:?}", rj.name());
                hits.push(hit(rj.pod_at(key), detail));
            }
        }
    }
    hits
}

fn subdomain_shared(all: &[LintSubject]) -> JobSetHits {
    let dns = |s: &LintSubject| s.jobset.spec.network.enable_dns_hostnames;
    let mut hits = Vec::new();
    for (i, s) in all.iter().enumerate().filter(|(_, s)| dns(s)) {
        let first = all[..i].iter().filter(|o| dns(o)).find(|o| {
            o.jobset.namespace == s.jobset.namespace && o.subdomain() == s.subdomain() && o.jobset.name != s.jobset.name
        });
        if let Some(other) = first {
            let detail = format!("{:?} and {:?} use subdomain {:?}", other.jobset.name, s.jobset.name, s.subdomain());
            hits.push((i, hit(s.at(&["network", "subdomain"]), detail)));
        }
    }
    hits
}

fn service_exists(s: &LintSubject) -> Vec<TrapHit> {
    if !s.jobset.spec.network.enable_dns_hostnames {
        return Vec::new();
    }
    let is_it = |node: &YamlNode| {
        let metadata = |key: &str| node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
        metadata("name") == Some(s.subdomain()) && metadata("namespace").unwrap_or("default") == s.jobset.namespace
    };
    let selects = |node: &YamlNode| {
        let selector = node.at_path(&["spec", "selector"]);
        selector.and_then(|n| text(n, JOBSET_NAME)) == Some(s.jobset.name.as_str())
    };
    let services = s.objects.iter().filter(|o| o.kind == "Service");
    let mut result = services.filter(|o| is_it(&o.node) && !selects(&o.node));
    match result.next() {
        Some(service) => {
            let line = service.node.at.line;
            let detail = format!("Service {:?} at line {line}", s.subdomain());
            let at = if s.jobset.spec.network.subdomain.is_empty() {
                s.metadata_at("name")
            } else {
                s.at(&["network", "subdomain"])
            };
            vec![hit(at, detail)]
        }
        None => Vec::new(),
    }
}

fn service_name_invalid(s: &LintSubject) -> Vec<TrapHit> {
    let name = s.subdomain();
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let legal = name.len() <= LABEL_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(inner)
        && !name.ends_with('-');
    let unchecked = list(s.spec_node(), "replicatedJobs").is_empty();
    if legal || !unchecked || name.is_empty() || !s.jobset.spec.network.enable_dns_hostnames {
        return Vec::new();
    }
    let metadata = s.node.get("metadata").unwrap_or(s.node);
    vec![hit(place(metadata, "name"), format!("the Service would be named {name:?}"))]
}
