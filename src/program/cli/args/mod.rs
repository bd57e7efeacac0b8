//! Options that several commands share. This module imports no command.

mod input;
mod output;
mod typed_values;

pub use input::InputArgs;
pub use output::{ColorChoice, DisplayStyle, OutputArgs, OutputFormat, TableFormat, Verbosity};
pub use typed_values::{FieldOverride, TimeLimit, VariantArg, days, fields_of, parse_until, parse_variant, path_value};
