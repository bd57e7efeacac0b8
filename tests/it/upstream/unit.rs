//! Inputs and expectations of upstream's tests: webhooks, and the Jobs that the controller builds.
//!
//! `webhook.ndjson` and `jobs.ndjson` are tables of the tests of JobSet 0.12.0 (Apache License 2.0) with the values
//! at run time: `pkg/webhooks/jobset_webhook_test.go`, `test/integration/webhook/jobset_webhook_test.go` (with the
//! objects that its functions create), and the expectations about objects in
//! `pkg/controllers/jobset_controller_test.go` and `volume_claim_policy_test.go`. Must never define expectations
//! itself.

use crate::policy::notation::{self, Case};
use crate::policy::render;
use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{AdmissionChange, AdmissionGates, ChangeRequest, CreateRequest, FieldValidation, webhooks};
use sim_api::objects;
use sim_api::objects::JobSlot;
use sim_policy::{ActionPlan, reconcile};

const WEBHOOK: &str = include_str!("webhook.ndjson");
const JOBS: &str = include_str!("jobs.ndjson");
/// Decisions of the controller. `of` is upstream's test and the name of its row. The other fields are a policy case
/// (`tests/it/policy/notation.rs`); `has` and `hasnt` are parts of the lines of its plan. If upstream tests a
/// function that returns a number or a boolean, the row states the resulting decision of a pass.
const DECISIONS: &str = include_str!("decisions.ndjson");

fn json_lines(text: &str) -> Vec<Value> {
    let rows = text.lines().map(serde_json::from_str);
    rows.map(|row| row.expect("a row is JSON")).collect()
}

fn rows(text: &str, kind: &str) -> Vec<Value> {
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON"));
    // `cannot` marks objects that upstream's fake client accepts, but an API server would not.
    rows.filter(|row: &Value| row["kind"] == kind && row["cannot"].is_null()).collect()
}

/// Returns `test/row` of everything that is tested here, for `situations`.
pub fn tested_rows() -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a name").to_owned();
    let mut names = Vec::new();
    for (data, kind, test) in [
        (WEBHOOK, "default", "TestJobSetDefaulting"),
        (WEBHOOK, "create", "TestValidateCreate"),
        (WEBHOOK, "update", "TestValidateUpdate"),
        (WEBHOOK, "integration", "webhook"),
        (JOBS, "construct", "TestConstructJobsFromTemplate"),
    ] {
        let rows = rows(data, kind);
        names.extend(rows.iter().map(|row| format!("{test}/{}", text(&row["name"]))));
    }
    for kind in ["label", "service", "claims", "volumes"] {
        names.extend(rows(JOBS, kind).iter().map(|row| text(&row["name"])));
    }
    names.extend(json_lines(DECISIONS).iter().map(|row| text(&row["of"])));
    names
}

/// Removes empty fields, which Go does not serialize.
fn without_empty_fields(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(k, v)| (k.clone(), without_empty_fields(v)));
            let empty = |v: &Value| v.is_null() || *v == json!({}) || *v == json!([]) || *v == "";
            fields.filter(|(_, v)| !empty(v)).collect()
        }
        Value::Array(items) => items.iter().map(without_empty_fields).collect(),
        other => other.clone(),
    }
}

fn gates(row: &Value) -> AdmissionGates {
    AdmissionGates {
        in_place_restart: row["inPlace"] == true,
        restart_job: row["restartJob"] == true,
        elastic_job_set: row["elastic"] == true,
    }
}

/// Asserts that every row of a kind is judged as by upstream.
fn differences(text: &str, kind: &str, judge: impl Fn(&Value) -> Result<(), String>) {
    let rows = rows(text, kind);
    let wrong = rows.iter().filter_map(|row| Some(format!("{}: {}", row["name"], judge(row).err()?)));
    let wrong: Vec<String> = wrong.collect();
    let (result, all) = (wrong.len(), rows.len());
    assert!(all > 0 && result == 0, "{result} of {all} differ\n{}", wrong.join("\n"));
}

