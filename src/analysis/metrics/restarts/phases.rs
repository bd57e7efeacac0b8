//! Phases of a restart, which are columns of `restarts.csv`.

#![deny(missing_docs)]

macro_rules! phases {
    ($($(#[$about:meta])* $name:ident => $text:literal),* $(,)?) => {
        /// Phase of a restart, a column of `restarts.csv`.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Phase { $($(#[$about])* $name),* }

        impl Phase {
            /// All phases, in order.
            pub const ALL: [Phase; Phase::COUNT] = [$(Phase::$name),*];
            /// Number of phases.
            pub const COUNT: usize = [$($text),*].len();

            /// Returns the name of the phase in tables and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Phase::$name => $text),* }
            }
        }
    };
}

phases! {
    /// Time until the responsible controller or agent detects the failure.
    Detect => "detect",
    /// Old pods end, and old objects are removed.
    Terminate => "terminate",
    /// Jobs and pods are created again.
    Recreate => "recreate",
    /// The JobSet is suspended: it waits for admission by Kueue, or until a user resumes it.
    Queue => "queue",
    /// No node fits some pod until a node is repaired, replaced or released.
    Capacity => "capacity",
    /// Pods are bound to nodes that fit.
    Schedule => "schedule",
    /// Containers start and become ready.
    Start => "start",
    /// In place: all agents wait for each other.
    Barrier => "barrier",
    /// Workers connect to each other and compile; training jobs only, after the restart.
    Rendezvous => "rendezvous",
    /// The checkpoint is loaded; training jobs only, after the restart.
    Restore => "restore",
    /// Lost steps are repeated; training jobs only, after the restart.
    Redo => "redo",
}
