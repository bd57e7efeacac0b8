//! The structure of our own file formats as tables, and what is made from them: the checker, JSON Schema and the
//! reference pages.

pub mod check;
pub(crate) mod check_together;
pub mod json_schema;
pub mod reference;
pub mod shape;
pub mod shapes;