fn assert_same_value(what: &str, want: &Value, got: &Value) -> Result<(), String> {
    let (want, got) = (without_empty_fields(want), without_empty_fields(got));
    if want == got { Ok(()) } else { Err(format!("{what}\n  upstream {want}\n  here     {got}")) }
}

#[test]
fn the_mutating_webhook_defaults_as_upstreams_tests_say() {
    differences(WEBHOOK, "default", |row| {
        let mut got = webhooks::default(&row["js"]).map_err(|r| r.message)?;
        // Go always serializes the status of an object.
        got["status"] = Value::Null;
        assert_same_value("defaulted", &row["want"], &got)
    });
}

/// Checks that the webhook's message contains each sentence that upstream expects, or that the object is accepted if
/// there is none.
fn check_message(row: &Value, verdict: Result<(), admission::AdmissionRejection>) -> Result<(), String> {
    let want = row["want"].as_array().map_or(&[][..], Vec::as_slice);
    match (verdict, want) {
        (Ok(()), []) => Ok(()),
        (Ok(()), _) => Err("accepted".to_owned()),
        (Err(refused), []) => Err(refused.message),
        (Err(refused), want) => {
            let missing = want.iter().find(|w| !refused.message.contains(w.as_str().unwrap_or("")));
            let right = refused.code == 422 && refused.reason == "Invalid";
            match missing {
                None if right => Ok(()),
                _ => Err(format!("{missing:?} is not in {} {}", refused.code, refused.message)),
            }
        }
    }
}

#[test]
fn the_validating_webhook_judges_new_jobsets_as_upstreams_tests_say() {
    differences(WEBHOOK, "create", |row| {
        let claims = row["claims"].as_array().cloned().unwrap_or_default();
        check_message(row, webhooks::validate_create(&row["js"], gates(row), &claims))
    });
}

/// For an update, upstream compares the last words of each cause.
#[test]
fn the_validating_webhook_judges_changes_as_upstreams_tests_say() {
    differences(WEBHOOK, "update", |row| {
        let verdict = webhooks::validate_update(&row["old"], &row["js"], gates(row));
        let want = row["want"][0].as_str().unwrap_or("");
        match verdict {
            Ok(()) if want.is_empty() => Ok(()),
            Ok(()) => Err("accepted".to_owned()),
            Err(refused) if want.is_empty() => Err(refused.message),
            Err(refused) => {
                let path = want.split(": ").next().unwrap_or("");
                let words = want.rsplit(": ").next().unwrap_or("");
                if refused.message.contains(path) && refused.message.contains(words) {
                    Ok(())
                } else {
                    Err(format!("{want} is not in {}", refused.message))
                }
            }
        }
    });
}

