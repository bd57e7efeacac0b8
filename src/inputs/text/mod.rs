//! YAML text as a tree in which every key and value knows its position, and errors with positions.

pub mod diagnostic;
pub mod locate;
pub mod node;
pub mod path;
pub mod print;
pub mod suggest;
pub mod yaml;
