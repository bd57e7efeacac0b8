//! The glossary of `explain`: terms that the program prints or reads, with their meanings. Sources are the hand-written
//! `docs/glossary.md`, the tables of the output and of the file formats, the presets, the traps, the rules and the
//! command line.
//!
//! This module must never read files: its sources are compiled into the program.

pub mod assumptions;
pub mod effects;
mod entry;
mod fields;
mod find;
#[expect(clippy::module_inception, reason = "the type is the main item of the module")]
mod glossary;
mod markdown;
mod output_terms;
mod rules;
mod terms;
pub mod text;

pub use entry::GlossaryEntry;
pub use find::TermLookup;
pub use glossary::Glossary;
pub use markdown::plain;
pub use output_terms::output_reference;
pub use rules::RULE_PAGES;