/// A POST, and a PUT of the stored object with the test's change.
#[test]
fn the_api_server_with_both_webhooks_answers_as_upstreams_integration_tests_say() {
    differences(WEBHOOK, "integration", |row| {
        let namespace = row["js"]["metadata"]["namespace"].as_str().unwrap_or("default");
        let mut object = row["js"].clone();
        (object["apiVersion"], object["kind"]) = (admission::API_VERSION.into(), "JobSet".into());
        let create = CreateRequest { object: &object, namespace, gates: gates(row), existing_claims: &[] };
        let stored = match (admission::create(&create), row["createFails"] == true) {
            (Err(_), true) => return Ok(()),
            (Ok(_), true) => return Err("created".to_owned()),
            (Err(refused), false) => return Err(refused.message),
            (Ok(stored), false) => stored,
        };
        let defaulted = without_empty_fields(&row["defaulted"]);
        let unlike = |path: &str| defaulted.pointer(path) != without_empty_fields(&stored).pointer(path);
        if let Some(path) = row["defaulted"]["spec"].as_object().and_then(|spec| {
            let mut paths = spec.keys().map(|k| format!("/spec/{k}"));
            paths.find(|p| !p.contains("replicatedJobs") && unlike(p))
        }) {
            return Err(format!("{path} of {stored}"));
        }
        for (i, rj) in defaulted["spec"]["replicatedJobs"].as_array().into_iter().flatten().enumerate() {
            for path in ["/template/spec/completionMode", "/template/spec/template/spec/restartPolicy"] {
                assert_same_value(
                    path,
                    &json!(rj.pointer(path)),
                    &json!(stored["spec"]["replicatedJobs"][i].pointer(path)),
                )?;
            }
        }
        if row["update"].is_null() {
            return Ok(());
        }
        let mut new = row["update"].clone();
        (new["apiVersion"], new["kind"]) = (admission::API_VERSION.into(), "JobSet".into());
        let change = ChangeRequest {
            stored: &stored,
            change: AdmissionChange::Put(&new),
            gates: gates(row),
            field_validation: FieldValidation::Warn,
        };
        let words = row["updateError"].as_str().unwrap_or("");
        match (admission::change(&change).result, row["updateFails"] == true) {
            (Ok(_), false) => Ok(()),
            (Ok(_), true) => Err("changed".to_owned()),
            (Err(refused), false) => Err(refused.message),
            (Err(refused), true) if refused.message.contains(words) => Ok(()),
            (Err(refused), true) => Err(format!("{words} is not in {}", refused.message)),
        }
    });
}

/// Returns the Jobs that do not exist yet, ordered by replicatedJob.
fn built_jobs(row: &Value) -> Vec<Value> {
    let jobset = &row["js"];
    let there = row["there"].as_array().map_or(&[][..], Vec::as_slice);
    let mut jobs = Vec::new();
    let replicated = jobset["spec"]["replicatedJobs"].as_array();
    for (at, rj) in replicated.into_iter().flatten().enumerate() {
        for index in 0..rj["replicas"].as_u64().unwrap_or(0) as u32 {
            let status = jobset["status"]["replicatedJobsStatus"].as_array();
            let own = status.into_iter().flatten().find(|s| s["name"] == rj["name"]);
            let own = own.and_then(|s| s["jobRestarts"][index as usize].as_u64());
            let slot = JobSlot {
                jobset,
                replicated_job: at,
                index,
                restarts: jobset["status"]["restarts"].as_u64().unwrap_or(0) as u32,
                job_restarts: (row["restartJob"] == true).then_some(own.unwrap_or(0) as u32),
                global_indexes: None,
            };
            if !there.contains(&slot.name().into()) {
                // Upstream's objects have no uid.
                let text = objects::job_of_slot(&slot).to_string().replace(objects::NO_UID, "");
                jobs.push(serde_json::from_str(&text).expect("the text is JSON"));
            }
        }
    }
    jobs
}

#[test]
fn jobs_are_built_as_upstreams_tests_say() {
    differences(JOBS, "construct", |row| {
        let mut jobs = built_jobs(row);
        for job in &mut jobs {
            // Upstream's function sets the owner later, and Go's types do not contain their kind.
            for key in ["apiVersion", "kind"] {
                job.as_object_mut().expect("a Job").remove(key);
            }
            job["metadata"].as_object_mut().expect("metadata").remove("ownerReferences");
        }
        assert_same_value("Jobs", &row["want"], &jobs.into())
    });
}

/// Returns the plan of a policy case as text.
fn decided_plan(row: &Value) -> Result<String, String> {
    let mut case = row.as_object().expect("a row is an object").clone();
    for key in ["of", "has", "hasnt"] {
        case.remove(key);
    }
    case.insert("name".to_owned(), row["of"].clone());
    case.insert("rules".to_owned(), json!([]));
    case.insert("plan".to_owned(), json!(""));
    let case: Case = serde_json::from_value(case.into()).map_err(|e| e.to_string())?;
    let world = notation::world(&case)?;
    let view = world.view();
    let mut plan = ActionPlan::default();
    reconcile(&view, &mut plan);
    Ok(render::plan(&view, &plan).join("\n"))
}

