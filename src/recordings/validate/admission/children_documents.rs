//! Returns the documents that a case of a child-object recording created, from the case or from the example that it
//! names.
//!
//! The observations of the case are not used, with one exception: if the examples are missing, the JobSets are taken
//! as stored.

use crate::validate::simulate;
use serde_json::Value;
use std::path::Path;

/// Path of the examples, relative to the directory of a `children` recording.
const EXAMPLES: &str = "../../corpus/jobset-examples";

/// Returns the documents that a case of kind `children` created: its own documents, or those of the example that it
/// names together with the documents of the same directory that it also created. If the examples are missing,
/// returns the JobSets as stored.
pub fn documents(recording: &str, case: &Value) -> Result<Vec<Value>, String> {
    if let Some(documents) = case["docs"].as_array() {
        return Ok(documents.clone());
    }
    let example = case["corpus"].as_str().unwrap_or("");
    let folder = Path::new(recording).parent().unwrap_or(Path::new(""));
    let path = folder.join(EXAMPLES).join(example);
    if !path.is_file() {
        return Ok(case["observed"]["jobsets"]
            .as_array()
            .cloned()
            .unwrap_or_default());
    }
    let mut documents = Vec::new();
    let beside = path.parent().unwrap_or(folder);
    let mut files: Vec<_> = std::fs::read_dir(beside)
        .map_err(|e| format!("{}: {e}", beside.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|e| e == "yaml") && *file != path)
        .collect();
    files.sort();
    for file in files {
        let others = read(&file).unwrap_or_default();
        documents.extend(
            others
                .into_iter()
                .filter(|d| d["kind"] != "JobSet" && as_created(case, d)),
        );
    }
    documents.extend(read(&path)?);
    Ok(documents)
}

fn as_created(case: &Value, document: &Value) -> bool {
    let mut created = case["created"].as_array().into_iter().flatten();
    created.any(|c| c["kind"] == document["kind"] && c["name"] == document["metadata"]["name"])
}

fn read(path: &Path) -> Result<Vec<Value>, String> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{file}: {e}"))?;
    simulate::documents(&file, &text)
}
