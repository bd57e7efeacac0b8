//! Claims, volumes and classes: which volume a claim is bound to, and the nodes that a pod with claims can use.

use crate::cluster::Cluster;
use crate::decision::{Decision, schedule};
use crate::node::NodeView;
use crate::pod::PodView;
use crate::profile::Profile;
use crate::storage::{StorageObjects, VolumeSource};
use serde_json::{Value, json};

/// Two nodes in zone a and one in zone b.
fn cluster(storage: StorageObjects) -> Cluster {
    let mut cluster = Cluster { storage, ..Cluster::default() };
    for (name, zone) in [("n0", "a"), ("n1", "a"), ("n2", "b")] {
        let labels = json!({"topology.kubernetes.io/zone": zone});
        let node = json!({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"pods": "9"}}});
        let view = NodeView::read(&node, &mut cluster.columns);
        cluster.add_node(view);
    }
    cluster
}

fn pod(claims: &[&str]) -> PodView {
    let volumes: Vec<Value> = claims.iter().map(|c| json!({"persistentVolumeClaim": {"claimName": c}})).collect();
    let pod = json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"volumes": volumes}});
    PodView::read(&pod, &mut Cluster::default().columns)
}

/// Merges fields of the spec into a claim or volume.
fn object(name: &str, spec: Value, more: Value) -> Value {
    let mut object = json!({"metadata": {"name": name, "namespace": "n"}, "spec": {"accessModes": ["ReadWriteOnce"]}});
    let fields = spec.as_object().expect("fields").clone();
    object["spec"].as_object_mut().expect("a spec").extend(fields);
    let more = more.as_object().expect("fields").clone();
    object["metadata"].as_object_mut().expect("metadata").extend(more);
    object
}

fn claim(name: &str, size: &str, spec: Value) -> Value {
    let mut claim = object(name, spec, json!({}));
    claim["spec"]["resources"]["requests"]["storage"] = json!(size);
    claim
}

fn bound(name: &str, volume: &str) -> Value {
    let annotations = json!({"annotations": {"pv.kubernetes.io/bind-completed": "yes"}});
    object(name, json!({"volumeName": volume}), annotations)
}

fn volume(name: &str, size: &str, spec: Value) -> Value {
    let mut volume = object(name, spec, json!({}));
    volume["spec"]["capacity"]["storage"] = json!(size);
    volume
}

fn in_zone(zone: &str) -> Value {
    let expression = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]});
    json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}})
}

fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode})
}

fn waiting_class(provisioner: &str) -> Value {
    class("late", provisioner, "WaitForFirstConsumer")
}

const LOCAL: &str = "kubernetes.io/no-provisioner";

/// Returns the message of a pod with these claims, or the names of the nodes it fits on.
fn decide(claims: &[&str], storage: StorageObjects) -> String {
    let cluster = cluster(storage);
    match schedule(&cluster, &pod(claims), &Profile::default(), 0) {
        Decision::Scheduled(found) => {
            let mut names: Vec<&str> = found.nodes.iter().map(|node| cluster.nodes[*node].name.as_str()).collect();
            names.sort_unstable();
            names.join(" ")
        }
        Decision::Unschedulable { message, .. } => message,
    }
}

#[test]
fn claims_restrict_the_nodes_with_the_messages_of_kube_scheduler() {
    let late = |size: &str| claim("c", size, json!({"storageClassName": "late"}));
    let late_volume = |name: &str, zone: &str| {
        volume(name, "2Gi", json!({"storageClassName": "late", "nodeAffinity": in_zone(zone)}))
    };
    let lost = || {
        let mut lost = bound("c", "gone");
        lost["status"]["phase"] = json!("Lost");
        lost
    };
    let zoned = || {
        let labels = json!({"labels": {"topology.kubernetes.io/zone": "b__c"}});
        object("v", json!({}), labels)
    };
    let mut allowed = waiting_class("csi.example.com");
    allowed["allowedTopologies"] =
        json!([{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["b", "c"]}]}]);
    let unbound = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
    let unhelpful = "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for \
                     scheduling.";
    let no_volume =
        format!("0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. {unhelpful}");
    let read = |classes: &[&Value], volumes: &[&Value], claims: &[&Value]| {
        StorageObjects::read(classes.iter().copied(), volumes.iter().copied(), claims.iter().copied())
    };
    let none: &[&Value] = &[];
    for (case, storage, expected) in [
        (
            "a claim that does not exist",
            StorageObjects::default(),
            "0/3 nodes are available: persistentvolumeclaim \"c\" not found. not found",
        ),
        ("a claim without a volume", read(none, none, &[&claim("c", "1Gi", json!({}))]), unbound),
        ("a class that does not exist", read(none, none, &[&late("1Gi")]), unbound),
        (
            "a removed volume",
            read(none, none, &[&lost()]),
            "0/3 nodes are available: persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"gone\". not \
             found",
        ),
        (
            "a volume that does not exist",
            read(none, none, &[&bound("c", "v")]),
            "0/3 nodes are available: persistentvolume \"v\" not found. not found",
        ),
        ("a volume in a zone", read(none, &[&late_volume("v", "b")], &[&bound("c", "v")]), "n2"),
        ("a volume with the label of two zones", read(none, &[&zoned()], &[&bound("c", "v")]), "n2"),
        (
            "a volume of the class in a zone",
            read(&[&waiting_class(LOCAL)], &[&late_volume("v", "a")], &[&late("1Gi")]),
            "n0 n1",
        ),
        (
            "a volume that is too small",
            read(&[&waiting_class(LOCAL)], &[&late_volume("v", "a")], &[&late("3Gi")]),
            &no_volume,
        ),
        ("a provisioner", read(&[&waiting_class("csi.example.com")], none, &[&late("1Gi")]), "n0 n1 n2"),
        ("a provisioner in a zone", read(&[&allowed], none, &[&late("1Gi")]), "n2"),
    ] {
        assert_eq!(decide(&["c"], storage), expected, "{case}");
    }
    let elsewhere = "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity.";
    let two = read(none, &[&late_volume("v", "a"), &late_volume("w", "b")], &[&bound("c", "v"), &bound("d", "w")]);
    assert_eq!(decide(&["c", "d"], two), format!("{elsewhere} {unhelpful}"));
}

