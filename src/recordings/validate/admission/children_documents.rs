//! Returns the documents that a case of a child-object recording created, from the case or from the example that it
//! names.
//!
//! The observations of the case are not used, with one exception: if the examples are missing, the JobSets are taken
//! as stored.

use crate::validate::simulate;
use serde_json::Value;
use std::fmt;
use std::path::Path;

/// Path of the examples, relative to the directory of a `children` recording.
const EXAMPLES: &str = "../../corpus/jobset-examples";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExampleReadError {
    Unreadable { path: String, reason: String },
    InvalidYaml { reason: String },
}

impl fmt::Display for ExampleReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExampleReadError::Unreadable { path, reason } => write!(f, "{path}: {reason}"),
            ExampleReadError::InvalidYaml { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for ExampleReadError {}

/// Returns the error for a file or directory that cannot be read.
fn unreadable(path: &Path, error: &std::io::Error) -> ExampleReadError {
    ExampleReadError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}

/// Returns the documents that a case of kind `children` created: its own documents, or those of the example that it
/// names together with the documents of the same directory that it also created. If the examples are missing,
/// returns the JobSets as stored.
pub fn documents(recording: &str, case: &Value) -> Result<Vec<Value>, ExampleReadError> {
    if let Some(documents) = case["docs"].as_array() {
        return Ok(documents.clone());
    }
    let example = case["corpus"].as_str().unwrap_or("");
    let folder = Path::new(recording).parent().unwrap_or(Path::new(""));
    let path = folder.join(EXAMPLES).join(example);
    if !path.is_file() {
        return Ok(case["observed"]["jobsets"].as_array().cloned().unwrap_or_default());
    }
    let mut documents = Vec::new();
    let beside = path.parent().unwrap_or(folder);
    let mut files: Vec<_> = std::fs::read_dir(beside)
        .map_err(|e| unreadable(beside, &e))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|e| e == "yaml") && *file != path && file.is_file())
        .collect();
    files.sort();
    for file in files {
        let others = read(&file).unwrap_or_default();
        documents.extend(others.into_iter().filter(|d| d["kind"] != "JobSet" && as_created(case, d)));
    }
    documents.extend(read(&path)?);
    Ok(documents)
}

fn as_created(case: &Value, document: &Value) -> bool {
    let mut created = case["created"].as_array().into_iter().flatten();
    created.any(|c| c["kind"] == document["kind"] && c["name"] == document["metadata"]["name"])
}

fn read(path: &Path) -> Result<Vec<Value>, ExampleReadError> {
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
    simulate::documents(&path.display().to_string(), &text)
        .map_err(|e| ExampleReadError::InvalidYaml { reason: e.to_string() })
}
