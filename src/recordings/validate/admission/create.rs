//! Runs cases of kind `create`: a POST, possibly with existing claims.
//!
//! The comparison is the task of `compare`.

use super::cases::results;
use super::compare::difference;
use crate::validate::result::Difference;
use crate::validate::simulate::yaml;
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::{Answer, Create, FieldValidation, GENERATED_SUFFIX, Gates, Rejection};

/// Namespace of the cases that do not specify one.
const NAMESPACE: &str = "adm";

/// Returns the differences between the recorded and the simulated responses of one case.
pub fn compare(case: &Value) -> Vec<Difference> {
    let id = case["id"].as_str().unwrap_or("");
    let request = &case["request"];
    let existing = request["existing"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let claims = claims(existing);
    let answers = results(case).into_iter();
    let found = answers.filter_map(|(name, gates, recorded)| {
        let mut answer = asked(request, gates, &claims);
        if let Some(taken) = taken(existing, &answer) {
            answer = refused(409, "AlreadyExists", taken);
        }
        difference(&format!("{id}, gates {name}"), recorded, &answer)
    });
    found.collect()
}

/// Returns the treatment of unknown fields that the query requests. `Err` contains a value that the server does not
/// support.
pub fn field_validation(query: &str) -> Result<FieldValidation, String> {
    let value = query
        .split('&')
        .find_map(|part| part.strip_prefix("fieldValidation="));
    match value {
        Some("Strict") => Ok(FieldValidation::Strict),
        Some("Ignore") => Ok(FieldValidation::Ignore),
        Some("Warn" | "") | None => Ok(FieldValidation::Warn),
        Some(other) => Err(other.to_owned()),
    }
}

fn refused(code: u16, reason: &str, message: String) -> Answer {
    Answer {
        code,
        result: Err(Rejection::new(code, reason, message)),
        warnings: Vec::new(),
    }
}

/// Returns the error message if an existing object has the same name.
fn taken(existing: &[Value], answer: &Answer) -> Option<String> {
    let stored = answer.result.as_ref().ok()?;
    let same =
        |o: &&Value| o["kind"] == "JobSet" && o["metadata"]["name"] == stored["metadata"]["name"];
    let name = existing.iter().find(same)?["metadata"]["name"].as_str()?;
    Some(format!("jobsets.jobset.x-k8s.io {name:?} already exists"))
}

fn asked(request: &Value, gates: Gates, claims: &[Value]) -> Answer {
    let content_type = request["contentType"].as_str().unwrap_or("");
    let is_known =
        content_type.is_empty() || ["json", "yaml"].iter().any(|t| content_type.ends_with(t));
    if !is_known {
        let words = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
        return refused(415, "UnsupportedMediaType", words.to_owned());
    }
    match field_validation(request["query"].as_str().unwrap_or("")) {
        Ok(validation) => post(request, gates, claims, validation),
        Err(other) => {
            let words = format!(
                "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: {other:?}: supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
            );
            refused(422, "Invalid", words)
        }
    }
}

fn post(request: &Value, gates: Gates, claims: &[Value], validation: FieldValidation) -> Answer {
    let post = Create {
        object: &generated(&request["body"]),
        namespace: request["namespace"].as_str().unwrap_or(NAMESPACE),
        gates,
        existing_claims: claims,
    };
    let Value::String(text) = &request["body"] else {
        return admission::post(&post, validation, &[]);
    };
    let is_yaml = request["contentType"]
        .as_str()
        .is_some_and(|t| t.ends_with("yaml"));
    if !is_yaml {
        return admission::post_text(text, &post, validation);
    }
    match yaml(text) {
        Ok((object, problems)) => {
            let post = Create {
                object: &object,
                ..post
            };
            admission::post(&post, validation, &problems)
        }
        Err(error) => admission::unreadable_yaml(&error, text),
    }
}

/// Replaces the mask in the body's name. The recorder also masked names in request bodies that look generated.
fn generated(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(Value::String(name)) = body.pointer_mut("/metadata/name") {
        *name = name.replace("<rand>", GENERATED_SUFFIX);
    }
    body
}

/// Returns the existing claims, each bound to a matching volume, because the real claims are bound by then.
fn claims(existing: &[Value]) -> Vec<Value> {
    let of = |kind: &'static str| existing.iter().filter(move |o| o["kind"] == kind);
    let class = |spec: &Value| spec["storageClassName"].as_str().unwrap_or("").to_owned();
    let mut free: Vec<&Value> = of("PersistentVolume").collect();
    let mut claims: Vec<Value> = of("PersistentVolumeClaim").cloned().collect();
    for claim in &mut claims {
        let wanted = claim["spec"]["volumeName"].as_str().map(str::to_owned);
        let fits = |pv: &&Value| match &wanted {
            Some(name) => pv["metadata"]["name"] == name.as_str(),
            None => {
                class(&pv["spec"]) == class(&claim["spec"])
                    && pv["spec"]["accessModes"] == claim["spec"]["accessModes"]
            }
        };
        if let Some(at) = free.iter().position(fits) {
            let volume = free.remove(at);
            claim["spec"]["volumeName"] = volume["metadata"]["name"].clone();
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_takes_the_volume_that_fits() {
        let volume = |class: &str| {
            json!({"kind": "PersistentVolume", "metadata": {"name": "v"},
            "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"]}})
        };
        let claim = json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
            "spec": {"accessModes": ["ReadWriteOnce"]}});
        let bound =
            |class: &str| claims(&[volume(class), claim.clone()])[0]["spec"]["volumeName"].clone();
        assert_eq!(bound(""), "v");
        assert_eq!(bound("fast"), Value::Null);
    }

    #[test]
    fn the_query_says_what_happens_to_unknown_fields() {
        for (query, expected) in [
            ("", Ok(FieldValidation::Warn)),
            (
                "dryRun=All&fieldValidation=Strict",
                Ok(FieldValidation::Strict),
            ),
            ("fieldValidation=Ignore", Ok(FieldValidation::Ignore)),
            ("fieldValidation=Foo", Err("Foo".to_owned())),
        ] {
            assert_eq!(field_validation(query), expected);
        }
    }
}
