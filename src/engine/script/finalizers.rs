//! The finalizers of an object after a patch.

use super::request_error::ScriptRequestError;
use serde_json::Value;

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
