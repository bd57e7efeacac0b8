//! What a trap is: a name, what happens, what to do, and one pure function that finds it.

use super::subject::{Change, Subject};
use sim_inputs::text::node::Pos;
use sim_policy::topology::Cluster;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It goes wrong in any case.
    Error,
    /// It goes wrong when something else happens.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One place where a trap was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub at: Pos,
    /// What it is here: which replicatedJob, which value.
    pub detail: String,
    /// Containers end here that make room: what is an error otherwise is a warning.
    pub eased: bool,
}

pub fn hit(at: Pos, detail: impl Into<String>) -> Hit {
    Hit {
        at,
        detail: detail.into(),
        eased: false,
    }
}

impl Hit {
    /// The same where containers end.
    pub fn eased(self) -> Hit {
        let detail = format!("{}; containers end here, and make room", self.detail);
        let eased = true;
        Hit {
            detail,
            eased,
            ..self
        }
    }
}

/// Each with the JobSet in which it is.
pub type HitsOf = Vec<(usize, Hit)>;

/// What a check has to see.
#[derive(Copy, Clone)]
pub enum Check {
    /// One JobSet.
    JobSet(fn(&Subject) -> Vec<Hit>),
    /// One JobSet and a cluster (`-t`).
    Cluster(fn(&Subject, &Cluster) -> Vec<Hit>),
    /// All JobSets given and a cluster; the number says in which one the hit is.
    ClusterTogether(fn(&[Subject], &Cluster) -> HitsOf),
    /// All JobSets given; the number says in which one the hit is.
    Together(fn(&[Subject]) -> HitsOf),
    /// A JobSet and the one it replaces (`--update`).
    Update(fn(&Change) -> Vec<Hit>),
}

impl Check {
    /// What has to be given for it, in words.
    pub fn needs(&self) -> &'static str {
        match self {
            Check::JobSet(_) => "the manifest",
            Check::Cluster(_) => "a topology (-t)",
            Check::ClusterTogether(_) => "all manifests given and a topology (-t)",
            Check::Together(_) => "all manifests given",
            Check::Update(_) => "the old manifest (--update)",
        }
    }
}

pub struct Trap {
    /// Stable, in kebab-case.
    pub name: &'static str,
    pub severity: Severity,
    pub rules: &'static [&'static str],
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// What happens then.
    pub consequence: &'static str,
    pub fix: &'static str,
    pub check: Check,
}
