//! What can be said before a run: the cluster as arrays, and workloads that no node of it could ever take.

use crate::spec::*;
use crate::store::{Store, on_labelled_nodes};
use crate::topology::Cluster;
use serde_json::Value;

/// The store of a scenario before anything has happened; the errors are sentences about what cannot exist or be placed.
pub fn store(scenario: &Scenario) -> Result<Store, Vec<String>> {
    let cluster = Cluster::build(&scenario.topology, &resources(scenario));
    let more_nodes = scenario.objects.iter().any(|o| o["kind"] == "Node");
    if cluster.is_empty() && !more_nodes {
        let name = &scenario.topology.name;
        return Err(vec![format!("topology {name:?} has no nodes")]);
    }
    let mut store = Store::new(cluster);
    store.reset();
    let problems = if more_nodes || scenario.admit_unplaceable {
        Vec::new()
    } else {
        unplaceable(&mut store, scenario)
    };
    if problems.is_empty() {
        Ok(store)
    } else {
        Err(problems)
    }
}

/// Resources that some pod may request; the columns of the cluster.
fn resources(scenario: &Scenario) -> Vec<String> {
    let mut found = vec!["pods".to_owned()];
    let mut add = |name: &str| {
        if !name.is_empty() && !found.iter().any(|f| f == name) {
            found.push(name.to_owned());
        }
    };
    for submitted in &scenario.jobsets {
        for rj in &submitted.jobset.spec.replicated_jobs {
            let requests = rj.template.template.spec.requests();
            requests.keys().for_each(|name| add(name));
        }
    }
    for pool in &scenario.topology.pools {
        add(&pool.accelerator);
    }
    let created = scenario.faults.iter().filter_map(|f| match &f.action {
        FaultAction::Request(UserRequest {
            verb: Verb::Create { object, .. } | Verb::Patch { body: object, .. },
            ..
        }) => Some(object),
        _ => None,
    });
    for object in scenario.objects.iter().chain(created) {
        requested_in(object, &mut add);
    }
    found
}

/// Names of resources in every `requests` and `limits` of an object of any kind.
fn requested_in(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_object() {
                    Some(names) if key == "requests" || key == "limits" => {
                        names.keys().for_each(|name| add(name));
                    }
                    _ => requested_in(value, add),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| requested_in(item, add)),
        _ => {}
    }
}

/// Workloads that no node of the empty cluster could ever take, in kube-scheduler's words.
fn unplaceable(store: &mut Store, scenario: &Scenario) -> Vec<String> {
    let mut problems = Vec::new();
    for submitted in &scenario.jobsets {
        let jobset = &submitted.jobset;
        // A resume may change the templates of a suspended JobSet.
        let rjs = jobset.spec.replicated_jobs.iter();
        let rjs = rjs.filter(|rj| rj.replicas > 0 && !jobset.spec.suspend);
        for rj in rjs {
            problems.extend(unplaceable_job(store, jobset, rj));
        }
    }
    store.templates.reset();
    problems
}

fn unplaceable_job(store: &mut Store, jobset: &JobSet, rj: &ReplicatedJob) -> Option<String> {
    let by_selector = jobset.uses_node_selector_strategy(rj);
    let job = format!("{}-{}-0", jobset.name, rj.name);
    let mut pod = rj.template.template.clone();
    if by_selector {
        on_labelled_nodes(&mut pod, &jobset.namespace, &job);
    }
    let key = jobset.exclusive_key(rj).filter(|_| !by_selector);
    let cluster = &store.nodes.cluster;
    let id = store
        .templates
        .add(cluster, pod.into(), key, AgentMode::Absent);
    let template = store.templates.get(id);
    if let Some(reason) = template.facts.never_fits(cluster) {
        return Some(format!("pod {job}-0 can never be placed: {reason}"));
    }
    let domains = &store.templates.domains[template.exclusive? as usize];
    domains.values.is_empty().then(|| {
        format!(
            "replicatedJob {:?} wants exclusive placement per {:?}, but no node has that label",
            rj.name, domains.key
        )
    })
}

/// Pods that the scenario's JobSets want at once.
pub fn wanted_pods(scenario: &Scenario) -> u32 {
    let rjs = scenario.jobsets.iter();
    let rjs = rjs.flat_map(|js| &js.jobset.spec.replicated_jobs);
    let wanted = rjs.map(|rj| u64::from(rj.replicas) * u64::from(rj.template.pods()));
    wanted.sum::<u64>().min(u64::from(u32::MAX)) as u32
}

/// Whether the script asks for objects; only then are they kept as posted.
pub fn shows_objects(scenario: &Scenario) -> bool {
    let mut actions = scenario.faults.iter().map(|f| &f.action);
    actions.any(|action| {
        let request = match action {
            FaultAction::Request(request) => request,
            _ => return false,
        };
        matches!(request.verb, Verb::Show { .. })
    })
}
