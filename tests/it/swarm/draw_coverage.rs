//! Compares the drawn inputs with everything that an input file may contain, so that no feature remains untested
//! unnoticed.

use super::generate;
use super::kueue::FILE;
use crate::support;
use serde_json::Value;
use sim_inputs::schema::definitions;
use sim_inputs::schema::definitions::kueue;
use sim_inputs::schema::field_type::{FieldClass, FieldType, ObjectSchema};
use std::collections::{BTreeMap, BTreeSet};

const SEEDS: u64 = 3_000;
const COMBINED_SEEDS: u64 = 1_000;
/// Minimum number of occurrences in all seeds. Fewer are too few for a test.
const AT_LEAST: u32 = 3;

/// Fields and words that are not drawn, each with the reason.
const NOT_DRAWN: [(&str, &str); 26] = [
    ("Configuration.managedJobsNamespaceSelector", "JobSets are drawn in namespaces of users; `kueue` tests it"),
    ("Container.lifecycle", "a preStop hook delays the stop like `stopAfter`; tests of the kubelet have it"),
    ("DcnLevel.algorithm", "the same words as of `communication`, which are drawn; `policy::fabric` tests it"),
    ("DcnLevel.algorithm: Hierarchical", "of DcnLevel.algorithm"),
    ("DcnLevel.algorithm: Nvls", "of DcnLevel.algorithm"),
    ("DcnLevel.algorithm: Ring", "of DcnLevel.algorithm"),
    ("DcnLevel.algorithm: Tree", "of DcnLevel.algorithm"),
    ("Lifecycle.preStop", "of Container.lifecycle"),
    ("LifecycleHandler.sleep", "of Container.lifecycle"),
    ("Model.microbatches", "it multiplies the number of calls, which is drawn"),
    ("SleepAction.seconds", "of Container.lifecycle"),
    ("Timing.schedulerExistingTerm", "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it"),
    (
        "Timing.schedulerHardSpreadPerNode",
        "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it",
    ),
    ("Timing.schedulerNodeAffinity", "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it"),
    ("Timing.schedulerPerClaim", "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it"),
    (
        "Timing.schedulerPreferredPerNode",
        "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it",
    ),
    (
        "Timing.schedulerSoftSpreadPerNode",
        "it changes only the time of a cycle; `policy::placement::cycle_cost` tests it",
    ),
    ("RandomFaults.trace", "its faults equal those of a process; `random_faults` tests them"),
    ("Experiment.level", "it concerns replications, which the swarm does not run"),
    ("Experiment.level: Pods", "of Experiment.level"),
    ("Experiment.level: Nodes", "of Experiment.level"),
    ("FaultTrace.file", "of RandomFaults.trace"),
    ("FaultTrace.kinds", "of RandomFaults.trace"),
    ("FaultTrace.names", "of RandomFaults.trace"),
    ("FaultTrace.start", "of RandomFaults.trace"),
    ("Scenario.parameters", "they are replaced by values of other fields before a run"),
];

