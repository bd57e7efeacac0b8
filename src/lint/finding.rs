//! Findings and the report that collects them.

use super::subject::Subject;
use super::trap::{Hit, Severity, Trap};
use sim_inputs::text::diagnostic::Diagnostic;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The API server rejects the object.
    Rejected,
    /// The API server accepts the object, but it causes a problem later.
    Trap,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Rejected => "rejected",
            Kind::Trap => "trap",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: Kind,
    pub severity: Severity,
    /// Name of the trap, or `rejected` for a rejection.
    pub name: &'static str,
    pub rules: &'static [&'static str],
    pub jobset: String,
    /// Position, source snippet and description of the problem.
    pub diagnostic: Diagnostic,
    pub consequence: String,
    pub fix: String,
    /// Message of the API server.
    pub server: Option<String>,
}

impl Finding {
    pub fn of(trap: &'static Trap, subject: &Subject, hit: &Hit) -> Finding {
        let message = format!("{}: {}", trap.title, hit.detail);
        Finding {
            kind: Kind::Trap,
            severity: if hit.eased {
                Severity::Warning
            } else {
                trap.severity
            },
            name: trap.name,
            rules: trap.rules,
            jobset: subject.jobset.name.clone(),
            diagnostic: Diagnostic::at(subject.source, hit.at, message),
            consequence: trap.consequence.to_owned(),
            fix: trap.fix.to_owned(),
            server: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// Number of JobSets checked.
    pub examined: usize,
}

impl Report {
    /// Sorts the findings by file and position. At the same position the more severe finding comes first.
    pub fn finish(&mut self) {
        let mut files: Vec<String> = Vec::new();
        for finding in &self.findings {
            if !files.contains(&finding.diagnostic.file) {
                files.push(finding.diagnostic.file.clone());
            }
        }
        let file = |f: &Finding| files.iter().position(|name| *name == f.diagnostic.file);
        let key = |f: &Finding| (file(f), f.diagnostic.line, f.diagnostic.column, f.severity);
        self.findings.sort_by_key(key);
    }

    pub fn rejected(&self) -> usize {
        let rejected = |f: &&Finding| f.kind == Kind::Rejected;
        self.findings.iter().filter(rejected).count()
    }

    /// Returns the number of traps with the given severity.
    pub fn traps(&self, severity: Severity) -> usize {
        let of = |f: &&Finding| f.kind == Kind::Trap && f.severity == severity;
        self.findings.iter().filter(of).count()
    }
}
