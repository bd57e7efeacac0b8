//! Reads and compares admission recordings: the responses of the API server to JobSets, case by case.
//!
//! A file is a list of a header, whose `kind` is the type of the cases, and the cases. `create` and `update` produce
//! the responses, `compare` compares them.

pub(crate) mod cases;
pub mod children;
pub(crate) mod children_case;
pub(crate) mod children_compare;
pub mod children_documents;
pub mod compare;
pub mod create;
mod go_yaml;
pub mod update;

use super::read::file_error::{RecordingFileError, RecordingFileProblem};
use super::recording::RecordingKind;
use super::result::{AdmissionResult, FileResult, RecordedDifference};

use serde_json::Value;

const SCHEMA: &str = "jobset-sim/admission-recording/v1";

#[derive(Clone, Debug)]
pub struct AdmissionFile {
    pub kind: RecordingKind,
    pub cases: Vec<Value>,
}

/// Returns whether a text is an admission recording. Those are lists; all other recordings are objects.
pub fn is_admission(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

/// Reads one file; `file` appears in the error.
pub fn read(file: &str, text: &str) -> Result<AdmissionFile, RecordingFileError> {
    read_cases(text).map_err(|problem| problem.in_file(file))
}

fn read_cases(text: &str) -> Result<AdmissionFile, RecordingFileProblem> {
    let cases: Vec<Value> =
        serde_json::from_str(text).map_err(|e| RecordingFileProblem::NotJson { reason: e.to_string() })?;
    let Some((head, cases)) = cases.split_first() else {
        return Err(RecordingFileProblem::EmptyList);
    };
    if head["schema"] != SCHEMA {
        return Err(RecordingFileProblem::UnknownSchema { schema: head["schema"].clone(), expected: SCHEMA });
    }
    let kind = match head["kind"].as_str() {
        Some("create") => RecordingKind::Create,
        Some("update") => RecordingKind::Update,
        Some("children") => RecordingKind::Children,
        _ => {
            return Err(RecordingFileProblem::UnknownAdmissionKind { kind: head["kind"].clone() });
        }
    };
    for (i, case) in cases.iter().enumerate() {
        if !case["id"].is_string() {
            return Err(RecordingFileProblem::MissingCaseId { number: i + 1 });
        }
    }
    Ok(AdmissionFile { kind, cases: cases.to_vec() })
}

fn compare_children(recording: &str, case: &Value) -> Vec<RecordedDifference> {
    match children_documents::documents(recording, case) {
        Ok(documents) => children::compare(case, &documents),
        Err(problem) => vec![RecordedDifference::new("docs", "readable", problem.to_string())],
    }
}

/// Simulates and compares every case of a file.
pub fn validate(name: &str, file: &AdmissionFile) -> FileResult {
    let mut result = FileResult::new(name, file.kind);
    let compare = |case: &Value| match file.kind {
        RecordingKind::Create => create::compare(case),
        RecordingKind::Update => update::compare(case),
        _ => compare_children(name, case),
    };
    let mut results = AdmissionResult::default();
    for case in &file.cases {
        let differences = compare(case);
        results.count.total += 1;
        results.count.equal += usize::from(differences.is_empty());
        results.differences.extend(differences);
    }
    result.admission = Some(results);
    result
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/admission.rs"]
mod tests;
