//! Unit tests of `sim_inputs::strategy`.

use super::*;
use crate::{SourceText, read_manifests};

fn submitted(file: &str) -> Vec<SubmittedJobSet> {
    let path = format!("{}/scenarios/manifests/{file}", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let text = std::fs::read_to_string(path).unwrap();
    let file = file.to_owned();
    let manifests = read_manifests(&SourceText { file, text }).unwrap();
    let of = |(jobset, source)| SubmittedJobSet { jobset, submit_at: sim_base::Duration::ZERO, source };
    manifests.jobsets.into_iter().map(of).collect()
}

fn paths(sets: &[(&str, &str)], file: &str) -> Vec<String> {
    let sets: Vec<_> = sets.iter().map(|(p, v)| (p.to_string(), v.to_string())).collect();
    let changes = with_companions(&sets, &submitted(file)).unwrap();
    let path = |c: FieldChange| c.path.replace("spec.replicatedJobs[0].template.spec", "J");
    changes.into_iter().map(path).collect()
}

#[test]
fn in_place_restart_brings_its_agent_rules_and_limits_and_takes_them_along() {
    let brought = paths(&[("strategy", "InPlaceRestart")], "workers.yaml");
    assert_eq!(
        brought,
        [
            "J.backoffLimit", "J.podReplacementPolicy", "J.template.spec.initContainers[0]",
            "J.template.spec.containers[0].restartPolicy", "J.template.spec.containers[0].restartPolicyRules",
            STRATEGY
        ]
    );
    assert_eq!(paths(&[(STRATEGY, "InPlaceRestart")], "train-5000.yaml"), [STRATEGY]);
    let taken = paths(&[("restartStrategy", "Recreate")], "train-5000.yaml");
    assert_eq!(
        taken,
        [
            "J.backoffLimit", "J.podReplacementPolicy", "J.template.spec.initContainers",
            "J.template.spec.containers[0].restartPolicy", "J.template.spec.containers[0].restartPolicyRules",
            STRATEGY
        ]
    );
    assert_eq!(paths(&[("strategy", "BlockingRecreate")], "workers.yaml"), [STRATEGY]);
    assert_eq!(paths(&[("spec.suspend", "true")], "workers.yaml"), ["spec.suspend"]);
}

#[test]
fn a_strategy_that_does_not_exist_is_rejected_with_those_that_do() {
    let sets = [("strategy".to_owned(), "InPlace".to_owned())];
    let error = with_companions(&sets, &[]).unwrap_err().to_string();
    assert!(error.contains("BlockingRecreate, InPlaceRestart"), "{error}");
}
