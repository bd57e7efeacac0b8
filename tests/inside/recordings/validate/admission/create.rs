//! Unit tests of `sim_recordings::validate::admission::create`.

use super::*;
use serde_json::json;

#[test]
fn only_namespaces_of_the_case_and_of_every_cluster_exist() {
    let jobset = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"},
        "spec": {"replicatedJobs": []}});
    let namespace = json!({"kind": "Namespace", "metadata": {"name": "other"}});
    for (requested, existing, code) in [
        (json!(null), json!([]), 201),
        (json!("default"), json!([]), 201),
        (json!("other"), json!([namespace]), 201),
        (json!("other"), json!([]), 404),
    ] {
        let request = json!({"namespace": requested, "existing": existing, "body": jobset});
        let message = match code {
            404 => json!("namespaces \"other\" not found"),
            _ => json!(null),
        };
        let answer = json!({"accepted": code == 201, "code": code, "message": message});
        let case = json!({"id": "c", "request": request, "off": answer, "on": "same"});
        let differences = compare(&case);
        let codes = differences.iter().filter(|d| !d.path.ends_with("object"));
        assert_eq!(codes.count(), 0, "{requested} {existing}: {differences:?}");
    }
}

#[test]
fn claim_is_bound_to_a_matching_volume() {
    let volume = |class: &str| {
        json!({"kind": "PersistentVolume", "metadata": {"name": "v"},
        "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"]}})
    };
    let claim = json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"]}});
    let bound = |class: &str| bound_claims(&[volume(class), claim.clone()])[0]["spec"]["volumeName"].clone();
    assert_eq!(bound(""), "v");
    assert_eq!(bound("fast"), Value::Null);
}

#[test]
fn field_validation_is_read_from_the_query() {
    for (query, expected) in [
        ("", Ok(FieldValidation::Warn)),
        ("dryRun=All&fieldValidation=Strict", Ok(FieldValidation::Strict)),
        ("fieldValidation=Ignore", Ok(FieldValidation::Ignore)),
        ("fieldValidation=Foo", Err(FieldValidationError { value: "Foo".to_owned() })),
    ] {
        assert_eq!(field_validation(query), expected);
    }
}