#[test]
fn a_volume_is_bound_to_one_claim_only() {
    let late = |name: &str, size: &str| claim(name, size, json!({"storageClassName": "late"}));
    let of_class = |name: &str, size: &str| volume(name, size, json!({"storageClassName": "late"}));
    let read =
        |claims: [&Value; 2], volumes: [&Value; 2]| StorageObjects::read([&waiting_class(LOCAL)], volumes, claims);
    let (small, large) = (of_class("small", "1Gi"), of_class("large", "5Gi"));
    let storage = read([&late("c", "4Gi"), &late("d", "1Gi")], [&small, &large]);
    assert_eq!(decide(&["c", "d"], storage.clone()), "n0 n1 n2", "the smaller claim takes the smaller volume");
    let mut cluster = cluster(storage);
    cluster.bind_claims(&pod(&["c"]), 0);
    assert_eq!(cluster.storage.claims[&("n".to_owned(), "c".to_owned())].volume, "large");
    let other = StorageObjects::read([&waiting_class(LOCAL)], [&large], [&late("d", "1Gi")]);
    cluster.storage.claims.extend(other.claims);
    assert_eq!(decide(&["d"], cluster.storage.clone()), "n0 n1 n2");
    cluster.bind_claims(&pod(&["d"]), 0);
    let third = StorageObjects::read([], [], [&late("e", "1Gi")]);
    cluster.storage.claims.extend(third.claims);
    assert!(decide(&["e"], cluster.storage).contains("3 node(s) didn't find available persistent volumes to bind"));
}

/// Returns the volume that the controllers bind the claim `c` to.
fn controller(classes: &[Value], volumes: &[Value], claim: &Value) -> Option<VolumeSource> {
    let binding = StorageObjects::read(classes, volumes, [claim]).next_binding()?;
    Some(binding.source)
}

#[test]
fn the_controllers_bind_claims_by_class_mode_size_selector_and_name() {
    let existing = |name: &str| Some(VolumeSource::Existing(name.to_owned()));
    let spec = |spec: Value| claim("c", "2Gi", spec);
    let volumes = [
        volume("big", "9Gi", json!({})),
        volume("block", "2Gi", json!({"volumeMode": "Block"})),
        volume("classy", "2Gi", json!({"storageClassName": "fast"})),
        volume("fit", "3Gi", json!({})),
        volume("many", "2Gi", json!({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]})),
        volume("small", "1Gi", json!({})),
    ];
    for (claim, expected) in [
        (spec(json!({})), existing("fit")),
        (spec(json!({"accessModes": ["ReadWriteMany"]})), existing("many")),
        (spec(json!({"volumeMode": "Block"})), existing("block")),
        (spec(json!({"storageClassName": "fast"})), existing("classy")),
        (spec(json!({"storageClassName": "other"})), None),
        (spec(json!({"volumeName": "big"})), existing("big")),
        (spec(json!({"volumeName": "small"})), None),
        (spec(json!({"volumeName": "classy"})), None),
        (spec(json!({"volumeName": "none"})), None),
        (spec(json!({"selector": {"matchLabels": {"a": "b"}}})), None),
    ] {
        assert_eq!(controller(&[], &volumes, &claim), expected, "{claim}");
    }
}

#[test]
fn reserved_volumes_binding_modes_and_the_default_class_decide_about_a_claim() {
    let existing = |name: &str| Some(VolumeSource::Existing(name.to_owned()));
    let reserved = |name: &str| json!({"claimRef": {"namespace": "n", "name": name}, "storageClassName": "late"});
    let late = claim("c", "1Gi", json!({"storageClassName": "late"}));
    let classes = [waiting_class(LOCAL)];
    let free = volume("free", "1Gi", json!({"storageClassName": "late"}));
    assert_eq!(controller(&classes, std::slice::from_ref(&free), &late), None, "the scheduler binds it");
    assert_eq!(controller(&classes, &[free, volume("v", "1Gi", reserved("c"))], &late), existing("v"));
    assert_eq!(controller(&classes, &[volume("v", "1Gi", reserved("other"))], &late), None);
    let mut default = class("standard", "csi.example.com", "Immediate");
    default["metadata"]["annotations"] = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    let plain = claim("c", "1Gi", json!({}));
    assert_eq!(controller(&[default.clone()], &[], &plain), Some(VolumeSource::Provisioned(Vec::new())));
    let opted_out = claim("c", "1Gi", json!({"storageClassName": ""}));
    assert_eq!(controller(&[default], &[], &opted_out), None);
    assert_eq!(
        controller(&[class("fast", LOCAL, "Immediate")], &[], &claim("c", "1Gi", json!({"storageClassName": "fast"}))),
        None
    );
}
