//! Access to the store: every component can read it, only the functions of the API server write to it.

use crate::{record::JobName, store::ObjectStore};
use sim_base::{JobId, JobSetId, TextId};

#[derive(Clone, Default)]
pub struct StoredObject(ObjectStore);

impl StoredObject {
    pub fn new(store: ObjectStore) -> StoredObject {
        StoredObject(store)
    }

    pub(super) fn get_mut(&mut self) -> &mut ObjectStore {
        &mut self.0
    }

    /// Names are not objects: any component that mentions a name may add a row for it.
    pub fn intern(&mut self, text: &str) -> TextId {
        self.0.names.intern(text)
    }

    pub fn row_for_slot(&mut self, jobset: JobSetId, rj: u32, index: u32) -> JobId {
        self.0.row_for_slot(jobset, rj, index)
    }

    pub fn row_for_name(&mut self, name: JobName) -> JobId {
        self.0.row_for_name(name)
    }

    /// Adds rows for the JobSets of the scenario, in order.
    pub(crate) fn begin<'a>(&mut self, jobsets: impl Iterator<Item = (&'a str, &'a str)>) {
        self.0.reset();
        for (namespace, name) in jobsets {
            self.0.add_jobset(namespace, name);
        }
    }

    /// Discards the changes and frees the rows of removed pods, after all watchers were notified.
    pub(crate) fn end_delivery(&mut self) {
        self.0.changes.clear();
        self.0.free_retired();
    }
}

impl std::ops::Deref for StoredObject {
    type Target = ObjectStore;

    fn deref(&self) -> &ObjectStore {
        &self.0
    }
}
