//! `explain children`: the Jobs, Services, claims and pods that the controllers would make of a manifest.
//!
//! Must never run anything: where time decides, it says what is waited for.

use super::args::{ExplainChildrenArgs, ObjectFormat};
use super::explain_yaml::yaml;
use super::{Failure, gates, load, output};
use crate::admission::{self, Create, GENERATED_SUFFIX, Gates, Rejection};
use crate::manifest::{self, Manifests, kube};
use crate::objects::{self, JobSlot, Places, Surroundings};
use crate::spec::{FeatureGates, JobSet, keys};
use serde_json::{Value, json};

/// An object and what is to be known about it; a note alone is about something that is not created.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub notes: Vec<String>,
    pub object: Option<Value>,
}

pub fn cli(args: &ExplainChildrenArgs) -> Result<(), Failure> {
    let (documents, manifests) = read(&args.manifests)?;
    if manifests.jobsets.is_empty() {
        let error = kube::no_jobset("explain", manifests.other, &manifests.skipped);
        return Err(load::invalid(error.into()));
    }
    let jobsets = manifests.jobsets.into_iter();
    let jobsets: Vec<JobSet> = jobsets.map(|(jobset, _)| jobset).collect();
    jobsets.iter().try_for_each(printable)?;
    let entries = children(&documents, gates(args, &jobsets)?)?;
    match args.format {
        ObjectFormat::Yaml => output::result(&as_yaml(&entries)),
        ObjectFormat::Json => output::json(&as_json(&entries)),
    }
}

/// Checked by the reader of manifests first, so that an error has its line.
fn read(paths: &[String]) -> Result<(Vec<Value>, Manifests), Failure> {
    let mut sources = Vec::new();
    for path in paths {
        let (read, not_tried) = manifest::manifest_sources(path).map_err(load::invalid)?;
        if !not_tried.is_empty() {
            output::note(&format!("not read: {}", not_tried.join(", ")));
        }
        sources.extend(read);
    }
    let manifests = manifest::read_sources(&sources, &[]).map_err(load::invalid)?;
    let mut all = manifest::wrapped_documents(&sources);
    for source in &sources {
        all.extend(manifest::documents(source).map_err(load::invalid)?);
    }
    Ok((all, manifests))
}

/// More than anybody reads, and in memory ten times of it.
const PRINTED_MAX: u64 = 200 << 20;
/// What the API server adds to an object by default, about.
const DEFAULTED: u64 = 2_000;

/// Whether what is to be printed of a JobSet fits into memory.
fn printable(jobset: &JobSet) -> Result<(), Failure> {
    let rjs = jobset.object.as_ref().map(|o| &o["spec"]["replicatedJobs"]);
    let rjs = rjs.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let sizes = jobset
        .spec
        .replicated_jobs
        .iter()
        .zip(rjs)
        .map(|(rj, text)| {
            let each = text["template"].to_string().len() as u64 + DEFAULTED;
            let objects = u64::from(rj.replicas) * (1 + u64::from(rj.template.pods()));
            (objects, objects.saturating_mul(each))
        });
    let (mut objects, mut bytes) = (0u64, 0u64);
    for (more, size) in sizes {
        objects = objects.saturating_add(more);
        bytes = bytes.saturating_add(size);
    }
    if bytes <= PRINTED_MAX {
        return Ok(());
    }
    Err(Failure::Invalid(format!(
        "JobSet {} has {objects} Jobs and pods, about {} MiB; at most {} MiB are printed: give it fewer replicas, \
         they are alike",
        jobset.name,
        bytes >> 20,
        PRINTED_MAX >> 20
    )))
}

/// As for `run`: what the JobSets need is on, and is told.
fn gates(args: &ExplainChildrenArgs, jobsets: &[JobSet]) -> Result<Gates, Failure> {
    let needed = FeatureGates::needed_by(jobsets);
    let set = gates::read(needed, &args.feature_gates)?;
    let on = [
        (
            "InPlaceRestart",
            needed.in_place_restart && set.in_place_restart,
        ),
        ("RestartJob", needed.restart_job && set.restart_job),
    ];
    for (name, _) in on.iter().filter(|(_, on)| *on) {
        output::notice(&format!(
            "note: feature gate {name} is on, as the manifests use it"
        ));
    }
    Ok(Gates {
        in_place_restart: set.in_place_restart,
        restart_job: set.restart_job,
        elastic_job_set: set.elastic_jobset,
    })
}