#[test]
fn passes_decide_as_upstreams_tests_of_their_parts_say() {
    let rows = json_lines(DECISIONS);
    let mut wrong = Vec::new();
    for row in &rows {
        let plan = decided_plan(row).unwrap_or_else(|e| format!("not read: {e}"));
        let parts = |key: &str| row[key].as_array().cloned().unwrap_or_default();
        let text = |part: &Value| plan.contains(part.as_str().expect("text"));
        let (has, hasnt) = (parts("has"), parts("hasnt"));
        assert!(!has.is_empty() || !hasnt.is_empty(), "{} has no expectation", row["of"]);
        if !has.iter().all(text) || hasnt.iter().any(text) {
            wrong.push(format!("{}: {has:?} and not {hasnt:?}\n{plan}", row["of"]));
        }
    }
    let (result, all) = (wrong.len(), rows.len());
    assert!(all > 100 && result == 0, "{result} of {all} differ\n{}", wrong.join("\n"));
}

/// Builds a single Job of a JobSet whose templates may be missing.
fn slot_job(jobset: &Value, at: usize, index: u32) -> Value {
    objects::job_of_slot(&JobSlot {
        jobset,
        replicated_job: at,
        index,
        restarts: 0,
        job_restarts: None,
        global_indexes: None,
    })
}

#[test]
fn places_of_jobs_among_all_and_in_their_group_are_numbered_as_upstreams_tests_say() {
    differences(JOBS, "label", |row| {
        let number = |key: &str| row[key].as_u64().unwrap_or(0);
        let job = slot_job(&row["js"], number("at") as usize, number("index") as u32);
        let key = row["key"].as_str().unwrap_or("");
        assert_same_value(key, &row["want"], &job["metadata"]["labels"][key])
    });
}

#[test]
fn services_are_built_as_upstreams_tests_say() {
    differences(JOBS, "service", |row| {
        let service = objects::service(&row["js"]).ok_or("no Service")?;
        let name = &row["js"]["metadata"]["name"];
        let owner = json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": name,
            "uid": objects::NO_UID, "controller": true, "blockOwnerDeletion": true}]);
        let want =
            json!({"name": row["want"], "publish": row["publish"], "ip": "None", "selects": name, "owner": owner});
        let (metadata, spec) = (&service["metadata"], &service["spec"]);
        let got = json!({"name": metadata["name"], "publish": spec["publishNotReadyAddresses"], "ip": spec["clusterIP"],
            "selects": spec["selector"]["jobset.sigs.k8s.io/jobset-name"], "owner": metadata["ownerReferences"]});
        assert_same_value("Service", &want, &got)
    });
}

#[test]
fn claims_are_built_as_upstreams_tests_say() {
    differences(JOBS, "claims", |row| {
        let mut claims: Vec<Value> = objects::claims(&row["js"]);
        for claim in &mut claims {
            let fields = claim.as_object_mut().expect("a claim");
            fields.retain(|key, _| key != "apiVersion" && key != "kind");
            let text = claim.to_string().replace(objects::NO_UID, "");
            *claim = serde_json::from_str(&text).expect("the text is JSON");
        }
        assert_same_value("claims", &row["want"], &claims.into())
    });
}

#[test]
fn volumes_of_claims_are_added_as_upstreams_tests_say() {
    differences(JOBS, "volumes", |row| {
        let mut jobset = row["js"].clone();
        let template = json!({"spec": row["job"]["spec"]});
        jobset["spec"]["replicatedJobs"] = json!([{"name": "w", "replicas": 1, "template": template}]);
        let job = slot_job(&jobset, 0, 0);
        assert_same_value("volumes", &row["want"], &job["spec"]["template"]["spec"]["volumes"])
    });
}
