//! The structure of the jobset-sim file formats as tables, with the checker, the JSON Schema and the reference pages
//! generated from them.

pub mod check;
pub(crate) mod check_together;
pub mod definitions;
pub mod field_type;
pub mod json_schema;
pub mod reference;
pub mod scalar;
