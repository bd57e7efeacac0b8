//! Dense `u32` ids: every table of the model is an array indexed by one of them.
//!
//! Ids are given in the order of the inputs, so they are the same in every run.

#![deny(missing_docs)]

macro_rules! define_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(
            /// Its number.
            pub u32,
        );

        impl $name {
            /// No object: the value in a column where there is none.
            pub const NONE: $name = $name(u32::MAX);

            /// Its place in a table.
            pub fn ix(self) -> usize {
                self.0 as usize
            }

            /// Whether it is one, and not `NONE`.
            pub fn is_some(self) -> bool {
                self.0 != u32::MAX
            }
        }
    )*};
}

define_id! {
    /// A JobSet of the scenario.
    JobSetId,
    /// A namespace and name of a Job; its object may be created many times.
    JobId,
    /// A row for a pod object; when the object is gone the row is used again, under a higher incarnation.
    PodId,
    /// A Node object, by its name.
    NodeId,
    /// Nodes that every random fault hits together or not at all.
    CellId,
    /// One value of a topology key: the set of nodes that carry it.
    DomainId,
    /// An ICI slice or NVLink domain.
    IslandId,
    /// A failure zone as the node lifecycle controller sees it.
    ZoneId,
    /// A distinct pod template: what the scheduler has to know of a pod.
    TemplateId,
    /// A string made during the run (condition messages).
    TextId,
}
