//! What was found, with everything that is said about it.

use super::subject::Subject;
use super::trap::{Hit, Severity, Trap};
use sim_inputs::text::diagnostic::Diagnostic;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The API server refuses it.
    Rejected,
    /// Accepted, and it hurts later.
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
    /// Name of the trap; of a rejection `rejected`.
    pub name: &'static str,
    pub rules: &'static [&'static str],
    pub jobset: String,
    /// Place, snippet and what is wrong.
    pub diagnostic: Diagnostic,
    pub consequence: String,
    pub fix: String,
    /// The API server's own sentence.
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
    /// JobSets looked at.
    pub examined: usize,
}

impl Report {
    /// By file and place; where several are at one place, what is worse first.
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

    /// Traps of one severity.
    pub fn traps(&self, severity: Severity) -> usize {
        let of = |f: &&Finding| f.kind == Kind::Trap && f.severity == severity;
        self.findings.iter().filter(of).count()
    }
}
