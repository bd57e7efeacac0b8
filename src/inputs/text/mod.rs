//! Parses YAML to a tree in which every key and value has a position, and reports errors with positions.

pub mod diagnostic;
pub mod file_error;
pub mod json_stream;
pub mod locate;
pub mod node;
pub mod override_error;
pub mod path;
mod plain_scalars;
pub mod print;
pub mod yaml;
