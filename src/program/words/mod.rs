//! Every word that the program prints or reads, and what it means: gathered from where each fact stands, which is the
//! tables of files, the presets, the traps, and the pages of `docs/`.
//!
//! Must hold no fact of its own, and must never read a file: the pages are in the program.

pub mod assumptions;
mod book;
pub mod effects;
mod entry;
mod fields;
mod find;
mod page;
mod pages;
pub mod text;

pub use book::Book;
pub use entry::Entry;
pub use find::Found;
pub use page::plain;
pub use pages::PAGES;
