//! Selects the JobSet whose life is reconstructed.

use crate::{observe::facts::ObservedKind, observe::object_version::ObjectVersion};
use std::fmt;

/// Maximum number of JobSets that an error lists.
const LISTED_MAX: usize = 10;

/// Reason why no JobSet was selected. JobSets are listed as `NAMESPACE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobSetSelectionError {
    /// The files contain no JobSet.
    NoJobSet,
    /// None of the JobSets matches.
    NoMatch { available: Vec<String> },
    /// More than one JobSet matches.
    SeveralMatches { matches: Vec<String> },
}

impl fmt::Display for JobSetSelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names[..names.len().min(LISTED_MAX)].join(", ");
        match self {
            JobSetSelectionError::NoJobSet => {
                f.write_str("no JobSet in these files; run `recording commands` to see what to save")
            }
            JobSetSelectionError::NoMatch { available } => {
                write!(f, "JobSet not found in these files; available: {}", list(available))
            }
            JobSetSelectionError::SeveralMatches { matches } => write!(
                f,
                "{} JobSets in these files: {}; select one with --jobset and -n",
                matches.len(),
                list(matches)
            ),
        }
    }
}

impl std::error::Error for JobSetSelectionError {}

/// Returns namespace and name of the selected JobSet. Exactly one JobSet must match.
pub fn select_jobset(
    seen: &[ObjectVersion], name: Option<&str>, namespace: Option<&str>,
) -> Result<(String, String), JobSetSelectionError> {
    let mut result: Vec<(String, String)> = Vec::new();
    for s in seen.iter().filter(|s| s.kind == ObservedKind::JobSet) {
        let key = (s.namespace.clone(), s.name.clone());
        if !result.contains(&key) {
            result.push(key);
        }
    }
    let list = |keys: &[(String, String)]| {
        let names = keys.iter().map(|(ns, name)| format!("{ns}/{name}"));
        names.collect()
    };
    let meant = |(ns, n): &(String, String)| name.is_none_or(|name| name == n) && namespace.is_none_or(|own| own == ns);
    let matches: Vec<(String, String)> = result.iter().filter(|key| meant(key)).cloned().collect();
    match matches.as_slice() {
        [one] => Ok(one.clone()),
        [] if result.is_empty() => Err(JobSetSelectionError::NoJobSet),
        [] => Err(JobSetSelectionError::NoMatch { available: list(&result) }),
        several => Err(JobSetSelectionError::SeveralMatches { matches: list(several) }),
    }
}