/// Children of every JobSet among the documents, in their order.
pub fn children(documents: &[Value], gates: Gates) -> Result<Vec<Entry>, Failure> {
    let of_kind = |kind: &'static str| documents.iter().filter(move |d| d["kind"] == kind);
    let classes: Vec<Value> = of_kind("PriorityClass").cloned().collect();
    let runtime_classes: Vec<String> = of_kind("RuntimeClass")
        .map(|d| name(d).to_owned())
        .collect();
    let mut entries = Vec::new();
    for document in of_kind("JobSet") {
        let request = Create {
            object: document,
            namespace: document["metadata"]["namespace"]
                .as_str()
                .unwrap_or("default"),
            gates,
            existing_claims: &[],
        };
        let jobset =
            admission::create(&request).map_err(|refused| Failure::Invalid(refused.message))?;
        let around = Surroundings {
            priority_classes: &classes,
            runtime_classes: &runtime_classes,
            ..Surroundings::default()
        };
        of_jobset(&jobset, gates, &around, &mut entries);
    }
    Ok(entries)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn note(entries: &mut Vec<Entry>, text: String) {
    entries.push(Entry {
        notes: vec![text],
        object: None,
    });
}

/// Keeps a stored object; a refusal is told, and nothing that comes after it is created.
fn keep(
    entries: &mut Vec<Entry>,
    what: &str,
    answer: Result<Value, Rejection>,
    event: &str,
) -> bool {
    match answer {
        Ok(object) => {
            let notes = Vec::new();
            entries.push(Entry {
                notes,
                object: Some(object),
            });
            true
        }
        Err(refused) => {
            note(
                entries,
                format!("{what} is not created: {event}: {}", refused.message),
            );
            false
        }
    }
}

fn of_jobset(jobset: &Value, gates: Gates, around: &Surroundings, entries: &mut Vec<Entry>) {
    let spec = &jobset["spec"];
    if let Some(manager) = spec["managedBy"].as_str()
        && manager != keys::JOBSET_CONTROLLER
    {
        let text = format!(
            "jobset {}: nothing is created, it is managed by {manager}",
            name(jobset)
        );
        return note(entries, text);
    }
    if let Some(service) = objects::service(jobset) {
        let what = format!("service {}", name(&service));
        if !keep(
            entries,
            &what,
            objects::admit_service(&service),
            "HeadlessServiceCreationFailed",
        ) {
            return;
        }
    }
    for claim in objects::claims(jobset) {
        let what = format!("persistentvolumeclaim {}", name(&claim));
        if !keep(
            entries,
            &what,
            objects::admit_claim(&claim),
            "PVCCreationFailed",
        ) {
            return;
        }
    }
    let rjs = items(&spec["replicatedJobs"]);
    let places = Places::of(jobset);
    for (k, rj) in rjs.iter().enumerate() {
        let waits = waits_for(jobset, k);
        let mut created = true;
        for index in 0..rj["replicas"]
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(0)
        {
            let slot = JobSlot {
                jobset,
                replicated_job: k,
                index,
                restarts: 0,
                job_restarts: gates.restart_job.then_some(0),
                places: Some(&places),
            };
            created &= of_slot(&slot, &waits, around, entries);
        }
        if !created {
            let later: Vec<&str> = rjs[k + 1..]
                .iter()
                .filter_map(|rj| rj["name"].as_str())
                .collect();
            if !later.is_empty() {
                let text = format!(
                    "replicatedJobs behind it are not created either: {}",
                    later.join(", ")
                );
                note(entries, text);
            }
            return;
        }
    }
}

/// DEP and SU rules, in words.
fn waits_for(jobset: &Value, replicated_job: usize) -> Vec<String> {
    let rjs = items(&jobset["spec"]["replicatedJobs"]);
    let rj = &rjs[replicated_job];
    let mut waits: Vec<String> = items(&rj["dependsOn"])
        .iter()
        .map(|d| {
            let name = d["name"].as_str().unwrap_or("");
            format!(
                "waits until replicatedJob {name} is {}",
                d["status"].as_str().unwrap_or("")
            )
        })
        .collect();
    let suspended = jobset["spec"]["suspend"] == true;
    let in_order = jobset["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    if in_order && !suspended && replicated_job > 0 {
        let before = rjs[replicated_job - 1]["name"].as_str().unwrap_or("");
        waits.push(format!(
            "waits until replicatedJob {before} has started (InOrder)"
        ));
    }
    waits
}

/// One Job with its pods; whether the Job is created.
fn of_slot(
    slot: &JobSlot,
    waits: &[String],
    around: &Surroundings,
    entries: &mut Vec<Entry>,
) -> bool {
    let posted = objects::job(slot);
    let what = format!("job {}", name(&posted));
    let job = match objects::admit_job(&posted) {
        Ok(job) => job,
        Err(refused) => {
            note(
                entries,
                format!(
                    "{what} is not created: JobCreationFailed: {}",
                    refused.message
                ),
            );
            return false;
        }
    };
    let mut notes: Vec<String> = waits.iter().map(|wait| format!("{what} {wait}")).collect();
    let suspended = job["spec"]["suspend"] == true;
    if suspended {
        notes.push(format!("{what} is suspended: no pods"));
    }
    if let Some(manager) = job["spec"]["managedBy"].as_str()
        && manager != "kubernetes.io/job-controller"
    {
        notes.push(format!("{what} is managed by {manager}: no pods"));
    }
    let runs = notes.len() == waits.len();
    entries.push(Entry {
        notes,
        object: Some(job.clone()),
    });
    if runs {
        pods(&job, around, entries);
    }
    true
}

/// Pods of the first attempt. Followers are shown as they are created once their leader has a node.
fn pods(job: &Value, around: &Surroundings, entries: &mut Vec<Entry>) {
    let size = |field: &str| {
        job["spec"][field]
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
    };
    let parallelism = size("parallelism").unwrap_or(0);
    let count = size("completions").map_or(parallelism, |n| n.min(parallelism));
    let indexed = job["spec"]["completionMode"] == "Indexed";
    let mut leader: Vec<Value> = Vec::new();
    let mut nodes: Vec<Value> = Vec::new();
    for index in 0..count {
        let pod = objects::pod(job, indexed.then_some(index));
        let own = Surroundings {
            pods: &leader,
            nodes: &nodes,
            ..around.clone()
        };
        let what = pod["metadata"]["generateName"]
            .as_str()
            .unwrap_or("")
            .trim_end_matches('-');
        let follows = objects::is_exclusive(&pod) && !objects::is_leader(&pod);
        match objects::admit_pod(&pod, GENERATED_SUFFIX, &own) {
            Ok(mut stored) => {
                let mut notes = Vec::new();
                if follows {
                    let leader = format!("{}-0", name(job));
                    let key = topology_key(&stored).to_owned();
                    let domain = format!("<{key} of {leader}>");
                    stored["spec"]["nodeSelector"][key] = json!(domain);
                    notes.push(format!(
                        "pod {what} waits until its leader {leader} has a node"
                    ));
                } else if objects::is_exclusive(&stored) && index == 0 {
                    let (node, domain) = leader_node(&stored);
                    leader.push(node);
                    nodes.push(domain);
                }
                entries.push(Entry {
                    notes,
                    object: Some(stored),
                });
            }
            Err(refused) => {
                let text = format!(
                    "pod {what} is not created: FailedCreate: {}",
                    refused.message
                );
                note(entries, text);
            }
        }
    }
}

/// The topology key of an exclusive pod.
fn topology_key(pod: &Value) -> &str {
    let key = &pod["metadata"]["annotations"][keys::EXCLUSIVE_TOPOLOGY];
    key.as_str().unwrap_or("")
}

/// The leader on a node that stands for the one it will get.
fn leader_node(leader: &Value) -> (Value, Value) {
    let (node, key) = ("some-node", topology_key(leader));
    let mut leader = leader.clone();
    leader["spec"]["nodeName"] = json!(node);
    (
        leader,
        json!({"metadata": {"name": node, "labels": {key: "some-domain"}}}),
    )
}

fn as_yaml(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        for note in &entry.notes {
            out.push_str(&format!("# {note}\n"));
        }
        if let Some(object) = &entry.object {
            out.push_str(&yaml(object));
        }
    }
    out
}

