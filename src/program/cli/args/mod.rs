//! Options that several commands share. Imports no command.

pub mod input;
pub mod output;
pub mod typed_values;
