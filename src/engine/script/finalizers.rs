//! Metadata of patches: the finalizers that they leave, and checks of the name and labels.

use super::request_error::ScriptRequestError;
use serde_json::Value;
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::errors::bad_request;
use sim_api::admission::field::FieldPath;
use sim_api::admission::meta_check::labels;

/// The finalizers of an object after a patch; `None` if the patch does not contain them.
/// `k8s.io/apimachinery`, ValidateNoNewFinalizers: no finalizer can be added to an object that is being deleted.
pub(super) fn patched_finalizers(
    body: &Value, deleting: bool, has: &[String],
) -> Result<Option<Vec<String>>, ScriptRequestError> {
    let Some(listed) = body["metadata"].get("finalizers") else {
        return Ok(None);
    };
    let wanted = finalizer_names(listed);
    let is_new = |name: &&String| deleting && !has.contains(name);
    let names: Vec<String> = wanted.iter().filter(is_new).cloned().collect();
    if names.is_empty() { Ok(Some(wanted)) } else { Err(ScriptRequestError::NewFinalizers { names }) }
}

pub(super) fn finalizer_names(listed: &Value) -> Vec<String> {
    let names = listed.as_array().into_iter().flatten();
    names.filter_map(|n| n.as_str().map(str::to_owned)).collect()
}

/// `checkName` of `k8s.io/apiserver`, `pkg/endpoints/handlers/rest.go`: a patch cannot rename the object.
pub(super) fn check_name(name: &str, body: &Value) -> Result<(), ScriptRequestError> {
    match &body["metadata"]["name"] {
        Value::Null => Ok(()),
        given if given == name => Ok(()),
        given => {
            let given = given.as_str().unwrap_or_default();
            let message = format!("the name of the object ({given}) does not match the name on the URL ({name})");
            Err(bad_request(message).into())
        }
    }
}

/// Checks the keys and values of the labels that the patch sets. `kind` includes the API group.
pub(super) fn check_labels(kind: &str, name: &str, body: &Value) -> Result<(), ScriptRequestError> {
    let mut set = body["metadata"]["labels"].clone();
    if let Some(labels) = set.as_object_mut() {
        labels.retain(|_, value| !value.is_null());
    }
    let mut errors = ErrorList::default();
    labels(&set, &FieldPath::new("metadata.labels"), &mut errors);
    Ok(errors.into_rejection(kind, name)?)
}