/// A List, as kubectl prints several objects, with the notes beside the items.
fn as_json(entries: &[Entry]) -> Value {
    let items: Vec<&Value> = entries.iter().filter_map(|e| e.object.as_ref()).collect();
    let notes: Vec<&String> = entries.iter().flat_map(|e| &e.notes).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items, "notes": notes})
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "
kind: JobSet
apiVersion: jobset.x-k8s.io/v1alpha2
metadata: {name: js, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: pool}}
spec:
  replicatedJobs:
  - name: a
    replicas: 1
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
  - name: b
    replicas: 1
    dependsOn: [{name: a, status: Ready}]
    template:
      spec:
        parallelism: 1
        completions: 1
        template: {spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}
";

    fn explained(text: &str) -> Result<Vec<Entry>, Failure> {
        let source = manifest::Source {
            file: "js.yaml".to_owned(),
            text: text.to_owned(),
        };
        children(
            &manifest::documents(&source).expect("YAML"),
            Gates::default(),
        )
    }

    #[test]
    fn each_child_is_shown_with_what_it_waits_for() {
        let entries = explained(MANIFEST).expect("admitted");
        let text = as_yaml(&entries);
        for part in [
            "kind: Service",
            "name: js-a-0\n",
            "# pod js-a-0-1 waits until its leader js-a-0-0 has a node",
            "pool: \"<pool of js-a-0-0>\"",
            "# job js-b-0 is not created: JobCreationFailed: Job.batch \"js-b-0\" is invalid: spec.template.spec.restartPolicy: Required value",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let good = MANIFEST.replace("restartPolicy: Always, ", "");
        let text = as_yaml(&explained(&good).expect("admitted"));
        assert!(
            text.contains("# job js-b-0 waits until replicatedJob a is Ready"),
            "{text}"
        );
        let kinds = as_json(&entries)["items"].as_array().map(Vec::len);
        assert_eq!(kinds, Some(4), "a Service, a Job, two pods");
    }

    #[test]
    fn what_the_server_refuses_is_refused_in_its_words() {
        let bad = MANIFEST.replace("name: a, status: Ready", "name: zzz, status: Ready");
        let Err(Failure::Invalid(message)) = explained(&bad) else {
            panic!("it was admitted");
        };
        assert!(
            message.starts_with("admission webhook \"vjobset.kb.io\""),
            "{message}"
        );
    }
}
