//! Errors of commands and their exit codes.

use sim_analysis::experiment::NoRuns;
use sim_base::condition::ConditionError;
use sim_engine::CannotRun;
use sim_inputs::Diagnostics;
use sim_inputs::strategy::RestartStrategyError;
use sim_report::draw::chart::ChartSizeError;
use sim_report::export_error::ExportFileError;
use sim_report::figures::sweep_figure::SweepAxisError;
use sim_report::files::rundir_error::RunDirError;
use sim_report::rundiff_error::RunDiffError;

/// Exit code of a bug in this program.
pub const INTERNAL: u8 = 1;
/// Exit code of a failed `--fail-if` gate.
pub const GATE_FAILED: u8 = 5;
/// Exit code that a shell reports for a program terminated by SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Error of a command, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandFailure {
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

/// Returns [`CommandFailure::Invalid`] with a formatted message.
macro_rules! bail {
    ($($message:tt)*) => {
        return Err($crate::cli::failure::CommandFailure::Invalid(format!($($message)*)))
    };
}
pub(crate) use bail;

impl CommandFailure {
    pub fn code(&self) -> u8 {
        match self {
            CommandFailure::Internal(_) => INTERNAL,
            CommandFailure::Invalid(_) => 2,
            CommandFailure::NotFound(_) => 3,
            CommandFailure::CannotBePlaced(_) => 4,
            CommandFailure::Gate(_) => GATE_FAILED,
            CommandFailure::Interrupted(_) => INTERRUPTED,
        }
    }

    pub fn message(&self) -> &str {
        match self {
            CommandFailure::Internal(m) | CommandFailure::Invalid(m) | CommandFailure::CannotBePlaced(m) => m,
            CommandFailure::NotFound(m) | CommandFailure::Interrupted(m) | CommandFailure::Gate(m) => m,
        }
    }

    /// Changes the message of an input error; other errors are unchanged.
    pub fn map_input_error(self, text: impl FnOnce(String) -> String) -> CommandFailure {
        match self {
            CommandFailure::Invalid(m) => CommandFailure::Invalid(text(m)),
            CommandFailure::CannotBePlaced(m) => CommandFailure::CannotBePlaced(text(m)),
            other => other,
        }
    }

    /// Prefixes an input error with the variant or point that caused it.
    pub fn with_context(self, place: &str) -> CommandFailure {
        self.map_input_error(|m| format!("error: {place}:\n{m}"))
    }

    /// Prefixes an input error with the name of the variant that caused it.
    pub fn in_variant(self, name: &str) -> CommandFailure {
        self.with_context(&format!("in variant {name:?}"))
    }

    /// Returns the error for an unknown name after an option, with the known names and the closest one.
    pub fn unknown_name(option: &str, kind: &str, name: &str, known: &[&str]) -> CommandFailure {
        let all = match known {
            [] => format!("no {kind} is available"),
            _ => format!("known: {}", known.join(", ")),
        };
        let mut text = format!("{option}: unknown {kind} {name:?}; {all}");
        if let Some(near) = sim_inputs::nearest(name, known.iter().copied()) {
            text.push_str(&format!("\n  did you mean {near}?"));
        }
        CommandFailure::Invalid(text)
    }
}

/// Returns the error for an unknown metric after an option.
pub fn unknown_metric(option: &str, metric: &str, mut known: Vec<&str>) -> CommandFailure {
    known.sort_unstable();
    known.dedup();
    CommandFailure::unknown_name(option, "metric", metric, &known)
}

/// Returns an error if no replication measures the metric. Accepts any metric while `known` is empty, that is before
/// the first replication.
pub fn check_metric(option: &str, metric: &str, known: &[String]) -> Result<(), CommandFailure> {
    if known.is_empty() || known.iter().any(|name| name == metric) {
        Ok(())
    } else {
        let known = known.iter().map(String::as_str).collect();
        Err(unknown_metric(option, metric, known))
    }
}

impl From<String> for CommandFailure {
    fn from(message: String) -> CommandFailure {
        CommandFailure::Invalid(message)
    }
}

impl From<ConditionError> for CommandFailure {
    fn from(error: ConditionError) -> CommandFailure {
        CommandFailure::Invalid(error.to_string())
    }
}

impl From<RestartStrategyError> for CommandFailure {
    fn from(error: RestartStrategyError) -> CommandFailure {
        CommandFailure::Invalid(error.to_string())
    }
}

impl From<Diagnostics> for CommandFailure {
    fn from(errors: Diagnostics) -> CommandFailure {
        if errors.is_only_no_place() {
            CommandFailure::CannotBePlaced(errors.to_string())
        } else {
            CommandFailure::Invalid(errors.to_string())
        }
    }
}

impl From<CannotRun> for CommandFailure {
    fn from(why: CannotRun) -> CommandFailure {
        CommandFailure::CannotBePlaced(why.to_string())
    }
}

impl From<NoRuns> for CommandFailure {
    fn from(why: NoRuns) -> CommandFailure {
        match why {
            NoRuns::Threads(_) => CommandFailure::Invalid(why.to_string()),
            NoRuns::Scenario(why) => why.into(),
        }
    }
}

/// Implements the conversion of errors to [`CommandFailure::Invalid`] with the message of the error.
macro_rules! convert_to_invalid {
    ($($error:ty),*) => {
        $(impl From<$error> for CommandFailure {
            fn from(error: $error) -> CommandFailure {
                CommandFailure::Invalid(error.to_string())
            }
        })*
    };
}
convert_to_invalid!(ChartSizeError, ExportFileError, RunDiffError, RunDirError, SweepAxisError);