/// Further fields and words that are not drawn, by reason.
const NOT_DRAWN_BY_REASON: [(&str, &[&str]); 9] = [
    (
        "refused or without an effect in runs; `rejections` tests profiles",
        &[
            "AddedNodeAffinity.preferredDuringSchedulingIgnoredDuringExecution",
            "PreferredSchedulingTerm.preference",
            "PreferredSchedulingTerm.weight",
        ],
    ),
    (
        "the constraints of pods have the same fields, which are drawn",
        &[
            "DefaultConstraint.labelSelector", "DefaultConstraint.minDomains", "DefaultConstraint.nodeAffinityPolicy",
            "DefaultConstraint.nodeAffinityPolicy: Honor", "DefaultConstraint.nodeAffinityPolicy: Ignore",
            "DefaultConstraint.nodeTaintsPolicy", "DefaultConstraint.nodeTaintsPolicy: Honor",
            "DefaultConstraint.nodeTaintsPolicy: Ignore",
        ],
    ),
    (
        "disabled plugins have the same words, which are drawn; some cannot be enabled",
        &[
            "EnabledPlugin.name: DefaultBinder", "EnabledPlugin.name: DefaultPreemption",
            "EnabledPlugin.name: DynamicResources", "EnabledPlugin.name: GangScheduling",
            "EnabledPlugin.name: ImageLocality", "EnabledPlugin.name: NodeDeclaredFeatures",
            "EnabledPlugin.name: NodeName", "EnabledPlugin.name: NodePorts", "EnabledPlugin.name: NodeUnschedulable",
            "EnabledPlugin.name: NodeVolumeLimits", "EnabledPlugin.name: PodGroupPodsCount",
            "EnabledPlugin.name: PrioritySort", "EnabledPlugin.name: SchedulingGates",
            "EnabledPlugin.name: TopologyPlacementGenerator", "EnabledPlugin.name: VolumeBinding",
            "EnabledPlugin.name: VolumeRestrictions", "EnabledPlugin.name: VolumeZone",
        ],
    ),
    (
        "`rejections` tests selectors of budgets",
        &["LabelSelectorRequirement.key", "LabelSelectorRequirement.operator", "LabelSelectorRequirement.values"],
    ),
    (
        "sources of volumes decide nothing; `volumes` tests their topology",
        &[
            "PersistentVolumeSpec.accessModes: ReadOnlyMany",
            "PersistentVolumeSpec.accessModes: ReadWriteMany",
            "PersistentVolumeSpec.accessModes: ReadWriteOncePod",
            "PersistentVolumeSpec.awsElasticBlockStore",
            "PersistentVolumeSpec.azureDisk",
            "PersistentVolumeSpec.azureFile",
            "PersistentVolumeSpec.cephfs",
            "PersistentVolumeSpec.cinder",
            "PersistentVolumeSpec.claimRef",
            "PersistentVolumeSpec.csi",
            "PersistentVolumeSpec.fc",
            "PersistentVolumeSpec.flexVolume",
            "PersistentVolumeSpec.flocker",
            "PersistentVolumeSpec.gcePersistentDisk",
            "PersistentVolumeSpec.glusterfs",
            "PersistentVolumeSpec.iscsi",
            "PersistentVolumeSpec.local",
            "PersistentVolumeSpec.nfs",
            "PersistentVolumeSpec.nodeAffinity",
            "PersistentVolumeSpec.persistentVolumeReclaimPolicy",
            "PersistentVolumeSpec.persistentVolumeReclaimPolicy: Delete",
            "PersistentVolumeSpec.persistentVolumeReclaimPolicy: Recycle",
            "PersistentVolumeSpec.persistentVolumeReclaimPolicy: Retain",
            "PersistentVolumeSpec.photonPersistentDisk",
            "PersistentVolumeSpec.portworxVolume",
            "PersistentVolumeSpec.quobyte",
            "PersistentVolumeSpec.rbd",
            "PersistentVolumeSpec.scaleIO",
            "PersistentVolumeSpec.storageClassName",
            "PersistentVolumeSpec.storageos",
            "PersistentVolumeSpec.volumeMode",
            "PersistentVolumeSpec.volumeMode: Block",
            "PersistentVolumeSpec.volumeMode: Filesystem",
            "PersistentVolumeSpec.vsphereVolume",
            "VolumeNodeAffinity.required",
        ],
    ),
    ("a pod of another system is refused; `rejections` tests it", &["PodOS.name", "PodSpec.os"]),
    ("listed as not simulated", &["PodSpec.securityContext"]),
    ("listed as not simulated if it decides", &["Probe.failureThreshold"]),
    ("the empty word counts as absent", &["ResourceTransformation.strategy: "]),
];

/// Fields that users patch. The tables do not cover merge patches.
const MERGES: [&str; 31] = [
    "JobSet metadata.annotations", "JobSet metadata.finalizers", "JobSet metadata.labels", "JobSet spec.failurePolicy",
    "JobSet spec.managedBy", "JobSet spec.network", "JobSet spec.replicatedJobs", "JobSet spec.successPolicy",
    "JobSet spec.suspend", "JobSet spec.ttlSecondsAfterFinished", "JobSet status.conditions",
    "JobSet status.currentInPlaceRestartAttempt", "JobSet status.previousInPlaceRestartAttempt",
    "JobSet status.replicatedJobsStatus", "JobSet status.restarts", "JobSet status.restartsCountTowardsMax",
    "JobSet status.terminalState", "Job metadata.finalizers", "Job metadata.labels", "Job spec.activeDeadlineSeconds",
    "Job spec.backoffLimit", "Job spec.completions", "Job spec.parallelism", "Job spec.suspend",
    "Job status.conditions", "Node metadata.labels", "Node spec.taints", "Node spec.unschedulable",
    "Node status.allocatable", "Pod metadata.annotations", "Pod spec.schedulingGates",
];

type Counts = BTreeMap<String, u32>;

#[test]
fn everything_that_can_be_written_is_drawn() {
    // A part of the seeds says nothing about what all of them draw.
    if !support::runs_long_tests() {
        return;
    }
    let mut drawn = Counts::new();
    let combined = (0..COMBINED_SEEDS).map(generate::draw_combined);
    for case in (0..SEEDS).map(generate::draw_case).chain(combined) {
        for (name, content) in case.files {
            match name.as_str() {
                "scenario.yaml" => count_root("Scenario", &content, &mut drawn),
                "objects.yaml" | FILE => count_objects(&content["items"], &mut drawn),
                _ => count_root("JobSet", &content, &mut drawn),
            }
        }
    }
    let mut wanted = BTreeSet::new();
    for kind in ["Scenario", "JobSet", "Topology"] {
        let root = definitions::root(kind).expect("a root");
        collect_wanted(root, &mut BTreeSet::new(), &mut wanted);
    }
    for (_, table) in kueue::tables() {
        collect_wanted(table, &mut BTreeSet::new(), &mut wanted);
    }
    wanted.extend(MERGES.map(|m| format!("patch {m}")));
    let enough = |thing: &str| drawn.get(thing).copied().unwrap_or(0) >= AT_LEAST;
    let of_reasons =
        NOT_DRAWN_BY_REASON.iter().flat_map(|(reason, all)| all.iter().map(move |thing| (*thing, *reason)));
    for (thing, reason) in NOT_DRAWN.into_iter().chain(of_reasons) {
        assert!(!enough(thing), "{thing} is drawn, although {reason}");
        assert!(wanted.remove(thing), "{thing} is not a field or word of an input file");
    }
    let lost: Vec<&String> = wanted.iter().filter(|thing| !enough(thing)).collect();
    assert!(lost.is_empty(), "{} things are not drawn: {lost:#?}", lost.len());
}

