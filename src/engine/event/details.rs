//! Details of events: the kinds of status writes, container timers and requests.

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StatusWrite {
    /// An init container runs again.
    InitRunning,
    Running,
    Ready,
    NotReady,
    /// Not ready: RestartAllContainers has removed all containers.
    RestartingAll,
    /// Not ready: all containers exited with code 0, and the phase is not yet updated.
    Succeeding,
    Finished,
    /// The kubelet does not admit the pod.
    Refused,
}

/// A change on a machine; sidecars are named by their position among the init containers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ContainerTimer {
    ProbeSucceeded,
    /// The container exits while it waits at the barrier.
    BarrierExit,
    SidecarExit(u8),
    /// The kubelet detects the exit of a sidecar.
    SidecarNoticed(u8),
    SidecarStarted(u8),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum JobSetCall {
    Delete,
    CreateService,
    CreateClaim,
    Patch,
    Create,
    Suspend,
    /// SUS-5: a Job with a startTime loses it first.
    ClearStartTime,
    Resume,
    Status,
    DeleteJobSet,
}

/// Requests of the manager's pod reconciler about a follower (EXC-15).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FollowerCall {
    Condition,
    Delete,
}
