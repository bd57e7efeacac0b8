//! Traps that depend on other objects in the manifests: PriorityClasses and queues.

use super::subject::{Rj, Subject, place, text};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_base::quantity;
use sim_inputs::kube::inspect::Object;
use sim_inputs::text::node::Node;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "priority-negative",
        severity: Severity::Error,
        rules: &["EXC-5", "LAB-4"],
        title: "a PriorityClass with a negative value",
        consequence: "The pod webhook writes the value into the label priority, and no label value begins with a minus: the API server refuses every pod for ever. The Job exists without pods; the JobSet shows nothing.",
        fix: "Use a PriorityClass with a value of 0 or more, and give the others a higher one.",
        check: Check::JobSet(priority_negative),
    },
    Trap {
        name: "quota-not-whole-slices",
        severity: Severity::Warning,
        rules: &["EXC-1"],
        title: "a quota that is not a whole number of slices",
        consequence: "Kueue counts accelerators, exclusive placement takes whole domains: what is left over admits nobody who needs a slice, and somebody smaller may take the room of one.",
        fix: "Make nominalQuota a multiple of what one Job requests.",
        check: Check::JobSet(quota_broken),
    },
];

fn metadata<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.at_path(&["metadata", key]).and_then(Node::as_str)
}

fn named<'a>(s: &Subject<'a>, kind: &str, name: &str) -> Option<&'a Object> {
    let mut objects = s.objects.iter().copied();
    objects.find(|o| o.kind == kind && metadata(&o.node, "name") == Some(name))
}

fn priority_negative(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
        let Some(name) = text(rj.pod, "priorityClassName") else {
            continue;
        };
        let class = named(s, "PriorityClass", name);
        let value = class.and_then(|c| c.node.get("value")?.as_int());
        if let Some(value) = value.filter(|v| *v < 0) {
            let detail = format!("{name:?} is {value}, in replicatedJob {:?}", rj.name());
            hits.push(hit(rj.pod_at("priorityClassName"), detail));
        }
    }
    hits
}

/// Returns the ClusterQueues that may admit the JobSet: the one of its LocalQueue, or all of them if the LocalQueue
/// is not in the manifests.
fn cluster_queues<'a>(s: &Subject<'a>) -> Vec<&'a Object> {
    let Some(queue) = s.jobset.kueue_queue() else {
        return Vec::new();
    };
    let local = named(s, "LocalQueue", queue);
    let of_local = local.and_then(|l| l.node.at_path(&["spec", "clusterQueue"])?.as_str());
    let wanted = |o: &&&Object| {
        let name = metadata(&o.node, "name");
        o.kind == "ClusterQueue" && of_local.is_none_or(|wanted| name == Some(wanted))
    };
    s.objects.iter().filter(wanted).copied().collect()
}

/// Returns each (resource, nominalQuota) of a ClusterQueue, in thousandths.
fn quotas(queue: &Node) -> Vec<(String, i64)> {
    let items = |node: &Node, key: &str| node.get(key).map_or(Vec::new(), |n| n.items().to_vec());
    let spec = queue.get("spec").cloned();
    let groups = spec.iter().flat_map(|s| items(s, "resourceGroups"));
    let flavors = groups.flat_map(|g| items(&g, "flavors"));
    let resources = flavors.flat_map(|f| items(&f, "resources"));
    let quota = |r: Node| {
        let amount = r.get("nominalQuota")?.scalar_text()?;
        let milli = quantity::parse_milli(&amount).ok()?;
        Some((text(&r, "name")?.to_owned(), milli))
    };
    resources.filter_map(quota).collect()
}

/// Returns the extended resources that one Job requests, in thousandths.
fn slice(rj: &Rj) -> Vec<(String, i64)> {
    let pods = i64::from(rj.template().pods());
    let requests = rj.pod_spec().requests().into_iter();
    let devices = requests.filter(|(name, milli)| name.contains('/') && *milli > 0);
    devices
        .map(|(name, milli)| (name, milli.saturating_mul(pods)))
        .collect()
}

fn quota_broken(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for queue in cluster_queues(s) {
        let name = metadata(&queue.node, "name").unwrap_or("");
        for (resource, quota) in quotas(&queue.node) {
            for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
                if s.webhook_key(rj).is_none() {
                    continue;
                }
                let one = slice(rj).into_iter().find(|(r, _)| *r == resource);
                let Some((_, one)) = one.filter(|(_, one)| quota % one != 0) else {
                    continue;
                };
                let detail = format!(
                    "ClusterQueue {name:?} has {} {resource}, a Job of replicatedJob {:?} requests {}",
                    quota / 1000,
                    rj.name(),
                    one / 1000
                );
                hits.push(hit(place(rj.node, "name"), detail));
            }
        }
    }
    hits
}
