//! The glossary: all terms that the program prints or reads, with their meanings. Entries come from the tables of
//! file formats, the presets, the traps, and the pages of `docs/`.
//!
//! This module must contain no facts of its own and must never read files: the pages are compiled into the program.

pub mod assumptions;
mod book;
pub mod effects;
mod entry;
mod fields;
mod find;
mod page;
mod pages;
pub mod text;

pub use book::Glossary;
pub use entry::GlossaryEntry;
pub use find::FoundTerm;
pub use page::plain;
pub use pages::PAGES;
