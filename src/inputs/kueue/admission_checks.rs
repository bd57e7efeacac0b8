//! Reads `admissionChecks`: when and how the controllers of Kueue's AdmissionChecks report.

use crate::text::diagnostic::{DiagnosticReport, Diagnostics};
use crate::{dist, read, text::node::YamlNode};
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::CheckOutcome;

/// Adds the outcomes to the AdmissionChecks, which must exist.
pub fn add_outcomes(
    node: &YamlNode, scenario: &mut ScenarioSpec, mut report: DiagnosticReport,
) -> Result<(), Diagnostics> {
    for entry in read::list(node, "admissionChecks") {
        let name = read::string(entry, "name").unwrap_or_default();
        let outcome = CheckOutcome {
            after: dist::delay(Some(entry), "after", &mut report),
            retries: read::u32_of(entry, "retries").unwrap_or(0),
            is_ready: read::string(entry, "state").as_deref() != Some("Rejected"),
            message: read::string(entry, "message").unwrap_or_default(),
        };
        let mut checks = scenario.kueue.iter_mut().flat_map(|kueue| &mut kueue.admission_checks);
        match checks.find(|check| check.name == name) {
            Some(check) => check.outcome = Some(outcome),
            None => {
                let at = entry.get("name").map_or(entry.at, |name| name.at);
                let known = scenario.kueue.iter().flat_map(|kueue| &kueue.admission_checks);
                let known: Vec<&str> = known.map(|check| &*check.name).collect();
                let error = report.error(at, format!("the inputs contain no AdmissionCheck {name}"));
                if !known.is_empty() {
                    error.suggest(known.join(", "));
                }
            }
        }
    }
    report.finish()
}
