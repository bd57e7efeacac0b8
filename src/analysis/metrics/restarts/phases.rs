//! The phases of a restart: the columns of `restarts.csv`.

#![deny(missing_docs)]

macro_rules! phases {
    ($($(#[$about:meta])* $name:ident => $text:literal),* $(,)?) => {
        /// The columns of `restarts.csv`.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Phase { $($(#[$about])* $name),* }

        impl Phase {
            /// All of them, in order.
            pub const ALL: [Phase; Phase::COUNT] = [$(Phase::$name),*];
            /// How many there are.
            pub const COUNT: usize = [$($text),*].len();

            /// The name in tables and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Phase::$name => $text),* }
            }
        }
    };
}

phases! {
    /// Until whoever acts knows of it.
    Detect => "detect",
    /// What is left of before ends and is removed.
    Terminate => "terminate",
    /// Objects are created again.
    Recreate => "recreate",
    /// Waiting for admission; never without a queueing system.
    Queue => "queue",
    /// Pods wait for nodes.
    Schedule => "schedule",
    /// Containers start and become ready.
    Start => "start",
    /// In place: all agents wait for each other.
    Barrier => "barrier",
    /// Workers find each other and compile; of a training job, after the restart.
    Rendezvous => "rendezvous",
    /// The checkpoint is read; of a training job, after the restart.
    Restore => "restore",
    /// Lost steps are done again; of a training job, after the restart.
    Redo => "redo",
}
