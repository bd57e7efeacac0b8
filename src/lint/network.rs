//! Traps of the network: host names that no Service serves, and settings that JobSet overwrites.

use super::subject::{Subject, list, place, text};
use super::trap::{Check, Hit, HitsOf, Severity, Trap, hit};
use sim_api::spec::CompletionMode;
use sim_api::spec::keys::JOBSET_NAME;
use sim_inputs::text::node::Node;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "coordinator-without-dns",
        severity: Severity::Error,
        rules: &["COO-1", "SVC-1"],
        title: "a coordinator while DNS host names are off",
        consequence: "The label with the coordinator's address is written, but there is no Service: the address does not resolve.",
        fix: "Remove network.enableDNSHostnames: false.",
        check: Check::JobSet(coordinator_without_dns),
    },
    Trap {
        name: "hostname-overwritten",
        severity: Severity::Warning,
        rules: &["JOB-1", "SVC-2"],
        title: "hostname or subdomain in a pod template",
        consequence: "An Indexed Job's pods get <job>-<index> as hostname, and JobSet writes the subdomain while DNS host names are on: what is given here is lost.",
        fix: "Use the names that JobSet gives, and spec.network.subdomain.",
        check: Check::JobSet(hostname_overwritten),
    },
    Trap {
        name: "subdomain-shared",
        severity: Severity::Error,
        rules: &["SVC-2", "C-71"],
        title: "two JobSets with one subdomain",
        consequence: "The second JobSet finds a Service of that name and uses it, but its selector matches the first one's pods only: host names of the second do not resolve.",
        fix: "Give each JobSet of the namespace its own network.subdomain.",
        check: Check::Together(subdomain_shared),
    },
    Trap {
        name: "service-exists",
        severity: Severity::Error,
        rules: &["C-71", "SVC-1"],
        title: "a Service has the name of the JobSet's own",
        consequence: "JobSet accepts any Service of that name without a look at its selector; if it does not select this JobSet's pods, their host names do not resolve.",
        fix: "Rename the Service, or set network.subdomain.",
        check: Check::JobSet(service_exists),
    },
    Trap {
        name: "service-name-invalid",
        severity: Severity::Error,
        rules: &["VAL-7", "SVC-1"],
        title: "a JobSet without replicatedJobs whose name cannot be a Service's",
        consequence: "Without replicatedJobs nothing checks the name: HeadlessServiceCreationFailed for ever.",
        fix: "Use a name of at most 63 lower case letters, digits and dashes, with a letter first.",
        check: Check::JobSet(service_name_invalid),
    },
];

const LABEL_MAX: usize = 63;

fn coordinator_without_dns(s: &Subject) -> Vec<Hit> {
    match s.jobset.spec.coordinator.is_some() && !s.jobset.spec.network.enable_dns_hostnames {
        true => vec![hit(s.at(&["coordinator"]), "enableDNSHostnames is false")],
        false => Vec::new(),
    }
}

fn hostname_overwritten(s: &Subject) -> Vec<Hit> {
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

fn subdomain_shared(all: &[Subject]) -> HitsOf {
    let dns = |s: &Subject| s.jobset.spec.network.enable_dns_hostnames;
    let mut hits = Vec::new();
    for (i, s) in all.iter().enumerate().filter(|(_, s)| dns(s)) {
        let first = all[..i].iter().filter(|o| dns(o)).find(|o| {
            o.jobset.namespace == s.jobset.namespace
                && o.subdomain() == s.subdomain()
                && o.jobset.name != s.jobset.name
        });
        if let Some(other) = first {
            let detail = format!(
                "{:?} and {:?} use {:?}",
                other.jobset.name,
                s.jobset.name,
                s.subdomain()
            );
            hits.push((i, hit(s.at(&["network", "subdomain"]), detail)));
        }
    }
    hits
}

fn service_exists(s: &Subject) -> Vec<Hit> {
    if !s.jobset.spec.network.enable_dns_hostnames {
        return Vec::new();
    }
    let is_it = |node: &Node| {
        let metadata = |key: &str| node.at_path(&["metadata", key]).and_then(Node::as_str);
        metadata("name") == Some(s.subdomain())
            && metadata("namespace").unwrap_or("default") == s.jobset.namespace
    };
    let selects = |node: &Node| {
        let selector = node.at_path(&["spec", "selector"]);
        selector.and_then(|n| text(n, JOBSET_NAME)) == Some(s.jobset.name.as_str())
    };
    let services = s.objects.iter().filter(|o| o.kind == "Service");
    let mut found = services.filter(|o| is_it(&o.node) && !selects(&o.node));
    match found.next() {
        Some(service) => {
            let line = service.node.at.line;
            let detail = format!("Service {:?}, line {line} of the manifests", s.subdomain());
            let at = match s.jobset.spec.network.subdomain.is_empty() {
                true => s.metadata_at("name"),
                false => s.at(&["network", "subdomain"]),
            };
            vec![hit(at, detail)]
        }
        None => Vec::new(),
    }
}

fn service_name_invalid(s: &Subject) -> Vec<Hit> {
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
    vec![hit(
        place(metadata, "name"),
        format!("the Service would be named {name:?}"),
    )]
}