fn count_root(kind: &str, content: &Value, drawn: &mut Counts) {
    if let Some(object) = definitions::root(kind) {
        count_object(object, content, drawn);
    }
}

/// Counts objects of a file like those of the scenario.
fn count_objects(items: &Value, drawn: &mut Counts) {
    count_root("Scenario", &serde_json::json!({ "objects": items }), drawn);
}

fn count_object(object: &ObjectSchema, content: &Value, drawn: &mut Counts) {
    for field in object.fields {
        let Some(value) = content.get(field.name) else {
            continue;
        };
        let name = format!("{}.{}", object.kind, field.name);
        *drawn.entry(name.clone()).or_default() += 1;
        count_field(&field.shape, value, &name, drawn);
    }
    if object.kind == "Patch" {
        count_merge_fields(content, drawn);
    }
}

/// Counts the fields in the first two levels of a merge patch.
fn count_merge_fields(patch: &Value, drawn: &mut Counts) {
    let kind = patch["kind"].as_str().unwrap_or("");
    for (section, fields) in patch["merge"].as_object().into_iter().flatten() {
        for field in fields.as_object().into_iter().flatten() {
            let thing = format!("patch {kind} {section}.{}", field.0);
            *drawn.entry(thing).or_default() += 1;
        }
    }
}

fn count_field(shape: &FieldType, value: &Value, name: &str, drawn: &mut Counts) {
    match shape {
        FieldType::Object(object) => count_object(object, value, drawn),
        FieldType::List(item) => {
            let items = value.as_array().into_iter().flatten();
            items.for_each(|value| count_field(item, value, name, drawn));
        }
        FieldType::Map(item) => {
            let items = value.as_object().into_iter().flatten();
            items.for_each(|(_, value)| count_field(item, value, name, drawn));
        }
        FieldType::Either(_, second) if value.is_object() => count_field(second, value, name, drawn),
        FieldType::Either(first, _) => count_field(first, value, name, drawn),
        FieldType::Kinds(kinds) => {
            let text = |key: &str| value[key].as_str().unwrap_or("");
            if let Some(table) = kueue::table(text("apiVersion"), text("kind")) {
                return count_object(table, value, drawn);
            }
            let mut all = kinds.objects.iter().copied();
            let matching = all.find(|o| value["kind"] == o.kind).or(kinds.file);
            if let Some(object) = matching {
                *drawn.entry(format!("{name}: {}", object.kind)).or_default() += 1;
                count_object(object, value, drawn);
            }
        }
        FieldType::OneOf(_) => {
            let word = value.as_str().unwrap_or("");
            *drawn.entry(format!("{name}: {word}")).or_default() += 1;
        }
        _ => {}
    }
}

/// Collects every modelled field and every permitted word in it.
fn collect_wanted(object: &ObjectSchema, seen: &mut BTreeSet<&'static str>, wanted: &mut BTreeSet<String>) {
    if !seen.insert(object.kind) {
        return;
    }
    for field in object.fields.iter().filter(|f| f.class == FieldClass::Modelled) {
        let name = format!("{}.{}", object.kind, field.name);
        wanted.insert(name.clone());
        collect_words(&field.shape, &name, seen, wanted);
    }
}

fn collect_words(shape: &FieldType, name: &str, seen: &mut BTreeSet<&'static str>, wanted: &mut BTreeSet<String>) {
    match shape {
        FieldType::Object(object) => collect_wanted(object, seen, wanted),
        FieldType::List(item) | FieldType::Map(item) => collect_words(item, name, seen, wanted),
        FieldType::Either(first, second) => {
            collect_words(first, name, seen, wanted);
            collect_words(second, name, seen, wanted);
        }
        FieldType::Kinds(kinds) => {
            for object in kinds.objects.iter().copied().chain(kinds.file) {
                wanted.insert(format!("{name}: {}", object.kind));
                collect_wanted(object, seen, wanted);
            }
        }
        FieldType::OneOf(legal) => wanted.extend(legal.iter().map(|word| format!("{name}: {word}"))),
        _ => {}
    }
}
