//! Responses of the API server and the webhooks, rule by rule: `admission/create.txt` and `admission/update.txt`.
//!
//! A case starts with `== <sentence>`. Its lines are: `rules:` (rule ids); `set:` (paths in the base JobSet and
//! their values; null removes a field); `change:` (the same for the stored object, as an update); `claims:`
//! (existing claims); `gates:` (enabled feature gates); then the expectations `says:` (status code and a part of the
//! message) and `stores:` (paths in the stored object and their values). `rj0`, `job0`, `pod0` and `c0` abbreviate
//! the first replicatedJob, its Job spec, its pod spec and its first container.

use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{
    AdmissionAnswer, AdmissionChange, AdmissionGates, ChangeRequest, CreateRequest, FieldValidation,
};

#[derive(Default)]
struct Case<'a> {
    name: &'a str,
    line: usize,
    rules: &'a str,
    set: Value,
    change: Option<Value>,
    /// PersistentVolumeClaims that exist before the request.
    claims: Vec<Value>,
    gates: AdmissionGates,
    says: Vec<&'a str>,
    stores: Value,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        if let Some(name) = line.strip_prefix("== ") {
            cases.push(Case { name, line: line_number, ..Case::default() });
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once(": ").expect("a line is `key: value`");
        let case = cases.last_mut().expect("a case starts with ==");
        let json = || serde_json::from_str(value).unwrap_or_else(|e| panic!("line {line_number}: {e}"));
        match key {
            "rules" => case.rules = value,
            "set" => case.set = json(),
            "change" => case.change = Some(json()),
            "claims" => case.claims = json().as_array().cloned().unwrap_or_default(),
            "gates" => {
                case.gates = AdmissionGates {
                    in_place_restart: value.contains("InPlaceRestart"),
                    restart_job: value.contains("RestartJob"),
                    elastic_job_set: value.contains("ElasticJobSet"),
                }
            }
            "says" => case.says.push(value),
            "stores" => case.stores = json(),
            _ => panic!("line {line_number}: unknown key {key}"),
        }
    }
    cases
}

fn base() -> Value {
    json!({"apiVersion": admission::API_VERSION, "kind": "JobSet", "metadata": {"name": "base"}, "spec": {
        "replicatedJobs": [{"name": "w", "template": {"spec": {"parallelism": 2, "completions": 2,
            "template": {"spec": {"containers": [{"name": "main", "image": "train:1"}]}}}}}]}})
}

/// A dotted path as a JSON pointer.
fn pointer(path: &str) -> String {
    let pod = "spec/replicatedJobs/0/template/spec/template/spec";
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let start = match first {
        "rj0" => "spec/replicatedJobs/0",
        "job0" => "spec/replicatedJobs/0/template/spec",
        "pod0" => pod,
        "c0" => &format!("{pod}/containers/0"),
        other => other,
    };
    let rest = rest.split('.').filter(|p| !p.is_empty());
    let parts = start.split('/').chain(rest);
    parts.fold(String::new(), |out, part| format!("{out}/{part}"))
}

fn set_values(object: &mut Value, values: &Value) {
    for (path, value) in values.as_object().into_iter().flatten() {
        let path = pointer(path);
        let (parent, key) = path.rsplit_once('/').expect("a path has parts");
        let mut at = &mut *object;
        for part in parent.split('/').skip(1) {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[part],
            };
        }
        match (value, key.parse::<usize>()) {
            (Value::Null, _) => {
                at.as_object_mut().map(|fields| fields.remove(key));
            }
            (value, Ok(index)) => at[index] = value.clone(),
            (value, Err(_)) => at[key] = value.clone(),
        }
    }
}

fn respond(case: &Case) -> AdmissionAnswer {
    let mut object = base();
    set_values(&mut object, &case.set);
    let create =
        CreateRequest { object: &object, namespace: "default", gates: case.gates, existing_claims: &case.claims };
    let Some(change) = &case.change else {
        return admission::post(&create, FieldValidation::Warn, &[]);
    };
    let stored = admission::create(&create).unwrap_or_else(|r| panic!("{}: {}", case.name, r.message));
    let mut new = stored.clone();
    set_values(&mut new, change);
    admission::change(&ChangeRequest {
        stored: &stored,
        change: AdmissionChange::Put(&new),
        gates: case.gates,
        field_validation: FieldValidation::Warn,
    })
}

fn check_cases(text: &str) {
    let cases = cases(text);
    assert!(cases.len() > 20);
    for case in cases {
        let place = format!("line {}, {}", case.line, case.name);
        assert!(!case.rules.is_empty(), "{place}: the case cites no rules");
        let answer = respond(&case);
        let output = match &answer.result {
            Ok(_) => answer.code.to_string(),
            Err(r) => format!("{} {}", r.code, r.message),
        };
        for expected_text in &case.says {
            let (code, part) = expected_text.split_once(' ').unwrap_or((expected_text, ""));
            let equal = output.starts_with(code) && output.contains(part);
            assert!(equal, "{place}:\n  expected {expected_text}\n  got      {output}");
        }
        for (path, value) in case.stores.as_object().into_iter().flatten() {
            let stored = answer.result.as_ref().unwrap_or_else(|_| panic!("{place}: {output}"));
            let actual = stored.pointer(&pointer(path)).unwrap_or(&Value::Null);
            assert_eq!(actual, value, "{place}: {path}");
        }
        assert!(!case.says.is_empty() || case.stores.is_object(), "{place}");
    }
}

#[test]
fn a_new_jobset_is_answered_rule_by_rule() {
    check_cases(include_str!("admission/create.txt"));
}

#[test]
fn a_changed_jobset_is_answered_rule_by_rule() {
    check_cases(include_str!("admission/update.txt"));
}
