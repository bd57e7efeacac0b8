//! Errors of commands and their exit codes.

use sim_analysis::experiment::NoRuns;
use sim_engine::CannotRun;
use sim_inputs::Diagnostics;

/// Exit code of a failed `--fail-if` gate.
pub const GATE_FAILED: u8 = 5;
/// Exit code that a shell reports for a program terminated by SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Error of a command, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A bug in this program.
    Internal(String),
    Invalid(String),
    CannotBePlaced(String),
    /// No value satisfies the target of a search.
    NotFound(String),
    /// Interrupted by a signal; the message names the results that were kept.
    Interrupted(String),
    /// A `--fail-if` gate failed; the message names the gate.
    Gate(String),
}

/// Returns [`Failure::Invalid`] with a formatted message.
macro_rules! bail {
    ($($message:tt)*) => {
        return Err($crate::cli::failure::Failure::Invalid(format!($($message)*)))
    };
}
pub(crate) use bail;

impl Failure {
    pub fn code(&self) -> u8 {
        match self {
            Failure::Internal(_) => 1,
            Failure::Invalid(_) => 2,
            Failure::NotFound(_) => 3,
            Failure::CannotBePlaced(_) => 4,
            Failure::Gate(_) => GATE_FAILED,
            Failure::Interrupted(_) => INTERRUPTED,
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Failure::Internal(m) | Failure::Invalid(m) | Failure::CannotBePlaced(m) => m,
            Failure::NotFound(m) | Failure::Interrupted(m) | Failure::Gate(m) => m,
        }
    }

    /// Changes the message of an input error; other errors are unchanged.
    pub fn map_input_error(self, text: impl FnOnce(String) -> String) -> Failure {
        match self {
            Failure::Invalid(m) => Failure::Invalid(text(m)),
            Failure::CannotBePlaced(m) => Failure::CannotBePlaced(text(m)),
            other => other,
        }
    }

    /// Prefixes an input error with the variant or point that caused it.
    pub fn within(self, place: &str) -> Failure {
        self.map_input_error(|m| format!("error: {place}:\n{m}"))
    }

    /// Prefixes an input error with the name of the variant that caused it.
    pub fn in_variant(self, name: &str) -> Failure {
        self.within(&format!("in variant {name:?}"))
    }

    /// Returns the error for an unknown name after an option, with the known names and the closest one.
    pub fn unknown_name(option: &str, kind: &str, name: &str, known: &[&str]) -> Failure {
        let all = known.join(", ");
        let mut text = format!("{option}: there is no {kind} {name:?}; there are {all}");
        if let Some(near) = sim_inputs::nearest(name, known.iter().copied()) {
            text.push_str(&format!("\n  did you mean {near}?"));
        }
        Failure::Invalid(text)
    }
}

/// Returns the error for an unknown metric after an option.
pub fn unknown_metric(option: &str, metric: &str, mut known: Vec<&str>) -> Failure {
    known.sort_unstable();
    known.dedup();
    Failure::unknown_name(option, "metric", metric, &known)
}

/// Returns an error if no replication measures the metric. Accepts any metric while `known` is empty, that is before
/// the first replication.
pub fn check_metric(option: &str, metric: &str, known: &[String]) -> Result<(), Failure> {
    match known.is_empty() || known.iter().any(|name| name == metric) {
        true => Ok(()),
        false => {
            let known = known.iter().map(String::as_str).collect();
            Err(unknown_metric(option, metric, known))
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Invalid(message)
    }
}

impl From<Diagnostics> for Failure {
    fn from(errors: Diagnostics) -> Failure {
        match errors.is_only_no_place() {
            true => Failure::CannotBePlaced(errors.to_string()),
            false => Failure::Invalid(errors.to_string()),
        }
    }
}

impl From<CannotRun> for Failure {
    fn from(why: CannotRun) -> Failure {
        Failure::CannotBePlaced(why.to_string())
    }
}

impl From<NoRuns> for Failure {
    fn from(why: NoRuns) -> Failure {
        match why {
            NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
            NoRuns::Scenario(why) => why.into(),
        }
    }
}
