//! The admission of JobSets by Kueue: waits for quota and AdmissionChecks, reservations, borrowing, evictions and
//! preemptions.

#![deny(missing_docs)]

mod awaited;
pub(crate) mod behind;
pub mod history;
pub mod lenders;
pub mod livelock;
pub mod summary;

pub use awaited::awaited;
pub(crate) use awaited::divide_queues;
pub use history::{
    AdmissionFold, AdmissionHistory, AdmissionWait, ExistingHistory, HeldQuota, JobSetAdmission, QuotaChange,
    QuotaReservation, WaitCause, WorkloadEviction, WorkloadOfRun,
};
pub use lenders::NominalQuotas;
pub use livelock::{PreemptionLoop, preemption_loops};
pub use summary::AdmissionSummary;
