//! volumeClaimPolicies: VAL-14, VAL-16, VAL-17 and VAL-18. Claims themselves are not simulated.

use super::validate::name;
use crate::manifest::diagnostic::Report;
use crate::manifest::names;
use crate::manifest::node::Node;
use crate::manifest::read;
use crate::spec::JobSet;

const NAME_MAX: usize = 63;

pub fn validate(jobset: &JobSet, spec: &Node, report: &mut Report) {
    let mut seen: Vec<String> = Vec::new();
    for policy in read::list(spec, "volumeClaimPolicies") {
        for template in read::list(policy, "templates") {
            let node = template.at_path(&["metadata", "name"]);
            let text = node.and_then(Node::as_str).unwrap_or("");
            let at = node.map_or(template.at, |n| n.at);
            name(
                names::dns1123_subdomain(text),
                "the name of a claim template",
                text,
                at,
                report,
            );
            let claim = format!("{text}-{}", jobset.name);
            if claim.len() > NAME_MAX {
                let message = format!(
                    "the claim {claim:?} has a name of {} characters",
                    claim.len()
                );
                report
                    .error(at, message)
                    .legal(format!("at most {NAME_MAX}"));
            }
            if seen.iter().any(|other| other == text) {
                report.error(
                    at,
                    format!("claim template {text:?} is given twice (VAL-14)"),
                );
            }
            seen.push(text.to_owned());
            uses(text, spec, at, report);
        }
    }
}

/// Some container mounts it, and no pod template has a volume of that name.
fn uses(claim: &str, spec: &Node, at: crate::manifest::node::Pos, report: &mut Report) {
    let mut mounted = false;
    for job in read::list(spec, "replicatedJobs") {
        let Some(pod) = job.at_path(&["template", "spec", "template", "spec"]) else {
            continue;
        };
        for volume in read::list(pod, "volumes") {
            if volume.get("name").and_then(Node::as_str) == Some(claim) {
                let message = format!("volume {claim:?} has the name of a claim template (VAL-17)");
                report.error(volume.at, message);
            }
        }
        for list in ["initContainers", "containers"] {
            mounted |= read::list(pod, list)
                .iter()
                .flat_map(|c| read::list(c, "volumeMounts"))
                .any(|m| m.get("name").and_then(Node::as_str) == Some(claim));
        }
    }
    if !mounted {
        report.error(
            at,
            format!("no container mounts claim template {claim:?} (VAL-18)"),
        );
    }
}
