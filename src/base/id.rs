//! Dense `u32` ids: every table of the model is an array indexed by one of them.
//! Ids are assigned in the order of the inputs, so they are the same in every run.

#![deny(missing_docs)]

macro_rules! define_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(
            /// The value of the id.
            pub u32,
        );

        impl $name {
            /// Marks the absence of an object.
            pub const NONE: $name = $name(u32::MAX);

            /// Index in a table.
            pub fn ix(self) -> usize {
                self.0 as usize
            }

            /// Returns true unless the id is `NONE`.
            pub fn is_some(self) -> bool {
                self.0 != u32::MAX
            }
        }
    )*};
}

define_id! {
    /// A JobSet of the scenario.
    JobSetId,
    /// A Job's namespace and name; its object may be created several times.
    JobId,
    /// The row of a pod object, reused after the object was removed, with a higher incarnation.
    PodId,
    /// A Node object, identified by its name.
    NodeId,
    /// A set of nodes that every random fault affects together or not at all.
    CellId,
    /// A value of a topology key: the set of nodes with that value.
    DomainId,
    /// An ICI slice or NVLink domain.
    IslandId,
    /// A failure zone of the node lifecycle controller.
    ZoneId,
    /// A distinct pod template, with everything that the scheduler has to know about its pods.
    TemplateId,
    /// A string created during the run, such as a condition message.
    TextId,
}
