//! Findings and the report that collects them.

use super::lint_subject::LintSubject;
use super::trap::{LintTrap, TrapHit, TrapSeverity};
use sim_inputs::text::diagnostic::Diagnostic;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// The API server rejects the object.
    Rejected,
    /// The API server accepts the object, but it causes a problem later.
    Trap,
}

impl FindingKind {
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::Rejected => "rejected",
            FindingKind::Trap => "trap",
        }
    }
}

#[derive(Clone, Debug)]
pub struct LintFinding {
    pub kind: FindingKind,
    pub severity: TrapSeverity,
    /// Name of the trap, or `rejected` for a rejection.
    pub name: &'static str,
    pub rules: &'static [String],
    pub jobset: String,
    /// Position, source snippet and description of the problem.
    pub diagnostic: Diagnostic,
    pub consequence: String,
    pub fix: String,
    /// Message of the API server.
    pub server: Option<String>,
}

impl LintFinding {
    pub fn new(trap: &'static LintTrap, subject: &LintSubject, hit: &TrapHit) -> LintFinding {
        let message = format!("{}: {}", trap.title, hit.detail);
        LintFinding {
            kind: FindingKind::Trap,
            severity: if hit.eased { TrapSeverity::Warning } else { trap.severity },
            name: &trap.name,
            rules: &trap.rules,
            jobset: subject.jobset.name.clone(),
            diagnostic: Diagnostic::at(subject.source, hit.at, message),
            consequence: trap.consequence.to_owned(),
            fix: trap.fix.to_owned(),
            server: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct LintReport {
    pub findings: Vec<LintFinding>,
    /// Number of JobSets checked.
    pub examined: usize,
    /// The error because of which the JobSets were not simulated on the cluster.
    pub not_simulated: Option<String>,
}

impl LintReport {
    /// Sorts the findings by file and position. At the same position the more severe finding comes first.
    pub fn finish(&mut self) {
        let mut files: Vec<String> = Vec::new();
        for finding in &self.findings {
            if !files.contains(&finding.diagnostic.file) {
                files.push(finding.diagnostic.file.clone());
            }
        }
        let file = |f: &LintFinding| files.iter().position(|name| *name == f.diagnostic.file);
        let key = |f: &LintFinding| (file(f), f.diagnostic.line, f.diagnostic.column, f.severity);
        self.findings.sort_by_key(key);
    }

    pub fn rejected(&self) -> usize {
        let rejected = |f: &&LintFinding| f.kind == FindingKind::Rejected;
        self.findings.iter().filter(rejected).count()
    }

    /// Returns the number of traps with the given severity.
    pub fn traps(&self, severity: TrapSeverity) -> usize {
        let of = |f: &&LintFinding| f.kind == FindingKind::Trap && f.severity == severity;
        self.findings.iter().filter(of).count()
    }
}
