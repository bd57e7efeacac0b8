//! Tests of `sim_api::admission`.

mod cel;
mod coerce;
mod decode;
mod defaulting;
mod errors;
mod field;
mod go;
mod go_text;
mod json_text;
mod meta;
mod meta_check;
mod names;
mod patch;
mod schema;
