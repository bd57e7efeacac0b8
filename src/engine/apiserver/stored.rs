//! Access to the store: every component can read it, only the functions of the API server write to it.

use crate::record::JobName;
use crate::store::{Change, Store};
use sim_base::*;

#[derive(Clone, Default)]
pub struct Stored(Store);

impl Stored {
    pub fn new(store: Store) -> Stored {
        Stored(store)
    }

    pub(super) fn write(&mut self) -> &mut Store {
        &mut self.0
    }

    /// Names are not objects: any component that mentions a name may add a row for it.
    pub fn intern(&mut self, text: &str) -> TextId {
        self.0.names.intern(text)
    }

    pub fn place_of(&mut self, jobset: JobSetId, rj: u32, index: u32) -> JobId {
        self.0.place_of(jobset, rj, index)
    }

    pub fn place(&mut self, name: JobName) -> JobId {
        self.0.place(name)
    }

    /// Adds rows for the JobSets of the scenario, in order.
    pub(crate) fn begin<'a>(&mut self, jobsets: impl Iterator<Item = (&'a str, &'a str)>) {
        self.0.reset();
        for (namespace, name) in jobsets {
            self.0.add_jobset(namespace, name);
        }
    }

    pub(crate) fn take_changes(&mut self, into: &mut Vec<Change>) {
        std::mem::swap(&mut self.0.changes, into);
    }

    /// Frees the rows of removed pods after all watchers were notified.
    pub(crate) fn told(&mut self) {
        self.0.free_retired();
    }
}

impl std::ops::Deref for Stored {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}
